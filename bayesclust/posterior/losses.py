"""Losses between partitions: the cost of an estimate when the truth is another partition.

Every loss is a function of sums of a potential f of sizes, over the clusters S of the truth, T of
the estimate, and their intersections: A = sum_S f(|S|), B = sum_T f(|T|), C = sum_ST f(|S n T|).
The additive losses of Dahl, Johnson and Müller (2022) are L = (a A + (2 - a) B - 2 C) / scale(n),
whose expectation `bayesclust.point_estimate` minimizes; the others are scores, ratios of sums.
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

__all__ = [
    "ID",
    "NID",
    "NVI",
    "VI",
    "AdditiveLoss",
    "Binder",
    "Loss",
    "OneMinusARI",
]

CELLS = 2**22
"""Losses that are in memory at a time where only their means are wanted."""


class Loss(ABC):
    """A loss between partitions, from sums of a potential of cluster sizes.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.losses.NVI().expected([0, 0, 1, 1], [[0, 0, 1, 1], [0, 1, 2, 3]])
    0.25
    """

    @property
    @abstractmethod
    def is_metric(self) -> bool:
        """Whether the loss is a metric on partitions."""

    @abstractmethod
    def potential(self, counts: ArrayLike) -> FloatArray:
        """Return f(counts), elementwise, with f(0) = 0."""

    @abstractmethod
    def of_sums(self, A: FloatArray, B: FloatArray, C: FloatArray, n: int) -> FloatArray:
        """Return the loss from the sums A, B and C of the potential over n items, elementwise."""

    def loss(self, truth: ArrayLike, estimate: ArrayLike) -> float:
        """Return the loss of an estimate (n,) when the truth (n,) is known; 0 where they agree."""
        known = as_labels(truth, "truth")
        labels = as_labels(estimate, "estimate")
        _check_items(labels, known, "estimate", "truth names")
        return float(_losses(self, labels[None], known[None])[0, 0])

    def expected(self, estimate: ArrayLike, draws: ArrayLike) -> float:
        """Return the mean loss of an estimate (n,) over posterior draws (draws, n) of the truth."""
        labels = as_labels(estimate, "estimate")
        partitions = as_partitions(draws)
        _check_items(labels, partitions, "estimate")
        return float(expected_losses(self, labels[None], partitions)[0])


@dataclass(frozen=True)
class AdditiveLoss(Loss):
    """A loss (a A + (2 - a) B - 2 C) / scale(n), from a convex potential of cluster sizes.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Cost of separating what belongs together; joining what does not costs 2 - a. Below 1 the
        estimate has more clusters, above 1 fewer. At 1 it is a metric.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> class Cubic(bc.losses.AdditiveLoss):
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
    def scale(self, n: int) -> float:
        """Return what the sums are divided by for n items."""

    @property
    def is_metric(self) -> bool:
        return self.a == 1

    def of_sums(self, A: FloatArray, B: FloatArray, C: FloatArray, n: int) -> FloatArray:
        return np.asarray((self.a * A + (2 - self.a) * B - 2 * C) / self.scale(n))


class _Entropic(Loss):
    """A loss of entropies: f(x) = x log2 x, so that n H(truth) = f(n) - A, and so on."""

    def potential(self, counts: ArrayLike) -> FloatArray:
        x = np.asarray(counts, dtype=np.float64)
        return np.asarray(x * np.log2(np.maximum(x, 1.0)))


@dataclass(frozen=True)
class VI(_Entropic, AdditiveLoss):
    """Variation of information, in bits, or its weighted form (Dahl, Johnson and Müller 2022).

    f(x) = x log2 x and scale(n) = n: (2 - a) H(truth | estimate) + a H(estimate | truth) with
    entropies to base 2. At a = 1 this is the metric of Meila (2007), between 0 and log2 n.

    Parameters
    ----------
    a : float in (0, 2), default 1
        Cost of splitting what belongs together; 2 - a is the cost of joining what does not.

    Examples
    --------
    >>> VI().loss([0, 0, 1, 1], [0, 0, 0, 0]), VI(a=0.5).loss([0, 0, 1, 1], [0, 0, 0, 0])
    (1.0, 1.5)
    """

    def scale(self, n: int) -> float:
        return float(n)


