"""Every family with its parameters in hand, against the marginal likelihoods in which they are integrated out."""

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.families import FAMILIES, base
from bayesclust.families.base import hard_statistics
from tests.judges.cases import VARIANTS, bound_case, fixed

NAMES = (*FAMILIES, *VARIANTS)
DRAWS = 20_000
ROUNDING = 1e-9  # counts of one column are certain


def bound(name, n=12, d=2):
    return bound_case(name, n, d, np.random.default_rng(3), fixed)


def rows_of(components, items):
    return tuple(row[items] for row in components.rows)


def soft(family, number=3, seed=0):
    """Statistics under random responsibilities, and the responsibilities."""
    components = family.components()
    weight = np.random.default_rng(seed).dirichlet(np.ones(number), size=len(components.rows[0]))
    return components, components.statistics(np, components.rows, weight), weight


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 3])
def test_marginals_of_partitions(name, d, rng):
    family = bound(name, d=d)
    components, hyper = family.components(), family.sample_hyper(rng)
    z = np.array([0, 2, 0, 2, 2, 0, 3, 3, 0, 2, 0, 0])
    values = components.log_marginal(hard_statistics(components, z, 4), hyper)
    expected = [family.log_marginal(family.X[z == k], hyper) for k in range(4)]
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_of_labels_cluster_by_cluster(name, monkeypatch):
    components, z = bound(name).components(), np.array([0, 2, 0, 2, 2, 0, 3, 3, 0, 2, 0, 0])
    together = hard_statistics(components, z, 4)
    monkeypatch.setattr(base, "SMALL", 0)
    for one, other in zip(hard_statistics(components, z, 4), together, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_are_sums(name):
    components, whole, weight = soft(bound(name))
    halves = [
        components.statistics(np, rows_of(components, part), weight[part])
        for part in (slice(5), slice(5, None))
    ]
    for total, first, second in zip(whole, *halves, strict=True):
        np.testing.assert_allclose(first + second, total, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(whole[0], weight.sum(axis=0))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_draws_predict_as_the_marginals_do(name, d):
    """The mean of p(x | theta) over the posterior of theta is p(x and the cluster) / p(the cluster)."""
    family = bound(name, d=d)
    components, hyper, rng = family.components(), family.initial_hyper(), np.random.default_rng(4)
    for members in (np.arange(0), np.arange(5)):
        z = np.ones(len(family.X), np.int64)
        z[members] = 0
        statistics = tuple(
            np.repeat(part[:1], DRAWS, axis=0) for part in hard_statistics(components, z, 2)
        )
        log_density = components.log_density(
            np, rows_of(components, slice(6, 9)), components.draw(statistics, hyper, rng)
        )
        for row, i in enumerate(range(6, 9)):
            together = family.log_marginal(family.X[[*members, i]], hyper)
            ratio = np.exp(
                log_density[row] - (together - family.log_marginal(family.X[members], hyper))
            )
            assert abs(ratio.mean() - 1) < 4.5 * ratio.std() / np.sqrt(DRAWS) + ROUNDING, (
                members,
                i,
            )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_expected_terms_are_the_mean_over_draws(name, d):
    components, statistics, _ = soft(family := bound(name, d=d))
    hyper, rng = family.initial_hyper(), np.random.default_rng(5)
    expected = components.log_density(np, components.rows, components.expected(statistics, hyper))
    for k in range(3):
        repeated = tuple(np.repeat(part[k : k + 1], DRAWS, axis=0) for part in statistics)
        values = components.log_density(np, components.rows, components.draw(repeated, hyper, rng))
        error = values.std(axis=1) / np.sqrt(DRAWS)
        assert (np.abs(values.mean(axis=1) - expected[:, k]) < 4.5 * error + ROUNDING).all()


@pytest.mark.parametrize("name", NAMES)
def test_expected_log_density_is_the_slope_of_the_marginal(name):
    """With q(theta) at its optimum the bound depends on a weight by the expected log density alone."""
    components, statistics, weight = soft(family := bound(name))
    hyper, step = family.initial_hyper(), 1e-5
    slope = components.log_density(np, components.rows, components.expected(statistics, hyper))
    for i, k in [(0, 0), (3, 1), (7, 2)]:
        values = []
        for sign in (1, -1):
            moved = weight.copy()
            moved[i, k] += sign * step
            values.append(
                components.log_marginal(
                    components.statistics(np, components.rows, moved), hyper
                ).sum()
            )
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(
            slope[i, k], rel=1e-5, abs=1e-6
        )


@pytest.mark.parametrize("name", NAMES)
def test_compiled_by_jax(name):
    import jax
    import jax.numpy as jnp

    components, statistics, weight = soft(family := bound(name))
    terms = components.expected(statistics, family.initial_hyper())
    found = jax.jit(lambda rows, weight: components.statistics(jnp, rows, weight))(
        components.rows, weight
    )
    for one, other in zip(found, statistics, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    density = jax.jit(lambda rows, terms: components.log_density(jnp, rows, terms))(
        components.rows, terms
    )
    np.testing.assert_allclose(
        density, components.log_density(np, components.rows, terms), rtol=1e-10, atol=1e-10
    )


def test_two_clusters_of_draws_differ(rng):
    """Draws of several clusters are independent of each other."""
    components, statistics, _ = soft(family := bound("gaussian"))
    repeated = tuple(np.repeat(part[:1], 2, axis=0) for part in statistics)
    terms = [components.draw(repeated, family.initial_hyper(), rng) for _ in range(4000)]
    offsets = np.array([offset for _, _, offset in terms])
    assert abs(np.corrcoef(offsets.T)[0, 1]) < 4.5 / np.sqrt(4000)
    assert logsumexp(offsets[:, 0]) == pytest.approx(logsumexp(offsets[:, 1]), abs=0.3)
