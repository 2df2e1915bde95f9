"""The exact joint density of TVClust with the cluster parameters integrated out, a reference for what samplers keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesclust.checks import item_labels
from bayesclust.constraints.base import Constraints
from bayesclust.families.base import BoundFamily
from bayesclust.partition_priors import DirichletProcess, PartitionPrior, Values, as_prior
from bayesclust.typing import ArrayLike, FloatArray, IntArray


def log_joint(
    z: ArrayLike,
    family: BoundFamily,
    *,
    constraints: Sequence[Constraints] = (),
    partition_prior: PartitionPrior | None = None,
    values: Values | None = None,
    hyper: FloatArray | None = None,
    noise: Sequence[Mapping[str, Any]] = (),
) -> float:
    """log p(z, x, s, parameters, noise), cluster parameters integrated out.

    p(z) of the partition prior (TVClust Eq. 2), times the product over clusters of their marginal
    likelihoods, times p(E | z, p, q) (Eq. 8, corrected) and the like for other constraints, times
    the priors. Hyper-parameters count by the density of their logarithms.

    Parameters
    ----------
    z : array of shape (n,)
        Labels.
    family : BoundFamily
        ``bayesclust.families.FullGaussian().bind(X)`` or another.
    constraints : sequence of Constraints
    partition_prior : PartitionPrior or None
        None is the Dirichlet process with concentration 1.
    values : mapping or None
        Parameters of the partition prior; its prior means, or fixed values, if left out.
    hyper : array, optional
        Hyper-parameters of the base measure; the prior medians if left out.
    noise : sequence of mappings
        Noise parameters of each constraint object.

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
    hyper = family.initial_hyper() if hyper is None else hyper
    clusters = [np.flatnonzero(labels == k) for k in np.unique(labels)]
    prior = as_prior(DirichletProcess(1.0) if partition_prior is None else partition_prior)
    values = prior.initial() if values is None else values
    value = prior.log_prob(np.array([len(items) for items in clusters]), values)
    value += log_data(clusters, family, hyper) + family.log_hyper_prior(hyper)
    value += prior.log_prior(values)
    for each, params in zip(constraints, noise, strict=True):
        value += each.log_prob(labels, params) + each.noise.log_prior(params)
    return float(value)


def log_marginal_joint(
    z: ArrayLike,
    family: BoundFamily,
    *,
    constraints: Sequence[Constraints] = (),
    partition_prior: PartitionPrior | None = None,
    hyper: FloatArray | None = None,
) -> float:
    """log p(z, x, s | hyper-parameters): all but the base measure's hyper-parameters integrated out.

    Up to a constant the log posterior probability of the partition, given the hyper-parameters.

    Parameters
    ----------
    z : array of shape (n,)
        Labels.
    family : BoundFamily
    constraints : sequence of Constraints
        Each with its own noise model.
    partition_prior : PartitionPrior or None
        None is the default Dirichlet process.
    hyper : array, optional
        Hyper-parameters of the base measure; the prior medians if left out.

    Returns
    -------
    float
        In the user's units.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import SphericalGaussian
    >>> family = SphericalGaussian(0.5, 4.0, 0.1).bind(np.array([[0.0], [0.1], [5.0], [5.1]]))
    >>> bool(log_marginal_joint([0, 0, 1, 1], family) > log_marginal_joint([0, 1, 0, 1], family))
    True
    """
    labels = np.asarray(z)
    clusters = [np.flatnonzero(labels == k) for k in np.unique(labels)]
    prior = as_prior(partition_prior)
    value = prior.log_marginal(np.array([len(items) for items in clusters]))
    value += log_data(clusters, family, family.initial_hyper() if hyper is None else hyper)
    value += sum(each.noise.log_marginal(each.counts(labels)) for each in constraints)
    return float(value)


def log_data(clusters: Sequence[IntArray], family: BoundFamily, hyper: FloatArray) -> float:
    """log p(x | partition, hyper-parameters), in the user's units."""
    return float(
        family.log_data([family.X[items] for items in clusters], hyper) + family.log_constant
    )
