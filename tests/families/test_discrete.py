"""Bernoulli, Poisson and categorical columns against SciPy and plain loops; bad data, gaps, extremes."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, betabinom, dirichlet_multinomial, gamma, nbinom
from scipy.stats import poisson as poisson_distribution

from bayesclust.families import Bernoulli, Categorical, Multinomial, Poisson
from tests.exactness.cases import with_holes
from tests.families.drive import Driver
from tests.families.reference import binary_data, coded_data, count_data

DATA = {Bernoulli: binary_data, Poisson: count_data, Categorical: coded_data}
HYPER = {Bernoulli: "strength", Poisson: "shape", Categorical: "concentration"}


def bound(family, value, X):
    return family(**{HYPER[family]: value}).bind(X)


def cells_of(x):
    return [int(value) for value in x if not np.isnan(value)]


@pytest.mark.parametrize("strength", [0.05, 2.0, 30.0])
def test_bernoulli_is_a_chain_of_beta_binomials(strength, rng):
    X = with_holes(binary_data(12, 3, rng), rng)
    family = bound(Bernoulli, strength, X)
    expected = 0.0
    for x in X.T[family.kept]:
        cells = cells_of(x)
        mean = (sum(cells) + 1) / (len(cells) + 2)
        a, b = strength * mean, strength * (1 - mean)
        for cell in cells:
            expected += betabinom(1, a, b).logpmf(cell)
            a, b = a + cell, b + 1 - cell
    assert family.log_marginal(family.X, np.array([strength])) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("concentration", [0.05, 1.0, 7.0])
def test_categorical_is_a_chain_of_urns(concentration, rng):
    X = with_holes(coded_data(12, 3, rng), rng)
    family = bound(Categorical, concentration, X)
    expected = 0.0
    for x, size in zip(X.T[family.kept], family.sizes, strict=True):
        weights = np.full(size, concentration)
        for cell in cells_of(x):
            one = np.eye(size, dtype=int)[cell]
            expected += dirichlet_multinomial(weights, 1).logpmf(one)
            weights = weights + one
    assert family.log_marginal(family.X, np.array([concentration])) == pytest.approx(
        expected, rel=1e-10
    )


@pytest.mark.parametrize("shape", [0.05, 1.0, 7.0])
def test_poisson_is_a_chain_of_negative_binomials(shape, rng):
    X = with_holes(count_data(12, 3, rng), rng)
    family = bound(Poisson, shape, X)
    expected = 0.0
    for x in X.T[family.kept]:
        cells = cells_of(x)
        a, b = shape, shape / np.mean(cells)
        for cell in cells:
            expected += nbinom(a, b / (b + 1)).logpmf(cell)
            a, b = a + cell, b + 1
    value = family.log_marginal(family.X, np.array([shape])) + family.log_constant
    assert value == pytest.approx(expected, rel=1e-10)


def test_poisson_by_integral():
    family = bound(Poisson, 1.7, np.array([[3.0], [0.0], [5.0]]))
    prior = gamma(1.7, scale=(8 / 3) / 1.7).pdf
    expected, _ = quad(
        lambda rate: poisson_distribution(rate).pmf([3, 0, 5]).prod() * prior(rate), 0, 60
    )
    value = family.log_marginal(family.X, np.array([1.7])) + family.log_constant
    assert value == pytest.approx(math.log(expected), abs=1e-8)


def test_bernoulli_by_integral():
    X = np.array([[1.0], [0.0], [1.0], [1.0]])
    family = bound(Bernoulli, 1.5, X)
    expected, _ = quad(lambda p: p**3 * (1 - p) * beta(1.5 * 4 / 6, 1.5 * 2 / 6).pdf(p), 0, 1)
    assert family.log_marginal(family.X, np.array([1.5])) == pytest.approx(
        math.log(expected), abs=1e-7
    )


def test_exchanging_zero_and_one_changes_nothing(rng):
    X = binary_data(10, 4, rng)
    first, second = (
        bound(Bernoulli, 3.0, X),
        bound(Bernoulli, 3.0, np.where([True, False, True, True], 1 - X, X)),
    )
    hyper = np.array([3.0])
    assert first.log_marginal(first.X[:4], hyper) == pytest.approx(
        second.log_marginal(second.X[:4], hyper), rel=1e-12
    )


def test_names_of_codes_change_nothing(rng):
    X = coded_data(30, 2, rng)
    assert X.max(axis=0).tolist() == [2, 3]
    renamed = np.stack(
        [np.array([2, 0, 1])[X[:, 0].astype(int)], np.array([1, 3, 0, 2])[X[:, 1].astype(int)]],
        axis=1,
    )
    first, second = bound(Categorical, 0.6, X), bound(Categorical, 0.6, renamed.astype(float))
    hyper = np.array([0.6])
    assert first.log_marginal(first.X[:7], hyper) == pytest.approx(
        second.log_marginal(second.X[:7], hyper), rel=1e-12
    )


@pytest.mark.parametrize("family", DATA)
def test_cells_that_are_missing_are_as_if_never_asked_for(family, rng):
    """Summed over all values that they may have had, complete data have the probability of the data with gaps."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    gaps = X.copy()
    gaps[0, 1] = gaps[2, 0] = np.nan
    complete, hyper = bound(family, 1.3, X), np.array([1.3])
    driver = Driver(complete.with_rows(gaps), hyper)
    driver.set_items([0, 1, 2], 0)
    driver.derive(0)
    values = range(400) if family is Poisson else range(2)
    total = 0.0
    for first, second in itertools.product(values, values if family is not Poisson else [0]):
        filled = gaps.copy()
        filled[0, 1], filled[2, 0] = first, second if family is not Poisson else np.nan
        constants = (
            complete.row_constants(filled[:3]).sum() - complete.row_constants(gaps[:3]).sum()
        )
        total += math.exp(complete.log_marginal(filled[:3], hyper) + constants)
    assert driver.marginal(0) == pytest.approx(math.log(total), abs=1e-8)
    assert driver.predictive(3, 0) == pytest.approx(
        driver.plain([0, 1, 2, 3]) - driver.plain([0, 1, 2]), abs=1e-10
    )


