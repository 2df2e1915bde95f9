"""Gibbs-type priors over partitions, p(z) = V(n, K) prod_k W(n_k), and the Dirichlet process.

A prior says log W and log V (Gnedin and Pitman 2006); all else follows. With K clusters and their
sizes counted after a block of c items was taken out, the block

    joins a cluster of m items with the weight    W(m + c) / W(m),
    opens a cluster with the weight               V(n, K + 1) / V(n, K) W(c),

and a split of m items into a and b is V(n, K + 1) / V(n, K) W(a) W(b) / W(m) times as probable as
the merge. Multiplying W by c and V by c^-K changes nothing, so that the tables have W(1) = 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaincinv, gammaln, logsumexp

from bayesclust.checks import check_int, check_random_state, plain_array, shown
from bayesclust.typing import FloatArray, IntArray, Seed

Values = Mapping[str, float]
"""Parameters of a prior by name."""
Batches = NDArray[np.object_] | None
"""The name of each item's batch, None where it has none."""
REMEMBERED = 64
GROUPS = 50
"""Of partitions that `simulate` draws at the same parameter, evenly spread over its prior."""
NODES = {1: 500, 2: 60}
"""Nodes of the quadrature for each parameter, by the number of learned ones."""
END = 1e-12
"""How far parameters are kept from zero, and discounts from one."""
MOST_STEPS = 60
"""Most steps of slice sampling to either side, each as long as the tail of the prior."""
LOWEST, ROUNDING = math.log(END), 1e-3
NEGLIGIBLE = 45.0
"""How far below its largest value the log of an integrand is left out."""


class Tables(NamedTuple):
    """A prior as samplers of n items read it."""

    log_w: FloatArray  # (n + 1,) log W(m); 0 at m = 0 and 1
    log_join: FloatArray  # (n + 1,) log W(m + 1) - log W(m); 0 at m = 0
    log_open: FloatArray  # (K_max + 1,) log V(n, K + 1) - log V(n, K), -inf if impossible


