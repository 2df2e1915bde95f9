"""Memory: how much is left to this process, and a word about what needs more than that before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["available_memory", "check_memory"]

MEMINFO, OWN_GROUP, GROUPS = (
    Path("/proc/meminfo"),
    Path("/proc/self/cgroup"),
    Path("/sys/fs/cgroup"),
)
UNLIMITED = 1 << 60
"""Control groups write what they do not limit as a word, or as a number of this size."""


def available_memory() -> int | None:
    """Return how many bytes this process can still take: the least of what machine, control group and limits leave.

    Returns
    -------
    int or None
        None where the system does not tell.

    Examples
    --------
    >>> left = available_memory()
    >>> left is None or left > 0
    True
    """
    found = [
        left
        for left in (_left_of_machine(), _left_of_group(), _left_of_limit())
        if left is not None
    ]
    return max(min(found), 0) if found else None


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse work that needs more memory than there is.

    Parameters
    ----------
    needed : int
        Bytes, those of the largest arrays that are in memory together.
    what : str
        What needs them, as the subject of a sentence.
    remedy : str
        What to do instead.

    Raises
    ------
    MemoryError
        If there is less. Where the system does not tell, nothing is refused.

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
            f"{what} needs {_gib(needed)} GiB of memory, but only {_gib(left)} GiB are left: {remedy}."
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
    """What the control group and those above it leave; files that could be dropped from its memory count as left."""
    try:
        group = next(
            line.split("::", 1)[1]
            for line in OWN_GROUP.read_text().splitlines()
            if line.startswith("0::")
        )
    except (OSError, StopIteration):
        return None
    here, found = GROUPS / group.strip("/"), []
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
