"""Processes killed at random moments lose only what was not written, and resume the same draws."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def killed(kind, number, seed):
    command = [sys.executable, "-m", "tests.robustness.killed", kind, str(number), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_few_kills_lose_no_file():
    """Kills of chains in the default suite are in tests/inference/test_checkpoint.py."""
    found = killed("files", 4, seed=1)
    assert found["wrong"] == []
    assert found["hits"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["collapsed", "mixture", "dcrc", "files"])
def test_a_hundred_kills_lose_nothing(kind):
    """A quarter of the kills must meet the work, lest the test be of idle processes."""
    found = killed(kind, 100, seed=2)
    assert found["wrong"] == []
    assert found["kills"] == 100
    assert found["hits"] >= 25
