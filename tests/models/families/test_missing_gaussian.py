"""Gaussian columns with missing cells: against the complete family, one column at a time, and by integrals."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from bayesclust.families import BoundMissingGaussian, DiagonalGaussian, FullGaussian
from bayesclust.families.cells import standard_columns
from bayesclust.families.gaussian_columns import BoundDiagonalGaussian
from tests.judges.cases import with_holes
from tests.models.families.drive import Driver

HYPER = np.array([0.4, 2.5, 0.15])
FAMILY = DiagonalGaussian(*HYPER)


def gapped(rng, n=9, d=3):
    return with_holes(50 + rng.normal(size=(n, d)) * [3.0, 0.2, 10.0][:d], rng)


def test_each_column_is_the_complete_family_on_its_cells(rng):
    X = gapped(rng)
    family = FAMILY.bind(X)
    assert isinstance(family, BoundMissingGaussian)
    total, constant = 0.0, 0.0
    for x in X.T:
        alone = FAMILY.bind(x[~np.isnan(x), None])
        assert isinstance(alone, BoundDiagonalGaussian)
        total += alone.log_marginal(alone.X, HYPER)
        constant += alone.log_constant
    assert family.log_marginal(family.X, HYPER) == pytest.approx(total, rel=1e-10)
    assert family.log_constant == pytest.approx(constant, rel=1e-10)


def test_without_gaps_both_states_agree(rng):
    X = rng.normal(size=(8, 3))
    complete = FAMILY.bind(X)
    # the same data under the state for data with gaps, of which a further row brings one
    gaps = complete.with_rows(np.concatenate([complete.X, [[np.nan, 0.3, 0.1]]]))
    assert isinstance(gaps, BoundMissingGaussian)
    one, other = Driver(complete, HYPER), Driver(gaps, HYPER)
    for i in range(5):
        for driver in (one, other):
            driver.add(i, 0)
        assert other.marginal(0) == pytest.approx(one.marginal(0), rel=1e-10)
        for k in (0, one.empty):
            assert other.predictive(7, k) == pytest.approx(one.predictive(7, k), rel=1e-10)
    for driver in (one, other):
        driver.remove(2, 0)
    assert other.predictive(2, 0) == pytest.approx(one.predictive(2, 0), rel=1e-9)
    assert one.plain([0, 1, 3, 4]) == pytest.approx(other.plain([0, 1, 3, 4]), rel=1e-12)


def test_missing_cell_is_integrated_over(rng):
    X = rng.normal(size=(4, 2))
    complete = FAMILY.bind(X)
    rows = complete.X.copy()
    rows[2, 1] = np.nan

    def joint(x):
        filled = rows.copy()
        filled[2, 1] = x
        return math.exp(complete.log_marginal(filled, HYPER))

    expected, _ = quad(joint, -np.inf, np.inf)
    gaps = complete.with_rows(rows)
    driver = Driver(gaps, HYPER)
    driver.set_items(range(4), 0)
    driver.derive(0)
    assert driver.marginal(0) == pytest.approx(math.log(expected), abs=1e-7)
    # the value was never in the data: its unit does not count
    assert gaps.log_constant == pytest.approx(complete.log_constant + math.log(complete.unit[1]))


def test_units_do_not_matter(rng):
    X = gapped(rng)
    one, other = FAMILY.bind(X), FAMILY.bind(1e6 + 250.0 * X)
    assert one.log_marginal(one.X, HYPER) == pytest.approx(
        other.log_marginal(other.X, HYPER), rel=1e-6
    )
    np.testing.assert_allclose(one.X, other.X, atol=1e-8)


def test_standard_columns_see_the_cells_that_are_there(rng):
    X = gapped(rng, n=30)
    X = np.insert(X, [0, 2], np.nan, axis=1)
    X[3, 0] = 5.0  # one value only: constant
    columns = standard_columns(X)
    assert columns.kept.tolist() == [1, 2, 4]
    np.testing.assert_array_equal(np.isnan(columns.X), np.isnan(X[:, columns.kept]))
    np.testing.assert_allclose(np.nanmean(columns.X, axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(np.nanstd(columns.X, axis=0), 1)
    for column, own in enumerate(columns.kept):
        cells = X[~np.isnan(X[:, own]), own][:, None]
        alone = standard_columns(cells)
        assert columns.floor[column] == pytest.approx(alone.floor[0])
        assert columns.unit[column] == pytest.approx(alone.unit[0])


def test_nothing_seen_at_all():
    family = FAMILY.bind(np.full((4, 2), np.nan))
    assert family.log_marginal(family.X, HYPER) == 0
    assert family.log_constant == 0
    assert np.isfinite(family.embedding()).all()


def test_families_that_need_all_cells_say_so():
    assert DiagonalGaussian().takes_missing
    assert not FullGaussian().takes_missing
    with pytest.raises(ValueError, match=r"^X has NaN in row 0: "):
        FullGaussian().bind(np.eye(3)).transform([[np.nan, 1.0, 2.0]])
