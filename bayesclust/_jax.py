"""64-bit JAX for computations of our own, the user's precision staying; loading it in threads.

ArviZ leaves JAX to be loaded at the first use of it. SciPy and scikit-learn ask in every thread
whether arrays are JAX's, and a second thread would find half of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import Any

LOADING = Lock()


def in_x64[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Make a function compute in 64 bits; arrays made there keep their 64 bits."""

    @wraps(function)
    def wide(*args: P.args, **kwargs: P.kwargs) -> R:
        import jax

        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return wide


def arviz_functions() -> Any:
    """ArviZ's functions of arrays; all of ArviZ takes over a second to import."""
    with LOADING:
        found = import_module("arviz_stats.base").array_stats
    load_whole()
    return found


def load_whole() -> None:
    """Load JAX to its end where it is left to the first use."""
    with LOADING:
        jax = sys.modules.get("jax")
        if jax is not None and type(jax) is not ModuleType:
            dir(jax)


def whole_jax[**P, R](fit: Callable[P, R]) -> Callable[P, R]:
    """A `fit` that may run in several threads at once, as far as JAX goes."""

    @wraps(fit)
    def call(*args: P.args, **settings: P.kwargs) -> R:
        load_whole()
        return fit(*args, **settings)

    return call
