"""DP-means, told a number of clusters as the paper does."""

from __future__ import annotations

from typing import Any

import bayesclust as bc
from bayesclust.families import Divergence, Family
from bayesclust.typing import ArrayLike, IntArray, Seed

__all__ = ["dp_means"]


def dp_means(
    X: ArrayLike,
    constraints: Any,
    n_clusters: int,
    seed: Seed,
    *,
    divergence: str | Divergence | Family = "euclidean",
) -> IntArray:
    """Cluster by `bayesclust.DPMeans`, whose penalty is set from a number of clusters by furthest-first.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : ignored
    n_clusters : int
        The guess; more or fewer clusters may be found.
    seed : ignored
        With one start nothing is random.
    divergence : str, Divergence or Family, default "euclidean"

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> dp_means([[0.0], [1.0], [10.0], [12.0], [30.0]], None, 3, 0)
    array([0, 0, 1, 1, 2])
    """
    labels: IntArray = bc.DPMeans(n_clusters=n_clusters, divergence=divergence).fit(X).labels_
    return labels
