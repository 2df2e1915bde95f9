"""What methods that cannot hear "do not know" make of answers about triplets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesclust.constraints.base import Constraints
from bayesclust.typing import FloatArray, IntArray

__all__ = ["comparisons", "gaps"]

NO, DNK = 1, 2


def comparisons(constraints: Sequence[Constraints]) -> IntArray:
    """Turn answers into comparisons: the first item is nearer to the second than to the third.

    Parameters
    ----------
    constraints : sequence of RelativeConstraints

    Returns
    -------
    (m, 3) array of int
        One row for each "yes", as it is, and for each "no", the last two items exchanged. Each
        "dnk" is left out.

    Examples
    --------
    >>> import bayesclust as bc
    >>> view = bc.RelativeConstraints([(0, 1, 2), (3, 1, 2), (0, 3, 1)], ["yes", "no", "dnk"], n_items=4)
    >>> comparisons([view])
    array([[0, 1, 2],
           [3, 2, 1]])
    """
    rows = [np.empty((0, 3), dtype=np.int64)]
    for view in constraints:
        swapped = np.where((view.answers == NO)[:, None], view.items[:, [0, 2, 1]], view.items)
        rows.append(swapped[view.answers != DNK])
    return np.concatenate(rows)


def gaps(points: FloatArray, compared: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the differences of the items to be near, and of those to be far.

    Parameters
    ----------
    points : (n, d) array
    compared : (m, 3) array of int
        From `comparisons`.

    Returns
    -------
    near, far : (m, d) array
    """
    first, near, far = compared.T
    return points[first] - points[near], points[first] - points[far]
