"""What the baselines check before they compute."""

from __future__ import annotations

from typing import Any

from bayesclust.checks import check_constraints, check_items, check_n_clusters
from bayesclust.constraints.base import Constraints
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["enter"]


def enter(
    X: ArrayLike, constraints: Any, n_clusters: int, kind: str
) -> tuple[FloatArray, list[Constraints], int]:
    """Check data, answers and the number of clusters.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : Constraints, list of Constraints or None
    n_clusters : int
    kind : {"pairwise", "relative"}
        Of answers that the method hears.

    Returns
    -------
    tuple of ndarray, list of Constraints and int

    Raises
    ------
    TypeError, ValueError
        If one of them is not what it should be, in one sentence.
    """
    points = check_items(X)
    return (
        points,
        check_constraints(constraints, len(points), kinds=(kind,)),
        check_n_clusters(n_clusters, len(points)),
    )
