"""64-bit JAX for computations of our own; the precision of the user's own computations stays.

JAX computes in 32 bits unless told otherwise, for a whole process or, as here, for a block.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps


def x64() -> AbstractContextManager[None]:
    """Compute in 64 bits inside the block; arrays made there keep their 64 bits.

    >>> import jax.numpy as jnp
    >>> with x64():
    ...     wide = jnp.ones(2)
    >>> wide.dtype
    dtype('float64')
    """
    import jax

    scope: AbstractContextManager[None] = jax.enable_x64(True)
    return scope


def in_x64[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Make a function compute in 64 bits whenever it is called."""

    @wraps(function)
    def wide(*args: P.args, **kwargs: P.kwargs) -> R:
        with x64():
            return function(*args, **kwargs)

    return wide
