"""Exact posteriors over partitions by enumeration, and distances with Monte Carlo error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bayesclust.constraints import LabelConstraints
from bayesclust.constraints.base import Constraints
from bayesclust.families.base import BoundFamily, hard_statistics
from bayesclust.partition_priors import DirichletProcess, PartitionPrior

# a hyper-parameter's prior reaches this many standard deviations of its logarithm; nodes per
# standard deviation
REACH, NODES = 6.0, 10
# partitions whose expected number of independent draws is smaller have no z-score worth looking at
LEAST_DRAWS = 20
TINY = 1e-300


@cache
def partitions(n: int) -> NDArray[np.int64]:
    """All partitions of n items as restricted growth strings, shape (Bell(n), n)."""
    rows = [[0]]
    for _ in range(n - 1):
        rows = [[*row, k] for row in rows for k in range(max(row) + 2)]
    return np.array(rows, dtype=np.int64)


@cache
def nested_partitions(n: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """All pairs of components and clusters of n items, components within clusters."""
    return [(c, owner[c]) for c in partitions(n) for owner in partitions(int(c.max()) + 1)]


def log_prior_marginal(sizes: NDArray[np.integer], prior: PartitionPrior) -> float:
    """log p(partition), the prior's parameters integrated out."""
    return _log_prior_marginal(tuple(sorted(sizes.tolist())), prior)


@cache
def _log_prior_marginal(sizes: tuple[int, ...], prior: PartitionPrior) -> float:
    """A quadrature on log alpha of its own, for the Dirichlet process."""
    if not isinstance(prior, DirichletProcess) or not prior.learned:
        return prior.log_marginal(np.array(sizes))
    one, n, number = prior.parameters["concentration"], sum(sizes), len(sizes)
    a, b = one.a, one.b
    # the integrand falls as alpha^(a + K - 1) to the left and as exp(-b alpha) to the right
    log_alpha = np.linspace(-np.log(b) - 40 / (a + number - 1), np.log((a + number + 60) / b), 4001)
    alpha = np.exp(log_alpha)
    log_density = a * np.log(b) - gammaln(a) + a * log_alpha - b * alpha
    log_weight = number * log_alpha + gammaln(alpha) - gammaln(alpha + n) + log_density
    step = np.log(log_alpha[1] - log_alpha[0])
    return float(gammaln(sizes).sum() + logsumexp(log_weight) + step)


