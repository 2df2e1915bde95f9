"""How functions that only kernels call are compiled: for their callers to take in, with no machine code of their own.

numba compiles whatever a kernel calls as if Python might call it too: with a wrapper that takes
arguments apart, which for named tuples of arrays is longer than many a function itself, with every
optimisation, and to machine code that nothing ever runs, since the kernel has been given a copy.
Here such a function stays in LLVM's own language, in memory and in the cache, and is optimised in
the kernels that take it in.
"""

from __future__ import annotations

import uuid
from functools import cache
from typing import Any

import llvmlite.binding as llvm

try:
    from numba.core import caching, codegen, compiler, compiler_machinery, typed_passes

    Compiler: Any = compiler.CompilerBase
    Lowering: Any = typed_passes.NativeLowering
    default_passes: Any = compiler.DefaultPassBuilder.define_nopython_pipeline
    register_pass: Any = compiler_machinery.register_pass
except (ImportError, AttributeError):  # what only kernels call can then be called from Python too
    Compiler = None
try:
    Library: Any = codegen.JITCodeLibrary
    CacheImpl: Any = caching.CompileResultCacheImpl
    CompileResult: Any = compiler.CompileResult
    needed = "_finalize_dynamic_globals _verify_declare_only_symbols _optimize_final_module serialize_using_bitcode"
    CAN_STAY_UNBUILT = all(hasattr(Library, name) for name in needed.split())
except (ImportError, AttributeError, NameError):  # each is then built like any other
    Library = CacheImpl = object
    CAN_STAY_UNBUILT = False


class _Codegen:
    """numba's, for functions that have no machine code."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def set_env(self, name: str, env: Any) -> None:
        """Give the kernels that take the function in what it needs of Python, to print or to raise."""
        engine = self._real._engine
        if not engine.is_symbol_defined(name):
            place = f'target triple = "{llvm.get_process_triple()}"\n@"{name}" = global i8* null'
            engine.add_module(llvm.parse_assembly(place))
        self._real.set_env(name, env)

    def unserialize_library(self, saved: tuple[str, str, Any]) -> Any:
        """Take a function up from the cache."""
        name, kind, bitcode = saved
        if kind != "bitcode":
            return self._real.unserialize_library(saved)
        library = Unbuilt(self._real, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class _Context:
    """numba's target, with the code generator above."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def codegen(self) -> Any:
        return _Codegen(self._real.codegen())


class Unbuilt(Library):  # type: ignore[misc]
    """What is compiled of one function, up to the point where machine code would be made."""

    @property
    def codegen(self) -> Any:
        return _Codegen(self._codegen)

    def get_pointer_to_function(self, name: str) -> int:
        """Null: no such symbol."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        # numba's first round, the cheap one; the rest is done to the kernels
        made = self._codegen._module_pass_manager(
            loop_vectorize=False, slp_vectorize=False, opt=self._codegen._opt_level, cost="cheap"
        )
        passes, *builder = made if isinstance(made, tuple) else (made,)  # alone up to numba 0.61
        passes.run(self._final_module, *builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        """There is none: in LLVM's language."""
        return self.serialize_using_bitcode()


class UnbuiltCache(CacheImpl):  # type: ignore[misc]
    """How such functions are read from the cache."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Make a compiled function of what was saved."""
        return CompileResult._rebuild(_Context(target_context), *payload)


@cache
def linked_options() -> dict[str, Any]:
    """Options of `numba.njit` for functions that only kernels call; none where numba is arranged otherwise."""
    if Compiler is None:
        return {}

    @register_pass(mutates_CFG=True, analysis_only=False)
    class ForCallersAlone(Lowering):  # type: ignore[misc]
        _name = "bayesclust_for_callers_alone"

        def run_pass(self, state: Any) -> bool:
            if CAN_STAY_UNBUILT and state.library is None:
                state.library = Unbuilt(state.targetctx.codegen(), state.func_id.func_qualname)
            flags, state.flags = state.flags, state.flags.copy()
            state.flags.no_cpython_wrapper = True
            try:
                return bool(super().run_pass(state))
            finally:
                state.flags = flags

    class LinkedCompiler(Compiler):  # type: ignore[misc]
        """numba's, with one pass replaced: given as an option, it would have what is called compiled once more."""

        def _compile_bytecode(self) -> Any:
            # copies in kernels are told apart by name, of which numba's own part begins anew with
            # every process: that of a kernel from the cache would be taken for another function of
            # the same name
            self.state.func_id.unique_id = uuid.uuid4().int >> 64
            return super()._compile_bytecode()

        def define_pipelines(self) -> list[Any]:
            pipeline = default_passes(self.state)
            pipeline.passes = [
                (ForCallersAlone if kind is Lowering else kind, why)
                for kind, why in pipeline.passes
            ]
            pipeline.finalize()
            return [pipeline]

    return {"pipeline_class": LinkedCompiler}
