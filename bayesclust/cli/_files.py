"""Posteriors that are read from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayesclust._io import UNREADABLE

__all__ = ["read_posterior"]


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
    ValueError
        If there is no such file, it cannot be read, or it holds no draws of a partition.
    """
    import xarray as xr

    if not path.is_file():
        raise ValueError(
            f"there is no file {path}: bayesclust fit ... --out {path} would write it."
        )
    try:
        with xr.open_datatree(path, engine="h5netcdf") as lazy:
            tree = lazy.load()
    except PermissionError:
        raise ValueError(f"{path} may not be read: change its permissions.") from None
    except UNREADABLE:
        raise ValueError(
            f"{path} is no netCDF file, or damaged: pass what bayesclust fit or to_netcdf wrote."
        ) from None
    if "posterior" not in tree.children or "z" not in tree["posterior"]:
        raise ValueError(
            f"{path} holds no draws of a partition (posterior/z): pass what bayesclust fit wrote."
        )
    return tree
