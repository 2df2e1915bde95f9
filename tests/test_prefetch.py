"""A hint to the processor changes nothing but time."""

import numpy as np

from bayesclust._numba import kernel
from bayesclust._prefetch import prefetch


@kernel(cache=False)
def added(values, order, ahead):
    total = 0
    for e in range(len(order)):
        prefetch(values, order[e] + ahead)
        total += values[order[e]]
    return total


def test_values_stay_and_no_place_is_out_of_bounds(rng):
    values, order = rng.integers(100, size=1000), rng.permutation(1000).astype(np.int32)
    before = values.copy()
    for ahead in (0, 7, 10**9, -(10**9)):
        assert added(values, order, ahead) == before.sum()
    np.testing.assert_array_equal(values, before)


def test_it_is_compiled_in(rng):
    added(rng.integers(100, size=10), np.arange(10), 0)
    assert any("llvm.prefetch" in code for code in added.inspect_llvm().values())
