"""Exact joint densities of TVClust, cluster parameters integrated out: what samplers keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesclust.checks import counted, item_labels, shown
from bayesclust.constraints.base import Constraints
from bayesclust.families.base import BoundFamily, hard_statistics
from bayesclust.partition_priors import Nested, PartitionPrior, Values, as_nested
from bayesclust.partition_priors.nested import nested_log_prob
from bayesclust.typing import ArrayLike, FloatArray, IntArray


def log_joint(
    z: ArrayLike,
    family: BoundFamily,
    components: ArrayLike | None = None,
    *,
    constraints: Sequence[Constraints] = (),
    partition_prior: PartitionPrior | Nested | None = None,
    values: Values | None = None,
    within_values: Values | None = None,
    hyper: FloatArray | None = None,
    noise: Sequence[Mapping[str, Any]] = (),
) -> float:
    """log p(z, components, x, s, parameters, noise), cluster parameters integrated out.

    p(z) of the partition prior (TVClust Eq. 2), times the clusters' marginal likelihoods, times
    p(E | z, p, q) (Eq. 8, corrected) and the like, times the priors. Hyper-parameters count by the
    density of their logarithms.

    Parameters
    ----------
    z : array of shape (n,)
    family : BoundFamily
        ``bayesclust.families.FullGaussian().bind(X)`` or another.
    components : array of shape (n,) or None
        Labels of the components where clusters are mixtures.
    constraints : sequence of Constraints
    partition_prior : PartitionPrior, Nested or None
        None is the Dirichlet process.
    values, within_values : mapping or None
        Parameters of the priors of clusters and of components, by default their prior means.
    hyper : array, optional
        Hyper-parameters of the base measure, by default the prior medians.
    noise : sequence of mappings
        Noise parameters of each constraint object.

    Returns
    -------
    float
        In the user's units; -inf where a component lies in two clusters.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> from bayesclust.families import SphericalGaussian
    >>> family = SphericalGaussian(0.5, 4.0, 0.1).bind(np.array([[0.0], [0.1], [5.0], [5.1]]))
    >>> bool(bc.models.log_joint([0, 0, 1, 1], family) > bc.models.log_joint([0, 1, 0, 1], family))
    True
    """
    if not isinstance(family, BoundFamily):
        raise TypeError(
            f"family is {shown(family)}: pass one bound to the data, such as "
            "bayesclust.families.FullGaussian().bind(X)."
        )
    labels = item_labels(z, len(family.X), "z")
    hyper = family.initial_hyper() if hyper is None else hyper
    prior = as_nested(partition_prior)
    values = prior.among.initial() if values is None else values
    value = prior.among.log_prior(values) + family.log_hyper_prior(hyper)
    value += log_constraints(labels, constraints, noise)
    if components is None:
        value += prior.among.log_prob(np.unique(labels, return_counts=True)[1], values)
        return float(value + log_data(labels, family, hyper))
    lower = item_labels(components, len(family.X), "components")
    within_values = prior.within.initial() if within_values is None else within_values
    value += nested_log_prob(lower, labels, prior.among, prior.within, values, within_values)
    return float(value + prior.within.log_prior(within_values) + log_data(lower, family, hyper))


def log_data(labels: IntArray, family: BoundFamily, hyper: FloatArray) -> float:
    """log p(x | partition, hyper-parameters), in the user's units."""
    there, z = np.unique(labels, return_inverse=True)
    statistics = hard_statistics(family, z, len(there))
    return float(family.log_total(statistics, hyper) + family.log_constant)


def log_constraints(
    labels: IntArray, constraints: Sequence[Constraints], noise: Sequence[Mapping[str, Any]]
) -> float:
    """log p(answers | z, noise) + log p(noise)."""
    if len(noise) != len(constraints):
        raise ValueError(
            f"noise has the parameters of {counted(len(noise), 'object')} of constraints, and "
            f"there are {len(constraints)}: pass a list of them, a mapping for each."
        )
    pairs = zip(constraints, noise, strict=True)
    return float(sum(one.log_prob(labels, own) + one.noise.log_prior(own) for one, own in pairs))
