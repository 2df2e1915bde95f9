"""Runs of several processes: threads that stand in for processes, and real ones of which one is killed."""

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

import numpy as np
import pytest
import xarray as xr

from bayesclust.inference import processes
from bayesclust.inference.checkpoint import Checkpoint
from bayesclust.inference.processes import LostProcessError
from bayesclust.inference.runner import Schedule, run_chains
from tests.inference.states import chain

ROOT = Path(__file__).resolve().parents[2]
SCHEDULE = Schedule(4, 12)


class Standing:
    """Two threads as processes: what `processes` would learn of JAX."""

    def __init__(self, monkeypatch):
        self.own, self.values = threading.local(), {}
        self.meet, self.lock = threading.Barrier(2, timeout=60), threading.Lock()
        monkeypatch.setattr(processes, "number", lambda: 2)
        monkeypatch.setattr(processes, "index", lambda: getattr(self.own, "index", 0))
        monkeypatch.setattr(processes, "gathered", self.gathered)

    def gathered(self, values):
        with (
            self.lock
        ):  # threads of a process's pool have no number, and none of them asks for the order
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
    return [lambda seed=seed: chain("gaussian_spherical", seed=seed) for seed in range(number)]


def same(found, expected):
    for group in ("posterior", "sample_stats"):
        ours, others = getattr(found, group), getattr(expected, group)
        assert ours.keys() == others.keys()
        for name, values in others.items():
            np.testing.assert_array_equal(ours[name], values, err_msg=name)


@pytest.mark.parametrize("number", [2, 5])
def test_each_process_runs_a_part_of_the_chains_and_has_all_draws(number, monkeypatch):
    expected = run_chains(starts(number), SCHEDULE, progress=False)
    two, made = Standing(monkeypatch), []

    def counted(c, start):
        made.append((processes.index(), c))
        return start()

    def work(index):
        own = [lambda c=c, start=start: counted(c, start) for c, start in enumerate(starts(number))]
        return run_chains(own, SCHEDULE, progress=False, spread=True)

    for found in two.run(work):
        same(found, expected)
    assert sorted(c for _, c in made) == list(range(number))


def test_one_chain_is_run_by_all(monkeypatch):
    expected = run_chains(starts(1), SCHEDULE, progress=False)
    for found in Standing(monkeypatch).run(
        lambda _: run_chains(starts(1), SCHEDULE, progress=False, spread=True)
    ):
        same(found, expected)


def test_a_process_that_begins_anew_beside_one_that_goes_on_gathers_in_the_same_order(
    tmp_path, monkeypatch
):
    expected = run_chains(starts(2), SCHEDULE, progress=False)

    def work(index):
        store = Checkpoint(tmp_path / "run.zarr", {"seed": 0}, 2)
        return run_chains(starts(2), SCHEDULE, progress=False, checkpoint=store, spread=True)

    with monkeypatch.context() as patch:
        Standing(patch).run(work)
    shutil.rmtree(tmp_path / "run.zarr/state/1")
    with monkeypatch.context() as patch:
        for found in Standing(patch).run(work):
            same(found, expected)


def test_chains_of_two_processes_share_a_checkpoint_that_one_process_reads(tmp_path, monkeypatch):
    longer = Schedule(4, 20)
    expected = run_chains(starts(3), longer, progress=False)
    with monkeypatch.context() as patch:
        two = Standing(patch)

        def work(index):
            store = Checkpoint(tmp_path / "run.zarr", {"seed": 0}, 3)
            return run_chains(starts(3), SCHEDULE, progress=False, checkpoint=store, spread=True)

        two.run(work)
    tree = xr.open_datatree(tmp_path / "run.zarr", engine="zarr", consolidated=False)
    np.testing.assert_array_equal(tree["posterior"]["z"].values, expected.posterior["z"][:, :12])
    tree.close()
    again = run_chains(
        starts(3),
        longer,
        progress=False,
        checkpoint=Checkpoint(tmp_path / "run.zarr", {"seed": 0}, 3),
    )
    same(again, expected)


class Together:
    """A chain that two processes advance together."""

    by_all_processes = True

    def __init__(self):
        self.number = 0

    def sweep(self, *, adapt=False, freeze_noise=False):
        self.number += 1

    def draw(self):
        return {"z": np.zeros(2, int), "p": float(self.number)}, {"log_joint": 0.0}

    def snapshot(self):
        return {"number": self.number}

    def restore(self, snapshot):
        self.number = snapshot["number"]


def test_only_the_first_process_writes_what_all_run_together(tmp_path, two, monkeypatch):
    monkeypatch.setattr("bayesclust.inference.checkpoint.SECONDS", 0.0)
    wrote = []
    from bayesclust.inference import checkpoint

    def noted(file, attributes, write=checkpoint._write_group):
        wrote.append(file.parent.name)
        write(file, attributes)

    monkeypatch.setattr(checkpoint, "_write_group", noted)

    def work(index):
        store = Checkpoint(tmp_path / "run.zarr", {"seed": 0}, 1)
        return run_chains([Together], SCHEDULE, progress=False, checkpoint=store, spread=True)

    first, second = two.run(work)
    same(first, second)
    assert first.posterior["p"].tolist() == [list(range(5, 17))]
    states = wrote.count("0")
    assert 2 <= states <= SCHEDULE.length + 1, "each sweep may save once, and the end"
    assert json.loads((tmp_path / "run.zarr/state/0/zarr.json").read_text())["attributes"][
        "snapshot"
    ]


