"""References for each family: data of its kind, clusters run forwards, posteriors from SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln, ive

from bayesclust.families import Bernoulli, Categorical, Family, Multinomial, Poisson
from bayesclust.families.directional import BoundVonMisesFisher
from bayesclust.families.discrete import BoundBernoulli, BoundCategorical
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.families.gaussian_columns import BoundDiagonalGaussian, BoundSphericalGaussian
from bayesclust.families.gaussian_tied import BoundTiedGaussian
from bayesclust.families.mixed import BoundProduct
from bayesclust.families.multinomial import BoundMultinomial
from bayesclust.families.poisson import BoundPoisson

Array = NDArray[np.float64]
Params = dict[str, Array]

# Data of two overlapping groups.


def real_data(n: int, d: int, rng: Generator) -> Array:
    """Real numbers."""
    centres = rng.normal(scale=0.8, size=(2, d))
    return centres[rng.integers(2, size=n)] + rng.normal(size=(n, d))


def binary_data(n: int, d: int, rng: Generator) -> Array:
    """Zeros and ones."""
    return (rng.random((n, d)) < rng.random((2, d))[rng.integers(2, size=n)]).astype(np.float64)


def count_data(n: int, d: int, rng: Generator) -> Array:
    """Counts, one column of them large."""
    rates = rng.gamma(2.0, 1.0, size=(2, d)) * np.where(np.arange(d) == 1, 20.0, 1.0)
    return rng.poisson(rates[rng.integers(2, size=n)]).astype(np.float64)


def coded_data(n: int, d: int, rng: Generator) -> Array:
    """Codes: three in the first column, four in the second, and so on."""
    z = rng.integers(2, size=n)
    columns = [
        (rng.dirichlet(np.ones(3 + j), size=2)[z].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        for j in range(d)
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def word_data(n: int, d: int, rng: Generator) -> Array:
    """Counts of 5 in all."""
    shares = rng.dirichlet(np.ones(d), size=2)[rng.integers(2, size=n)]
    return rng.multinomial(5, shares).astype(np.float64)


DATA: dict[type[Family], Callable[[int, int, Generator], Array]] = {
    Bernoulli: binary_data,
    Poisson: count_data,
    Categorical: coded_data,
    Multinomial: word_data,
}
"""Kinds of data of families that do not take real numbers."""

# n items of one cluster, its parameters drawn from the prior and written out; and the log posterior
# density of such parameters given the items X of a cluster, each of weight `bound.power`.


def draw_full(bound: Any, n: int, hyper: Array, rng: Generator) -> Array:
    """Sigma ~ IW(nu0, Psi0), mu ~ N(0, Sigma / kappa0)."""
    kappa0, nu0, psi0 = bound.parameters(hyper)
    # Sigma = L (A A')^-1 L' with Psi0 = L L' and A Bartlett's triangle of a standard Wishart
    # matrix; A^-T is a root of it
    d = len(psi0)
    diagonal = np.diag(np.sqrt(rng.chisquare(nu0 - np.arange(d))))
    bartlett = np.tril(rng.normal(size=(d, d)), -1) + diagonal
    root = np.linalg.cholesky(psi0) @ np.linalg.inv(bartlett).T
    mean = root @ rng.normal(size=d) / np.sqrt(kappa0)
    return np.asarray(mean + rng.normal(size=(n, d)) @ root.T)


def full(bound: Any, hyper: Array, X: Array, params: Params) -> float:
    """Normal-inverse-Wishart, from Murphy (2007)."""
    kappa0, nu0, psi0 = bound.parameters(hyper)
    n = bound.power * len(X)
    mean = X.mean(axis=0) if n else np.zeros(X.shape[1])
    scatter = bound.power * (X - mean).T @ (X - mean)
    scatter += kappa0 * n / (kappa0 + n) * np.outer(mean, mean)
    value = stats.invwishart(nu0 + n, psi0 + scatter).logpdf(params["covariance"])
    kappa = kappa0 + n
    located = stats.multivariate_normal(n * mean / kappa, params["covariance"] / kappa)
    return float(value + located.logpdf(params["mean"]))


def draw_tied(bound: Any, n: int, hyper: Array, rng: Generator) -> Array:
    """mu ~ N(0, W / kappa0), W standing behind the three hyper-parameters."""
    d = bound.X.shape[1]
    root = np.linalg.cholesky(hyper[3:].reshape(d, d))
    mean = root @ rng.normal(size=d) / np.sqrt(hyper[2])
    return np.asarray(mean + rng.normal(size=(n, d)) @ root.T)


def tied(bound: Any, hyper: Array, X: Array, params: Params) -> float:
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


def draw_columns(bound: Any, n: int, hyper: Array, rng: Generator) -> Array:
    """v_g ~ InvGamma(a0, b0_g), mu_j ~ N(0, v_g / kappa0), of a variance for each column or one."""
    kappa0, a0, b0 = bound.parameters(hyper)
    d = bound.X.shape[1]
    spread = np.sqrt(b0 / rng.gamma(a0, size=len(b0))) * np.ones(d)
    mean = spread * rng.normal(size=d) / np.sqrt(kappa0)
    return np.asarray(mean + spread * rng.normal(size=(n, d)))


def gaussian_columns(bound: Any, hyper: Array, X: Array, params: Params) -> float:
    """Normal-inverse-gamma, each column by its own cells."""
    kappa0, shape, rate = bound.parameters(hyper)
    n = bound.power * np.isfinite(X).sum(axis=0)
    kappa = kappa0 + n
    mean = bound.power * np.nansum(X, axis=0) / kappa
    scatter = bound.power * np.nansum(X**2, axis=0) - kappa * mean**2
    if bound.one_variance:
        n, scatter = n.sum(), scatter.sum()
    posterior = stats.invgamma(shape + n / 2, scale=rate + 0.5 * scatter)
    located = stats.norm(mean, np.sqrt(params["variance"] / kappa))
    return float(posterior.logpdf(params["variance"]).sum() + located.logpdf(params["mean"]).sum())


def draw_multinomial(bound: Any, n: int, hyper: Array, rng: Generator) -> Array:
    """theta ~ Dirichlet(beta, ..., beta), as many counts as the first item has."""
    theta = rng.dirichlet(np.full(bound.X.shape[1], float(hyper[0])))
    return rng.multinomial(int(bound.X[0].sum()), theta, size=n).astype(np.float64)


def multinomial(bound: Any, hyper: Array, X: Array, params: Params) -> float:
    """Dirichlet."""
    posterior = stats.dirichlet(hyper[0] + bound.power * X.sum(axis=0))
    return float(posterior.logpdf(params["probability"]))


def draw_coded(bound: Any, n: int, hyper: Array, rng: Generator) -> Array:
    """theta_j ~ Dirichlet(beta_j) for each column; of two codes that is a Beta distribution."""
    columns = [
        rng.choice(len(beta), size=n, p=rng.dirichlet(beta))
        for beta in np.split(bound.parameters(hyper), bound.first[1:-1])
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def bernoulli(bound: Any, hyper: Array, X: Array, params: Params) -> float:
    """Beta, each column by its own cells."""
    no, yes = (hyper[0] * bound.shares).reshape(-1, 2).T
    yes, no = yes + bound.power * (X == 1).sum(axis=0), no + bound.power * (X == 0).sum(axis=0)
    return float(stats.beta(yes, no).logpdf(params["probability"]).sum())


def categorical(bound: Any, hyper: Array, X: Array, params: Params) -> float:
    """Dirichlet, each column by its own cells."""
    value = 0.0
    for x, size, column in zip(X.T, bound.sizes, bound.kept, strict=True):
        counts = np.array([(x == code).sum() for code in range(size)])
        posterior = stats.dirichlet(hyper[0] + bound.power * counts)
        value += posterior.logpdf(params[f"probability_{column}"])
    return value


def draw_poisson(bound: Any, n: int, hyper: Array, rng: Generator) -> Array:
    """lambda_j ~ Gamma(a0, b0_j)."""
    shape, rate = bound.parameters(hyper)
    return rng.poisson(rng.gamma(shape, 1 / rate), size=(n, len(rate))).astype(np.float64)


def poisson(bound: Any, hyper: Array, X: Array, params: Params) -> float:
    """Gamma, each column by its own cells."""
    shape = hyper[0] + bound.power * np.nansum(X, axis=0)
    rate = hyper[0] / bound.mean + bound.power * np.isfinite(X).sum(axis=0)
    return float(stats.gamma(shape, scale=1 / rate).logpdf(params["rate"]).sum())


def draw_directional(bound: Any, n: int, hyper: Array, rng: Generator) -> Array:
    """mu ~ Uniform on the sphere, with SciPy's directions about it."""
    mean = rng.normal(size=bound.X.shape[1])
    distribution = stats.vonmises_fisher(mean / np.linalg.norm(mean), float(hyper[0]))
    return np.atleast_2d(distribution.rvs(n, random_state=rng)) if n else bound.X[:0]


