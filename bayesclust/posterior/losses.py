"""Losses between partitions: the cost of an estimate when the truth is another partition.

A loss is a function of sums of a potential f of sizes, over the clusters S of the truth, T of the
estimate, and their intersections: A = sum_S f(|S|), B = sum_T f(|T|), C = sum_ST f(|S n T|), as
L = (a A + (2 - a) B - 2 C) / scale(n) (the additive losses of Dahl, Johnson and Müller 2022).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesclust._numba import kernel
from bayesclust.checks import number_between, shown
from bayesclust.posterior.tree import Labels, as_labels, as_partitions, partition_sizes
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["VI", "Binder", "Loss"]

CELLS = 2**22
"""Losses that are in memory at a time where only their means are wanted."""


@dataclass(frozen=True)
class Loss(ABC):
    """A loss between partitions, from a convex potential of cluster sizes and a scale.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Cost of separating what belongs together; joining what does not costs 2 - a. Below 1 the
        estimate has more clusters, above 1 fewer. At 1 it is a metric.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> class Cubic(bc.losses.Loss):
    ...     def potential(self, counts):
    ...         return np.asarray(counts, float) ** 3
    ...     def scale(self, n):
    ...         return n**3
    >>> Cubic().loss([0, 0, 1, 1], [0, 0, 0, 0])
    0.75
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
        """Return the loss of an estimate (n,) when the truth (n,) is known; 0 where they agree."""
        return self.expected(estimate, as_labels(truth, "truth")[None])

    def expected(self, estimate: ArrayLike, draws: ArrayLike) -> float:
        """Return the mean loss of an estimate (n,) over posterior draws (draws, n) of the truth."""
        return float(expected_losses(self, as_labels(estimate, "estimate")[None], draws)[0])


@dataclass(frozen=True)
class VI(Loss):
    """Variation of information, in bits, or its weighted form (Dahl, Johnson and Müller 2022).

    f(x) = x log2 x and scale(n) = n: (2 - a) H(truth | estimate) + a H(estimate | truth) with
    entropies to base 2. At a = 1 this is the metric of Meila (2007), between 0 and log2 n.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Cost of splitting what belongs together; 2 - a is the cost of joining what does not.

    Examples
    --------
    >>> import bayesclust as bc
    >>> halves, one = [0, 0, 1, 1], [0, 0, 0, 0]
    >>> bc.losses.VI().loss(halves, one), bc.losses.VI(a=0.5).loss(halves, one)
    (1.0, 1.5)
    """

    def potential(self, counts: ArrayLike) -> FloatArray:
        x = np.asarray(counts, dtype=np.float64)
        return np.asarray(x * np.log2(np.maximum(x, 1.0)))

    def scale(self, n: int) -> float:
        return float(n)


@dataclass(frozen=True)
class Binder(Loss):
    """Binder's loss, or its weighted form (Binder 1978; Dahl, Johnson and Müller 2022).

    f(x) = x^2 and scale(n) = n^2: 2 / n^2 times the sum over unordered pairs of a for each pair
    that the estimate separates and the truth joins, and of 2 - a for each that it joins and the
    truth separates. At a = 1 this is (1 - Rand index) (n - 1) / n.

    Parameters
    ----------
    a : float in (0, 2), default 1
        As of `VI`: pairs are joined where their posterior probability exceeds (2 - a) / 2.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.losses.Binder().loss([0, 0, 1, 1], [0, 0, 0, 0])
    0.5
    """

    def potential(self, counts: ArrayLike) -> FloatArray:
        return np.asarray(np.square(counts, dtype=np.float64))

    def scale(self, n: int) -> float:
        return float(n) * n


LOSSES: dict[str, type[Loss]] = {"vi": VI, "binder": Binder}