class Parameter(NamedTuple):
    """A number of a prior: fixed, or learned under Gamma(a, rate b), in (0, 1) under Beta(a, b)."""

    fixed: float | None
    a: float = 1.0
    b: float = 1.0
    unit: bool = False

    @classmethod
    def parse(cls, value: Any, name: str, *, unit: bool = False) -> Parameter:
        """A fixed value from a number, a prior from a pair; refuses anything else."""
        numbers = plain_array(value, name)
        real = numbers.dtype.kind in "iuf" and numbers.shape in ((), (2,))
        fits = bool(real and np.isfinite(numbers).all() and (numbers > 0).all())
        if unit and real and numbers.ndim == 0:
            fits = bool(0 <= numbers < 1)
        if not fits:
            number = "a number in [0, 1)" if unit else "a positive number"
            pair = "(a, b)" if unit else "(shape, rate)"
            raise ValueError(
                f"{name}={shown(value)} is neither {number} nor a pair {pair} of positive numbers; "
                "give one of these."
            )
        if numbers.ndim == 0:
            return cls(float(numbers), unit=unit)
        return cls(None, float(numbers[0]), float(numbers[1]), unit)

    @property
    def initial(self) -> float:
        """The prior mean, or the fixed value."""
        if self.fixed is not None:
            return self.fixed
        return self.a / (self.a + self.b) if self.unit else self.a / self.b

    def log_prior(self, value: float) -> float:
        """Log density; 0 where it is fixed."""
        if self.fixed is not None:
            return 0.0
        a, b = self.a, self.b
        if self.unit:
            constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
            return constant + (a - 1) * math.log(value) + (b - 1) * math.log1p(-value)
        return float(a * math.log(b) - gammaln(a) + (a - 1) * math.log(value) - b * value)

    def sample(self, rng: Generator) -> float:
        """One draw from its prior."""
        if self.fixed is not None:
            return self.fixed
        return float(rng.beta(self.a, self.b) if self.unit else rng.gamma(self.a) / self.b)

    def quantile(self, share: float) -> float:
        """The value below which its prior has this share, in (0, 1)."""
        if self.fixed is not None:
            return self.fixed
        if self.unit:
            return float(np.clip(betaincinv(self.a, self.b, share), 1e-12, 1.0 - 1e-12))
        return max(float(gammaincinv(self.a, share)) / self.b, 1e-12)

    def to_line(self, value: float) -> float:
        """The logarithm, or the log odds."""
        return math.log(value) - (math.log1p(-value) if self.unit else 0.0)

    def from_line(self, t: float) -> float:
        """The inverse of `to_line`, kept off the ends of the range."""
        if self.unit:
            return min(max(1.0 / (1.0 + math.exp(-t)), END), 1.0 - END) if t > -700 else END
        return max(math.exp(min(t, 700.0)), END)

    def log_on_line(self, t: float) -> float:
        """Log density of the logarithm or the log odds, also of those beyond the ends."""
        a, b = self.a, self.b
        if self.unit:
            constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
            return float(constant - a * np.logaddexp(0.0, -t) - b * np.logaddexp(0.0, t))
        return a * (math.log(b) + t) - math.lgamma(a) - b * math.exp(min(t, 700.0))

    @property
    def reach(self) -> tuple[float, float]:
        """Logarithms or log odds between which, and the ends, it has nearly all of its mass."""
        if self.unit:
            return max(-30.0 / min(self.a, 1.0), LOWEST), min(30.0 / min(self.b, 1.0), -LOWEST)
        low = min(math.log(self.a / self.b), 0.0) - 5.0 - 30.0 / min(self.a, 1.0)
        high = math.log(30.0 + 2.0 * self.a) - math.log(self.b)
        return max(low, LOWEST), max(high, LOWEST + 1.0)

    def log_masses(self, line: FloatArray) -> FloatArray:
        """Log mass of evenly spaced places on the line, at the ends with all that is beyond."""
        found = np.array([self.log_on_line(t) for t in line])
        step = np.full(len(line), line[1] - line[0])
        step[[0, -1]] /= 2.0
        if line[0] < LOWEST + ROUNDING:
            step[0] += 1.0 / self.a
        if self.unit and line[-1] > -LOWEST - ROUNDING:
            step[-1] += 1.0 / self.b
        return np.asarray(found + np.log(step))

    @property
    def tail(self) -> float:
        """How far out the density of the logarithm or the log odds falls by a factor e, or 1."""
        return max(1.0, 1.0 / self.a, 1.0 / self.b if self.unit else 0.0)

    def place_on_line(self, value: float, rng: Generator) -> float:
        """Return `to_line` of a value, and of one at an end a draw from all that lies beyond it."""
        t = self.to_line(value)
        if value <= END:
            return t - rng.standard_exponential() / self.a
        if self.unit and value >= 1.0 - END:
            return t + rng.standard_exponential() / self.b
        return t


