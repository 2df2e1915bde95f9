"""DCRC on a few items: exact posteriors by enumeration, and worlds drawn from the prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.models.dcrc import WeightPrior, class_terms, unnamed
from bayesclust.typing import FloatArray, IntArray
from tests.exactness.exact import codes
from tests.exactness.generative import answers_given

CHUNK = 20_000


def on_more_items(view: Constraints, n: int) -> Constraints:
    """The same view on n items, the last ones being named by no answer."""
    return type(view)(
        view.items, view.answers, n, source=view.source, noise=view.noise, name=view.name
    )


def labelings(n: int, K: int) -> IntArray:
    """All labelings, shape (K^n, n)."""
    return np.array(list(product(range(K), repeat=n)), dtype=np.int64)


def with_anchors(z: IntArray, K: int) -> IntArray:
    """Labelings with one item of each class in front, so that they differ as partitions too."""
    return np.concatenate([np.tile(np.arange(K), (len(z), 1)), z], axis=1)


def log_answers(views: Sequence[Constraints], states: IntArray) -> FloatArray:
    """log p(answers | z) of all states, noise integrated out."""
    return np.sum([view.noise.log_marginal(view.counts(states)) for view in views], axis=0)


def posterior_at(problem: DCRCProblem) -> tuple[IntArray, FloatArray]:
    """Every labeling and its log posterior, up to a constant, with the weights held."""
    n, K = len(problem.points), len(problem.W)
    states = labelings(n, K)
    log_p = class_terms(np, problem.W, problem.points, unnamed(problem.constraints, n)).log_p
    return states, log_p[np.arange(n), states].sum(axis=1) + log_answers(
        problem.constraints, states
    )


def posterior_of_partitions(
    problem: DCRCProblem, weights: FloatArray, log_mass: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Every partition into at most K clusters, its log posterior, and that of each of the weights.

    `weights` (S, K, d + 1) with log masses under the Gaussian alone; the entropies are added here.
    """
    n, K = len(problem.points), len(problem.W)
    prior, free, states = problem.prior, unnamed(problem.constraints, n), labelings(n, K)
    assert prior is not None
    said = log_answers(problem.constraints, states)
    by_state, by_weight = np.full(len(states), -np.inf), np.empty(len(weights))
    for first in range(0, len(weights), CHUNK):
        some = slice(first, first + CHUNK)
        terms = [class_terms(np, W, problem.points, free) for W in weights[some]]
        log_p = np.array([term.log_p for term in terms])
        mass = log_mass[some] + np.array([prior.entropies(np, term) for term in terms])
        value = sum(log_p[:, i, states[:, i]] for i in range(n)) + mass[:, None]
        by_state = np.logaddexp(by_state, logsumexp(value, axis=0))
        by_weight[some] = logsumexp(value + said, axis=1)
    number = codes(states)
    partitions = states[np.unique(number, return_index=True)[1]]
    values = [logsumexp((by_state + said)[number == code]) for code in codes(partitions)]
    return partitions, np.array(values), by_weight


def weights_from_prior(
    prior: WeightPrior, points: FloatArray, free: Any, K: int, rng: Generator
) -> tuple[FloatArray, float]:
    """W and its precision from a proper prior, entropies included, by rejection."""
    most = (
        0.0 if prior.proportions is not None else prior.balance * np.log(K)
    )  # of -KL, or of an entropy
    while True:
        precision = prior.precision
        if isinstance(precision, tuple):
            precision = rng.gamma(precision[0]) / precision[1]
        scale = np.append(np.full(points.shape[1], precision**-0.5), prior.bias_scale)
        W: FloatArray = rng.normal(size=(K, len(scale))) * scale
        if np.log(rng.random()) < prior.entropies(np, class_terms(np, W, points, free)) - most:
            return W, precision


class World:
    """Weights, labels, noise and answers, drawn from the prior."""

    def __init__(self, template: DCRCProblem, rng: Generator) -> None:
        points, K = template.points, len(template.W)
        free = unnamed(template.constraints, len(points))
        self.W, self.precision = template.W, np.nan
        if template.prior is not None:
            self.W, self.precision = weights_from_prior(template.prior, points, free, K, rng)
        log_p = class_terms(np, self.W, points, free).log_p
        self.z = np.array([rng.choice(K, p=np.exp(row)) for row in log_p])
        self.noise = [view.noise.sample_prior(view.n_sources, rng) for view in template.constraints]
        views = answers_given(template.constraints, self.z, self.noise, rng)
        self.problem = DCRCProblem(points, views, self.W, template.prior)

    def chain(self, chain_type: type[DCRCChain], rng: Generator) -> DCRCChain:
        """A chain at the truth."""
        chain = chain_type(self.problem, rng)
        chain.z, chain.noise = self.z.copy(), self.noise
        if chain.sampler is not None:
            chain._penalise(self.precision)
        put_answers(chain, self.problem.constraints)
        return chain


def put_answers(chain: DCRCChain, constraints: Sequence[Constraints]) -> None:
    """Leave a chain where it is, with other answers to the same questions."""
    chain.problem = replace(chain.problem, constraints=tuple(constraints))
    chain.sites = compile_sites(constraints, len(chain.problem.points))
    chain.table = stack_tables(constraints, chain.noise)


def labels_drawn(chain: DCRCChain, number: int, warmup: int = 100) -> tuple[IntArray, FloatArray]:
    """Labels (number, n) and weights (number, K, d + 1) that a chain visits."""
    for _ in range(warmup):
        chain.sweep(adapt=True)
    z, W = np.empty((number, len(chain.z)), np.int64), np.empty((number, *chain.W.shape))
    for row in range(number):
        chain.sweep()
        z[row], W[row] = chain.draw()[0]["z"], chain.W
    return z, W
