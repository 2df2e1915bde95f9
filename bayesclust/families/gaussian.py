"""Gaussian clusters with full covariance and a normal-inverse-Wishart prior.

    mu_k | Sigma_k ~ N(m0, Sigma_k / kappa0),    Sigma_k ~ IW(nu0, Psi0)

With n items of mean xbar and scatter S (Murphy 2007, Eq. 250 to 266):

    kappa_n = kappa0 + n,  nu_n = nu0 + n,  m_n = (kappa0 m0 + n xbar) / kappa_n
    Psi_n   = Psi0 + S + kappa0 n / kappa_n (xbar - m0)(xbar - m0)'
    p(X)    = pi^(-nd/2) (kappa0/kappa_n)^(d/2)
              Gamma_d(nu_n/2) / Gamma_d(nu0/2) |Psi0|^(nu0/2) / |Psi_n|^(nu_n/2)

and the predictive is a Student t. Data are centred at m0, so that m0 = 0 below. A cluster keeps the
inverse of Psi_n, which an item changes by a rank-one term (Sherman and Morrison).

A block of m items that join cluster k is a change of rank m. With rows v_i = x_i - m_k, each of
weight w, kappa = kappa_k + w m, and the means of Psi around the new mean taken off,

    Psi' = Psi_k + V' W V,    W = w I - w^2 / kappa 1 1' = w A A,    A = I - s 1 1'
    s    = (1 - sqrt(kappa_k / kappa)) / m,    |Psi'| = |Psi_k| |I + w A V Psi_k^{-1} V' A|

(the matrix determinant lemma): m d^2 multiplications instead of d^3 / 6 one by one.

With the parameters in hand, log p(x | mu, Sigma) = log |R| - d/2 log 2 pi - |R x - R mu|^2 / 2 with
R'R the precision. In expectation (Bishop 2006, Eq. 10.64 and 10.65) the precision is nu_n Psi_n^-1,
the quadratic form is larger by d / kappa_n, and

    E log |Sigma^-1| = sum_j psi((nu_n - j) / 2) + d log 2 - log |Psi_n|,    j = 0, ..., d - 1.

All Gaussian families have the three hyper-parameters of `FullGaussian`, in units of each column's
standard deviation. Where items share a value, a learned strength runs to its least value; a learned
kappa0 grows to admit clusters of a few outliers. Against spikes, too, the expected variance has a
floor, r^2 / 12 for a column recorded to a resolution r, and the priors of what is learned are cut
off below.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln

from bayesclust._numba import FAST, device
from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_items
from bayesclust.families import base
from bayesclust.families.base import Hyper, HyperPrior, Terms, hyper_prior
from bayesclust.families.columns import standard_columns
from bayesclust.families.divergence import Divergence
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.typing import ArrayLike, FloatArray, IntArray

PRIORS = (
    HyperPrior("base_scale", 0.5, 1.0, lower=1e-3),
    HyperPrior("base_strength", 15.0, 0.5, lower=1.0),
    HyperPrior("base_mean_precision", 0.1, 1.0, lower=1e-4),
)
STRENGTH = 15.0
MEAN_PRECISION = 0.05
LEAST_VARIANCE = 1e-10
"""Share of the largest variance below which a direction is rounding."""


@dataclass(frozen=True)
class BoundColumns(base.BoundFamily, ABC):
    """A family on columns as `standard_columns` found them; `floor` is the variance of rounding."""

    centre: FloatArray
    unit: FloatArray
    kept: IntArray
    floor: FloatArray

    def columns(self, X: FloatArray) -> FloatArray:
        return X[:, self.kept]

    def transform(self, X: ArrayLike) -> FloatArray:
        return np.asarray((super().transform(X) - self.centre) / self.unit)

    def log_base(self, rows: FloatArray) -> FloatArray:
        """Minus the log units of the cells seen."""
        return -(~np.isnan(rows) * np.log(self.unit)).sum(axis=1)


@dataclass(frozen=True)
class GaussianFamily(base.Family):
    """Gaussian clusters on standardised columns, by the three hyper-parameters of this module."""

    scale: Hyper = "learn"
    strength: Hyper = STRENGTH
    mean_precision: Hyper = MEAN_PRECISION
    common_unit: ClassVar[bool] = False
    bound_type: ClassVar[type[BoundColumns]]

    def bind(self, X: FloatArray) -> BoundColumns:
        """Standardise the columns and fill in the prior."""
        X, centre, unit, kept, floor = standard_columns(X, common_unit=self.common_unit)
        given = self.scale, self.strength, self.mean_precision
        priors = tuple(map(hyper_prior, given, PRIORS))
        floor = floor.mean(keepdims=True) if self.common_unit else floor
        return self.bound_type(X, priors, centre, unit, kept, floor)


# Positive definite matrices by plain loops, which compile in a fraction of the time of LAPACK's
# wrappers and need half the multiplications of a general inverse.


@device(fastmath=FAST, no_refcount=True)
def factorise(matrix: FloatArray) -> float:
    """Put the Cholesky factor L into the lower triangle, which alone is read; returns log|L L'|."""
    log_det = 0.0
    for i in range(len(matrix)):
        for j in range(i + 1):
            left = matrix[i, j]
            for t in range(j):
                left -= matrix[i, t] * matrix[j, t]
            if j < i:
                matrix[i, j] = left / matrix[j, j]
            elif left > 0.0:
                matrix[i, i] = math.sqrt(left)
                log_det += math.log(left)
            else:
                raise np.linalg.LinAlgError("Matrix is not positive definite.")
    return log_det


