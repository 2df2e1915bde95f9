"""Runs of several chains: repeatable, interruptible, spread over processes; errors raised."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import MagicMock, call

import numpy as np
import pytest
import xarray as xr

from bayesclust._numba import kernel
from bayesclust.inference import checkpoint, runner
from bayesclust.inference.checkpoint import Checkpoint
from bayesclust.inference.runner import (
    COMPILING,
    LostProcessError,
    Schedule,
    number_compiled,
    run_chains,
)
from tests.inference.test_checkpoint import Walk, assert_same

ROOT = Path(__file__).resolve().parents[2]


class Count:
    """A chain that counts its sweeps; `pause` seconds each."""

    def __init__(self, seed=0, pause=0.0, fail_at=None):
        self.rng = np.random.default_rng(seed)
        self.pause = pause
        self.fail_at = fail_at
        self.number = self.adapted = self.frozen = 0

    def sweep(self, *, adapt=False, freeze_noise=False):
        self.number += 1
        self.adapted += adapt
        self.frozen += freeze_noise
        if self.number == self.fail_at:
            raise ZeroDivisionError("in the chain")
        time.sleep(self.pause)

    def draw(self):
        p = self.rng.normal(size=2)
        variables = {"z": np.array([self.number, 0]), "p": p, "adapted": self.adapted}
        return variables, {"number": self.number, "frozen": self.frozen}


def run(starts, schedule, **settings):
    return run_chains(starts, schedule, progress=False, **settings)


def ready_made(chains):
    return [lambda own=own: own for own in chains]


def test_sweeps_follow_the_schedule():
    draws = run([Count] * 3, Schedule(num_warmup=6, num_samples=4, thinning=5))
    np.testing.assert_array_equal(draws.sample_stats["number"], [[11, 16, 21, 26]] * 3)
    np.testing.assert_array_equal(draws.posterior["adapted"], 6)
    np.testing.assert_array_equal(draws.sample_stats["frozen"], 3)
    assert draws.posterior["p"].shape == (3, 4, 2)
    assert draws.posterior["z"].dtype == np.int16
    assert not draws.interrupted
    without = run([Count], Schedule(0, 3))
    np.testing.assert_array_equal(without.posterior["adapted"], 0)
    np.testing.assert_array_equal(without.sample_stats["frozen"], 0)


def test_chains_that_advance_together_are_parted():
    draws = run([lambda: Walk(0), lambda: Walk(1, width=2)], Schedule(0, 3))
    together = Walk(1, width=2)
    for draw in range(3):
        together.sweep()
        np.testing.assert_array_equal(draws.sample_stats["at"][1:, draw], together.at)
    assert draws.posterior["z"].shape == (3, 3, 3)
    assert draws.posterior["z"].dtype == np.int16
    assert draws.posterior["p"].shape == (3, 3, 2)


def test_an_error_in_a_chain_is_raised_and_stops_the_others():
    chains = [Count(fail_at=5), Count(pause=0.01), Count(pause=0.01)]
    began = time.perf_counter()
    with pytest.raises(ZeroDivisionError, match="in the chain"):
        run(ready_made(chains), Schedule(0, 2000))
    assert time.perf_counter() - began < 10
    assert max(own.number for own in chains) < 2000


def test_chains_of_one_thread_take_turns_and_stop_at_an_error():
    chains = [Count(), Count(fail_at=50), Count()]
    with pytest.raises(ZeroDivisionError, match="in the chain"):
        run(ready_made(chains), Schedule(0, 2000), n_jobs=1)
    assert [own.number for own in chains] == [50, 50, 40]


# --- progress


def test_progress_is_shown_only_where_it_can_be_seen(capfd):
    for progress in (False, True):
        run_chains([Count], Schedule(0, 3), progress=progress)
        line = "1 chain: 3 sweeps\n"  # and no bar where the error stream is no terminal
        assert capfd.readouterr().err == line * progress


@pytest.fixture
def bar(monkeypatch):
    """A progress bar that can be seen."""
    made = MagicMock()
    monkeypatch.setattr(runner, "tqdm", lambda **settings: made.configure_mock(**settings) or made)
    return made


def test_progress_counts_sweeps_of_all_chains(bar):
    run_chains([lambda: Walk(0), lambda: Walk(1, width=2)], Schedule(2, 3, 2), n_jobs=1)
    assert sum(made.args[0] for made in bar.update.call_args_list) == bar.total == 24
    bar.__exit__.assert_called_once()


def compiled_now():
    """Compile a kernel that no cache has, and take time about it."""
    kernel(lambda x: x + 1, cache=False)(1)
    return Count(pause=3 * runner.LOOK_EVERY)


@pytest.mark.parametrize(("start", "lines"), [(compiled_now, [COMPILING]), (Count, [])])
def test_compilation_is_announced_once(bar, start, lines):
    before = number_compiled()
    run_chains([start, lambda: Count(pause=3 * runner.LOOK_EVERY)], Schedule(0, 2), n_jobs=1)
    assert number_compiled() - before == len(lines)
    assert bar.write.call_args_list == [call(line, file=sys.stderr) for line in lines]


# --- several processes: threads that stand in for them

SCHEDULE = Schedule(4, 12)


class Standing:
    """Two threads as processes, with what the runner would learn of JAX."""

    def __init__(self, monkeypatch):
        self.own, self.values = threading.local(), {}
        self.meet, self.lock = threading.Barrier(2, timeout=60), threading.Lock()
        monkeypatch.setattr(runner, "n_processes", lambda: 2)
        monkeypatch.setattr(runner, "process_index", lambda: getattr(self.own, "index", 0))
        monkeypatch.setattr(runner, "gather", self.gather)

    def gather(self, values):
        with self.lock:
            # threads of a process's pool have no number, and none of them asks for the order
            place = getattr(self.own, "index", len(self.values))
            self.values[place] = values
        self.meet.wait()
        found = np.stack([self.values[0], self.values[1]])
        if self.meet.wait() == 0:
            self.values.clear()
        self.meet.wait()
        return found

    def run(self, work):
        """The results of both, in order; the first error is raised."""

        def numbered(index):
            self.own.index = index
            return work(index)

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(numbered, range(2)))


@pytest.fixture
def two(monkeypatch):
    return Standing(monkeypatch)


def starts(number):
    return [lambda seed=seed: Walk(seed) for seed in range(number)]


def spread(number, schedule=SCHEDULE, path=None):
    store = None if path is None else Checkpoint(path, {"seed": 0}, number)
    return run(starts(number), schedule, checkpoint=store, spread=True)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_each_process_runs_a_part_of_the_chains(number, monkeypatch):
    expected = run(starts(number), SCHEDULE)
    two, made = Standing(monkeypatch), []

    def counted(c, start):
        made.append(c)
        return start()

    def work(index):
        own = [lambda c=c, start=start: counted(c, start) for c, start in enumerate(starts(number))]
        return run(own, SCHEDULE, spread=True)

    for found in two.run(work):
        assert_same(found, expected)
    # one chain is run by all
    assert sorted(made) == ([0, 0] if number == 1 else list(range(number)))


def test_a_process_that_starts_beside_one_that_resumes(tmp_path, monkeypatch):
    expected = run(starts(2), SCHEDULE)
    path = tmp_path / "run.zarr"
    with monkeypatch.context() as patch:
        Standing(patch).run(lambda _: spread(2, path=path))
    shutil.rmtree(path / "state/1")
    with monkeypatch.context() as patch:
        for found in Standing(patch).run(lambda _: spread(2, path=path)):
            assert_same(found, expected)


def test_one_process_reads_the_checkpoint_of_two(tmp_path, monkeypatch):
    longer, path = Schedule(4, 20), tmp_path / "run.zarr"
    expected = run(starts(3), longer)
    with monkeypatch.context() as patch:
        Standing(patch).run(lambda _: spread(3, path=path))
    with xr.open_datatree(path, engine="zarr", consolidated=False) as tree:
        found = tree["posterior"]["z"].values
    np.testing.assert_array_equal(found, expected.posterior["z"][:, :12])
    assert_same(spread(3, longer, path), expected)


class Together(Walk):
    """A chain that two processes advance together."""

    by_all_processes = True


def test_only_the_first_process_writes_what_all_run(tmp_path, two, monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    wrote, write = [], checkpoint._write_group

    def noted(file, *kept):
        wrote.append(file.parent.name)
        write(file, *kept)

    monkeypatch.setattr(checkpoint, "_write_group", noted)

    def work(index):
        store = Checkpoint(tmp_path / "run.zarr", {"seed": 0}, 1)
        return run([lambda: Together(0)], SCHEDULE, checkpoint=store, spread=True)

    for found in two.run(work):
        assert_same(found, run(starts(1), SCHEDULE))
    states = wrote.count("0")
    assert 2 <= states <= SCHEDULE.length + 1, "each sweep may save once, and the end"


def test_processes_with_other_data_are_refused_in_all(two):
    def work(index):
        sentence = r"^process 1 has other data, seed than process 0: make the same call with"
        words = {"data": f"digest {index}", "version": "1", "seed": index}
        with pytest.raises(ValueError, match=sentence):
            runner.check_same_in_all(words)

    two.run(work)
    two.run(lambda index: runner.check_same_in_all({"data": "the same"}))


def test_a_checkpoint_that_only_one_process_sees_is_refused(two, tmp_path):
    import zarr

    fingerprint = {"format": 1, "seed": 0}
    zarr.create_group(tmp_path / "0", attributes={"bayesclust": fingerprint})
    with pytest.raises(ValueError, match=r"^process 1 has other a checkpoint than process 0"):
        two.run(lambda index: Checkpoint(tmp_path / str(index), {"seed": 0}, 1))


def test_a_failure_of_the_runtime_is_a_lost_process(two):
    import jax

    message = (
        r"^process 0 of 2 cannot go on, since another has ended or cannot be reached "
        r"\(UNKNOWN: Gloo: closed by peer"
    )
    for kind in (jax.errors.JaxRuntimeError, ValueError):
        with pytest.raises(LostProcessError, match=message), runner.naming_lost_process():
            raise kind("UNKNOWN: Gloo: closed\n by peer")
    with pytest.raises(ValueError, match=r"^X holds"), runner.naming_lost_process():
        raise ValueError("X holds what it should not.")


# --- real processes, of which one is killed

PROGRAM = """
import runpy, sys
from tools import kernel_cache
kernel_cache.use()
import bayesclust.inference.checkpoint as checkpoint
checkpoint.SECONDS = 0.2  # a real run saves every five seconds
if sys.argv[5] == "gibbs":  # which would be over by then: it saves after every sweep
    checkpoint.SECONDS, checkpoint.SHARE = 0.0, 1e9
