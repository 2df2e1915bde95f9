"""The likelihood of an item given all others, against enumeration of all partitions."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayesclust as bc
from bayesclust.families import SphericalGaussian
from bayesclust.inference.prediction import Prediction
from bayesclust.models import log_joint
from bayesclust.partition_priors import DirichletProcess, Nested, PitmanYor
from bayesclust.predictive import _items
from tests.exactness.cases import links, triplets
from tests.exactness.exact import nested_partitions, partitions

N, DRAWS = 4, 800
AMONG, WITHIN = {"concentration": 1.2}, {"concentration": 0.8, "discount": 0.3}


@pytest.mark.parametrize("two_levels", [False, True])
def test_weights_leave_an_item_out_exactly(two_levels, rng):
    """1 / p(x_i | rest) has the posterior mean 1 / p(x_i | all other items, answers)."""
    X = rng.normal(size=(N, 1)) * 1.5
    family = SphericalGaussian(0.5, 8.0, 1.0).bind(X)
    hyper, views = family.initial_hyper(), [links(N, rng, size=4), triplets(N, rng, size=4)]
    noise = [view.noise.initial(view.n_sources) for view in views]
    prior = Nested(DirichletProcess(1.2), PitmanYor(0.8, 0.3))
    states = nested_partitions(N) if two_levels else [(z, z) for z in partitions(N)]
    whole, without = np.empty(len(states)), np.empty((len(states), N))
    for row, (parts, z) in enumerate(states):
        given = {"constraints": views, "partition_prior": prior, "hyper": hyper, "noise": noise}
        given |= {"values": AMONG, "within_values": WITHIN}
        whole[row] = log_joint(z, family, parts if two_levels else None, **given)
        for i in range(N):
            own, other = parts == parts[i], (parts == parts[i]) & (np.arange(N) != i)
            both = [family.log_marginal(family.X[at], hyper) for at in (own, other)]
            without[row, i] = whole[row] - both[0] + both[1] * other.any() - family.log_constant / N
    parts, z = (np.repeat(np.array(side), DRAWS, axis=0) for side in zip(*states, strict=True))
    more = (parts, prior.within, [WITHIN] * len(z)) if two_levels else ()
    at = np.tile(hyper, (len(z), 1))
    drawn = Prediction(family, z, [AMONG] * len(z), at, prior.among, *more)
    logs = [
        np.tile(np.log(view.noise.confusion(own)), (len(z), 1, 1, 1))
        for view, own in zip(views, noise, strict=True)
    ]
    inverse = np.exp(-_items(drawn, list(zip(views, logs, strict=True)), rng))
    inverse = inverse.reshape(len(states), DRAWS, N)
    weight = np.exp(whole - logsumexp(whole))
    error = np.sqrt(weight**2 @ (inverse.var(axis=1) / DRAWS))
    exact = np.exp(logsumexp(without, axis=0) - logsumexp(whole))
    assert (np.abs(weight @ inverse.mean(axis=1) - exact) < 4.5 * error).all()
    assert (error < 0.05 * exact).all()


@pytest.mark.parametrize("model", ["single", "mixture"])
def test_replicates_and_priors_are_those_of_the_model(model, rng):
    y = np.repeat([0, 1], 10)
    X = rng.normal(size=(20, 2)) + 5.0 * y[:, None]
    pairs = bc.PairwiseConstraints.sample(y, size=30, error_rate=0.1, seed=0)
    short = {"num_chains": 2, "num_warmup": 30, "num_samples": 300, "progress": False}
    est = bc.TVClust(cluster_model=model, random_state=0, **short).fit(X, constraints=pairs)
    tree = est.to_arviz(num_draws=200)
    draws, prior = tree["posterior"], tree["prior"]
    same = pairs.truths(draws["z"].values)
    expected = np.where(same == 1, draws["p"].values, 1 - draws["q"].values).mean()
    assert tree["posterior_predictive"]["links"].values.mean() == pytest.approx(expected, abs=0.02)
    for name, made in prior.data_vars.items():
        assert made.dims == draws[name].dims
    a, b = est._problem.constraints[0].noise.rows["p"].values[0]
    assert prior["p"].values.mean() == pytest.approx(a / (a + b), abs=0.1)
    density = stats.beta(a, b).logpdf(draws["p"].values[..., 0])
    a, b = est._problem.constraints[0].noise.rows["q"].values[0]
    density += stats.beta(a, b).logpdf(draws["q"].values[..., 0])
    np.testing.assert_allclose(tree["log_prior"]["links_noise"], density)
    again = est.to_arviz(num_draws=200)
    assert again["log_likelihood"].equals(tree["log_likelihood"])
