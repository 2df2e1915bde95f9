"""Arrays made in compiled code: shapes, types and zeros as NumPy's."""

import numpy as np
import pytest

from bayesclust._arrays import zeros
from bayesclust._jit import kernel


@kernel(cache=False)
def of_one_axis(n, again):
    for _ in range(again):  # memory that was written to before
        made = zeros(n, np.float64)
        made[:] = 7.0
    return zeros(n, np.int64), zeros(n, np.bool_), zeros(n, np.float64)


@kernel(cache=False)
def of_several(n, m):
    return zeros((n, m), np.float64), zeros((n, 3, m), np.int64)


@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_they_are_numpys(n):
    kinds = (np.int64, np.bool_, np.float64)
    expected = [
        *(np.zeros(n, kind) for kind in kinds),
        np.zeros((n, 2)),
        np.zeros((n, 3, 2), np.int64),
    ]
    for made, own in zip([*of_one_axis(n, 50), *of_several(n, 2)], expected, strict=True):
        assert (made.dtype, made.shape, made.flags.c_contiguous) == (own.dtype, own.shape, True)
        np.testing.assert_array_equal(made, own)
        made[...] = 1


def test_they_live_as_long_as_they_are_referred_to():
    kept = [of_one_axis(100, 1)[2] for _ in range(200)]
    for number, made in enumerate(kept):
        made[:] = number
    assert all((made == number).all() for number, made in enumerate(kept))
