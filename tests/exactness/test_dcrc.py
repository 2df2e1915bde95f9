"""DCRC's posterior: labels given the weights, both by NumPyro, Geweke's test, planted faults."""

import jax
import numpy as np
import pytest
from numpyro.infer import MCMC, NUTS, Gibbs
from scipy import stats
from scipy.special import softmax

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise
from bayesclust.inference.dcrc import gibbs
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.inference.numpyro_kernel import PartitionGibbs
from bayesclust.models.dcrc import dcrc
from tests.exactness import exact
from tests.exactness.cases import all_views, known_views, links, triplets
from tests.exactness.dcrc import (
    World,
    labels_drawn,
    on_more_items,
    posterior_at,
    posterior_of_partitions,
    put_answers,
    with_anchors,
)
from tests.exactness.generative import (
    LIMIT,
    answers_given,
    assert_agree,
    assert_noticed,
    compare_means,
    functionals_of_answers,
    standard_error,
)

N, K = 6, 3
ENTROPIES = {"separation": 2.0, "balance": 5.0}


def case(views=all_views, seed=1, K=K, d=2):
    """A problem with answers of every kind about all items but the last."""
    rng = np.random.default_rng(seed)
    answered = tuple(on_more_items(view, N) for view in views(N - 1, rng))
    return DCRCProblem(rng.normal(size=(N, d)), answered, rng.normal(size=(K, d + 1)))


def compared(problem, number, seed, chain_type=DCRCChain):
    z = labels_drawn(chain_type(problem, np.random.default_rng(seed)), number)
    states, values = posterior_at(problem)
    return exact.compare(with_anchors(z, K), with_anchors(states, K), values)


@pytest.mark.parametrize("views", [all_views, known_views])
def test_labels_given_the_weights(views):
    result = compared(case(views), 5000, 2)
    assert result.agrees, result
    assert result.number > 10


def weak_views(n, rng):
    """Known noise, since learned noise makes up for faults, under which answers decide little."""
    pairs = links(n, rng, LinkNoise(p=0.75, q=0.7))
    return pairs, triplets(n, rng, UniformNoise(eps=0.4))


class AnswersTwice(DCRCChain):
    """Counts every answer twice when single labels are drawn."""

    def sweep(self, **options):
        self.table = 2 * self.table
        super().sweep(**options)


class BlindBlocks(DCRCChain):
    """Moves blocks as if all classes were equally probable."""

    def sweep(self, **options):
        right = gibbs.move_class_blocks
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gibbs, "move_class_blocks", lambda z, p, *rest: right(z, 0 * p, *rest))
            super().sweep(**options)


@pytest.mark.parametrize("fault", [AnswersTwice, BlindBlocks])
def test_faulty_labels_are_noticed(fault):
    assert not compared(case(weak_views), 1500, 2, fault).agrees


def grid(precision, bias_scale, nodes=51, reach=6.0):
    """A weight and a bias of two classes, on a grid of their differences, and log masses."""
    bias = np.linspace(-reach, reach, nodes)
    if isinstance(precision, tuple):
        shape, rate = precision  # a normal of Gamma precision is a t; slices of equal mass
        slope = stats.t.ppf((np.arange(151) + 0.5) / 151, 2 * shape) * np.sqrt(2 * rate / shape)
        mass = np.zeros(151)
    else:
        slope, mass = bias * np.sqrt(2 / precision), -0.5 * bias**2
    differences = np.meshgrid(slope, bias * np.sqrt(2) * bias_scale, indexing="ij")
    half = np.stack(differences, axis=-1).reshape(-1, 2) / 2
    return np.stack([half, -half], axis=1), np.add.outer(mass, -0.5 * bias**2).ravel()


