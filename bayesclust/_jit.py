"""The decorator of all compiled kernels, with a cache on disk that notices every change of what it depends on.

numba discards a cached function when the file it is written in changes, but not when a kernel that
it calls, and that was compiled into it from another file, does. So the freshness stamp of every
kernel covers all sources of the package that mention numba, this module or a family's kernels. Code
compiled for a type of a file outside the package depends on that file too, and is listed in an
index of its own: an index can be read only where all types in it can be imported. Constants that
kernels read from other files belong in files that mention this module.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.extending import overload

from bayesclust._beside import claim
from bayesclust._garbage import set_aside_while_compiling
from bayesclust._linking import CAN_STAY_UNBUILT, Compiler, UnbuiltCache, linked_options
from bayesclust._uncollected import uncollected

try:
    from numba.core import caching

    FunctionCache: Any = caching.FunctionCache
    IndexFile: Any = caching.IndexDataCacheFile
except (ImportError, AttributeError):  # a numba arranged otherwise: its own caching serves
    FunctionCache = IndexFile = None

FAST = {"reassoc", "contract", "nsz"}
"""What `fastmath` may do in samplers. What one kernel calls should have its options, or numba compiles it once for each."""
CAN_BE_LEAN = hasattr(getattr(getattr(numba.core, "options", None), "DefaultOptions", None), "_nrt")
COMMON: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": False}
PACKAGE = Path(__file__).resolve().parent
set_aside_while_compiling(__name__.partition(".")[0])
MARKS = (
    b"_jit",
    b"numba",
    b"base.implements",
)  # a family's functions are compiled into the samplers' kernels
# types and modules that are named in a cache and gone since, or a full or damaged cache, cost a
# compilation alone
GONE = (EOFError, pickle.UnpicklingError, ImportError, AttributeError)
UNREADABLE = (OSError, *GONE)


def _counting(lean: bool) -> dict[str, Any]:
    """Whether references to arrays are counted, which costs small functions up to ten times what they do.

    It is always said, for a function that is not told does as its caller, and cannot make arrays
    then.
    """
    return {"_nrt": not lean} if CAN_BE_LEAN else {}


@cache
def sources_stamp(package: Path = PACKAGE) -> str:
    """Digest of every source below `package` that defines kernels or takes part in them."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if any(word in text for word in MARKS):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


