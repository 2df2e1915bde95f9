"""Runs that stop resume to the result of an undisturbed run, bit for bit."""

import errno
import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from bayesclust.inference import checkpoint as module
from bayesclust.inference import runner
from bayesclust.inference.checkpoint import Checkpoint, from_text, stored_fingerprint, to_text
from bayesclust.inference.runner import InterruptedRunWarning, Schedule, run_chains

RUN = {"data": "abc", "num_warmup": "3"}


class Walk:
    """A random walk; `stop_at` counts its own sweeps, `width` walks together."""

    def __init__(self, seed, width=None, stop_at=None):
        self.rng, self.at = np.random.default_rng(seed), np.zeros(width or 1)
        self.stop_at, self.swept = stop_at, 0
        if width is not None:
            self.number_of_chains = width

    def sweep(self, *, adapt=False, freeze_noise=False):
        self.at = self.at + self.rng.normal(size=self.at.shape) * (1 + adapt + 2 * freeze_noise)
        self.swept += 1
        if self.swept == self.stop_at:
            raise RuntimeError("stopped")

    def draw(self):
        z = (np.arange(3) + self.at[:, None]).astype(int) % 2
        values = {"z": z, "p": self.at[:, None] * [1.0, 2.0]}, {"at": self.at.copy()}
        if hasattr(self, "number_of_chains"):
            return values
        return {name: value[0] for name, value in values[0].items()}, {"at": self.at[0]}

    def snapshot(self):
        return {"at": self.at, "generator": self.rng.bit_generator.state}

    def restore(self, snapshot):
        self.at, self.rng.bit_generator.state = snapshot["at"], snapshot["generator"]


def run(starts, path=None, number=20, **fingerprint):
    store = None
    if path is not None:
        chains = sum(start().at.size for start in starts)
        store = Checkpoint(path, RUN | fingerprint, chains, {"p": ("links_source",)})
    return run_chains(starts, Schedule(6, number, 2), progress=False, n_jobs=1, checkpoint=store)


def walks(stop_at=None, width=None):
    return [lambda seed=seed: Walk(seed, width, stop_at if seed else None) for seed in range(2)]


def stopped(path, stop_at, width=None):
    """Run until the second walk stops."""
    with pytest.raises(RuntimeError, match="stopped"):
        run(walks(stop_at, width), path)


def assert_same(one, other):
    for group in ("posterior", "sample_stats"):
        first, second = getattr(one, group), getattr(other, group)
        assert set(first) == set(second)
        for name in first:
            assert first[name].dtype == second[name].dtype
            np.testing.assert_array_equal(first[name], second[name], err_msg=name)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.zarr"


@pytest.fixture
def eager(monkeypatch):
    """Save after every sweep."""
    monkeypatch.setattr(module, "SECONDS", -1.0)
    monkeypatch.setattr(module, "SHARE", np.inf)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("stop_at", "width"), [(1, None), (6, None), (8, None), (46, None), (9, 3)]
)
def test_a_run_that_stops_resumes(path, stop_at, width):
    stopped(path, stop_at, width)
    assert_same(run(walks(None, width), path), run(walks(None, width)))


@pytest.mark.usefixtures("eager")
def test_draws_beyond_the_snapshot_are_drawn_again(path):
    stopped(path, 30)
    saved = (path / "state/1/zarr.json").read_text()
    stopped(path, 10)
    (path / "state/1/zarr.json").write_text(saved)  # as if killed before the snapshot was replaced
    (path / "state/1/zarr.json.partial").write_text("{half")
    assert_same(run(walks(), path), run(walks()))


def test_a_finished_run_is_read_and_a_longer_one_resumes(path):
    short = run(walks(), path, 20)
    never = [lambda seed=seed: Walk(seed, stop_at=1) for seed in range(2)]
    assert_same(run(never, path, 20), short)
    assert_same(run(never, path, 7), run(walks(), None, 7))
    assert_same(run(walks(), path, 33), run(walks(), None, 33))


def test_xarray_opens_a_checkpoint(path):
    draws = run(walks(), path)
    tree = xr.open_datatree(path, engine="zarr", consolidated=False)
    posterior = tree["posterior"].to_dataset()
    assert posterior["z"].dims == ("chain", "draw", "item")
    assert posterior["p"].dims == ("chain", "draw", "links_source")
    np.testing.assert_array_equal(posterior["z"], draws.posterior["z"])
    np.testing.assert_array_equal(tree["sample_stats"]["at"], draws.sample_stats["at"])


def test_groups_that_a_kill_left_out_are_made(path):
    run(walks(), path)
    for group in ("sample_stats", "state"):
        (path / group / "zarr.json").unlink()
    run(walks(), path)
    tree = xr.open_datatree(path, engine="zarr", consolidated=False)
    assert {"sample_stats", "state"} <= set(tree.children)


def test_other_things_are_refused(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"exists and is not a bayesclust checkpoint: give anoth"):
        run(walks(), tmp_path / "notes")
    for value in ('"x"', "null"):
        (tmp_path / "notes/zarr.json").write_text(f'{{"attributes": {{"bayesclust": {value}}}}}')
        with pytest.raises(ValueError, match="exists and is not a bayesclust checkpoint"):
            run(walks(), tmp_path / "notes")
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(ValueError, match="link' is a link to no folder: make the folder, or"):
        run(walks(), tmp_path / "link")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/zarr.8f.partial").write_text("{")
    assert stored_fingerprint(tmp_path / "empty") is None
    run(walks(), tmp_path / "empty")


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("posterior/z/c/1/0/0", r"the draws in the checkpoint, '.*', cannot be read: remove the"),
        ("state/0/zarr.json", r"state.0.zarr\.json', cannot be read: remove the checkpoint"),
    ],
)
def test_damaged_parts_are_named(path, file, sentence):
    run(walks(), path)
    (path / file).write_text("{")
    with pytest.raises(ValueError, match=sentence):
        run(walks(), path)