@device(fastmath=FAST, no_refcount=True)
def invert(lower: FloatArray, inverse: FloatArray) -> None:
    """Write the inverse of L L' from the lower triangle L, whose matrix serves as work space."""
    d = len(lower)
    for i in range(d):  # row by row M = L^(-1), in the lower triangle of `inverse`
        pivot = 1.0 / lower[i, i]
        for j in range(i):
            inverse[i, j] = 0.0
        for t in range(i):
            weight = pivot * lower[i, t]
            for j in range(t + 1):
                inverse[i, j] -= weight * inverse[t, j]
        inverse[i, i] = pivot
    for i in range(d):
        for j in range(i + 1):
            lower[i, j] = 0.0
    for t in range(d):  # M' M
        for i in range(t + 1):
            weight = inverse[t, i]
            for j in range(i + 1):
                lower[i, j] += weight * inverse[t, j]
    for i in range(d):
        for j in range(i + 1):
            inverse[i, j] = inverse[j, i] = lower[i, j]


class FullState(NamedTuple):
    """Clusters with full covariance; C slots and the prior slot, d columns."""

    X: FloatArray  # (n, d), centred at m0
    count: IntArray  # type: ignore[assignment]  # (C + 1,)
    total: FloatArray  # (C + 1, d) sum of x
    outer: FloatArray  # (C + 1, d, d) sum of x x'
    mean: FloatArray  # (C + 1, d) m_n
    precision: FloatArray  # (C + 1, d, d) inverse of Psi_n
    logdet: FloatArray  # (C + 1,) log |Psi_n|
    psi0: FloatArray  # (d, d)
    kappa0: FloatArray  # (1,)
    nu0: FloatArray  # (1,)
    constant: FloatArray  # (n + 1,) predictive's normaliser given the cluster's size
    height: FloatArray  # (n + 1,) marginal likelihood's, but for the determinants
    power: FloatArray  # (2,) weight of an item in a cluster, and of one whose predictive is asked
    work: FloatArray  # (d,) scratch
    square: FloatArray  # (d, d) scratch


@device(fastmath=FAST, forceinline=True, no_refcount=True)
def quadratic_form(state: FullState, i: int, k: int) -> float:
    """d' P_k d for d = x_i - m_k, P_k = Psi_k^(-1)."""
    d, q = state.X.shape[1], 0.0
    for a in range(d):
        row, difference = 0.0, state.X[i, a] - state.mean[k, a]
        for b in range(a):
            row += state.precision[k, a, b] * (state.X[i, b] - state.mean[k, b])
        q += difference * (2.0 * row + state.precision[k, a, a] * difference)
    return q


@device(fastmath=FAST, forceinline=True, no_refcount=True)
def write_direction(state: FullState, i: int, k: int) -> float:
    """Write u = P_k d into the state's scratch; returns d' u."""
    d, u, q = state.X.shape[1], state.work, 0.0
    for b in range(d):
        u[b] = 0.0
    for a in range(d):
        difference = state.X[i, a] - state.mean[k, a]
        for b in range(d):
            u[b] += difference * state.precision[k, a, b]
    for a in range(d):
        q += u[a] * (state.X[i, a] - state.mean[k, a])
    return q


