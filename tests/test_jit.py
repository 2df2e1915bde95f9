"""The kernel cache: hits where nothing changed, misses where a kernel in another file did."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from bayesclust import _jit
from bayesclust._jit import inner, kernel

INNER = "from twofile._jit import kernel\n\n@kernel\ndef inner(x):\n    return x + {constant}\n"
OUTER = """
from twofile._jit import kernel
from twofile.inner import inner

@kernel
def outer(x):
    return 2 * inner(x)
"""
CALL = "from twofile.outer import outer; print(outer(1), sum(outer.stats.cache_hits.values()))"
FOREIGN_TYPE = """
from typing import NamedTuple
from numba import types
from numba.extending import overload
from twofile.generic import score

class Mine(NamedTuple):
    x: int

@overload(score, strict=False)
def choose(state):
    if isinstance(state, types.BaseNamedTuple) and state.instance_class is Mine:
        return lambda state: state.x + {constant}
"""
GENERIC = """
from twofile._jit import kernel

def score(state):
    raise TypeError

@kernel
def total(state):
    return 2 * score(state)
"""

OF_NUMBERS = """
from numba import types
from numba.extending import overload

@overload(score, strict=False)
def of_numbers(state):
    if isinstance(state, types.Integer):
        return lambda state: state
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "twofile"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    shutil.copy(_jit.__file__, folder / "_jit.py")
    return folder


def python(code: str, folder: Path, **environment: str) -> list[int]:
    settings = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    settings.pop("NUMBA_CACHE_DIR", None)
    run = subprocess.run(
        [sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return [int(word) for word in run.stdout.split()]


def test_a_change_in_a_called_kernels_file_is_noticed(package):
    (package / "outer.py").write_text(OUTER)
    (package / "inner.py").write_text(INNER.format(constant=10))
    assert python(CALL, package.parent) == [22, 0]
    assert python(CALL, package.parent) == [22, 1]
    (package / "inner.py").write_text(INNER.format(constant=20))
    assert python(CALL, package.parent) == [42, 0]
    assert python(CALL, package.parent) == [42, 1]


def test_a_change_in_a_file_without_kernels_keeps_the_cache(package):
    (package / "outer.py").write_text(OUTER)
    (package / "inner.py").write_text(INNER.format(constant=10))
    (package / "other.py").write_text("a = 1\n")
    python(CALL, package.parent)
    (package / "other.py").write_text("a = 2\n")
    assert python(CALL, package.parent) == [22, 1]


def test_a_change_in_the_file_of_a_foreign_type_is_noticed(package):
    (package / "generic.py").write_text(GENERIC)
    mine = package.parent / "mine.py"
    call = (
        "from mine import Mine; from twofile.generic import total; "
        "print(total(Mine(1)), sum(total.stats.cache_hits.values()))"
    )
    mine.write_text(FOREIGN_TYPE.format(constant=10))
    assert python(call, package.parent) == [22, 0]
    assert python(call, package.parent) == [22, 1]
    mine.write_text(FOREIGN_TYPE.format(constant=20))
    assert python(call, package.parent) == [42, 0]


BLIND = """
from twofile import _jit
from twofile.outer import outer

Index, seen = _jit._index(), []

def late(self, load=Index._load_index):
    if self._index_name.startswith("outer."):
        seen.append(self)
    return {} if self._index_name.startswith("outer.") and len(seen) <= 2 else load(self)

Index._load_index = late
outer(1.5)
"""
BESIDE = f"""
import subprocess, sys
from twofile import _jit
from twofile.outer import outer

Index = _jit._index()

def late(self, name, data, save=Index._save_data):
    if self._index_name.startswith("outer."):
        subprocess.run([sys.executable, "-c", {BLIND!r}], check=True)
    save(self, name, data)

Index._save_data = late
print(outer(1))
"""


def test_code_of_one_process_is_not_taken_for_that_of_another(package):
    """One has read the index before the other wrote it, and saves all it has before the other saves its code."""
    (package / "outer.py").write_text(OUTER)
    (package / "inner.py").write_text(INNER.format(constant=10))
    assert python(BESIDE, package.parent) == [22]
    call = "from twofile.outer import outer; print(int(2 * outer(1.5)), outer(1))"
    assert python(call, package.parent) == [46, 22]


def test_code_that_is_not_what_the_index_says_is_not_used(package):
    (package / "outer.py").write_text(OUTER)
    (package / "inner.py").write_text(INNER.format(constant=10))
    call = "from twofile.outer import outer; print(int(2 * outer(1.5)), outer(1), sum(outer.stats.cache_hits.values()))"
    assert python(call, package.parent) == [46, 22, 0]
    assert python(call, package.parent) == [46, 22, 2]
    first, second = sorted((package / "__pycache__").glob("outer.outer-*.nbc"))
    text = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(text)
    assert python(call, package.parent) == [46, 22, 0]


@pytest.mark.parametrize("change", ["the file is gone", "the type has another name"])
def test_a_foreign_type_that_is_gone_spoils_no_cache(package, change):
    (package / "generic.py").write_text(GENERIC + OF_NUMBERS)
    mine = package.parent / "mine.py"
    mine.write_text(FOREIGN_TYPE.format(constant=10))
    hits = "sum(total.stats.cache_hits.values())"
    own = f"from twofile.generic import total; print(total(1), {hits})"
    with_mine = (
        f"from twofile.generic import total; from mine import Mine; print(total(Mine(1)), {hits})"
    )
    assert python(own, package.parent) == [2, 0]
    assert python(with_mine, package.parent) == [22, 0]
    if change == "the file is gone":
        mine.unlink()
    else:
        mine.write_text(FOREIGN_TYPE.format(constant=20).replace("Mine", "Ours"))
        with_ours = with_mine.replace("Mine", "Ours")
        assert python(with_ours, package.parent) == [42, 0]
        assert python(with_ours, package.parent) == [42, 1]
    assert python(own, package.parent) == [2, 1]


def test_works_where_no_cache_can_be_written(package):
    (package / "outer.py").write_text(OUTER)
    (package / "inner.py").write_text(INNER.format(constant=10))
    blocked = package.parent / "a_file"
    blocked.write_text("")
    (package / "__pycache__").write_text("not a folder")
    environment = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked)}
    assert python(CALL, package.parent, **environment) == [22, 0]
    assert python(CALL, package.parent, **environment) == [22, 0]


