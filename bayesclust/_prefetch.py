"""A hint to the processor, from compiled code, that an element of an array will soon be read.

Where elements are read in no order from an array larger than the caches, waiting for memory is most
of the time, and the addresses are known long before.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["prefetch"]

FOR_READING, KEEP, DATA = 0, 3, 1  # arguments of LLVM's own function of that name


def _typed(typing_context: Any, array: Any, index: Any) -> Any:
    """Bring array[index] of an array of one dimension nearer; out of bounds it does nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        proxy: Any = cgutils.create_struct_proxy
        values = proxy(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(
            values.data, [context.cast(builder, arguments[1], signature.args[1], types.intp)]
        )
        address = builder.bitcast(place, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(
            hint, [address, *(ir.Constant(number, value) for value in (FOR_READING, KEEP, DATA))]
        )
        return context.get_dummy_value()

    return types.void(array, index), generate


prefetch: Any = intrinsic(_typed)
