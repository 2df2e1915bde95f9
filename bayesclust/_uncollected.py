"""Work that makes many objects, all of which stay: Python's garbage collector would look for what is not there."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

_owed: list[bool] = []
"""An entry for everyone who will switch the collector on again."""
PYTHONS_OWN = 1000
"""Objects that Python may have set aside for itself; where there are more, others did so, and they stay there."""


def may_set_aside() -> bool:
    """Whether nobody has set objects aside, whom it would surprise to have them back. It counts those that are."""
    return gc.get_freeze_count() < PYTHONS_OWN


@contextmanager
def uncollected(*, old: bool = False) -> Iterator[None]:
    """Keep the collector off meanwhile; it is on afterwards if it was before.

    It would go through all that was made meanwhile then, twice. With `old` it leaves that alone, as
    it does what is old.
    """
    was_on = gc.isenabled()
    try:
        if was_on:
            _owed.append(True)
            gc.disable()
        yield
    finally:
        try:
            if was_on and old and may_set_aside():
                gc.freeze()  # back from there, all objects are old
                gc.unfreeze()
        finally:
            if was_on:
                gc.enable()
                del _owed[-1:]


def _pay() -> None:
    """In a copy of this process, which has none of the threads that would switch it on."""
    if _owed:
        gc.enable()
    _owed.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pay)


__all__ = ["may_set_aside", "uncollected"]
