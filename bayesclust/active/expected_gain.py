"""Expected gain: by how much the answer to a query is expected to lower an uncertainty.

The information that an experiment with outcome a gives is the expected fall of an uncertainty U,

    U(p) - sum_a p(a) U(p | a).                                             (DeGroot 1962)

With U the entropy of z it is the mutual information (BALD; Houlsby et al. 2011, Eq. 2), high where
the answer is uncertain for another reason than the annotator's errors. With U = sum_st w_s w_t
L(z_s, z_t), the expected loss between two draws (Rao 1982), a pair that decides whether two large
clusters are one counts for more than a pair of stray items. Here U is a function of weights v of
any sum, times that sum, so that conditioning on an answer is the product of v and p(a | z_s).

Items that are together in every draw are one *atom*, and one pair of two atoms stands for all.
Where there are still too many pairs, or triplets, candidates are drawn on whose true answer two
weighted draws disagree (Seung, Opper and Sompolinsky 1992), half of them random items, so that
large atoms have their share, and half random atoms.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import entr, xlogy

from bayesclust.active.protocol import ASKED, DONT_KNOW, PAIR, VOCABULARY, ordered
from bayesclust.checks import check_int, shown
from bayesclust.constraints.base import equality_patterns
from bayesclust.constraints.sampling import random_triplets, unrank_pairs
from bayesclust.posterior.losses import LOSSES, Loss, as_loss, pairwise_losses
from bayesclust.posterior.tree import Labels
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

Uncertainty = Callable[[FloatArray], FloatArray]
"""Function of weights (..., S) of the draws: sum times uncertainty, (...)."""

PARTITION = "partition"
N_CLUSTERS = "n_clusters"
MIN_NATS = 0.01
MIN_ITEMS = 0.1
MISPLACED = 64
CONFIGURATIONS = 64
"""Joint answers to a batch that are followed; of more, so many are drawn (Kirsch et al. 2019)."""
SKIPPED = 1.0
ANSWERED = 9.0
"""Beta prior of the share of pairs that are answered by "don't know"."""
SHORTLIST = 300
"""Queries, the best ones by themselves, among which a batch is chosen."""
ROUNDS = 20
"""Attempts to draw enough queries on which the draws disagree."""


def check_target(target: Any) -> Any:
    """Return `target`: "partition", "n_clusters", the number of an item, or a loss as a value."""
    if isinstance(target, (int, np.integer)) and not isinstance(target, bool):
        return check_int(target, "target, as an item,", least=0)
    word = target.lower() if isinstance(target, str) else None
    if word in LOSSES or isinstance(target, Loss):
        return as_loss(target)
    if word in (PARTITION, N_CLUSTERS):
        return word
    words = ", ".join(f'"{word}"' for word in (PARTITION, N_CLUSTERS, *LOSSES))
    kind = ValueError if isinstance(target, str) else TypeError
    raise kind(f"target must be {words}, an item or a loss such as VI(a=0.5); got {shown(target)}.")


def uncertainty(target: Any, draws: Labels) -> Uncertainty:
    """Return how uncertain weighted draws (S, n) are: the entropy, in nats, or expected loss."""
    wanted = check_target(target)
    if wanted == PARTITION:
        return _entropy
    if wanted == N_CLUSTERS:
        numbers = draws.max(axis=1)
        member: FloatArray = (numbers[:, None] == np.unique(numbers)).astype(np.float64)
        return lambda weights: _entropy(weights @ member)
    if isinstance(wanted, Loss):
        distance = pairwise_losses(wanted, draws, draws)
        return lambda weights: _spread(weights, distance)
    item = check_int(wanted, "target, as an item,", least=0, most=draws.shape[1] - 1)
    together = np.delete(draws == draws[:, [item]], item, axis=1).astype(np.float64)
    return lambda weights: _co_clustering_entropy(weights, together)


def default_min_gain(target: Any, draws: Labels) -> float:
    """Return the least gain worth asking for: 0.01 nats, or a tenth of a misplaced item's loss."""
    loss = check_target(target)
    if not isinstance(loss, Loss):
        return MIN_NATS
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
    return entr(mass).sum(axis=-1) + xlogy(total, total)


