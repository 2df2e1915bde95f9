"""Exact joint densities of TVClust, cluster parameters integrated out: what samplers keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesclust.checks import item_labels
from bayesclust.constraints.base import Constraints
from bayesclust.families.base import BoundFamily
from bayesclust.partition_priors import (
    DirichletProcess,
    Nested,
    PartitionPrior,
    Values,
    as_nested,
    as_prior,
    nested_log_prob,
)
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

    p(z) of the partition prior (TVClust Eq. 2), times the clusters' marginal likelihoods, times
    p(E | z, p, q) (Eq. 8, corrected) and the like, times the priors. Hyper-parameters count by the
    density of their logarithms.

    Parameters
    ----------
    z : array of shape (n,)
    family : BoundFamily
        ``bayesclust.families.FullGaussian().bind(X)`` or another.
    constraints : sequence of Constraints
    partition_prior : PartitionPrior or None
        None is the Dirichlet process with concentration 1.
    values : mapping or None
        Parameters of the partition prior, by default their prior means.
    hyper : array, optional
        Hyper-parameters of the base measure, by default the prior medians.
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
    prior = as_prior(DirichletProcess(1.0) if partition_prior is None else partition_prior)
    values = prior.initial() if values is None else values
    value = prior.log_prob(np.unique(labels, return_counts=True)[1], values)
    value += log_data(_clusters(labels), family, hyper) + family.log_hyper_prior(hyper)
    value += prior.log_prior(values) + log_constraints(labels, constraints, noise)
    return float(value)


def mixture_log_joint(
    z: ArrayLike,
    components: ArrayLike,
    family: BoundFamily,
    *,
    constraints: Sequence[Constraints] = (),
    partition_prior: Nested | None = None,
    values: Values | None = None,
    within_values: Values | None = None,
    hyper: FloatArray | None = None,
    noise: Sequence[Mapping[str, Any]] = (),
) -> float:
    """`log_joint` where clusters are mixtures: log p(z, components, x, s, parameters, noise).

    Parameters
    ----------
    z, components : array of shape (n,)
        Labels of clusters and of components.
    family, constraints, hyper, noise
        As in `log_joint`.
    partition_prior : Nested or None
        None is that of `bayesclust.TVClust`.
    values, within_values : mapping or None
        Parameters of the priors of clusters and of components.

    Returns
    -------
    float
        In the user's units; -inf where a component lies in two clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import SphericalGaussian
    >>> family = SphericalGaussian(0.1, 4.0, 0.1).bind(np.array([[0.0], [0.1], [5.0], [5.1]]))
    >>> two = mixture_log_joint([0, 0, 0, 0], [0, 0, 1, 1], family)
    >>> bool(two > mixture_log_joint([0] * 4, [0] * 4, family))
    True
    """
    labels = item_labels(z, len(family.X), "z")
    lower = item_labels(components, len(family.X), "components")
    prior = as_nested(partition_prior)
    values = prior.among.initial() if values is None else values
    within_values = prior.within.initial() if within_values is None else within_values
    hyper = family.initial_hyper() if hyper is None else hyper
    value = nested_log_prob(lower, labels, prior.among, prior.within, values, within_values)
    value += prior.among.log_prior(values) + prior.within.log_prior(within_values)
    value += log_data(_clusters(lower), family, hyper) + family.log_hyper_prior(hyper)
    return float(value + log_constraints(labels, constraints, noise))


def log_marginal_joint(
    z: ArrayLike,
    family: BoundFamily,
    *,
    constraints: Sequence[Constraints] = (),
    partition_prior: PartitionPrior | None = None,
    hyper: FloatArray,
) -> float:
    """log p(z, x, s | hyper-parameters), all else integrated out."""
    labels = np.asarray(z)
    value = as_prior(partition_prior).log_marginal(np.unique(labels, return_counts=True)[1])
    value += log_data(_clusters(labels), family, hyper)
    value += sum(each.noise.log_marginal(each.counts(labels)) for each in constraints)
    return float(value)


def _clusters(labels: IntArray) -> list[IntArray]:
    return [np.flatnonzero(labels == k) for k in np.unique(labels)]


def log_data(clusters: Sequence[IntArray], family: BoundFamily, hyper: FloatArray) -> float:
    """log p(x | partition, hyper-parameters), in the user's units."""
    rows = [family.X[items] for items in clusters]
    return float(family.log_data(rows, hyper) + family.log_constant)


def log_constraints(
    labels: IntArray, constraints: Sequence[Constraints], noise: Sequence[Mapping[str, Any]]
) -> float:
    """log p(answers | z, noise) + log p(noise)."""
    pairs = zip(constraints, noise, strict=True)
    return float(sum(one.log_prob(labels, own) + one.noise.log_prior(own) for one, own in pairs))
