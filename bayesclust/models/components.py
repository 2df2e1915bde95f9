"""The families as NumPyro code: sites of one cluster's parameters, and the distribution of its items in the user's units.

Called inside the plate of components. A family of your own registers a function of its bound class with
``component_sites.register``.

| on paper | in code |
|---|---|
| Sigma_k ~ IW(nu0, Psi0), mu_k ~ N(m0, Sigma_k / kappa0) | sites "covariance", "mean" |
| v_k ~ InvGamma(a0, b0), mu_k ~ N(m0, v_k / kappa0) | sites "variance", "mean" |
| theta_k ~ Dirichlet(beta) | site "probability" |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from bayesclust.models._numpyro import load
from bayesclust.models.families.base import BoundFamily
from bayesclust.models.families.gaussian_diagonal import BoundDiagonalGaussian
from bayesclust.models.families.gaussian_full import BoundFullGaussian
from bayesclust.models.families.gaussian_spherical import BoundSphericalGaussian
from bayesclust.models.families.multinomial import BoundMultinomial
from bayesclust.typing import FloatArray

Hyper = Mapping[str, Any]
Likelihood = Callable[[Any], Any]


@singledispatch
def component_sites(family: BoundFamily, hyper: Hyper) -> Likelihood:
    """Sample the parameters of every component; return a function from labels to the distribution of the items.

    Parameters
    ----------
    family : BoundFamily
    hyper : mapping
        Hyper-parameters by name.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If the family has no NumPyro part.
    """
    raise TypeError(f"{type(family).__name__} has no NumPyro part: register one with component_sites.register.")


def observed(family: BoundFamily, X: FloatArray) -> FloatArray:
    """The columns of the data that the family models, in the user's units."""
    return X[:, getattr(family, "kept", np.arange(X.shape[1]))]


@component_sites.register
def _full(family: BoundFullGaussian, hyper: Hyper) -> Likelihood:
    lib = load()
    strength, kappa0 = hyper["base_strength"], hyper["base_mean_precision"]
    d = family.X.shape[1]
    psi0 = strength * (hyper["base_scale"] * family.shape + np.diag(family.floor))
    covariance = lib.numpyro.sample("covariance", lib.dist.InverseWishart(strength + d + 1, scale_matrix=psi0))
    prior = lib.dist.MultivariateNormal(lib.jnp.zeros(d), covariance / kappa0)
    mean = lib.numpyro.sample("mean", prior)
    units = np.outer(family.unit, family.unit)
    return lambda z: lib.dist.MultivariateNormal(family.centre + family.unit * mean[z], covariance[z] * units)


@component_sites.register
def _diagonal(family: BoundDiagonalGaussian, hyper: Hyper) -> Likelihood:
    lib = load()
    strength, kappa0 = hyper["base_strength"], hyper["base_mean_precision"]
    rate = 0.5 * strength * (hyper["base_scale"] + family.floor)
    variance = lib.numpyro.sample("variance", lib.dist.InverseGamma(1.0 + 0.5 * strength, rate).to_event(1))
    mean = lib.numpyro.sample("mean", lib.dist.Normal(0.0, lib.jnp.sqrt(variance / kappa0)).to_event(1))
    sd = lib.jnp.sqrt(variance)
    return lambda z: lib.dist.Normal(family.centre + family.unit * mean[z], family.unit * sd[z]).to_event(1)


@component_sites.register
def _spherical(family: BoundSphericalGaussian, hyper: Hyper) -> Likelihood:
    lib = load()
    strength, kappa0 = hyper["base_strength"], hyper["base_mean_precision"]
    rate = 0.5 * strength * (hyper["base_scale"] + family.floor)
    variance = lib.numpyro.sample("variance", lib.dist.InverseGamma(1.0 + 0.5 * strength, rate))[..., None]
    zeros = lib.jnp.zeros(family.X.shape[1])
    mean = lib.numpyro.sample("mean", lib.dist.Normal(zeros, lib.jnp.sqrt(variance / kappa0)).to_event(1))
    sd = lib.jnp.sqrt(variance)
    return lambda z: lib.dist.Normal(family.centre + family.unit * mean[z], family.unit * sd[z]).to_event(1)


@component_sites.register
def _multinomial(family: BoundMultinomial, hyper: Hyper) -> Likelihood:
    lib = load()
    beta = hyper["base_concentration"] * lib.jnp.ones(family.X.shape[1])
    probability = lib.numpyro.sample("probability", lib.dist.Dirichlet(beta))
    size = family.X.sum(axis=1).astype(int)
    most = int(size.max())
    return lambda z: lib.dist.MultinomialProbs(probability[z], total_count=size, total_count_max=most)
