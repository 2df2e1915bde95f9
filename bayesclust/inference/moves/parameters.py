"""Moves of everything but the partition: base measure, parameters of the partition prior, noise of the constraints."""

from __future__ import annotations

from typing import Any

from bayesclust.families.base import BoundFamily
from bayesclust.inference.chain import Move, State
from bayesclust.inference.hyper import HyperSampler


class Refresh(Move):
    """Computes the clusters' state again: rounding creeps in, item by item."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.refresh()


class BaseMeasure(Move):
    """Metropolis steps on the hyper-parameters of the base measure."""

    def __init__(self, family: BoundFamily) -> None:
        self.sampler = HyperSampler(family)

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        self.sampler.family = state.problem.family
        state.hyper = self.sampler.update(
            state.clusters, state.assignment, state.hyper, state.rng, adapt=adapt
        )

    def snapshot(self) -> dict[str, Any]:
        return self.sampler.snapshot()

    def restore(self, snapshot: dict[str, Any]) -> None:
        self.sampler.restore(snapshot)


class PartitionPriorParameters(Move):
    """A draw of the parameters of the prior over partitions, such as the concentration."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.update_partition_prior()


class Noise(Move):
    """A conjugate draw of the noise of every constraint, unless it is held at its prior mean."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        if not freeze_noise:
            state.update_noise()


__all__ = ["BaseMeasure", "Noise", "PartitionPriorParameters", "Refresh"]