@pytest.mark.parametrize("family", DATA)
def test_an_item_without_any_value_tells_nothing(family, rng):
    bound_family = family().bind(with_holes(DATA[family](8, 3, rng), rng))
    driver = Driver(bound_family, bound_family.initial_hyper())
    driver.add(1, 0)
    before = driver.marginal(0)
    assert driver.predictive(0, 0) == pytest.approx(0, abs=1e-12)
    assert driver.predictive(0, driver.empty) == pytest.approx(0, abs=1e-12)
    driver.add(0, 0)
    assert driver.marginal(0) == pytest.approx(before, abs=1e-12)
    assert driver.state.count[0] == 2


@pytest.mark.parametrize("family", DATA)
def test_columns_that_tell_nothing_are_left_out(family, rng):
    X = DATA[family](20, 3, rng)
    X = np.insert(X, [1, 2], np.nan, axis=1)
    X[:, 3], X[4, 3] = 1.0, np.nan
    bound_family = family().bind(X)
    assert bound_family.kept.tolist() == [0, 2, 4]
    assert bound_family.X.shape == (20, 3)
    assert bound_family.transform(X[:2]).shape == (2, 3)
    nothing = family().bind(np.full((4, 2), np.nan))
    assert nothing.log_marginal(nothing.X, nothing.initial_hyper()) == pytest.approx(0, abs=1e-12)
    assert np.isfinite(nothing.embedding()).all()


@pytest.mark.parametrize("large", [12.0, 13.0, 4000.0, 1e14])
def test_counts_of_every_size(large):
    X = np.array([[large, 1.0], [0.0, 2.0], [5.0, 12.0], [large - 1, 0.0]])
    family = bound(Poisson, 0.9, X)
    driver = Driver(family, np.array([0.9]))
    for i in (0, 2):
        driver.add(i, 0)
    for i in (1, 3):
        expected = driver.plain([0, 2, i]) - driver.plain([0, 2])
        assert driver.predictive(i, 0) == pytest.approx(expected, rel=1e-9, abs=1e-9 * large)


def test_products_of_many_counts_neither_overflow_nor_vanish(rng):
    d = 600
    X = rng.poisson(1.0, size=(6, d)).astype(float)
    X[:, :200] += 8
    for shape in (1e-4, 1.0, 1e6):
        family = bound(Poisson, shape, X)
        driver = Driver(family, np.array([shape]))
        for i in range(3):
            driver.add(i, 0)
        for i in range(3, 6):
            expected = driver.plain([0, 1, 2, i]) - driver.plain([0, 1, 2])
            assert driver.predictive(i, 0) == pytest.approx(expected, rel=1e-8)


