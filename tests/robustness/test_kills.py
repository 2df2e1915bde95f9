"""Processes killed at random moments lose only what was not written, and resume the same draws."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KINDS = ["collapsed", "gibbs", "mixture", "dcrc", "sessions", "outputs"]
FEW = {"sessions": 4, "outputs": 4}
"""Kills in the default suite, where tests/inference/test_checkpoint.py has one of chains."""


def killed(kind, number, seed):
    command = [sys.executable, "-m", "tests.robustness.killed", kind, str(number), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", FEW)
def test_a_few_kills_lose_nothing(kind):
    found = killed(kind, FEW[kind], seed=1)
    assert found["wrong"] == []
    assert found["hits"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_kills_lose_nothing(kind):
    """A quarter of the kills must meet the work, lest the test be of idle processes."""
    found = killed(kind, 100, seed=2)
    assert found["wrong"] == []
    assert found["kills"] == 100
    assert found["hits"] >= 25
