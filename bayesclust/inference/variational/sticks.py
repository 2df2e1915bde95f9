"""Stick lengths and concentration of the Dirichlet process under mean field (Blei and Jordan 2006, Sec. 3.2).

V_k | alpha ~ Beta(1, alpha), pi_k = V_k prod_{l<k} (1 - V_l), alpha ~ Gamma(s1, s2). With N_k the
sum of responsibilities and N_{>k} that of later components the best factors are

    q(V_k) = Beta(1 + N_k, E[alpha] + N_{>k}),    q(alpha) = Gamma(s1 + K, s2 - sum_k E log(1 - V_k)),

and what they add to the bound is sum_k (E log alpha + log B(1 + N_k, E[alpha] + N_{>k})) -
KL(q(alpha) || p(alpha)). Components after the K-th keep the prior, under which they cost nothing:
the bound is one of the untruncated process.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln

from bayesclust.partition_priors import Parameter
from bayesclust.typing import FloatArray

ITERATIONS, TOLERANCE = 500, 1e-13


class Sticks(NamedTuple):
    """q(V) and q(alpha) at their optimum, and what follows.

    Parameters
    ----------
    expected_log_weights : ndarray of shape (K,)
        E log pi_k.
    bound : float
    shape, rate : float
        Of q(alpha); a fixed alpha is shape / rate with an infinite shape.
    alpha : float
        E alpha.
    """

    expected_log_weights: FloatArray
    bound: float
    shape: float
    rate: float
    alpha: float


def fit_sticks(size: FloatArray, prior: Parameter, alpha: float) -> Sticks:
    """Fit q(V) and q(alpha) to the expected sizes of the components.

    Parameters
    ----------
    size : ndarray of shape (K,)
        Sums of responsibilities, in the order of the sticks.
    prior : Parameter
    alpha : float
        E alpha to iterate from.

    Returns
    -------
    Sticks
    """
    later = np.append(np.cumsum(size[::-1])[::-1][1:], 0.0)
    if prior.fixed is not None:
        alpha = prior.fixed
        bound = len(size) * np.log(alpha) + betaln(1.0 + size, alpha + later).sum()
        return Sticks(_log_weights(size, later, alpha), float(bound), np.inf, np.inf, alpha)
    shape = prior.a + len(size)
    rate = prior.b
    for _ in range(ITERATIONS):
        rate = prior.b - (digamma(alpha + later) - digamma(1.0 + size + alpha + later)).sum()
        before, alpha = alpha, shape / rate
        if abs(alpha - before) <= TOLERANCE * alpha:
            break
    log_alpha = digamma(shape) - np.log(rate)
    bound = len(size) * log_alpha + betaln(1.0 + size, alpha + later).sum()
    bound += (
        prior.a * np.log(prior.b) - gammaln(prior.a) + (prior.a - 1.0) * log_alpha - prior.b * alpha
    )
    bound += shape - np.log(rate) + gammaln(shape) + (1.0 - shape) * digamma(shape)
    return Sticks(_log_weights(size, later, alpha), float(bound), shape, float(rate), float(alpha))


def _log_weights(size: FloatArray, later: FloatArray, alpha: float) -> FloatArray:
    """Return E log V_k + sum_{l<k} E log(1 - V_l)."""
    whole = digamma(1.0 + size + alpha + later)
    rest = np.cumsum(digamma(alpha + later) - whole)
    return np.asarray(digamma(1.0 + size) - whole + np.append(0.0, rest[:-1]))
