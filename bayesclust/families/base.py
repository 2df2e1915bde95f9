"""The contract of a likelihood family, and everything that follows from it.

A family is an exponential family with its conjugate prior (TVClust Eq. 3, 4 and 7):

    log p(x | theta) = <T(x), eta(theta)> - a(theta) + log h(x)

A cluster of n items enters by n and t = sum_i T(x_i) alone: its marginal likelihood is L(n, t)
prod_i h(x_i), with L the *normaliser*, the integral of exp(<t, eta> - n a) over the prior. From T
(`rows`), the prior (`prior`), log L (`implements(log_normaliser, ...)`), and eta with a (`terms`)
follow

    marginal     log L(n_k, t_k)
    predictive   log L(n_k + 1, t_k + T(x)) - log L(n_k, t_k)
    union        log L(n_a + n_b, t_a + t_b)

Compiled code has a *cluster state*: a named tuple of arrays with one slot per cluster and a last
one that stays empty. `Clusters` serves every family; a faster predictive has a state of its own.

With a power w < 1 every item counts as w items (Miller and Dunson 2019, Sec. 3): n and t are
multiplied by it. The item that a predictive is asked about may have another weight.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, ndtr, ndtri

from bayesclust import _numba
from bayesclust._numba import FAST, device, generic, kernel
from bayesclust.checks import check_items, kind_of, number_between
from bayesclust.families.divergence import Divergence
from bayesclust.typing import ArrayLike, FloatArray, IntArray

Terms = tuple[Any, ...]
Quantity = tuple[int, float | None]
"""A column of the user's, by its number, or with a value: whether the column shows that."""
FAMILIES: dict[str, type[Family]] = {}
"""The families, by name; `bayesclust.families` lists them."""
COMPOSED: dict[str, type[Family]] = {}
"""Families of several kinds of columns, which consist of those."""
ONE_PRODUCT = 1 << 13
"""Size of a product of all items with all clusters up to which one call beats one per cluster."""


def implements(
    function: Callable[..., Any], state_type: type | None, *, no_refcount: bool = True
) -> Callable[[Callable[..., Any]], Any]:
    """Register the version of a function below for a state or prior; False if it makes arrays."""
    # a call with all arrays of a state costs more than most of these
    inlined = {"forceinline": True} if function in (log_predictive, shift, derive) else {}
    options: dict[str, Any] = {"no_refcount": no_refcount, "fastmath": FAST, **inlined}
    return _numba.implements(function, state_type, **options)


@generic
def clear_cluster(state: Any, k: int) -> None:
    """Make slot k an empty cluster, equal to the prior slot."""


@generic
def move_item(state: Any, i: int, k: int, sign: int) -> None:
    """Put item i in cluster k (sign = 1), or take it out (-1)."""


@device(no_refcount=True, fastmath=FAST)
def add_item(state: Any, i: int, k: int) -> None:
    """Put item i in cluster k."""
    move_item(state, i, k, 1)


@device(no_refcount=True, fastmath=FAST)
def remove_item(state: Any, i: int, k: int) -> None:
    """Take item i out of cluster k."""
    move_item(state, i, k, -1)


@generic
def log_predictive(state: Any, i: int, k: int) -> float:
    """log p(x_i | items of cluster k), item i not being one of them."""
    raise NotImplementedError


@generic
def log_marginal(state: Any, k: int) -> float:
    """log p(items of cluster k), the parameters integrated out."""
    raise NotImplementedError


@generic
def log_marginal_union(state: Any, a: int, b: int) -> float:
    """log p(items of clusters a and b together), the parameters integrated out."""
    raise NotImplementedError


@generic
def log_marginal_joined(state: Any, k: int, block: int, items: IntArray) -> float:
    """The same of cluster k and slot `block`, whose items are `items`."""
    raise NotImplementedError


@generic
def set_items(state: Any, items: IntArray, k: int) -> None:
    """Set the sufficient statistics of slot k to those of `items`; `derive` does the rest."""


@generic
def derive(state: Any, k: int) -> None:
    """Recompute what slot k caches from its sufficient statistics and the hyper-parameters."""


@generic
def log_normaliser(prior: Any, mass: float, first: FloatArray, second: FloatArray) -> float:
    """log L(mass, first + second) for the named tuple of the prior's parameters."""
    raise NotImplementedError


@generic
def shift(state: Any, i: int, k: int, sign: float) -> None:
    """Add sign times T(x_i) to the sums of slot k."""


# What follows from it for any state with `powers`, `prior`, `count`, `total` and `items`.