def test_draws_of_another_run_and_chain_are_refused(path, tmp_path):
    run(walks(), path)
    run([lambda: Walk(7), lambda: Walk(8)], tmp_path / "other.zarr")
    for part in ("posterior/z/c/0/0/0", "sample_stats/at/c/1/0"):
        kept = (path / part).read_bytes()
        (path / part).write_bytes((tmp_path / "other.zarr" / part).read_bytes())
        with pytest.raises(ValueError, match="are not those that were written: remove the check"):
            run(walks(), path)
        (path / part).write_bytes(kept)
    states = [path / f"state/{chain}/zarr.json" for chain in (0, 1)]
    states[1].write_bytes(states[0].read_bytes())
    with pytest.raises(ValueError, match="are those of another chain: remove the checkpoint"):
        run(walks(), path)


def test_a_second_run_at_the_same_time_is_refused(path):
    short = run(walks(), path, 10)
    with (
        Checkpoint(path, RUN, 2, {"p": ("links_source",)}).claimed(),
        pytest.raises(ValueError, match=r"another run is writing to the checkpoint '.*': wait"),
    ):
        run(walks(), path, 20)
    assert_same(run(walks(), path, 10), short)


def test_a_full_disk_is_named(path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module, "_write_group", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*run\.zarr'"):
        run(walks(), path)


@pytest.mark.usefixtures("eager")
def test_garbage_beyond_the_snapshot_is_overwritten(path, monkeypatch):
    """Files that no snapshot counts, of draws that are in several files."""
    monkeypatch.setattr(module, "CHUNK_DRAWS", 4)
    stopped(path, 14)  # the first chain is done, the second has three draws, in its first file
    for name in ("posterior/z/c/1/1/0", "sample_stats/at/c/1/2"):
        assert not (path / name).exists()
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(b"half")
    assert_same(run(walks(), path), run(walks()))
    assert_same(run(walks(), path), run(walks()))


@pytest.mark.usefixtures("eager")
def test_draws_still_to_come_can_be_seen(path):
    stopped(path, 14)
    posterior = xr.open_zarr(path, group="posterior", consolidated=False)
    np.testing.assert_array_equal((posterior["z"].values < 0).sum(axis=(1, 2)), [13 * 3, 17 * 3])
    np.testing.assert_array_equal(
        np.isnan(posterior["p"].values).sum(axis=(1, 2)), [13 * 2, 17 * 2]
    )


def test_saving_takes_a_small_share_of_the_time(path, monkeypatch):
    """Where one save takes a second, the next one waits for half a minute."""
    clock = iter([0.0, 5.1, 5.1, 6.1, 11.2, 39.0, 40.0])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    record = Checkpoint(path, RUN, 1).record(0, 1, 20)
    assert record.due()
    record.save(Walk(0), 1, runner._Store(20))
    assert [record.due() for _ in range(3)] == [False, False, True]


def interrupted_at(monkeypatch, sweeps):
    """Interrupt the runner's first wait when the first walk has swept so often, and hold it."""
    wait, reached, release = runner.wait, threading.Event(), threading.Event()

    class Held(Walk):
        def sweep(self, **options):
            super().sweep(**options)
            if self.swept == sweeps:
                reached.set()
                release.wait(30)

    def interrupt(futures, **options):
        monkeypatch.setattr(runner, "wait", wait)
        assert reached.wait(30)
        threading.Timer(0.2, release.set).start()  # after the runner has asked the chains to stop
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "wait", interrupt)
    return [lambda: Held(0), lambda: Walk(1)]


def test_an_interrupted_run_returns_draws_and_resumes(path, monkeypatch):
    whole = run(walks())
    sentence = "the first 2 draws of each chain are returned, of 20 asked for"
    with pytest.warns(InterruptedRunWarning, match=sentence):
        part = run(interrupted_at(monkeypatch, 20), path)
    np.testing.assert_array_equal(part.posterior["p"], whole.posterior["p"][:, :2])
    done = run(walks(), path)
    assert not done.interrupted
    assert_same(done, whole)


def test_an_interrupt_before_any_draw_is_an_interrupt(monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        run(interrupted_at(monkeypatch, 2))


# --- snapshots as text


def test_snapshots_keep_every_bit():
    for value in (0.1, 2**127 + 1, np.float64(1e-300), np.int64(3), "word", None, [1, 2.5]):
        assert from_text(to_text({"value": value})) == {"value": value}
    none, whole = np.zeros((0, 2)), np.array([[1, -2]], np.int8)
    for array in (none, np.array(np.pi), whole, np.array([np.nan, -0.0])):
        found = from_text(to_text([array]))[0]
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.tobytes() == array.tobytes()
        found[...] = 0  # may be written to


def test_snapshots_refuse_what_they_cannot_keep():
    with pytest.raises(TypeError, match=r"cannot hold a set"):
        to_text({"a": {1, 2}})