@dataclass(frozen=True)
class Binder(AdditiveLoss):
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
    >>> Binder().loss([0, 0, 1, 1], [0, 0, 0, 0])
    0.5
    """

    def potential(self, counts: ArrayLike) -> FloatArray:
        return np.asarray(np.square(counts, dtype=np.float64))

    def scale(self, n: int) -> float:
        return float(n) * n


@dataclass(frozen=True)
class OneMinusARI(Loss):
    """One minus the Rand index adjusted for chance (Hubert and Arabie 1985). A score; no metric.

    f(x) = x (x - 1) / 2, the pairs in a cluster: ((A + B) / 2 - C) / ((A + B) / 2 - A B / f(n)). It
    is 0 for equal partitions, about 1 for independent ones and above 1 for less agreement than by
    chance.

    Examples
    --------
    >>> OneMinusARI().loss([0, 0, 1, 1], [0, 0, 1, 2])
    0.429
    """

    is_metric = False

    def potential(self, counts: ArrayLike) -> FloatArray:
        x = np.asarray(counts, dtype=np.float64)
        return np.asarray(x * (x - 1) / 2)

    def of_sums(self, A: FloatArray, B: FloatArray, C: FloatArray, n: int) -> FloatArray:
        mean = (A + B) / 2
        by_chance = A * B / max(n * (n - 1) / 2, 1)
        return _ratio(mean - C, mean - by_chance, mean)


@dataclass(frozen=True)
class NVI(_Entropic):
    """Normalized variation of information: VI over the joint entropy, 1 - I / H(truth, estimate).

    A metric and a score, from 0 to 1 (Vinh, Epps and Bailey 2010, Theorem 1).

    Examples
    --------
    >>> NVI().loss([0, 0, 1, 1], [0, 1, 2, 3])
    0.5
    """

    is_metric = True

    def of_sums(self, A: FloatArray, B: FloatArray, C: FloatArray, n: int) -> FloatArray:
        mean = (A + B) / 2
        return _ratio(mean - C, (self.potential(n) - C) / 2, mean)


@dataclass(frozen=True)
class ID(_Entropic):
    """Information distance, in bits: max(H(truth), H(estimate)) - I.

    A metric and a score (Vinh, Epps and Bailey 2010), at least half of VI and at most all of it.

    Examples
    --------
    >>> ID().loss([0, 0, 1, 1], [0, 1, 0, 1])
    1.0
    """

    is_metric = True

    def of_sums(self, A: FloatArray, B: FloatArray, C: FloatArray, n: int) -> FloatArray:
        larger = np.maximum(A, B)
        return _ratio(larger - C, np.full_like(larger, n), larger)


@dataclass(frozen=True)
class NID(_Entropic):
    """Normalized information distance: 1 - I / max(H(truth), H(estimate)), from 0 to 1.

    A metric and a score (Vinh, Epps and Bailey 2010, Theorem 2, who recommend it).

    Examples
    --------
    >>> NID().loss([0, 0, 1, 1], [0, 1, 2, 3])
    0.5
    """

    is_metric = True

    def of_sums(self, A: FloatArray, B: FloatArray, C: FloatArray, n: int) -> FloatArray:
        larger = np.maximum(A, B)
        return _ratio(larger - C, self.potential(n) - np.minimum(A, B), larger)


LOSSES: dict[str, type[Loss]] = {
    "vi": VI,
    "binder": Binder,
    "omari": OneMinusARI,
    "nvi": NVI,
    "id": ID,
    "nid": NID,
}


def as_loss(loss: Any) -> Loss:
    """Return a loss given by its name in `LOSSES` or as a value."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss.lower() in LOSSES:
        return LOSSES[loss.lower()]()
    kind = ValueError if isinstance(loss, str) else TypeError
    names = ", ".join(f'"{name}"' for name in LOSSES)
    raise kind(f"loss must be {names} or a loss such as VI(a=0.5); got {shown(loss)}.")


def check_metric(loss: Any, what: str) -> Loss:
    """Return a loss that is a metric, or refuse it: `what` needs one."""
    metric = as_loss(loss)
    if not metric.is_metric:
        raise ValueError(
            f"{what} needs a distance between partitions, and {metric!r} is none: "
            "take VI() or another loss with a=1."
        )
    return metric


def check_additive(loss: Any) -> AdditiveLoss:
    """Return a loss that the search for a point estimate can minimize, or refuse it."""
    value = as_loss(loss)
    if not isinstance(value, AdditiveLoss):
        raise ValueError(
            f"{value!r} is a score, and no estimate is searched for under it: "
            "take VI, Binder or another AdditiveLoss."
        )
    return value


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


def _ratio(above: FloatArray, below: FloatArray, size: FloatArray) -> FloatArray:
    """above / below, and 0 for equal partitions, whose sums are equal but for rounding."""
    distinct = above > 1e-12 * (size + 1)
    return np.asarray(np.where(distinct, above / np.where(distinct, below, 1.0), 0.0))


def _partitions(estimates: ArrayLike, draws: ArrayLike) -> tuple[Labels, Labels]:
    candidates = as_partitions(estimates, "estimates")
    partitions = as_partitions(draws)
    _check_items(candidates, partitions, "estimates")
    return candidates, partitions


def _check_items(one: Labels, other: Labels, what: str, others: str = "draws name") -> None:
    if one.shape[-1] != other.shape[-1]:
        raise ValueError(
            f"{others} {other.shape[-1]} items and {what} {one.shape[-1]}: "
            "pass partitions of the same items."
        )


def _losses(loss: Loss, estimates: Labels, draws: Labels) -> FloatArray:
    """Losses (m, draws) of canonical labels (m, n) and (draws, n)."""
    n = draws.shape[1]
    f = loss.potential(np.arange(n + 1))
    truth, estimate = (f[partition_sizes(z)].sum(axis=1) for z in (draws, estimates))
    both = _shared_sums(estimates, draws, f)
    return np.maximum(loss.of_sums(truth, estimate[:, None], both, n), 0.0)


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
