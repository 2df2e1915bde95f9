"""Runs that survive a kill: draws go to a zarr store as they come, with snapshots of the chains.

A store is a directory with the groups ``posterior`` and ``sample_stats``, arrays (chain, draw, ...)
that xarray opens, and one group per entry of the run under ``state``, whose attribute holds a
snapshot of the chain and digests of all draws that it counts. Draws are written before that, each
file in one atomic step; what a killed run wrote beyond its last snapshot is drawn again, to the
same values. Draws still to come show as -1 (labels and counts) or nan. Snapshots of the search that
comes first are under ``search``.

Of several processes, which all see the directory, the first makes it; a chain is written by the one
that runs it, or the first of all that do.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from bayesclust._io import PARTIAL, UNREADABLE, check_path, replaced
from bayesclust.constraints.base import Constraints
from bayesclust.inference import runner
from bayesclust.inference.runner import GROUPS, any_process, check_same_in_all
from bayesclust.typing import FloatArray, NDArray

FORMAT = 3
CHUNK_BYTES = 1 << 22
CHUNK_DRAWS = 100
CODECS = {"bytes", "zstd"}  # others are not of this package, and might run code
SECONDS = 5.0  # of work that a kill loses at most, or as `SHARE` allows where saving takes long
SHARE = 0.03  # part of a chain's time that may go into saving
NOT_PART_OF_DRAWS = ("num_samples", "loss", "progress", "n_jobs", "random_state")
"""Settings that do not change the draws, and the seed, which the fingerprint holds by itself."""


class Checkpoint:
    """The store of one run, in a directory that is made if it does not exist."""

    # `fingerprint` tells runs apart, whatever their number of draws; `dims` names the dimensions
    # after chain and draw of variables other than z

    searches = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        fingerprint: Mapping[str, Any],
        number_of_chains: int,
        dims: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.path = check_path(path, "checkpoint")
        self.number_of_chains = number_of_chains
        self.lock = threading.Lock()
        self.dims = {"z": ("item",), **(dims or {})}
        found = stored_fingerprint(self.path)
        wanted = {"format": FORMAT, **fingerprint}
        check_same_in_all({"a checkpoint": found is None, **wanted})
        if found is None:
            if runner.process_index() == 0:
                import zarr

                with suppress(zarr.errors.ContainsGroupError):  # another run has just made it
                    zarr.create_group(self.path, attributes={"bayesclust": wanted})
            any_process(True)  # none continues before it exists
            found = stored_fingerprint(self.path) or wanted
        different = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
        if different:
            raise ValueError(
                f"the checkpoint {str(self.path)!r} is of another run, with other "
                f"{', '.join(different)}: give another path, or remove it to start again."
            )
        if runner.process_index() == 0:
            self._make_groups()

    def _make_groups(self) -> None:
        """Make the groups that are missing, all of them or those before which a run was killed."""
        for group in (*GROUPS, "state"):
            if not (self.path / group / "zarr.json").exists():
                import zarr

                with suppress(zarr.errors.ContainsGroupError):  # of another run
                    zarr.create_group(self.path / group)

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Refuse the run if another one, of any process, is writing to the same directory."""
        if runner.process_index() > 0 or os.name == "nt":
            yield
            return
        import fcntl

        handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise ValueError(
                f"another run is writing to the checkpoint {str(self.path)!r}: wait until it ends."
            ) from None
        except OSError:  # a file system without locks
            pass
        try:
            yield
        finally:
            os.close(handle)

    def has_begun(self, entries: int) -> bool:
        """Whether there is a state of each of so many entries."""
        return all(self.record(entry, entries, 0).file.exists() for entry in range(entries))

    def keep(self, name: str, value: Any) -> None:
        """Store what the run found before its first sweep, as JSON."""
        if runner.process_index() == 0:
            _write_group(self.path / name / "zarr.json", name, value)

    def kept(self, name: str) -> Any:
        """What was stored under a name, or None."""
        return _read_group(self.path / name / "zarr.json", name)

    def record(self, entry: int, entries: int, size: int, *, writes: bool = True) -> Record:
        """The part of one entry of so many, of `size` draws; all have as many chains."""
        kind = SearchRecord if self.searches else Record
        return kind(self, entry, entries, size, writes)

    @property
    def of_search(self) -> Self:
        """The same for the sweeps before the run, which keep no draws."""
        found = copy.copy(self)
        found.searches = True
        return found

    def array(self, group: str, name: str, value: NDArray[Any], size: int) -> Any:
        """The zarr array of one variable, made at its first draw; a longer run lengthens it."""
        import zarr
        from zarr.codecs import ZstdCodec

        where = self.path / group / name
        own = self.dims.get(name) or [f"{name}_dim_{j}" for j in range(value.ndim)]
        draws = max(1, min(CHUNK_DRAWS, CHUNK_BYTES // max(value.nbytes, 1)))
        if not (where / "zarr.json").exists():
            # of another thread, or another process
            with self.lock, suppress(zarr.errors.ContainsArrayError):
                zarr.create_array(
                    where,
                    shape=(self.number_of_chains, size, *value.shape),
                    chunks=(1, draws, *(max(length, 1) for length in value.shape)),
                    dtype=value.dtype,
                    fill_value={"f": np.nan, "i": -1}.get(value.dtype.kind, 0),
                    dimension_names=("chain", "draw", *own),
                    compressors=ZstdCodec(checksum=True),  # a flipped bit is noticed
                )
        array = open_array(where, "r+")
        if array.shape[1] < size:
            array.resize((array.shape[0], size, *array.shape[2:]))
        return array


@dataclass
class Record:
    """The draws of one entry of a run on disk; `width` is its number of chains."""

    checkpoint: Checkpoint
    entry: int
    entries: int
    size: int
    writes: bool
    width: int = 1
    saved: int = 0
    folder: ClassVar[str] = "state"

    def __post_init__(self) -> None:
        self.hashes: dict[str, list[Any]] = {}
        """Of the draws saved, by group and variable, one for each chain."""
        self.file = self.checkpoint.path / self.folder / str(self.entry) / "zarr.json"
        self.last = time.monotonic()
        self.pause = SECONDS

    @property
    def chains(self) -> slice:
        """Which chains of the run are this entry's; every entry has the same number."""
        return slice(self.entry * self.width, (self.entry + 1) * self.width)

    def load(self) -> tuple[dict[str, Any] | None, dict[str, dict[str, NDArray[Any]]]]:
        """The last snapshot, if any, and the valid draws by group: arrays (chain, draw, ...)."""
        if self.writes:
            for unfinished in self.file.parent.glob(f"*{PARTIAL}"):  # what killed runs left
                unfinished.unlink(missing_ok=True)
        state: dict[str, Any] | None = _read_group(self.file, "snapshot")
        if state is not None:
            if state["entry"] != [self.entry, self.entries]:
                raise _damaged(self.file, "are those of another chain")
            self.saved = int(state["draws"])
            self.width = state["width"] or 1
        if state is None or not self.saved:
            return state, {}
        draws: dict[str, dict[str, NDArray[Any]]] = {group: {} for group in GROUPS}
        for key, digests in state["digests"].items():
            group, name = key.split("/")
            draws[group][name] = self._draws(group, name, digests)
        return state, draws

    def restore(self, chain: Any, snapshot: dict[str, Any]) -> None:
        """Resume a chain from its snapshot; refuse a snapshot of another kind of chain."""
        try:
            chain.restore(snapshot)
        except (*UNREADABLE, ArithmeticError) as error:
            what = f"are not of such a chain ({type(error).__name__})"
            raise _damaged(self.file, what) from error

    def _draws(self, group: str, name: str, digests: list[str]) -> NDArray[Any]:
        """The draws of a variable that the snapshot counts, as they were written."""
        where = self.checkpoint.path / group / name
        try:
            draws = np.asarray(open_array(where, "r")[self.chains, : self.saved])
        except UNREADABLE:
            raise _damaged(where, "cannot be read") from None
        self._hash(group, name, draws)
        if [one.hexdigest() for one in self.hashes[f"{group}/{name}"]] != digests:
            raise _damaged(where, "are not those that were written")
        return draws

    def _hash(self, group: str, name: str, values: NDArray[Any]) -> None:
        """Update the digests of a variable with draws (chain, draw, ...)."""
        own = self.hashes.setdefault(f"{group}/{name}", [])
        if not own:
            head = f"{values.dtype.str} {values.shape[2:]}".encode()
            own += [hashlib.sha256(head) for _ in values]
        for one, new in zip(own, values, strict=True):
            one.update(np.ascontiguousarray(new).tobytes())

    def due(self) -> bool:
        """Whether it is time to save."""
        return self.writes and time.monotonic() - self.last > self.pause

    def save(self, chain: Any, sweeps: int, store: Any) -> None:
        """Write the draws that are new, then the state of the chain after `sweeps` sweeps."""
        begun = time.monotonic()
        snapshot = chain.snapshot()  # which processes that run the chain together take together
        if not self.writes:
            return
        self.width = store.width
        number = store.number
        try:
            for group, variables in store.arrays.items() if number > self.saved else ():
                for name, values in variables.items():
                    self._write(group, name, values, number)
                    self._hash(group, name, values[:, self.saved : number])
            hashes = self.hashes.items()
            kept = {
                "entry": [self.entry, self.entries],
                "sweeps": sweeps,
                "draws": number,
                "width": self.width,
                "digests": {key: [one.hexdigest() for one in own] for key, own in hashes},
                "chain": snapshot,
            }
            _write_group(self.file, "snapshot", kept)
        except OSError as error:  # such as a full disk, which names no file
            words = error.strerror or str(error)
            raise OSError(error.errno, words, str(self.checkpoint.path)) from error
        self.saved = number
        self.last = time.monotonic()
        self.pause = max(SECONDS, (self.last - begun) / SHARE)

    def _write(self, group: str, name: str, values: NDArray[Any], number: int) -> None:
        """Write whole chunks, from `values` (chain, draw, ...), over what a killed run left."""
        array = self.checkpoint.array(group, name, values[0, 0], self.size)
        chunk = array.chunks[1]
        first = self.saved - self.saved % chunk
        end = min(-(-number // chunk) * chunk, array.shape[1])
        shape = (self.width, end - first, *values.shape[2:])
        block = np.full(shape, array.fill_value, values.dtype)
        block[:, : number - first] = values[:, first:number]
        array[self.chains, first:end] = block


class SearchRecord(Record):
    """The state of one entry of a search, until the last sweeps, whose draws tell what it found."""

    folder = "search"

    def save(self, chain: Any, sweeps: int, store: Any) -> None:
        if store.number == 0:
            super().save(chain, sweeps, store)


def open_array(where: Path, mode: Any) -> Any:
    """An array of zarr's format 3, refused where other codecs than ours would read it."""
    import zarr

    try:
        array = json.loads((where / "zarr.json").read_text(encoding="utf-8"))
        if {codec["name"] for codec in array["codecs"]} != CODECS:
            raise ValueError
        return zarr.open_array(where, mode=mode, zarr_format=3)
    except UNREADABLE:
        raise _damaged(where, "cannot be read") from None


def _damaged(where: Path, what: str) -> ValueError:
    return ValueError(
        f"the draws in the checkpoint, {str(where)!r}, {what}: remove the checkpoint to start "
        "again."
    )


def stored_fingerprint(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The fingerprint of the run whose checkpoint is at a path; None where there is nothing yet."""
    directory = check_path(path, "checkpoint")
    if not directory.exists():
        if directory.is_symlink():
            raise ValueError(
                f"the checkpoint {str(directory)!r} is a link to no folder: make the folder, or "
                "give another path."
            )
        return None
    # a run killed at its very first write leaves a partial file
    if directory.is_dir() and all(file.suffix == PARTIAL for file in directory.iterdir()):
        return None
    try:
        attributes = json.loads((directory / "zarr.json").read_text())["attributes"]
        found: dict[str, Any] = dict(attributes["bayesclust"].items())
    except UNREADABLE:
        raise ValueError(
            f"{str(directory)!r} exists and is not a bayesclust checkpoint: give another path."
        ) from None
    return found


def fingerprint(
    settings: Mapping[str, Any],
    items: FloatArray,
    constraints: Sequence[Constraints],
    seed: int | Generator,
) -> dict[str, Any]:
    """Words that differ as soon as the draws would."""
    answers = [
        f"{_digest_of(view.items, view.answers, view.source)} {view.name} {_exact(view.noise)}"
        + ("" if view.members else f" {view.rows}")
        for view in (one.given for one in constraints)
    ]
    words = {n: _word(value) for n, value in settings.items() if n not in NOT_PART_OF_DRAWS}
    words["version"] = version("bayesclust")
    words["data"] = _digest_of(items)
    words["constraints"] = "; ".join(answers)
    if isinstance(seed, Generator):
        # the chains' generators are spawned from the seed sequence, which spawning changes and
        # drawing does not
        source = getattr(seed.bit_generator.seed_seq, "state", None)
        return words | {"random_state": _word(f"{seed.bit_generator.state} {source}")}
    return words | {"drawn seed" if settings["random_state"] is None else "random_state": int(seed)}


def _word(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return _digest_of(value)
    word = _exact(value) if not isinstance(value, (str, np.generic)) else str(value)
    return word if len(word) < 100 else _digest_of(np.frombuffer(word.encode(), np.uint8))


def _exact(value: Any) -> str:
    """The representation with all elements and digits of arrays inside."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return repr(value)


def _digest_of(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for values in arrays:
        array = np.ascontiguousarray(values)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def _read_group(file: Path, name: str) -> Any:
    """What `_write_group` wrote, refused where its digest is another; None without a file."""
    if not file.exists():
        return None
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))["attributes"]
        if kept["digest"] != _digest(kept[name]):
            raise ValueError
        return from_text(kept[name])
    except UNREADABLE:
        raise ValueError(
            f"a part of the checkpoint, {str(file)!r}, cannot be read: remove the checkpoint to "
            "start again."
        ) from None


def _write_group(file: Path, name: str, value: Any) -> None:
    """Write a group's file so that a kill or a loss of power leaves the old one or the new one."""
    text = to_text(value)
    file.parent.mkdir(parents=True, exist_ok=True)
    attributes = {name: text, "digest": _digest(text)}
    group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    with replaced(file) as draft:
        draft.write_text(json.dumps(group), encoding="utf-8")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- snapshots as text, bit for bit: arrays as bytes, numbers by their shortest exact form


def to_text(snapshot: Any) -> str:
    """Write a nest of dicts, lists, arrays, numbers and words as JSON; keys are words."""
    return json.dumps(snapshot, default=_plain)


def from_text(text: str) -> Any:
    """Read what `to_text` has written; tuples come back as lists."""
    return json.loads(text, object_hook=_array)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        encoded = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return {"bytes": encoded, "dtype": value.dtype.str, "shape": value.shape}
    raise TypeError(f"a snapshot cannot hold a {type(value).__name__}: give arrays or numbers.")


def _array(value: dict[str, Any]) -> Any:
    if set(value) != {"bytes", "dtype", "shape"}:
        return value
    data = np.frombuffer(base64.b64decode(value["bytes"]), dtype=np.dtype(value["dtype"]))
    return data.reshape(value["shape"]).copy()
