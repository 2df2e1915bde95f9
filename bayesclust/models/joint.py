"""The exact joint density of TVClust with the cluster parameters integrated out: plain, the twin of what samplers keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesclust.checks import check_positive, item_labels
from bayesclust.constraints.base import Constraints
from bayesclust.families.base import BoundFamily
from bayesclust.models.priors import Concentration
from bayesclust.typing import ArrayLike, FloatArray, IntArray


def log_joint(
    z: ArrayLike,
    family: BoundFamily,
    *,
    constraints: Sequence[Constraints] = (),
    concentration: Concentration | None = None,
    alpha: float = 1.0,
    hyper: FloatArray | None = None,
    noise: Sequence[Mapping[str, Any]] = (),
) -> float:
    """log p(z, x, s, alpha, hyper-parameters, noise), cluster parameters integrated out.

    p(z | alpha) of the Chinese restaurant process (TVClust Eq. 2), times the product over clusters
    of their marginal likelihoods, times p(E | z, p, q) (Eq. 8, corrected) and the like for other
    answers, times the priors. Hyper-parameters count by the density of their logarithms.

    Parameters
    ----------
    z : array of shape (n,)
        Labels.
    family : BoundFamily
        ``bayesclust.families.FullGaussian().bind(X)`` or another.
    constraints : sequence of Constraints
    concentration : Concentration or None
        Prior of alpha; None leaves its density out.
    alpha : float, default 1.0
    hyper : array, optional
        Hyper-parameters of the base measure; the prior medians if left out.
    noise : sequence of mappings
        Noise parameters of each view.

    Returns
    -------
    float
        In the user's units.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import SphericalGaussian
    >>> family = SphericalGaussian(0.5, 4.0, 0.1).bind(np.array([[0.0], [0.1], [5.0], [5.1]]))
    >>> bool(log_joint([0, 0, 1, 1], family) > log_joint([0, 1, 0, 1], family))
    True
    """
    labels = item_labels(z, len(family.X), "z")
    check_positive(alpha, "alpha")
    hyper = family.initial_hyper() if hyper is None else hyper
    clusters = [np.flatnonzero(labels == k) for k in np.unique(labels)]
    prior = Concentration(fixed=alpha) if concentration is None else concentration
    value = prior.log_prob(np.array([len(items) for items in clusters]), alpha)
    value += log_data(clusters, family, hyper) + family.log_hyper_prior(hyper)
    value += prior.log_prior(alpha)
    for view, params in zip(constraints, noise, strict=True):
        value += view.log_prob(labels, params) + view.noise.log_prior(params)
    return float(value)


def log_marginal_joint(
    z: ArrayLike,
    family: BoundFamily,
    *,
    constraints: Sequence[Constraints] = (),
    concentration: Concentration | None = None,
    hyper: FloatArray | None = None,
) -> float:
    """log p(z, x, s | hyper-parameters): cluster parameters, concentration and the noise of answers integrated out.

    Up to a constant the log posterior probability of the partition, given the hyper-parameters.

    Parameters
    ----------
    z : array of shape (n,)
        Labels.
    family : BoundFamily
    constraints : sequence of Constraints
        Each with its own noise model.
    concentration : Concentration or None
        Prior of alpha, or its fixed value; None is the default Gamma(1, 1).
    hyper : array, optional
        Hyper-parameters of the base measure; the prior medians if left out.

    Returns
    -------
    float
        In the user's units.

    Examples
    --------
    Two items: they are together with probability E[1 / (1 + alpha)] and apart with E[alpha / (1 +
    alpha)].

    >>> import numpy as np
    >>> from bayesclust.families import SphericalGaussian
    >>> from bayesclust.models.priors import Concentration
    >>> family = SphericalGaussian(1.0, 1e-6, 100.0).bind(np.zeros((2, 1)))
    >>> together = Concentration().log_marginal(np.array([2]))
    >>> round(float(np.exp(together) + np.exp(Concentration().log_marginal(np.array([1, 1])))), 12)
    1.0
    """
    labels = np.asarray(z)
    clusters = [np.flatnonzero(labels == k) for k in np.unique(labels)]
    prior = Concentration() if concentration is None else concentration
    value = prior.log_marginal(np.array([len(items) for items in clusters]))
    value += log_data(clusters, family, family.initial_hyper() if hyper is None else hyper)
    value += sum(view.noise.log_marginal(view.counts(labels)) for view in constraints)
    return float(value)


def log_data(clusters: Sequence[IntArray], family: BoundFamily, hyper: FloatArray) -> float:
    """log p(x | partition, hyper-parameters), in the user's units."""
    return float(
        family.log_data([family.X[items] for items in clusters], hyper) + family.log_constant
    )