def directional(bound: Any, hyper: Array, X: Array, params: Params) -> float:
    """A normal vector, whose direction is von Mises-Fisher about the resultant."""
    axis, total = params["axis"], bound.power * hyper[0] * X.sum(axis=0)
    mean, x = axis / np.linalg.norm(axis), np.linalg.norm(total)
    order = len(axis) / 2 - 1
    norm = gammaln(order + 1) + order * np.log(2 / x) + np.log(ive(order, x)) + x if x else 0.0
    return float(stats.norm.logpdf(axis).sum() + mean @ total - norm)


class Reference(NamedTuple):
    """A cluster run forwards, and the log posterior of its parameters."""

    draw: Callable[[Any, int, Array, Generator], Array]
    conditional: Callable[[Any, Array, Array, Params], float]


REFERENCES: dict[type, Reference] = {
    BoundFullGaussian: Reference(draw_full, full),
    BoundTiedGaussian: Reference(draw_tied, tied),
    BoundSphericalGaussian: Reference(draw_columns, gaussian_columns),
    BoundDiagonalGaussian: Reference(draw_columns, gaussian_columns),
    BoundMultinomial: Reference(draw_multinomial, multinomial),
    BoundBernoulli: Reference(draw_coded, bernoulli),
    BoundCategorical: Reference(draw_coded, categorical),
    BoundPoisson: Reference(draw_poisson, poisson),
    BoundVonMisesFisher: Reference(draw_directional, directional),
}
"""The line that a new family needs in tests."""


