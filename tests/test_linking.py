"""Functions that only kernels call: no machine code of their own, and the same results from memory and from the cache."""

import os
import shutil
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from bayesclust import _jit, _linking
from bayesclust._jit import implements, inner, kernel

pytestmark = pytest.mark.skipif(
    not _linking.CAN_STAY_UNBUILT, reason="this numba builds every function"
)

INNER = """
import math
import numpy as np
from shared._jit import inner

@inner(fastmath={"reassoc"})
def entropy(row):
    logs = np.log(row)  # an array made inside, and a function of another library
    if row[0] < 0:
        raise ValueError("negative")
    return -(row * logs).sum() + math.lgamma(1.0)
"""
USER = """
from shared._jit import kernel
from shared.parts import entropy

@kernel
def total(table):
    value = {sign}0.0
    for row in table:
        value {sign}= entropy(row)
    return value
"""
CALL = """
import numpy as np
from shared.{name} import total
from shared.parts import entropy
value = round(1000 * total(np.full((3, 4), 0.25)))
print(value, *(sum(function.stats.cache_hits.values()) for function in (total, entropy)))
"""


TELLS = """
from shared._jit import inner, kernel

@inner
def loud(x):
    if x > 4:
        print(x)
    if x > 6:
        raise ValueError("too loud", x)
    return x

@kernel
def speak(x):
    return loud(x)
"""
CALL_TOLD = """
from shared.told import speak
print(speak(4))
speak(5)
try:
    speak(7)
except ValueError as error:
    assert error.args == ("too loud", 7)
"""
MADE = """
from shared._jit import inner, kernel

def made(c):
    @inner(cache=False)
    def steps(x):
        total = 0.0
        for i in range(20):  # too long to be inlined at each of four calls
            total = total + (x * c + i) ** 0.5 / (1.0 + total * total) if total < i else (total + c) ** 0.3
            total = total + (x * c + i) ** 0.7 / (2.0 + total * total) if total < 2 * i else (total + 2 * c) ** 0.3
            total = total + (x * c + i) ** 0.6 / (3.0 + total * total) if total < 3 * i else (total + 3 * c) ** 0.3
            total = total + (x * c + i) ** 0.1 / (4.0 + total * total) if total < 4 * i else (total + 4 * c) ** 0.3
        return total
    return steps

two, three = made(2.0), made(3.0)

@kernel
def of_two(x):
    return two(x) + 10 * two(x + 1) + two(x + 2) * two(x + 4)

@kernel
def of_three(x):
    return three(x) + 10 * three(x + 1) + three(x + 2) * three(x + 4)

def agree(c):
    steps, fast = (two.py_func, of_two) if c == 2 else (three.py_func, of_three)
    plain = steps(1.0) + 10 * steps(2.0) + steps(3.0) * steps(5.0)
    return int(abs(fast(1.0) / plain - 1) < 1e-9)
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    shutil.copy(_jit.__file__, folder / "_jit.py")
    for name, text in {
        "__init__": "",
        "parts": INNER,
        "more": USER.format(sign="+"),
        "less": USER.format(sign="-"),
    }.items():
        (folder / f"{name}.py").write_text(text)
    return tmp_path


def in_a_process(code, folder):
    settings = {**os.environ, "PYTHONPATH": str(folder)}
    settings.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(
        command, env=settings, capture_output=True, text=True, check=False, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return [int(word) for word in run.stdout.split()]


def test_a_second_kernel_takes_it_from_the_cache(package):
    nats = round(3000 * np.log(4))
    assert in_a_process(CALL.format(name="more"), package) == [nats, 0, 0]
    assert in_a_process(CALL.format(name="less"), package) == [-nats, 0, 1]
    assert in_a_process(CALL.format(name="more"), package) == [nats, 1, 0]


def test_it_prints_and_raises_in_every_process(package):
    (package / "shared" / "told.py").write_text(TELLS)
    for _ in range(2):  # compiled, and from the cache
        assert in_a_process(CALL_TOLD, package) == [4, 5, 7]


def test_another_of_the_same_name_is_not_taken_for_it(package):
    (package / "shared" / "made.py").write_text(MADE)
    call = "from shared.made import agree; print(*(agree(c) for c in {}))"
    assert in_a_process(call.format("[2.0]"), package) == [1]
    # the first from the cache, the second compiled
    assert in_a_process(call.format("[2.0, 3.0]"), package) == [1, 1]


def test_there_is_no_machine_code_of_it():
    @inner(cache=False)
    def tripled(x):
        return 3.0 * x

    @kernel(cache=False)
    def outer(x):
        return tripled(x) + 1.0

    assert outer(2.0) == 7.0
    (unbuilt,), (built,) = tripled.overloads.values(), outer.overloads.values()
    assert isinstance(unbuilt.library, _linking.Unbuilt)
    assert unbuilt.library.get_pointer_to_function(unbuilt.fndesc.llvm_func_name) == 0
    assert built.library.get_pointer_to_function(built.fndesc.llvm_func_name) != 0


def test_errors_pass_through():
    @inner(cache=False)
    def checked(x):
        if x < 0:
            raise ValueError("negative")
        return np.sqrt(x)

    @kernel(cache=False)
    def outer(x):
        return checked(x)

    assert outer(4.0) == 2.0
    with pytest.raises(ValueError, match="negative"):
        outer(-1.0)


def test_other_peoples_functions_may_call_it():
    @inner(cache=False)
    def halved(x):
        return x / 2

    assert njit(lambda x: halved(x) + 1.0)(3.0) == 2.5


class Values(NamedTuple):
    values: np.ndarray


def test_versions_of_a_function_for_a_type_are_linked_likewise():
    def size(state): ...

    @implements(size, Values)
    def _size(state):
        return len(state.values)

    assert kernel(lambda state: size(state), cache=False)(Values(np.zeros(5))) == 5
