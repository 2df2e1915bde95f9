"""How many clusters there are: the posterior of K, with its Monte Carlo error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_int
from bayesclust.posterior.batches import batch_error
from bayesclust.posterior.labels import Labels, partition_sizes
from bayesclust.posterior.tree import chain_partitions
from bayesclust.typing import IntArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["count_clusters", "n_clusters_posterior"]


def n_clusters_posterior(posterior: Any, *, min_size: int = 1) -> pd.DataFrame:
    """Return the posterior distribution of the number of clusters.

    Parameters
    ----------
    posterior : DataTree, estimator or array of int of shape (draws, n) or (chain, draw, n)
        Posterior draws of the partition. An array (draws, n) is taken as one chain.
    min_size : int, default 1
        Count clusters of at least so many items. Under a Dirichlet process the number of all
        clusters is no estimate of how many groups there are: it keeps opening small ones as data
        grow (Miller and Harrison 2013). That of clusters above a size that would matter is more
        stable.

    Returns
    -------
    pandas.DataFrame
        By number of clusters, from the smallest to the largest number in any draw: probability,
        mcse (its Monte Carlo standard error, by batch means within chains; nan from one draw), and
        lowest and highest, the shares in the chains that have it least and most often. Where these
        are far apart beside mcse, the chains have not met.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, or min_size is not a positive whole number.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.n_clusters_posterior([[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]])[["probability"]]
                probability
    n_clusters
    1                  0.25
    2                  0.50
    3                  0.25
    """
    import pandas as pd

    numbers = count_clusters(chain_partitions(posterior), check_int(min_size, "min_size"))
    values = np.arange(numbers.min(), numbers.max() + 1)
    found = numbers[:, :, None] == values
    by_chain = found.mean(axis=1)
    columns = {
        "probability": found.mean(axis=(0, 1)),
        "mcse": batch_error(found),
        "lowest": by_chain.min(axis=0),
        "highest": by_chain.max(axis=0),
    }
    return pd.DataFrame(columns, index=pd.Index(values, name="n_clusters"))


def count_clusters(z: Labels, min_size: int = 1) -> IntArray:
    """Return the number of clusters of at least `min_size` items.

    Parameters
    ----------
    z : (..., draw, n) array of int
        Labels 0, 1, ...
    min_size : int, default 1

    Returns
    -------
    (..., draw) array of int64

    Examples
    --------
    >>> import numpy as np
    >>> count_clusters(np.array([[0, 0, 1], [0, 1, 2]]), min_size=2)
    array([1, 0])
    """
    counts: IntArray = np.stack(
        [(partition_sizes(part) >= min_size).sum(axis=-1) for part in z.reshape(-1, *z.shape[-2:])]
    )
    return counts.reshape(z.shape[:-1])
