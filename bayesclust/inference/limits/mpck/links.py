"""Must-links and cannot-links with a cost each, as one graph for compiled passes; what they entail, and where they clash."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust.constraints import entailment
from bayesclust.typing import BoolArray, FloatArray, IntArray, NDArray

MOST_ENTAILED = 20_000_000


class WeightedLinks(NamedTuple):
    """Links, and those of each item in compressed rows, every link in the rows of both its items.

    Those of item i are entries start[i] to start[i + 1] of `neighbour`, the other item, and `edge`,
    the number of the link.
    """

    pairs: IntArray  # (m, 2)
    may: BoolArray  # (m,) whether it is a must-link
    weight: FloatArray  # (m,) what breaking it costs: w of a must-link, w-bar of a cannot-link
    start: IntArray  # (n + 1,)
    neighbour: NDArray[np.int32]  # (2 m,)
    edge: NDArray[np.int32]  # (2 m,)

    @classmethod
    def of(cls, pairs: IntArray, may: BoolArray, weight: FloatArray, n_items: int) -> WeightedLinks:
        """Index links by item.

        Examples
        --------
        >>> links = WeightedLinks.of(np.array([[0, 1], [1, 2]]), np.array([True, False]), np.ones(2), 3)
        >>> links.start, links.neighbour, links.edge
        (array([0, 1, 3, 4]), array([1, 2, 0, 1], dtype=int32), array([0, 1, 0, 1], dtype=int32))
        """
        item, neighbour = np.concatenate([pairs, pairs[:, ::-1]]).T
        order = np.argsort(item, kind="stable")
        start = np.searchsorted(item[order], np.arange(n_items + 1)).astype(np.int64)
        edge = np.tile(np.arange(len(pairs), dtype=np.int32), 2)[order]
        return cls(pairs, may, weight, start, neighbour[order].astype(np.int32), edge)

    def broken(self, labels: IntArray) -> BoolArray:
        """Return which links the labels break, shape (m,)."""
        broken: BoolArray = (labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]) != self.may
        return broken

    @classmethod
    def none(cls, n_items: int) -> WeightedLinks:
        """Return no links on so many items."""
        return cls.of(
            np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool), np.empty(0), n_items
        )


def contradictions(pairs: IntArray, may: BoolArray, n_items: int) -> BoolArray:
    """Return which links say "different" of two items that must-links, right as they may be, make the same.

    Examples
    --------
    >>> contradictions(np.array([[0, 1], [1, 2], [0, 2]]), np.array([True, True, False]), n_items=3)
    array([False, False,  True])
    """
    component = entailment.must_link_components(pairs[may], n_items)
    inside: BoolArray = component[pairs[:, 0]] == component[pairs[:, 1]]
    return inside & ~may


def closure(links: WeightedLinks) -> WeightedLinks:
    """Add what the links entail (section 3.1): must-links in a neighbourhood, cannot-links between two that one sets apart.

    A pair entailed costs what the links given of its kind cost on average: 1, under the paper's
    unit costs. Cannot-links that must-links contradict entail nothing.

    Parameters
    ----------
    links : WeightedLinks

    Returns
    -------
    WeightedLinks
        First those given, then those entailed.

    Raises
    ------
    ValueError
        If more than `MOST_ENTAILED` pairs would follow.

    Examples
    --------
    >>> given = WeightedLinks.of(np.array([[0, 1], [1, 2], [2, 3]]), np.array([True, True, False]), np.ones(3), 4)
    >>> closure(given).pairs.tolist()
    [[0, 1], [1, 2], [2, 3], [0, 2], [0, 3], [1, 3]]
    """
    pairs, may, weight, start, _, _ = links
    n = len(start) - 1
    component = entailment.must_link_components(pairs[may], n)
    apart = pairs[~may & ~contradictions(pairs, may, n)]
    size = np.bincount(component).astype(np.float64)
    between = np.unique(np.sort(component[apart], axis=1), axis=0)
    follow = float(
        (size * (size - 1) / 2).sum() + (size[between[:, 0]] * size[between[:, 1]]).sum()
    )
    if follow > MOST_ENTAILED:
        raise ValueError(
            f"the constraints entail {follow:.3g} pairs, more than the {MOST_ENTAILED:.0e} that are kept: "
            "set closure=False, under which only the answers given count."
        )
    within = entailment.pairs_within(component)
    entailed = np.sort(np.concatenate([within, entailment.pairs_between(component, apart)]), axis=1)
    kind = np.arange(len(entailed)) < len(within)
    given = np.isin(_key(entailed, kind, n), _key(np.sort(pairs, axis=1), may, n))
    entailed, kind = entailed[~given], kind[~given]
    cost = [
        float(weight[may == one].mean()) if (may == one).any() else 1.0 for one in (False, True)
    ]
    return WeightedLinks.of(
        np.concatenate([pairs, entailed]),
        np.concatenate([may, kind]),
        np.concatenate([weight, np.where(kind, cost[1], cost[0])]),
        n,
    )


def _key(pairs: IntArray, may: BoolArray, n: int) -> IntArray:
    """One number for each pair and kind."""
    return (pairs[:, 0] * n + pairs[:, 1]) * 2 + may
