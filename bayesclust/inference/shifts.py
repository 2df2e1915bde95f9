"""Shifts of batches: the measurements of each are displaced as a whole.

    x_i = delta_b(i) + a draw from the item's cluster,    delta_b ~ N(0, tau^2 I)

in units of each column, delta being 0 for one batch, the reference: otherwise all shifts and all
means could move together. A sweep knows delta, and works on x_i - delta_b(i). Between sweeps, the
parameters of clusters are drawn given the labels; then, with P_k the precisions, mu_k the means and
w the power of an item, the shift of each batch is Gaussian given all else,

    precision Q = I / tau^2 + w sum_k n_bk P_k,   mean Q^-1 w sum_k P_k sum_(i in b, k) (x_i - mu_k)

and 1 / tau^2 has its Gamma posterior given the shifts. The parameters are then forgotten.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.families.base import BoundFamily, Terms
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.families.gaussian_columns import BoundDiagonalGaussian
from bayesclust.inference.chain import Move
from bayesclust.partition_priors.hierarchical import SHIFT_PRECISION
from bayesclust.typing import FloatArray, IntArray

MATCHED_ROWS, ALIGNMENTS, MATCHINGS = 60, 30, 5
FAR = 0.5
"""Squared distance of two rows, per column, beyond which they are not matched."""


def check_shifts(family: BoundFamily) -> None:
    """Refuse families whose clusters are not Gaussian."""
    if not isinstance(family, (BoundFullGaussian, BoundDiagonalGaussian)):
        raise ValueError(
            f"shifts=True of the partition prior needs Gaussian clusters, but the family is "
            f"{type(family).__name__}: choose family 'gaussian', 'gaussian_diagonal' or "
            "'gaussian_spherical', or leave shifts out."
        )


def aligned(own: FloatArray, fixed: FloatArray) -> FloatArray:
    """The shift (d,) that brings most rows near the others' rows, and back: where chains start."""
    # By iterated closest points (Besl and McKay 1992), those far from all others left out, from
    # several differences of two rows. How many rows a cluster has hardly matters, unlike in means.
    rng, d = np.random.default_rng(0), own.shape[1]
    rows, others = (np.nan_to_num(X[rng.permutation(len(X))[:MATCHED_ROWS]]) for X in (own, fixed))
    gaps = rows[:, None] - others
    drawn = gaps.reshape(-1, d)[rng.integers(gaps[..., 0].size, size=ALIGNMENTS)]
    best, lowest = np.zeros(d), math.inf
    for shift in [best, rows.mean(axis=0) - others.mean(axis=0), *drawn]:
        for _ in range(MATCHINGS):
            squares = np.square(gaps - shift).sum(axis=2)
            to, back = squares.argmin(axis=1), squares.argmin(axis=0)
            pairs = np.concatenate(
                [gaps[np.arange(len(rows)), to], gaps[back, np.arange(len(others))]]
            )
            far = np.minimum(np.concatenate([squares.min(axis=1), squares.min(axis=0)]), FAR * d)
            distance = far[: len(rows)].mean() + far[len(rows) :].mean()
            if distance < lowest:
                best, lowest = shift, distance
            if (far < FAR * d).any():
                shift = pairs[far < FAR * d].mean(axis=0)
    return best


def with_items(clusters: Any, family: BoundFamily) -> Any:
    """A cluster state of the same family with the rows of this one; the caller derives it."""
    fields = {"X": family.X}
    if "items" in clusters._fields:
        fields["items"] = family.power * family.own_rows[0]
    return clusters._replace(**fields)


def gaussian_parameters(family: Any, terms: Terms) -> tuple[FloatArray, FloatArray]:
    """Means (K, d), and precisions (K, d, d) or, of independent columns, (K, d)."""
    if isinstance(family, BoundFullGaussian):
        root, centre, _ = terms
        mean = np.linalg.solve(root, centre[:, :, None])[:, :, 0]
        return mean, np.swapaxes(root, 1, 2) @ root
    d = family.X.shape[1]
    slope, precision = terms[0][:, :d], -2.0 * terms[0][:, d : d + len(family.floor)]
    return slope / precision, precision + np.zeros(d)


def draw_shift(
    rows: FloatArray,
    labels: IntArray,
    mean: FloatArray,
    precision: FloatArray,
    prior: float,
    power: float,
    rng: Generator,
) -> FloatArray:
    """Draw the shift (d,) of the batch with these rows, given clusters; `prior` is 1 / tau^2."""
    gap = rows - mean[labels]
    seen = ~np.isnan(gap)
    member = power * (labels == np.arange(len(mean))[:, None])
    sums, noise = member @ np.where(seen, gap, 0.0), rng.standard_normal(rows.shape[1])
    if precision.ndim == 2:
        total = prior + ((member @ seen) * precision).sum(axis=0)
        return np.asarray((sums * precision).sum(axis=0) / total + noise / np.sqrt(total))
    total = prior * np.eye(rows.shape[1]) + np.tensordot(member.sum(axis=1), precision, 1)
    lower = np.linalg.cholesky(total)
    linear = np.einsum("kab,kb->a", precision, sums)
    return np.asarray(np.linalg.solve(lower.T, np.linalg.solve(lower, linear) + noise))


def log_prior(shifts: FloatArray, precision: float) -> float:
    """Log density of shifts (m, d) in units of the columns."""
    level = 0.5 * shifts.size * math.log(precision / (2.0 * math.pi))
    return float(level - 0.5 * precision * np.square(shifts).sum())


class Shifts(Move):
    """A draw of the shifts of all batches but the reference, and of their spread."""

    def __call__(self, state: Any, *, adapt: bool, freeze_noise: bool) -> None:
        problem, rng, family = state.problem, state.rng, state.family
        terms = family.terms(state.statistics(), state.hyper, rng)
        mean, precision = gaussian_parameters(family, terms)
        labels = state.assignment.place[state.labels]
        shift = np.zeros_like(state.shift)
        for j in problem.shifted:
            own = problem.batch == j
            given = mean, precision, state.values[SHIFT_PRECISION], family.power, rng
            shift[j] = draw_shift(problem.family.X[own], labels[own], *given)
        state.set_shift(shift)
        drawn = shift[problem.shifted]
        state.values = problem.partition_prior.update_shift_precision(drawn, state.values, rng)
