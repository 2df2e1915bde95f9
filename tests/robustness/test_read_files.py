"""Damaged, foreign and crafted files are refused in a sentence, and nothing in a file is run."""

import io
import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import bayesclust as bc
from bayesclust._io import write_netcdf
from bayesclust.cli.summary import read_posterior
from bayesclust.inference import checkpoint
from tests.inference.test_checkpoint import run, walks
from tests.robustness import world
from tests.robustness.world import FAULT_SEED

NUMBERS = [20, pytest.param(400, marks=pytest.mark.slow)]
often = pytest.mark.parametrize("number", NUMBERS)


def flipped(content, rng):
    """A file with another bit."""
    data = bytearray(content)
    data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def damaged(content, rng):
    """A file that was cut, or in which bytes were changed, lost, or added."""
    data, how = bytearray(content), int(rng.integers(5))
    at, length = int(rng.integers(len(data))), int(rng.integers(1, 40))
    if how == 0:
        return bytes(data[:at])
    if how == 1:
        for place in rng.integers(len(data), size=int(rng.integers(1, 9))):
            data[place] ^= 1 << int(rng.integers(8))
    elif how == 2:
        data[at : at + length] = bytes(length)
    elif how == 3:
        data[at : at + length] = b""
    else:
        data[at:at] = rng.bytes(length)
    return bytes(data)


def refused(call):
    """What a call returns, or None where it is refused in a sentence by the package."""
    try:
        return call()
    except ValueError as error:
        sentence = str(error)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return None


@often
@pytest.mark.parametrize("damage", [flipped, damaged])
def test_damaged_sessions_are_refused_or_whole(tmp_path, damage, number):
    path, rng = tmp_path / "session.npz", np.random.default_rng(FAULT_SEED)
    world.session().save(path)
    whole, expected = path.read_bytes(), bc.InteractiveSession.load(path, world.X)
    taken = 0
    for _ in range(number):
        path.write_bytes(damage(whole, rng))
        found = refused(lambda: bc.InteractiveSession.load(path, world.X))
        # what was changed may not be read: times, flags and names in the archive's margins
        if found is not None:
            taken += 1
            assert repr(found) == repr(expected)
            assert found.labels.tolist() == expected.labels.tolist()
    assert taken < number


def exchanged(path, rng):
    """Put the content of another file of the same checkpoint in place of a file's."""
    others = sorted(one for one in path.parents[1].rglob(path.name) if one.is_file())
    path.write_bytes(others[int(rng.integers(len(others)))].read_bytes())


FAULTS = {
    "deleted": lambda path, rng: path.unlink(),
    "exchanged": exchanged,
    "flipped": lambda path, rng: path.write_bytes(flipped(path.read_bytes(), rng)),
    "damaged": lambda path, rng: path.write_bytes(damaged(path.read_bytes(), rng)),
}


@often
@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_checkpoints_are_refused_or_resumed(tmp_path, monkeypatch, fault, number):
    """A run resumes to the draws of an undisturbed one, or refuses the checkpoint."""
    monkeypatch.setattr(checkpoint, "CHUNK_DRAWS", 4)
    rng, whole, expected = np.random.default_rng(FAULT_SEED), tmp_path / "whole", run(walks())
    run(walks(), whole)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    for at in range(number):
        copy = tmp_path / f"{at}.zarr"
        shutil.copytree(whole, copy)
        victim = copy / files[int(rng.integers(len(files)))]
        FAULTS[fault](victim, rng)
        found = refused(lambda copy=copy: run(walks(), copy))
        shutil.rmtree(copy)
        if found is not None:
            for name, values in expected.posterior.items():
                np.testing.assert_array_equal(found.posterior[name], values, err_msg=str(victim))


# h5netcdf's destructor fails of files that it could not open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@often
def test_a_flipped_bit_of_a_posterior_is_noticed(tmp_path, number):
    """Where it changes anything that is read; HDF5 has no checksums of its own."""
    rng, path = np.random.default_rng(FAULT_SEED), tmp_path / "run.nc"
    links = bc.PairwiseConstraints([(0, 1)], [True], n_items=12)
    settings = {"cluster_model": "single", "num_chains": 2, "num_warmup": 5, "num_samples": 9}
    est = bc.TVClust(**settings, progress=False, random_state=0)
    write_netcdf(est.fit(rng.normal(size=(12, 2)), constraints=links).posterior_, path)
    whole, expected, taken = path.read_bytes(), read_posterior(path), 0
    assert expected.identical(est.posterior_)
    for _ in range(number):
        path.write_bytes(flipped(whole, rng))
        found = refused(lambda: read_posterior(path))
        if found is not None:
            taken += 1
            assert found.identical(expected)
    assert taken < number


