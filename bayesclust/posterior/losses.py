"""Losses between partitions, as values: what an estimate costs when the truth is another partition.

Both losses of Dahl, Johnson and Müller (2022) are one formula with two potentials f,

    L(truth, estimate) = (a sum_S f(|S|) + (2 - a) sum_T f(|T|) - 2 sum_S sum_T f(|S n T|)) / scale(n),

where S runs over the clusters of the truth and T over those of the estimate. A new loss of this form is a new class with
its own `potential` and `scale`; the search for the best partition needs nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesclust._jit import kernel
from bayesclust.constraints._checks import number_between
from bayesclust.posterior.labels import Labels, as_labels, as_partitions
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["VI", "Binder", "Loss", "as_loss", "expected_losses"]


@dataclass(frozen=True)
class Loss(ABC):
    """A loss between partitions built from a convex potential of cluster sizes.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of separating what belongs together; joining what does not costs 2 - a. The default weighs both alike.

    Raises
    ------
    TypeError, ValueError
        If a is not a number, or lies outside (0, 2).
    """

    a: float = 1.0

    def __post_init__(self) -> None:
        number_between(self.a, "a", "(0, 2)")

    @abstractmethod
    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return f(counts), elementwise, with f(0) = 0."""

    @abstractmethod
    def scale(self, n: int) -> float:
        """Return what the sums are divided by for n items."""

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
        f = self.potential
        total = self.a * f(table.sum(axis=1)).sum() + (2 - self.a) * f(table.sum(axis=0)).sum() - 2 * f(table).sum()
        return max(float(total) / self.scale(len(truth)), 0.0)

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


@dataclass(frozen=True)
class VI(Loss):
    """Variation of information, in bits, or its weighted form (Dahl, Johnson and Müller 2022).

    f(x) = x log2 x and scale(n) = n: (2 - a) H(truth | estimate) + a H(estimate | truth) with entropies to base 2. At
    a = 1 this is the metric of Meila (2007), between 0 and log2 n.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of splitting what belongs together; 2 - a is the price of joining what does not. Below 1 the estimate has
        more clusters, above 1 fewer.

    Examples
    --------
    >>> VI().loss([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    >>> VI(a=0.5).loss([0, 0, 1, 1], [0, 0, 0, 0])
    1.5
    """

    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return x log2 x, with 0 at 0."""
        x = np.asarray(counts, dtype=np.float64)
        value: FloatArray = x * np.log2(np.maximum(x, 1.0))
        return value

    def scale(self, n: int) -> float:
        """Return n."""
        return float(n)


@dataclass(frozen=True)
class Binder(Loss):
    """Binder's loss, or its weighted form (Binder 1978; Dahl, Johnson and Müller 2022).

    f(x) = x^2 and scale(n) = n^2: 2 / n^2 times the sum over unordered pairs of a for each pair that the estimate separates
    and the truth joins, and of 2 - a for each that it joins and the truth separates. At a = 1 this is
    (1 - Rand index) (n - 1) / n.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Price of splitting what belongs together; 2 - a is the price of joining what does not. Below 1 the estimate has
        more clusters, above 1 fewer. At the optimum of expected loss pairs count as joined where their posterior
        probability of being together exceeds (2 - a) / 2.

    Examples
    --------
    >>> Binder().loss([0, 0, 1, 1], [0, 0, 0, 0])
    0.5
    >>> Binder(a=0.5).loss([0, 0, 1, 1], [0, 0, 0, 0])
    0.75
    """

    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return x^2."""
        x = np.asarray(counts, dtype=np.float64)
        value: FloatArray = x * x
        return value

    def scale(self, n: int) -> float:
        """Return n^2."""
        return float(n) * n


def as_loss(loss: Any) -> Loss:
    """Return a loss given by name or as a value.

    Parameters
    ----------
    loss : "vi", "binder" or Loss

    Returns
    -------
    Loss

    Raises
    ------
    ValueError, TypeError
        If there is no such loss.

    Examples
    --------
    >>> as_loss("vi")
    VI(a=1.0)
    """
    if isinstance(loss, Loss):
        return loss
    named = {"vi": VI, "binder": Binder}
    if isinstance(loss, str) and loss.lower() in named:
        return named[loss.lower()]()
    kind = ValueError if isinstance(loss, str) else TypeError
    raise kind(f'loss must be "vi", "binder" or a loss such as VI(a=0.5); got {loss!r}.')


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
    >>> expected_losses(VI(), [[0, 0], [0, 1]], [[0, 0], [0, 0], [0, 1]])
    array([0.333, 0.667])
    """
    candidates, partitions = as_partitions(estimates), as_partitions(draws)
    n = partitions.shape[1]
    if candidates.shape[1] != n:
        raise ValueError(
            f"draws name {n} items and estimates {candidates.shape[1]}: pass draws of the items of the estimates."
        )
    table = loss.potential(np.arange(n + 1))
    value: FloatArray = _mean_losses(candidates, partitions, table, loss.a) / loss.scale(n)
    return value


@kernel
def _mean_losses(estimates: Labels, draws: Labels, f: FloatArray, a: float) -> FloatArray:
    n_draws, n = draws.shape
    out = np.zeros(estimates.shape[0])
    own = np.zeros(draws.max() + 1, np.int64)
    width = own.size
    cells = np.zeros((estimates.max() + 1) * width, np.int64)
    sizes = np.zeros(estimates.max() + 1, np.int64)
    for e in range(estimates.shape[0]):
        sizes[:] = 0
        for i in range(n):
            sizes[estimates[e, i]] += 1
        total = 0.0
        for k in range(sizes.size):
            total += (2.0 - a) * n_draws * f[sizes[k]]
        for b in range(n_draws):
            for i in range(n):
                own[draws[b, i]] += 1
                cells[estimates[e, i] * width + draws[b, i]] += 1
            value = 0.0
            for i in range(n):
                label = draws[b, i]
                cell = estimates[e, i] * width + label
                value += a * f[own[label]] - 2.0 * f[cells[cell]]
                own[label] = 0
                cells[cell] = 0
            total += value
        out[e] = total / n_draws
    return out
