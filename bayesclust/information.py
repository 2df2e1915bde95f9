"""Mutual information of one answer and the labels it is about, before anything else is known.

Labels are independent, each one of K with equal probability, and answers are never wrong: the
information I(labels; answer) is the entropy of the answer (Eq. 3 and 4 of Pei et al., DCRC).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust.checks import plain_array, shown
from bayesclust.typing import ArrayLike, FloatArray

__all__ = ["pair", "triplet"]


def triplet(K: ArrayLike, *, dnk: bool = True) -> float | FloatArray:
    """Mutual information of the three labels and the answer to "is i more similar to j than to k?".

    Parameters
    ----------
    K : int, or array of int
        Number of clusters, at least 1.
    dnk : bool, default True
        Whether "do not know" counts as an answer (Eq. 3, with P_dnk = 1 - 2 (K - 1) / K^2), or is
        ignored (Eq. 5).

    Returns
    -------
    float, or array of the shape of K
        In nats.

    Examples
    --------
    >>> from bayesclust import information
    >>> information.triplet([2, 8]), information.triplet([2, 8], dnk=False)
    (array([1.040, 0.677]), array([0.693, 0.484]))
    """
    k = _numbers(K)
    answered = 2 * (k - 1) / k**2
    log_others = np.log(np.maximum(k - 1, 1.0))
    if not dnk:
        return answered * (2 * np.log(k) - log_others)
    rest = 1 - answered
    return 2 * np.log(k) - answered * log_others - rest * np.log(rest * k**2)


def pair(K: ArrayLike) -> float | FloatArray:
    """Mutual information of the two labels and the answer to "do i and j belong together?".

    Parameters
    ----------
    K : int, or array of int
        Number of clusters, at least 1.

    Returns
    -------
    float, or array of the shape of K
        In nats (Eq. 4, with P_CL = 1 - 1 / K).

    Examples
    --------
    >>> from bayesclust import information
    >>> information.pair([2, 8])
    array([0.693, 0.377])
    """
    k = _numbers(K)
    return np.log(k) - (1 - 1 / k) * np.log(np.maximum(k - 1, 1.0))


def _numbers(K: ArrayLike) -> Any:
    k = plain_array(K, "K", "pass whole numbers")
    if k.dtype.kind not in "iuf" or not (np.isfinite(k) & (k >= 1) & (k == np.floor(k))).all():
        raise ValueError(f"K must be a whole number of clusters, at least 1; got {shown(K)}.")
    return k.astype(np.float64)[()]
