"""Von Mises-Fisher clusters: the normaliser at all orders, draws, embeddings."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln, ive

import bayesclust as bc
from bayesclust.estimators.cluster_models import Candidates
from bayesclust.families import VonMisesFisher
from bayesclust.families.directional import LARGE, draw_directions, log_ratio, mean_length


@pytest.mark.parametrize("d", [2, 3, 4, 7, 50, 81, 82, 83, 200, 1024])
def test_the_normaliser_is_that_of_bessel_functions(d):
    order = d / 2 - 1
    assert log_ratio(0.0, order) == pytest.approx(0.0, abs=1e-9)
    for x in (1.0, 30.0, 300.0, 1e4, 1e6):
        scaled = ive(order, x)
        if scaled > 0:
            expected = gammaln(order + 1) + order * np.log(2 / x) + np.log(scaled) + x
            assert log_ratio(x, order) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("d", [2, 3, 10, 100, 768])
def test_mean_and_variance_along_it_hold_at_all_concentrations(d):
    edge = LARGE * d
    below, above = (mean_length(edge * share, d) for share in (1 - 1e-9, 1 + 1e-9))
    assert above == pytest.approx(below, rel=1e-3)
    assert above[0] == pytest.approx(ive(d / 2, edge) / ive(d / 2 - 1, edge), rel=1e-10)
    length, variance = mean_length(1e9, d)
    assert 1 - length == pytest.approx((d - 1) / 2e9, rel=1e-5)
    assert variance == pytest.approx((d - 1) / 2e18, rel=1e-5)
    for kappa in (0.3, 5.0, 60.0):
        step = 1e-4 * kappa
        rise = (mean_length(kappa + step, d)[0] - mean_length(kappa - step, d)[0]) / (2 * step)
        assert mean_length(kappa, d)[1] == pytest.approx(rise, rel=1e-4)
    assert mean_length(0.0, d) == pytest.approx((0.0, 1 / d))


@pytest.mark.parametrize("d", [2, 3, 10])
@pytest.mark.parametrize("kappa", [0.0, 0.5, 8.0, 200.0])
def test_draws_lie_about_their_means_as_they_should(d, kappa, rng):
    mean = rng.normal(size=d)
    mean /= np.linalg.norm(mean)
    drawn = draw_directions(np.tile(mean, (4000, 1)), np.full(4000, kappa), rng)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.0)
    angles = (np.arange(100_000) + 0.5) * np.pi / 100_000
    below = np.cumsum(np.exp(kappa * (np.cos(angles) - 1)) * np.sin(angles) ** (d - 2))
    at = np.interp(np.arccos(np.clip(drawn @ mean, -1, 1)), angles, below / below[-1])
    assert stats.kstest(at, "uniform").pvalue > 1e-4
    across = drawn - (drawn @ mean)[:, None] * mean
    assert np.abs(across.mean(axis=0)).max() < 4.5 / np.sqrt(4000)


def test_lengths_do_not_count_and_what_has_no_direction_is_refused(rng):
    X = rng.normal(size=(6, 3))
    scaled = X * rng.uniform(0.1, 9.0, size=(6, 1))
    np.testing.assert_allclose(VonMisesFisher().bind(X).X, VonMisesFisher().bind(scaled).X)
    with pytest.raises(ValueError, match="X has one column, and a direction needs two"):
        VonMisesFisher().bind(X[:, :1])
    X[4] = 0
    with pytest.raises(ValueError, match="X has nothing but zeros in row 4, which have no dir"):
        VonMisesFisher().bind(X)


def embeddings(n, d, rng):
    """Rows of length one, about 6 directions that share much, with noise of low rank and of all."""
    y = rng.integers(6, size=n)
    factors = rng.normal(size=(20, d)) / np.sqrt(np.arange(1, 21))[:, None]
    X = 0.7 * rng.normal(size=d) + rng.normal(size=(6, d))[y]
    X += 0.5 * rng.normal(size=(n, 20)) @ factors + 1.1 * rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def test_embeddings_are_clustered_and_predicted(rng):
    X, y = embeddings(400, 256, rng)
    links = bc.PairwiseConstraints.sample(y[:300], size=600, error_rate=0.1, seed=1)
    settings = {"num_chains": 2, "num_warmup": 150, "num_samples": 100, "random_state": 0}
    est = bc.TVClust(family="von_mises_fisher", progress=False, **settings)
    est.fit(X[:300], constraints=links)
    assert bc.metrics.pairwise_f(est.labels_, y[:300]) > 0.85
    assert bc.metrics.pairwise_f(est.predict(7.0 * X[300:]), y[300:]) > 0.85
    tried = Candidates(X, "gaussian", None).to_try(1.0, densities=True)
    assert "von_mises_fisher" in {own.family for own in tried}
