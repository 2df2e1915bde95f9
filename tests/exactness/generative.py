"""The whole model run forwards, and what compares it with chains: Geweke's z-scores, ranks.

Data are drawn with cluster parameters written out (draw mu, Sigma, theta; then the items), never by
the predictive formulas that the samplers use.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import chisquare

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.rules import UncertainRules
from bayesclust.families.base import BoundFamily
from bayesclust.families.mixed import BoundProduct
from bayesclust.inference.batches import BatchProblem
from bayesclust.inference.chain import Chain, TVClustProblem, TwoLevelProblem
from bayesclust.inference.samplers import Sampler
from tests.families.reference import draw_cluster

Rows = Sequence[dict[str, Any]]
LIMIT = 4.5
"""A right sampler exceeds it once in thousands of runs, among some thirty functionals."""
DRAWS, BINS = 9, 5
"""Draws among which the truth is ranked, and bars of the histogram of ranks: few and far apart."""


def data_given(
    family: BoundFamily, z: NDArray[np.int64], hyper: NDArray[np.float64], rng: Generator
) -> BoundFamily:
    """The family with data drawn anew given the partition; missing cells stay missing."""
    X = np.empty_like(family.X)
    for k in np.unique(z):
        X[z == k] = draw_cluster(family, int((z == k).sum()), hyper, rng)
    missing = np.isnan(family.X)
    if isinstance(family, BoundProduct) and any(family.atoms):
        # of one atom a column: an item with the atom has no value
        values, atoms = np.split(np.arange(sum(family.widths[:2])), [family.widths[0]])
        missing[:, values] = missing[:, atoms] | (X[:, atoms] == 1)
    return family.with_rows(np.where(missing, np.nan, X))


def answers_given(
    views: Sequence[Constraints],
    z: NDArray[np.int64],
    noises: Sequence[dict[str, Any]],
    rng: Generator,
) -> tuple[Constraints, ...]:
    """The views with answers drawn anew, through each source's confusion matrix."""
    drawn = []
    for view, noise in zip(views, noises, strict=True):
        if view.given is not view:  # some queries are hard: their answers are of one source more
            drawn += answers_to_hard(view.given, z, noise, rng)
            continue
        answers = []
        classes = (
            {
                k: rng.choice(len(view.noise.class_weights), p=view.noise.class_weights)
                for k in np.unique(z)
            }
            if view.kind == "label"
            else {}
        )
        for at, (items, source) in enumerate(zip(view.items, view.source, strict=True)):
            if isinstance(view, UncertainRules):
                p, q = noise["p"][source], noise["q"][source]
                holds = view.with_answers(np.ones(len(view), bool)).statements()[at].holds(z)
                answers.append(rng.random() < (p if holds else 1 - q))
                continue
            if view.kind == "label":
                row = noise["confusion"][source][classes[z[items[0]]]]
                answers.append(rng.choice(len(row), p=row))
                continue
            a, b = z[items[0]], z[items[1]]
            if view.kind == "pairwise":
                p, q = noise["p"][source], noise["q"][source]
                answers.append(rng.random() < (p if a == b else 1 - q))
                continue
            if view.kind == "graded":
                answers.append(rng.choice(12, p=noise["grades"][source][int(a == b)]))
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


def answers_to_hard(
    view: Constraints, z: NDArray[np.int64], noise: dict[str, Any], rng: Generator
) -> list[Constraints]:
    """A view with answers drawn anew, and the queries that are hard."""
    is_hard = {query: rng.random() < noise["hard_share"] for query in map(tuple, view.items)}
    wider = copy(view)
    wider.source = np.array(
        [
            view.n_sources if is_hard[tuple(items)] else source
            for items, source in zip(view.items, view.source, strict=True)
        ]
    )
    both = {
        name: np.concatenate([noise[name], noise[f"hard_{name}"][None]])
        for name in view.noise.parameters
    }
    (answered,) = answers_given([wider], z, [both], rng)
    return [view.with_answers(answered.answers).evidence()]


