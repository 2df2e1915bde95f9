"""Prediction of new items against ratios of marginals, sums over partitions, and its own laws."""

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.families import FAMILIES, FullGaussian
from bayesclust.inference import prediction
from bayesclust.inference.prediction import Prediction, with_shared
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact
from tests.exactness.cases import data_for, fixed, problem

Z = np.array(
    [[0, 0, 1, 1, 1, 0, 2], [0, 0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1, 1]]
)
ALPHA = np.array([0.3, 1.0, 2.5, 0.8])


def values(alphas):
    """Parameters of draws by their concentrations."""
    return [{"concentration": float(alpha)} for alpha in alphas]


def by_marginals(family, hypers, rows):
    """p(x, joins k) and p(x, alone) as ratios of marginals: a list over draws of (m, K_s + 1)."""
    joint = []
    for z, alpha, hyper in zip(Z, ALPHA, hypers, strict=True):
        clusters = [family.X[z == k] for k in range(z.max() + 1)]
        before = [*(family.log_marginal(X, hyper) for X in clusters), 0.0]
        logs = [
            [family.log_marginal(np.concatenate([X, row]), hyper) for X in [*clusters, row[:0]]]
            for row in rows[:, None]
        ]
        weights = np.append(np.bincount(z), alpha) / (len(z) + alpha)
        joint.append(weights * np.exp(np.array(logs) - before))
    return joint


@pytest.mark.parametrize("name", FAMILIES)
def test_predictions_given_draws_are_ratios_of_marginals(name, rng):
    configuration = fixed(FAMILIES[name])
    whole = configuration.bind(data_for(configuration, 12, 3, rng))
    family, rows = whole.with_rows(whole.X[:7]), whole.X[7:]
    hypers = np.array([family.sample_hyper(rng) for _ in Z])
    joint = by_marginals(family, hypers, rows)
    found = Prediction(family, Z, values(ALPHA), hypers)
    total = sum(terms.sum(axis=1) for terms in joint)
    expected = np.log(total / len(Z)) + family.row_constants(rows)
    np.testing.assert_allclose(found.log_density(rows), expected, rtol=1e-8)
    np.testing.assert_allclose(
        found.novelty(rows), sum(terms[:, -1] for terms in joint) / total, rtol=1e-8
    )
    together = sum(terms[:, z] for terms, z in zip(joint, Z, strict=True)) / total[:, None]
    np.testing.assert_allclose(found.similarity(rows), together, rtol=1e-8)
    labels = Z[0]
    member = np.zeros((len(rows), 3))
    for terms, z in zip(joint, Z, strict=True):
        for k in range(z.max() + 1):
            for c in range(3):
                member[:, c] += terms[:, k] * (labels[z == k] == c).mean()
    np.testing.assert_allclose(
        found.memberships(rows, labels), member / member.sum(axis=1, keepdims=True), rtol=1e-8
    )


@pytest.mark.parametrize("name", ["gaussian", "gaussian_tied", "multinomial"])
def test_prediction_is_the_sum_over_partitions_with_the_item(name):
    """The weights of the partitions of n + 1 items give density and co-clustering of the last."""
    whole = problem(name, n=6, seed=3)
    prior = DirichletProcess(0.8)
    family = whole.family.with_rows(whole.family.X[:5])
    views = tuple(view.restrict(np.arange(5)) for view in whole.constraints)
    states, logs = exact.log_posterior(family, views, prior)
    wider = tuple(
        type(view)(view.items, view.answers, 6, view.source, view.noise, view.name)
        for view in views
    )
    more, joint = exact.log_posterior(whole.family, wider, prior)
    times = np.random.default_rng(0).multinomial(60_000, np.exp(logs - logsumexp(logs)))
    z = np.repeat(states, times, axis=0)[:: 60_000 // 3000]
    hyper = np.tile(family.initial_hyper()[: len(family.hyper_priors)], (len(z), 1))
    found = Prediction(family, z, values([0.8] * len(z)), with_shared(family, z, hyper))
    row = whole.family.X[5:]
    evidence = logsumexp(joint) - logsumexp(logs) + float(family.row_constants(row)[0])
    assert found.log_density(row)[0] == pytest.approx(evidence, abs=0.01)
    weights = np.exp(joint - logsumexp(joint))
    together = weights @ (more[:, :5] == more[:, 5:])
    np.testing.assert_allclose(found.similarity(row)[0], together, atol=0.01)
    alone = weights @ (more[:, :5] != more[:, 5:]).all(axis=1)
    assert found.novelty(row)[0] == pytest.approx(alone, abs=0.01)


def test_blocks_do_not_change_the_result(rng, monkeypatch):
    family = FullGaussian().bind(rng.normal(size=(7, 1)))
    hypers = np.array([family.sample_hyper(rng) for _ in Z])
    found = Prediction(family, Z, values(ALPHA), hypers)
    rows = family.transform(rng.normal(size=(11, 1)))

    def predicted():
        return found.log_density(rows), found.similarity(rows), found.memberships(rows, Z[0])

    whole = predicted()
    monkeypatch.setattr(prediction, "BLOCK", 25)
    for one, other in zip(whole, predicted(), strict=True):
        np.testing.assert_array_equal(one, other)