@pytest.mark.parametrize("precision", [0.7, (2.0, 1.5)], ids=["known", "learned precision"])
def test_weights_drawn_too_by_numpyro(precision):
    """Partitions, and the length of the difference of two classes, against sums over weights."""
    problem, prior = case(seed=3, K=2, d=1), {"precision": precision, "bias_scale": 1.5}
    blocks = [(PartitionGibbs(dcrc, problem.constraints), ["z"]), (NUTS(dcrc), None)]
    mcmc = MCMC(Gibbs(blocks), num_warmup=300, num_samples=4000, progress_bar=False)
    mcmc.run(jax.random.key(0), problem.points, 2, problem.constraints, **prior, **ENTROPIES)
    draws = {name: np.asarray(values) for name, values in mcmc.get_samples().items()}
    weights, log_mass = grid(**prior)
    partitions, values, by_weight = posterior_of_partitions(problem, weights, log_mass, **ENTROPIES)
    result = exact.compare(draws["z"], partitions, values)
    assert result.agrees, result
    assert result.number > 2
    # squares of a t, as the slope is under a learned precision, are too wild to average
    for column in (1,) if isinstance(precision, tuple) else (0, 1):
        expected = softmax(by_weight) @ (weights[:, 0, column] - weights[:, 1, column]) ** 2
        found = (draws["W"][:, 0, column] - draws["W"][:, 1, column]) ** 2
        assert abs(found.mean() - expected) < LIMIT * standard_error(found), column
    # the test can tell
    without = posterior_of_partitions(problem, weights, log_mass, separation=0.0, balance=0.0)[:2]
    assert not exact.compare(draws["z"], *without).agrees


def template(confusion=False):
    rng = np.random.default_rng(11)
    confused = ConfusionNoise(prior=[[4, 1, 2], [1, 3, 1], [1, 1, 2]])
    noise = confused if confusion else UniformNoise(eps=(2.0, 3.0))
    views = (links(6, rng, LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0))), triplets(6, rng, noise))
    points, views = rng.normal(size=(7, 1)), tuple(on_more_items(view, 7) for view in views)
    return DCRCProblem(points, views, rng.normal(size=(K, 2)))


def functionals(z, noise, views, items=(1, 6)):
    values = {f"together {j}": z[0] == z[j] for j in items}
    values |= {f"class 0 has {i}": z[i] == 0 for i in (0, items[-1])}
    return values | functionals_of_answers(views, z, noise)


def z_scores(problem, number, seed, chain_type=DCRCChain, **which):
    """Geweke's test: everything from the prior, against sweeps, each with new answers after it."""
    first, second = np.random.default_rng(seed).spawn(2)
    worlds = (World(problem, first) for _ in range(number))
    expected = [functionals(w.z, w.noise, w.problem.constraints, **which) for w in worlds]
    chain, found = World(problem, second).chain(chain_type, second), []
    for _ in range(number):
        chain.sweep()
        z = chain.draw()[0]["z"]
        put_answers(chain, answers_given(chain.problem.constraints, z, chain.noise, second))
        found.append(functionals(z, chain.noise, chain.problem.constraints, **which))
    return compare_means(expected, found)


@pytest.mark.parametrize("confusion", [False, True], ids=["eps", "confusion"])
def test_joint_distribution(confusion):
    assert_agree(z_scores(template(confusion), 1500, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize("confusion", [False, True], ids=["eps", "confusion"])
def test_joint_distribution_at_length(confusion):
    assert_agree(z_scores(template(confusion), 5000, seed=5))


class SwappedRows(ConfusionNoise):
    """Counts true "yes" as "no" when drawing the matrix."""

    def draw(self, counts, params, rng):
        return super().draw(counts[..., [0, 2, 1, 3, 4]], params, rng)


class TooHopeful(UniformNoise):
    """Forgets half of the wrong answers."""

    def _tallies(self, counts):
        return super()._tallies(counts) // np.array([2, 1])


@pytest.mark.parametrize("confusion", [False, True], ids=["eps", "confusion"])
def test_faulty_noise_is_noticed(confusion):
    problem = template(confusion)
    pairs, view = problem.constraints
    wrong = SwappedRows(prior=view.noise.prior) if confusion else TooHopeful(view.noise.eps)
    faulty = DCRCProblem(problem.points, (pairs, view.with_noise(wrong)), problem.W)
    assert_noticed(z_scores(faulty, 1500, 2))
