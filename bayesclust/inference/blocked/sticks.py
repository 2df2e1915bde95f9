"""Weights of the Dirichlet process given a partition, as many as the slice variables ask for."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from bayesclust.typing import FloatArray, IntArray


def draw_weights(sizes: IntArray, alpha: float, least: FloatArray, rng: Generator) -> FloatArray:
    """Draw the weights of the clusters, and of new ones until what is left lies under every slice variable.

    (pi_1, ..., pi_K, rest) ~ Dirichlet(n_1, ..., n_K, alpha) (Pitman 1996; Fall and Barat 2014),
    and the rest is broken into sticks, v ~ Beta(1, alpha) of what is left each (Walker 2007; Kalli,
    Griffin and Walker 2011, Sec. 2). What remains unbroken can be nobody's label, so nothing is
    truncated.

    Parameters
    ----------
    sizes : ndarray of shape (K,)
        Sizes of the clusters, none empty.
    alpha : float
        Concentration.
    least : ndarray of shape (K,)
        Smallest u_i / pi_k of each cluster's items, in (0, 1].
    rng : Generator

    Returns
    -------
    ndarray of shape (K + new,)
        Weights, those of the clusters first.

    Examples
    --------
    >>> import numpy as np
    >>> weights = draw_weights(np.array([30, 10]), 1.0, np.array([0.01, 0.02]), np.random.default_rng(0))
    >>> bool(len(weights) >= 2 and 0.95 < weights.sum() <= 1)
    True
    """
    gammas = rng.standard_gamma(np.append(sizes, alpha))
    shares = gammas / gammas.sum()
    weights, rest = shares[:-1], float(shares[-1])
    lowest = float((weights * least).min())
    new: list[float] = []
    while rest >= lowest:
        stick = float(rng.beta(1.0, alpha))
        new.append(rest * stick)
        rest *= 1.0 - stick
    return np.append(weights, new)


__all__ = ["draw_weights"]
