"""The posterior of the number of clusters, and the Monte Carlo error of means over draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from bayesclust.checks import check_int
from bayesclust.posterior.tree import chain_partitions, partition_sizes
from bayesclust.typing import FloatArray

BATCHES = 20


def n_clusters_posterior(posterior: Any, *, min_size: int = 1) -> pd.DataFrame:
    """Return the posterior distribution of the number of clusters.

    Parameters
    ----------
    posterior : DataTree, estimator or array of int of shape (draws, n) or (chain, draw, n)
        Draws of the partition, from a posterior or by `simulate` of a prior.
    min_size : int, default 1
        Count clusters of at least so many items. A Dirichlet process keeps opening small ones as
        data grow, so that their number is not the number of groups (Miller and Harrison
        2013).

    Of a classifier, `DCRC` or one that ``cluster_model="auto"`` took, the number of classes was
    fixed before sampling: these are shares of draws in which so many have items, and do not tell
    how sure the number is.

    Returns
    -------
    pandas.DataFrame
        By number of clusters: probability, mcse (its Monte Carlo standard error, by batch means
        within chains; nan from one draw), lowest and highest, the shares in the chains that have it
        least and most often, and largest, the mean size of the largest cluster there.

    Examples
    --------
    >>> import bayesclust as bc
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]]
    >>> bc.n_clusters_posterior(draws)[["probability"]]
                probability
    n_clusters
    1                  0.25
    2                  0.50
    3                  0.25
    """
    least = check_int(min_size, "min_size")
    sizes = [partition_sizes(one) for one in chain_partitions(posterior)]
    numbers = np.stack([(one >= least).sum(axis=-1) for one in sizes])
    values = np.arange(numbers.min(), numbers.max() + 1)
    found = numbers[:, :, None] == values
    largest = np.stack([one.max(axis=-1) for one in sizes])[:, :, None]
    by_chain = found.mean(axis=1)
    means = [found[c, first:last].mean(axis=0) for c, first, last in batches(*found.shape[:2])]
    columns = {
        "probability": found.mean(axis=(0, 1)),
        "mcse": error_of_means(means),
        "lowest": by_chain.min(axis=0),
        "highest": by_chain.max(axis=0),
        "largest": (found * largest).sum(axis=(0, 1)) / np.maximum(found.sum(axis=(0, 1)), 1),
    }
    return pd.DataFrame(columns, index=pd.Index(values, name="n_clusters"))


def batches(chains: int, draws: int) -> Iterator[tuple[int, int, int]]:
    """Yield chain, first and last draw of stretches of the chains: 20 of each, or one a draw."""
    edges = np.linspace(0, draws, min(BATCHES, draws) + 1).astype(int).tolist()
    for chain in range(chains):
        for first, last in pairwise(edges):
            yield chain, first, last


def error_of_means(means: list[FloatArray]) -> FloatArray:
    """Return the standard error of the mean from the means of batches; nan from a single one."""
    if len(means) < 2:
        return np.full(np.shape(means[0]), np.nan)
    return np.asarray(np.std(means, axis=0, ddof=1) / np.sqrt(len(means)))
