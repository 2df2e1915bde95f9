"""Files written whole or not at all, whether the disk is full or the power lost."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

UNREADABLE = (OSError, RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError)
"""What NumPy, JSON, xarray, h5netcdf and HDF5 raise on a file that is damaged or foreign."""

DIGEST = "digest"
PARTIAL = ".partial"  # how files end, ours and zarr's, that a kill leaves half written
SPARE = 1 << 17  # bytes of a netCDF file besides its numbers: names, attributes, indices


def check_path(path: Any, name: str = "path") -> Path:
    """Return a path, or refuse what is none; errors call it `name`."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name} must be a word or a pathlib.Path; got {type(path).__name__}.")
    if "\0" in str(path):
        raise ValueError(f"{name} has a null character in it: name a file without.")
    if re.match(r"[A-Za-z][\w+.-]+:/", str(path)):
        raise ValueError(f"{name} is an address, {str(path)!r}: name a file of this machine.")
    return Path(path)


def check_target(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file that could not be written, or is an input, before hours are spent on it."""
    if path.is_dir():
        raise ValueError(f"path {path} is a folder: name a file to write.")
    if path.exists() and not path.is_file():
        raise ValueError(f"path {path} is a device or a pipe: name a file to write.")
    for read in inputs:
        if _same(path, read):
            raise ValueError(f"path {path} is the input {read} too: name another file to write.")
    path = _real(path)
    if not path.parent.is_dir():
        raise ValueError(
            f"there is no folder {path.parent} for the path {path.name}: make it first."
        )
    if not os.access(path.parent, os.W_OK):
        raise ValueError(
            f"the folder {path.parent} cannot be written to: choose another path for {path.name}."
        )


def _real(path: Path) -> Path:
    """The file that a symbolic link leads to, or the path itself."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, which need not exist yet."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty file in the same folder, and put it in place of `path` if all goes well."""
    target = check_path(path)
    check_target(target)
    target = _real(target)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(6)}{PARTIAL}")
    draft.touch(exist_ok=False)  # unlike tempfile's, with the permissions that the umask leaves
    try:
        yield draft
        with draft.open("rb+") as stream:
            os.fsync(stream.fileno())
        draft.replace(target)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        draft.unlink(missing_ok=True)


def write_netcdf(tree: Any, path: str | os.PathLike[str]) -> None:
    """Write a tree of draws as a netCDF file, whole or not at all; OSError if the disk is full."""
    # Room is found beforehand: HDF5 ends the process where a write fails, and sees no flipped bits.
    tree = tree.copy()
    tree.attrs[DIGEST] = _digest(tree)
    with replaced(path) as draft:
        if hasattr(os, "posix_fallocate"):
            with draft.open("rb+") as stream:
                os.posix_fallocate(stream.fileno(), 0, int(tree.nbytes) + SPARE)
                stream.truncate(0)
        tree.to_netcdf(draft, engine="h5netcdf")


def load_netcdf(path: Path) -> Any:
    """Read a tree of draws into memory, or refuse a file that is damaged or of another kind."""
    import xarray as xr

    try:
        with xr.open_datatree(path, engine="h5netcdf") as lazy:
            tree = lazy.load()
        if tree.attrs.pop(DIGEST, None) not in (None, _digest(tree)):
            raise ValueError
    except PermissionError:
        raise ValueError(f"{path} may not be read: change its permissions.") from None
    except UNREADABLE:
        raise ValueError(
            f"{path} is damaged or not a netCDF file: pass what bayesclust fit or to_netcdf wrote."
        ) from None
    return tree


def _digest(tree: Any) -> str:
    """A digest that is equal for a tree in memory and the same tree in netCDF."""
    sha = hashlib.sha256()

    def add(*words: Any) -> None:
        sha.update(repr([_plain(word) for word in words]).encode())

    for path, node in sorted(tree.subtree_with_keys):
        data = node.to_dataset(inherit=False)
        add(path, *sorted((k, _plain(v)) for k, v in data.attrs.items() if k != DIGEST))
        for name, variable in sorted(data.variables.items()):
            add(name, variable.dims, *sorted((k, _plain(v)) for k, v in variable.attrs.items()))
            values = variable.values
            kind = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.int64}
            if values.dtype.kind in kind:
                sha.update(np.ascontiguousarray(values, kind[values.dtype.kind]).tobytes())
            else:
                add(values.astype(str).tolist())
    return sha.hexdigest()


def _plain(value: Any) -> Any:
    """An attribute as netCDF stores it, as a plain Python value."""
    value = np.asarray(value).tolist()
    return value[0] if isinstance(value, list) and len(value) == 1 else value
