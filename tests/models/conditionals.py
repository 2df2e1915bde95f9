"""Conjugate posteriors of cluster parameters, straight from SciPy, for every family, items weighing `bound.power`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bayesclust.families import BoundMissingGaussian
from bayesclust.families.discrete import BoundBernoulli, BoundCategorical, BoundRecoded
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.families.gaussian_columns import BoundDiagonalGaussian
from bayesclust.families.gaussian_spherical import BoundSphericalGaussian
from bayesclust.families.gaussian_tied import BoundTiedGaussian
from bayesclust.families.mixed import BoundProduct
from bayesclust.families.multinomial import BoundMultinomial
from bayesclust.families.poisson import BoundPoisson

Array = NDArray[np.float64]


def full(bound: Any, hyper: Array, X: Array, params: dict[str, Array]) -> float:
    """Normal-inverse-Wishart, from Murphy (2007)."""
    kappa0, nu0, psi0 = bound.parameters(hyper)
    n = bound.power * len(X)
    mean = X.mean(axis=0) if n else np.zeros(X.shape[1])
    scatter = bound.power * (X - mean).T @ (X - mean) + kappa0 * n / (kappa0 + n) * np.outer(
        mean, mean
    )
    value = stats.invwishart(nu0 + n, psi0 + scatter).logpdf(params["covariance"])
    located = stats.multivariate_normal(
        n * mean / (kappa0 + n), params["covariance"] / (kappa0 + n)
    )
    return float(value + located.logpdf(params["mean"]))


def tied(bound: Any, hyper: Array, X: Array, params: dict[str, Array]) -> float:
    """Normal, given the covariance that all clusters share."""
    kappa0, covariance = hyper[2], params["within_covariance"]
    kappa = kappa0 + bound.power * len(X)
    located = stats.multivariate_normal(bound.power * X.sum(axis=0) / kappa, covariance / kappa)
    return float(located.logpdf(params["mean"]))


def common(bound: Any, hyper: Array, groups: list[Array], covariance: Array) -> float:
    """Inverse Wishart, from the pooled scatter."""
    kappa0, nu0, psi0 = bound.parameters(hyper)
    nu, psi = nu0, psi0.copy()
    for X in groups:
        n, total = bound.power * len(X), bound.power * X.sum(axis=0)
        nu += n
        psi += bound.power * X.T @ X - np.outer(total, total) / (kappa0 + n)
    return float(stats.invwishart(nu, psi).logpdf(covariance))


def spherical(bound: Any, hyper: Array, X: Array, params: dict[str, Array]) -> float:
    """Normal-inverse-gamma, one variance."""
    kappa0, a0, b0 = bound.parameters(hyper)
    kappa = kappa0 + bound.power * len(X)
    mean = bound.power * X.sum(axis=0) / kappa
    rate = b0 + 0.5 * (bound.power * (X**2).sum(axis=0) - kappa * mean**2).sum()
    value = stats.invgamma(a0 + bound.power * X.size / 2, scale=rate).logpdf(params["variance"])
    return float(
        value + stats.norm(mean, np.sqrt(params["variance"] / kappa)).logpdf(params["mean"]).sum()
    )


def diagonal(bound: Any, hyper: Array, X: Array, params: dict[str, Array]) -> float:
    """Normal-inverse-gamma, each column by its own cells."""
    kappa0, a0, b0 = bound.parameters(hyper)
    value = 0.0
    for x, rate0, variance, centre in zip(X.T, b0, params["variance"], params["mean"], strict=True):
        cells = x[np.isfinite(x)]
        n = bound.power * len(cells)
        kappa, mean = kappa0 + n, bound.power * cells.sum() / (kappa0 + n)
        rate = rate0 + 0.5 * (bound.power * (cells**2).sum() - kappa * mean**2)
        value += stats.invgamma(a0 + n / 2, scale=rate).logpdf(variance)
        value += stats.norm(mean, np.sqrt(variance / kappa)).logpdf(centre)
    return value


def multinomial(bound: Any, hyper: Array, X: Array, params: dict[str, Array]) -> float:
    """Dirichlet."""
    return float(
        stats.dirichlet(hyper[0] + bound.power * X.sum(axis=0)).logpdf(params["probability"])
    )


def bernoulli(bound: Any, hyper: Array, X: Array, params: dict[str, Array]) -> float:
    """Beta, each column by its own cells."""
    no, yes = (hyper[0] * bound.shares).reshape(-1, 2).T
    yes, no = yes + bound.power * (X == 1).sum(axis=0), no + bound.power * (X == 0).sum(axis=0)
    return float(stats.beta(yes, no).logpdf(params["probability"]).sum())


def categorical(bound: Any, hyper: Array, X: Array, params: dict[str, Array]) -> float:
    """Dirichlet, each column by its own cells."""
    value = 0.0
    for x, size, column in zip(X.T, bound.sizes, bound.kept, strict=True):
        counts = np.array([(x == code).sum() for code in range(size)])
        value += stats.dirichlet(hyper[0] + bound.power * counts).logpdf(
            params[f"probability_{column}"]
        )
    return value


def poisson(bound: Any, hyper: Array, X: Array, params: dict[str, Array]) -> float:
    """Gamma, each column by its own cells."""
    shape = hyper[0] + bound.power * np.nansum(X, axis=0)
    rate = hyper[0] / bound.mean + bound.power * np.isfinite(X).sum(axis=0)
    return float(stats.gamma(shape, scale=1 / rate).logpdf(params["rate"]).sum())


CONDITIONALS = {
    BoundFullGaussian: full,
    BoundTiedGaussian: tied,
    BoundSphericalGaussian: spherical,
    BoundDiagonalGaussian: diagonal,
    BoundMissingGaussian: diagonal,
    BoundMultinomial: multinomial,
    BoundBernoulli: bernoulli,
    BoundCategorical: categorical,
    BoundRecoded: categorical,
    BoundPoisson: poisson,
}


def log_conditional(
    bound: Any, hyper: Array, z: NDArray[np.int64], number: int, params: dict[str, Array]
) -> float:
    """log p(theta | x, z): the conjugate posterior of every component, those without items included."""
    if isinstance(bound, BoundProduct):
        value, end = 0.0, 0
        for at, part in enumerate(bound.parts, start=1):
            begin, end = end, end + len(part.hyper_priors)
            own = {
                name.removeprefix(f"part_{at}_"): values
                for name, values in params.items()
                if f"part_{at}_" in name
            }
            value += log_conditional(part, hyper[begin:end], z, number, own)
        return value
    shared = {name: values for name, values in params.items() if name == "within_covariance"}
    own = {
        name: values
        for name, values in params.items()
        if len(np.shape(values)) and len(values) == number
    }
    conditional, groups = CONDITIONALS[type(bound)], [bound.X[z == k] for k in range(number)]
    value = common(bound, hyper, groups, shared["within_covariance"]) if shared else 0.0
    each = [{name: values[k] for name, values in own.items()} | shared for k in range(number)]
    return value + sum(
        conditional(bound, hyper, X, mine) for X, mine in zip(groups, each, strict=True)
    )
