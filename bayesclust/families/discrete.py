"""Discrete columns: what their families share, and columns of codes with a Dirichlet prior.

    theta_kj ~ Dirichlet(beta_j1, ..., beta_jL),    x_ij | theta_kj ~ theta_kj

All columns' codes are numbered through. T(x), zeros and ones of shape (F,), says which an item
shows, so that t holds the numbers c_jl of items that show code l in column j. With
B_j = sum_l beta_jl and s_j = sum_l c_jl the number of cells seen (missing at random)

    L = prod_j  Gamma(B_j) / Gamma(B_j + s_j)  prod_l Gamma(beta_jl + c_jl) / Gamma(beta_jl)

and the predictive of code l is (beta_jl + c_jl) / (B_j + s_j); of an item of weight w,
Gamma(beta_jl + c_jl + w) / Gamma(beta_jl + c_jl) Gamma(B_j + s_j) / Gamma(B_j + s_j + w).

Most cells of a column show its *reference*: a cluster caches the log predictive of an item that
shows the references alone, and what each other code, or none, changes of it.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, xlogy

from bayesclust._numba import FAST, device
from bayesclust._numpyro import numpyro_modules, seen_only
from bayesclust.checks import check_items
from bayesclust.families import base
from bayesclust.families.base import Hyper, HyperPrior, Terms, hyper_prior
from bayesclust.families.columns import check_whole, fill_in, refuse_cells, sparse, varying_columns
from bayesclust.families.divergence import SMOOTHING, Divergence, SmoothedColumns
from bayesclust.typing import ArrayLike, FloatArray, IntArray

STRENGTH_PRIOR = HyperPrior("base_strength", 2.0, 1.0)
CONCENTRATION_PRIOR = HyperPrior("base_concentration", 1.0, 1.0)
MOST_CODES = 10_000
REMEDY = "number the categories of each column from 0 on"


class DiscreteFamily(base.Family, ABC):
    """A family on discrete columns, which models those that vary and leaves missing cells out."""

    takes_missing = True
    expects: ClassVar[tuple[str, str]]
    """The name of right cells, in the plural, and a remedy for others."""

    def check(self, X: FloatArray, columns: IntArray | None = None) -> None:
        """Refuse cells that the family cannot model, columns by their numbers; NaN passes."""
        check_whole(X, *self.expects, columns)

    def varying(self, X: FloatArray) -> tuple[FloatArray, IntArray]:
        """The columns that vary, and their numbers, once the cells are checked."""
        X = check_items(X, missing=True)
        self.check(X)
        kept = varying_columns(X)
        return np.ascontiguousarray(X[:, kept]), kept


@dataclass(frozen=True)
class BoundDiscrete(base.BoundFamily):
    """A family on the discrete columns `kept`, in the user's units, missing cells as NaN."""

    kept: IntArray
    family: DiscreteFamily

    takes_missing = True

    def columns(self, X: FloatArray) -> Any:
        return X[:, self.kept]

    def transform(self, X: ArrayLike) -> FloatArray:
        if self.reader is not None:
            return self.reader(X)
        rows = np.ascontiguousarray(check_items(X, least=1, missing=True)[:, self.kept])
        self.family.check(rows, self.kept)
        return rows


class DirichletPrior(NamedTuple):
    """Pseudo-counts of all columns' codes, and where each column's begin (and F)."""

    beta: FloatArray  # (F,)
    first: IntArray  # (d + 1,)


@base.implements(base.log_normaliser, DirichletPrior)
def _log_normaliser(prior, mass, first, second):  # type: ignore[no-untyped-def]
    value = 0.0
    for j in range(len(prior.first) - 1):
        whole, seen = 0.0, 0.0
        for code in range(prior.first[j], prior.first[j + 1]):
            beta, total = prior.beta[code], first[code] + second[code]
            whole += beta
            seen += total
            if total > 0:
                value += math.lgamma(beta + total) - math.lgamma(beta)
        if seen > 0:
            value += math.lgamma(whole) - math.lgamma(whole + seen)
    return value