sys.argv[0] = "docs/examples/several_processes.py"
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def begin(folder, sampler):
    """The example in two processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    own = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, address, "2", str(i), str(folder), sampler],
            cwd=ROOT,
            env=os.environ | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for i in range(2)
    ]


def finish(running):
    for process in running:
        output, _ = process.communicate(timeout=600)
        assert process.returncode == 0, output


def wait_for_draws(folder, running):
    """Wait until the checkpoint counts some draws."""
    file = folder / "run.zarr/state/0/zarr.json"
    while all(process.poll() is None for process in running):
        if file.exists():
            snapshot = json.loads(file.read_text())["attributes"]["snapshot"]
            if 20 <= json.loads(snapshot)["draws"] < 120:
                return
        time.sleep(0.02)
    raise AssertionError("the run ended before it could be disturbed")


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "killed"), [("blocked", 0), ("blocked", 1), ("gibbs", 1)])
def test_a_killed_process_is_noticed_and_the_run_resumes(tmp_path, sampler, killed):
    whole, cut = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    cut.mkdir()
    finish(begin(whole, sampler))
    running = begin(cut, sampler)
    wait_for_draws(cut, running)
    running[killed].send_signal(signal.SIGKILL)
    output, _ = running[1 - killed].communicate(timeout=10 if sampler == "blocked" else 240)
    assert running[1 - killed].returncode != 0
    named = "cannot go on, since another has ended" in output
    assert named or "another task died" in output, output
    if sampler == "blocked":  # and no abort of JAX's follows
        assert running[1 - killed].returncode == 1
        last = output.rstrip().splitlines()[-1]
        assert f"LostProcessError: process {1 - killed} of 2 cannot go on" in last, output
    running[killed].communicate()
    assert not (cut / "posterior.nc").exists()
    finish(begin(cut, sampler))
    with (
        xr.open_datatree(cut / "posterior.nc", engine="h5netcdf") as found,
        xr.open_datatree(whole / "posterior.nc", engine="h5netcdf") as expected,
    ):
        for group in ("posterior", "sample_stats"):
            for name, values in expected[group].data_vars.items():
                np.testing.assert_array_equal(found[group][name], values, err_msg=name)
        assert expected["posterior"]["z"].shape == (4, 150, 120)
