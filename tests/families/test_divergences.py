"""Divergences against their definitions."""

import numpy as np
import pytest
from scipy.stats import entropy

from bayesclust.families import FAMILIES, Divergence, Family, as_divergence
from bayesclust.families.discrete import BernoulliDivergence, CategoricalDivergence
from bayesclust.families.gaussian import Mahalanobis
from bayesclust.families.gaussian_columns import Standardized
from bayesclust.families.multinomial import KullbackLeibler
from bayesclust.families.poisson import PoissonDivergence
from bayesclust.families.squared_distance import SquaredEuclidean
from tests.inference.limits.reference import KINDS, plain_distance, some_data


@pytest.fixture(params=KINDS)
def case(request, rng):
    X = some_data(rng, request.param, 16)
    divergence = as_divergence(KINDS[request.param]).bind(X)
    points = divergence.points(X)
    plain = plain_distance(request.param, getattr(divergence, "sizes", None))
    return divergence, points, plain


def centers_of(points, rng, k=5):
    """Means of random groups."""
    groups = [rng.choice(len(points), 6, replace=False) for _ in range(k)]
    return np.stack([points[group].mean(axis=0) for group in groups])


def test_between_and_paired_are_the_definition(case, rng):
    divergence, points, distance = case
    centers = centers_of(points, rng)
    expected = np.array([[distance(x, m) for m in centers] for x in points])
    np.testing.assert_allclose(divergence.between(points, centers), expected, atol=1e-12)
    paired = divergence.paired(points[:5], centers)
    np.testing.assert_allclose(paired, np.diag(expected), atol=1e-12)
    general = divergence.phi(points)[:, None] - points @ divergence.natural(centers).T
    general += divergence.offset(centers)
    if not divergence.squared:
        np.testing.assert_allclose(general, expected, atol=1e-12)


def test_they_are_bregman_divergences_of_phi(case, rng):
    """D(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)>, the gradient by differences."""
    divergence, points, distance = case
    for x, m in zip(points, centers_of(points, rng), strict=False):
        step = 1e-6 * (x - m)
        slope = (divergence.phi((m + step)[None]) - divergence.phi((m - step)[None]))[0] / 2e-6
        gap = (divergence.phi(x[None]) - divergence.phi(m[None]))[0] - slope
        assert gap == pytest.approx(distance(x, m), abs=1e-7)


def test_mahalanobis_is_its_formula_in_the_users_columns(rng):
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) * [1.0, 1e3, 1e-3] + 5.0
    for covariance in (None, np.cov(X[:10], rowvar=False)):
        S = np.cov(X, rowvar=False, bias=True) if covariance is None else covariance
        metric = Mahalanobis(covariance).bind(X)
        points = metric.points(X)
        gaps = X[:, None] - X[None, :4]
        expected = np.einsum("ikj,jl,ikl->ik", gaps, np.linalg.inv(S), gaps)
        np.testing.assert_allclose(
            metric.between(points, points[:4]), expected, rtol=1e-6, atol=1e-8
        )
        np.testing.assert_allclose(metric.shown(points), X, rtol=1e-9)


def test_directions_without_variance_are_left_out(rng):
    X = rng.normal(size=(20, 2))
    flat = np.column_stack([X, X[:, 0] - X[:, 1], np.full(20, 3.0)])
    metric, plain = Mahalanobis().bind(flat), Mahalanobis().bind(X)
    assert metric.points(flat).shape == (20, 2)
    points, expected = metric.points(flat), plain.points(X)
    distances = metric.between(points, points), plain.between(expected, expected)
    np.testing.assert_allclose(*distances, atol=1e-8)
    np.testing.assert_allclose(metric.shown(points), flat, atol=1e-9)
    constant = Mahalanobis().bind(np.ones((4, 2)))
    points = constant.points(np.ones((4, 2)))
    assert constant.between(points, points).max() == 0


def test_standardized_counts_standard_deviations(rng):
    X = rng.normal(size=(30, 3)) * [1.0, 50.0, 0.0] + 4.0
    standard = Standardized().bind(X)
    points = standard.points(X)
    expected = (np.square(X[:, None, :2] - X[None, :, :2]) / X[:, :2].var(axis=0)).sum(axis=2)
    np.testing.assert_allclose(standard.between(points, points), expected, rtol=1e-9, atol=1e-9)


def test_families_have_divergences_of_their_own():
    with_one = {name: family for name, family in FAMILIES.items() if family.divergence}
    assert len(with_one) >= 8
    for name, family in with_one.items():
        assert type(as_divergence(name)) is type(as_divergence(family())) is family.divergence


def test_centres_are_shown_in_the_units_of_the_data(rng):
    X = some_data(rng, "poisson", 30)
    for name, kind in (("poisson", PoissonDivergence), ("standardized", Standardized)):
        divergence = kind().bind(X)
        shown = divergence.shown(divergence.points(X).mean(axis=0)[None])
        np.testing.assert_allclose(shown[0], X.mean(axis=0), err_msg=name)
    codes = CategoricalDivergence().bind([[0, 1], [2, 1], [0, 1]])
    shown = codes.shown(codes.points([[0, 1], [2, 1], [0, 1]]).mean(axis=0)[None])
    np.testing.assert_allclose(shown[0], [2 / 3, 0, 1 / 3, 0, 1], atol=1e-12)
    ones = BernoulliDivergence()
    np.testing.assert_allclose(
        ones.shown(ones.points([[0, 1], [1, 1]]).mean(axis=0)[None])[0], [0.5, 1.0]
    )


def test_what_depends_on_the_data_must_be_bound_first():
    for divergence in (
        Mahalanobis(),
        Standardized(),
        CategoricalDivergence(),
        as_divergence(KINDS["product"]),
    ):
        with pytest.raises(TypeError, match="use what bind"):
            divergence.points([[0.0], [1.0]])


def test_kl_smooths_counts_and_weighs_every_item_the_same():
    counts = np.array([[4, 0, 1], [40, 0, 10]])
    points = KullbackLeibler().points(counts)
    np.testing.assert_allclose(points[0], np.array([4.3, 0.3, 1.3]) / 5.9)
    np.testing.assert_allclose(points.sum(axis=1), 1.0)
    assert KullbackLeibler().between(points[:1], points[1:])[0, 0] == pytest.approx(
        entropy(points[0], points[1])
    )


def test_squared_distances_do_not_cancel_far_from_the_origin():
    points = 1e9 + np.array([[0.0], [3.0]])
    assert SquaredEuclidean().between(points, points[:1])[1, 0] == 9.0


def test_divergences_are_found_by_name_or_given():
    mine = KullbackLeibler()
    assert as_divergence(mine) is mine
    assert isinstance(as_divergence("kl"), Divergence)
    for given, error in (("cosine", ValueError), (3, TypeError)):
        with pytest.raises(error, match=r'^divergence must be one of "mahalanobis", .*"kl"'):
            as_divergence(given)


def test_a_family_without_a_known_divergence_is_refused():
    class Mine(Family):
        def bind(self, X):
            raise NotImplementedError

    with pytest.raises(TypeError, match=r"^the divergence of Mine is not known, only those of"):
        as_divergence(Mine())


@pytest.mark.parametrize("call", ["points", "phi", "natural"])
def test_divergences_with_units_of_the_data_refuse_points_before_bind(call):
    message = (
        r"^Mahalanobis has no points, phi or natural of its own: write them or, where it takes its "
        r"units from the data, use what bind\(X\) returns\.$"
    )
    with pytest.raises(TypeError, match=message):
        getattr(Mahalanobis(), call)(np.zeros((3, 2)))
