"""Runs of several chains: repeatable, interruptible, and loud about errors."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from bayesclust.inference import runner
from bayesclust.inference.runner import InterruptedRunWarning, Schedule, run_chains
from tests.inference.states import chain

ROOT = Path(__file__).resolve().parents[2]


class Count:
    """A chain that counts its sweeps; `pause` seconds each."""

    def __init__(self, seed=0, pause=0.0, fail_at=None, hold=None):
        self.rng, self.pause, self.fail_at, self.hold = (
            np.random.default_rng(seed),
            pause,
            fail_at,
            hold,
        )
        self.number, self.adapted, self.trusted = 0, 0, 0

    def sweep(self, *, adapt=False, freeze_noise=False):
        self.number += 1
        self.adapted += adapt
        self.trusted += freeze_noise
        if self.hold is not None and self.number > self.hold[0]:
            self.hold[1].wait()
        if self.number == self.fail_at:
            raise ZeroDivisionError("in the chain")
        time.sleep(self.pause)

    def draw(self):
        variables = {
            "z": np.array([self.number, 0]),
            "p": self.rng.normal(size=2),
            "adapted": self.adapted,
        }
        return variables, {"number": self.number, "trusted": self.trusted}


def run(starts, schedule, **settings):
    return run_chains(starts, schedule, progress=False, **settings)


def test_schedule():
    draws = run([Count] * 3, Schedule(num_warmup=6, num_samples=4, thinning=5))
    np.testing.assert_array_equal(draws.sample_stats["number"], [[11, 16, 21, 26]] * 3)
    np.testing.assert_array_equal(draws.posterior["adapted"], 6)
    np.testing.assert_array_equal(draws.sample_stats["trusted"], 3)
    assert draws.posterior["p"].shape == (3, 4, 2)
    assert draws.posterior["z"].dtype == np.int16
    assert not draws.interrupted


class Bundle:
    """Two chains that count together, ten and twenty a sweep."""

    number_of_chains = 2

    def __init__(self):
        self.number = np.zeros(2, np.int64)

    def sweep(self, *, adapt=False, freeze_noise=False):
        self.number += [10, 20]

    def draw(self):
        variables = {
            "z": np.stack([self.number, self.number], axis=1),
            "p": np.zeros((2, 2)),
            "adapted": np.zeros(2, int),
        }
        return variables, {"number": self.number.copy(), "trusted": np.zeros(2, int)}


def test_chains_that_advance_together():
    draws = run([Count, Bundle], Schedule(num_warmup=1, num_samples=3))
    np.testing.assert_array_equal(
        draws.sample_stats["number"], [[2, 3, 4], [20, 30, 40], [40, 60, 80]]
    )
    assert draws.posterior["z"].shape == (3, 3, 2)
    assert draws.posterior["z"].dtype == np.int16
    assert draws.posterior["p"].shape == (3, 3, 2)


def test_no_warmup():
    draws = run([Count], Schedule(0, 3))
    np.testing.assert_array_equal(draws.posterior["adapted"], 0)
    np.testing.assert_array_equal(draws.sample_stats["trusted"], 0)


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_draws_do_not_depend_on_threads(n_jobs):
    starts = [lambda c=c: chain(n=20, seed=c) for c in range(3)]
    expected = [list(_alone(chain(n=20, seed=c))) for c in range(3)]
    draws = run(starts, Schedule(4, 6), n_jobs=n_jobs)
    for c in range(3):
        for row, (variables, statistics) in enumerate(expected[c]):
            for name, value in variables.items():
                np.testing.assert_array_equal(draws.posterior[name][c, row], value)
            np.testing.assert_array_equal(
                draws.sample_stats["log_joint"][c, row], statistics["log_joint"]
            )
    assert (draws.posterior["concentration"][0] != draws.posterior["concentration"][1]).all()


def _alone(sampler):
    for sweep in range(10):
        sampler.sweep(adapt=sweep < 4, freeze_noise=2 * sweep < 4)
        if sweep >= 4:
            yield sampler.draw()


@pytest.mark.parametrize("n_jobs", [1, None])
def test_an_error_inside_a_chain_is_raised_and_stops_the_others(n_jobs):
    chains = [Count(fail_at=5), Count(pause=0.01), Count(pause=0.01)]
    began = time.perf_counter()
    with pytest.raises(ZeroDivisionError, match="in the chain"):
        run([lambda own=own: own for own in chains], Schedule(0, 2000), n_jobs=n_jobs)
    assert time.perf_counter() - began < 10
    assert max(own.number for own in chains) < 2000


def test_an_error_while_starting_is_raised():
    def fail():
        raise LookupError("no start")

    with pytest.raises(LookupError, match="no start"):
        run([Count, fail], Schedule(0, 5))


def interrupted_when(monkeypatch, ready):
    """Let the runner's first wait end in a keyboard interrupt as soon as `ready()`."""
    wait, calls = runner.wait, []

    def interrupt(futures, **options):
        calls.append(options)
        if len(calls) == 1:
            while not ready():
                time.sleep(0.001)
            raise KeyboardInterrupt
        return wait(futures, **options)

    monkeypatch.setattr(runner, "wait", interrupt)


