"""How answers go wrong: noise models with conjugate priors.

An answer depends on the partition only through the *true* answer, by a confusion matrix C[truth,
answer] of its source. The models here are rows of probabilities with Dirichlet priors; with weights
w and n_c answers of each kind c of a row, the row integrated out,

    p(answers) = Gamma(sum w) / Gamma(sum w + n) * prod_c Gamma(w_c + n_c) / Gamma(w_c)

for TVClust, Eq. 8, and DCRC, Table I, times a known share where several answers have a probability
together, as the two wrong ones about a triplet.

Pooled over sources, a rate of source s is Beta(m kappa, (1 - m) kappa): the mean m has the prior
that else the rate has, kappa a uniform one on a scale of powers of two. Both are summed over on a
grid, so nothing but the rates themselves is ever drawn or kept. A row of C probabilities is broken
into C - 1 rates, of each kind among itself and those after it (Connor and Mosimann 1969).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import betainc, betaln, digamma, gammaln, logsumexp, softmax

from bayesclust.checks import check_array, check_flag, number_between, real_array, shown
from bayesclust.typing import ArrayLike, Counts, FloatArray, IntArray, Params

TINY = float(np.finfo(np.float64).tiny)
ALMOST_ONE = 1.0 - 2.0**-53
CROWD_MEANS = 32
"""Means of the rates of a crowd that are tried, as far apart as they are hard to tell apart."""
CROWD_STRENGTHS = 2.0 ** np.arange(1, 9)
"""What kappa can be: sources differ as much as rates can, or hardly at all."""
POOLED_ROWS = 4096  # sources of all draws that are pooled at once

Beta = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Known:
    """Probabilities (R, C) that are not learned."""

    rows: FloatArray


Prior = Beta | float | FloatArray | Known
"""Of a rate its Beta weights or its value; of rows their Dirichlet weights (R, C), or `Known`."""


class DirichletRows(NamedTuple):
    """The answers of one source as draws from independent rows with Dirichlet priors."""

    weights: tuple[tuple[float, ...], ...]  # row by row; kinds are numbered through
    kind: IntArray  # (truth, answer): kind of an answer, or -1 where its probability is known
    log_factor: FloatArray  # (truth, answer): log of its known share, or of all its probability


class NoiseModel(ABC):
    """Distribution of the answers of S sources given the true answers, with its prior.

    Parameters are a dict of arrays (..., S, ...), counts of answers a table (..., S * n_answers,
    n_patterns), whole or expected. A model of one's own is best a `DirichletNoise`.

    Attributes
    ----------
    kind, n_answers, truth
        The kind of constraints, the number of answers, the true one under each equality pattern.
    parameters : dict of str to tuple of str
        The parameters and the dimensions of each.
    """

    kind: ClassVar[str]
    truth: ClassVar[tuple[int, ...]]
    n_answers: ClassVar[int]
    parameters: ClassVar[dict[str, tuple[str, ...]]]

    @property
    @abstractmethod
    def free(self) -> tuple[str, ...]:
        """Names of the parameters that are learned."""

    @abstractmethod
    def initial(self, n_sources: int) -> Params:
        """Return the prior means, or the known values, for `n_sources` sources."""

    @abstractmethod
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        """Return p(answer | truth), shape (..., S, truth, answer)."""

    @abstractmethod
    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: Generator) -> Params:
        """Draw the free parameters from their posterior given the counts, and keep the others."""

    @abstractmethod
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        """Return the log prior density of the free parameters, summed over sources."""

    @abstractmethod
    def log_marginal(self, counts: Counts) -> Any:
        """Return log p(answers | partition), the free parameters integrated out."""

    @abstractmethod
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        """Return E[log p(answer | truth)] under the posterior, (..., S, truth, answer)."""

    def dirichlet_rows(self) -> DirichletRows | None:
        """Return the rows that `log_marginal` integrates out, for compiled samplers, if any."""
        return None

    def expected_log_table(self, counts: Counts) -> FloatArray:
        """Return E_q[log p(answer | pattern)] (..., S * n_answers, n_patterns) given (soft) counts.

        q is the conjugate posterior: this is the gradient of `log_marginal` by the counts.
        """
        return self._by_pattern(self.expected_log_confusion(counts))

    def predictive(self, counts: Counts) -> FloatArray:
        """Return p(next answer | truth, answers so far), the posterior mean of `confusion`."""
        so_far: Any = np.asarray(counts)
        before = self.log_marginal(so_far)
        n_sources = so_far.shape[-2] // self.n_answers
        out = np.empty((*so_far.shape[:-2], n_sources, max(self.truth) + 1, self.n_answers))
        for source, truth, answer in np.ndindex(out.shape[-3:]):
            further = so_far.copy()
            further[..., source * self.n_answers + answer, self.truth.index(truth)] += 1
            out[..., source, truth, answer] = np.exp(self.log_marginal(further) - before)
        return out

    def sample_prior(self, n_sources: int, rng: Generator) -> Params:
        """Draw the free parameters of `n_sources` sources from the prior; the others are known."""
        no_answers = np.zeros((n_sources * self.n_answers, len(self.truth)), dtype=np.int64)
        return self.draw(no_answers, self.initial(n_sources), rng)

    def log_table(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        """Return log p(answer | pattern), shape (..., S * n_answers, n_patterns).

        A probability of zero is taken as the smallest normal double, so that more violations show.
        """
        return self._by_pattern(np.log(np.maximum(self.confusion(params), TINY)))

    def _by_pattern(self, log_confusion: FloatArray) -> FloatArray:
        """Lay (..., S, truth, answer) out as (..., S * n_answers, n_patterns)."""
        return as_table(log_confusion.take(self.truth, axis=-2))


def as_table(rows: FloatArray) -> FloatArray:
    """Lay (..., S, pattern, answer) out as (..., S * n_answers, n_patterns)."""
    return np.swapaxes(rows, -1, -2).reshape(*rows.shape[:-3], -1, rows.shape[-2])


class Rows(NamedTuple):
    """A parameter as rows of probabilities: their Dirichlet weights, or their known values."""

    values: FloatArray  # (R, C)
    free: bool
    is_rate: bool  # a number x that stands for one row, x and 1 - x
    kinds: slice  # its kinds of answers, R * C of them
    mean: FloatArray  # () of a rate, or (R, C)

    @property
    def log_known(self) -> FloatArray:
        """Logarithms of known values."""
        return np.log(np.maximum(self.values, TINY))

    def own(self, tallies: Any) -> Any:
        """Its part of counts by kind (..., S, K): (..., S, R, C)."""
        return tallies[..., self.kinds].reshape(*tallies.shape[:-1], *self.values.shape)


class Pool(NamedTuple):
    """J rates, each pooled over sources, with G grid points (mean, kappa) for its crowd."""

    hit: IntArray  # (K, J) which kind a rate is the probability of,
    miss: IntArray  # (K, J) and among which others
    betas: FloatArray  # (J, G, 2) weights of the rates of sources at each point
    log_mass: FloatArray  # (J, G)

    def pairs(self, by_kind: Any) -> Any:
        """Counts or probabilities by kind (..., S, K) as hits and misses, (..., S, J, 2)."""
        return np.stack([by_kind @ self.hit, by_kind @ self.miss], axis=-1)

    def by_kind(self, logs: FloatArray) -> FloatArray:
        """Logs of rates x and 1 - x, (..., S, J, 2), as those of probabilities by kind."""
        return np.asarray(logs[..., 0] @ self.hit.T + logs[..., 1] @ self.miss.T)

    def log_weights(self, pairs: Any) -> FloatArray:
        """log p(grid point, answers), (..., J, G), the rates of sources integrated out."""
        *batch, S, J, _ = pairs.shape
        flat = (pairs[..., 0] + 1j * pairs[..., 1]).reshape(-1, S, J)
        value = np.empty((len(flat), *self.log_mass.shape))
        size = max(1, POOLED_ROWS // max(S, 1))
        for first, j in np.ndindex(-(-len(flat) // size), J):
            part = slice(first * size, (first + 1) * size)
            own = flat[part, :, j]
            # most sources gave as many answers of each kind as some other one
            unique, at = np.unique(own, return_inverse=True)
            cells = at.reshape(own.shape) + len(unique) * np.arange(len(own))[:, None]
            times = np.bincount(cells.ravel(), minlength=len(own) * len(unique))
            counts = np.stack([unique.real, unique.imag], axis=-1)[:, None]
            gains = log_norm(self.betas[j] + counts) - log_norm(self.betas[j])
            value[part, j] = times.reshape(len(own), -1) @ gains
        return value.reshape(*batch, *self.log_mass.shape) + self.log_mass

    def draw(self, pairs: Any, rng: Generator) -> FloatArray:
        """Draw logs of rates x and 1 - x given counts, (..., S, J, 2)."""
        log_weights = self.log_weights(pairs)
        at = (log_weights + rng.gumbel(size=log_weights.shape)).argmax(axis=-1)
        betas = self.betas[np.arange(len(self.betas)), at][..., None, :, :] + pairs
        x = np.clip(rng.beta(betas[..., 0], betas[..., 1]), TINY, ALMOST_ONE)
        return np.stack([np.log(x), np.log1p(-x)], axis=-1)

    def expected_logs(self, pairs: Any) -> FloatArray:
        """E[log x] and E[log(1 - x)] given counts, (..., S, J, 2)."""
        share = softmax(self.log_weights(pairs), axis=-1)
        betas = self.betas + pairs[..., None, :]
        logs = digamma(betas) - digamma(betas.sum(axis=-1, keepdims=True))
        return np.einsum("...jg,...sjgx->...sjx", share, logs)

    def log_prior(self, by_kind: FloatArray) -> Any:
        """Log density of probabilities by kind (..., S, K), by all of each row but the last."""
        pairs = self.pairs(by_kind)
        total = np.maximum(pairs.sum(axis=-1, keepdims=True), TINY)
        x = np.clip(pairs / total, TINY, ALMOST_ONE)
        density = ((self.betas - 1) * np.log(x)[..., None, :]).sum(axis=-1) - log_norm(self.betas)
        value = logsumexp(density.sum(axis=-3) + self.log_mass, axis=-1).sum(axis=-1)
        return value - np.log(total).sum(axis=(-3, -2, -1))


def _pool(rows: dict[str, Rows], n_kinds: int) -> Pool:
    """What is pooled of rows that are learned."""
    rates: list[tuple[int, int, FloatArray]] = []  # a kind, the end of its row, their weights
    for own in rows.values():
        R, C = own.values.shape if own.free else (0, 1)
        for r, c in np.ndindex(R, C - 1):
            first = own.kinds.start + r * C
            rates.append((first + c, first + C, own.values[r, c:]))
    hit = np.zeros((n_kinds, len(rates)), dtype=np.int64)
    miss = np.zeros_like(hit)
    # cells whose width goes as the standard error of a rate
    edges = np.sin(np.linspace(0, np.pi / 2, CROWD_MEANS + 1)) ** 2
    means = np.empty((len(rates), CROWD_MEANS))
    mass = np.empty_like(means)
    for j, (kind, end, weights) in enumerate(rates):
        hit[kind, j] = 1
        miss[kind + 1 : end, j] = 1
        a = weights[0]
        b = weights[1:].sum()
        mass[j] = np.maximum(np.diff(betainc(a, b, edges)), TINY)
        inside = a / (a + b) * np.diff(betainc(a + 1, b, edges)) / mass[j]
        means[j] = np.clip(inside, edges[:-1] + 1e-9, edges[1:] - 1e-9)
    betas = np.stack([means, 1 - means], axis=-1)[:, :, None] * CROWD_STRENGTHS[:, None]
    log_mass = np.log(mass / mass.sum(axis=1, keepdims=True) / len(CROWD_STRENGTHS))
    G = CROWD_MEANS * len(CROWD_STRENGTHS)
    return Pool(hit, miss, betas.reshape(-1, G, 2), log_mass.repeat(len(CROWD_STRENGTHS), axis=1))


class _Layout(NamedTuple):
    """A `DirichletNoise` laid out; K kinds of answers in all."""

    rows: dict[str, Rows]
    rates: tuple[str, ...]  # those of the parameters that are rates and learned, R of them
    pairs: IntArray  # (R, 2) kinds of each
    betas: FloatArray  # (R, 2) weights of each
    cell: IntArray  # (truth, answer) kind of an answer
    share: FloatArray  # (truth, answer)
    gather: IntArray  # (answers * patterns, K) which counts are of which kind
    log_share: FloatArray  # (K,)
    pool: Pool | None


class DirichletNoise(NoiseModel):
    """A noise model that is made of rows of probabilities with Dirichlet priors.

    A subclass is a frozen dataclass that names `kind`, `truth`, `n_answers` and `parameters`, and
    returns the prior of each parameter.

    Attributes
    ----------
    cell : (truth, answer) tuple of int
        The kind of an answer under a truth. Kinds are numbered through, parameter by parameter: a
        rate x has two, x and 1 - x; rows (R, C) have R * C. Rows that are, one below the other, a
        confusion matrix do without.
    share : (truth, answer) tuple of float
        The share of an answer in the probability of its kind; 1 by default.
    pooled : bool
        Whether what is learned of one source tells of the others; False by default. A subclass
        whose users may choose has a field of this name.
    hard : pair of float, float or None
        The share of hard queries, as its Beta prior or known (`constraints.queries`); None, none.
    """

    pooled: bool = False
    hard: Beta | float | None = None

    cell: ClassVar[tuple[tuple[int, ...], ...] | None] = None
    share: ClassVar[tuple[tuple[float, ...], ...] | None] = None

    def _check_options(self) -> None:
        check_flag(self.pooled, "pooled")
        if self.hard is not None:
            object.__setattr__(self, "hard", beta_or_known(self.hard, "hard", "(0, 1)"))

    @abstractmethod
    def priors(self) -> dict[str, Prior]:
        """Return the prior of each parameter: see `Prior`."""

    @cached_property
    def _layout(self) -> _Layout:
        rows: dict[str, Rows] = {}
        K = 0
        given: dict[str, Any] = self.priors()
        for name, prior in given.items():
            prior = float(prior) if isinstance(prior, int) else prior
            values = _values(prior, f"{type(self).__name__}.priors(): weights of {name!r}")
            free = not isinstance(prior, (float, Known))
            is_rate = isinstance(prior, (tuple, float))
            mean = values / values.sum(axis=1, keepdims=True) if free else values
            mean = mean[0, 0] if is_rate else mean
            rows[name] = Rows(values, free, is_rate, slice(K, K + values.size), mean)
            K += values.size
        A = self.n_answers
        T = max(self.truth) + 1
        rates = any(own.is_rate for own in rows.values())
        cell = np.arange(T * A).reshape(T, A) if self.cell is None else np.array(self.cell)
        fits = cell.shape[-1] == A and len(cell) >= T and 0 <= cell.min() <= cell.max() < K
        if not fits or (rates and self.cell is None):
            raise ValueError(
                f"{type(self).__name__}.cell must have {T} rows of {A} kinds, numbered 0 to "
                f"{K - 1} as priors() has them; got {self.cell}."
            )
        share = np.ones(cell.shape) if self.share is None else np.array(self.share, np.float64)
        of_pattern = cell[list(self.truth)].T.ravel()  # answers * patterns
        gather = (of_pattern[:, None] == np.arange(K)).astype(np.int64)
        log_share = np.zeros(K)
        log_share[cell] = np.log(share)
        learned = {name: own for name, own in rows.items() if own.free and own.is_rate}
        pairs = np.array([[own.kinds.start, own.kinds.stop - 1] for own in learned.values()])
        betas = np.array([own.values[0] for own in learned.values()])
        pool = _pool(rows, K) if self.pooled else None
        return _Layout(rows, tuple(learned), pairs, betas, cell, share, gather, log_share, pool)

    @property
    def pool(self) -> Pool | None:
        """What is pooled over sources, if anything."""
        return self._layout.pool

    @property
    def rows(self) -> dict[str, Rows]:
        """The rows of each parameter."""
        return self._layout.rows

    @property
    def free(self) -> tuple[str, ...]:
        return tuple(name for name, rows in self.rows.items() if rows.free)

    def initial(self, n_sources: int) -> Params:
        return {
            name: np.full((n_sources, *rows.mean.shape), rows.mean)
            for name, rows in self.rows.items()
        }

    def confusion(self, params: Mapping[str, ArrayLike], xp: Any = np) -> FloatArray:
        """Return p(answer | truth), (..., S, truth, answer), in NumPy or jax.numpy."""
        table: FloatArray = self._by_kind(params, xp)[..., self._layout.cell]
        return table if self.share is None else table * self._layout.share

    def _by_kind(self, params: Mapping[str, ArrayLike], xp: Any = np) -> Any:
        """Probabilities by kind, (..., S, K)."""
        kinds = []
        for name, rows in self.rows.items():
            value = xp.asarray(params[name])
            if rows.is_rate:
                kinds += [value, 1 - value]
            else:
                kinds += [value[..., r, c] for r, c in np.ndindex(rows.values.shape)]
        if len({kind.shape for kind in kinds}) > 1:
            kinds = xp.broadcast_arrays(*kinds)
        return xp.stack(kinds, axis=-1)

    def _tallies(self, counts: Counts) -> Any:
        """Sum counts (..., S * A, n_patterns) by kind: (..., S, K)."""
        tables: Any = np.asarray(counts)
        rows = self.n_answers * len(self.truth)
        return tables.reshape(*tables.shape[:-2], -1, rows) @ self._layout.gather

    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: Generator) -> Params:
        layout = self._layout
        tallies = self._tallies(counts)
        drawn: Params = {}
        if layout.pool is not None:
            logs = layout.pool.draw(layout.pool.pairs(tallies), rng)
            by_kind = np.clip(np.exp(layout.pool.by_kind(logs)), TINY, ALMOST_ONE)
        elif layout.rates:
            weights = (tallies[..., layout.pairs] + layout.betas).swapaxes(-3, -2)
            rates = rng.beta(weights[..., 0], weights[..., 1])  # (..., R, S)
            # off 0 and 1, so that logarithms stay finite
            rates = np.minimum(np.maximum(rates, TINY), ALMOST_ONE)
            drawn = {name: rates[..., r, :] for r, name in enumerate(layout.rates)}
        for name, rows in self.rows.items():
            if not rows.free:
                drawn[name] = np.array(params[name], dtype=np.float64)
            elif layout.pool is not None:
                own = rows.own(by_kind)
                drawn[name] = own[..., 0, 0] if rows.is_rate else own
            elif not rows.is_rate:
                gammas = np.maximum(rng.standard_gamma(rows.values + rows.own(tallies)), TINY)
                drawn[name] = gammas / gammas.sum(axis=-1, keepdims=True)
        return drawn

    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        value: Any = 0.0
        if self.pool is not None:
            value = self.pool.log_prior(self._by_kind(params))
        for name, rows in self.rows.items():
            if rows.free and self.pool is None:
                x = np.asarray(params[name], dtype=np.float64)
                if rows.is_rate:
                    ((a, b),) = rows.values.tolist()
                    x = np.minimum(np.maximum(x, TINY), ALMOST_ONE)
                    density = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - _log_beta(a, b)
                    value = value + density.sum(axis=-1)
                else:
                    density = ((rows.values - 1) * np.log(np.maximum(x, TINY))).sum(axis=-1)
                    value = value + (density - log_norm(rows.values)).sum(axis=(-2, -1))
        return float(value) if np.ndim(value) == 0 else value

    def log_marginal(self, counts: Counts) -> Any:
        tallies = self._tallies(counts)
        value: Any = 0.0
        if self.pool is not None:
            log_weights = self.pool.log_weights(self.pool.pairs(tallies))
            value = logsumexp(log_weights, axis=-1).sum(axis=-1)
        for rows in self.rows.values():
            own = rows.own(tallies)
            if rows.free and self.pool is None:
                gain = log_norm(rows.values + own) - log_norm(rows.values)
                value = value + gain.sum(axis=(-2, -1))
            elif not rows.free:
                value = value + (own * rows.log_known).sum(axis=(-3, -2, -1))
        if self.share is not None:
            value = value + (tallies @ self._layout.log_share).sum(axis=-1)
        return float(value) if np.ndim(value) == 0 else value

    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        tallies = self._tallies(counts)
        by_kind = np.zeros(tallies.shape)
        if self.pool is not None:
            by_kind = self.pool.by_kind(self.pool.expected_logs(self.pool.pairs(tallies)))
        for rows in self.rows.values():
            if rows.free and self.pool is None:
                weights = rows.values + rows.own(tallies)
                logs = digamma(weights) - digamma(weights.sum(axis=-1, keepdims=True))
                by_kind[..., rows.kinds] = logs.reshape(*logs.shape[:-2], -1)
            elif not rows.free:
                by_kind[..., rows.kinds] = rows.log_known.ravel()
        return np.asarray((by_kind + self._layout.log_share)[..., self._layout.cell])

    def dirichlet_rows(self) -> DirichletRows | None:
        # pooled sources are not independent, and a subclass that has another marginal likelihood
        # integrates something else out
        if self.pooled or type(self).log_marginal is not DirichletNoise.log_marginal:
            return None
        layout = self._layout
        weights: list[tuple[float, ...]] = []
        number = np.full(layout.gather.shape[1], -1)
        log_known = np.zeros(len(number))
        for rows in self.rows.values():
            if rows.free:
                number[rows.kinds] = sum(map(len, weights)) + np.arange(rows.values.size)
                weights += map(tuple, rows.values.tolist())
            else:
                log_known[rows.kinds] = rows.log_known.ravel()
        factor = log_known[layout.cell] + np.log(layout.share)
        return DirichletRows(tuple(weights), number[layout.cell], factor)


def _values(prior: Prior, name: str) -> FloatArray:
    """Dirichlet weights or known probabilities, (R, C)."""
    if isinstance(prior, float):
        rate = number_between(prior, name, "[0, 1]")
        return np.array([[rate, 1 - rate]])
    if isinstance(prior, Known):
        return prior.rows
    pair = isinstance(prior, tuple) and len(prior) == 2
    values = real_array([prior] if pair else prior, name)
    if values.ndim != 2 or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"{name} must be finite and above 0, a pair (a, b) or a number of a rate, or rows in a "
            f"2-d array; got {shown(prior)}."
        )
    return values


@cache
def _log_beta(a: float, b: float) -> float:
    return float(betaln(a, b))


def log_norm(weights: FloatArray) -> FloatArray:
    """Log of the multivariate beta function over the last axis."""
    return np.asarray(gammaln(weights).sum(axis=-1) - gammaln(weights.sum(axis=-1)))


@dataclass(frozen=True)
class LinkNoise(DirichletNoise):
    """Noise of pairwise constraints: the sensitivity p and the specificity q of every source.

    p(E=1 | same) = p, p(E=0 | same) = 1 - p, p(E=0 | different) = q, p(E=1 | different) = 1 - q
    (Khashabi et al., TVClust, Eq. 8; ERRATUM: the display before Eq. 8 misprints its first two
    lines).

    Parameters
    ----------
    p, q : (a, b) or float, default (4, 1)
        The Beta(a, b) prior of every source, or a known value in (0, 1). Beta(4, 1), of mean 0.8,
        has 15/16 of its mass above 1/2: where p + q < 1, answers mean their opposite.
    pooled : bool, default False
        Learn how the sources vary, and shrink each towards their mean: for many annotators with few
        answers each. The Beta(a, b) of p and of q is then the prior of the crowd's mean.
    hard : (a, b), float or None, default None
        Some pairs may be hard: about these all annotators answer alike, by chance or together
        wrongly. The Beta(a, b) prior of their share, such as (1, 9) of mean 0.1, or a known share
        in (0, 1); None, no pair is. For several annotators of each pair; only `TVClust` takes it.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.LinkNoise(p=0.9, q=0.8).log_table({"p": [0.9], "q": [0.8]}).round(3)
    array([[-2.303, -0.223],
           [-0.105, -1.609]])
    """

    p: Beta | float = (4.0, 1.0)
    q: Beta | float = (4.0, 1.0)
    pooled: bool = False
    hard: Beta | float | None = None

    kind: ClassVar[str] = "pairwise"
    # patterns same, different; answers different = 0, same = 1; kinds p, 1 - p, q, 1 - q
    truth: ClassVar[tuple[int, ...]] = (1, 0)
    n_answers: ClassVar[int] = 2
    cell = ((2, 3), (1, 0))
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"p": ("source",), "q": ("source",)}

    def __post_init__(self) -> None:
        self._check_options()
        for name in ("p", "q"):
            object.__setattr__(self, name, beta_or_known(getattr(self, name), name, "(0, 1)"))

    def priors(self) -> dict[str, Prior]:
        return {"p": self.p, "q": self.q}


class TripletNoise(DirichletNoise):
    """A noise model of relative constraints: the true answers of Pei et al., DCRC, Eq. 1."""

    kind: ClassVar[str] = "relative"
    # patterns all same, ij|k, ik|j, jk|i, all different; answers yes = 0, no = 1, dnk = 2
    truth: ClassVar[tuple[int, ...]] = (2, 0, 1, 2, 2)
    n_answers: ClassVar[int] = 3


@dataclass(frozen=True)
class UniformNoise(TripletNoise):
    """Noise of relative constraints: wrong with probability eps, both wrong answers equally likely.

    Pei et al., DCRC, Table I. eps = 2/3 carries no information; eps = 0 makes answers binding.

    Parameters
    ----------
    eps : (a, b) or float, default (1, 9)
        The Beta(a, b) prior of every source, or a known value in [0, 1). Beta(1, 9) has mean 0.1.
    pooled, hard
        As for `LinkNoise`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.UniformNoise(eps=0.1).confusion({"noise": [0.1]}).round(2)
    array([[[0.9 , 0.05, 0.05],
            [0.05, 0.9 , 0.05],
            [0.05, 0.05, 0.9 ]]])
    """

    eps: Beta | float = (1.0, 9.0)
    pooled: bool = False
    hard: Beta | float | None = None

    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"noise": ("source",)}
    # kinds wrong, right
    cell = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    share = ((1.0, 0.5, 0.5), (0.5, 1.0, 0.5), (0.5, 0.5, 1.0))

    def __post_init__(self) -> None:
        self._check_options()
        object.__setattr__(self, "eps", beta_or_known(self.eps, "eps", "[0, 1)"))

    def priors(self) -> dict[str, Prior]:
        return {"noise": self.eps}


@dataclass(frozen=True)
class ConfusionNoise(TripletNoise):
    """Noise of relative constraints: a full confusion matrix, rows the truth, columns the answer.

    The non-uniform noise of Pei et al. (DCRC, section V-C): people say "dnk" too often and rarely
    confuse "yes" with "no" (their Table IV).

    Parameters
    ----------
    prior : (3, 3) array of float, optional
        Dirichlet weights of each row, in the order yes, no, dnk; 8 on the diagonal and 1 off it by
        default.
    matrix : (3, 3) array of float, optional
        A known confusion matrix instead, whose rows sum to one.
    pooled, hard
        As for `LinkNoise`; every row is pooled by itself.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.ConfusionNoise().initial(n_sources=1)["confusion"]
    array([[[0.8, 0.1, 0.1],
            [0.1, 0.8, 0.1],
            [0.1, 0.1, 0.8]]])
    """

    prior: Any = None
    matrix: Any = None
    pooled: bool = False
    hard: Beta | float | None = None

    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"confusion": ("source", "truth", "answer")}

    def __post_init__(self) -> None:
        self._check_options()
        if self.prior is not None and self.matrix is not None:
            raise TypeError(
                "ConfusionNoise takes a prior or a known matrix, not both: leave one out."
            )
        name = "prior" if self.matrix is None else "matrix"
        given = getattr(self, name)
        mostly_right = np.ones((3, 3)) + 7 * np.eye(3)
        rows = square(mostly_right if given is None else given, 3, name, weights=name == "prior")
        object.__setattr__(self, name, tuple(map(tuple, rows.tolist())))

    def priors(self) -> dict[str, Prior]:
        if self.matrix is not None:
            return {"confusion": Known(np.array(self.matrix))}
        return {"confusion": np.array(self.prior)}


def beta_or_known(value: Any, name: str, interval: str) -> Beta | float:
    """Return a Beta prior as a pair of floats, or a known value inside `interval` as a float."""
    if isinstance(value, Real):
        return number_between(value, name, interval)
    hint = f"pass a Beta prior (a, b), both positive and finite, or a known number in {interval}"
    a, b = check_array(value, name, (2,), "iuf", hint).tolist()
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise ValueError(f"{name} is {shown(value)}: {hint}.")
    return float(a), float(b)


def may_be_hard(one: Any) -> bool:
    """Whether the noise of constraints says that some of their queries may be hard."""
    return getattr(getattr(one.given, "noise", None), "hard", None) is not None


def refuse_hard(constraints: Sequence[Any], method: str) -> None:
    """Refuse constraints some of whose queries may be hard."""
    for one in constraints:
        if may_be_hard(one):
            raise TypeError(
                f"the noise of {one.name!r} has hard queries, which {method} does not take: give "
                "them noise without hard=, by with_noise, or take a sampler of TVClust."
            )


def square(values: ArrayLike, size: int, name: str, *, weights: bool = False) -> FloatArray:
    """Return (size, size) probabilities p(answer | truth), or Dirichlet weights of such rows."""
    rule = "positive and finite weights" if weights else "probabilities that sum to one"
    hint = f"pass one row of {rule} per true answer"
    array = check_array(values, name, (size, size), "biuf", hint).astype(np.float64)
    right = (array > 0) & np.isfinite(array) if weights else array >= 0
    if not (right.all() and (weights or np.allclose(array.sum(axis=1), 1, rtol=0, atol=1e-8))):
        raise ValueError(f"{name} is {shown(array.tolist())}: {hint}.")
    return array
