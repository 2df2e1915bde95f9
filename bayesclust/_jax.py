"""64-bit JAX for computations of our own; the precision of the user's own computations stays."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps


def in_x64[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Make a function compute in 64 bits; arrays made there keep their 64 bits."""

    @wraps(function)
    def wide(*args: P.args, **kwargs: P.kwargs) -> R:
        import jax

        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return wide