def test_works_where_the_cache_breaks_while_saving(package):
    (package / "outer.py").write_text(OUTER)
    (package / "inner.py").write_text(INNER.format(constant=10))
    break_it = (
        f"import shutil; from twofile.outer import outer; f = {str(package / '__pycache__')!r}; "
    )
    break_it += "shutil.rmtree(f); open(f, 'w').close(); print(outer(1))"
    assert python(break_it, package.parent) == [22]


def test_a_damaged_cache_is_compiled_anew(package):
    (package / "outer.py").write_text(OUTER)
    (package / "inner.py").write_text(INNER.format(constant=10))
    python(CALL, package.parent)
    for index in (package / "__pycache__").glob("*.nbi"):
        index.write_bytes(b"")
    assert python(CALL, package.parent) == [22, 0]


class CacheOfAnotherKind:
    """A cache without the private attributes that the package's own relies on."""

    def __init__(self, function):
        self.function = function


@pytest.mark.parametrize("stand_in", [None, CacheOfAnotherKind])
def test_falls_back_to_plain_caching(monkeypatch, stand_in):
    plain = _jit.FunctionCache
    monkeypatch.setattr(_jit, "FunctionCache", stand_in)
    _jit._package_caches.cache_clear()
    try:
        triple = _jit.kernel(lambda x: 3 * x)
    finally:
        _jit._package_caches.cache_clear()
    assert type(triple._cache) is plain
    assert triple(2) == 6


def test_options_reach_numba():
    @_jit.kernel(cache=False, error_model="numpy")
    def divide(x, y):
        return x / y

    assert divide(1.0, 0.0) == np.inf
    assert divide.targetoptions["nogil"] is True


class Pair(NamedTuple):
    """Two tables."""

    first: np.ndarray
    second: np.ndarray


def test_lean_functions_count_no_references_and_cannot_make_arrays():
    @inner(cache=False, lean=True)
    def product(pair, i):
        one, other, total = pair.first[i], pair.second[i], 0.0
        for j in range(len(one)):
            total += one[j] * other[j]
        return total

    @inner(cache=False)
    def doubled(row):  # not lean, though a lean one calls it
        return 2.0 * row.copy().sum()

    @kernel(cache=False, lean=True)
    def both(pair, i):
        return product(pair, i) + doubled(pair.first[i])

    @kernel(cache=False, lean=True)
    def made(row):
        return np.zeros(len(row))[0]

    tables = Pair(np.full((4, 3), 2.0), np.full((4, 3), 5.0))
    before = [sys.getrefcount(table) for table in tables]
    assert [both(tables, i) for i in range(4)] == [30.0 + 12.0] * 4
    assert [sys.getrefcount(table) for table in tables] == before
    with pytest.raises(TypingError):
        made(tables.first[0])