BAD = [
    (Bernoulli, [[0, 1], [1, 2]], "values other than 0 and 1 in column 1, row 1"),
    (Bernoulli, [[0, 0.5], [1, 1]], "values other than 0 and 1 in column 1, row 0"),
    (Poisson, [[0, 1], [-1, 2]], "negative counts in column 0, row 1"),
    (Poisson, [[0, 1.5], [1, 2]], "counts that are not whole in column 1, row 0"),
    (Categorical, [[0, 1], [1, -2]], "negative codes in column 1, row 1"),
    (Categorical, [[0, 1], [0.5, 2]], "codes that are not whole in column 0, row 1"),
    (Categorical, [[0, 1], [3, 2e6]], "codes of 10000 or more in column 1, row 1"),
    (Poisson, [[0, np.inf], [1, 2]], "infinity in row 0"),
]


@pytest.mark.parametrize(("family", "X", "what"), BAD)
def test_bad_cells_are_refused_in_a_sentence(family, X, what):
    with pytest.raises(ValueError, match=rf"^X has {what}: [a-z0-9 ,.]+\.$"):
        family().bind(np.array(X, dtype=float))


def test_bad_further_rows_are_refused_under_the_user_s_column_numbers():
    family = Categorical().bind(np.array([[7, 0, 1], [7, 1, 2]]))
    with pytest.raises(
        ValueError, match=r"^X has codes beyond those of the first data in column 2, row 1: leave"
    ):
        family.transform([[7, 0, 1], [7, 1, 3]])
    np.testing.assert_array_equal(family.transform([[9, np.nan, 1]]), [[np.nan, 1]])
    with pytest.raises(ValueError, match=r"^X has values other than 0 and 1 in column 1, row 0: "):
        Bernoulli().bind(np.array([[1, 0], [1, 1]])).transform([[1, 3]])
    with pytest.raises(ValueError, match=r"^X has negative counts in column 1, row 0: "):
        Poisson().bind(np.array([[1, 0], [1, 1]])).transform([[1, -3]])


def test_embeddings_know_missing_cells_as_average_ones():
    X = np.array([[0.0, 2.0], [1.0, np.nan], [1.0, 0.0]])
    points = Categorical().bind(X).embedding()
    np.testing.assert_allclose(((points[0] - points[2]) ** 2).sum(), 2.0)
    np.testing.assert_allclose(points[1] * np.sqrt(2), [0, 1, 0.5, 0, 0.5])
    np.testing.assert_allclose(Poisson().bind(X).embedding()[1], [2, np.sqrt(2)])
    np.testing.assert_allclose(
        Bernoulli().bind(np.array([[0, 1], [1, np.nan], [1, 0]])).embedding()[1], [1, 0.5]
    )


@pytest.mark.parametrize("beta", [0.05, 1.0, 7.0])
def test_multinomial_is_a_chain_of_dirichlet_multinomials(beta, rng):
    counts = rng.multinomial([3, 8, 1, 12, 5], [0.2, 0.5, 0.25, 0.05]).astype(float)
    family = Multinomial(concentration=beta).bind(counts)
    expected, seen = 0.0, np.zeros(4)
    for x in counts.astype(int):
        expected += dirichlet_multinomial(beta + seen, x.sum()).logpmf(x)
        seen += x
    value = family.log_marginal(family.X, np.array([beta])) + family.log_constant
    assert value == pytest.approx(expected, rel=1e-10)


def test_large_counts_stay_finite():
    family = Multinomial().bind(np.array([[1e12, 3.0], [0.0, 5e14]]))
    assert np.isfinite(family.log_marginal(family.X, family.initial_hyper()))


def test_embedding_of_counts_sees_shares_not_sizes():
    points = Multinomial().bind(np.array([[1.0, 3.0], [10.0, 30.0], [4.0, 0.0]])).embedding()
    np.testing.assert_allclose(points[0], points[1])
    np.testing.assert_allclose((points**2).sum(axis=1), 1)


@pytest.mark.parametrize("row", [[1.5, 1], [-1, 1], [0, 0], [np.nan, 1]])
def test_rows_that_are_no_counts_are_refused(row):
    with pytest.raises(ValueError, match=r"^X "):
        Multinomial().bind(np.array([row, [2, 3]], dtype=float))
