"""TVClust with clusters that are mixtures, as a NumPyro program and as a density with the parameters integrated out.

A cluster g is a Dirichlet-process mixture of components of the family (Malsiner-Walli,
Fruehwirth-Schnatter and Gruen 2017, with processes in the place of finite mixtures), and answers
are about clusters:

    alpha, beta ~ Gamma,    z_i ~ sticks(alpha),    c_i | z_i = g ~ sticks_g(beta),
    theta_gc ~ G0,          x_i ~ p(. | theta_{z_i c_i})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_int, check_items, item_labels
from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.families import Family, get_family
from bayesclust.families.base import BoundFamily
from bayesclust.models.joint import log_data
from bayesclust.models.sites import constraint_sites, refuse_enumerated
from bayesclust.models.tvclust import (
    hyper_site,
    item_site,
    parameter_sites,
    stick_distribution,
    stick_weights,
    weight_site,
)
from bayesclust.partition_priors import Nested, Values, as_nested, nested_log_prob
from bayesclust.typing import ArrayLike, FloatArray


def tvclust_mixture(
    X: ArrayLike,
    constraints: Constraints | Sequence[Constraints] | None = None,
    family: str | Family = "gaussian",
    partition_prior: Nested | None = None,
    truncation: int = 10,
    within_truncation: int = 10,
    observe: bool = True,
    power: float = 1.0,
) -> None:
    """Generate data and answers from clusters that are mixtures; a NumPyro program as `tvclust`.

    Parameters
    ----------
    X : array of shape (n, d)
        The items. The base measure takes its units from them even where they are not observed.
    constraints : Constraints, sequence of Constraints or None
        Answers about the items; each view is a site "<name>_answer".
    family : str or Family, default "gaussian"
        Likelihood of a component.
    partition_prior : Nested or None, default None
        Priors of the clusters and of the components within each of them. None is that of
        `bayesclust.TVClust`.
    truncation, within_truncation : int, default 10
        Number of sticks of the clusters, and of the components of each; the last takes what is
        left.
    observe : bool, default True
        Condition on X and the answers; False leaves them to be simulated.
    power : float in (0, 1], default 1.0
        What an observed item weighs in the likelihood, as in `tvclust`.

    Raises
    ------
    ValueError
        If labels arrive enumerated, as in `tvclust`, or for bad input.

    Notes
    -----
    Sites beyond those of `tvclust`: "within_concentration", "within_stick" in the plate "cluster",
    and "component" (which of its cluster's components an item has) in the plate "item". The plate
    "components" holds the components of the first cluster, then those of the second, and so on.

    Examples
    --------
    >>> import jax, numpy as np
    >>> import numpyro.infer
    >>> from bayesclust.models import tvclust_mixture
    >>> prior = numpyro.infer.Predictive(tvclust_mixture, num_samples=3)
    >>> draws = prior(jax.random.key(0), np.arange(10.0).reshape(5, 2), family="gaussian_spherical", observe=False)
    >>> draws["component"].shape, draws["x"].shape
    ((3, 5), (3, 5, 2))
    """
    _, numpyro, dist = numpyro_modules()
    family = get_family(family)
    items = check_items(X, missing=family.takes_missing)
    answered = check_constraints(constraints, len(items))
    bound = family.bind(items)
    T, S = (
        check_int(truncation, "truncation", least=2),
        check_int(within_truncation, "within_truncation", least=2),
    )
    hyper = bound.shared_sites([hyper_site(prior) for prior in bound.hyper_priors])
    prior = as_nested(partition_prior)
    weight = weight_site(prior.among, T)
    T = weight.shape[-1]
    within = parameter_sites(prior.within, "within_")
    with numpyro.plate("cluster", T):
        below = numpyro.sample("within_stick", stick_distribution(prior.within, within, S - 1))
    with numpyro.plate("components", T * S):
        likelihood = bound.component_sites(hyper)
    with numpyro.plate("item", len(items)):
        z = numpyro.sample("z", dist.Categorical(probs=weight))
        refuse_enumerated(z, len(items))
        component = numpyro.sample("component", dist.Categorical(probs=stick_weights(below)[z]))
        item_site(likelihood(z * S + component), bound.columns(items) if observe else None, power)
    constraint_sites(answered, z, observe=observe)


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
    """Return log p(z, components, x, s, alpha, beta, hyper-parameters, noise), component parameters integrated out.

    Parameters
    ----------
    z, components : array of shape (n,)
        Labels of clusters and of components; items of one component are in one cluster.
    family : BoundFamily
    constraints : sequence of Constraints
    partition_prior : Nested or None
        None is that of `bayesclust.TVClust`.
    values, within_values : mapping or None
        Parameters of the priors of clusters and of components; prior means, or fixed values, if
        left out.
    hyper : array, optional
        Hyper-parameters of the base measure; the prior medians if left out.
    noise : sequence of mappings
        Noise parameters of each view.

    Returns
    -------
    float
        In the user's units; -inf where a component lies in two clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import SphericalGaussian
    >>> family = SphericalGaussian(0.1, 4.0, 0.1).bind(np.array([[0.0], [0.1], [5.0], [5.1]]))
    >>> two, one = mixture_log_joint([0, 0, 0, 0], [0, 0, 1, 1], family), mixture_log_joint([0] * 4, [0] * 4, family)
    >>> bool(two > one)
    True
    """
    labels, lower = (
        item_labels(of, len(family.X), what) for of, what in ((z, "z"), (components, "components"))
    )
    prior = as_nested(partition_prior)
    values = prior.among.initial() if values is None else values
    within_values = prior.within.initial() if within_values is None else within_values
    hyper = family.initial_hyper() if hyper is None else hyper
    value = nested_log_prob(lower, labels, prior.among, prior.within, values, within_values)
    value += prior.among.log_prior(values) + prior.within.log_prior(within_values)
    value += log_data([np.flatnonzero(lower == k) for k in np.unique(lower)], family, hyper)
    value += family.log_hyper_prior(hyper)
    for view, params in zip(constraints, noise, strict=True):
        value += view.log_prob(labels, params) + view.noise.log_prior(params)
    return float(value)


__all__ = ["mixture_log_joint", "tvclust_mixture"]
