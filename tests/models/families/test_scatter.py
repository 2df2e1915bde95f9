"""Moments of a few rows, by sums and by a matrix product."""

import numpy as np
import pytest

from bayesclust._numba import kernel
from bayesclust.families import write_moments
from bayesclust.families.gaussian import FEW, NARROW


@kernel(cache=False)
def moments(X, items, total, outer):
    write_moments(X, items, total, outer)


@pytest.mark.parametrize("d", [1, NARROW, NARROW + 1, 40])
@pytest.mark.parametrize("number", [0, 1, 5, 200])
def test_they_are_numpys(d, number, rng):
    assert (NARROW + 1) * 5 < FEW < 40 * 200  # both ways are gone
    X, items = rng.normal(size=(300, d)), rng.permutation(300)[:number]
    total, outer = rng.normal(size=d), rng.normal(size=(d, d))
    moments(X, items, total, outer)
    np.testing.assert_allclose(total, X[items].sum(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(outer, X[items].T @ X[items], rtol=1e-12, atol=1e-12)
