"""Processes killed at random moments lose nothing but what was not written yet, and go on to the same draws."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KINDS = ["collapsed", "gibbs", "mixture", "dcrc", "sessions", "cells", "outputs"]
FEW = {"sessions": 4, "cells": 8}
"""Kills in the suite that is run by default, where tests/inference/test_checkpoint.py has one of chains."""


def killed(kind, number, seed):
    command = [sys.executable, "-m", "tests.robustness.killed", kind, str(number), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", FEW)
def test_a_few_kills(kind):
    found = killed(kind, FEW[kind], seed=1)
    assert found["wrong"] == []
    assert found["hits"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_kills(kind):
    """Of a hundred kills a quarter must meet the work, lest the test judge idle processes; usually most do."""
    found = killed(kind, 100, seed=2)
    assert found["wrong"] == []
    assert found["kills"] == 100
    assert found["hits"] >= 25