@dataclass(frozen=True)
class BoundDirichlet(base.BoundFamily):
    """Columns of shares with Dirichlet priors; X (n, F) says how often each code was shown."""

    sizes: IntArray  # (d,) numbers of codes
    shares: FloatArray  # (F,) pseudo-counts of all codes where the factor is one

    @property
    def first(self) -> IntArray:
        """Where each column's codes begin, and their number."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def parameters(self, hyper: FloatArray) -> FloatArray:
        """Pseudo-counts of all columns' codes, shape (F,)."""
        return np.asarray(hyper[0] * self.shares)

    def prior(self, hyper: FloatArray) -> DirichletPrior:
        return DirichletPrior(self.parameters(hyper), self.first)

    def rows(self, X: FloatArray) -> Terms:
        return (X,)

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        weights = self.parameters(hyper) + statistics[1]
        if rng is None:
            logs = digamma(weights)
            whole = digamma(np.add.reduceat(weights, self.first[:-1], axis=1))
        else:
            logs, _ = base.gammas(weights, np.ones(1), rng)
            whole = np.logaddexp.reduceat(logs, self.first[:-1], axis=1)
        return logs - np.repeat(whole, self.sizes, axis=1), np.zeros(len(logs))

    def moments(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        probability = np.exp(terms[0])
        return probability, probability * (1.0 - probability)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        raise TypeError("shares that count gamma-fold have no program in NumPyro.")

    def embedding(self) -> FloatArray:
        """Square roots of the shares: Euclidean distance is then Hellinger's."""
        return np.sqrt(self.X)

    @classmethod
    def at_gamma(cls, points: FloatArray, gamma: float, sizes: IntArray) -> BoundDirichlet:
        """Shares (n, F) that count gamma-fold, under uniform priors."""
        fixed = HyperPrior(CONCENTRATION_PRIOR.name, 1.0, 0.0)
        return BoundDirichlet(points, (fixed,), sizes, np.ones(sizes.sum()), power=gamma)


class CodedState(NamedTuple):
    """Clusters of d columns, F codes; code F + j is a missing cell; C slots and the prior slot."""

    code: IntArray  # (n, d) the code that a cell shows, numbered through
    start: IntArray  # (n + 1,) where an item's codes that are no reference begin
    other: IntArray
    reference: IntArray  # (d,)
    powers: FloatArray
    prior: DirichletPrior
    count: IntArray  # type: ignore[assignment]
    total: FloatArray  # (C + 1, F) c
    log_weight: FloatArray  # (C + 1, F) log predictive of a code but for the column's mass
    usual: FloatArray  # (C + 1,) log predictive of an item of references
    change: FloatArray  # (C + 1, F + d) what another code changes of it


@device(fastmath=FAST, no_refcount=True, forceinline=True)
def _log_rise(a: float, weight: float) -> float:
    """log Gamma(a + weight) - log Gamma(a)."""
    return math.log(a) if weight == 1.0 else math.lgamma(a + weight) - math.lgamma(a)


@device(fastmath=FAST, no_refcount=True, forceinline=True)
def _compare(state: CodedState, k: int, j: int) -> float:
    """Write what the codes of one column change; returns the log predictive of its reference."""
    reference, mass = state.log_weight[k, state.reference[j]], 0.0
    for code in range(state.prior.first[j], state.prior.first[j + 1]):
        mass += state.prior.beta[code] + state.total[k, code]
        state.change[k, code] = state.log_weight[k, code] - reference
    usual: float = reference - _log_rise(mass, state.powers[1])
    state.change[k, len(state.prior.beta) + j] = -usual
    return usual


@device(fastmath=FAST, no_refcount=True, forceinline=True)
def _update_weight(state: CodedState, k: int, code: int) -> None:
    weight = state.prior.beta[code] + state.total[k, code]
    state.log_weight[k, code] = _log_rise(weight, state.powers[1])


@base.implements(base.shift, CodedState)
def _shift(state, i, k, sign):  # type: ignore[no-untyped-def]
    for j in range(len(state.reference)):
        if state.code[i, j] < len(state.prior.beta):
            state.total[k, state.code[i, j]] += sign * state.powers[0]


@base.implements(base.move_item, CodedState)
def _move_item(state, i, k, sign):  # type: ignore[no-untyped-def]
    # of the codes that the item shows alone, logarithms change
    missing, usual = len(state.prior.beta), 0.0
    base.shift(state, i, k, float(sign))
    for j in range(len(state.reference)):
        code = state.code[i, j]
        if code >= missing:
            usual -= state.change[k, missing + j]
            continue
        _update_weight(state, k, code)
        usual += _compare(state, k, j)
    state.usual[k] = usual
    state.count[k] += sign


@base.implements(base.derive, CodedState)
def _derive(state, k):  # type: ignore[no-untyped-def]
    usual = 0.0
    for code in range(len(state.prior.beta)):
        _update_weight(state, k, code)
    for j in range(len(state.reference)):
        usual += _compare(state, k, j)
    state.usual[k] = usual


@base.implements(base.log_predictive, CodedState)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    value = state.usual[k]
    for entry in range(state.start[i], state.start[i + 1]):
        value += state.change[k, state.other[entry]]
    return value


@dataclass(frozen=True)
class BoundCoded(BoundDirichlet, BoundDiscrete):
    """Columns of codes; hyper = (one factor of all pseudo-counts,)."""

    State = CodedState

    def numbered(self, X: FloatArray) -> IntArray:
        """The cells' codes, numbered through; F + j for a missing one of column j."""
        missing, first = np.isnan(X), self.first
        code = np.where(missing, 0.0, X).astype(np.int64) + first[:-1]
        return np.where(missing, first[-1] + np.arange(X.shape[1]), code)

    def rows(self, X: FloatArray) -> Terms:
        code, F = self.numbered(X), int(self.first[-1])
        table = np.zeros((len(code), F + code.shape[1]))
        np.put_along_axis(table, code, 1.0, axis=1)
        return (np.ascontiguousarray(table[:, :F]),)

    def caches(self, slots: int) -> Mapping[str, Any]:
        code, first = self.numbered(self.X), self.first
        d, F = len(self.sizes), int(first[-1])
        often = np.bincount(code.ravel(), minlength=F)
        reference = np.array([a + often[a:b].argmax() for a, b in pairwise(first)])
        different = code != reference
        return {
            "code": code,
            "start": sparse(different)["start"],
            "other": code[different],
            "reference": reference,
            "log_weight": np.zeros((slots, F)),
            "usual": np.zeros(slots),
            "change": np.zeros((slots, F + d)),
        }


@dataclass(frozen=True)
class BernoulliDivergence(SmoothedColumns):
    """D(x, m) = sum_j x_j log(x_j / m_j) + (1 - x_j) log((1 - x_j) / (1 - m_j)), of shares of 1."""

    name = "bernoulli"
    n_codes = 2

    def check(self, X: FloatArray) -> None:
        Bernoulli().check(X)

    def phi(self, points: FloatArray) -> FloatArray:
        others = 1.0 - points
        return np.asarray((xlogy(points, points) + xlogy(others, others)).sum(axis=-1))

    def natural(self, centers: FloatArray) -> FloatArray:
        return np.log(centers) - np.log1p(-centers)

    def at_gamma(self, points: FloatArray, gamma: float) -> BoundDirichlet:
        sizes = np.full(points.shape[1], 2)
        return replace(BoundDirichlet.at_gamma(_both(points), gamma, sizes), reader=_both)


def _both(points: FloatArray) -> FloatArray:
    """Shares of zeros beside those of ones: (n, d) to (n, 2 d)."""
    return np.stack([1.0 - points, points], axis=2).reshape(len(points), -1)


@dataclass(frozen=True)
class BoundBernoulli(BoundCoded):
    """Beta-Bernoulli columns; hyper = (strength s,)."""

    def embedding(self) -> FloatArray:
        """The zeros and ones; missing cells have their column's mean."""
        return fill_in(self.X)

    def moments(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        return super().moments((terms[0][:, 1::2],))

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        _, numpyro, dist = numpyro_modules()
        no, yes = self.shares.reshape(-1, 2).T
        beta = dist.Beta(hyper[0] * yes, hyper[0] * no).to_event(1)
        probability = numpyro.sample("probability", beta)
        return lambda z: seen_only(dist.BernoulliProbs(probability[z]), self.X).to_event(1)


@dataclass(frozen=True)
class Bernoulli(DiscreteFamily):
    """Columns of zeros and ones, independent within a cluster; missing cells (NaN) are left out.

    Parameters
    ----------
    strength : float, HyperPrior or "learn", default "learn"
        s: how many items the prior is worth. Small values expect columns that are nearly always 0
        or 1 within a cluster. Learned: log-normal with median 2.

    Notes
    -----
    ``theta_kj ~ Beta(s m_j, s (1 - m_j))`` with m_j the share of ones in the column, one more of
    each counted in. Constant columns are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import Bernoulli
    >>> X = np.array([[0, 1], [1, 1], [0, 0], [0, np.nan]])
    >>> Bernoulli(strength=6.0).bind(X).parameters(np.array([6.0]))
    array([4. , 2. , 2.4, 3.6])
    """

    strength: Hyper = "learn"
    divergence = BernoulliDivergence

    def check(self, X: FloatArray, columns: IntArray | None = None) -> None:
        other = (X != 0) & (X != 1) & ~np.isnan(X)
        refuse_cells(other, "values other than 0 and 1", "pass 1 for yes and 0 for no", columns)

    def bind(self, X: FloatArray) -> BoundBernoulli:
        """Check that the data are zeros and ones: a ValueError names cells that are not."""
        X, kept = self.varying(X)
        ones, seen = np.nansum(X, axis=0), (~np.isnan(X)).sum(axis=0)
        mean = (ones + 1) / (seen + 2)
        shares = np.stack([1 - mean, mean], axis=1).ravel()
        prior = hyper_prior(self.strength, STRENGTH_PRIOR)
        return BoundBernoulli(X, (prior,), kept, self, np.full(len(kept), 2), shares)


@dataclass(frozen=True, eq=False)
class CategoricalDivergence(Divergence):
    """D(x, m) = sum_j KL(x_j | m_j); points hold a distribution over codes for each column."""

    sizes: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))  # once bound
    name = "categorical"

    def bind(self, X: Any) -> Divergence:
        items = check_items(X)
        Categorical().check(items)
        return CategoricalDivergence(items.max(axis=0).astype(np.int64) + 1)

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        if len(self.sizes) == 0:
            return super().points(X)
        items = codes(check_items(X, least=least), tuple(map(np.arange, self.sizes)))
        blocks = [
            ((column == np.arange(size)) + SMOOTHING) / (1.0 + size * SMOOTHING)
            for column, size in zip(items.T[..., None], self.sizes, strict=True)
        ]
        return np.ascontiguousarray(np.concatenate(blocks, axis=1))

    def shown(self, centers: FloatArray) -> FloatArray:
        """Shares of the codes, column by column."""
        whole = 1.0 + np.repeat(self.sizes, self.sizes) * SMOOTHING
        return np.clip(centers * whole - SMOOTHING, 0.0, 1.0)

    def n_free(self, points: FloatArray) -> int:
        return max(int((self.sizes - 1).sum()), 1)

    def phi(self, points: FloatArray) -> FloatArray:
        return np.asarray(xlogy(points, points).sum(axis=-1))

    def natural(self, centers: FloatArray) -> FloatArray:
        return np.log(centers)

    def at_gamma(self, points: FloatArray, gamma: float) -> BoundDirichlet:
        return BoundDirichlet.at_gamma(points, gamma, self.sizes)