@cache
def _file_stamp(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _foreign_types(kinds: Any) -> Iterator[tuple[str, str]]:
    """Modules outside the package that define the named tuples among numba types, with their files."""
    for kind in kinds:
        owner = getattr(kind, "instance_class", None)
        if owner is not None:
            with contextlib.suppress(TypeError, OSError):
                path = Path(inspect.getfile(owner)).resolve()
                if path.is_file() and not path.is_relative_to(PACKAGE):
                    yield owner.__module__, str(path)
        yield from _foreign_types(getattr(kind, "types", ()))


@cache
def _index() -> Any:
    class Index(IndexFile):  # type: ignore[misc]
        """numba's list of what is in the cache, begun anew where it cannot be read; several processes may write it."""

        # numba names code by counting, so that of two processes one could find the other's under
        # its key, for other types
        def save(self, key: Any, data: Any) -> None:
            name = f"{self._index_name}.{hashlib.sha256(self._dump(key)).hexdigest()[:24]}.nbc"
            self._save_data(name, (self._source_stamp, key, data))
            for _ in range(4):  # others, who have not read it, may write theirs over it
                overloads = self._load_index()
                if overloads.get(key) == name:
                    break
                self._save_index({**overloads, key: name})

        def load(self, key: Any) -> Any:
            stamp, found, data = super().load(key) or (None, None, None)
            return data if (stamp, found) == (self._source_stamp, key) else None

        def _load_index(self) -> Any:
            try:
                return super()._load_index()
            except GONE:
                return {}

    return Index


@cache
def _package_caches() -> tuple[Any, Any]:
    Index = _index()

    class PackageCache(FunctionCache):  # type: ignore[misc]
        """numba's cache of one function with a wider idea of what its code depends on."""

        _cache_file: Any

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            self._folder, self._base = self._cache_path, self._impl.filename_base
            self._stamp = (self._cache_file._source_stamp, sources_stamp())
            self._cache_file = Index(self._folder, self._base, self._stamp)

        def _index_of(self, sig: Any) -> Any:
            """The index for these types: the common one, or one for the files outside the package that define them."""
            places = sorted(set(_foreign_types(getattr(sig, "args", sig))))
            if not places:
                return Index(self._folder, self._base, self._stamp)
            name = hashlib.sha256(repr(places).encode()).hexdigest()[:16]
            return Index(
                self._folder,
                f"{self._base}.{name}",
                (self._stamp, *(_file_stamp(path) for _, path in places)),
            )

        def holds(self, sig: Any, target_context: Any) -> bool:
            """Whether there is compiled code for these types."""
            with contextlib.suppress(*UNREADABLE):
                return (
                    self._index_key(sig, target_context.codegen())
                    in self._index_of(sig)._load_index()
                )
            return False

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            claim(self._py_func, sig)
            with contextlib.suppress(*UNREADABLE), uncollected():
                self._cache_file = self._index_of(sig)  # numba compiles and reads under one lock
                return super().load_overload(sig, target_context)

        def save_overload(self, sig: Any, data: Any) -> None:
            with contextlib.suppress(*UNREADABLE):
                self._cache_file = self._index_of(sig)
                super().save_overload(sig, data)

    class LinkedCache(PackageCache):
        """The same for functions that only kernels call."""

        if CAN_STAY_UNBUILT:
            _impl_class = UnbuiltCache

    return PackageCache, LinkedCache


def _enable_cache(dispatcher: Any, linked: bool) -> None:
    if FunctionCache is not None:
        with contextlib.suppress(AttributeError, TypeError):
            with contextlib.suppress(
                RuntimeError
            ):  # no directory to write to: compile in every run
                dispatcher._cache = _package_caches()[linked](dispatcher.py_func)
            return
    with contextlib.suppress(RuntimeError):
        dispatcher.enable_caching()


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function with numba, cached between runs and free of the interpreter's lock.

    Parameters
    ----------
    function : callable, optional
        Left out where options are given, as in ``@kernel(fastmath=True)``.
    **options
        Options of `numba.njit`. ``cache=False`` compiles anew in every run. ``lean=True`` counts no
        references to arrays: for functions that make none, and return numbers.

    Returns
    -------
    numba dispatcher, or a decorator

    Examples
    --------
    >>> @kernel(cache=False)
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    return _compiled_as(function, False, options)


def _compiled_as(function: Callable[..., Any] | None, linked: bool, options: dict[str, Any]) -> Any:
    cached, lean = options.pop("cache", True), options.pop("lean", False)
    settings = {**COMMON, **_counting(lean), **options}

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = njit(**settings)(function)
        if cached:
            _enable_cache(dispatcher, linked)
        return dispatcher

    return decorate if function is None else decorate(function)


def inner(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function that only kernels call: `kernel` without the way in from Python.

    For named tuples of arrays that takes longer to compile than many a function itself. With
    ``inline="always"`` a function that is called at one place becomes part of its caller, and is
    compiled once instead of twice. Two such functions cannot call each other.

    Parameters
    ----------
    function : callable, optional
    **options
        As in `kernel`.

    Returns
    -------
    numba dispatcher, or a decorator

    Examples
    --------
    >>> @inner(cache=False)
    ... def double(x):
    ...     return 2 * x
    >>> kernel(lambda x: double(x) + 1, cache=False)(21)
    43
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = _compiled_as(None, True, {**linked_options(), **options})(function)

        def keep(compiled: Any) -> None:
            dispatcher.overloads[tuple(compiled.signature.args)] = compiled

        def refuse(*_: Any, **__: Any) -> None:
            raise TypeError(
                f"{function.__name__} is compiled for kernels alone: make it a kernel to call it from Python."
            )

        if (
            Compiler is not None
        ):  # it must not be found by calls from Python, for which there is no machine code
            dispatcher.add_overload, dispatcher._compile_for_args = keep, refuse
        return dispatcher

    return decorate if function is None else decorate(function)


def implements(
    function: Callable[..., Any],
    state_type: type,
    *,
    others: bool = False,
    lean: bool = False,
    **options: Any,
) -> Callable[[Callable[..., Any]], Any]:
    """Register a compiled version of a function for a named tuple as its first argument.

    Kernels that call `function` choose by the type that they are compiled for, as by a method. The
    file must mention this module, or the cache does not notice its changes.

    Parameters
    ----------
    function : callable
        What kernels call; by itself it does nothing.
    state_type : type
        The named tuple.
    others : bool, default False
        Serve every type but this one instead.
    lean : bool, default False
        As in `kernel`.
    **options
        Options of `numba.njit` for this version.

    Returns
    -------
    decorator
        Of a function with the same arguments.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Square(NamedTuple):
    ...     side: float
    >>> def area(shape): ...
    >>> @implements(area, Square)
    ... def _area(shape):
    ...     return shape.side**2
    >>> kernel(lambda shape: area(shape) + 1, cache=False)(Square(3.0))
    10.0
    """
    settings: Any = {**COMMON, **linked_options(), **_counting(lean), **options}

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        def choose(state: Any, *arguments: Any) -> Callable[..., Any] | None:
            return (
                body if (getattr(state, "instance_class", None) is state_type) != others else None
            )

        overload(function, jit_options=settings, strict=False)(choose)
        return body

    return register
