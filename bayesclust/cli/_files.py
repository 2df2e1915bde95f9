"""Files that are written whole or not at all, and posteriors that are read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["check_target", "read_posterior", "replaced"]


def check_target(path: Path) -> None:
    """Refuse a file that could not be written, before hours are spent on what goes into it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file to write.")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} into: make it first.")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"the folder {path.parent} cannot be written to: choose another for {path.name}.")


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Give a file beside the one wanted to write to, and put it in place if all goes well."""
    check_target(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_posterior(path: Path) -> Any:
    """Return a posterior from a netCDF file, whole in memory.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    xarray.DataTree

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If it holds no draws of a partition.
    """
    import xarray as xr

    if not path.is_file():
        raise ValueError(f"there is no file {path}: bayesclust fit ... --out {path} would write it.")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as lazy:
            tree = lazy.load()
    except OSError:
        raise ValueError(f"{path} is no netCDF file: pass what bayesclust fit or to_netcdf wrote.") from None
    if "posterior" not in tree.children or "z" not in tree["posterior"]:
        raise ValueError(f"{path} holds no draws of a partition (posterior/z): pass what bayesclust fit wrote.")
    return tree