Levels = tuple[FloatArray, ...]


def codes(X: FloatArray, levels: Levels, columns: IntArray | None = None) -> FloatArray:
    """The place of each value among its column's levels; NaN stays, others are refused."""
    pairs = list(zip(levels, X.T, strict=True))
    unknown = ~np.column_stack([np.isin(x, own) for own, x in pairs]) & ~np.isnan(X)
    refuse_cells(unknown, "values that the first data have not", "leave these items out", columns)
    place = np.column_stack([np.searchsorted(own, x) for own, x in pairs])
    return np.where(np.isnan(X), np.nan, place)


@dataclass(frozen=True)
class BoundCategorical(BoundCoded):
    """Dirichlet-categorical columns; hyper = (beta of one code,); X holds codes of `levels`."""

    levels: Levels

    @property
    def quantities(self) -> list[base.Quantity]:
        pairs = zip(self.kept, self.levels, strict=True)
        return [(int(j), float(value)) for j, own in pairs for value in own]

    def transform(self, X: ArrayLike) -> FloatArray:
        return codes(super().transform(X), self.levels, self.kept)

    def columns(self, X: FloatArray) -> Any:
        """The columns that vary, whole numbers; missing cells, which are masked, are zero."""
        return np.nan_to_num(codes(X[:, self.kept], self.levels)).astype(np.int64)

    def embedding(self) -> FloatArray:
        """One column per code, different codes at distance one; missing cells as all shares."""
        (shown,) = self.rows(self.X)
        seen = np.maximum(np.add.reduceat(shown.sum(axis=0), self.first[:-1]), 1.0)
        share = shown.sum(axis=0) / np.repeat(seen, self.sizes)
        missing = np.repeat(np.isnan(self.X), self.sizes, axis=1)
        return np.asarray(np.where(missing, share, shown) / math.sqrt(2.0))

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        jnp, numpyro, dist = numpyro_modules()
        padded, most = [], int(self.sizes.max())
        for column, beta in zip(self.kept, np.split(self.shares, self.first[1:-1]), strict=True):
            dirichlet = dist.Dirichlet(hyper[0] * jnp.asarray(beta))
            probability = numpyro.sample(f"probability_{column}", dirichlet)
            missing = [(0, 0)] * (probability.ndim - 1) + [(0, most - len(beta))]
            padded.append(jnp.pad(probability, missing))
        table = jnp.stack(padded, axis=-2)
        return lambda z: seen_only(dist.CategoricalProbs(table[z]), self.X).to_event(1)


