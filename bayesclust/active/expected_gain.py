"""Expected gain: by how much the answer to a query is expected to lower an uncertainty.

The information that an experiment with outcome a gives about a quantity is the expected fall of an
uncertainty U,

    U(p) - sum_a p(a) U(p | a),                                             (DeGroot 1962)

and U says what one wants to know. With U the entropy of g(z) it is the mutual information
I(a; g(z)) (Lindley 1956), and for g(z) = z itself that is

    I(a; z) = H(sum_s w_s p(a | z_s)) - sum_s w_s H(p(a | z_s)),  (BALD; Houlsby et al. 2011, Eq. 2)

which is high where the answer is uncertain for another reason than the annotator's errors. With
U = sum_st w_s w_t L(z_s, z_t), the expected loss between two draws (Rao's 1982 quadratic entropy
under a loss L between partitions), it is by how much the answer concentrates the posterior in the
units of that loss: a pair that decides whether two large clusters are one then counts for more than
a pair of stray items, which I(a; z) does not distinguish.

Here U is a function of weights v of any sum, times that sum, so that conditioning on an answer is
the product of v and p(a | z_s).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import entr, xlogy

from bayesclust.checks import check_int, shown
from bayesclust.posterior.labels import Labels
from bayesclust.posterior.losses import LOSSES, Loss, as_loss, pairwise_losses
from bayesclust.typing import BoolArray, FloatArray, IntArray

Uncertainty = Callable[[FloatArray], FloatArray]
"""Function of weights (..., S) of the draws: sum times uncertainty, (...)."""

PARTITION = "partition"
N_CLUSTERS = "n_clusters"
MIN_NATS = 0.01
MIN_ITEMS = 0.1
MISPLACED = 64
CONFIGURATIONS = 64
"""Joint answers to a batch that are followed; of more, so many are drawn (Kirsch et al. 2019)."""


def check_target(target: Any) -> Any:
    """Return `target` if it is a word, the number of an item, or a loss."""
    if _is_item(target):
        return check_int(target, "target, as an item,", least=0)
    if isinstance(target, Loss) or (
        isinstance(target, str) and target.lower() in (PARTITION, N_CLUSTERS, *LOSSES)
    ):
        return target
    words = ", ".join(f'"{word}"' for word in (PARTITION, N_CLUSTERS, *LOSSES))
    kind = ValueError if isinstance(target, str) else TypeError
    raise kind(f"target must be {words}, an item or a loss such as VI(a=0.5); got {shown(target)}.")


def _is_item(target: Any) -> bool:
    return isinstance(target, (int, np.integer)) and not isinstance(target, bool)


def uncertainty(target: Any, draws: Labels) -> Uncertainty:
    """Return how uncertain weighted draws (S, n) are about a target, as a function of the weights.

    The target is the whole partition or its number of clusters (entropies, in nats), the number of
    an item (the mean over all others of the entropy of their co-clustering, in nats), or a loss
    between partitions ("vi", "binder", ... or a value from `bayesclust.losses`): a partition that
    is right up to a small loss.

    Examples
    --------
    >>> draws = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]])
    >>> targets = ("partition", "n_clusters", 0, "binder")
    >>> [round(float(uncertainty(target, draws)(np.full(4, 0.25))), 3) for target in targets]
    [1.386, 0.562, 0.693, 0.333]
    """
    check_target(target)
    if isinstance(target, str) and target == PARTITION:
        return _entropy
    if isinstance(target, str) and target == N_CLUSTERS:
        numbers = draws.max(axis=1)
        member: FloatArray = (numbers[:, None] == np.unique(numbers)).astype(np.float64)
        return lambda weights: _entropy(weights @ member)
    if _is_item(target):
        item = check_int(target, "target, as an item,", least=0, most=draws.shape[1] - 1)
        together = np.delete(draws == draws[:, [item]], item, axis=1).astype(np.float64)
        return lambda weights: _co_clustering_entropy(weights, together)
    distance = pairwise_losses(as_loss(target), draws, draws)
    return lambda weights: _spread(weights, distance)


def default_min_gain(target: Any, draws: Labels) -> float:
    """Return the expected gain below which a query is hardly worth an annotator's time.

    For a loss it is a tenth of the cost of one misplaced item: ten answers are then expected to put
    one item right. The cost is the mean loss between a draw and the same draw with one item in
    another of its clusters, over 64 of these at even distances. For an entropy it is 0.01 nats:
    seventy answers then tell as much as one certain answer to a query with even odds.

    Examples
    --------
    Two pairs torn and three made, of 15: 10 / 36 in all.

    >>> default_min_gain("binder", np.array([[0, 0, 0, 1, 1, 1]]))
    0.028
    """
    if not isinstance(target, Loss) and not (isinstance(target, str) and target.lower() in LOSSES):
        return MIN_NATS
    loss = as_loss(target)
    rng = np.random.default_rng(0)
    costs = []
    for s in np.linspace(0, len(draws) - 1, MISPLACED).round().astype(np.int64):
        moved = draws[s].copy()
        item = rng.integers(len(moved))
        number = int(moved.max()) + 1
        # where there is only one cluster, the item gets a new one
        moved[item] = (moved[item] + rng.integers(1, number)) % number if number > 1 else 1
        costs.append(loss.loss(draws[s], moved))
    return MIN_ITEMS * float(np.mean(costs))


def _entropy(mass: FloatArray) -> FloatArray:
    """Minus sum v log(v / sum v)."""
    total = mass.sum(axis=-1)
    value: FloatArray = entr(mass).sum(axis=-1) + xlogy(total, total)
    return value


def _co_clustering_entropy(weights: FloatArray, together: FloatArray) -> FloatArray:
    """Mean over the other items of the entropy of being together, times the sum of the weights."""
    total = weights.sum(axis=-1)
    share = weights @ together
    apart = np.maximum(total[..., None] - share, 0.0)
    value: FloatArray = (entr(share) + entr(apart)).mean(axis=-1) + xlogy(total, total)
    return value


def _spread(weights: FloatArray, distance: FloatArray) -> FloatArray:
    """Expected distance between two draws, times the sum of the weights."""
    total = weights.sum(axis=-1)
    both = ((weights @ distance) * weights).sum(axis=-1)
    value: FloatArray = both / np.where(total > 0, total, 1.0)
    return value


def expected_gains(measure: Uncertainty, weights: FloatArray, answers: FloatArray) -> FloatArray:
    """Return by how much the answer to each of C queries is expected to lower an uncertainty, (C,).

    `answers` holds p(answer | draw), (C, S, A). Weights are (S,), or (M, S) for M joint answers to
    queries that are already chosen, each row with the probability of these answers as its sum.

    Examples
    --------
    A certain annotator is asked whether items 0 and 1, or 0 and 2, are together.

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
    """Choose at most `size` queries one by one, each by what it adds to those before.

    This is Algorithm 1 of Kirsch, van Amersfoort and Gal (2019), BatchBALD. Given a draw, answers
    are taken as independent, as they are when the noise is known. Returns positions of the queries,
    the best single one first (the first of equals), and the gain that each adds.

    Examples
    --------
    Asked twice, a certain annotator says nothing new.

    >>> draws = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]])
    >>> first, second = (np.eye(2)[draws[:, i]] for i in (1, 2))
    >>> answers = np.stack([first, first, second])
    >>> measure, even = uncertainty("partition", draws), np.full(4, 0.25)
    >>> choose_jointly(measure, even, answers, 3, np.random.default_rng(0))
    (array([0, 2, 1]), array([0.693, 0.693, 0.   ]))
    """
    rows = np.asarray(weights)[None, :]
    free = np.ones(len(answers), dtype=np.bool_)
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < size and free.any():
        best, gain = _best(measure, rows, answers, free)
        chosen.append(best)
        gains.append(gain)
        free[best] = False
        given = [rows * answers[best, :, a] for a in range(answers.shape[-1])]
        rows = _fewer(np.concatenate(given), rng)
    return np.array(chosen, dtype=np.int64), np.array(gains)


def _best(
    measure: Uncertainty, rows: FloatArray, answers: FloatArray, free: BoolArray
) -> tuple[int, float]:
    """Position and gain of the best free query."""
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
    drawn = rows[rng.choice(len(rows), CONFIGURATIONS, p=mass / mass.sum())]
    kept: FloatArray = drawn / drawn.sum(axis=1, keepdims=True) * (mass.sum() / CONFIGURATIONS)
    return kept