def _co_clustering_entropy(weights: FloatArray, together: FloatArray) -> FloatArray:
    """Mean over the other items of the entropy of being together, times the sum of the weights."""
    total = weights.sum(axis=-1)
    share = weights @ together
    apart = np.maximum(total[..., None] - share, 0.0)
    return (entr(share) + entr(apart)).mean(axis=-1) + xlogy(total, total)


def _spread(weights: FloatArray, distance: FloatArray) -> FloatArray:
    """Expected distance between two draws, times the sum of the weights."""
    total = weights.sum(axis=-1)
    both = ((weights @ distance) * weights).sum(axis=-1)
    return both / np.where(total > 0, total, 1.0)


def expected_gains(measure: Uncertainty, weights: FloatArray, answers: FloatArray) -> FloatArray:
    """Return the expected fall (C,) of an uncertainty by answers (C, S, A) of p(answer | draw).

    Weights are (S,), or (M, S) for M joint answers to the queries already chosen; a row adds up to
    the probability of its answers.
    """
    rows = np.atleast_2d(weights)
    left = np.zeros(len(answers))
    for row in rows:
        for a in range(answers.shape[-1]):
            left += measure(row * answers[:, :, a])
    return measure(rows).sum() - left


def choose_jointly(
    measure: Uncertainty, weights: FloatArray, answers: FloatArray, size: int, rng: Generator
) -> tuple[IntArray, FloatArray]:
    """Choose at most `size` queries one by one, each by what it adds to those before.

    This is Algorithm 1 of Kirsch, van Amersfoort and Gal (2019), BatchBALD; returns positions and
    gains.
    """
    rows = np.asarray(weights)[None, :]
    free = np.ones(len(answers), dtype=np.bool_)
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < size and free.any():
        left = np.flatnonzero(free)
        adds = expected_gains(measure, rows, answers[left])
        # rounding must not decide between equals
        place = int(np.argmax(adds >= adds.max() - 1e-12))
        best = int(left[place])
        chosen.append(best)
        gains.append(float(adds[place]))
        free[best] = False
        given = [rows * answers[best, :, a] for a in range(answers.shape[-1])]
        rows = _fewer(np.concatenate(given), rng)
    return np.array(chosen, dtype=np.int64), np.array(gains)


def _fewer(rows: FloatArray, rng: Generator) -> FloatArray:
    """At most `CONFIGURATIONS` rows, drawn by their sums."""
    mass = rows.sum(axis=1)
    if len(rows) <= CONFIGURATIONS:
        return rows[mass > 0]
    drawn = rows[rng.choice(len(rows), CONFIGURATIONS, p=mass / mass.sum())]
    return drawn / drawn.sum(axis=1, keepdims=True) * (mass.sum() / CONFIGURATIONS)


# --- candidates


def with_skips(confusion: FloatArray, skipped: int, answered: int) -> FloatArray:
    """Add "don't know" to p(answer | truth) (S, truth, answer), as likely whatever the truth is."""
    share = (SKIPPED + skipped) / (SKIPPED + ANSWERED + skipped + answered)
    last = np.full((*confusion.shape[:-1], 1), share)
    return np.concatenate([(1 - share) * confusion, last], axis=-1)


