"""What all losses between partitions share.

Every loss here is a function of three sums of one potential f of sizes: over the clusters S of the
truth, over those T of the estimate, and over their intersections,

    A = sum_S f(|S|),   B = sum_T f(|T|),   C = sum_S sum_T f(|S n T|).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from bayesclust._numba import kernel
from bayesclust.posterior.labels import Labels, as_labels, as_partitions, partition_sizes
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["Loss", "expected_losses", "pairwise_losses"]

CELLS = 2**22
"""Losses that are in memory at a time where only their means are wanted."""


class Loss(ABC):
    """A loss between partitions, from sums of a potential of cluster sizes."""

    @property
    @abstractmethod
    def is_metric(self) -> bool:
        """Whether the loss is symmetric, zero for equal partitions only, and keeps the triangle inequality."""

    @abstractmethod
    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return f(counts), elementwise, with f(0) = 0."""

    @abstractmethod
    def of_sums(
        self, truth: FloatArray, estimate: FloatArray, both: FloatArray, n: int
    ) -> FloatArray:
        """Return the loss from the sums A, B and C of the potential over n items, elementwise."""

    def loss(self, truth: ArrayLike, estimate: ArrayLike) -> float:
        """Return the loss of an estimate when the truth is known.

        Parameters
        ----------
        truth, estimate : (n,) array of int
            Labels; only their equality matters.

        Returns
        -------
        float
            At least 0, and 0 for equal partitions.

        Raises
        ------
        ValueError
            If the two do not name the same number of items.
        """
        truth, estimate = as_labels(truth, "truth"), as_labels(estimate, "estimate")
        if len(truth) != len(estimate):
            raise ValueError(
                f"truth names {len(truth)} items and estimate {len(estimate)}: pass two partitions of the same items."
            )
        table = np.zeros((truth.max() + 1, estimate.max() + 1), dtype=np.int64)
        np.add.at(table, (truth, estimate), 1)
        A, B, C = (
            np.asarray(self.potential(sizes).sum())
            for sizes in (table.sum(axis=1), table.sum(axis=0), table)
        )
        return max(float(self.of_sums(A, B, C, len(truth))), 0.0)

    def expected(self, estimate: ArrayLike, draws: ArrayLike) -> float:
        """Return the mean loss of an estimate over draws of the truth.

        Parameters
        ----------
        estimate : (n,) array of int
        draws : (draws, n) array of int
            Posterior draws, equally weighted.

        Returns
        -------
        float
            Monte Carlo estimate of the posterior expected loss; O(draws n) time.

        Raises
        ------
        ValueError
            If the draws are of other items.
        """
        labels, partitions = as_labels(estimate, "estimate"), as_partitions(draws)
        if partitions.shape[1] != len(labels):
            raise ValueError(
                f"draws name {partitions.shape[1]} items and estimate {len(labels)}: "
                "pass draws of the items of the estimate."
            )
        return float(expected_losses(self, labels[None], partitions)[0])


def expected_losses(loss: Loss, estimates: ArrayLike, draws: ArrayLike) -> FloatArray:
    """Return the expected loss of several estimates.

    Parameters
    ----------
    loss : Loss
    estimates : (m, n) array of int
    draws : (draws, n) array of int

    Returns
    -------
    (m,) array of float

    Raises
    ------
    ValueError
        If the draws are of other items.

    Examples
    --------
    >>> from bayesclust.posterior.losses import VI
    >>> expected_losses(VI(), [[0, 0], [0, 1]], [[0, 0], [0, 0], [0, 1]])
    array([0.333, 0.667])
    """
    candidates, partitions = _check_items(loss, estimates, draws)
    step = max(CELLS // len(partitions), 1)
    means = [
        _losses(loss, candidates[at : at + step], partitions).mean(axis=1)
        for at in range(0, len(candidates), step)
    ]
    return np.concatenate(means)


def pairwise_losses(loss: Loss, estimates: ArrayLike, draws: ArrayLike) -> FloatArray:
    """Return the loss of each of several estimates when each of several draws is the truth.

    Parameters
    ----------
    loss : Loss
    estimates : (m, n) array of int
    draws : (draws, n) array of int

    Returns
    -------
    (m, draws) array of float

    Raises
    ------
    ValueError
        If the draws are of other items.

    Examples
    --------
    >>> from bayesclust.posterior.losses import VI
    >>> pairwise_losses(VI(), [[0, 0], [0, 1]], [[0, 0], [0, 0], [0, 1]])
    array([[0., 0., 1.],
           [1., 1., 0.]])
    """
    return _losses(loss, *_check_items(loss, estimates, draws))


def _check_items(loss: Loss, estimates: ArrayLike, draws: ArrayLike) -> tuple[Labels, Labels]:
    if not isinstance(loss, Loss):
        raise TypeError(
            f"loss must be a loss such as losses.VI(); got {type(loss).__name__}: as_loss makes one of a name."
        )
    candidates, partitions = as_partitions(estimates, "estimates"), as_partitions(draws)
    n = partitions.shape[1]
    if candidates.shape[1] != n:
        raise ValueError(
            f"draws name {n} items and estimates {candidates.shape[1]}: pass draws of the items of the estimates."
        )
    return candidates, partitions


def _losses(loss: Loss, estimates: Labels, draws: Labels) -> FloatArray:
    """Of canonical labels."""
    n = draws.shape[1]
    f = loss.potential(np.arange(n + 1))
    truth, estimate = (f[partition_sizes(z)].sum(axis=1) for z in (draws, estimates))
    value: FloatArray = loss.of_sums(truth, estimate[:, None], _shared_sums(estimates, draws, f), n)
    return value


@kernel
def _shared_sums(estimates: Labels, draws: Labels, f: FloatArray) -> FloatArray:
    """Sum the potential over the intersections of every estimate with every draw, (m, draws)."""
    n_draws, n = draws.shape
    out = np.zeros((estimates.shape[0], n_draws))
    width = draws.max() + 1
    cells = np.zeros((estimates.max() + 1) * width, np.int64)
    for e in range(estimates.shape[0]):
        for b in range(n_draws):
            for i in range(n):
                cells[estimates[e, i] * width + draws[b, i]] += 1
            value = 0.0
            for i in range(n):
                cell = estimates[e, i] * width + draws[b, i]
                value += f[cells[cell]]
                cells[cell] = 0
            out[e, b] = value
    return out
