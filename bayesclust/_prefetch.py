"""A hint to the processor, from compiled code, that an element of an array will soon be read.

Where elements of an array larger than the caches are read in no order, most of the time is spent
waiting for memory, and the addresses are known long before.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["prefetch"]

FOR_READING, KEEP, DATA = 0, 3, 1  # arguments of LLVM's own function of that name


def _typed(typing_context: Any, array: Any, index: Any) -> Any:
    """Fetch array[index] of an array of one dimension; out of bounds it does nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        offset = context.cast(builder, arguments[1], signature.args[1], types.intp)
        place = builder.gep(values.data, [offset])
        address = builder.bitcast(place, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        settings = (ir.Constant(number, value) for value in (FOR_READING, KEEP, DATA))
        builder.call(hint, [address, *settings])
        return context.get_dummy_value()

    return types.void(array, index), generate


prefetch: Any = intrinsic(_typed)
