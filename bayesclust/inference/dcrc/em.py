"""DCRC by variational EM: mean field over labels of named items, ascent over the weights.

The bound, in nats, is M times Eq. 10 of Pei, Fern, Rosales and Tjahja (Discriminative Clustering
with Relative Constraints):

    E_q log P(y_I | x_I; W) + H(q) + the constraints' part + the entropies and the penalty.

It bounds the evidence log P(L | X; W) plus the last two from below, and never falls.

Two limits. With eps -> 0 (binding constraints) the update of Eq. 13 becomes Eq. 14: of the clusters
that agree with most constraints, given the other items' distributions, each in proportion to
P(y | x). Applied from the first sweep it makes every distribution one-hot, so eps falls in steps to
0, each from the solution of the one before. With temperature -> 0 every named item is in one
cluster.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from scipy.special import log_softmax, xlogy
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import stack_padded
from bayesclust.inference.assignment import seeded_partition
from bayesclust.inference.dcrc.weights import WeightObjective, with_ones
from bayesclust.inference.variational.answers import SoftAnswers
from bayesclust.inference.variational.mean_field import softmax
from bayesclust.models.dcrc import unnamed
from bayesclust.typing import Counts, FloatArray, IntArray

# "dnk" is the commonest answer, and one single cluster explains it: left out first, then raised
# with all other answers, it led to higher bounds (balance, letters: by .05 to .2 nats per answer)
STAGES = ((3, 6, 1.0, 0.0), (2, 6, 0.3, 0.3), (2, 6, 0.6, 0.6), (2, 15, 1.0, 1.0))
"""How a start is improved: EM and L-BFGS iterations, and weights of answers and of "dnk"."""
ROUGH_ANSWERS = 5000
ROUGH_FREE = 2000
"""Starts are compared on at most so many answers, and so many items that none of these names."""
SWEEPS = 10
STEPS = 15
"""Most mean-field sweeps of an E-step, L-BFGS iterations of an M-step: the next one continues."""
SETTLED = 1e-3
"""Change of every probability below which an E-step ends."""
MOST_ITEMS = 5000
"""Starts are made from at most so many items, drawn at random."""
KMEANS_RUNS = 3
LOGISTIC_STEPS = 12
PRECISION = 4.0
"""Of the Gaussian prior of the weights, whatever the number of answers, where none is asked for."""
IMPOSSIBLE = float(np.log(np.finfo(np.float64).tiny))
"""Log probability of an impossible answer: finite, to tell which labels break more answers."""

FALLING_EPS = (0.05, 0.005, 5e-5, 5e-9)
"""Error rates that fall to zero; the log odds of a right answer double from step to step."""

TIE = 1e-9
"""Differences of F up to this are ties."""


@dataclass(frozen=True)
class EMSettings:
    """Settings of `fit_em`, which the estimator has checked."""

    tau: float = 1.0
    penalty: float = 2.0**-6
    balance: bool = True
    proportions: bool = True
    temperature: float = 1.0
    literal: bool = False
    binding: bool = False
    starts: int = 8
    kept: int = 2
    max_iter: int = 100
    tolerance: float = 1e-4
    n_jobs: int = 1


class NamedAnswers:
    """The answers, on the items that they name."""

    def __init__(self, constraints: Sequence[Constraints], n_items: int) -> None:
        self.items = np.flatnonzero(~unnamed(constraints, n_items))
        self.n_answers = sum(map(len, constraints))
        named = [one.restrict(self.items) for one in constraints] if self.n_answers else []
        self.constraints = named
        self.soft = SoftAnswers(named, len(self.items))
        # rows of the tables of answers that leave the question open, (codes,)
        unsure = [np.tile(np.array(one.vocabulary) == "dnk", one.n_sources) for one in named]
        self.unsure = np.concatenate([np.zeros(0, np.bool_), *unsure])


class Ascent:
    """Weights and label distributions during the ascent; `path` has the bound after each step."""

    def __init__(
        self,
        answers: NamedAnswers,
        objective: WeightObjective,
        settings: EMSettings,
        W: FloatArray,
        table: FloatArray | None = None,
    ) -> None:
        self.answers = answers
        self.objective = objective
        self.settings = settings
        self.table = table
        # it keeps a table, and several ascents run side by side
        self.soft = copy.deepcopy(answers.soft)
        self.W = W
        self.q = np.exp(objective.log_p(W))
        known = self.soft.table_of_means if table is None else table
        self.classes = self.soft.classes(self.q, known)
        self.path: list[float] = []

    @property
    def bound(self) -> float:
        """The bound, in nats, the entropy of the labels multiplied by the temperature."""
        value = self.objective.value_and_gradient(self.W, self.q)[0]
        value -= self.settings.temperature * float(xlogy(self.q, self.q).sum())
        counts = self.soft.counts(self.q, self.classes)
        return value + self.soft.value(counts, self.table, self.classes)

    def turn_to(self, objective: WeightObjective, table: FloatArray | None) -> None:
        """Continue under another objective or log table, with a new path."""
        self.objective = objective
        self.table = table
        self.path = []

    def expect(self) -> None:
        """The E-step: sweeps in colour classes (Table II, Eq. 13), noise optimal before each."""
        soft = self.soft
        log_p = self.objective.log_p(self.W)
        for _ in range(SWEEPS):
            before = self.q.copy()
            table = self.table
            if table is None:
                table = soft.expected_table(soft.counts(self.q, self.classes))
            soft.use_table(table)
            of_labels = soft.label_logits(self.classes, table)
            for step in soft.steps:
                messages = step.messages(self.q) + of_labels[step.items]
                self.q[step.items] = self._respond(log_p[step.items], messages)
            self.classes = soft.classes(self.q, table)
            if np.abs(self.q - before).max(initial=0.0) < SETTLED:
                break
        self.path.append(self.bound)

    def maximise(self, steps: int = STEPS) -> None:
        """The M-step, at most so many iterations of L-BFGS."""
        before = self.path[-1] if self.path else self.bound
        self.W, raised = self.objective.climb(self.W, self.q, steps)
        self.path.append(before + raised)

    def run(self, most: int, steps: int = STEPS) -> bool:
        """Alternate until an iteration adds less than the tolerance; False if none allowed did."""
        least = self.settings.tolerance * max(self.answers.n_answers, 1)
        for _ in range(most):
            before = self.path[-1] if self.path else -np.inf
            self.expect()
            self.maximise(steps)
            if self.path[-1] - before < least:
                return True
        return False

    def _respond(self, log_p: FloatArray, messages: FloatArray) -> FloatArray:
        if self.settings.literal:
            return max_compatible(messages / -IMPOSSIBLE, log_p)
        logits = log_p + messages
        if self.settings.temperature == 0:  # certain, the first among equals
            return np.eye(logits.shape[1])[logits.argmax(axis=1)]
        return softmax(logits / self.settings.temperature)


def agreement_table(constraints: Sequence[Constraints], wrong: float) -> FloatArray:
    """0 where an answer agrees with a pattern and `wrong` where it does not, (codes, 5)."""
    tables = []
    for one in constraints:
        agrees = one.said_by(np.arange(one.n_answers))[:, None] == one.truth[None, :]
        tables.append(np.tile(np.where(agrees, 0.0, wrong), (one.n_sources, 1)))
    return stack_padded(tables)


def max_compatible(F: FloatArray, log_p: FloatArray) -> FloatArray:
    """Eq. 14: P(y | x) within the set of labels of largest F."""
    inside = F.max(axis=1, keepdims=True) - F <= TIE
    return softmax(np.where(inside, log_p, -np.inf))


@dataclass(frozen=True)
class EMFit:
    """The best solution."""

    W: FloatArray  # (K, d + 1)
    q: FloatArray  # (n, K)
    counts: list[Counts]
    path: FloatArray
    converged: bool
    proportions: FloatArray | None  # (K,)


def fit_em(
    points: FloatArray,
    constraints: Sequence[Constraints],
    n_clusters: int,
    settings: EMSettings,
    rng: Generator,
) -> EMFit:
    """Maximise the bound."""
    answers = NamedAnswers(constraints, len(points))
    features, order = named_first(points, answers.items)
    whole = _objective(features, answers, settings)
    tables = _tables(answers, settings)
    few = answers
    some = features
    if answers.n_answers > ROUGH_ANSWERS:
        share = ROUGH_ANSWERS / answers.n_answers
        chosen = (rng.permutation(len(one)) < round(share * len(one)) for one in constraints)
        thinned = [one.select(rows) for one, rows in zip(constraints, chosen, strict=True)]
        few = NamedAnswers(thinned, len(points))
        some = named_first(points, few.items)[0]
    named = len(few.items)
    if len(some) > named + ROUGH_FREE:
        free = rng.choice(np.arange(named, len(some)), ROUGH_FREE, replace=False)
        some = some[np.append(np.arange(named), np.sort(free))]
    rough = _objective(some, few, settings)
    first = _tables(few, settings)[0]

    def begin(W: FloatArray) -> Ascent:
        ascent = Ascent(few, rough, settings, W, first)
        for iterations, steps, weight, unsure in STAGES if first is not None else STAGES[-1:]:
            scale = np.where(few.unsure, unsure, weight)[:, None]
            ascent.turn_to(rough, None if first is None else first * scale)
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
            # fade; under an even Dirichlet prior
            sizes = best.q.sum(axis=0) + 1.0
            best.turn_to(replace(whole, proportions=sizes / sizes.sum()), tables[-1])
            converged = best.run(settings.max_iter)
    q = np.empty((len(points), n_clusters))
    q[order] = np.exp(log_softmax(best.W @ features.T, axis=0)).T
    q[answers.items] = best.q
    counts = answers.soft.counts(best.q, best.classes)
    if not answers.n_answers:
        counts = [np.zeros((one.n_sources * one.n_answers, one.n_patterns)) for one in constraints]
    return EMFit(best.W, q, counts, np.array(best.path), converged, best.objective.proportions)


def _objective(
    features: FloatArray, answers: NamedAnswers, settings: EMSettings
) -> WeightObjective:
    m = max(answers.n_answers, 1)
    entropies = m * settings.tau
    balance = entropies if settings.balance else 0.0
    return WeightObjective(features, len(answers.items), m * settings.penalty, entropies, balance)


def named_first(points: FloatArray, named: IntArray) -> tuple[FloatArray, IntArray]:
    """Features with a column of ones, named items first, and the items in that order."""
    order = np.append(named, np.setdiff1d(np.arange(len(points)), named))
    return with_ones(points)[order], order


def _tables(answers: NamedAnswers, settings: EMSettings) -> list[FloatArray | None]:
    """The known log tables to go through; None at the end leaves noise to the constraints."""
    if not answers.n_answers:
        return [None]
    if not settings.binding:
        learned = any(view.noise.free for view in answers.constraints)
        known = answers.soft.table_of_means
        return [known, None] if learned else [known]
    steps = () if settings.literal else FALLING_EPS
    falling: list[FloatArray | None] = [
        agreement_table(answers.constraints, float(np.log(eps / 2))) for eps in steps
    ]
    return [*falling, agreement_table(answers.constraints, IMPOSSIBLE)]


def _highest(ascents: Sequence[Ascent], number: int) -> list[Ascent]:
    return sorted(ascents, key=lambda ascent: -ascent.path[-1])[:number]


def _side_by_side[A, B](function: Callable[[A], B], arguments: Sequence[A], n_jobs: int) -> list[B]:
    with ThreadPoolExecutor(max_workers=n_jobs) as pool:
        return list(pool.map(function, arguments))


def start_weights(
    features: FloatArray, number: int, starts: int, rng: Generator
) -> list[FloatArray]:
    """Weights to start from."""
    # The first start is the paper's. The others are classifiers of the nearest of K seeds drawn as
    # in k-means++: k-means pulls all its solutions into few basins, which need not hold the
    # clusters that the answers are about.
    if len(features) > MOST_ITEMS:
        features = features[rng.choice(len(features), MOST_ITEMS, replace=False)]
    points = features[:, :-1]
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        # fewer different items than clusters: some clusters stay empty, which is no harm to a start
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(number, n_init=KMEANS_RUNS, random_state=seed).fit(points)
    partitions = [found.labels_]
    partitions += [seeded_partition(points, number, rng) for _ in range(starts - 1)]
    n = len(features)
    logistic = WeightObjective(features, n, 1e-3 * n, 0.0, 0.0)  # slightly penalised
    W = np.zeros((number, features.shape[1]))
    every = np.eye(number)
    return [logistic.climb(W, every[labels], LOGISTIC_STEPS)[0] for labels in partitions]