class WeightedDraws(NamedTuple):
    """Weighted draws of the partition, and how the annotator answers under each of them."""

    draws: Labels  # (S, n)
    weights: FloatArray  # (S,) of sum 1
    kind: str  # of the queries
    confusion: FloatArray  # (S, truth, answer) p(answer | truth)

    def answers(self, items: IntArray) -> FloatArray:
        """Return p(answer | draw) of C queries about items (C, t), shape (C, S, 3)."""
        truths = ASKED[self.kind].truth[equality_patterns(self.draws[:, items])]
        row = np.arange(len(self.draws))[:, None]
        return np.swapaxes(self.confusion[row, truths], 0, 1)

    def best(
        self, items: IntArray, target: Any, size: int, rng: Generator
    ) -> tuple[IntArray, FloatArray]:
        """Return the queries to ask together, best first, and what each adds to those before it."""
        measure = uncertainty(target, self.draws)
        answers = self.answers(items)
        pool: IntArray = np.arange(len(items))
        if size > 1 and len(items) > SHORTLIST:
            gains = expected_gains(measure, self.weights, answers)
            pool = np.argsort(-gains, kind="stable")[:SHORTLIST]
        chosen, adds = choose_jointly(measure, self.weights, answers[pool], size, rng)
        return items[pool[chosen]], adds

    def table(self, items: IntArray, target: Any) -> pd.DataFrame:
        """Return per query its kind, items, expected gain and the probability of each answer."""
        import pandas as pd

        asked = ASKED[self.kind]
        answers = self.answers(items)
        frame = pd.DataFrame(items, columns=list(asked.members))
        frame.insert(0, "kind", self.kind)
        frame["gain"] = expected_gains(uncertainty(target, self.draws), self.weights, answers)
        words = dict.fromkeys((*asked.vocabulary, DONT_KNOW))
        mean = dict(zip(words, self.weights @ answers.transpose(2, 1, 0), strict=True))
        return frame.assign(**{word: mean[word] for word in VOCABULARY[self.kind]})


def atoms(draws: Labels) -> IntArray:
    """Number the groups of items that are together in every draw, (S, n) to (n,)."""
    columns = np.ascontiguousarray(draws.T)
    keys = columns.view(np.dtype((np.void, columns.dtype.itemsize * columns.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group.reshape(-1)].astype(np.int64)


class _Members:
    """Random items, and random members of atoms."""

    def __init__(self, group: IntArray, rng: Generator) -> None:
        self.rng = rng
        self.size = np.bincount(group)
        self.order = np.argsort(group, kind="stable")
        self.begin = np.cumsum(self.size) - self.size

    def of(self, atom: IntArray) -> IntArray:
        """One random member of each atom."""
        return self.order[self.begin[atom] + self.rng.integers(self.size[atom])]

    def tuples(self, number: int, width: int) -> IntArray:
        """Tuples of different items, of random ones and of members of random atoms."""
        by_item = self.rng.integers(len(self.order), size=(number - number // 2, width))
        by_atom = self.of(self.rng.integers(len(self.size), size=(number // 2, width)))
        items = np.concatenate([by_item, by_atom])
        ordered = np.sort(items, axis=1)
        different = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
        return (ordered if width == 2 else items)[different]


def propose(
    kind: str,
    draws: Labels,
    weights: FloatArray,
    asked: set[tuple[int, ...]],
    number: int,
    rng: Generator,
) -> IntArray:
    """Return at most about `number` new queries of a kind, (C, 2) or (C, 3), in random order."""
    members = _Members(atoms(draws), rng)
    n = draws.shape[1]
    width = len(ASKED[kind].members)
    found: list[IntArray] = []
    if kind == PAIR and comb(len(members.size), 2) <= number:
        found = [_all_pairs(members, asked)]
    elif kind != PAIR and n * comb(n - 1, 2) <= number:
        found = [random_triplets(n, n * comb(n - 1, 2), rng)]
    else:  # those on whose true answer two random draws disagree
        truth = ASKED[kind].truth
        while len(found) < ROUNDS and sum(map(len, found)) < number:
            items = members.tuples(4 * number, width)
            drawn = rng.choice(len(draws), size=(2, len(items)), p=weights)
            one, other = truth[equality_patterns(draws[drawn[..., None], items])]
            found.append(items[one != other])
        found = [np.concatenate(found)[:number]]
    rows = {ordered(kind, row): tuple(row) for row in found[0].tolist()}
    new = [row for key, row in rows.items() if key not in asked]
    return rng.permutation(np.array(new, dtype=np.int64).reshape(-1, width))


def _all_pairs(members: _Members, asked: set[tuple[int, ...]]) -> IntArray:
    """One pair of items for each two atoms, another where that pair was asked."""
    both = unrank_pairs(np.arange(comb(len(members.size), 2)))
    pairs = np.sort(members.of(both.T).T, axis=1)
    for _ in range(ROUNDS if asked else 0):
        again = np.array([pair in asked for pair in map(tuple, pairs.tolist())], dtype=np.bool_)
        if not again.any():
            break
        pairs[again] = np.sort(members.of(both[again].T).T, axis=1)
    return pairs
