"""Geweke's joint test (2004): two ways to simulate parameters, data and answers must agree.

The marginal-conditional simulator draws everything from the prior, independently. The
successive-conditional one alternates one sweep of the chain with data and answers drawn anew given
its state. Any functional of them has the same mean under both if, and only if, the sweep leaves the
posterior in place; differences are measured in standard errors that allow for autocorrelation.
Every test here also plants a fault, which must be noticed.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise
from bayesclust.families import FAMILIES
from bayesclust.families.base import BoundFamily
from bayesclust.inference.chain import Noise, TVClustProblem
from bayesclust.inference.moves.parameter_scan import ParameterScan
from bayesclust.inference.moves.scan import Scan
from bayesclust.inference.samplers import collapsed_chain, default_moves, gibbs_chain
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import bound_case, double_new, faulty, halve_new, links, triplets
from tests.exactness.generative import (
    World,
    answers_given,
    assert_agree,
    assert_noticed,
    compare_means,
    data_given,
    functionals_of_answers,
    put_data_under,
)
from tests.exactness.test_enumeration import each_chain


def template(name, *, confusion=False, n=7):
    rng = np.random.default_rng(11)
    confused = ConfusionNoise(prior=[[4, 1, 2], [1, 3, 1], [1, 1, 2]])
    noise = confused if confusion else UniformNoise(eps=(2.0, 3.0))
    views = (links(n, rng, LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0))), triplets(n, rng, noise))
    return TVClustProblem(bound_case(name, n, 2, rng), views, DirichletProcess((2.0, 1.0)))


def functionals(problem, z, values, hyper, noise, components=None, within=None):
    """Bounded or light-tailed functions of the state, the answers and the data."""
    sizes = np.bincount(np.unique(z, return_inverse=True)[1])
    number = len(sizes)
    found = {
        "K": number,
        "K^2": number**2,
        "largest": sizes.max(),
        "singletons": (sizes == 1).sum(),
        "together": z[0] == z[1],
    }
    for name, value in values.items():
        found |= {
            name: value,
            f"log {name}": np.log(value),
            f"K log {name}": number * np.log(value),
        }
    for prior, value in zip(problem.family.hyper_priors, hyper, strict=False):
        found |= {f"log {prior.name}": np.log(value), f"log {prior.name}^2": np.log(value) ** 2}
    if problem.family.n_shared:
        found |= shared_functionals(problem.family.covariance(hyper), number)
    found |= functionals_of_answers(problem.constraints, z, noise)
    X = np.nan_to_num(problem.family.X)  # missing cells stay where they are
    found["spread"] = np.tanh(X.std(axis=0).mean())
    near = np.exp(-((X[0] - X[1]) ** 2).sum())
    found["near"] = near * (z[0] == z[1])
    if within:
        beta, below = within["concentration"], len(np.unique(components))
        beside = components[0] == components[1]
        found |= {"log beta": np.log(beta), "M": below, "M log beta": below * np.log(beta)}
        found |= {"side by side": beside, "near below": near * beside}
    return found


def shared_functionals(covariance, number):
    """Light-tailed functions of a covariance that all clusters share."""
    logdet, variances = np.linalg.slogdet(covariance)[1], np.diag(covariance)
    values = {"log|W|": logdet, "log|W|^2": logdet**2, "K log|W|": number * logdet}
    values |= {f"log W{j}": np.log(value) for j, value in enumerate(variances)}
    return values | {"correlation": covariance[0, -1] / np.sqrt(variances[0] * variances[-1])}


def marginal_conditional(problem, number, rng):
    rows = []
    for _ in range(number):
        world = World(problem, rng)
        at = world.z, world.values, world.hyper, world.noise, world.components, world.within
        rows.append(functionals(world.problem, *at))
    return rows


def successive_conditional(problem, number, rng, moves, sampler=collapsed_chain):
    chain, rows = World(problem, rng).chain(sampler, rng, moves), []
    for _ in range(number):
        chain.sweep()
        state = chain.state
        within = getattr(state, "within", None)
        family = data_given(state.problem.family, state.assignment.z, state.hyper, rng)
        views = answers_given(state.problem.constraints, state.labels, state.noise, rng)
        put_data_under(chain, replace(state.problem, family=family, constraints=views))
        at = state.labels, state.values, state.hyper, state.noise, state.assignment.z, within
        rows.append(functionals(state.problem, *at))
    return rows


def z_scores(problem, number, seed, moves=None, sampler=collapsed_chain, independent=None):
    """Of a chain beside draws from the prior, which may be given."""
    moves = default_moves(sampler, problem.n_items) if moves is None else moves
    first, second = np.random.default_rng(seed).spawn(2)
    if independent is None:
        independent = marginal_conditional(problem, number, first)
    chain = successive_conditional(problem, number, second, moves, sampler)
    return compare_means(independent, chain)


@cache
def independent(name):
    """Draws from the prior that all tests of a template share."""
    return marginal_conditional(template(name), 2500, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "sampler"),
    [
        ("gaussian", collapsed_chain),
        ("multinomial", gibbs_chain),
        ("mixed with holes", collapsed_chain),
    ],
)
def test_joint_distribution(name, sampler):
    drawn = independent(name)
    assert_agree(z_scores(template(name), 2000, 1, sampler=sampler, independent=drawn))


def one_cluster_too_many(state):
    """Draw the concentration as if there were a cluster more, and as many items."""
    sizes = state.sizes().tolist()
    largest = sizes.index(max(sizes))
    sizes[largest] -= 1
    prior = state.problem.partition_prior
    state.values = prior.update(state.values, [np.array([*sizes, 1])], state.rng)


def answers_twice(state):
    """Count every answer twice wherever items or groups of them move, until the noise is drawn."""
    state.table = 2 * state.table


class Swapped(LinkNoise):
    """Takes the answer "same" for "different" when drawing p and q."""

    def draw(self, counts, params, rng):
        return super().draw(counts[[1, 0, 3, 2]], params, rng)


DOUBLE_NEW = {"before": double_new, "after": halve_new}
# the moves that are right mend much of what the scan does to answers
FAULTS = {
    "new clusters twice": (faulty(Scan, **DOUBLE_NEW), 2500),
    "new clusters twice, parameters drawn": (
        faulty(ParameterScan, gibbs_chain, **DOUBLE_NEW),
        2500,
    ),
    "a cluster too many": (faulty(Noise, after=one_cluster_too_many), 2500),
    "answers twice": (faulty(Scan, before=answers_twice), 10_000),
}


def assert_faulty(problem, number, seed, sampler=collapsed_chain):
    # a longer chain has as many draws beside it
    given = independent("gaussian") if number <= 2500 else None
    assert_noticed(z_scores(problem, number, seed, sampler=sampler, independent=given))


# that answers count, and new clusters once, is seen by enumeration in tests/skeletons too
SLOW = ("answers twice", "new clusters twice, parameters drawn")


@pytest.mark.parametrize(
    "fault",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in FAULTS],
)
def test_faulty_chain_is_noticed(fault):
    sampler, number = FAULTS[fault]
    assert_faulty(template("gaussian"), number, 2, sampler)


def test_faulty_noise_is_noticed():
    problem = template("gaussian")
    pairs, *others = problem.constraints
    wrong = pairs.with_noise(Swapped(pairs.noise.p, pairs.noise.q))
    assert_faulty(replace(problem, constraints=(wrong, *others)), 1500, 3)


def test_faulty_hyper_prior_is_noticed(monkeypatch):
    right = BoundFamily.log_hyper_prior
    # the density of the parameter in place of that of its logarithm
    monkeypatch.setattr(
        BoundFamily, "log_hyper_prior", lambda self, hyper: right(self, hyper) - np.log(hyper).sum()
    )
    assert_faulty(template("gaussian"), 1500, 4)


def test_parts_that_get_each_others_hyper_parameters_are_noticed(monkeypatch):
    case = template("mixed with holes")
    right = type(case.family).set_hyper
    monkeypatch.setattr(
        type(case.family),
        "set_hyper",
        lambda self, *args: right(self, args[0], np.roll(args[1], 1)),
    )
    drawn = independent("mixed with holes")
    assert_noticed(z_scores(case, 1000, seed=2, independent=drawn))


# variants that the whole model can simulate
SIMULATED = ("mixed", "mixed with holes", "gaussian_diagonal with holes", "hurdle")


@pytest.mark.slow
@each_chain
@pytest.mark.parametrize("name", [*FAMILIES, *SIMULATED])
def test_joint_distribution_at_length(name, sampler):
    problem = template(name, confusion=name == "gaussian")
    assert_agree(z_scores(problem, 5000, seed=6, sampler=sampler))
