"""A generator as kernels take it.

Handing a NumPy generator itself over costs every call of a kernel some 17 µs, as much as a scan of
ten items.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.experimental import structref
from numba.extending import overload_method
from numpy.random import Generator

from bayesclust._numba import kernel, options

boxes: Any = structref  # neither numba nor mypy knows its types
method: Any = overload_method


@boxes.register
class UniformsType(numba.types.StructRef):
    """The type of `Uniforms` in compiled code."""


class Uniforms(structref.StructRefProxy):
    """The uniform numbers of a generator, which they advance."""


boxes.define_proxy(Uniforms, UniformsType, ["rng"])


@method(UniformsType, "random", jit_options=options(no_refcount=False))
def _random(uniforms):  # type: ignore[no-untyped-def]
    return lambda uniforms: uniforms.rng.random()


@kernel
def _boxed(rng: Generator) -> Any:
    return Uniforms(rng)  # type: ignore[no-untyped-call]


def uniforms_of(rng: Generator) -> Any:
    """What compiled code draws from in the place of a generator; itself where none is compiled."""
    return _boxed(rng) if hasattr(_boxed, "compiled") else rng
