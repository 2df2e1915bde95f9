"""New arrays in compiled code.

NumPy's own functions for them take numba a tenth of a second to compile for each type and number of
axes, in every process that compiles: they are for any shape and any type. This one is a call for
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

try:
    from numba.core.imputils import impl_ret_new_ref
    from numba.core.typing.npydecl import parse_dtype
    from numba.np.arrayobj import _empty_nd_impl

    # numba says no types of these
    Array: Any = types.Array
    take_apart: Any = cgutils.unpack_tuple
    clear: Any = cgutils.memset
    own: Any = impl_ret_new_ref
    type_of: Any = parse_dtype
    allocate: Any = _empty_nd_impl
except (ImportError, AttributeError):  # a numba arranged otherwise: it takes a little longer
    allocate = None


def _typed(typing_context: Any, shape: Any, kind: Any) -> Any:
    """An array of zeros, of one length or a tuple of them, as `np.zeros` makes it. Lengths must not be negative."""
    many = isinstance(shape, types.BaseTuple)
    lengths: list[Any] = list(shape) if many else [shape]
    made = Array(type_of(kind), len(lengths), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = take_apart(builder, arguments[0]) if many else [arguments[0]]
        sizes = [
            context.cast(builder, size, length, types.intp)
            for size, length in zip(given, lengths, strict=True)
        ]
        array = allocate(context, builder, made, sizes)
        clear(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
        return own(context, builder, made, array._getvalue())

    return made(shape, kind), generate


zeros: Callable[..., NDArray[Any]] = np.zeros if allocate is None else intrinsic(_typed)

__all__ = ["zeros"]
