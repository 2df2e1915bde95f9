"""Random numbers that compiled code reaches quickly.

numba looks a generator's functions up by their names whenever a kernel is called with it: 6 of the 7 microseconds that a
small kernel takes. NumPy keeps their addresses side by side, in a structure that its C interface documents
(`bitgen_t` of numpy/random/bitgen.h), and one look-up leads there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, register_model, typeof_impl, unbox
from numpy.random import BitGenerator, Generator

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

    def __reduce__(self) -> tuple[Callable[[BitGenerator], Generator], tuple[BitGenerator], None]:
        return stream_of, (self.bit_generator,), None


def stream_of(bits: BitGenerator) -> Generator:
    """The generator of these random bits that kernels are called with."""
    return Generator(bits) if Model is None else Stream(bits)


def as_stream(rng: Generator) -> Generator:
    """The same random numbers, for calls of kernels: what one of the two draws, the other does not draw again."""
    return rng if isinstance(rng, Stream) else stream_of(rng.bit_generator)


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
        number = c.pyapi.object_getattr_string(given, "address")
        first = c.builder.bitcast(c.pyapi.long_as_voidptr(number), integer.as_pointer())
        c.pyapi.decref(number)
        for place, name in enumerate(MEMBERS):
            setattr(bits, name, c.builder.load(c.builder.gep(first, [integer(place)])))
        bits.parent, bits.state_address = given, bits.state
        generator.bit_generator, generator.parent = bits._getvalue(), given
        generator.meminfo = nothing(generator.meminfo.type)
        return Arranged(generator._getvalue())


__all__ = ["as_stream"]
