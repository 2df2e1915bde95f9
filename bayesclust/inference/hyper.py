"""Learning the base measure: random-walk Metropolis steps on the logarithms of its hyper-parameters.

With the cluster parameters integrated out, the hyper-parameters see the data through the clusters'
marginal likelihoods alone, so a step costs one pass over the clusters' sufficient statistics and
none over the items. Steps go along each coordinate, and along the directions in which the chain was
seen to vary while warming up. What all clusters share (a common covariance) is integrated out for
these steps, and then drawn from its conditional.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import FAST, kernel
from bayesclust.families.base import (
    BoundFamily,
    Components,
    Terms,
    derive,
    hard_statistics,
    log_marginal,
    log_marginal_union,
)
from bayesclust.inference.assignment import Assignment, refresh

TARGET_ACCEPTANCE = 0.35
JOINT_STEPS = 3
LEARNT_AFTER = 50
LARGEST_STEP = 700.0
"""Of a logarithm; beyond it a parameter is as impossible, and has no exponential."""

LogMarginal = Callable[[NDArray[np.float64]], float]


TOTAL, PROPOSED, DERIVE = range(3)


# with the samplers' options, whose compiled versions of the families' functions are used again; one
# kernel for all of it, since most of the compiling is of what they have in common
@kernel(fastmath=FAST, no_refcount=True)
def walk_clusters(state: Any, assignment: Assignment, task: int) -> float:
    """Do a task at the prior slot and at all clusters in use; returns log p(X | z, hyper-parameters), where it is asked for.

    `TOTAL` adds up what clusters have been derived for, and `PROPOSED` what follows from their
    sufficient statistics alone, the prior slot being derived anew. `DERIVE` derives all.
    """
    value, empty = 0.0, len(state.count) - 1
    for position in range(-1, assignment.number[0]):
        k = assignment.slots[position] if position >= 0 else empty
        if task == DERIVE or (task == PROPOSED and position < 0):
            derive(state, k)
        elif task == PROPOSED:
            value += log_marginal_union(state, k, empty)
        elif position >= 0:
            value += log_marginal(state, k)
    return value


def total_log_marginal(state: Any, assignment: Assignment) -> float:
    """log p(X | z, hyper-parameters), the sum over clusters."""
    return float(walk_clusters(state, assignment, TOTAL))


def proposed_log_marginal(state: Any, assignment: Assignment) -> float:
    """The same from the sufficient statistics, where the slots in use are not yet derived for new hyper-parameters."""
    return float(walk_clusters(state, assignment, PROPOSED))


def cluster_statistics(components: Components, assignment: Assignment) -> Terms:
    """Statistics of the clusters in use, in the order of their slots."""
    return hard_statistics(components, assignment.place[assignment.z], int(assignment.number[0]))


def log_data(
    family: BoundFamily, state: Any, assignment: Assignment, hyper: NDArray[np.float64]
) -> float:
    """log p(X | z, hyper-parameters), with what clusters share integrated out."""
    if not family.n_shared:
        return total_log_marginal(state, assignment)
    components = family.components()
    return components.log_total(cluster_statistics(components, assignment), hyper)


def start_hyper(family: BoundFamily, z: NDArray[np.integer], rng: Generator) -> NDArray[np.float64]:
    """Hyper-parameters to start from; what clusters share is drawn given a partition with labels 0..K-1."""
    hyper = family.initial_hyper()
    if not family.n_shared:
        return hyper
    components, labels = family.components(), np.asarray(z, np.int64)
    statistics = hard_statistics(components, labels, int(labels.max()) + 1)
    return components.draw_shared(statistics, hyper, rng)


def redraw_shared(
    family: BoundFamily,
    state: Any,
    assignment: Assignment,
    hyper: NDArray[np.float64],
    rng: Generator,
) -> NDArray[np.float64]:
    """Draw what clusters share, given them; the state is left consistent with what is returned."""
    components = family.components()
    hyper = components.draw_shared(cluster_statistics(components, assignment), hyper, rng)
    family.set_hyper(state, hyper)
    refresh(state, assignment)
    return hyper


class HyperSampler:
    """Metropolis steps for the learned hyper-parameters; their scales and directions adapt while warming up.

    Parameters
    ----------
    family : BoundFamily
    """

    def __init__(self, family: BoundFamily) -> None:
        self.family, self.free = family, family.free
        number = len(self.free)
        self.log_step = np.append(np.full(number, -0.5), 0.5)
        self.steps = 0
        self.mean, self.scatter = np.zeros(number), np.zeros((number, number))

    def snapshot(self) -> dict[str, Any]:
        """What was learned of the proposals."""
        return {name: getattr(self, name) for name in ("log_step", "steps", "mean", "scatter")}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take it up again."""
        for name, value in snapshot.items():
            setattr(self, name, value)

    def update(
        self,
        state: Any,
        assignment: Assignment,
        hyper: NDArray[np.float64],
        rng: Generator,
        *,
        adapt: bool,
    ) -> NDArray[np.float64]:
        """Draw new hyper-parameters; the state is left consistent with what is returned."""
        if self.family.n_shared:
            components = self.family.components()
            statistics = cluster_statistics(components, assignment)
            hyper = self.walk(
                lambda values: components.log_total(statistics, values), hyper, rng, adapt=adapt
            )
            return redraw_shared(self.family, state, assignment, hyper, rng)
        if len(self.free) == 0:
            return hyper

        def log_marginal(values: NDArray[np.float64]) -> float:
            if values is hyper:  # which the state has been derived for
                return total_log_marginal(state, assignment)
            self.family.set_hyper(state, values)
            return proposed_log_marginal(state, assignment)

        drawn = self.walk(log_marginal, hyper, rng, adapt=adapt)
        self.family.set_hyper(state, drawn)
        walk_clusters(state, assignment, DERIVE)
        return drawn

    def walk(
        self, log_marginal: LogMarginal, hyper: NDArray[np.float64], rng: Generator, *, adapt: bool
    ) -> NDArray[np.float64]:
        """Draw new hyper-parameters, given log p(X | z, hyper-parameters) as a function of them."""
        number = len(self.free)
        if number == 0:
            return hyper
        current = log_marginal(hyper) + self.family.log_hyper_prior(hyper)
        self.steps += adapt
        root = self._root()
        for move in [*range(number), *[number] * (JOINT_STEPS if root is not None else 0)]:
            noise, proposal, step = (
                rng.standard_normal(number),
                hyper.copy(),
                math.exp(self.log_step[move]),
            )
            if root is None or move < number:
                proposal[self.free[move]] *= math.exp(min(step * noise[move], LARGEST_STEP))
            else:
                proposal[self.free] *= np.exp(step * (root @ noise))
            value = self.family.log_hyper_prior(proposal)
            if math.isfinite(value):
                value += log_marginal(proposal)
            accept = math.exp(min(value - current, 0.0))
            if rng.random() < accept:
                hyper, current = proposal, value
            if adapt:
                self.log_step[move] += (accept - TARGET_ACCEPTANCE) / math.sqrt(self.steps)
        if adapt:
            self._learn(np.log(hyper[self.free]))
        return hyper

    def _learn(self, position: NDArray[np.float64]) -> None:
        """Running covariance; early positions are forgotten as the warm-up goes on."""
        weight = 2.0 / (self.steps + 1.0)
        difference = position - self.mean
        self.mean = self.mean + weight * difference
        self.scatter = (1.0 - weight) * (self.scatter + weight * np.outer(difference, difference))

    def _root(self) -> NDArray[np.float64] | None:
        """Root of the covariance, once it has been seen long enough."""
        if self.steps < LEARNT_AFTER or len(self.free) < 2:
            return None
        root: NDArray[np.float64] = np.linalg.cholesky(self.scatter + 1e-6 * np.eye(len(self.free)))
        return root
