"""Random numbers of compiled code: a stream draws what NumPy's own generator draws, however the two are mixed."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from bayesclust import _stream
from bayesclust._jit import kernel
from bayesclust._stream import Stream, as_stream
from bayesclust.inference.seating import draw_below

BITS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]


@kernel
def several(rng, order):
    for i in range(len(order)):
        order[i] = draw_below(len(order), rng)
    return (
        rng.random(),
        rng.standard_normal(),
        rng.standard_gamma(2.5),
        rng.integers(0, 1000),
        rng.beta(0.5, 2.0),
    )


@kernel(cache=False)
def given_back(rng):
    return rng


def generator(bits="PCG64", seed=0):
    return np.random.Generator(getattr(np.random, bits)(seed))


@pytest.mark.parametrize("bits", BITS)
def test_kernels_draw_from_a_stream_as_from_a_generator(bits):
    plain, quick = generator(bits), as_stream(generator(bits))
    for _ in range(20):
        one, two = np.zeros(5, np.int64), np.zeros(5, np.int64)
        assert several(plain, one) == several(quick, two)
        assert plain.random() == quick.random()  # Python and kernels take turns
        np.testing.assert_array_equal(one, two)


def test_a_stream_shares_its_numbers_with_the_generator_it_comes_from():
    plain, twin = generator(), generator()
    quick = as_stream(plain)
    drawn = [several(rng, np.zeros(5, np.int64)) for rng in (quick, plain, quick)]
    assert drawn == [several(twin, np.zeros(5, np.int64)) for _ in range(3)]
    assert as_stream(quick) is quick


@pytest.mark.parametrize("again", [copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
def test_copies_are_streams_that_go_on_alone(again):
    quick = as_stream(generator())
    quick.random()
    copied = again(quick)
    assert type(copied) is Stream
    assert copied.address != quick.address
    assert several(quick, np.zeros(5, np.int64)) == several(copied, np.zeros(5, np.int64))


def test_children_are_streams():
    child, plain = as_stream(generator()).spawn(1)[0], generator().spawn(1)[0]
    assert type(child) is Stream
    assert several(child, np.zeros(5, np.int64)) == several(plain, np.zeros(5, np.int64))


def test_state_is_set_from_outside():
    quick = as_stream(generator())
    before = quick.bit_generator.state
    first = several(quick, np.zeros(5, np.int64))
    quick.bit_generator.state = before
    assert several(quick, np.zeros(5, np.int64)) == first


def test_calls_leave_no_references_behind():
    quick = as_stream(generator())
    several(quick, np.zeros(5, np.int64))
    held = sys.getrefcount(quick), sys.getrefcount(quick.bit_generator)
    for _ in range(1000):
        several(quick, np.zeros(5, np.int64))
        assert given_back(quick) is quick
    assert (sys.getrefcount(quick), sys.getrefcount(quick.bit_generator)) == held


class Backwards(np.random.Generator):
    def permutation(self, x):
        return np.arange(x)[::-1]


def test_a_generator_with_ways_of_its_own_keeps_them():
    own = Backwards(np.random.PCG64(0))
    assert as_stream(own) is own
    assert several(own, np.zeros(5, np.int64)) == several(generator(), np.zeros(5, np.int64))


def test_a_kernel_is_compiled_once_for_all_streams():
    fresh = kernel(several.py_func, cache=False)
    for bits in BITS:
        fresh(as_stream(generator(bits)), np.zeros(5, np.int64))
    assert len(fresh.signatures) == 1


def test_a_numba_arranged_otherwise_draws_by_its_own_way(monkeypatch):
    monkeypatch.setattr(_stream, "Model", None)
    plain = as_stream(generator())
    assert type(plain) is np.random.Generator
    assert several(plain, np.zeros(5, np.int64)) == several(generator(), np.zeros(5, np.int64))


PROGRAM = """
import numpy as np
from bayesclust._stream import as_stream
from bayesclust.inference.dcrc.gibbs import scan_classes
from tests.test_stream import several
print(repr(several(as_stream(np.random.default_rng(0)), np.zeros(5, np.int64))))
print(sum(several.stats.cache_hits.values()), sum(several.stats.cache_misses.values()))
"""


def test_other_processes_find_the_code_in_the_cache(tmp_path):
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout.splitlines()
        for _ in range(2)
    ]
    (first, counts), (second, counts_again) = runs
    assert first == second
    assert (counts, counts_again) == ("0 1", "1 0")
