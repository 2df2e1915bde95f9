"""Min-max: the item least similar to what is known (Mallapragada, Jin and Jain 2008)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust.active.neighbourhoods import Neighbourhoods
from bayesclust.active.protocol import Query, QueryState
from bayesclust.typing import FloatArray, IntArray


def farthest_first(X: FloatArray, known: Neighbourhoods) -> IntArray:
    """Return the items with a fresh neighbourhood, that farthest from all others that were asked about first.

    Parameters
    ----------
    X : (n, d) array
    known : Neighbourhoods

    Returns
    -------
    (m,) array of int
        By decreasing distance to the nearest item that is in a neighbourhood or rests.
    """
    from sklearn.metrics import pairwise_distances_argmin_min

    is_fresh = known.fresh.any(axis=1)
    left = np.flatnonzero(is_fresh)
    if not left.size:
        return left
    distance = pairwise_distances_argmin_min(X[left], X[~is_fresh])[1]
    return np.asarray(left[np.argsort(-distance, kind="stable")])


def explore(X: FloatArray, known: Neighbourhoods, size: int) -> list[Query]:
    """Return what farthest-first traversal asks: items are compared with the neighbourhood of the nearest member first.

    Parameters
    ----------
    X : (n, d) array
    known : Neighbourhoods
    size : int

    Returns
    -------
    list of Query
    """

    def nearness(item: int) -> FloatArray:
        return np.array(
            [-np.linalg.norm(X[members] - X[item], axis=1).min() for members in known.members]
        )

    return known.queries(farthest_first(X, known), nearness, size)


class MinMax:
    """Ask about the item that is least similar to what is known.

    "Active query selection for semi-supervised clustering" (Mallapragada, Jin and Jain, ICPR 2008):
    the next item is the one whose largest similarity to the items in neighbourhoods is smallest,
    and it is compared with the neighbourhoods by decreasing largest similarity, until one is its
    own. With similarities that decrease in the Euclidean distance, as the authors' Gaussian kernel
    does, whatever its width, this is farthest-first traversal. So is the exploration with which
    they begin, so that the number of clusters need not be known.

    Contradictory answers, and pairs that nobody knew: see `bayesclust.active.neighbourhoods`.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> X = np.array([[0.0], [1.0], [4.0], [10.0]])
    >>> state = QueryState(X, np.zeros(4, dtype=int), [PairwiseConstraints([(0, 3)], [False], n_items=4)], [])
    >>> MinMax()(state, size=1, rng=np.random.default_rng(0))
    [Query(kind='pair', items=(0, 2))]
    """

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return the next query, or those about the `size` items farthest away.

        Parameters
        ----------
        state : QueryState
        size : int
        rng : Generator
            Draws the first item.

        Returns
        -------
        list of Query
        """
        return explore(state.X, Neighbourhoods.of(state, rng), size)


__all__ = ["MinMax", "explore", "farthest_first"]