def test_flags_are_heard_by_all(two):
    heard = two.run(lambda index: processes.any_says(index == 1, False))
    assert [flags.tolist() for flags in heard] == [[True, False], [True, False]]


def test_processes_with_other_data_are_refused_in_all_of_them(two):
    def work(index):
        with pytest.raises(
            ValueError,
            match=r"^process 1 has other data, seed than process 0: make the same call with",
        ):
            processes.check_alike({"data": f"digest {index}", "version": "1", "seed": index})

    two.run(work)
    two.run(lambda index: processes.check_alike({"data": "the same"}))


def test_a_checkpoint_that_only_one_process_sees_is_refused(two, tmp_path):
    with pytest.raises(ValueError, match=r"^process 1 has other a checkpoint than process 0"):
        two.run(
            lambda index: (
                Checkpoint(tmp_path / str(index), {"seed": 0}, 1) if index else seen(tmp_path / "0")
            )
        )


def seen(path):
    import zarr

    zarr.create_group(path, attributes={"bayesclust": {"format": 1, "seed": 0}})
    return Checkpoint(path, {"seed": 0}, 1)


def test_one_process_is_what_there_is_without_more():
    assert (processes.number(), processes.index()) == (1, 0)
    np.testing.assert_array_equal(processes.gathered(np.arange(3)), [[0, 1, 2]])
    processes.check_alike({"seed": 1})


def test_a_failure_of_the_runtime_is_told_as_the_loss_of_a_process(two):
    import jax

    message = r"^process 0 of 2 cannot go on, since another has ended or cannot be reached \(UNKNOWN: Gloo: closed by peer"
    for kind in (jax.errors.JaxRuntimeError, ValueError):
        with pytest.raises(LostProcessError, match=message), processes.noticing_loss():
            raise kind("UNKNOWN: Gloo: closed\n by peer")
    with pytest.raises(ValueError, match=r"^X holds"), processes.noticing_loss():
        raise ValueError("X holds what it should not.")


PROGRAM = """
import runpy, sys
import bayesclust.inference.checkpoint as checkpoint
checkpoint.SECONDS = 0.2  # a real run saves every five seconds
if sys.argv[5] == "gibbs":  # which would be over by then: it saves after every sweep, however long that takes
    checkpoint.SECONDS, checkpoint.SHARE = 0.0, 1e9
sys.argv[0] = "docs/examples/several_processes.py"
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def begin(folder, sampler, number=2):
    """The example in so many processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
    }
    return [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, address, str(number), str(i), str(folder), sampler],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for i in range(number)
    ]


def finish(running):
    for process in running:
        output, _ = process.communicate(timeout=600)
        assert process.returncode == 0, output


def wait_for_draws(folder, running, least=20):
    """Until the checkpoint counts some draws."""
    file = folder / "run.zarr/state/0/zarr.json"
    while all(process.poll() is None for process in running):
        if file.exists():
            found = json.loads(file.read_text())["attributes"]["snapshot"]
            number = json.loads(found)["draws"] if isinstance(found, str) else found["draws"]
            if least <= number < 120:
                return number
        time.sleep(0.02)
    raise AssertionError("the run ended before it could be disturbed")


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "killed"), [("blocked", 0), ("blocked", 1), ("gibbs", 1)])
def test_a_killed_process_is_noticed_and_the_run_resumes(tmp_path, sampler, killed):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    finish(begin(tmp_path / "whole", sampler))
    running = begin(tmp_path / "killed", sampler)
    wait_for_draws(tmp_path / "killed", running)
    running[killed].send_signal(signal.SIGKILL)
    output, _ = running[1 - killed].communicate(timeout=240)
    assert running[1 - killed].returncode != 0
    assert "cannot go on, since another has ended" in output or "another task died" in output, (
        output
    )
    if sampler == "blocked":
        assert f"LostProcessError: process {1 - killed} of 2 cannot go on" in output, output
    running[killed].communicate()
    assert not (tmp_path / "killed/posterior.nc").exists()
    finish(begin(tmp_path / "killed", sampler))
    trees = [
        xr.open_datatree(tmp_path / name / "posterior.nc", engine="h5netcdf")
        for name in ("killed", "whole")
    ]
    for group in ("posterior", "sample_stats"):
        for name, values in trees[1][group].data_vars.items():
            np.testing.assert_array_equal(trees[0][group][name], values, err_msg=name)
    assert trees[1]["posterior"]["z"].shape == (4, 150, 120)
    for tree in trees:
        tree.close()
