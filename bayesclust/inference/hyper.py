"""Learning the base measure: random-walk Metropolis steps on the logarithms of its hyper-parameters.

With the cluster parameters integrated out, the hyper-parameters see the data through the clusters' marginal likelihoods
alone, so a step costs one pass over the clusters and none over the items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._jit import kernel
from bayesclust.inference.seating import Seating
from bayesclust.models.families.base import BoundFamily, derive, log_marginal

TARGET_ACCEPTANCE = 0.44


@kernel
def derive_all(state: Any, seating: Seating) -> None:
    """Derive the prior slot and all clusters in use."""
    derive(state, len(state.count) - 1)
    for position in range(seating.number[0]):
        derive(state, seating.slots[position])


@kernel
def total_log_marginal(state: Any, seating: Seating) -> float:
    """log p(X | z, hyper-parameters), the sum over clusters."""
    value = 0.0
    for position in range(seating.number[0]):
        value += log_marginal(state, seating.slots[position])
    return value


class HyperSampler:
    """One Metropolis step per learned hyper-parameter, its scale adapted while warming up."""

    def __init__(self, family: BoundFamily) -> None:
        self.family = family
        self.log_step = np.full(len(family.hyper_priors), -0.5)
        self.steps = 0

    def update(
        self, state: Any, seating: Seating, hyper: NDArray[np.float64], rng: Generator, *, adapt: bool
    ) -> NDArray[np.float64]:
        """Draw new hyper-parameters; the state is left consistent with what is returned."""
        free = self.family.free
        if len(free) == 0:
            return hyper
        self.steps += 1
        current = total_log_marginal(state, seating) + self.family.log_hyper_prior(hyper)
        for j in free:
            proposal = hyper.copy()
            proposal[j] *= np.exp(np.exp(self.log_step[j]) * rng.standard_normal())
            value = self.family.log_hyper_prior(proposal)
            if np.isfinite(value):
                self._set(state, seating, proposal)
                value += total_log_marginal(state, seating)
            accept = np.exp(min(value - current, 0.0))
            if rng.random() < accept:
                hyper, current = proposal, value
            elif np.isfinite(value):
                self._set(state, seating, hyper)
            if adapt:
                self.log_step[j] += (accept - TARGET_ACCEPTANCE) / np.sqrt(self.steps)
        return hyper

    def _set(self, state: Any, seating: Seating, hyper: NDArray[np.float64]) -> None:
        self.family.set_hyper(state, hyper)
        derive_all(state, seating)
