"""Processes killed at random moments lose only what was not written, and resume the same draws."""

import json

import pytest

from tests.robustness.world import in_process


def killed(kind, number, seed):
    return json.loads(in_process("-m", "tests.robustness.killed", kind, number, seed))


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
