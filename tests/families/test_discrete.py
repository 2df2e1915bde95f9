"""Discrete families: bad data, gaps, extremes."""

import numpy as np
import pytest

from bayesclust.families import Bernoulli, Categorical, Multinomial, Poisson
from bayesclust.families.discrete import Recoded
from tests.exactness.cases import with_holes
from tests.families.drive import Driver
from tests.families.reference import DATA

each_family = pytest.mark.parametrize("family", [Bernoulli, Poisson, Categorical])


@each_family
def test_items_without_any_value_tell_nothing(family, rng):
    model = family().bind(with_holes(DATA[family](8, 3, rng), rng))
    driver = Driver(model, model.initial_hyper())
    driver.add(1, 0)
    before = driver.marginal(0)
    assert driver.predictive(0, 0) == pytest.approx(0, abs=1e-12)
    assert driver.predictive(0, driver.empty) == pytest.approx(0, abs=1e-12)
    driver.add(0, 0)
    assert driver.marginal(0) == pytest.approx(before, abs=1e-12)
    assert driver.state.count[0] == 2


@each_family
def test_columns_that_tell_nothing_are_left_out(family, rng):
    X = np.insert(DATA[family](20, 3, rng), [1, 2], np.nan, axis=1)
    X[:, 3] = 1.0
    X[4, 3] = np.nan
    model = family().bind(X)
    assert model.kept.tolist() == [0, 2, 4]
    assert model.X.shape == (20, 3)
    assert model.transform(X[:2]).shape == (2, 3)
    nothing = family().bind(np.full((4, 2), np.nan))
    assert nothing.log_marginal(nothing.X, nothing.initial_hyper()) == pytest.approx(0, abs=1e-12)
    assert np.isfinite(nothing.embedding()).all()


@pytest.mark.parametrize("large", [12.0, 13.0, 1e14])
def test_counts_may_have_any_size(large):
    X = np.array([[large, 1.0], [0.0, 2.0], [5.0, 12.0], [large - 1, 0.0]])
    driver = Driver(Poisson(0.9).bind(X), np.array([0.9]))
    for i in (0, 2):
        driver.add(i, 0)
    for i in (1, 3):
        expected = driver.plain([0, 2, i]) - driver.plain([0, 2])
        assert driver.predictive(i, 0) == pytest.approx(expected, rel=1e-9, abs=1e-9 * large)
    counts = Multinomial().bind(np.array([[large, 3.0], [0.0, 5 * large]]))
    assert np.isfinite(counts.log_marginal(counts.X, counts.initial_hyper()))


def test_products_of_many_counts_neither_overflow_nor_vanish(rng):
    X = rng.poisson(1.0, size=(6, 600)).astype(float)
    X[:, :200] += 8
    for shape in (1e-4, 1.0, 1e6):
        driver = Driver(Poisson(shape).bind(X), np.array([shape]))
        for i in range(3):
            driver.add(i, 0)
        for i in range(3, 6):
            expected = driver.plain([0, 1, 2, i]) - driver.plain([0, 1, 2])
            assert driver.predictive(i, 0) == pytest.approx(expected, rel=1e-8)


BAD = [
    (Bernoulli, [[0, 0.5], [1, 2]], "values other than 0 and 1 in column 1, rows 0 and 1"),
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


@pytest.mark.parametrize("row", [[1.5, 1], [-1, 1], [0, 0], [np.nan, 1]])
def test_rows_that_are_no_counts_are_refused(row):
    with pytest.raises(ValueError, match=r"^X "):
        Multinomial().bind(np.array([row, [2, 3]], dtype=float))


FURTHER = [
    (
        Categorical,
        [[7, 0, 1], [7, 1, 2]],
        [[7, 0, 1], [7, 1, 3]],
        "values that the first .* column 2, row 1",
    ),
    (Bernoulli, [[1, 0], [1, 1]], [[1, 3]], "values other than 0 and 1 in column 1, row 0"),
    (Poisson, [[1, 0], [1, 1]], [[1, -3]], "negative counts in column 1, row 0"),
    (Recoded, [[0.5], [2.0], [9.0]], [[0.5], [0.6]], "values that the first .* column 0, row 1"),
]


@pytest.mark.parametrize(("family", "X", "further", "what"), FURTHER)
def test_bad_further_rows_are_refused_by_the_users_columns(family, X, further, what):
    model = family().bind(np.array(X, dtype=float))
    with pytest.raises(ValueError, match=f"^X has {what}: "):
        model.transform(further)


def test_further_rows_are_coded_as_the_first():
    recoded = Recoded().bind(np.array([[0.5], [2.0], [9.0]]))
    np.testing.assert_array_equal(recoded.transform([[9.0], [np.nan]]), [[2.0], [np.nan]])
    categorical = Categorical().bind(np.array([[7, 0, 1], [7, 1, 2]]))
    np.testing.assert_array_equal(categorical.transform([[9, np.nan, 1]]), [[np.nan, 1]])


def test_embeddings_take_missing_cells_for_average_ones():
    X = np.array([[0.0, 2.0], [1.0, np.nan], [1.0, 0.0]])
    points = Categorical().bind(X).embedding()
    np.testing.assert_allclose(((points[0] - points[2]) ** 2).sum(), 2.0)
    np.testing.assert_allclose(points[1] * np.sqrt(2), [0, 1, 0.5, 0, 0.5])
    np.testing.assert_allclose(Poisson().bind(X).embedding()[1], [2, np.sqrt(2)])
    ones = Bernoulli().bind(np.array([[0, 1], [1, np.nan], [1, 0]]))
    np.testing.assert_allclose(ones.embedding()[1], [1, 0.5])
    counts = Multinomial().bind(np.array([[1.0, 3.0], [10.0, 30.0], [4.0, 0.0]])).embedding()
    np.testing.assert_allclose(counts[0], counts[1])
    np.testing.assert_allclose((counts**2).sum(axis=1), 1)