@dataclass(frozen=True)
class Categorical(DiscreteFamily):
    """Columns of codes 0, 1, 2, ... without order, independent within a cluster (latent classes).

    Parameters
    ----------
    concentration : float, HyperPrior or "learn", default "learn"
        beta: prior pseudo-count of every code of every column. Small values expect clusters that
        show one code each. Learned: log-normal with median 1.

    Notes
    -----
    A column has the codes from 0 to the largest one seen. Missing cells (NaN) and constant columns
    are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import Categorical
    >>> X = np.array([[0, 2], [1, 0], [0, np.nan]])
    >>> Categorical(concentration=0.5).bind(X).sizes
    array([2, 3])
    """

    concentration: Hyper = "learn"
    divergence = CategoricalDivergence
    expects = "codes", REMEDY

    def check(self, X: FloatArray, columns: IntArray | None = None) -> None:
        super().check(X, columns)
        refuse_cells(X >= MOST_CODES, f"codes of {MOST_CODES} or more", REMEDY, columns)

    def levels(self, x: FloatArray) -> FloatArray:
        """The meaning of the codes of a column: themselves."""
        return np.arange(np.nanmax(x, initial=0.0) + 1.0)

    def bind(self, X: FloatArray) -> BoundCategorical:
        """Check that the data are codes below 10000: a ValueError names cells that are not."""
        X, kept = self.varying(X)
        levels = tuple(map(self.levels, X.T))
        sizes = np.array([len(own) for own in levels])
        prior = hyper_prior(self.concentration, CONCENTRATION_PRIOR)
        return BoundCategorical(
            codes(X, levels), (prior,), kept, self, sizes, np.ones(sizes.sum()), levels
        )


@dataclass(frozen=True)
class Recoded(Categorical):
    """`Categorical` on the codes of any values, the few different ones of each column."""

    def check(self, X: FloatArray, columns: IntArray | None = None) -> None:
        super().check(codes(X, tuple(map(self.levels, X.T))), columns)

    def levels(self, x: FloatArray) -> FloatArray:
        return np.unique(np.nan_to_num(x) if np.isnan(x).all() else x[~np.isnan(x)])