def functionals_of_answers(
    views: Sequence[Constraints], z: NDArray[np.int64], noises: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Functions of the answers and the noise: how many are right, and how often each is given."""
    found: dict[str, Any] = {}
    for used, parameters in zip(views, noises, strict=True):
        view = used.given
        if view is not used:
            wrong = view.said != view.truths(z)
            times = np.bincount(np.unique(view.items, axis=0, return_inverse=True)[1], wrong)
            found["wrong together"] = together = (times * (times - 1)).mean()
            found["hard and wrong together"] = parameters["hard_share"] * together
        if view.kind == "label":  # pairs of items that agree on both
            beside = z[view.items[:, 0]][:, None] == z[view.items[:, 0]]
            alike = view.answers[:, None] == view.answers
            right = (beside == alike).mean()
        else:
            right = (view.said == view.truths(z)).mean()
        found[f"{view.name} right"] = right
        for name, array in parameters.items():
            found |= {f"{name}{at}": value for at, value in np.ndenumerate(array)}
            found[f"{name} right"] = array.flat[0] * right
        for code, word in enumerate(view.vocabulary):
            found[f"{view.name} {word}"] = (view.answers == code).mean()
    return found


class World:
    """Everything unknown, drawn from the template's priors, and the problem that follows."""

    def __init__(self, template: TVClustProblem, rng: Generator) -> None:
        prior = template.partition_prior
        self.values = prior.sample_prior(rng)
        self.within: dict[str, float] = {}
        two_levels = isinstance(template, TwoLevelProblem)
        if two_levels:
            self.within = template.within.sample_prior(rng)
        given = {"batch": template.batch} if isinstance(template, BatchProblem) else {}
        self.z = self.components = prior.sample(template.n_items, self.values, rng, **given)
        if two_levels:
            self.components = np.empty_like(self.z)
            for g in np.unique(self.z):
                own = self.z == g
                parts = template.within.sample(int(own.sum()), self.within, rng)
                self.components[own] = parts + self.z.size * g
        self.hyper = template.family.sample_hyper(rng)
        self.noise = [each.noise.sample_prior(each.n_sources, rng) for each in template.constraints]
        family = data_given(template.family, self.components, self.hyper, rng)
        answered = answers_given(template.constraints, self.z, self.noise, rng)
        self.problem = replace(template, family=family, constraints=answered)

    def chain(self, sampler: Sampler, rng: Generator, moves: Any) -> Chain:
        """A chain that starts at the truth."""
        chain = sampler(self.problem, np.unique(self.z, return_inverse=True)[1], rng, moves)
        state = chain.state
        state.values, state.hyper, state.noise = self.values, self.hyper, self.noise
        if self.within:
            state.within = self.within
        put_data_under(chain, self.problem)
        return chain


def put_data_under(chain: Chain, problem: TVClustProblem) -> None:
    """Leave a chain where it is, with other data and answers."""
    state = chain.state
    state.use(problem)
    state.noise = state.noise  # the table follows from the problem too
    state.assign(np.unique(state.assignment.z, return_inverse=True)[1])


def columns(rows: Rows) -> dict[str, NDArray[np.float64]]:
    """Values of each functional, from rows of all functionals."""
    return {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}


def standard_error(values: NDArray[np.float64], batches: int = 40) -> float:
    """Standard error of the mean of a chain's values, by batch means."""
    length = len(values) // batches
    means = values[: batches * length].reshape(batches, length).mean(axis=1)
    return max(means.std(ddof=1), values.std() / np.sqrt(length)) / np.sqrt(batches)


def compare_means(independent: Rows, chain: Rows) -> dict[str, float]:
    """z-scores of a chain's means beside those of independent draws, of all that varies."""
    expected, found = columns(independent), columns(chain)
    scores = {}
    for key, values in expected.items():
        if values.std() > 0:
            error = np.hypot(standard_error(found[key]), values.std() / np.sqrt(len(values)))
            scores[key] = float((found[key].mean() - values.mean()) / error)
    return scores


def assert_agree(scores: dict[str, float]) -> None:
    """No functional differs."""
    wrong = {key: round(score, 1) for key, score in scores.items() if not abs(score) < LIMIT}
    assert not wrong, wrong


def assert_noticed(scores: dict[str, float]) -> None:
    """Some functional differs, and clearly so."""
    assert max(map(abs, scores.values())) > LIMIT + 1


def rank(truth: dict[str, Any], draws: Rows, rng: Generator) -> dict[str, int]:
    """How many draws are below the truth, ties broken at random."""
    return {
        key: sum(draw[key] < value for draw in draws)
        + int(rng.integers(sum(draw[key] == value for draw in draws) + 1))
        for key, value in truth.items()
    }


def assert_uniform(ranks: Rows) -> None:
    """A right sampler fails once in a thousand runs, however many quantities there are."""
    found = p_values(ranks)
    assert {key: value for key, value in found.items() if value < 1e-3 / len(found)} == {}


def p_values(ranks: Rows) -> dict[str, float]:
    """P-values of the rank histograms being flat."""
    return {
        key: float(chisquare(np.histogram(values, bins=BINS, range=(0, DRAWS + 1))[0]).pvalue)
        for key, values in columns(ranks).items()
    }
