"""What an answer is expected to tell, from weighted draws of the partition.

The information that an experiment with outcome a gives about a quantity is the expected fall of an
uncertainty U,

    U(p) - sum_a p(a) U(p | a),                                             (DeGroot 1962)

and which U it is says what one wants to know. With U the entropy of g(z) it is the mutual
information I(a; g(z)) (Lindley 1956), and for g(z) = z itself that is

    I(a; z) = H(sum_s w_s p(a | z_s)) - sum_s w_s H(p(a | z_s)),            (BALD; Houlsby et al. 2011, Eq. 2)

high where the answer is uncertain and not because the expert errs. With U = sum_st w_s w_t L(z_s,
z_t), the expected loss between two draws (Rao's 1982 quadratic entropy under a loss L between
partitions), it is by how much the answer brings the posterior together in the units of that loss: a
pair that decides whether two large clusters are one then counts for more than a pair of stray
items, which I(a; z) does not tell apart.

Here U is a function of weights v of any sum, times that sum, so that an answer is the product of v
and p(a | z_s).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import entr, xlogy

from bayesclust.checks import check_int
from bayesclust.constraints._checks import shown
from bayesclust.posterior.labels import Labels
from bayesclust.posterior.losses import LOSSES, Loss, as_loss, pairwise_losses
from bayesclust.typing import BoolArray, FloatArray, IntArray

__all__ = ["Uncertainty", "choose_jointly", "expected_gains", "least_worth", "uncertainty"]

Uncertainty = Callable[[FloatArray], FloatArray]
"""Of weights (..., S) of the draws: sum times uncertainty, (...)."""

PARTITION, N_CLUSTERS = "partition", "n_clusters"
LEAST_NATS, LEAST_ITEMS, MISPLACED = 0.01, 0.1, 64
CONFIGURATIONS = 64
"""Joint answers to a batch that are followed; beyond, so many are drawn (Kirsch et al. 2019, Sec. 3.2)."""


def check_target(target: Any) -> Any:
    """Return `target` if it is a word, the number of an item, or a loss."""
    if isinstance(target, (int, np.integer)) and not isinstance(target, bool):
        return check_int(target, "target, as an item,", least=0)
    if isinstance(target, Loss) or (
        isinstance(target, str) and target.lower() in (PARTITION, N_CLUSTERS, *LOSSES)
    ):
        return target
    words = ", ".join(f'"{word}"' for word in (PARTITION, N_CLUSTERS, *LOSSES))
    kind = ValueError if isinstance(target, str) else TypeError
    raise kind(f"target must be {words}, an item or a loss such as VI(a=0.5); got {shown(target)}.")


def uncertainty(target: Any, draws: Labels) -> Uncertainty:
    """Return how uncertain weighted draws are about a target.

    Parameters
    ----------
    target : "partition", "n_clusters", int, or loss
        What one wants to know: the whole partition, its number of clusters (entropies, in nats),
        which others an item is with (the mean over them of the entropy of being together, in nats),
        or, by a loss between partitions ("vi", "binder", ... or a value from `bayesclust.losses`),
        a partition that is right up to a small loss.
    draws : (S, n) array of int

    Returns
    -------
    callable
        Of weights (..., S) of any sum: that sum times the uncertainty, (...).

    Raises
    ------
    TypeError, ValueError
        If there is no such target.

    Examples
    --------
    >>> draws = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]])
    >>> even = np.full(4, 0.25)
    >>> [round(float(uncertainty(target, draws)(even)), 3) for target in ("partition", "n_clusters", 0, "binder")]
    [1.386, 0.562, 0.693, 0.333]
    """
    check_target(target)
    if isinstance(target, str) and target == PARTITION:
        return _entropy
    if isinstance(target, str) and target == N_CLUSTERS:
        numbers = draws.max(axis=1)
        member: FloatArray = (numbers[:, None] == np.unique(numbers)).astype(np.float64)
        return lambda weights: _entropy(weights @ member)
    if isinstance(target, (int, np.integer)) and not isinstance(target, bool):
        item = check_int(target, "target, as an item,", least=0, most=draws.shape[1] - 1)
        together = np.delete(draws == draws[:, [item]], item, axis=1).astype(np.float64)
        return lambda weights: _company_entropy(weights, together)
    distance = pairwise_losses(as_loss(target), draws, draws)
    return lambda weights: _spread(weights, distance)


def least_worth(target: Any, draws: Labels) -> float:
    """Return the expected gain below which a query is hardly worth an expert's time.

    For a loss it is a tenth of what one misplaced item costs: ten answers are then expected to put
    one item right. For an entropy it is 0.01 nats: seventy answers then tell as much as one of a
    certain expert who might as well say yes or no.

    Parameters
    ----------
    target : "partition", "n_clusters", int, or loss
        As for `uncertainty`.
    draws : (S, n) array of int

    Returns
    -------
    float
        In the units of the target. What a misplaced item costs is the mean loss between a draw and
        the same draw with one item in another of its clusters, over 64 of these at even distances.

    Examples
    --------
    >>> least_worth("binder", np.array([[0, 0, 0, 1, 1, 1]]))  # two pairs torn and three made, of 15: 10 / 36 in all
    0.028
    """
    if not isinstance(target, Loss) and not (isinstance(target, str) and target.lower() in LOSSES):
        return LEAST_NATS
    loss, rng, costs = as_loss(target), np.random.default_rng(0), []
    for s in np.linspace(0, len(draws) - 1, MISPLACED).round().astype(np.int64):
        moved = draws[s].copy()
        item, number = rng.integers(len(moved)), int(moved.max()) + 1
        # where there is one cluster alone, the item gets one of its own
        moved[item] = (moved[item] + rng.integers(1, number)) % number if number > 1 else 1
        costs.append(loss.loss(draws[s], moved))
    return LEAST_ITEMS * float(np.mean(costs))


def _entropy(mass: FloatArray) -> FloatArray:
    """Minus sum v log(v / sum v)."""
    total = mass.sum(axis=-1)
    value: FloatArray = entr(mass).sum(axis=-1) + xlogy(total, total)
    return value


def _company_entropy(weights: FloatArray, together: FloatArray) -> FloatArray:
    total, share = weights.sum(axis=-1), weights @ together
    apart = np.maximum(total[..., None] - share, 0.0)
    value: FloatArray = (entr(share) + entr(apart)).mean(axis=-1) + xlogy(total, total)
    return value


def _spread(weights: FloatArray, distance: FloatArray) -> FloatArray:
    total = weights.sum(axis=-1)
    value: FloatArray = ((weights @ distance) * weights).sum(axis=-1) / np.where(
        total > 0, total, 1.0
    )
    return value


def expected_gains(measure: Uncertainty, weights: FloatArray, answers: FloatArray) -> FloatArray:
    """Return by how much the answer to each query is expected to lower an uncertainty.

    Parameters
    ----------
    measure : callable
        From `uncertainty`.
    weights : (S,) or (M, S) array of float
        Weights of the draws; several rows stand for M joint answers to queries that are already
        to be asked, each row of the sum that is the probability of these answers.
    answers : (C, S, A) array of float
        p(answer | draw) of each of C queries.

    Returns
    -------
    (C,) array of float
        Not negative but for rounding where the uncertainty is an entropy.

    Examples
    --------
    A certain expert is asked whether items 0 and 1, or 0 and 2, are together.

    >>> draws = np.array([[0, 0, 1], [0, 1, 1]])
    >>> answers = np.array([[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]])
    >>> expected_gains(uncertainty("partition", draws), np.array([0.5, 0.5]), answers)
    array([0.693, 0.   ])
    """
    rows = np.atleast_2d(weights)
    left = np.zeros(len(answers))
    for row in rows:
        for a in range(answers.shape[-1]):
            left += measure(row * answers[:, :, a])
    gains: FloatArray = measure(rows).sum() - left
    return gains


def choose_jointly(
    measure: Uncertainty, weights: FloatArray, answers: FloatArray, size: int, rng: Generator
) -> tuple[IntArray, FloatArray]:
    """Choose queries to be asked together, one by one, each by what it adds to those before (Kirsch et al. 2019).

    Parameters
    ----------
    measure : callable
        From `uncertainty`.
    weights : (S,) array of float
    answers : (C, S, A) array of float
        p(answer | draw); given a draw, answers are taken as independent, as they are when the noise
        is known.
    size : int
        At most so many.
    rng : Generator
        Draws joint answers where there are more than 64.

    Returns
    -------
    chosen : (b,) array of int64
        Positions of different queries, the first one being the best by itself; of equals the
        first.
    gains : (b,) array of float
        What each adds.

    References
    ----------
    Kirsch, van Amersfoort and Gal (2019), BatchBALD, Algorithm 1.

    Examples
    --------
    Asked twice, a certain expert says nothing new.

    >>> draws = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]])
    >>> first, second = (np.eye(2)[draws[:, i]] for i in (1, 2))
    >>> answers = np.stack([first, first, second])
    >>> choose_jointly(uncertainty("partition", draws), np.full(4, 0.25), answers, 3, np.random.default_rng(0))
    (array([0, 2, 1]), array([0.693, 0.693, 0.   ]))
    """
    rows, free = np.asarray(weights)[None, :], np.ones(len(answers), dtype=np.bool_)
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < size and free.any():
        best, gain = _best(measure, rows, answers, free)
        chosen.append(best)
        gains.append(gain)
        free[best] = False
        rows = _fewer(
            np.concatenate([rows * answers[best, :, a] for a in range(answers.shape[-1])]), rng
        )
    return np.array(chosen, dtype=np.int64), np.array(gains)


def _best(
    measure: Uncertainty, rows: FloatArray, answers: FloatArray, free: BoolArray
) -> tuple[int, float]:
    left = np.flatnonzero(free)
    gains = expected_gains(measure, rows, answers[left])
    # rounding must not decide between equals
    place = int(np.argmax(gains >= gains.max() - 1e-12))
    return int(left[place]), float(gains[place])


def _fewer(rows: FloatArray, rng: Generator) -> FloatArray:
    """At most `CONFIGURATIONS` rows, drawn by their sums."""
    mass = rows.sum(axis=1)
    if len(rows) <= CONFIGURATIONS:
        return rows[mass > 0]
    share = mass / mass.sum()
    drawn = rows[rng.choice(len(rows), CONFIGURATIONS, p=share)]
    kept: FloatArray = drawn / drawn.sum(axis=1, keepdims=True) * (mass.sum() / CONFIGURATIONS)
    return kept