@implements(shift, None)
def _shift(state, i, k, sign):  # type: ignore[no-untyped-def]
    for j in range(state.items.shape[1]):
        state.total[k, j] += sign * state.items[i, j]


@device(no_refcount=True, fastmath=FAST)
def _clear_sums(state: Any, k: int) -> None:
    state.count[k] = 0
    for j in range(state.total.shape[1]):
        state.total[k, j] = 0.0


@implements(clear_cluster, None)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    _clear_sums(state, k)
    derive(state, k)


@implements(move_item, None)
def _move_item(state, i, k, sign):  # type: ignore[no-untyped-def]
    shift(state, i, k, float(sign))
    state.count[k] += sign
    derive(state, k)


@implements(set_items, None)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    _clear_sums(state, k)
    state.count[k] = len(items)
    for i in items:
        shift(state, i, k, 1.0)


@implements(log_marginal_union, None)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    mass = state.powers[0] * (state.count[a] + state.count[b])
    return log_normaliser(state.prior, mass, state.total[a], state.total[b])


@implements(log_marginal, None)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return log_marginal_union(state, k, len(state.count) - 1)


@implements(log_marginal_joined, None)
def _log_marginal_joined(state, k, block, items):  # type: ignore[no-untyped-def]
    return log_marginal_union(state, k, block)


class Clusters(NamedTuple):
    """A state that serves every family; C slots and the empty one, m sufficient statistics."""

    items: FloatArray  # (n, m) T(x), with the weight of an item in a cluster
    asked: FloatArray  # (n, m) the same, with the weight of an item whose predictive is asked for
    powers: FloatArray  # (2,) these weights
    prior: Any  # named tuple of the prior's parameters
    count: IntArray  # type: ignore[assignment]  # (C + 1,) items
    total: FloatArray  # (C + 1, m) sums of T
    level: FloatArray  # (C + 1,) log L


@implements(derive, Clusters)
def _derive(state, k):  # type: ignore[no-untyped-def]
    state.level[k] = log_marginal_union(state, k, len(state.count) - 1)


@implements(log_marginal, Clusters)
def _level(state, k):  # type: ignore[no-untyped-def]
    return state.level[k]


@implements(log_predictive, Clusters)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    mass = state.powers[0] * state.count[k] + state.powers[1]
    return log_normaliser(state.prior, mass, state.total[k], state.asked[i]) - state.level[k]


@kernel(fastmath=FAST)
def log_normalisers(prior: Any, mass: FloatArray, total: FloatArray) -> FloatArray:
    """log L of several clusters, shape (K,), from their weights (K,) and sums (K, m)."""
    nothing, values = np.zeros(total.shape[1]), np.zeros(len(mass))
    for k in range(len(mass)):
        values[k] = log_normaliser(prior, mass[k], total[k], nothing)
    return values


@dataclass(frozen=True)
class HyperPrior:
    """Log-normal prior of a positive hyper-parameter, cut off below; fixed if ``log_sd`` is 0.

    Parameters
    ----------
    name : str
        The variable's name in the posterior.
    median, log_sd : float
        Median, and standard deviation of the logarithm, before the cut.
    lower : float, default 0
        Smallest value possible.

    Raises
    ------
    ValueError
        For impossible numbers, and if the cut leaves next to nothing of the prior.

    Examples
    --------
    >>> from bayesclust.families import HyperPrior
    >>> round(HyperPrior("base_scale", median=0.5, log_sd=1.0).log_prob(0.5), 3)
    -0.919
    """

    name: str
    median: float
    log_sd: float
    lower: float = 0.0

    def __post_init__(self) -> None:
        whose = f"of the prior of {self.name}"
        number_between(self.median, f"median {whose}", "(0, inf)")
        number_between(self.log_sd, f"log_sd {whose}", "[0, inf)")
        number_between(self.lower, f"lower {whose}", "[0, inf)")
        if self.log_sd > 0 and self._cut > 0.999:
            raise ValueError(
                f"lower={self.lower!r} cuts off nearly all of the prior of {self.name} with median "
                f"{self.median!r}: reduce it or raise the median."
            )

    @property
    def _cut(self) -> float:
        """Probability that the cut takes away."""
        if self.lower == 0:
            return 0.0
        return float(ndtr(np.log(self.lower / self.median) / self.log_sd))

    @cached_property
    def _log_norm(self) -> float:
        return math.log(self.log_sd) + 0.5 * math.log(2 * math.pi) + math.log1p(-self._cut)

    def log_prob(self, value: float) -> float:
        """Log density of the parameter's logarithm; 0 where it is fixed, -inf below ``lower``."""
        if self.log_sd == 0:
            return 0.0
        if not self.lower <= value < np.inf or value == 0:
            return -np.inf
        standard = math.log(value / self.median) / self.log_sd
        return -0.5 * standard**2 - self._log_norm

    def sample(self, rng: Generator) -> float:
        """One draw."""
        if self.log_sd == 0:
            return self.median
        uniform = self._cut + (1.0 - self._cut) * rng.random()
        return float(self.median * np.exp(self.log_sd * ndtri(uniform)))