def reference_of(bound: Any) -> Reference:
    """The density of a family, written anew."""
    name = type(bound).__name__
    assert type(bound) in REFERENCES, f"add REFERENCES[{name}] = Reference(draw, conditional)"
    return REFERENCES[type(bound)]


def draw_cluster(bound: Any, n: int, hyper: Array, rng: Generator) -> Array:
    """n items of one cluster, each part's columns drawn by themselves."""
    if not isinstance(bound, BoundProduct):
        return reference_of(bound).draw(bound, n, hyper, rng)
    blocks, end = [], 0
    for part in bound.parts:
        begin, end = end, end + len(part.hyper_priors)
        blocks.append(draw_cluster(part, n, hyper[begin:end], rng))
    return np.concatenate(blocks, axis=1)


def log_conditional(
    bound: Any, hyper: Array, z: NDArray[np.int64], number: int, params: Params
) -> float:
    """log p(theta | x, z): the posterior of every component, those without items included."""
    if isinstance(bound, BoundProduct):
        value, end = 0.0, 0
        for at, part in enumerate(bound.parts, start=1):
            begin, end = end, end + len(part.hyper_priors)
            prefix = f"part_{at}_"
            own = {name.removeprefix(prefix): v for name, v in params.items() if prefix in name}
            value += log_conditional(part, hyper[begin:end], z, number, own)
        return value
    shared = {name: values for name, values in params.items() if name == "within_covariance"}
    own = {name: one for name, one in params.items() if np.ndim(one) and len(one) == number}
    conditional = reference_of(bound).conditional
    groups = [bound.X[z == k] for k in range(number)]
    value = common(bound, hyper, groups, shared["within_covariance"]) if shared else 0.0
    for k, X in enumerate(groups):
        mine = {name: values[k] for name, values in own.items()} | shared
        value += conditional(bound, hyper, X, mine)
    return value
