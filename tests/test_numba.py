"""Compiled kernels: versions by type, and code that the cache must not keep."""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError
from numba.extending import overload

from bayesclust._numba import device, generic, implements, kernel

LIBRARY = """
from bayesclust._numba import generic, kernel

@generic
def score(state): ...

@kernel
def total(state):
    return 2 * score(state)
"""
USER = """
from typing import NamedTuple
from bayesclust._numba import implements
from library import score

class Mine(NamedTuple):
    x: int

@implements(score, Mine)
def _score(state):
    return state.x + {constant}
"""


class Pair(NamedTuple):
    """Two tables."""

    first: np.ndarray
    second: np.ndarray


@generic
def measure(state): ...


@implements(measure, Pair)
def _measure(state):
    return state.first.sum()


@implements(measure, None)
def _measure_others(state):
    return -1.0


TOTAL = """
from bayesclust._numba import implements
from library import score, total
implements(score, None)(lambda state: state)
"""


def started(code, folder, **more):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    environment |= {"NUMBA_CACHE_DIR": str(folder / "cache")} | more
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, **streams)


def ended(process):
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    return [int(word) for word in out.split()]


def python(code, folder, **more):
    return ended(started(code, folder, **more))


def test_generic_function_chooses_by_type_compiled_or_not():
    compiled = kernel(lambda state: measure(state), cache=False)
    pair = Pair(np.arange(3.0), np.zeros(2))
    assert measure(pair) == compiled(pair) == 3.0
    assert measure(1.0) == compiled(1.0) == -1.0


def test_generic_function_without_a_version_names_the_type():
    @generic
    def area(state): ...

    with pytest.raises(TypeError, match="area has no version for float"):
        area(1.0)


def test_functions_without_refcounts_cannot_make_arrays():
    @device(no_refcount=True)
    def product(pair, i):
        total = 0.0
        for j in range(pair.first.shape[1]):
            total += pair.first[i, j] * pair.second[i, j]
        return total

    @kernel(cache=False, no_refcount=True)
    def first(pair):
        return product(pair, 0)

    @kernel(cache=False, no_refcount=True)
    def made(row):
        return np.zeros(len(row))[0]

    tables = Pair(np.full((4, 3), 2.0), np.full((4, 3), 5.0))
    assert first(tables) == 30.0
    with pytest.raises(TypingError):
        made(tables.first[0])


def test_code_for_types_of_other_packages_is_never_stale(tmp_path):
    (tmp_path / "library.py").write_text(LIBRARY)
    call = "from mine import Mine; from library import total; print(total(Mine(1)))"
    for constant in (10, 20):
        (tmp_path / "mine.py").write_text(USER.format(constant=constant))
        assert python(call, tmp_path) == [2 * (1 + constant)]
    (tmp_path / "mine.py").unlink()
    assert python(TOTAL + "print(total(4))", tmp_path) == [8]


def test_a_damaged_cache_ends_in_a_sentence(tmp_path):
    """Whatever numba raises; once the files are gone, it works again."""
    (tmp_path / "library.py").write_text(LIBRARY)
    call = TOTAL + "print(total(4))"
    assert python(call, tmp_path) == [8]
    files = [path for path in (tmp_path / "cache").rglob("*.nb[ic]") if path.is_file()]
    kept = {file: file.read_bytes() for file in files}
    for suffix in (".nbi", ".nbc"):
        for file, content in kept.items():
            file.write_bytes(b"\xff" * 99 if file.suffix == suffix else content)
        process = started(call, tmp_path)
        assert re.search(
            r"RuntimeError: a compiled kernel in \S*cache\S* cannot be loaded or kept \(\w+\): "
            r"delete all files \*\.nbi and \*\.nbc there, or set NUMBA_CACHE_DIR",
            process.communicate()[1],
        )
    for file in files:
        file.unlink()
    assert python(call, tmp_path) == [8]


def test_kernels_run_where_nothing_can_be_written(tmp_path):
    """A file stands wherever numba would make a folder."""
    (tmp_path / "library.py").write_text(LIBRARY)
    for name in ("cache", "__pycache__", "home"):
        (tmp_path / name).write_text("")
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home")}
    assert python(TOTAL + "print(total(4))", tmp_path, **home) == [8]


def test_two_processes_compile_one_kernel_at_once(tmp_path):
    (tmp_path / "library.py").write_text(LIBRARY)
    both = [started(TOTAL + "print(total(4))", tmp_path) for _ in range(2)]
    assert [ended(process) for process in both] == [[8], [8]]


def test_fits_run_uncompiled(tmp_path):
    fit = """
import numpy as np
import bayesclust as bc
X = np.repeat([[0.0], [9.0]], 5, axis=0) + np.arange(10)[:, None] / 10
links = bc.PairwiseConstraints([(0, 1)], [True], n_items=10)
short = {"num_chains": 1, "num_warmup": 4, "num_samples": 4, "progress": False, "random_state": 0}
est = bc.TVClust(cluster_model="single", **short).fit(X, constraints=links)
print(*est.posterior_["posterior"]["z"].values.ravel())
print(*bc.RDPMeans(penalty=9.0, random_state=0).fit(X, constraints=links).labels_)
"""
    own = os.environ.get("NUMBA_CACHE_DIR", "")
    compiled = python(fit, tmp_path, NUMBA_CACHE_DIR=own)
    assert python(fit, tmp_path, NUMBA_DISABLE_JIT="1") == compiled


def test_one_process_compiles_at_a_time():
    """The lock of `tools/kernel_cache.py` is held while this process compiles."""
    path = Path(os.environ["NUMBA_CACHE_DIR"]) / "lock"

    def seen(x): ...

    @overload(seen)
    def _seen(x):
        with path.open("w") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lambda x: x + 1

    assert kernel(lambda x: seen(x), cache=False)(1) == 2
