"""The whole model run forwards: draws from the prior, data and answers given the state, chains with exchanged data.

Data are drawn with cluster parameters written out (draw mu, Sigma, theta; then the items), never by
the predictive formulas that the samplers use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.base import Constraints
from bayesclust.families.base import BoundFamily
from bayesclust.families.mixed import BoundProduct
from bayesclust.inference.chain import Chain, TVClustProblem
from bayesclust.inference.samplers import Sampler
from tests.families.reference import draw_cluster


def data_given(
    family: BoundFamily, z: NDArray[np.int64], hyper: NDArray[np.float64], rng: Generator
) -> BoundFamily:
    """The family with data drawn anew given the partition; its base measure and units stay, and which cells are missing."""
    X = np.empty_like(family.X)
    for k in np.unique(z):
        X[z == k] = draw_cluster(family, int((z == k).sum()), hyper, rng)
    missing = np.isnan(family.X)
    if isinstance(family, BoundProduct) and any(family.atoms):
        # of one atom a column: its value is asked for unless the item has the atom
        values, atoms = np.split(np.arange(sum(family.widths[:2])), [family.widths[0]])
        missing[:, values] = missing[:, atoms] | (X[:, atoms] == 1)
    return family.with_rows(np.where(missing, np.nan, X))


def answers_given(
    views: Sequence[Constraints],
    z: NDArray[np.int64],
    noises: Sequence[dict[str, Any]],
    rng: Generator,
) -> tuple[Constraints, ...]:
    """The views with answers drawn anew: the true answer of each question through its source's confusion matrix."""
    drawn = []
    for view, noise in zip(views, noises, strict=True):
        answers = []
        for items, source in zip(view.items, view.source, strict=True):
            a, b = z[items[0]], z[items[1]]
            if view.kind == "pairwise":
                p, q = noise["p"][source], noise["q"][source]
                answers.append(rng.random() < (p if a == b else 1 - q))
                continue
            c = z[items[2]]
            truth = 0 if a == b != c else 1 if a == c != b else 2
            if "noise" in noise:
                eps = noise["noise"][source]
                row = np.where(np.arange(3) == truth, 1 - eps, eps / 2)
            else:
                row = noise["confusion"][source][truth]
            answers.append(rng.choice(3, p=row))
        drawn.append(view.with_answers(np.array(answers, dtype=np.int64)))
    return tuple(drawn)


class World:
    """Everything unknown, drawn from the prior, and the problem that follows from it.

    Parameters
    ----------
    name : str
    template : TVClustProblem
        Its priors, base measure and questions are kept; its data and answers are drawn anew.
    rng : Generator
    """

    def __init__(self, template: TVClustProblem, rng: Generator) -> None:
        prior = template.partition_prior
        self.values = prior.sample_prior(rng)
        self.z = prior.sample(template.n_items, self.values, rng)
        self.hyper = template.family.sample_hyper(rng)
        self.noise = [each.noise.sample_prior(each.n_sources, rng) for each in template.constraints]
        family = data_given(template.family, self.z, self.hyper, rng)
        answered = answers_given(template.constraints, self.z, self.noise, rng)
        self.problem = replace(template, family=family, constraints=answered)

    def chain(self, sampler: Sampler, rng: Generator, moves: Any) -> Chain:
        """A chain that starts at the truth."""
        chain = sampler(self.problem, np.unique(self.z, return_inverse=True)[1], rng, moves)
        state = chain.state
        state.values, state.hyper, state.noise = self.values, self.hyper, self.noise
        put_data_under(chain, self.problem)
        return chain


def put_data_under(chain: Chain, problem: TVClustProblem) -> None:
    """Leave a chain where it is, with other data and answers."""
    state = chain.state
    state.use(problem)
    state.noise = state.noise  # the table follows from the problem too
    state.assign(np.unique(state.assignment.z, return_inverse=True)[1])
