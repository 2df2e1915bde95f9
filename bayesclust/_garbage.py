"""Python's garbage collector, while kernels are compiled.

numba makes so many objects that the collector goes again and again through all that there were
before: a seventh of the time that a first fit takes to compile. So these are set aside meanwhile;
what is made meanwhile is collected as ever.
"""

from __future__ import annotations

import gc
from typing import Any

from bayesclust._uncollected import may_set_aside

try:
    from numba.core import event

    Listener: Any = event.Listener
    register: Any = event.register
except (ImportError, AttributeError):  # a numba arranged otherwise: it takes a little longer
    Listener, register = object, None

COMPILING = "numba:compile"


class Aside(Listener):  # type: ignore[misc]
    """Sets objects aside from the first function that is begun to the last that is done, one within another.

    Parameters
    ----------
    package : str
        Whose functions are meant; others' are compiled within these, or are others' concern.
    """

    def __init__(self, package: str) -> None:
        self.package, self.depth, self.frozen = package, 0, False

    def on_start(self, event: Any) -> None:
        """A function is begun."""
        if self._is_meant(event):
            if self.depth == 0 and may_set_aside():
                gc.freeze()
                self.frozen = True
            self.depth += 1

    def on_end(self, event: Any) -> None:
        """A function is done, or has failed."""
        if self._is_meant(event):
            self.depth = max(
                self.depth - 1, 0
            )  # another listener may have kept the beginning from this one
            if self.depth == 0 and self.frozen:
                gc.unfreeze()
                self.frozen = False

    def _is_meant(self, event: Any) -> bool:
        function = event.data["dispatcher"].py_func
        return str(function.__module__).partition(".")[0] == self.package


def set_aside_while_compiling(package: str) -> None:
    """Do so for the functions of a package from now on."""
    if register is not None:
        register(COMPILING, Aside(package))


__all__ = ["set_aside_while_compiling"]
