"""Random numbers that compiled code reaches quickly.

numba looks a generator's functions up by their names whenever a kernel is called with it: 6 of the
7 microseconds that a small kernel takes. NumPy keeps their addresses side by side, in a structure
that its C interface documents (`bitgen_t` of numpy/random/bitgen.h), and one look-up leads there. A
second one leads to what all streams of the process share: which thread is in Python
(`bayesclust._turns`). A kernel that is called with a stream gives up its turn there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, register_model, typeof_impl, unbox
from numpy.random import BitGenerator, Generator

from bayesclust._turns import TURN, enter, leave

try:
    from numba.np.random.generator_core import NumPyRandomGeneratorTypeModel

    # numba says no types of these
    Model: Any = NumPyRandomGeneratorTypeModel
    GeneratorType: Any = types.NumPyRandomGeneratorType
    BITS: Any = types.NumPyRandomBitGeneratorType("bit_generator")
    proxy: Any = cgutils.create_struct_proxy
    nothing: Any = cgutils.get_null_value
    integer: Any = cgutils.intp_t
    Arranged: Any = NativeValue
except (ImportError, AttributeError):  # a numba arranged otherwise: calls take a little longer
    Model = None

MEMBERS = ("state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")
"""What numba calls the first members of the structure, in their order."""


class Stream(Generator):
    """A generator that knows where its functions are."""

    def __init__(self, bits: BitGenerator) -> None:
        super().__init__(bits)
        self.address: int = bits.ctypes.bit_generator.value
        self.turn: int = TURN.ctypes.data

    def __reduce__(self) -> tuple[Callable[[BitGenerator], Generator], tuple[BitGenerator], None]:
        return stream_of, (self.bit_generator,), None


def stream_of(bits: BitGenerator) -> Generator:
    """The generator of these random bits that kernels are called with."""
    return Generator(bits) if Model is None else Stream(bits)


def as_stream(rng: Generator) -> Generator:
    """The same random numbers, for calls of kernels: what one of the two draws, the other does not draw again.

    A generator of a class of one's own is left as it is, for it may draw in its own way.
    """
    return stream_of(rng.bit_generator) if type(rng) is Generator else rng


if Model is not None:

    class StreamType(GeneratorType):  # type: ignore[misc]
        """numba's type of a `Stream`, with all methods that it has for generators."""

        def __init__(self) -> None:
            super().__init__("Stream")
            self.name = "Stream"

    STREAM = StreamType()
    Stream._numba_type_ = STREAM  # type: ignore[attr-defined]
    register_model(StreamType)(Model)

    @typeof_impl.register(Stream)
    def _type_of(value: Stream, context: Any) -> Any:
        return STREAM

    @unbox(StreamType)  # type: ignore[no-untyped-call]
    def _unbox(kind: Any, given: Any, c: Any) -> Any:
        """Arrange a stream as numba does a generator; no reference is counted, for the caller has one during the call."""
        generator, bits = proxy(kind)(c.context, c.builder), proxy(BITS)(c.context, c.builder)
        first, turn = (_pointer_in(given, name, c) for name in ("address", "turn"))
        for place, name in enumerate(MEMBERS):
            setattr(bits, name, c.builder.load(c.builder.gep(first, [integer(place)])))
        bits.parent, bits.state_address = given, bits.state
        bits.bit_generator = c.builder.ptrtoint(turn, integer)  # numba reads nothing there
        leave(c.builder, turn)
        generator.bit_generator, generator.parent = bits._getvalue(), given
        generator.meminfo = nothing(generator.meminfo.type)
        return Arranged(generator._getvalue())

    def _pointer_in(given: Any, name: str, c: Any) -> Any:
        number = c.pyapi.object_getattr_string(given, name)
        pointer = c.builder.bitcast(c.pyapi.long_as_voidptr(number), integer.as_pointer())
        c.pyapi.decref(number)
        return pointer


def _typed(typing_context: Any, rng: Any, yields: Any) -> Any:
    """Wait for this thread's turn in Python; for the end of kernels that threads of a sampler spend their time in."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        if Model is not None and isinstance(kind, StreamType):
            bits = proxy(BITS)(
                context, builder, proxy(kind)(context, builder, arguments[0]).bit_generator
            )
            turn = builder.inttoptr(bits.bit_generator, integer.as_pointer())
            enter(builder, turn, context.cast(builder, arguments[1], signature.args[1], types.intp))
        return context.get_dummy_value()

    return types.void(rng, yields), generate


enter_python: Any = intrinsic(_typed)

__all__ = ["as_stream", "enter_python"]
