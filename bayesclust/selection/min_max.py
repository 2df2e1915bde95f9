"""Min-max: the item least similar to what is known (Mallapragada, Jin and Jain 2008)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust.selection.neighbourhoods import Neighbourhoods
from bayesclust.selection.protocol import Question, Situation
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


def explore(X: FloatArray, known: Neighbourhoods, size: int) -> list[Question]:
    """Return what farthest-first traversal asks: items are compared with the neighbourhood of the nearest member first.

    Parameters
    ----------
    X : (n, d) array
    known : Neighbourhoods
    size : int

    Returns
    -------
    list of Question
    """

    def nearness(item: int) -> FloatArray:
        return np.array(
            [-np.linalg.norm(X[members] - X[item], axis=1).min() for members in known.members]
        )

    return known.questions(farthest_first(X, known), nearness, size)


class MinMax:
    """Ask about the item that is least similar to what is known.

    "Active query selection for semi-supervised clustering" (Mallapragada, Jin and Jain, ICPR 2008):
    the next item is the one whose largest similarity to the items in neighbourhoods is smallest,
    and it is compared with the neighbourhoods by decreasing largest similarity, until one is its
    own. With similarities that decrease in the Euclidean distance, as the authors' Gaussian kernel
    does, whatever its width, this is farthest-first traversal. So is the exploration with which
    they begin, so that the number of clusters need not be known.

    Contradictory answers, and pairs that nobody knew: see `bayesclust.selection.neighbourhoods`.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> X = np.array([[0.0], [1.0], [4.0], [10.0]])
    >>> situation = Situation(X, np.zeros(4, dtype=int), [PairwiseConstraints([(0, 3)], [False], n_items=4)], [])
    >>> MinMax()(situation, size=1, rng=np.random.default_rng(0))
    [Question(kind='pair', items=(0, 2))]
    """

    def __call__(self, situation: Situation, size: int, rng: Generator) -> list[Question]:
        """Return the next question, or those about the `size` items farthest away.

        Parameters
        ----------
        situation : Situation
        size : int
        rng : Generator
            Draws the first item.

        Returns
        -------
        list of Question
        """
        return explore(situation.X, Neighbourhoods.of(situation, rng), size)


__all__ = ["MinMax", "explore", "farthest_first"]