def as_loss(loss: Any) -> Loss:
    """Return a loss given by its name in `LOSSES` or as a value."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss.lower() in LOSSES:
        return LOSSES[loss.lower()]()
    kind = ValueError if isinstance(loss, str) else TypeError
    names = ", ".join(f'"{name}"' for name in LOSSES)
    raise kind(f"loss must be {names} or an object such as losses.VI(a=0.5); got {shown(loss)}.")


def check_metric(loss: Any, what: str) -> Loss:
    """Return a loss that is a metric, or refuse it: `what` needs one."""
    metric = as_loss(loss)
    if metric.a != 1:
        raise ValueError(
            f"{what} needs a distance between partitions, and {metric!r} is none: "
            "take VI() or another loss with a=1."
        )
    return metric


def expected_losses(loss: Loss, estimates: ArrayLike, draws: ArrayLike) -> FloatArray:
    """Return the expected loss (m,) of estimates (m, n) over draws (draws, n) of the truth."""
    candidates, partitions = _partitions(estimates, draws)
    step = max(CELLS // len(partitions), 1)
    begins = range(0, len(candidates), step)
    parts = (_losses(loss, candidates[at : at + step], partitions) for at in begins)
    return np.concatenate([part.mean(axis=1) for part in parts])


def pairwise_losses(loss: Loss, estimates: ArrayLike, draws: ArrayLike) -> FloatArray:
    """Return the loss (m, draws) of each estimate (m, n) when each draw (draws, n) is the truth."""
    return _losses(loss, *_partitions(estimates, draws))


def size_entropy(sizes: Labels) -> FloatArray:
    """Return the entropy of cluster sizes (..., K), in bits; what is negative is rounding."""
    n = sizes.sum(axis=-1)
    bits: FloatArray = np.log2(n) - VI().potential(sizes).sum(axis=-1) / n
    return np.maximum(bits, 0.0)


def adjusted_rands(labels: Labels, draws: Labels) -> FloatArray:
    """Return the Rand index adjusted for chance of labels (n,) and each draw (draws, n)."""
    # (C - A B / f(n)) / ((A + B) / 2 - A B / f(n)), f(x) = x (x - 1) / 2 (Hubert and Arabie 1985).
    estimate, partitions = _partitions(labels[None], draws)
    sizes = np.arange(len(labels) + 1)
    f = sizes * (sizes - 1) / 2
    own = f[partition_sizes(estimate)].sum()
    drawn = f[partition_sizes(partitions)].sum(axis=1)
    shared = _shared_sums(estimate, partitions, f)[0]
    most = (own + drawn) / 2
    by_chance = own * drawn / max(f[-1], 1.0)
    equal = shared == most
    return np.where(equal, 1.0, (shared - by_chance) / np.where(equal, 1.0, most - by_chance))


def _partitions(estimates: ArrayLike, draws: ArrayLike) -> tuple[Labels, Labels]:
    candidates = as_partitions(estimates, "estimates")
    partitions = as_partitions(draws)
    if candidates.shape[1] != partitions.shape[1]:
        raise ValueError(
            f"the estimate is of {candidates.shape[1]} items and the draws of the truth of "
            f"{partitions.shape[1]}: pass partitions of the same items."
        )
    return candidates, partitions


def _losses(loss: Loss, estimates: Labels, draws: Labels) -> FloatArray:
    """Losses (m, draws) of canonical labels (m, n) and (draws, n)."""
    n = draws.shape[1]
    f = loss.potential(np.arange(n + 1))
    truth, estimate = (f[partition_sizes(z)].sum(axis=1) for z in (draws, estimates))
    both = _shared_sums(estimates, draws, f)
    total = loss.a * truth + (2 - loss.a) * estimate[:, None] - 2 * both
    return np.maximum(total / loss.scale(n), 0.0)


@kernel
def _shared_sums(estimates: Labels, draws: Labels, f: FloatArray) -> FloatArray:
    """Sum the potential over the intersections of every estimate with every draw, (m, draws)."""
    n_draws, n = draws.shape
    out = np.zeros((estimates.shape[0], n_draws))
    count = np.zeros(n, np.int64)
    items = np.zeros(n, np.int64)
    for e in range(estimates.shape[0]):
        # cluster by cluster, so that memory grows with their number and not with its square
        number = 0
        end = np.zeros(n + 1, np.int64)
        for i in range(n):
            number = max(number, estimates[e, i] + 1)
            end[estimates[e, i] + 1] += 1
        for k in range(number):
            end[k + 1] += end[k]
        for i in range(n):
            items[end[estimates[e, i]]] = i
            end[estimates[e, i]] += 1
        for b in range(n_draws):
            value = 0.0
            begin = 0
            for k in range(number):
                for at in range(begin, end[k]):
                    count[draws[b, items[at]]] += 1
                for at in range(begin, end[k]):
                    label = draws[b, items[at]]
                    value += f[count[label]]
                    count[label] = 0
                begin = end[k]
            out[e, b] = value
    return out
