"""Files written whole or not at all.

After a full disk, a kill or a loss of power there is the old file or the new one.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

UNREADABLE = (OSError, RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError)
"""What NumPy, JSON, xarray, h5netcdf and HDF5 raise on a file that is damaged or foreign."""

SPARE = 1 << 17
"""Bytes of a netCDF file beside its numbers: names, attributes, indices of chunks."""


def check_path(path: Any, name: str = "path") -> Path:
    """Return a path, or refuse what names no file; sentences call it `name`."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name} must be a word or a pathlib.Path; got {type(path).__name__}.")
    if "\0" in str(path):
        raise ValueError(f"{name} has a null character in it: name a file without.")
    return Path(path)


def check_target(path: Path, name: str = "path") -> None:
    """Refuse a file that could not be written, before hours are spent on what goes into it."""
    if path.is_dir():
        raise ValueError(f"{name} {path} is a folder: name a file to write.")
    if not path.parent.is_dir():
        raise ValueError(
            f"there is no folder {path.parent} for the {name} {path.name}: make it first."
        )
    if not os.access(path.parent, os.W_OK):
        raise ValueError(
            f"the folder {path.parent} cannot be written to: choose another {name} for {path.name}."
        )


@contextmanager
def replaced(path: str | os.PathLike[str], *, suffix: str = ".part") -> Iterator[Path]:
    """Give an empty file in the same folder, and put it in place of `path` if all goes well.

    After an error it is removed; a kill leaves it behind, hidden.
    """
    target = check_path(path)
    check_target(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=suffix)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        with draft.open("rb+") as stream:
            os.fsync(stream.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_netcdf(tree: Any, path: str | os.PathLike[str]) -> None:
    """Write a tree of draws as a netCDF file, whole or not at all; OSError if the disk is full.

    Room is found beforehand: HDF5 ends the process where a write fails.
    """
    with replaced(path) as draft:
        _reserve(draft, int(tree.nbytes) + SPARE)
        tree.to_netcdf(draft, engine="h5netcdf")


def _reserve(draft: Path, size: int) -> None:
    """Make sure that a file may grow so far, and leave it empty."""
    with draft.open("rb+") as stream:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(stream.fileno(), 0, size)
            stream.truncate(0)
        elif shutil.disk_usage(draft.parent).free < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(draft))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
