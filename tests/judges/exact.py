"""Exact posteriors over partitions by enumeration, and distances that know their Monte Carlo error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bayesclust.constraints.base import View
from bayesclust.models.families.base import BoundFamily
from bayesclust.models.priors import Concentration, crp_log_prob


def partitions(n: int) -> NDArray[np.int64]:
    """All partitions of n items as restricted growth strings, shape (Bell(n), n)."""
    rows = [[0]]
    for _ in range(n - 1):
        rows = [row + [k] for row in rows for k in range(max(row) + 2)]
    return np.array(rows, dtype=np.int64)


def log_crp_marginal(sizes: NDArray[np.integer], concentration: Concentration) -> float:
    """log p(partition) with the concentration integrated out over its Gamma prior, by quadrature on log alpha."""
    if concentration.fixed is not None:
        return crp_log_prob(sizes, concentration.fixed)
    log_alpha = np.linspace(-18, 8, 2001)
    alpha = np.exp(log_alpha)
    a, b, n = concentration.shape, concentration.rate, sizes.sum()
    log_prior = a * np.log(b) - gammaln(a) + a * log_alpha - b * alpha
    log_weight = len(sizes) * log_alpha + gammaln(alpha) - gammaln(alpha + n) + log_prior
    return float(gammaln(sizes).sum() + logsumexp(log_weight) + np.log(log_alpha[1] - log_alpha[0]))


def log_posterior(
    family: BoundFamily,
    views: Sequence[View],
    concentration: Concentration,
    hyper: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Every partition and its unnormalised log posterior; concentration and noise integrated out."""
    hyper = family.initial_hyper() if hyper is None else hyper
    states = partitions(len(family.X))
    values = np.empty(len(states))
    for row, z in enumerate(states):
        sizes = np.bincount(z)
        values[row] = log_crp_marginal(sizes, concentration)
        values[row] += sum(family.log_marginal(family.X[z == k], hyper) for k in range(len(sizes)))
        values[row] += sum(view.noise.log_marginal(view.counts(z)) for view in views)
    return states, values


@dataclass(frozen=True)
class Comparison:
    """Total variation between a chain and the truth, and the one to expect from a right chain of that length."""

    total_variation: float
    expected: float
    worst_z: float

    @property
    def ratio(self) -> float:
        """Near 1 for a right sampler."""
        return self.total_variation / self.expected


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


def compare(draws: NDArray[np.integer], states: NDArray[np.int64], log_values: NDArray[np.float64]) -> Comparison:
    """Compare draws (S, n) of one chain with the exact posterior; errors by batch means.

    The expected total variation of a right chain is 1/2 sum_z sqrt(2/pi) se_z, with se_z the standard error of the
    frequency of partition z: that of independent draws, inflated by the chain's autocorrelation time.
    """
    exact = np.exp(log_values - logsumexp(log_values))
    position = {code: row for row, code in enumerate(codes(states))}
    index = np.array([position[code] for code in codes(draws)])
    total = len(index)
    frequency = np.bincount(index, minlength=len(states)) / total
    batches = int(np.sqrt(total))
    length = total // batches
    means = np.stack(
        [np.bincount(index[b * length : (b + 1) * length], minlength=len(states)) / length for b in range(batches)]
    )
    independent = exact * (1 - exact) / total
    common = exact > 5 / total
    times = np.ones(len(states))
    times[common] = np.maximum(means[:, common].var(axis=0, ddof=1) / batches / independent[common], 1.0)
    error = np.sqrt(independent * times)
    z_scores = np.abs(frequency - exact)[common] / error[common]
    return Comparison(
        float(0.5 * np.abs(frequency - exact).sum()), float(0.5 * np.sqrt(2 / np.pi) * error.sum()), float(z_scores.max())
    )
