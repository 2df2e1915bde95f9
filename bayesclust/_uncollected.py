"""Work that makes many objects, all of which stay: Python's garbage collector would look for what is not there."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

PYTHONS_OWN = 1000
"""Objects that Python may have set aside for itself; where there are more, others did so, and they stay there."""


def may_set_aside() -> bool:
    """Whether nobody has set objects aside, whom it would surprise to have them back. It counts those that are."""
    return gc.get_freeze_count() < PYTHONS_OWN


@contextmanager
def uncollected(*, old: bool = False) -> Iterator[None]:
    """Keep the collector off meanwhile; it is on afterwards if it was before.

    It would go through all that was made meanwhile then, twice. With `old` it leaves that alone, as it does what is old.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if old and may_set_aside():
                gc.freeze()  # back from there, all objects are old
                gc.unfreeze()
            gc.enable()


__all__ = ["may_set_aside", "uncollected"]
