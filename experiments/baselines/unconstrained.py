"""The mixture without side information: what the answers add is the difference to it."""

from __future__ import annotations

from typing import Any

import bayesclust as bc
from bayesclust.typing import ArrayLike, IntArray, Seed

__all__ = ["mixture"]


def mixture(
    X: ArrayLike, constraints: Any, n_clusters: int, seed: Seed, **settings: Any
) -> IntArray:
    """Cluster by the collapsed sampler of `bayesclust.TVClust` without answers.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints, n_clusters : ignored
        The Dirichlet process finds the number of clusters.
    seed : int, Generator or None
    **settings
        Of `bayesclust.TVClust`, such as the family.

    Returns
    -------
    ndarray of int, shape (n,)
        The partition of least expected variation of information under the posterior.

    Examples
    --------
    >>> import bayesclust as bc
    >>> data = bc.datasets.make_mixture(60, 2, 2, separation=20.0, seed=0)
    >>> bc.metrics.adjusted_rand(mixture(data.X, None, 2, 0, num_chains=1, num_samples=50), data.y)
    1.0
    """
    labels: IntArray = bc.TVClust(random_state=seed, progress=False, **settings).fit(X).labels_
    return labels
