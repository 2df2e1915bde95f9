"""Columns in which many items share a value: a warning, and the family that takes them."""

import warnings

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.estimators.cluster_models import Candidates, warn_of_columns
from bayesclust.families import get_family
from bayesclust.families.columns import CopiedColumnsWarning, TiedColumnsWarning


@pytest.fixture(scope="module")
def data():
    """Two groups in one measurement; three columns in which half of the items are zero."""
    rng = np.random.default_rng(0)
    z = np.arange(120) % 2
    zero = rng.random((120, 3)) < 0.5
    rest = 6 + z[:, None] + rng.normal(size=(120, 3))
    return np.column_stack([4 * z + rng.normal(size=120), np.where(zero, 0.0, rest)]), z


def short(family, **settings):
    return bc.TVClust(
        "variational", family=family, num_samples=50, progress=False, random_state=0, **settings
    )


def fit_columns(family, X):
    """What a fit says of its columns before it begins."""
    warn_of_columns(get_family(family).bind(X), X)


def test_one_sentence_that_says_where_and_what_to_do(data):
    X, _ = data
    with pytest.warns(TiedColumnsWarning) as caught:
        short("gaussian_diagonal").fit(X)
    (warning,) = caught
    shares = [f"column {j} (0 in {(X[:, j] == 0).mean():.0%})" for j in (1, 2, 3)]
    assert str(warning.message).startswith(
        f"in {', '.join(shares[:2])} and {shares[2]} of X many items share a value, to which"
    )
    assert "see bayesclust.describe_columns(X)" in str(warning.message)
    assert warning.filename == __file__


def test_long_lists_are_cut(data):
    X = np.tile(data[0][:, 1:], 2)
    with pytest.warns(
        TiedColumnsWarning, match=r"column 2 \(0 in \d\d%\) and 3 more of X many items"
    ):
        fit_columns("gaussian_tied", X)


@pytest.mark.parametrize(
    "family",
    [
        "mixed",
        "hurdle",
        bc.families.Product([("gaussian", [0]), ("hurdle", [1, 2, 3])]),
    ],
)
def test_families_that_fit_ties_do_not_warn(data, family):
    fit_columns(family, data[0])
    fit_columns("gaussian", bc.datasets.load("iris").X)
    fit_columns("gaussian", np.column_stack([data[0][:, 0], np.zeros(120)]))


def test_gaussian_parts_are_checked(data):
    with pytest.warns(TiedColumnsWarning, match=r"^in column 2 \(0 in \d\d%\) of X many"):
        fit_columns(bc.families.Product([("gaussian", [0, 2]), ("hurdle", [1, 3])]), data[0])


def test_mixed_columns_find_the_groups_and_place_new_items(data):
    X, z = data
    est = short("mixed").fit(X)
    assert bc.metrics.pairwise_f(z, est.labels_) > 0.85
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TiedColumnsWarning)
        plain = short("gaussian").fit(X)
    assert bc.metrics.pairwise_f(z, plain.labels_) < 0.6
    new = np.array([[-1.5, 0.0, 0.0, 5.9], [5.5, np.nan, 7.1, 0.0], [-1.5, 0.0, 0.0, 0.0]])
    groups = [est.labels_[z == group] for group in (0, 1)]
    expected = [np.bincount(own).argmax() for own in groups]
    assert est.predict(new).tolist() == [expected[0], expected[1], expected[0]]
    assert np.isfinite(est.score_samples(new)).all()


def test_columns_with_ties_are_compared_as_mixed_ones_and_nothing_is_said(data):
    several = Candidates(data[0], "gaussian", None)
    tried = several.to_try(1.0, densities=True)
    assert {own.family for own in tried} == {"gaussian", "mixed"}
    with pytest.warns(TiedColumnsWarning):
        fit_columns("gaussian_diagonal", data[0])


def test_columns_that_copy_others_are_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    near = np.column_stack([X, -5 * X[:, 1] + 3 + 0.05 * rng.normal(size=60), np.ones(60), X[:, 0]])
    whole = "X has nearly a copy in column 5 (of 0) and column 3 (of 1), a correlation"
    for family, columns in (("gaussian", near), ("mixed", near)):
        with pytest.warns(CopiedColumnsWarning) as caught:
            fit_columns(family, columns)
        assert str(caught[0].message).startswith(whole)
    fit_columns("gaussian_tied", near)
    fit_columns("gaussian_diagonal", near)
    fit_columns("gaussian", near[:10])
    fit_columns("gaussian", bc.datasets.load("breast_cancer").X)
