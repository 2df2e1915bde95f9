"""The search for the highest bound: dispersed starts, moves on the best of them, and a last ascent."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.starts import dispersed_number, seeded_partition
from bayesclust.inference.variational import moves
from bayesclust.inference.variational.hyper import HyperAscent, share
from bayesclust.inference.variational.mean_field import MeanField, Task, one_hot
from bayesclust.inference.variational.settings import VariationalSettings
from bayesclust.typing import FloatArray, IntArray

START_SWEEPS, ROUND_SWEEPS, ROUNDS = 50, 20, 10
ROUGH = 1e-4
"""Nats per item and sweep below which a start or a round is rather given up to the next moves."""


@dataclass(frozen=True)
class VariationalFit:
    """The mean field that was found.

    Parameters
    ----------
    state : MeanField
    path : ndarray
        The bound after each sweep and each accepted move of the ascent that led there, once the
        noise is learned.
    converged : bool
    """

    state: MeanField
    path: FloatArray
    converged: bool


@dataclass
class Ascent:
    """A mean field on its way up; `path` never falls.

    Parameters
    ----------
    state : MeanField
    """

    state: MeanField
    path: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hyper = HyperAscent(self.state.task.problem.family.free)
        self.note()

    def note(self) -> None:
        """Write down the bound."""
        self.path.append(self.state.bound)

    def sweeps(self, most: int, tolerance: float) -> bool:
        """Sweep until the bound rises by less than `tolerance`; False if it still rose after the last sweep allowed."""
        for _ in range(most):
            self.state.sweep()
            self.hyper.climb(self.state)
            self.note()
            if self.path[-1] - self.path[-2] < tolerance:
                return True
        return False

    def move(self, rng: Generator, truncation: int) -> None:
        """Merge and delete while that helps, then try to split every component."""
        for step in (moves.merge, moves.delete):
            while (better := step(self.state)) is not None:
                self.state = better
                self.note()
        for better in moves.splits(self.state, truncation, rng):
            self.state = better
            self.note()


def fit_variational(
    problem: TVClustProblem,
    settings: VariationalSettings,
    rng: Generator,
    init: IntArray | None = None,
) -> VariationalFit:
    """Maximise the bound.

    Parameters
    ----------
    problem : TVClustProblem
    settings : VariationalSettings
    rng : Generator
    init : ndarray of shape (n,), optional
        Labels 0..K-1 of the one partition to start from, instead of dispersed ones.

    Returns
    -------
    VariationalFit
    """
    task, rough = Task(problem), ROUGH * problem.n_items
    if init is not None:
        starts = [init]
    else:
        points = problem.family.embedding()
        numbers = (
            min(dispersed_number(c, problem.n_items), settings.truncation)
            for c in range(settings.n_init)
        )
        starts = [seeded_partition(points, number, rng) for number in numbers]
    ascents = [_begin(task, z, settings, rough) for z in starts]
    ascents.sort(key=lambda ascent: -ascent.state.bound)
    for ascent in ascents[: settings.n_refined]:
        for _ in range(ROUNDS):
            before = ascent.path[-1]
            ascent.move(rng, settings.truncation)
            ascent.sweeps(ROUND_SWEEPS, rough)
            if ascent.path[-1] - before < 10 * rough:
                break
    best = max(ascents[: settings.n_refined], key=lambda ascent: ascent.state.bound)
    converged = best.sweeps(settings.max_iter, settings.tol)
    return VariationalFit(best.state, np.array(best.path), converged)


def _begin(task: Task, z: IntArray, settings: VariationalSettings, rough: float) -> Ascent:
    """A start, swept while the noise is trusted and then while it is learned."""
    state = MeanField(task, one_hot(z), task.problem.family.initial_hyper(), trust=True)
    share(state)
    trusting = Ascent(state)
    trusting.sweeps(settings.fixed_noise_iter, rough)
    ascent = Ascent(trusting.state.learn_noise())
    ascent.hyper = trusting.hyper
    ascent.sweeps(START_SWEEPS, rough)
    return ascent


__all__ = ["Ascent", "VariationalFit", "fit_variational"]