def hyper_nodes(
    family: BoundFamily, per_sd: int = NODES
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Hyper-parameters to sum over, (nodes, number), and log weights; one of them may be free."""
    hyper = family.initial_hyper()
    if len(family.free) == 0:
        return hyper[None, :], np.zeros(1)
    (j,) = family.free
    prior = family.hyper_priors[j]
    low = np.log(max(prior.median * np.exp(-REACH * prior.log_sd), prior.lower))
    high = np.log(prior.median) + REACH * prior.log_sd
    edges = np.linspace(low, high, int(per_sd * (high - low) / prior.log_sd))
    middles = (edges[1:] + edges[:-1]) / 2
    nodes = np.tile(hyper, (len(middles), 1))
    nodes[:, j] = np.exp(middles)
    weights = np.array([prior.log_prob(value) for value in nodes[:, j]])
    return nodes, weights + np.log(edges[1] - edges[0])


def log_data_marginal(family: BoundFamily, states: NDArray[np.int64]) -> NDArray[np.float64]:
    """log p(X | partition) of every state, one free hyper-parameter integrated out."""
    nodes, log_weights = hyper_nodes(family)
    bits = 1 << np.arange(states.shape[1])
    known: dict[int, NDArray[np.float64]] = {}
    values = np.zeros((len(states), len(nodes)))
    for row, z in enumerate(states):
        if family.n_shared:  # clusters are not independent of each other
            values[row] = [
                family.log_total(hard_statistics(family, z, z.max() + 1), hyper) for hyper in nodes
            ]
            continue
        for k in range(z.max() + 1):
            block = int(bits[z == k].sum())
            if block not in known:
                known[block] = np.array(
                    [family.log_marginal(family.X[z == k], hyper) for hyper in nodes]
                )
            values[row] += known[block]
    return np.asarray(logsumexp(values + log_weights, axis=1))


def log_posterior(
    family: BoundFamily, views: Sequence[Constraints], prior: PartitionPrior
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Every partition and its unnormalised log posterior; all parameters integrated out."""
    states = partitions(len(family.X))
    values = log_data_marginal(family, states)
    values += [log_prior_marginal(np.bincount(z), prior) for z in states]
    return states, values + log_answers(views, states)


def log_answers(
    views: Sequence[Constraints], states: NDArray[np.int64]
) -> NDArray[np.float64] | float:
    """log p(answers | z) of every state, the noise integrated out."""
    total: NDArray[np.float64] | float = 0.0
    for view in views:
        if isinstance(view, LabelConstraints):
            _, first, which = np.unique(codes(states), return_index=True, return_inverse=True)
            total += np.array([log_labels(view, states[at]) for at in first])[which]
        else:
            total += view.noise.log_marginal(view.counts(states))
    return total


def log_labels(view: LabelConstraints, z: NDArray[np.int64]) -> float:
    """log p(labels | z), classes, accuracies and confusions integrated out, by definition."""
    L, noise = len(view.classes), view.noise
    grid = np.linspace(0.01, 0.99, 50)
    prior = grid ** (noise.accuracy[0] - 1) * (1 - grid) ** (noise.accuracy[1] - 1)
    weights = np.ones((50, L + 1, L))
    for a, accuracy in enumerate(grid):
        weights[a, :L] = noise.alike * (1 - accuracy) / (L - 1)
        weights[a, range(L), range(L)] = noise.alike * accuracy
    own = z[view.items[:, 0]]
    clusters = np.unique(own)
    values = []
    for classes in product(range(L + 1), repeat=len(clusters)):
        known = dict(zip(clusters.tolist(), classes, strict=True))
        none = np.array(classes) == L
        value = np.log(np.where(none, noise.none, (1 - noise.none) / L)).sum()
        for s in range(view.n_sources):
            counts = np.zeros((L + 1, L))
            for k, source, answer in zip(own, view.source, view.answers, strict=True):
                counts[known[k], answer] += source == s
            after = weights + counts
            gain = (gammaln(after) - gammaln(weights)).sum((1, 2))
            gain -= (gammaln(after.sum(2)) - gammaln(weights.sum(2))).sum(1)
            value += logsumexp(gain, b=prior / prior.sum())
        values.append(value)
    return float(logsumexp(values))


@dataclass(frozen=True)
class Comparison:
    """Total variation between a chain and the truth, beside that of a right chain.

    `limit` is what a right chain of that length does not exceed, `worst_z` the largest deviation of
    a partition's frequency, in standard errors, among `number` partitions.
    """

    total_variation: float
    expected: float
    limit: float
    worst_z: float
    number: int

    @property
    def ratio(self) -> float:
        """Near 1 for a right sampler."""
        return self.total_variation / self.expected

    @property
    def agrees(self) -> bool:
        """Whether the chain passes, as all but one of a thousand right chains do."""
        return self.total_variation < self.limit and self.worst_z < 5.5


def codes(z: NDArray[np.integer]) -> NDArray[np.int64]:
    """One integer per partition: canonical labels as digits."""
    z = np.asarray(z)
    canonical = np.full(z.shape, -1, dtype=np.int64)
    number = np.zeros(len(z), dtype=np.int64)
    for i in range(z.shape[1]):
        for j in range(i):
            same = (z[:, j] == z[:, i]) & (canonical[:, i] < 0)
            canonical[same, i] = canonical[same, j]
        new = canonical[:, i] < 0
        canonical[new, i] = number[new]
        number[new] += 1
    base = z.shape[1] + 1
    return canonical @ (base ** np.arange(z.shape[1]))


def scatter(exact: NDArray[np.float64], error: NDArray[np.float64]) -> float:
    """Standard deviation of a right chain's total variation, from normal deviations."""
    deviations = np.random.default_rng(0).standard_normal((500, len(exact))) * error
    deviations -= exact * deviations.sum(axis=1, keepdims=True)
    return float(0.5 * np.abs(deviations).sum(axis=1).std())


def compare(
    draws: NDArray[np.integer], states: NDArray[np.int64], log_values: NDArray[np.float64]
) -> Comparison:
    """Compare draws (S, n) of one chain with the exact posterior; errors by batch means.

    The expected total variation of a right chain is 1/2 sum_z sqrt(2/pi) se_z, with se_z the
    standard error of the frequency of partition z: that of independent draws, inflated by the
    chain's autocorrelation time. Among many partitions it hardly scatters; where a few hold nearly
    all the mass it does, and the limit allows for it.
    """
    exact = np.exp(log_values - logsumexp(log_values))
    position = {code: row for row, code in enumerate(codes(states))}
    index = np.array([position[code] for code in codes(draws)])
    total = len(index)
    frequency = np.bincount(index, minlength=len(states)) / total
    batches = int(np.sqrt(total))
    length = total // batches
    means = np.stack(
        [
            np.bincount(index[b * length : (b + 1) * length], minlength=len(states)) / length
            for b in range(batches)
        ]
    )
    independent = exact * (1 - exact) / total
    times = np.maximum(means.var(axis=0, ddof=1) / batches / np.maximum(independent, TINY), 1.0)
    usual = np.average(times, weights=np.where(exact > LEAST_DRAWS / total, exact, 0.0))
    # rare partitions have no autocorrelation time of their own, nor a normal error: draws come in
    # clumps
    common = exact > LEAST_DRAWS * usual / total
    times[~common] = usual
    error = np.sqrt(independent * times)
    z_scores = np.abs(frequency - exact)[common] / error[common]
    expected = 0.5 * np.sqrt(2 / np.pi) * error.sum()
    return Comparison(
        float(0.5 * np.abs(frequency - exact).sum()),
        float(expected),
        float(max(1.6 * expected, expected + 4 * scatter(exact, np.sqrt(exact * times / total)))),
        float(z_scores.max()),
        int(common.sum()),
    )
