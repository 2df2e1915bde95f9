"""Threads of one process fit what they would fit one after the other."""

from pathlib import Path

from tests.robustness.world import in_process


def test_threads_fit_at_once_as_one_by_one_and_leave_random_numbers():
    assert in_process(Path(__file__).with_name("threads.py")) == "True\n"