@base.implements(base.clear_cluster, FullState)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    d, empty = state.X.shape[1], len(state.count) - 1
    state.count[k] = 0
    state.logdet[k] = state.logdet[empty]
    for a in range(d):
        state.total[k, a] = 0.0
        state.mean[k, a] = 0.0
        for b in range(d):
            state.outer[k, a, b] = 0.0
            state.precision[k, a, b] = state.precision[empty, a, b]


@base.implements(base.move_item, FullState)
def _move_item(state, i, k, sign):  # type: ignore[no-untyped-def]
    # Psi_{n+1} = Psi_n + g d d',  d = x - m_n,  g = kappa_n / (kappa_n + 1); Sherman and Morrison
    # for the inverse
    d, power, u = state.X.shape[1], sign * state.power[0], state.work
    kappa = state.kappa0[0] + state.power[0] * state.count[k]
    share = power / (kappa + power)
    g, q = share * kappa, write_direction(state, i, k)
    step = g / (1.0 + g * q)
    for a in range(d):
        x_a, weight = sign * state.X[i, a], step * u[a]
        for b in range(d):
            state.outer[k, a, b] += x_a * state.X[i, b]
            state.precision[k, a, b] -= weight * u[b]
    for a in range(d):
        state.mean[k, a] += share * (state.X[i, a] - state.mean[k, a])
        state.total[k, a] += sign * state.X[i, a]
    state.logdet[k] += math.log1p(g * q)
    state.count[k] += sign


@base.implements(base.log_predictive, FullState)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    q = quadratic_form(state, i, k)
    n, weight = state.count[k], state.power[1]
    mass = state.power[0] * n
    kappa = state.kappa0[0] + mass
    tail = math.log1p(q * weight * kappa / (kappa + weight))
    level = state.constant[n] - 0.5 * weight * state.logdet[k]
    return level - 0.5 * (state.nu0[0] + mass + weight) * tail


@device(fastmath=FAST, no_refcount=True)
def log_level(state: FullState, count: int, logdet: float) -> float:
    """log p(X) of so many items, at most n, whose Psi_n has this log determinant."""
    nu0, prior = state.nu0[0], state.logdet[len(state.count) - 1]
    mass = state.power[0] * count
    return float(state.height[count] + 0.5 * nu0 * prior - 0.5 * (nu0 + mass) * logdet)


@base.implements(base.log_marginal, FullState)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return log_level(state, state.count[k], state.logdet[k])


@base.implements(base.log_marginal_union, FullState)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    d, power = state.X.shape[1], state.power[0]
    count = state.count[a] + state.count[b]
    kappa, psi = state.kappa0[0] + power * count, state.square
    for i in range(d):
        mean = power * (state.total[a, i] + state.total[b, i]) / kappa
        for j in range(i + 1):
            own = state.outer[a, i, j] + state.outer[b, i, j]
            own -= mean * (state.total[a, j] + state.total[b, j])
            psi[i, j] = state.psi0[i, j] + power * own
    return log_level(state, count, factorise(psi))


@base.implements(base.log_marginal_joined, FullState)
def _log_marginal_joined(state, k, block, items):  # type: ignore[no-untyped-def]
    # measured: from about d = 9 on, and the faster the fewer they are
    few = 3 * len(items) <= state.X.shape[1]
    return by_rank(state, k, items) if few else base.log_marginal_union(state, k, block)


@device(fastmath=FAST)
def by_rank(state: FullState, k: int, items: IntArray) -> float:
    """log p(items of cluster k and `items`), by an update of rank len(items)."""
    m, d, power = len(items), state.X.shape[1], state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    share = (1.0 - math.sqrt(kappa / (kappa + power * m))) / m
    mean, precision = state.mean[k], state.precision[k]
    rows, turned, forms = np.zeros((m, d)), np.zeros((m, d)), np.zeros((m, m))
    for i in range(m):
        for a in range(d):
            rows[i, a] = state.X[items[i], a] - mean[a]
    for a in range(d):  # A V
        total = 0.0
        for i in range(m):
            total += rows[i, a]
        for i in range(m):
            rows[i, a] -= share * total
    for i in range(m):
        for a in range(d):
            weight = rows[i, a]
            for b in range(d):
                turned[i, b] += weight * precision[a, b]
    for i in range(m):
        for j in range(i + 1):
            form = 0.0
            for a in range(d):
                form += rows[i, a] * turned[j, a]
            forms[i, j] = power * form
        forms[i, i] += 1.0
    return float(log_level(state, state.count[k] + m, state.logdet[k] + factorise(forms)))


