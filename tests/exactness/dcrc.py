"""DCRC on a few items: exact posteriors by enumeration, and worlds drawn from the prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import compile_sites
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.inference.dcrc.weights import log_classes
from bayesclust.models.dcrc import unnamed
from bayesclust.typing import FloatArray, IntArray
from tests.exactness.exact import codes, log_answers
from tests.exactness.generative import answers_given


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


def posterior_at(problem: DCRCProblem) -> tuple[IntArray, FloatArray]:
    """Every labeling and its log posterior, up to a constant, with the weights held."""
    n, K = len(problem.points), len(problem.W)
    states = labelings(n, K)
    log_p = log_classes(problem.W, problem.points)
    return states, log_p[np.arange(n), states].sum(axis=1) + log_answers(
        problem.constraints, states
    )


def posterior_of_partitions(
    problem: DCRCProblem,
    weights: FloatArray,
    log_mass: FloatArray,
    separation: float,
    balance: float,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Every partition into at most K clusters, its log posterior, and that of each of the weights.

    `weights` (S, K, d + 1) with log masses under the Gaussian alone; the entropies are added here.
    """
    n, K = len(problem.points), len(problem.W)
    states = labelings(n, K)
    said = log_answers(problem.constraints, states)
    log_p = np.array([log_classes(W, problem.points) for W in weights])
    p = np.exp(log_p)
    entropy = -(p * log_p).sum(axis=2)[:, unnamed(problem.constraints, n)].mean(axis=1)
    mean = p.mean(axis=1)
    mass = log_mass - separation * entropy - balance * (mean * np.log(mean)).sum(axis=1)
    value = sum(log_p[:, i, states[:, i]] for i in range(n)) + mass[:, None]
    number = codes(states)
    partitions = states[np.unique(number, return_index=True)[1]]
    by_state = logsumexp(value, axis=0) + said
    values = [logsumexp(by_state[number == code]) for code in codes(partitions)]
    return partitions, np.array(values), logsumexp(value + said, axis=1)


class World:
    """Labels, noise and answers, drawn from the prior."""

    def __init__(self, template: DCRCProblem, rng: Generator) -> None:
        p = np.exp(log_classes(template.W, template.points))
        self.z = np.array([rng.choice(len(row), p=row) for row in p])
        self.noise = [view.noise.sample_prior(view.n_sources, rng) for view in template.constraints]
        views = answers_given(template.constraints, self.z, self.noise, rng)
        self.problem = replace(template, constraints=views)

    def chain(self, chain_type: type[DCRCChain], rng: Generator) -> DCRCChain:
        """A chain at the truth."""
        chain = chain_type(self.problem, rng)
        chain.z, chain.noise = self.z.copy(), self.noise
        put_answers(chain, self.problem.constraints)
        return chain


def put_answers(chain: DCRCChain, constraints: Sequence[Constraints]) -> None:
    """Leave a chain where it is, with other answers to the same questions."""
    chain.problem = replace(chain.problem, constraints=tuple(constraints))
    chain.sites = compile_sites(constraints, len(chain.problem.points))
    chain.take_up(chain.noise)


def labels_drawn(chain: DCRCChain, number: int) -> IntArray:
    """Labels (number, n) that a chain visits."""
    for _ in range(100):
        chain.sweep()
    z = np.empty((number, len(chain.z)), np.int64)
    for row in range(number):
        chain.sweep()
        z[row] = chain.draw()[0]["z"]
    return z
