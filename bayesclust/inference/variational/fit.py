"""The search for the highest bound: dispersed starts, moves on the best of them, and a last ascent.

Merges, deletions and splits propose other responsibilities, sweep them a few times and are accepted
only if the bound is higher than before. Hyper-parameters of the base measure are point values
(empirical Bayes under the hyper-prior), raised by a pattern search along each coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import xlogy

from bayesclust.checks import check_int, check_positive
from bayesclust.inference.assignment import dispersed_number, seeded_partition
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.variational.mean_field import MeanField, Task, one_hot, softmax
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class VariationalSettings:
    """How hard the variational method searches for the highest bound.

    Parameters
    ----------
    truncation : int, default 50
        Largest number of components. Those that the data do not need are removed; the bound is one
        of the untruncated process.
    n_init : int, default 8
        Dispersed starting partitions (k-means++ into 3, 6, 12, 24 clusters, then again).
    n_refined : int, default 3
        How many of them, the best after some sweeps, are searched by merges, deletions and splits.
    fixed_noise_iter : int, default 20
        First sweeps of each with the noise of the constraints at its prior mean: first partitions
        contradict half of them, which would then be taken for noise to the end.
    max_iter : int, default 1000
        Largest number of sweeps of the last ascent.
    tol : float, default 1e-3
        The ascent has converged when a sweep raises the bound by less, in nats.

    Raises
    ------
    TypeError, ValueError
        If a number is not positive.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.TVClust(sampler=bc.VariationalSettings(n_init=4)).sampler.n_refined
    3
    """

    truncation: int = 50
    n_init: int = 8
    n_refined: int = 3
    fixed_noise_iter: int = 20
    max_iter: int = 1000
    tol: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("truncation", "n_init", "n_refined", "max_iter"):
            check_int(getattr(self, name), name)
        check_int(self.fixed_noise_iter, "fixed_noise_iter", least=0)
        check_positive(self.tol, "tol")


FIRST = 0.5
LEAST = 1e-3
GROW = 1.6
SHRINK = 0.4


class HyperAscent:
    """Pattern search on the logarithms of the learned hyper-parameters, with adaptive steps."""

    def __init__(self, free: NDArray[np.intp]) -> None:
        self.free = free
        self.step = np.full(len(free), FIRST)

    def climb(self, state: MeanField) -> None:
        """One step along each coordinate, up or not at all."""
        for at, j in enumerate(self.free):
            for sign in (1.0, -1.0):
                trial = state.hyper.copy()
                trial[j] *= np.exp(sign * self.step[at])
                if (value := state.data_bound_at(trial)) > state.data_bound:
                    state.set_hyper(trial, value)
                    self.step[at] *= sign * GROW
                    break
            else:
                self.step[at] = np.copysign(max(abs(self.step[at]) * SHRINK, LEAST), self.step[at])
        share(state)


def share(state: MeanField) -> None:
    """Give parameters that all clusters share, if any, the values of the largest bound."""
    family = state.task.family
    if family.n_shared:
        hyper = family.likeliest_shared(state.statistics, state.hyper)
        state.set_hyper(hyper, state.data_bound_at(hyper))


GAIN = 1e-6
"""Nats by which the bound must rise."""
MERGES = 3
MERGE_SWEEPS = 2
SPLIT_SWEEPS = 6
DELETE_SWEEPS = 3
SMALLEST = 4
"""Expected items that a component must have to be split."""


def merge(state: MeanField) -> MeanField | None:
    """Join the two components of the largest gain; None where none tried raises the bound."""
    if state.n_components < 2:
        return None
    gain = merge_gains(state)
    first, second = np.triu_indices(state.n_components, 1)
    for at in np.argsort(-gain[first, second], kind="stable")[:MERGES]:
        k = int(first[at])
        j = int(second[at])
        r = np.delete(state.r, j, axis=1)
        r[:, k] += state.r[:, j]
        if (better := _tried(state, r, MERGE_SWEEPS)) is not None:
            return better
    return None


def merge_gains(state: MeanField) -> FloatArray:
    """Change of the bound by merging each two components, (K, K), but for weights and triplets."""
    family = state.task.family
    r = state.r
    first, second = np.triu_indices(state.n_components, 1)
    alone = family.log_marginals(state.statistics, state.hyper)
    union = family.log_marginals(
        tuple(part[first] + part[second] for part in state.statistics), state.hyper
    )
    gain = np.zeros((state.n_components,) * 2)
    gain[first, second] = union - alone[first] - alone[second]
    pairs = zip(first, second, strict=True)
    lost = np.array([xlogy(both := r[:, k] + r[:, j], both).sum() for k, j in pairs])
    own = xlogy(r, r).sum(axis=0)
    gain[first, second] += own[first] + own[second] - lost
    return gain + np.triu(r.T @ state.messages(), 1)


def delete(state: MeanField) -> MeanField | None:
    """Delete the smallest component, its items going where they fit best."""
    if state.n_components < 2:
        return None
    logits = (state.expected_logits(state.expected_table()) + state.messages())[:, :-1]
    free = softmax(logits)
    gone = state.r[:, -1:]
    r = state.r[:, :-1] + gone * free
    return _tried(state, r / r.sum(axis=1, keepdims=True), DELETE_SWEEPS)


def splits(state: MeanField, most: int, rng: Generator) -> Iterator[MeanField]:
    """Split the components in turn by two seeds among their items; each state of a higher bound."""
    points = state.task.problem.family.embedding()
    for column in list(state.r.T):
        items = np.flatnonzero(column > 0.5)
        if len(items) < SMALLEST or state.n_components >= most:
            continue
        k = int(np.argmax(state.r[items].sum(axis=0)))
        half = seeded_partition(points[items], 2, rng) == 1
        r = np.column_stack([state.r, np.zeros(len(state.r))])
        r[items[half], -1] = r[items[half], k]
        r[items[half], k] = 0.0
        if (better := _tried(state, r, SPLIT_SWEEPS)) is not None:
            state = better
            yield state


def _tried(state: MeanField, r: FloatArray, sweeps: int) -> MeanField | None:
    """The state after some sweeps from these responsibilities, if its bound is higher."""
    least = state.bound + GAIN
    trial = MeanField(state.task, r, state.hyper, freeze_noise=state.freeze_noise)
    for _ in range(sweeps):
        if trial.bound > least:
            break
        trial.sweep()
    return trial if trial.bound > least else None


START_SWEEPS = 50
ROUND_SWEEPS = 20
ROUNDS = 10
ROUGH = 1e-4
"""Nats per item and sweep below which a start or a round ends."""


class Ascent:
    """A mean field during the ascent; `path`, the bounds after each step, never falls."""

    def __init__(self, state: MeanField) -> None:
        self.hyper = HyperAscent(state.task.problem.family.free)
        self.path: list[float] = []
        self.converged = False
        self.take(state)

    def take(self, state: MeanField) -> None:
        """Continue from a state."""
        self.state = state
        self.path.append(state.bound)

    def sweeps(self, most: int, tolerance: float) -> None:
        """Sweep until the bound rises by less than `tolerance`, when it has converged."""
        self.converged = False
        for _ in range(most):
            self.state.sweep()
            self.hyper.climb(self.state)
            self.take(self.state)
            if self.path[-1] - self.path[-2] < tolerance:
                self.converged = True
                return

    def move(self, rng: Generator, truncation: int) -> None:
        """Merge and delete while that helps, then try to split every component."""
        for step in (merge, delete):
            while (better := step(self.state)) is not None:
                self.take(better)
        for better in splits(self.state, truncation, rng):
            self.take(better)


def fit_variational(
    problem: TVClustProblem,
    settings: VariationalSettings,
    rng: Generator,
    init: IntArray | None = None,
) -> Ascent:
    """Maximise the bound."""
    task = Task(problem)
    rough = ROUGH * problem.n_items
    most = min(settings.truncation, problem.partition_prior.most_clusters or settings.truncation)
    if init is not None:
        problem.check_start(init)
        starts = [init]
    else:
        points = problem.family.embedding()
        numbers = (min(dispersed_number(c, problem.n_items), most) for c in range(settings.n_init))
        starts = [seeded_partition(points, number, rng) for number in numbers]
    ascents = [_begin(task, z, settings, rough) for z in starts]
    ascents.sort(key=lambda ascent: -ascent.state.bound)
    for ascent in ascents[: settings.n_refined]:
        for _ in range(ROUNDS):
            before = ascent.path[-1]
            ascent.move(rng, most)
            ascent.sweeps(ROUND_SWEEPS, rough)
            if ascent.path[-1] - before < 10 * rough:
                break
    best = max(ascents[: settings.n_refined], key=lambda ascent: ascent.state.bound)
    best.sweeps(settings.max_iter, settings.tol)
    return best


def _begin(task: Task, z: IntArray, settings: VariationalSettings, rough: float) -> Ascent:
    """A start, swept with the noise fixed, and then with it learned."""
    state = MeanField(task, one_hot(z), task.problem.family.initial_hyper(), freeze_noise=True)
    share(state)
    held = Ascent(state)
    held.sweeps(settings.fixed_noise_iter, rough)
    ascent = Ascent(MeanField(task, held.state.r, held.state.hyper))
    ascent.hyper = held.hyper
    ascent.sweeps(START_SWEEPS, rough)
    return ascent