def test_an_interrupt_returns_the_draws_so_far(monkeypatch):
    chains = [Count(pause=0.001), Count(pause=0.002)]
    interrupted_when(monkeypatch, lambda: min(own.number for own in chains) > 25)
    with pytest.warns(
        InterruptedRunWarning,
        match=r"^Interrupted: the first \d+ draws of each chain .*, of 5000 asked for.$",
    ):
        draws = run([lambda own=own: own for own in chains], Schedule(5, 5000), n_jobs=2)
    assert draws.interrupted
    number = draws.posterior["p"].shape[1]
    assert 20 <= number < 5000
    assert draws.sample_stats["number"].shape == (2, number)
    np.testing.assert_array_equal(draws.sample_stats["number"], [np.arange(6, number + 6)] * 2)


def test_chains_that_wait_for_a_thread_are_left_out(monkeypatch):
    open_gate = threading.Event()
    chains = [Count(), Count(), Count(hold=(3, open_gate)), Count()]

    def ready():
        if chains[2].number > 3:
            open_gate.set()
        return open_gate.is_set()

    interrupted_when(monkeypatch, ready)
    with pytest.warns(
        InterruptedRunWarning,
        match="the first 50 draws of 2 of 4 chains are returned, of 50 asked for",
    ):
        draws = run([lambda own=own: own for own in chains], Schedule(0, 50), n_jobs=1)
    np.testing.assert_array_equal(draws.sample_stats["number"], [np.arange(1, 51)] * 2)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([5, 5, 5], (5, [0, 1, 2])),
        ([100, 98, 1, 0], (98, [0, 1])),
        ([100, 60, 55, 0], (55, [0, 1, 2])),
        ([1000, 1000, 400, 390], (390, [0, 1, 2, 3])),
        ([1000, 1000, 200, 0], (1000, [0, 1])),
        ([0, 0], (0, [0, 1])),
        ([0, 7], (7, [1])),
    ],
)
def test_most_draws_are_kept(numbers, expected):
    assert runner._most_draws(numbers) == expected


def test_an_interrupt_before_any_draw_is_an_interrupt(monkeypatch):
    chains = [Count(pause=0.001)]
    interrupted_when(monkeypatch, lambda: chains[0].number > 2)
    with pytest.raises(KeyboardInterrupt):
        run([lambda: chains[0]], Schedule(100_000, 10))


SCRIPT = r"""
import signal, sys, time, warnings

# a shell starts what it puts in the background deaf to Ctrl-C
signal.signal(signal.SIGINT, signal.default_int_handler)

from bayesclust.inference.runner import Schedule, run_chains


class Slow:
    def sweep(self, **options):
        time.sleep(0.002)
        sys.stdout.write("sweep\n")
        sys.stdout.flush()

    def draw(self):
        return {"p": 0.5}, {"log_joint": 0.0}


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    draws = run_chains([Slow, Slow], Schedule(2, 100_000), progress=False)
print("kept", draws.posterior["p"].shape[1] > 0, [w.category.__name__ for w in caught])
"""


@pytest.mark.skipif(os.name != "posix", reason="sends the signal of Ctrl-C")
def test_ctrl_c_in_a_process_of_its_own(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            for _ in range(40):
                assert process.stdout.readline() == "sweep\n"
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 0
    assert output.splitlines()[-1] == "kept True ['InterruptedRunWarning']"


def test_progress_is_shown_only_where_it_can_be_seen(capfd):
    run_chains([Count], Schedule(0, 3), progress=False)
    assert capfd.readouterr().err == ""
    run_chains([Count], Schedule(0, 3), progress=True)
    assert "\r" not in capfd.readouterr().err, "no bar where the error stream is no terminal"


def test_progress_counts_sweeps_of_all_chains(monkeypatch):
    bars = []

    class Bar:
        def __init__(self, **settings):
            self.total, self.number, self.closed = settings["total"], 0, False
            bars.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.closed = True

        def update(self, number):
            self.number += number

    monkeypatch.setattr(runner, "tqdm", Bar)
    run_chains([Count, Bundle], Schedule(2, 3, 2), progress=True, n_jobs=1)
    assert bars[0].number == bars[0].total == 24
    assert bars[0].closed
