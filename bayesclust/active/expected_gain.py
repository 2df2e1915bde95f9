"""Expected gain: by how much the answer to a query is expected to lower an uncertainty.

The information that an experiment with outcome a gives is the expected fall of an uncertainty U,

    U(p) - sum_a p(a) U(p | a).                                             (DeGroot 1962)

With U the entropy of z it is the mutual information (BALD; Houlsby et al. 2011, Eq. 2). With
U = sum_st w_s w_t L(z_s, z_t), the expected loss between two draws (Rao 1982), a pair that decides
whether two large clusters are one counts for more than a pair of stray items. Here U is a function
of weights v of any sum, times that sum: conditioning is the product of v and p(a | z_s).

Items that are together in every draw are one *atom*, and one pair of two atoms stands for all.
Where there are still too many pairs, or triplets, candidates are drawn on whose true answer two
weighted draws disagree (Seung, Opper and Sompolinsky 1992), half of them random items, so that
large atoms have their share, and half random atoms.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import entr, xlogy

from bayesclust.active.protocol import ASKED, PAIR, ordered
from bayesclust.checks import shown
from bayesclust.constraints.base import equality_patterns
from bayesclust.constraints.entailment import by_first
from bayesclust.constraints.sampling import random_triplets, unrank_pairs
from bayesclust.posterior.losses import LOSSES, Loss, as_loss, pairwise_losses
from bayesclust.posterior.tree import Labels
from bayesclust.typing import FloatArray, IntArray

Uncertainty = Callable[[FloatArray], FloatArray]
"""Function of weights (..., S) of the draws: sum times uncertainty, (...)."""

PARTITION = "partition"
CONFIGURATIONS = 64
"""Joint answers to a batch that are followed; of more, so many are drawn (Kirsch et al. 2019)."""
SHORTLIST = 300
"""Queries, the best ones by themselves, among which a batch is chosen."""
ROUNDS = 20
"""Attempts to draw enough queries on which the draws disagree."""


def check_target(target: Any) -> Any:
    """Return `target`: "partition", or a loss as a value."""
    word = target.lower() if isinstance(target, str) else None
    if word == PARTITION:
        return word
    if word in LOSSES or isinstance(target, Loss):
        return as_loss(target)
    words = ", ".join(f'"{name}"' for name in (PARTITION, *LOSSES))
    kind = ValueError if isinstance(target, str) else TypeError
    raise kind(f"target must be {words} or a loss such as VI(a=0.5); got {shown(target)}.")


def uncertainty(target: Any, draws: Labels) -> Uncertainty:
    """Return how uncertain weighted draws (S, n) are: the entropy, in nats, or expected loss."""
    wanted = check_target(target)
    if wanted == PARTITION:
        return _entropy
    distance = pairwise_losses(wanted, draws, draws)
    return lambda weights: _spread(weights, distance)


def _entropy(mass: FloatArray) -> FloatArray:
    """Minus sum v log(v / sum v)."""
    total = mass.sum(axis=-1)
    return entr(mass).sum(axis=-1) + xlogy(total, total)


def _spread(weights: FloatArray, distance: FloatArray) -> FloatArray:
    """Expected distance between two draws, times the sum of the weights."""
    total = weights.sum(axis=-1)
    both = ((weights @ distance) * weights).sum(axis=-1)
    return both / np.where(total > 0, total, 1.0)


def expected_gains(measure: Uncertainty, weights: FloatArray, answers: FloatArray) -> FloatArray:
    """Return the expected fall (C,) of an uncertainty by answers (C, S, A) of p(answer | draw)."""
    # Weights are (S,), or (M, S) for M joint answers to the queries already chosen; a row adds up
    # to the probability of its answers.
    rows = np.atleast_2d(weights)
    left = np.zeros(len(answers))
    for row in rows:
        for a in range(answers.shape[-1]):
            left += measure(row * answers[:, :, a])
    return measure(rows).sum() - left


def choose_jointly(
    measure: Uncertainty,
    weights: FloatArray,
    answers: FloatArray,
    size: int,
    rng: Generator,
    costs: Any = 1.0,
) -> tuple[IntArray, FloatArray]:
    """Choose at most `size` queries one by one, each by what it adds to those before, by cost."""
    costs = np.broadcast_to(costs, len(answers))
    # This is Algorithm 1 of Kirsch, van Amersfoort and Gal (2019), BatchBALD; returns positions and
    # gains.
    rows = np.asarray(weights)[None, :]
    left: IntArray = np.arange(len(answers))
    if size > 1 and len(answers) > SHORTLIST:
        rates = expected_gains(measure, rows, answers) / costs
        left = np.argsort(-rates, kind="stable")[:SHORTLIST]
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < size and left.size:
        adds = expected_gains(measure, rows, answers[left])
        # rounding must not decide between equals
        rates = adds / costs[left]
        place = int(np.argmax(rates >= rates.max() - 1e-12))
        best = int(left[place])
        chosen.append(best)
        gains.append(float(adds[place]))
        left = np.delete(left, place)
        rows = np.concatenate([rows * answers[best, :, a] for a in range(answers.shape[-1])])
        mass = rows.sum(axis=1)
        if len(rows) <= CONFIGURATIONS:
            rows = rows[mass > 0]
            continue
        rows = rows[rng.choice(len(rows), CONFIGURATIONS, p=mass / mass.sum())]
        rows *= mass.sum() / CONFIGURATIONS / rows.sum(axis=1, keepdims=True)
    return np.array(chosen, dtype=np.int64), np.array(gains)


def atoms(draws: Labels) -> IntArray:
    """Number the groups of items that are together in every draw, (S, n) to (n,)."""
    columns = np.ascontiguousarray(draws.T)
    keys = columns.view(np.dtype((np.void, columns.dtype.itemsize * columns.shape[1]))).ravel()
    return by_first(keys)[1]


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
