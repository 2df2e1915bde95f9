"""Metropolis steps on the hyper-parameters of the base measure.

With the cluster parameters integrated out, a random-walk step on the logarithms of hyper-parameters
costs one pass over the clusters' sufficient statistics. Steps go along each coordinate, and along
the directions in which the chain varied while warming up. What all clusters share (a common
covariance) is integrated out for these steps, and then drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, kernel
from bayesclust.families.base import BoundFamily, derive, log_marginal, log_marginal_union
from bayesclust.inference.assignment import Assignment
from bayesclust.typing import FloatArray

TARGET_ACCEPTANCE = 0.35
JOINT_STEPS = 3
LEARNT_AFTER = 50
LARGEST_STEP = 700.0
"""Largest step of a logarithm; beyond it a parameter is as impossible, and has no exponential."""

TOTAL, PROPOSED, DERIVE = range(3)


# One kernel for all tasks, since most of the compiling is of what they have in common. It takes
# less time than to get the interpreter's lock back from another chain's thread.
@kernel(nogil=False, fastmath=FAST, no_refcount=True)
def walk_clusters(state: Any, assignment: Assignment, task: int) -> float:
    """Do a task at the prior slot and all clusters in use; returns log p(X | z, hyper-parameters).

    `TOTAL` adds up what clusters have been derived for, and `PROPOSED` what follows from their
    sufficient statistics alone, the prior slot being derived again. `DERIVE` derives all.
    """
    value = 0.0
    empty = len(state.count) - 1
    for position in range(-1, assignment.number[0]):
        k = assignment.slots[position] if position >= 0 else empty
        if task == DERIVE or (task == PROPOSED and position < 0):
            derive(state, k)
        elif task == PROPOSED:
            value += log_marginal_union(state, k, empty)
        elif position >= 0:
            value += log_marginal(state, k)
    return value


class HyperSampler:
    """Metropolis steps for the learned hyper-parameters, adapted in the warm-up."""

    def __init__(self, family: BoundFamily) -> None:
        self.family = family
        self.free = family.free
        number = len(self.free)
        self.log_step = np.append(np.full(number, -0.5), 0.5)
        self.steps = 0
        self.mean = np.zeros(number)
        self.scatter = np.zeros((number, number))

    def snapshot(self) -> dict[str, Any]:
        """What was learned of the proposals."""
        return {name: getattr(self, name) for name in ("log_step", "steps", "mean", "scatter")}

    def walk(
        self,
        log_marginal: Callable[[FloatArray], float],
        hyper: FloatArray,
        rng: Generator,
        *,
        adapt: bool,
    ) -> FloatArray:
        """Draw hyper-parameters, given log p(X | z, hyper-parameters) as a function of them."""
        number = len(self.free)
        if number == 0:
            return hyper
        current = log_marginal(hyper) + self.family.log_hyper_prior(hyper)
        self.steps += adapt
        root = self._root()
        for move in [*range(number), *[number] * (JOINT_STEPS if root is not None else 0)]:
            noise = rng.standard_normal(number)
            proposal = hyper.copy()
            step = math.exp(self.log_step[move])
            if root is None or move < number:
                proposal[self.free[move]] *= math.exp(min(step * noise[move], LARGEST_STEP))
            else:
                proposal[self.free] *= np.exp(step * (root @ noise))
            value = self.family.log_hyper_prior(proposal)
            if math.isfinite(value):
                value += log_marginal(proposal)
            accept = math.exp(min(value - current, 0.0))
            if rng.random() < accept:
                hyper = proposal
                current = value
            if adapt:
                self.log_step[move] += (accept - TARGET_ACCEPTANCE) / math.sqrt(self.steps)
        if adapt:
            self._learn(np.log(hyper[self.free]))
        return hyper

    def _learn(self, position: FloatArray) -> None:
        """Running covariance; early positions are forgotten as the warm-up goes on."""
        weight = 2.0 / (self.steps + 1.0)
        difference = position - self.mean
        self.mean = self.mean + weight * difference
        self.scatter = (1.0 - weight) * (self.scatter + weight * np.outer(difference, difference))

    def _root(self) -> FloatArray | None:
        """Root of the covariance, once it has been seen long enough."""
        if self.steps < LEARNT_AFTER or len(self.free) < 2:
            return None
        return np.asarray(np.linalg.cholesky(self.scatter + 1e-6 * np.eye(len(self.free))))
