"""The prior over partitions on two levels: items in components, components in clusters.

Clusters come from a Chinese restaurant process with concentration alpha; within each cluster its
items are seated in components by another, with concentration beta, so that a cluster's items are a
Dirichlet-process mixture. For clusters of n_g items with m_g components of n_gk items,

    p = alpha^K Gamma(alpha) / Gamma(alpha + n)
        prod_g [ Gamma(n_g) beta^m_g Gamma(beta) / Gamma(beta + n_g) prod_k Gamma(n_gk) ].

With beta to 0 every cluster is one component, and the model is `bayesclust.models.tvclust`.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust.models.priors import Concentration, crp_log_prob
from bayesclust.typing import ArrayLike, IntArray

WITHIN = Concentration(1.0, 10.0)
"""Default prior of beta. Where no answer says which components belong together, two of fifty items each are then about
seven times as probable as clusters of their own than as one cluster: less than what a single answer
says, so that the
prior decides where nobody was asked, and answers decide elsewhere."""


def nested_log_prob(
    components: ArrayLike,
    clusters: ArrayLike,
    alpha: float,
    beta: float,
    *,
    log_alpha: float | None = None,
    log_beta: float | None = None,
) -> float:
    """log p(components, clusters) by the formula of this module.

    Parameters
    ----------
    components, clusters : array-like of int, shape (n,)
        Labels of each item.
    alpha, beta : float
        Concentrations of clusters, and of components within a cluster.
    log_alpha, log_beta : float or None, default None
        Their logarithms, where they are too small or too large for a float; the numbers are not
        read then.

    Returns
    -------
    float
        -inf where a component lies in two clusters.

    Examples
    --------
    >>> import numpy as np
    >>> states = [([0, 0], [0, 0]), ([0, 1], [0, 0]), ([0, 1], [0, 1])]
    >>> round(float(sum(np.exp(nested_log_prob(c, z, 2.0, 0.3)) for c, z in states)), 12)
    1.0
    """
    lower, upper = np.asarray(components), np.asarray(clusters)
    sizes = np.unique(upper, return_counts=True)[1]
    value = crp_log_prob(sizes, alpha, log_alpha)
    for g in np.unique(upper):
        value += crp_log_prob(np.unique(lower[upper == g], return_counts=True)[1], beta, log_beta)
    torn = any(len(np.unique(upper[lower == k])) > 1 for k in np.unique(lower))
    return -np.inf if torn else float(value)


def update_within(
    prior: Concentration, beta: float, n_components: int, sizes: IntArray, rng: Generator
) -> float:
    """Draw beta given all clusters, by auxiliary variables as for the groups of a hierarchical process.

    With w_g ~ Beta(beta + 1, n_g) and s_g ~ Bernoulli(n_g / (n_g + beta)), beta ~ Gamma(a + m - sum
    s, b - sum log w), where m is the number of components in all (Teh et al. 2006, Eq. 47 to 49).

    Parameters
    ----------
    prior : Concentration
        Gamma(a, b), or a fixed value, which is returned.
    beta : float
    n_components : int
    sizes : ndarray of shape (K,)
        Items of each cluster.
    rng : Generator

    Returns
    -------
    float
    """
    if prior.fixed is not None:
        return prior.fixed
    log_w = np.log(rng.beta(beta + 1.0, sizes)).sum()
    s = (rng.random(len(sizes)) * (sizes + beta) < sizes).sum()
    return max(float(rng.gamma(prior.shape + n_components - s) / (prior.rate - log_w)), 1e-12)


__all__ = ["WITHIN", "nested_log_prob", "update_within"]