class PartitionPrior(ABC):
    """A Gibbs-type prior: a frozen dataclass with `log_w`, `log_v` and perhaps `parameters`.

    Attributes
    ----------
    most_clusters : int or None
        The largest possible number of clusters, if there is one.
    separable : bool
        Whether log V(n, K) is a sum of a function of n and one of K, as components need it.
    restricts : bool
        Whether the prior of n items is that of n + 1 with one left out, as `sample` assumes here.
    exchangeable : bool
        Whether any item, a new one too, could be in any cluster.
    w_parameters : tuple of str or None
        The parameters on which W depends; None is all.
    """

    most_clusters: int | None = None
    separable: ClassVar[bool] = False
    restricts: ClassVar[bool] = True
    exchangeable: ClassVar[bool] = True
    w_parameters: ClassVar[tuple[str, ...] | None] = None

    @abstractmethod
    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        """log W of cluster sizes of at least 1, given the parameters."""

    @abstractmethod
    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        """log V of n items in some numbers of clusters; arrays broadcast."""

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters by name."""
        return {}

    def __post_init__(self) -> None:
        """Check the parameters, and make them plain numbers, as settings are written."""
        for name, one in self.parameters.items():
            if hasattr(self, name):
                object.__setattr__(self, name, (one.a, one.b) if one.fixed is None else one.fixed)

    @cached_property
    def learned(self) -> dict[str, Parameter]:
        """Those that are not fixed."""
        return {name: one for name, one in self.parameters.items() if one.fixed is None}

    def take_batches(self, X: Any, *, new: bool = False) -> tuple[Any, Batches]:
        """The data without a column of batches, and these in words: here there are none."""
        return X, None

    def check_use(self, n_items: int, *, collapsed: bool, mixture: bool, moves: bool) -> None:
        """Refuse a number of items, another sampler, mixtures or chosen moves: here nothing."""
        return

    def stick_parameters(self, values: Values) -> tuple[Any, Any]:
        """(d, c) of the weights in size-biased order; refused where sticks are not independent.

        Stick j = 1, 2, ... is Beta(1 - d, c + j d). Given K clusters of n_k items their weights and
        what is left are Dirichlet(n_1 - d, ..., n_K - d, c + K d) (Pitman 1996, Corollary 20).
        """
        raise ValueError(
            f"partition_prior is a {type(self).__name__}, which has no stick-breaking form: use "
            "sampler='collapsed' or 'gibbs', or a DirichletProcess, PitmanYor or KnownK."
        )

    def sticks(self, position: Any, values: Values) -> tuple[Any, Any]:
        """(a, b) of the Beta distribution of stick number 1, 2, ...."""
        discount, concentration = self.stick_parameters(values)
        return 1.0 - discount, concentration + discount * position

    def initial(self) -> dict[str, float]:
        """The parameters to start from: prior means, or fixed values."""
        return {name: one.initial for name, one in self.parameters.items()}

    def log_prior(self, values: Values) -> float:
        """Log density of the learned parameters."""
        return sum(one.log_prior(values[name]) for name, one in self.parameters.items())

    def sample_prior(self, rng: Generator) -> dict[str, float]:
        """The parameters, drawn from their prior."""
        return {name: one.sample(rng) for name, one in self.parameters.items()}

    def log_prob(self, sizes: IntArray, values: Values) -> float:
        """log p(partition | parameters), from its cluster sizes."""
        log_v = _log_v.__wrapped__ if self.learned else _log_v
        own = tuple((name, float(values[name])) for name in self.parameters)
        counted = log_v(self, int(sizes.sum()), len(sizes), own)
        return float(counted + self.log_w(sizes, values).sum())

    def log_marginal(self, sizes: IntArray) -> float:
        """log p(partition), the parameters integrated out by quadrature on a line each."""
        sizes = np.asarray(sizes, np.int64)
        if not self.learned:
            return self.log_prob(sizes, self.initial())
        nodes = NODES.get(len(self.learned), 20)
        ends = [one.reach for one in self.learned.values()]
        rough = self._log_terms(sizes, ends, nodes)
        if rough.max() == -math.inf:
            return -math.inf
        for axis, (low, high) in enumerate(ends):
            others = tuple(other for other in range(len(ends)) if other != axis)
            near = np.flatnonzero(rough.max(axis=others) > rough.max() - NEGLIGIBLE)
            line = np.linspace(low, high, nodes)
            ends[axis] = line[max(near[0] - 1, 0)], line[min(near[-1] + 1, nodes - 1)]
        return float(logsumexp(self._log_terms(sizes, ends, nodes)))

    def _log_terms(
        self, sizes: IntArray, ends: Sequence[tuple[float, float]], nodes: int
    ) -> FloatArray:
        """log p(partition | parameters) of a grid between ends, plus the log mass of each node."""
        names, learned = list(self.learned), self.learned.values()
        lines = [np.linspace(*own, nodes) for own in ends]
        masses = [one.log_masses(line) for one, line in zip(learned, lines, strict=True)]
        found, values = np.empty((nodes,) * len(lines)), self.initial()
        for at in np.ndindex(found.shape):
            own = zip(names, learned, lines, at, strict=True)
            values |= {name: one.from_line(line[j]) for name, one, line, j in own}
            mass = sum(log_mass[j] for log_mass, j in zip(masses, at, strict=True))
            found[at] = mass + self.log_prob(sizes, values)
        return found

    def update(
        self, values: Values, groups: Sequence[IntArray], rng: Generator
    ) -> dict[str, float]:
        """Draw the learned parameters given partitions of these sizes, by slice sampling."""
        new = dict(values)
        for name, one in self.learned.items():

            def log_density(t: float, name: str = name, one: Parameter = one) -> float:
                values = new | {name: one.from_line(t)}
                return one.log_on_line(t) + sum(self.log_prob(sizes, values) for sizes in groups)

            start = one.place_on_line(new[name], rng)
            if math.isnan(log_density(start)):
                raise ValueError(
                    f"partition_prior is a {type(self).__name__} whose log_v or log_w is nan at "
                    f"{new}: let them return -inf for what is impossible."
                )
            new[name] = one.from_line(_slice(log_density, start, one.tail, rng))
        return new

    def tables(self, n: int, most: int, values: Values) -> Tables:
        """Tables for n items and up to `most` clusters."""
        names = values if self.w_parameters is None else self.w_parameters
        known = tuple((name, values[name]) for name in names)
        log_w, log_join, log_w_one = _size_tables(self, n, known)
        # what is learned is another in every sweep
        number_table = _number_table.__wrapped__ if self.learned else _number_table
        return Tables(
            log_w, log_join, number_table(self, n, most, tuple(values.items())) + log_w_one
        )

    def sample(self, n: int, values: Values, rng: Generator, number: int | None = None) -> IntArray:
        """Labels (n,) drawn item by item, or (number, n) of several partitions side by side."""
        log_w = self.log_w(np.arange(1, n + 1), values)
        join = np.append(0.0, np.exp(np.diff(log_w)))
        labels, sizes = np.zeros((2, number or 1, n), np.int64)
        sizes[:, 0] = 1
        rows, clusters = np.arange(len(sizes)), np.ones(len(sizes), np.int64)
        for i in range(1, n):
            most = int(clusters.max()) + 1
            log_v = self.log_v(i + 1, np.arange(most + 1), values)
            weights = join[sizes[:, :most]]
            weights[rows, clusters] = np.exp(log_w[0] + log_v[clusters + 1] - log_v[clusters])
            below = np.cumsum(weights, axis=1)
            labels[:, i] = (below < rng.random((len(rows), 1)) * below[:, -1:]).sum(axis=1)
            sizes[rows, labels[:, i]] += 1
            clusters += labels[:, i] == clusters
        return labels[0] if number is None else labels

    def sample_n_clusters(self, n: int, values: Values, rng: Generator) -> int:
        """One draw of the number of clusters of n items, from one new cluster to the next."""
        if not self.restricts:
            return int(self.sample(n, values, rng).max()) + 1
        items, number = 1, 1
        log_w_one = float(self.log_w(np.ones(1, np.int64), values)[0])
        while items < n:
            before = np.arange(items, min(n, 2 * items + 16))
            log_open = log_w_one + self.log_v(before + 1, number + 1, values)
            log_open -= self.log_v(before, number, values)
            opens = np.flatnonzero(rng.random(len(before)) < np.exp(log_open))
            items += int(opens[0]) + 1 if len(opens) else len(before)
            number += len(opens) > 0
        return number

    def simulate(self, n: int, num_draws: int = 1000, seed: Seed = 0) -> IntArray:
        """Draw labels (num_draws, n) of n items before any data, learned parameters drawn as well.

        `bayesclust.n_clusters_posterior` and `bayesclust.plots.n_clusters` of them show what the
        prior says of the number of clusters, `bayesclust.plots.prior_sizes` what of their sizes.
        """
        rng, number = check_random_state(seed, "seed"), check_int(num_draws, "num_draws")
        several = len(self.learned) > 1  # which no few points cover
        groups = min(number, max(4 * GROUPS, number // 10) if several else GROUPS)
        shares = {name: (rng.permutation(groups) + 0.5) / groups for name in self.parameters}
        draws = np.empty((number, check_int(n, "n")), np.int64)
        for g in range(groups):
            values = {name: one.quantile(shares[name][g]) for name, one in self.parameters.items()}
            draws[g::groups] = self.sample(n, values, rng, len(draws[g::groups]))
        return draws


@lru_cache(maxsize=REMEMBERED)
def _size_tables(
    prior: PartitionPrior, n: int, values: tuple[tuple[str, float], ...]
) -> tuple[FloatArray, FloatArray, float]:
    """(log_w, log_join, log W(1) before it became 0)."""
    log_w = prior.log_w(np.arange(1, n + 2), dict(values))
    one = float(log_w[0])
    return np.append(0.0, log_w[:-1] - one), np.append(0.0, np.diff(log_w)), one


@lru_cache(maxsize=REMEMBERED)
def _log_v(
    prior: PartitionPrior, n: int, number: int, values: tuple[tuple[str, float], ...]
) -> Any:
    """log V(n, K), which can be a long series."""
    return prior.log_v(n, number, dict(values))


@lru_cache(maxsize=REMEMBERED)
def _number_table(
    prior: PartitionPrior, n: int, most: int, values: tuple[tuple[str, float], ...]
) -> FloatArray:
    """log V(n, K + 1) / V(n, K) for K = 0..most, -inf where either is impossible."""
    log_v: FloatArray = prior.log_v(n, np.arange(most + 2), dict(values)) + np.zeros(most + 2)
    finite = np.isfinite(log_v)
    both = finite[1:] & finite[:-1]
    log_ratio = np.full(most + 1, -np.inf)
    log_ratio[both] = log_v[1:][both] - log_v[:-1][both]
    return log_ratio


def _slice(log_density: Any, t: float, width: float, rng: Generator) -> float:
    """A step of slice sampling by stepping out and shrinking (Neal 2003, Fig. 3 and 5)."""
    level = log_density(t) - rng.standard_exponential()
    low = t - width * rng.random()
    high = low + width
    while low > t - MOST_STEPS * width and log_density(low) > level:
        low -= width
    while high < t + MOST_STEPS * width and log_density(high) > level:
        high += width
    while True:
        new = low + (high - low) * rng.random()
        if log_density(new) > level:
            return float(new)
        low, high = (new, high) if new < t else (low, new)


CONCENTRATION = "concentration"


@dataclass(frozen=True)
class DirichletProcess(PartitionPrior):
    """Dirichlet process: W(m) = Gamma(m), V(n, K) = alpha^K Gamma(alpha) / Gamma(alpha + n).

    The expected number of clusters grows as alpha log(n) (TVClust Eq. 2).

    Parameters
    ----------
    concentration : float or (shape, rate), default (1.0, 1.0)
        alpha, or its Gamma prior.
    log_fixed : float or None, default None
        Log alpha held at this value, however small or large; the concentration is then the nearest
        positive finite float.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.partition_priors import DirichletProcess
    >>> prior = DirichletProcess(2.0)
    >>> round(prior.log_prob(np.array([1, 1]), prior.initial()), 6)  # log(2 / 3)
    -0.405465
    """

    concentration: Any = (1.0, 1.0)
    log_fixed: float | None = None

    separable: ClassVar[bool] = True
    w_parameters: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.log_fixed is not None:
            reach = np.log([np.nextafter(0.0, 1.0), np.finfo(np.float64).max])
            object.__setattr__(self, CONCENTRATION, float(np.exp(np.clip(self.log_fixed, *reach))))
        super().__post_init__()

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        return {CONCENTRATION: Parameter.parse(self.concentration, CONCENTRATION)}

    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        return np.asarray(gammaln(sizes))

    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        if self.log_fixed is None:
            alpha = values[CONCENTRATION]
            return np.multiply(number, np.log(alpha)) + gammaln(alpha) - gammaln(np.add(alpha, n))
        # alpha^K Gamma(alpha) / Gamma(alpha + n) = alpha^(K - 1) / prod_{0 < j < n} (alpha + j)
        steps = np.logaddexp(self.log_fixed, np.log(np.arange(1, max(int(np.max(n)), 1))))
        rising = np.concatenate([np.zeros(2), np.cumsum(steps)])
        return np.subtract(number, 1) * self.log_fixed - rising[n]

    def stick_parameters(self, values: Values) -> tuple[Any, Any]:
        return 0.0, values[CONCENTRATION]

    def update(
        self, values: Values, groups: Sequence[IntArray], rng: Generator
    ) -> dict[str, float]:
        """Draw alpha given one partition, or several."""
        one, alpha = self.parameters[CONCENTRATION], values[CONCENTRATION]
        n = np.array([sizes.sum() for sizes in groups])
        number = sum(len(sizes) for sizes in groups)
        return {CONCENTRATION: draw_concentration(one, alpha, n, number, rng)}


def draw_concentration(
    one: Parameter, alpha: float, n: IntArray, number: int, rng: Generator
) -> float:
    """Draw alpha given groups of n items (G,) in K clusters (Escobar and West 1995, Sec. 6)."""
    # Several groups by Teh et al. (2006, Eq. 47 to 49): w_g ~ Beta(alpha + 1, n_g), s_g ~
    # Bernoulli(n_g / (n_g + alpha)), alpha ~ Gamma(a + K - sum s, b - sum log w).
    if one.fixed is not None:
        return one.fixed
    if len(n) == 1:
        rate = one.b - np.log(rng.beta(alpha + 1.0, n[0]))
        odds = (one.a + number - 1.0) / (n[0] * rate)
        shape = one.a + number - (0.0 if rng.random() < odds / (1.0 + odds) else 1.0)
    else:
        rate = one.b - np.log(rng.beta(alpha + 1.0, n)).sum()
        shape = one.a + number - (rng.random(len(n)) * (n + alpha) < n).sum()
    return max(float(rng.gamma(shape) / rate), 1e-12)
