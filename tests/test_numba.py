"""Compiled kernels: versions by type, and code that the cache must not keep."""

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

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


def python(code, folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return [int(word) for word in run.stdout.split()]


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
    rest = "from bayesclust._numba import implements; from library import score, total; "
    rest += "implements(score, None)(lambda state: state); print(total(4))"
    assert python(rest, tmp_path) == [8]
