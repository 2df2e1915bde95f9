"""Runs that survive a kill: draws go to a zarr store as they come, with what each chain needs to go on.

A store is a directory with the groups ``posterior`` and ``sample_stats``, arrays (chain, draw, ...) that xarray opens, and
one group per entry of the run under ``state``, whose attribute holds a snapshot of the chain and says how many draws are
valid. Draws are written before the snapshot that counts them, each file in one atomic step; what a killed run wrote beyond
its last snapshot is drawn again, to the same values.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesclust.inference.snapshots import from_text, to_text

FORMAT = 1
CHUNK_BYTES, CHUNK_DRAWS = 1 << 22, 100
SECONDS = 5.0
"""A kill loses at most about as much work as this."""
GROUPS = ("posterior", "sample_stats")


class Checkpoint:
    """The store of one run.

    Parameters
    ----------
    path : str or path
        A directory, made if it does not exist.
    fingerprint : mapping of str to str or number
        What makes this run the one it is; the number of draws is not part of it.
    number_of_chains : int
    dims : mapping, optional
        Names of the dimensions after chain and draw of variables other than z.

    Raises
    ------
    ValueError
        If the path holds something else, or the checkpoint of another run.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fingerprint: Mapping[str, Any],
        number_of_chains: int,
        dims: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.path, self.number_of_chains = Path(path), number_of_chains
        self.dims = {"z": ("item",), **(dims or {})}
        self.lock = threading.Lock()
        found = stored_fingerprint(self.path)
        wanted = {"format": FORMAT, **fingerprint}
        if found is None:
            import zarr

            zarr.create_group(self.path, attributes={"bayesclust": wanted})
            return
        different = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
        if different:
            raise ValueError(
                f"the checkpoint {str(self.path)!r} is of another run, with other {', '.join(different)}: "
                "give another path, or remove it to start anew."
            )

    def record(self, entry: int, size: int) -> Record:
        """The part of the store that belongs to one entry of the run, of `size` draws."""
        return Record(self, entry, size)

    def array(self, group: str, name: str, value: NDArray[Any], size: int) -> Any:
        """The zarr array of one variable, made at its first draw, and as long as the longest run asked for."""
        import zarr

        with self.lock:
            parent = zarr.open_group(self.path, mode="a").require_group(group)
            if name in parent:
                array: Any = parent[name]
                if array.shape[1] < size:
                    array.resize((array.shape[0], size, *array.shape[2:]))
                return array
            own = self.dims.get(name) or [f"{name}_dim_{j}" for j in range(value.ndim)]
            draws = max(1, min(CHUNK_DRAWS, CHUNK_BYTES // max(value.nbytes, 1)))
            return parent.create_array(
                name,
                shape=(self.number_of_chains, size, *value.shape),
                chunks=(1, draws, *(max(length, 1) for length in value.shape)),
                dtype=value.dtype,
                dimension_names=("chain", "draw", *own),
            )


class Record:
    """The draws of one entry of a run on disk: a chain, or several that advance together.

    Parameters
    ----------
    checkpoint : Checkpoint
    entry : int
        Its number in the run.
    size : int
        Draws asked for.

    Attributes
    ----------
    width : int or None
        Number of chains, if it is several.
    """

    def __init__(self, checkpoint: Checkpoint, entry: int, size: int) -> None:
        self.checkpoint, self.entry, self.size = checkpoint, entry, size
        self.width: int | None = None
        self.file = checkpoint.path / "state" / str(entry) / "zarr.json"
        self.saved = 0
        self.last = time.monotonic()

    def load(self) -> tuple[dict[str, Any] | None, dict[str, dict[str, NDArray[Any]]]]:
        """The last snapshot, if there is one, and the valid draws by group: arrays (draw, ...)."""
        import zarr

        state = self._state()
        draws: dict[str, dict[str, NDArray[Any]]] = {group: {} for group in GROUPS}
        if state is None:
            return None, draws
        self.saved, self.width = int(state["draws"]), state["width"]
        for group in GROUPS if self.saved else ():
            for name, array in zarr.open_group(self.checkpoint.path / group, mode="r").arrays():
                values = np.asarray(array[self.chains, : self.saved])
                draws[group][name] = values[0] if self.width is None else np.moveaxis(values, 0, 1)
        return state, draws

    @property
    def chains(self) -> slice:
        """Its chains among those of the run."""
        width = self.width or 1
        return slice(self.entry * width, (self.entry + 1) * width)

    def due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() - self.last > SECONDS

    def save(self, chain: Any, sweeps: int, draws: Mapping[str, Mapping[str, NDArray[Any]]], number: int) -> None:
        """Write the draws that are new, then the state of the chain after `sweeps` sweeps and `number` draws."""
        for group, variables in draws.items() if number > self.saved else ():
            for name, values in variables.items():
                new = values[self.saved : number]
                single = self.width is None
                array = self.checkpoint.array(group, name, np.asarray(new[0] if single else new[0, 0]), self.size)
                array[self.chains, self.saved : number] = new[None] if single else np.moveaxis(new, 1, 0)
        text = to_text({"sweeps": sweeps, "draws": number, "width": self.width, "chain": chain.snapshot()})
        content = {"zarr_format": 3, "node_type": "group", "attributes": {"snapshot": text}}
        self._replace(json.dumps(content))
        self.saved, self.last = number, time.monotonic()

    def _replace(self, text: str) -> None:
        """Write the state so that after a kill, or a loss of power, there is the old one or the new one."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        parent = self.file.parent.parent / "zarr.json"
        if not parent.exists():
            parent.write_text(json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}}))
        partial = self.file.with_name("zarr.json.partial")
        with partial.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.file)

    def _state(self) -> dict[str, Any] | None:
        if not self.file.exists():
            return None
        try:
            state: dict[str, Any] = from_text(json.loads(self.file.read_text())["attributes"]["snapshot"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"the state of a chain in the checkpoint, {str(self.file)!r}, cannot be read: remove the checkpoint to "
                "start anew."
            ) from None
        return state


def stored_fingerprint(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What the checkpoint at a path says of its run; None where there is nothing yet.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    dict or None

    Raises
    ------
    ValueError
        If the path holds something else.
    """
    directory = Path(path)
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return None
    try:
        attributes = json.loads((directory / "zarr.json").read_text())["attributes"]
        found: dict[str, Any] = attributes["bayesclust"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{str(directory)!r} exists and is no checkpoint of bayesclust: give another path.") from None
    return found


__all__ = ["Checkpoint", "Record", "stored_fingerprint"]
