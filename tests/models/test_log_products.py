"""Sums of logarithms by products of some columns at a time are sums of logarithms."""

import numpy as np
import pytest

from bayesclust._numba import kernel
from bayesclust.families.gaussian_columns import TOGETHER, sum_of_logs, sum_of_tails

COLUMNS = [1, 2, TOGETHER - 1, TOGETHER, TOGETHER + 1, 3 * TOGETHER + 5]
logs = kernel(lambda *a: sum_of_logs(*a), cache=False)
tails = kernel(lambda *a: sum_of_tails(*a), cache=False)


@pytest.mark.parametrize("d", COLUMNS)
def test_logs_are_those_of_every_number(rng, d):
    table = rng.gamma(2.0, size=(3, d))
    for k in range(3):
        assert logs(table, k) == pytest.approx(np.log(table[k]).sum(), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("size", [1e-300, 1e-60, 1e60, 1e300])
def test_products_beyond_all_numbers_are_left_alone(size):
    table = np.full((1, 2 * TOGETHER + 3), size)
    table[0, -1] = 2.0
    assert logs(table, 0) == pytest.approx(np.log(table).sum(), rel=1e-13)


@pytest.mark.parametrize("d", COLUMNS)
def test_tails_are_those_of_every_column(rng, d):
    X, mean, width = rng.normal(size=(4, d)), rng.normal(size=(2, d)), rng.gamma(2.0, size=(2, d))
    for i, k in np.ndindex(4, 2):
        plain = np.log1p((X[i] - mean[k]) ** 2 / width[k]).sum()
        assert tails(X, i, mean, width, k) == pytest.approx(plain, rel=1e-13)


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e20, 1e150])
def test_items_anywhere_have_tails(distance):
    X, mean = np.full((1, 2 * TOGETHER + 3), distance), np.zeros((1, 19))
    width = np.full((1, 19), 2.0)
    plain = np.log1p(0.5 * X**2).sum()
    assert tails(X, 0, mean, width, 0) == pytest.approx(plain, rel=1e-13, abs=1e-14)