Hyper = float | str | HyperPrior
"""A hyper-parameter as users give it: a fixed value, "learn" or a prior."""


def hyper_prior(value: object, default: HyperPrior) -> HyperPrior:
    """The default prior for "learn", a prior of the user's own, or a fixed value."""
    if isinstance(value, HyperPrior):
        return replace(value, name=default.name)
    short = default.name.removeprefix("base_")
    kinds = "'learn', a positive number or a HyperPrior"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (str, Real)):
        raise TypeError(f"{short} is a {type(value).__name__}; give {kinds}.")
    if value == "learn":
        return default
    if isinstance(value, str) or not 0 < float(value) < np.inf:
        raise ValueError(f"{short}={value!r} is none of these; give {kinds}.")
    return HyperPrior(default.name, float(value), 0.0)


@dataclass(frozen=True)
class BoundFamily(ABC):
    """A family with its prior, bound to data X (n, d) in the coordinates of samplers.

    `power` is the weight of an item, `predictive_power` that of one whose predictive is asked for,
    None for the same. `reader` reads the user's rows in another way than the family's.
    """

    X: FloatArray
    hyper_priors: tuple[HyperPrior, ...]
    power: float = field(default=1.0, kw_only=True)
    predictive_power: float | None = field(default=None, kw_only=True)
    reader: Callable[[Any], FloatArray] | None = field(default=None, kw_only=True)

    takes_missing: ClassVar[bool] = False  # whether missing cells (NaN) are left out
    State: ClassVar[Any] = Clusters
    Prior: ClassVar[Any] = None
    n_arrays: ClassVar[int] = 2  # in statistics, and in terms

    # What a family gives.

    def prior(self, hyper: FloatArray) -> Any:
        """The parameters of the prior, a named tuple of arrays: the first argument of log L."""
        return self.Prior(*map(np.atleast_1d, self.parameters(hyper)))

    def parameters(self, hyper: Any) -> Any:
        """The fields of `Prior` as they follow from the hyper-parameters, in NumPy or in JAX."""
        raise NotImplementedError(f"{type(self).__name__} has no parameters(hyper): write it.")

    def rows(self, X: FloatArray) -> Terms:
        """Arrays with a row for each item; the first is T(x), (n, m)."""
        raise NotImplementedError(f"{type(self).__name__} has no rows(X), a tuple: write it.")

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        """(eta (K, m), a (K,)) given (n (K,), t (K, m)): drawn by `rng`, or else in expectation."""
        raise NotImplementedError(f"{type(self).__name__} has no terms(statistics, ...): write it.")

    def moments(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        """Means and variances (K, f) of `quantities` given drawn terms, in the user's units."""
        raise NotImplementedError(
            f"cluster_profiles cannot describe clusters of {type(self).__name__}: give it moments."
        )

    @abstractmethod
    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """NumPyro sites of the parameters, in the plate of components, given JAX scalars `hyper`.

        It gives a function from the labels to the distribution of the items, in the user's units.
        """

    # What a family may give.

    def caches(self, slots: int) -> Mapping[str, Any]:
        """Fields of a state besides those that `new_state` knows."""
        (T, *_), asked = self.rows(self.X), self.powers[1]
        return {"asked": T if asked == 1 else asked * T, "level": np.zeros(slots)}

    def columns(self, X: FloatArray) -> Any:
        """The columns of the user's data that the family models."""
        return X

    @property
    def quantities(self) -> list[Quantity]:
        """What `moments` are of: the columns modelled, or whether one of them shows a value."""
        return [(int(j), None) for j in getattr(self, "kept", range(self.X.shape[1]))]

    def log_base(self, rows: FloatArray) -> FloatArray:
        """log h(x) of each row with the change of units, shape (m,)."""
        return np.zeros(len(rows))

    def embedding(self) -> FloatArray:
        """The items as points with sensible Euclidean distances, for starts and proposals."""
        return self.X

    def transform(self, X: ArrayLike) -> FloatArray:
        """Check further rows of the user's data, and give them in the coordinates of X, (m, d)."""
        if self.reader is not None:
            return self.reader(X)
        return np.asarray(self.columns(check_items(X, least=1, missing=self.takes_missing)))

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        """(n, t) of each cluster by weights (n, K); in NumPy or in JAX (`xp`)."""
        return weight.sum(axis=0), weight.T @ rows[0]

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        """log p(x_i | theta_k) - log h(x_i), shape (n, K); in NumPy or in JAX (`xp`)."""
        return rows[0] @ terms[0].T - terms[1]

    def log_marginals(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        """log L of each cluster, shape (K,)."""
        mass, total = (np.ascontiguousarray(part, np.float64) for part in statistics)
        return np.asarray(log_normalisers(self._compiled_prior(hyper), mass, total))

    def _compiled_prior(self, hyper: FloatArray) -> Any:
        """The prior, refused where no log L is compiled for its type."""
        prior = self.prior(hyper)
        if type(prior) not in log_normaliser.versions:  # type: ignore[attr-defined]
            name = type(prior).__name__
            raise TypeError(f"{name} has no normaliser: write @implements(log_normaliser, {name}).")
        return prior

    # What all clusters share besides the hyper-parameters, as `TiedGaussian`'s covariance.

    @property
    def n_shared(self) -> int:
        """Numbers behind the hyper-parameters in a vector of them, drawn given the clusters."""
        return 0

    def shared_sites(self, hyper: list[Any]) -> list[Any]:
        """The hyper-parameters of `component_sites`, with a NumPyro site of what is shared."""
        return hyper

    def log_shared_prior(self, hyper: FloatArray) -> float:
        """Log density of what is shared, in the coordinates of its point value."""
        return 0.0

    def log_total(self, statistics: Terms, hyper: FloatArray) -> float:
        """log p(X | partition), with what clusters share integrated out."""
        return float(self.log_marginals(statistics, hyper).sum())

    def draw_shared(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> FloatArray:
        """The hyper-parameters with what is shared drawn given the clusters."""
        return hyper

    def likeliest_shared(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        """The hyper-parameters with the most probable value of what is shared."""
        return hyper

    # What follows.

    def new_state(self, capacity: int, hyper: FloatArray) -> Any:
        """Cluster state with `capacity` empty slots and the prior slot."""
        slots, (T, *_), wanted = capacity + 1, self.rows(self.X), self.State._fields
        known = {
            "items": T if self.power == 1 else self.power * T,
            "powers": self.powers,
            "count": np.zeros(slots, np.int64),
            "total": np.zeros((slots, T.shape[1])),
        }
        if "prior" in wanted:
            prior = self._compiled_prior(hyper)
            known["prior"] = type(prior)(*(np.array(value) for value in prior))
        own = {name: value for name, value in known.items() if name in wanted}
        state = self.State(**own | dict(self.caches(slots)))
        self.set_hyper(state, hyper)
        return state

    def set_hyper(self, state: Any, hyper: FloatArray) -> None:
        """Write hyper-parameters into a state; the caller derives the slots again."""
        for old, new in zip(state.prior, self.prior(hyper), strict=True):
            old[...] = new

    @cached_property
    def own_rows(self) -> Terms:
        """The rows of the data."""
        return self.rows(self.X)

    def weighted(self, statistics: Terms) -> Terms:
        """Sums over items as `terms` and the marginals take them, items counting `power`-fold."""
        parts = tuple(map(np.asarray, statistics))
        return parts if self.power == 1 else tuple(self.power * part for part in parts)

    def log_likelihood(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        """`log_density` of items that count `power`-fold; its expectation by expected terms."""
        density = self.log_density(xp, rows, terms)
        return density if self.power == 1 else self.power * density

    def log_marginal(self, X: FloatArray, hyper: FloatArray) -> float:
        """log p(X) of the rows of one cluster, in our coordinates."""
        statistics = self.statistics(np, self.rows(X), np.full((len(X), 1), self.power))
        return float(self.log_marginals(statistics, hyper)[0])

    def coarsened(self, power: float) -> Self:
        """Every item's likelihood raised to a power in (0, 1] (Miller and Dunson 2019, Sec. 3)."""
        return self if power == 1 else replace(self, power=power)

    def for_prediction(self) -> Self:
        """The same clusters with the predictive density of a whole item, whatever the power."""
        # at a gamma, items weigh as much as they do in the limit
        return self if self.reader is not None else replace(self, predictive_power=1.0)

    @property
    def powers(self) -> FloatArray:
        """(weight of an item in a cluster, weight of one that the predictive is asked about)."""
        asked = self.power if self.predictive_power is None else self.predictive_power
        return np.array([self.power, asked])

    def row_constants(self, rows: FloatArray) -> FloatArray:
        """The difference of log p of each row in the user's units and log L."""
        return self.log_base(rows) if self.reader is None else np.zeros(len(rows))

    @cached_property
    def log_constant(self) -> float:
        """The difference of log p(X | partition) in the user's units and all log L."""
        return self.power * float(self.row_constants(self.X).sum())

    def with_rows(self, rows: FloatArray) -> Self:
        """The same prior, in the same coordinates, bound to other rows."""
        return replace(self, X=rows)

    @cached_property
    def free(self) -> IntArray:
        """Positions of the hyper-parameters that are learned."""
        return np.flatnonzero([prior.log_sd > 0 for prior in self.hyper_priors])

    def initial_hyper(self) -> FloatArray:
        """Prior medians (or the least values possible, if larger), or the fixed values."""
        return np.array([max(p.median, p.lower * (p.log_sd > 0)) for p in self.hyper_priors])

    def sample_hyper(self, rng: Generator) -> FloatArray:
        """One draw from the hyper-prior."""
        return np.array([prior.sample(rng) for prior in self.hyper_priors])

    def log_hyper_prior(self, hyper: FloatArray) -> float:
        """Log density of the hyper-parameters' logarithms; -inf where one is impossible."""
        own = hyper[: len(self.hyper_priors)]
        return sum(p.log_prob(value) for value, p in zip(own, self.hyper_priors, strict=True))


class Family(ABC):
    """A likelihood family with a conjugate prior (TVClust Eq. 3, 4 and 7), before it has seen data.

    Subclass it, with `BoundFamily`, to add a family: ``docs/skeletons/family.py`` is a whole one.
    """

    divergence: ClassVar[type[Divergence] | None] = None
    """That of the family's small-variance limit."""
    takes_missing: ClassVar[bool] = False
    """Whether missing cells (NaN) are left out of the likelihood."""

    @abstractmethod
    def bind(self, X: FloatArray) -> BoundFamily:
        """Check the data and fill in what the prior takes from them."""

    def limit(self) -> Divergence:
        """The divergence of the family; its prior does not matter in the limit."""
        if self.divergence is None:
            known = ", ".join(kind.__name__ for kind in FAMILIES.values() if kind.divergence)
            raise TypeError(
                f"the divergence of {type(self).__name__} is not known, only those of {known} and "
                "Product: pass a Divergence, or give the family one."
            )
        return self.divergence()


def hard_statistics(family: BoundFamily, z: IntArray, number: int) -> Terms:
    """Weighted statistics of clusters with labels 0..number-1, some of which may be empty."""
    rows = family.own_rows
    if number * sum(row.size for row in rows) <= ONE_PRODUCT:
        weight = (z[:, None] == np.arange(number)).astype(np.float64)
        return family.weighted(family.statistics(np, rows, weight))
    order = np.argsort(z, kind="stable")
    bounds = np.searchsorted(z[order], np.arange(number + 1))
    parts = []
    for k in range(number):
        items = order[bounds[k] : bounds[k + 1]]
        own = tuple(row[items] for row in rows)
        parts.append(family.statistics(np, own, np.ones((len(items), 1))))
    return family.weighted(tuple(map(np.concatenate, zip(*parts, strict=True))))


def gammas(
    shape: FloatArray, rate: FloatArray, rng: Generator | None = None
) -> tuple[FloatArray, FloatArray]:
    """Logarithms of Gamma(shape, rate) variables and the variables, drawn or in expectation."""
    if rng is None:
        return digamma(shape) - np.log(rate), shape / rate
    # Gamma(a) = Gamma(a + 1) U^(1/a): small a do not underflow
    logs = np.log(rng.standard_gamma(shape + 1.0)) + np.log1p(-rng.random(shape.shape)) / shape
    logs = logs - np.log(rate)
    return logs, np.exp(logs)


def get_family(family: str | Family) -> Family:
    """The family of that name with its defaults, or the family itself."""
    if isinstance(family, Family):
        return family
    if not isinstance(family, str):
        raise TypeError(
            f"family is {kind_of(family)}; give a name or an object of bayesclust.families."
        )
    known = FAMILIES | COMPOSED
    if family not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"family={family!r} is not known; choose one of {names}.")
    return known[family]()
