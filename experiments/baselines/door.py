"""What the baselines check before they compute."""

from __future__ import annotations

from typing import Any

from bayesclust.checks import check_items, check_n_clusters, check_views
from bayesclust.constraints.base import View
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["enter"]


def enter(
    X: ArrayLike, constraints: Any, n_clusters: int, kind: str
) -> tuple[FloatArray, list[View], int]:
    """Check data, answers and the number of clusters.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : View, list of View or None
    n_clusters : int
    kind : {"pairwise", "relative"}
        Of answers that the method hears.

    Returns
    -------
    tuple of ndarray, list of View and int

    Raises
    ------
    TypeError, ValueError
        If one of them is not what it should be, in one sentence.
    """
    points = check_items(X)
    return (
        points,
        check_views(constraints, len(points), kinds=(kind,)),
        check_n_clusters(n_clusters, len(points)),
    )
