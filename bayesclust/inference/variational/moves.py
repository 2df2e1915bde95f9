"""Moves that coordinate ascent cannot make: merging, deleting and splitting components.

Each proposes other responsibilities, sweeps them a few times and is accepted only if the bound is
higher than before, so the path of the bound never falls.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from scipy.special import xlogy

from bayesclust.inference.starts import seeded_partition
from bayesclust.inference.variational.mean_field import MeanField, softmax
from bayesclust.typing import FloatArray

GAIN = 1e-6
"""Nats by which the bound must rise."""
MERGES, MERGE_SWEEPS, SPLIT_SWEEPS, DELETE_SWEEPS = 3, 2, 6, 3
SMALLEST = 4
"""Expected items that a component must have to be split."""


def merge(state: MeanField) -> MeanField | None:
    """Join the two components whose union promises most; None where nothing tried raises the bound."""
    if state.n_components < 2:
        return None
    gain = merge_gains(state)
    first, second = np.triu_indices(state.n_components, 1)
    for at in np.argsort(-gain[first, second], kind="stable")[:MERGES]:
        k, j = int(first[at]), int(second[at])
        r = np.delete(state.r, j, axis=1)
        r[:, k] += state.r[:, j]
        if (better := _tried(state, r, MERGE_SWEEPS)) is not None:
            return better
    return None


def merge_gains(state: MeanField) -> FloatArray:
    """Change of the bound by merging each two components, the sticks and products of triplets left out, shape (K, K)."""
    components, r = state.task.components, state.r
    first, second = np.triu_indices(state.n_components, 1)
    alone = components.log_marginal(state.statistics, state.hyper)
    union = components.log_marginal(
        tuple(part[first] + part[second] for part in state.statistics), state.hyper
    )
    gain = np.zeros((state.n_components,) * 2)
    gain[first, second] = union - alone[first] - alone[second]
    lost = np.array(
        [
            (xlogy(r[:, k] + r[:, j], r[:, k] + r[:, j])).sum()
            for k, j in zip(first, second, strict=True)
        ]
    )
    own = xlogy(r, r).sum(axis=0)
    gain[first, second] += own[first] + own[second] - lost
    return gain + np.triu(r.T @ state.messages(), 1)


def delete(state: MeanField) -> MeanField | None:
    """Give up the smallest component, its items going where they fit best."""
    if state.n_components < 2:
        return None
    logits = (state.expected_logits() + state.messages())[:, :-1]
    free = softmax(logits)
    gone = state.r[:, -1:]
    r = state.r[:, :-1] + gone * free
    return _tried(state, r / r.sum(axis=1, keepdims=True), DELETE_SWEEPS)


def splits(state: MeanField, most: int, rng: Generator) -> Iterator[MeanField]:
    """Split the components in turn, each by two seeds among its items; yields a state whenever the bound has risen."""
    points = state.task.problem.family.embedding()
    for column in list(state.r.T):
        items = np.flatnonzero(column > 0.5)
        if len(items) < SMALLEST or state.n_components >= most:
            continue
        k = int(np.argmax(state.r[items].sum(axis=0)))
        half = seeded_partition(points[items], 2, rng) == 1
        r = np.column_stack([state.r, np.zeros(len(state.r))])
        r[items[half], -1], r[items[half], k] = r[items[half], k], 0.0
        if (better := _tried(state, r, SPLIT_SWEEPS)) is not None:
            state = better
            yield state


def _tried(state: MeanField, r: FloatArray, sweeps: int) -> MeanField | None:
    """The state after some sweeps from these responsibilities, if its bound is higher."""
    least = state.bound + GAIN
    trial = state.with_responsibilities(r)
    for _ in range(sweeps):
        if trial.bound > least:
            break
        trial.sweep()
    return trial if trial.bound > least else None