READERS = {
    "session": lambda path: bc.InteractiveSession.load(path, world.X),
    "posterior": read_posterior,
    "checkpoint": lambda path: run(walks(), path),
}
FOREIGN = {
    "nothing": b"",
    "text": b"some text\n",
    "zeros": bytes(5000),
    "archive": b"PK\x05\x06" + bytes(18),
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(500),
    "JSON": b'{"format": 1}',
    "array": b"\x93NUMPY\x01\x00",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", [*FOREIGN, "folder"])
def test_files_of_other_programs_are_refused(tmp_path, what, reader):
    path = tmp_path / "file"
    if what == "folder":
        path.mkdir()
        if reader == "checkpoint":  # an empty folder is a new checkpoint
            return
    else:
        path.write_bytes(FOREIGN[what])
    with pytest.raises(ValueError, match="file") as caught:
        READERS[reader](path)
    assert str(caught.value).endswith(".")


def test_checkpoints_of_later_versions_are_refused(tmp_path):
    later = tmp_path / "later.zarr"
    run(walks(), later)
    attributes = json.loads((later / "zarr.json").read_text())
    attributes["attributes"]["bayesclust"]["format"] = checkpoint.FORMAT + 1
    (later / "zarr.json").write_text(json.dumps(attributes))
    with pytest.raises(ValueError, match=r"with other format: give another path"):
        run(walks(), later)


class Crafted:
    """What pickle would run on reading."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def test_crafted_files_run_nothing(tmp_path):
    from bayesclust import cli
    from bayesclust.cli.tables import read_items

    trap, archive, array = tmp_path / "ran", tmp_path / "s.npz", tmp_path / "x.npy"
    objects = np.array([Crafted(trap)], dtype=object)
    stream = io.BytesIO()
    np.savez(stream, about=objects, labels=objects, X=objects, y=objects)
    archive.write_bytes(stream.getvalue())
    np.save(array, objects, allow_pickle=True)
    with pytest.raises(ValueError, match="is not a bayesclust session"):
        bc.InteractiveSession.load(archive, world.X)
    with pytest.raises(ValueError, match="is not in UTF-8"):
        read_items(cli.parser().parse_args(["ask", str(array), "--session", "s"]))
    assert not trap.exists()
    np.load(array, allow_pickle=True)  # the trap itself works
    assert trap.exists()


def test_crafted_checkpoints_run_nothing(tmp_path):
    """Arrays of zarr's format 2, or with foreign codecs, beside states that count them or none."""
    trap, path = tmp_path / "ran", tmp_path / "run.zarr"
    stream = pickle.dumps(Crafted(trap))
    old = {"zarr_format": 2, "shape": [2, 20, 3], "chunks": [1, 20, 3], "dtype": "|O", "order": "C"}
    old |= {"compressor": {"id": "pickle"}, "filters": [{"id": "pickle"}], "fill_value": None}
    for counted in (True, False):
        for form in (2, 3):
            run(walks(), path)
            where = path / "posterior" / "z"
            if not counted:
                shutil.rmtree(path / "state")
            for chunk in ("0.0.0", "1.0.0", "c/0/0/0", "c/1/0/0"):
                (where / chunk).parent.mkdir(exist_ok=True, parents=True)
                (where / chunk).write_bytes(stream)
            if form == 2:
                (where / "zarr.json").unlink()
                (where / ".zarray").write_text(json.dumps(old))
                (where.parent / "zarr.json").unlink()
                (where.parent / ".zgroup").write_text('{"zarr_format": 2}')
            else:
                kept = json.loads((where / "zarr.json").read_text())
                kept["codecs"] = [{"name": "numcodecs.pickle", "configuration": {}}]
                (where / "zarr.json").write_text(json.dumps(kept))
            assert refused(lambda: run(walks(), path)) is None or not counted
            shutil.rmtree(path)
    assert not trap.exists()
    pickle.loads(stream)  # the trap itself works
    assert trap.exists()
