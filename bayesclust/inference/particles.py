"""Weighted draws of TVClust posteriors that condition on answers one by one, without a restart.

This is iterated batch importance sampling (Chopin 2002, Biometrika 89, Sec. 3) on partitions. An
answer s multiplies the weight of draw z by

    p(s | z, earlier answers) = p(earlier answers and s | z) / p(earlier answers | z),

the noise integrated out. When the weights have become uneven, draws are resampled by their weights,
and each is moved by a sweep of its chain, under all answers so far.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import softmax

from bayesclust.constraints.base import Constraints
from bayesclust.inference.chain import Chain
from bayesclust.typing import FloatArray, IntArray

THINNING = 5
MOVED = 0.5  # share of the draws that are moved after an answer where they are not resampled
MIN_ESS = 0.5  # effective share of the draws below which they are resampled (Liu and Chen 1998)


def extends(constraints: Sequence[Constraints], more: Sequence[Constraints]) -> bool:
    """Whether `more` begins with all answers of `constraints`, kind by kind."""
    for old, new in zip(constraints, more, strict=False):
        rows = ((old.items, new.items), (old.answers, new.answers), (old.source, new.source))
        same = (old.kind, old.noise, old.n_items) == (new.kind, new.noise, new.n_items)
        same = same and (len(old) == 0 or old.source_names == new.source_names)
        same = same and (bool(old.members) or old.rows == new.rows[: len(old)])
        if not (same and all(np.array_equal(own, after[: len(old)]) for own, after in rows)):
            return False
    return len(constraints) <= len(more)


def _one_by_one(
    constraints: Sequence[Constraints], more: Sequence[Constraints]
) -> Iterator[tuple[Constraints, ...]]:
    """The constraints with one further answer at a time, up to all of `more`."""
    for v, own in enumerate(more):
        for number in range(len(constraints[v]) if v < len(constraints) else 0, len(own)):
            first = own.select(slice(number + 1))
            yield (*more[:v], first, *constraints[v + 1 :])


def systematic(weights: FloatArray, rng: Generator) -> IntArray:
    """Draw as many indices in ascending order, each as often as its weight says or once more."""
    positions = (rng.random() + np.arange(len(weights))) / len(weights)
    found = np.searchsorted(np.cumsum(weights), positions)
    return found.clip(max=len(weights) - 1).astype(np.int64)


class Particles:
    """`number` weighted draws of one model from chains in turn, which are warmed up here."""

    def __init__(
        self, chains: Sequence[Chain], number: int, num_warmup: int, thinning: int = THINNING
    ) -> None:
        self.problem = chains[0].problem
        self.n_resampled = 0
        self._next = 0
        self._chain = chains[0]
        for chain in chains:
            for sweep in range(num_warmup):
                chain.sweep(adapt=True, freeze_noise=2 * sweep < num_warmup)
        self._states: list[dict[str, Any]] = []
        partitions = []
        for s in range(number):
            chain = chains[s % len(chains)]
            for _ in range(thinning):
                chain.sweep()
            self._states.append(copy.deepcopy(chain.snapshot()))
            partitions.append(chain.labels.copy())
        self.draws: IntArray = np.stack(partitions)
        self._log_weights = np.zeros(number)
        self._log_answers = self._log_prob(self.problem.constraints)

    @property
    def weights(self) -> FloatArray:
        """Weights of the draws, of sum 1, shape (S,)."""
        return np.asarray(softmax(self._log_weights))

    @property
    def effective_size(self) -> float:
        """1 / sum w^2: number of equally weighted draws as good (Kong, Liu and Wong 1994)."""
        return float(1.0 / (self.weights**2).sum())

    def update(self, constraints: Sequence[Constraints], rng: Generator) -> None:
        """Condition on further answers; `constraints` holds those so far, in order, and more."""
        for stage in _one_by_one(self.problem.constraints, constraints):
            self.reweight(stage)
            if self.effective_size < MIN_ESS * len(self.draws):
                self.resample(rng)
            else:
                self.rejuvenate(rng)
        self.problem = replace(self.problem, constraints=tuple(constraints))

    def reweight(self, constraints: Sequence[Constraints]) -> None:
        """Condition on further answers by the weights alone."""
        before = self._log_answers
        self._log_answers = self._log_prob(constraints)
        self._log_weights += self._log_answers - before
        self.problem = replace(self.problem, constraints=tuple(constraints))

    def resample(self, rng: Generator) -> None:
        """Resample the draws by their weights, and move each."""
        chosen = systematic(self.weights, rng)
        self._states = [copy.deepcopy(self._states[s]) for s in chosen]
        self.draws = self.draws[chosen]
        self._log_weights = np.zeros(len(chosen))
        self._sweep(np.arange(len(chosen)), rng)
        self.n_resampled += 1

    def rejuvenate(self, rng: Generator) -> None:
        """Move a part of the draws, in turn, by one sweep each; weights stay as they are."""
        # Where every draw contradicts the answers alike, only moving finds other partitions.
        size = len(self.draws)
        count = math.ceil(MOVED * size)
        if count:
            self._sweep((self._next + np.arange(count)) % size, rng)
            self._next = (self._next + count) % size

    def _sweep(self, which: IntArray, rng: Generator) -> None:
        """Move some draws by a sweep under all answers so far."""
        noise = []
        for each in self.problem.constraints:
            start = each.noise.initial(each.n_sources)
            params = each.noise.draw(each.counts(self.draws[which]), start, rng)
            # known values come without the axis of draws
            shapes = {name: (len(which), *value.shape) for name, value in start.items()}
            noise.append({n: np.broadcast_to(params[n], shape) for n, shape in shapes.items()})
        chain = self._chain
        chain.state.use(self.problem)
        chain.state.rng = rng
        for place, s in enumerate(which.tolist()):
            now: dict[str, Any] = {"generator": rng.bit_generator.state}
            now["noise"] = [{name: own[name][place] for name in own} for own in noise]
            chain.restore(self._states[s] | {"state": self._states[s]["state"] | now})
            chain.sweep()
            self._states[s] = chain.snapshot()
            self.draws[s] = chain.labels
        self._log_answers = self._log_prob(self.problem.constraints)

    def _log_prob(self, constraints: Sequence[Constraints]) -> FloatArray:
        """log p(answers | z) of each draw, the noise integrated out."""
        values = np.zeros(len(self.draws))
        for each in constraints:
            values += each.noise.log_marginal(each.counts(self.draws))
        return values
