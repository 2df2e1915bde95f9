"""Files written whole or not at all, and a word about memory before the work begins.

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

MEMINFO = Path("/proc/meminfo")
OWN_GROUP = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")

UNLIMITED = 1 << 60
"""Control groups write what they do not limit as a word, or as a number of this size."""


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


def available_memory() -> int | None:
    """Return how many bytes this process can still take, or None where the system does not tell."""
    found = (_left_of_machine(), _left_of_group(), _left_of_limit())
    known = [left for left in found if left is not None]
    return max(min(known), 0) if known else None


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse work that needs more bytes than there are; `what` is the subject of the sentence.

    Examples
    --------
    >>> check_memory(1 << 60, "a matrix of all pairs", "take fewer items")
    Traceback (most recent call last):
    MemoryError: a matrix of all pairs needs 1,073,741,824.0 GiB of memory, but only ... GiB are
    left: take fewer items.
    """
    left = available_memory()
    if left is not None and needed > left:
        raise MemoryError(
            f"{what} needs {_gib(needed)} GiB of memory, but only {_gib(left)} GiB are left: "
            f"{remedy}."
        )


def _gib(number: int) -> str:
    return f"{number / 2**30:,.1f}" if number >= 2**27 else f"{number / 2**30:.3f}"


def _left_of_machine() -> int | None:
    """What can be had without taking it from others; swap counts, since slow work is still work."""
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines() if ":" in line)
        return 1024 * sum(int(lines[name].split()[0]) for name in ("MemAvailable", "SwapFree"))
    except (OSError, KeyError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _left_of_group() -> int | None:
    """What the control group and those above it leave; files that can be dropped count as left."""
    try:
        groups = OWN_GROUP.read_text().splitlines()
        group = next(line.split("::", 1)[1] for line in groups if line.startswith("0::"))
    except (OSError, StopIteration):
        return None
    here = GROUPS / group.strip("/")
    found = []
    for folder in (here, *here.parents):
        if not folder.is_relative_to(GROUPS):
            break
        try:
            most = int((folder / "memory.max").read_text())
            used = int((folder / "memory.current").read_text())
            kinds = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        except (OSError, ValueError):  # "max", or no such file: no limit here
            continue
        if most < UNLIMITED:
            found.append(most - used + int(kinds.get("inactive_file", 0)))
    return min(found, default=None)


def _left_of_limit() -> int | None:
    """What the process's own limit of address space leaves (ulimit -v)."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    return most - taken
