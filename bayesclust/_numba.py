"""Compiled kernels: numba's `njit` and `overload` with the options that all of them share.

numba compiles again when the file that defines a kernel changes, but not when a function that it
calls, from another file, does. In a checkout the tools of the project therefore use a cache folder
that is named by a digest of the sources (`tools/kernel_cache.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import update_wrapper, wraps
from traceback import walk_tb
from typing import Any

import numba
from numba import njit
from numba.experimental import structref
from numba.extending import overload, overload_method, register_jitable, typeof_impl
from numpy.random import Generator

FAST = {"reassoc", "contract", "nsz"}
"""`fastmath` of the samplers: callees have their caller's, or numba compiles them once for each."""
CACHING = "numba.core.caching"
PACKAGE = __name__.partition(".")[0]
KERNELS: list[Any] = []  # every one of the process
COMMON: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
# A private option, the only one: counting references to arrays costs small functions 20-fold.
HAS_NRT_OPTION = hasattr(
    getattr(getattr(numba.core, "options", None), "DefaultOptions", None), "_nrt"
)


def options(*, no_refcount: bool, **further: Any) -> dict[str, Any]:
    """The options of numba for a function."""
    counting = {"_nrt": not no_refcount} if HAS_NRT_OPTION else {}
    return {**COMMON, **counting, **further}


def kernel(
    function: Callable[..., Any] | None = None,
    /,
    *,
    cache: bool = True,
    no_refcount: bool = False,
    **further: Any,
) -> Any:
    """Compile a function that Python calls; cached on disk, without the interpreter's lock."""
    # `no_refcount` is for functions that make no arrays and return numbers: numba then counts no
    # references to the arrays that they are handed.
    if function is None:
        return lambda body: kernel(body, cache=cache, no_refcount=no_refcount, **further)
    settings = options(no_refcount=no_refcount, **further)
    try:
        compiled = njit(cache=cache, **settings)(function)
    except RuntimeError:  # no folder for the cache can be written to
        compiled = njit(**settings)(function)
    if not hasattr(compiled, "stats"):  # NUMBA_DISABLE_JIT
        return compiled
    KERNELS.append(compiled)
    return Kernel(compiled)


class Kernel:
    """A compiled function, whose cached code may be damaged: numba then raises any error."""

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled
        update_wrapper(self, compiled.py_func)

    def __reduce__(self) -> str:
        """Copies and pickles name it, as they name functions."""
        return self.compiled.py_func.__qualname__

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.compiled(*arguments)
        except Exception as error:
            modules = [frame.f_globals.get("__name__") for frame, _ in walk_tb(error.__traceback__)]
            if CACHING not in modules:
                raise
            folder = os.path.commonpath([own for one in KERNELS if (own := one.stats.cache_path)])
            kind = type(error).__name__
            raise RuntimeError(
                f"a compiled kernel in {folder} cannot be loaded or kept ({kind}): delete all "
                "files *.nbi and *.nbc there, or set NUMBA_CACHE_DIR to another folder."
            ) from error


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel, context: Any) -> Any:
    """Kernels call kernels."""
    return typeof_impl(kernel.compiled, context)


def device(
    function: Callable[..., Any] | None = None, /, *, no_refcount: bool = False, **further: Any
) -> Any:
    """Make a function one that kernels can call; Python's own calls of it are not compiled."""
    if function is None:
        return lambda body: device(body, no_refcount=no_refcount, **further)
    settings = {"no_cpython_wrapper": True, **options(no_refcount=no_refcount, **further)}
    return register_jitable(**settings)(function)


def generic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a function that has a version for each type of its first argument: `implements`."""
    versions: dict[Any, Callable[..., Any]] = {}

    @wraps(function)
    def choose(state: Any, *arguments: Any) -> Any:
        version = versions.get(type(state), versions.get(None))
        if version is None:
            raise TypeError(f"{function.__name__} has no version for {type(state).__name__}.")
        return version(state, *arguments)

    choose.versions = versions  # type: ignore[attr-defined]
    return choose


def implements(
    function: Callable[..., Any],
    state_type: type | None,
    *,
    no_refcount: bool = False,
    **further: Any,
) -> Callable[[Callable[..., Any]], Any]:
    """Register the version of a `generic` function for one named tuple; None is for all others.

    >>> from typing import NamedTuple
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @generic
    ... def area(shape): ...
    >>> @implements(area, Square)
    ... def _area(shape):
    ...     return shape.side**2
    >>> kernel(lambda shape: area(shape) + 1, cache=False)(Square(3.0))
    10.0
    """
    settings: Any = {"no_cpython_wrapper": True, **options(no_refcount=no_refcount, **further)}
    versions: dict[Any, Callable[..., Any]] = function.versions  # type: ignore[attr-defined]
    if state_type is not None:
        _keep_out_of_the_cache(state_type)

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        versions[state_type] = body

        def choose(state: Any, *arguments: Any) -> Callable[..., Any] | None:
            kind = getattr(state, "instance_class", None)
            listed = kind is not None and kind in versions
            own = kind is state_type if state_type is not None else not listed
            return body if own else None

        overload(function, jit_options=settings, strict=False)(choose)
        return body

    return register


def _keep_out_of_the_cache(state_type: type) -> None:
    """Compile code for types of other packages in every process: numba would not see changes."""
    name = state_type.__module__
    if name.partition(".")[0] != PACKAGE and name != "__main__" and name in sys.modules:
        cloudpickle: Any = numba.cloudpickle
        cloudpickle.register_pickle_by_value(sys.modules[name])


# --- a generator as kernels take it: handing over NumPy's own costs each call some 17 µs

boxes: Any = structref  # mypy does not know what these make
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
    """What kernels draw from in place of a generator; the generator if nothing is compiled."""
    return _boxed(rng) if isinstance(_boxed, Kernel) else rng
