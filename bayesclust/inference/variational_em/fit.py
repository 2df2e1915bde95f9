"""The search for the highest bound: several starts for a few iterations, the best of them to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from threadpoolctl import threadpool_limits

from bayesclust.constraints.base import Constraints
from bayesclust.inference.limits.confidence import rows_of
from bayesclust.inference.limits.hard_dcrc import FALLING_EPS, IMPOSSIBLE, agreement_table
from bayesclust.inference.variational_em.settings import EMSettings
from bayesclust.inference.variational_em.starts import start_weights
from bayesclust.inference.variational_em.task import Ascent, NamedAnswers
from bayesclust.inference.variational_em.weights import WeightObjective, log_softmax
from bayesclust.typing import Counts, FloatArray, IntArray

STAGES = ((3, 6, 1.0, 0.0), (2, 6, 0.3, 0.3), (2, 6, 0.6, 0.6), (2, 15, 1.0, 1.0))
"""How a start is brought up: EM iterations, L-BFGS iterations in each, and the weight of answers in general and of "dnk".

"dnk" is the commonest answer, and one single cluster explains it: heard from the start, it freezes
the first partition that comes. Left out first, then raised with all other answers together, it led
to higher bounds (balance, letters: by .05 to .2 nats per answer) than as many iterations at full
weight.
"""
ROUGH_ANSWERS, ROUGH_FREE = 5000, 2000
"""Starts are compared on at most so many answers, and so many of the items that none of these names."""


@dataclass(frozen=True)
class EMFit:
    """The solution that was found.

    Parameters
    ----------
    W : ndarray of shape (K, d + 1)
        Weights; the last column holds the biases.
    q : ndarray of shape (n, K)
        Distribution of each label: of items that answers name the mean field, of the others P(y |
        x; W).
    counts : list of ndarray
        Expected counts of each view's answers by code and pattern.
    path : ndarray
        The bound after each E-step and M-step under the final noise model; it never falls.
    converged : bool
    proportions : ndarray of shape (K,), or None
        Sizes that the clusters were drawn to, where they were learned.
    """

    W: FloatArray
    q: FloatArray
    counts: list[Counts]
    path: FloatArray
    converged: bool
    proportions: FloatArray | None


def fit_em(
    points: FloatArray,
    constraints: Sequence[Constraints],
    n_clusters: int,
    settings: EMSettings,
    rng: Generator,
    *,
    binding: bool = False,
) -> EMFit:
    """Maximise the bound.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Features on one scale.
    constraints : sequence of Constraints
        With their noise models: known noise stays as it is, a prior is learned from.
    n_clusters : int
    settings : EMSettings
    rng : Generator
    binding : bool, default False
        Take answers as never wrong, whatever the noise models say: eps falls to 0 in steps, or,
        with ``settings.literal``, is 0 from the first sweep.

    Returns
    -------
    EMFit
    """
    answers = NamedAnswers(constraints, len(points))
    features, order = named_first(points, answers.items)
    whole = _objective(features, answers, settings)
    tables = _tables(answers, binding, settings.literal)
    few, some = answers, features
    if answers.n_answers > ROUGH_ANSWERS:
        few = NamedAnswers(_thinned_views(constraints, rng), len(points))
        some = named_first(points, few.items)[0]
    if len(some) > len(few.items) + ROUGH_FREE:
        some = _thinned(some, len(few.items), rng)
    rough, first = _objective(some, few, settings), _tables(few, binding, settings.literal)[0]

    def begin(W: FloatArray) -> Ascent:
        ascent = Ascent(few, rough, settings, W, first)
        for iterations, steps, weight, unsure in STAGES if first is not None else STAGES[-1:]:
            table = (
                first if first is None else first * np.where(few.unsure, unsure, weight)[:, None]
            )
            ascent.turn_to(rough, table)
            ascent.run(iterations, steps)
        return ascent

    def finish(ascent: Ascent) -> tuple[Ascent, bool]:
        if few is not answers:
            ascent = Ascent(answers, whole, settings, ascent.W)
        converged = False
        for table in tables:
            ascent.turn_to(whole, table)
            converged = ascent.run(settings.max_iter)
        return ascent, converged

    with threadpool_limits(limits=1):
        weights = start_weights(features, n_clusters, settings.starts, rng)
        ascents = _highest(_side_by_side(begin, weights, settings.n_jobs), settings.kept)
        if few is not answers:
            # with a part of the answers to the end, which is cheap: with all of them little is left
            # to do
            _side_by_side(lambda ascent: ascent.run(settings.max_iter), ascents, settings.n_jobs)
            ascents = _highest(ascents, 1)
        found = _side_by_side(finish, ascents, settings.n_jobs)
        best, converged = max(found, key=lambda pair: pair[0].path[-1])
        if settings.balance and settings.proportions and answers.n_answers:
            # once: learned again from what follows, sizes reinforce themselves, and small clusters
            # fade
            best.turn_to(replace(whole, proportions=_shares(best.q)), tables[-1])
            converged = best.run(settings.max_iter)
    q = np.empty((len(points), n_clusters))
    q[order] = np.exp(log_softmax(best.W @ features.T)).T
    q[answers.items] = best.q
    counts = (
        answers.counts(best.q) if constraints and answers.n_answers else _no_counts(constraints)
    )
    return EMFit(best.W, q, counts, np.array(best.path), converged, best.objective.proportions)


def _objective(
    features: FloatArray, answers: NamedAnswers, settings: EMSettings
) -> WeightObjective:
    m = max(answers.n_answers, 1)
    entropies = m * settings.tau
    return WeightObjective(
        features,
        len(answers.items),
        m * settings.penalty,
        entropies,
        entropies if settings.balance else 0.0,
    )


def named_first(points: FloatArray, named: IntArray) -> tuple[FloatArray, IntArray]:
    """Features with a column of ones, named items first, and the items in that order."""
    order = np.append(named, np.setdiff1d(np.arange(len(points)), named))
    return np.column_stack([points, np.ones(len(points))])[order], order


def _thinned_views(constraints: Sequence[Constraints], rng: Generator) -> list[Constraints]:
    """Some of the answers, drawn at random."""
    share = ROUGH_ANSWERS / sum(map(len, constraints))
    return [
        rows_of(view, rng.permutation(len(view)) < round(share * len(view))) for view in constraints
    ]


def _thinned(features: FloatArray, n_named: int, rng: Generator) -> FloatArray:
    """All named items and some of the free ones, drawn at random."""
    free = rng.choice(np.arange(n_named, len(features)), ROUGH_FREE, replace=False)
    return features[np.append(np.arange(n_named), np.sort(free))]


def _tables(answers: NamedAnswers, binding: bool, literal: bool) -> list[FloatArray | None]:
    """The known log tables to go through; None at the end leaves noise to the views."""
    if not answers.n_answers:
        return [None]
    if not binding:
        learned = any(view.noise.free for view in answers.constraints)
        return [answers.trusted_table, None] if learned else [answers.trusted_table]
    steps = () if literal else FALLING_EPS
    falling: list[FloatArray | None] = [
        agreement_table(answers.constraints, float(np.log(eps / 2))) for eps in steps
    ]
    return [*falling, agreement_table(answers.constraints, IMPOSSIBLE)]


def _shares(q: FloatArray) -> FloatArray:
    """Expected shares of the clusters among the named items, as under an even Dirichlet prior."""
    sizes = q.sum(axis=0) + 1.0
    shares: FloatArray = sizes / sizes.sum()
    return shares


def _no_counts(constraints: Sequence[Constraints]) -> list[Counts]:
    return [np.zeros((view.n_sources * view.n_answers, view.n_patterns)) for view in constraints]


def _highest(ascents: Sequence[Ascent], number: int) -> list[Ascent]:
    return sorted(ascents, key=lambda ascent: -ascent.path[-1])[:number]


def _side_by_side[A, B](function: Callable[[A], B], arguments: Sequence[A], n_jobs: int) -> list[B]:
    with ThreadPoolExecutor(max_workers=n_jobs) as pool:
        return list(pool.map(function, arguments))


__all__ = ["EMFit", "fit_em"]