@base.implements(base.set_items, FullState)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    X, total, outer = state.X, state.total[k], state.outer[k]
    d = X.shape[1]
    state.count[k] = len(items)
    for a in range(d):
        total[a] = 0.0
        for b in range(d):
            outer[a, b] = 0.0
    for i in items:
        for a in range(d):
            x = X[i, a]
            total[a] += x
            for b in range(d):
                outer[a, b] += x * X[i, b]


@base.implements(base.derive, FullState)
def _derive(state, k):  # type: ignore[no-untyped-def]
    d, power = state.X.shape[1], state.power[0]
    kappa = state.kappa0[0] + power * state.count[k]
    mean, outer, psi = state.mean[k], state.outer[k], state.square
    for a in range(d):
        mean[a] = power * state.total[k, a] / kappa
        for b in range(a + 1):
            psi[a, b] = state.psi0[a, b] + power * outer[a, b] - kappa * mean[a] * mean[b]
    state.logdet[k] = factorise(psi)
    invert(psi, state.precision[k])


@dataclass(frozen=True)
class BoundFullGaussian(BoundColumns):
    """Normal-inverse-Wishart clusters; hyper = (scale, strength, mean precision)."""

    # Statistics: n (K,), sums (K, d), sums of x x' (K, d, d). Terms: R (K, d, d), R mu (K, d),
    # offset (K,). In NumPy the symmetry of x x' would not pay.

    State: ClassVar[Any] = FullState
    n_arrays = 3

    def parameters(self, hyper: Any) -> tuple[Any, Any, Any]:
        """(kappa0, nu0, Psi0) in our coordinates; E[Sigma_k] = Psi0 / strength."""
        scale, strength, kappa0 = hyper
        d = self.X.shape[1]
        return kappa0, strength + d + 1, np.eye(d) * (strength * (scale + self.floor))

    def rows(self, X: FloatArray) -> Terms:
        return (X,)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, numpyro, dist = numpyro_modules()
        kappa0, nu0, psi0 = self.parameters(hyper)
        covariance = numpyro.sample("covariance", dist.InverseWishart(nu0, scale_matrix=psi0))
        centre, lower = self.mean_site(jnp.linalg.cholesky(covariance), kappa0)
        return lambda z: dist.MultivariateNormal(centre[z], scale_tril=lower[z])

    def mean_site(self, lower: Any, kappa0: Any) -> tuple[Any, Any]:
        """Site of the means given Cholesky factors; both are returned in the user's units."""
        jnp, numpyro, dist = numpyro_modules()
        at_origin = dist.MultivariateNormal(0.0, scale_tril=lower / jnp.sqrt(kappa0))
        mean = numpyro.sample("mean", at_origin)
        return self.centre + self.unit * mean, self.unit[:, None] * lower

    def covariances(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        """Means (K, d) and covariances (K, d, d) given drawn terms, in the user's units."""
        root, centre, _ = terms
        inverse = np.linalg.inv(root)
        lower = self.unit[:, None] * inverse
        mean = self.centre + self.unit * (inverse @ centre[:, :, None])[:, :, 0]
        return mean, lower @ np.swapaxes(lower, 1, 2)

    def moments(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        mean, covariance = self.covariances(terms)
        return mean, np.diagonal(covariance, axis1=1, axis2=2)

    def caches(self, slots: int) -> Mapping[str, Any]:
        n, d = self.X.shape
        fields = {
            "mean": (slots, d),
            "outer": (slots, d, d),
            "precision": (slots, d, d),
            "logdet": slots,
            "psi0": (d, d),
            "kappa0": 1,
            "nu0": 1,
            "constant": n + 1,
            "height": n + 1,
            "work": d,
            "square": (d, d),
        }
        own = {name: np.zeros(shape) for name, shape in fields.items()}
        return {"X": self.X, "power": self.powers} | own

    def set_hyper(self, state: Any, hyper: FloatArray) -> None:
        kappa0, nu0, psi0 = self.parameters(hyper)
        # unless learned, they are the same from one sweep to the next
        known = (state.kappa0[0], state.nu0[0]) == (kappa0, nu0)
        state.kappa0[0], state.nu0[0], state.psi0[:] = kappa0, nu0, psi0
        if known:
            return
        (n, d), (power, weight) = self.X.shape, state.power
        size = power * np.arange(n + 1)
        kappa = kappa0 + size
        nu = (nu0 + size - np.arange(d)[:, None]) / 2
        gammas = gammaln(nu).sum(axis=0)  # Gamma_d's powers of pi cancel
        level = np.log(kappa / (kappa + weight)) - weight * math.log(math.pi)
        state.constant[:] = 0.5 * d * level + gammaln(nu + weight / 2).sum(axis=0) - gammas
        level = np.log(kappa0 / kappa) - size * math.log(math.pi)
        state.height[:] = 0.5 * d * level + gammas - gammas[0]

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        (X,) = rows
        if xp is np:
            weighted = weight.T[:, :, None] * X
            return weight.sum(axis=0), weighted.sum(axis=1), np.swapaxes(weighted, 1, 2) @ X
        d = X.shape[1]
        first, second, where = _triangle(d)
        # half the work of x x', and one matrix product for all clusters
        products = weight.T @ (X[:, first] * X[:, second])
        return weight.sum(axis=0), weight.T @ X, products[:, where].reshape(-1, d, d)

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        root, centre, offset = terms
        (X,) = rows
        if xp is np:
            number, d = centre.shape
            standard = (X @ root.reshape(number * d, d).T).reshape(-1, number, d)
            standard -= centre
            return offset - 0.5 * np.einsum("nkd,nkd->nk", standard, standard)
        first, second, _ = _triangle(X.shape[1])
        # |R x - R mu|^2 multiplied out: x' (R'R) x by products of columns, as for the statistics
        transposed = xp.swapaxes(root, 1, 2)
        times = np.where(first == second, 1.0, 2.0)
        precision = xp.matmul(transposed, root)[:, first, second] * times
        linear = xp.matmul(transposed, centre[:, :, None])[:, :, 0]
        squares = (X[:, first] * X[:, second]) @ precision.T - 2.0 * (X @ linear.T)
        return offset - 0.5 * (squares + xp.square(centre).sum(axis=1))

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        kappa, nu, mean, lower = self._posterior(statistics, hyper)
        number, d = mean.shape
        if rng is None:
            root = np.sqrt(nu)[:, None, None] * np.linalg.inv(lower)
            log_precision = digamma(0.5 * (nu[:, None] - np.arange(d))).sum(axis=1)
            log_precision -= 2 * log_diagonal(lower)
            offset = 0.5 * (log_precision - d * math.log(math.pi) - d / kappa)
        else:
            root, log_root = draw_roots(nu, lower, rng)
            step = np.linalg.solve(root, rng.standard_normal((number, d, 1)))[..., 0]
            mean = mean + step / np.sqrt(kappa)[:, None]
            offset = log_root - 0.5 * d * math.log(2 * math.pi)
        return root, np.einsum("kab,kb->ka", root, mean), offset

    def log_marginals(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        kappa0, nu0, psi0 = self.parameters(hyper)
        kappa, nu, mean, lower = self._posterior(statistics, hyper)
        d, halves = mean.shape[1], 0.5 * np.arange(mean.shape[1])
        value = 0.5 * d * (np.log(kappa0 / kappa) - statistics[0] * math.log(math.pi))
        value += (gammaln(nu[:, None] / 2 - halves) - gammaln(nu0 / 2 - halves)).sum(axis=1)
        value += 0.5 * nu0 * np.linalg.slogdet(psi0)[1] - nu * log_diagonal(lower)
        return np.asarray(value)

    def _posterior(self, statistics: Terms, hyper: FloatArray) -> tuple[FloatArray, ...]:
        """(kappa_n, nu_n, m_n, Cholesky factor of Psi_n) of every cluster."""
        kappa0, nu0, psi0 = self.parameters(hyper)
        weight, total, outer = statistics
        kappa = kappa0 + weight
        mean = total / kappa[:, None]
        psi = psi0 + outer - kappa[:, None, None] * mean[:, :, None] * mean[:, None, :]
        return kappa, nu0 + weight, mean, np.linalg.cholesky(0.5 * (psi + np.swapaxes(psi, 1, 2)))


def draw_roots(nu: FloatArray, lower: FloatArray, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Roots R (K, d, d) of precisions, (R'R)^-1 ~ IW(nu, L L'), nu > d - 1, and log |R| (K,)."""
    number, d, _ = lower.shape
    # R'R = L^-T A A' L^-1 with A Bartlett's triangle of a standard Wishart matrix
    bartlett = np.tril(rng.standard_normal((number, d, d)), -1)
    diagonal = np.arange(d)
    bartlett[:, diagonal, diagonal] = np.sqrt(rng.chisquare(nu[:, None] - diagonal))
    root = np.swapaxes(bartlett, 1, 2) @ np.linalg.inv(lower)
    return root, log_diagonal(bartlett) - log_diagonal(lower)


def _triangle(d: int) -> tuple[IntArray, IntArray, IntArray]:
    """Rows and columns of the upper triangle, and where each entry of the matrix stands in it."""
    first, second = np.triu_indices(d)
    where = np.zeros((d, d), np.int64)
    where[first, second] = where[second, first] = np.arange(len(first))
    return first, second, where.ravel()


def log_diagonal(triangle: FloatArray) -> FloatArray:
    """Sum of the logarithms of each triangle's diagonal, (K, d, d) to (K,)."""
    return np.asarray(np.log(np.diagonal(triangle, axis1=-2, axis2=-1)).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class Whitened(SquaredEuclidean):
    """Squared distance of points (x - centre) forward; users see centres as centre + m back."""

    centre: FloatArray  # (d,)
    forward: FloatArray  # (d, r)
    back: FloatArray  # (r, d)
    name = "mahalanobis"

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        return np.ascontiguousarray((check_items(X, least=least) - self.centre) @ self.forward)

    def shown(self, centers: FloatArray) -> FloatArray:
        return np.asarray(self.centre + centers @ self.back)


def units(X: FloatArray, *, common: bool = False) -> tuple[FloatArray, FloatArray]:
    """Centre and standard deviation of every column, 1 if constant; or one unit for all."""
    _, own_centre, own_unit, kept, _ = standard_columns(X, common_unit=common)
    centre, unit = X.mean(axis=0), np.ones(X.shape[1])
    centre[kept], unit[kept] = own_centre, own_unit
    return centre, unit


@dataclass(frozen=True, eq=False)
class Mahalanobis(Divergence):
    """D(x, m) = (x - m)' S^-1 (x - m), the limit of Gaussian clusters of covariance S / gamma."""

    # S is (d, d), such as that pooled within known clusters; None is that of all the data.
    # Directions without variance are left out.

    covariance: Any = None
    name = "mahalanobis"

    def bind(self, X: Any) -> Whitened:
        """Find coordinates in which the covariance is the identity."""
        items = check_items(X)
        centre, unit = units(items)
        if self.covariance is None:
            Z = (items - centre) / unit
            correlation = Z.T @ Z / len(Z)
        else:
            correlation = self.covariance / np.outer(unit, unit)
        variance, axes = np.linalg.eigh(correlation)
        kept = variance > LEAST_VARIANCE * max(variance[-1], 0.0)
        if not kept.any():  # constant data
            kept, variance = np.ones(len(variance), dtype=bool), np.ones(len(variance))
        axes, spread = axes[:, kept], np.sqrt(variance[kept])
        return Whitened(centre, axes / spread / unit[:, None], (axes * spread * unit[:, None]).T)


@dataclass(frozen=True)
class FullGaussian(GaussianFamily):
    """Gaussian clusters, each with its own full covariance matrix.

    Parameters
    ----------
    scale : float, HyperPrior or "learn", default "learn"
        Expected within-cluster variance as a share of each column's variance (psi).
    strength : float, HyperPrior or "learn", default 15
        How many observations that expectation is worth (nu0 - d - 1 > 0).
    mean_precision : float, HyperPrior or "learn", default 0.05
        kappa0: a cluster's mean has covariance Sigma_k / kappa0 around the mean of the data.

    Notes
    -----
    ``Psi0 = strength * diag(scale * s_j**2 + r_j**2 / 12)`` with s_j a column's standard deviation
    and r_j its resolution: shifts and units of columns do not matter. Constant columns are left
    out.

    References
    ----------
    Murphy (2007), Conjugate Bayesian analysis of the Gaussian distribution, Sec. 9.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import FullGaussian
    >>> FullGaussian(scale=0.5).bind(np.random.default_rng(0).normal(size=(10, 2))).X.shape
    (10, 2)
    """

    divergence = Mahalanobis
    bound_type = BoundFullGaussian
