"""The hidden Markov random field behind MPCK-Means, as a NumPyro program, and its exact log joint.

    p(z, m, A | x, answers) ~ exp(-J(z, m, A) / T) K^(-n) prod_k N(m_k; mean, s^2 C),

J being the objective of MPCK-Means (Bilenko et al. 2004, Eq. 6) with its prior worth n_0 items,

    J = sum_i (|x_i - m_{z_i}|_A^2 - log det A_{z_i}) + sum_same w f_M [z_i != z_j] + sum_different
    w f_C [z_i = z_j]
        + n_0 sum_h (tr(A_h C) - log det A_h),

C the covariance of all items, or its diagonal. At T = 2 the first sum is minus the log density of
Gaussians with covariances A^(-1). The prior of the centres is no part of J and is not tempered: it
makes the centre of a cluster without items proper, and counts for nothing as T goes to 0, where
only J remains.

| on paper (Bilenko et al.) | in code |
|---|---|
| l_i, the cluster of an item | site "z" in the plate "item", uniform |
| mu_h | site "center" |
| A_h, one for each cluster or one for all | site "metric", a free positive vector or positive definite matrix |
| exp(-J_mpckm), at temperature T | factor "energy" |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from bayesclust.checks import check_choice, check_int, check_items, check_positive, check_views
from bayesclust.constraints._checks import number_between
from bayesclust.constraints.base import View
from bayesclust.models._numpyro import numpyro_modules
from bayesclust.models.answers import refuse_enumerated
from bayesclust.typing import ArrayLike, FloatArray, IntArray


@dataclass(frozen=True)
class Field:
    """What the energy is made of.

    Parameters
    ----------
    metric : {"diagonal", "full"} or None, default "diagonal"
        None has no metric: Euclidean distance in the units of X, and costs that do not depend on it
        (Eq. 1).
    per_cluster : bool, default False
    temperature : float, default 2.0
        T. At 2, clusters are Gaussians with covariance A^(-1).
    same, different : float, default 1.0
        w, what breaking an answer "same" or "different" costs in J.
    prior_items : float, default 1.0
        n_0.
    center_scale : float, default 3.0
        s, in standard deviations of the items.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> Field(metric="full", temperature=0.5).temperature
    0.5
    """

    metric: str | None = "diagonal"
    per_cluster: bool = False
    temperature: float = 2.0
    same: float = 1.0
    different: float = 1.0
    prior_items: float = 1.0
    center_scale: float = 3.0

    def __post_init__(self) -> None:
        if self.metric is not None:
            check_choice(self.metric, "metric", ("diagonal", "full"))
        for name in ("temperature", "prior_items", "center_scale"):
            check_positive(getattr(self, name), name)
        for name in ("same", "different"):
            number_between(getattr(self, name), name, "[0, inf)")


def covariance(X: FloatArray, field: Field) -> FloatArray:
    """Return C (d, d): the covariance of all items, its diagonal unless the metric is full.

    Parameters
    ----------
    X : (n, d) array
    field : Field

    Returns
    -------
    (d, d) array
    """
    full = np.cov(X, rowvar=False, bias=True).reshape(X.shape[1], -1)
    return full if field.metric == "full" else np.diag(np.diag(full))


def links_of(views: Sequence[View], field: Field) -> tuple[IntArray, Any, FloatArray]:
    """Return pairs (m, 2), which were answered "same" (m,), and what breaking them costs (m,).

    Parameters
    ----------
    views : sequence of PairwiseConstraints
    field : Field

    Returns
    -------
    pairs, may, weight : arrays
    """
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *(view.items for view in views)])
    may = np.concatenate([np.empty(0, dtype=bool), *(view.answers == 1 for view in views)])
    return pairs, may, np.where(may, field.same, field.different)


def energy(
    xp: Any, z: Any, center: Any, metric: Any, X: FloatArray, views: Sequence[View], field: Field
) -> Any:
    """Return J, in NumPy or JAX, every pair of items looked at for the farthest: for some hundreds of items.

    Parameters
    ----------
    xp : module
        numpy or jax.numpy.
    z : (n,) array of int
    center : (K, d) array
    metric : (H, d) or (H, d, d) array, or None
        H is 1, or K under metrics per cluster.
    X : (n, d) array
    views : sequence of PairwiseConstraints
    field : Field

    Returns
    -------
    float, or array of shape ()
    """
    pairs, may, weight = links_of(views, field)
    broken = (z[pairs[:, 0]] == z[pairs[:, 1]]) != may
    if metric is None:
        return ((X - center[z]) ** 2).sum() + (weight * broken).sum()
    own = z if field.per_cluster else xp.zeros_like(z)
    log_det = _log_det(xp, metric)
    data = (_lengths(xp, X - center[z], metric)[np.arange(len(X)), own] - log_det[own]).sum()
    rows = np.array(list(combinations(range(len(X)), 2)))
    diameter = _lengths(xp, X[rows[:, 0]] - X[rows[:, 1]], metric).max(axis=0)
    gaps = _lengths(xp, X[pairs[:, 0]] - X[pairs[:, 1]], metric)
    number = np.arange(len(pairs))
    first, second = own[pairs[:, 0]], own[pairs[:, 1]]
    apart = (gaps[number, first] + gaps[number, second]) / 2.0
    together = diameter[first] - gaps[number, first]
    links = (weight * broken * xp.where(may, apart, together)).sum()
    C = covariance(X, field)
    trace = (metric * np.diag(C)).sum() if metric.ndim == 2 else (metric * C).sum()
    return data + links + field.prior_items * (trace - log_det.sum())


def _lengths(xp: Any, rows: Any, metric: Any) -> Any:
    """Squared lengths of rows (m, d) under each metric, (m, H)."""
    if metric.ndim == 2:
        return rows**2 @ metric.T
    return xp.einsum("md,hde,me->mh", rows, metric, rows)


def _log_det(xp: Any, metric: Any) -> Any:
    return xp.log(metric).sum(axis=1) if metric.ndim == 2 else xp.linalg.slogdet(metric)[1]


def hmrf(
    X: ArrayLike,
    n_clusters: int,
    views: View | Sequence[View] | None = None,
    field: Field | None = None,
) -> None:
    """MPCK-Means' random field, a NumPyro program: log_density and render_model work on it.

    Parameters
    ----------
    X : array of shape (n, d)
        The items, which are given. No column may be constant.
    n_clusters : int
        K.
    views : PairwiseConstraints, sequence of them or None
    field : Field or None
        None is ``Field()``.

    Raises
    ------
    ValueError
        If the labels z arrive enumerated: NumPyro sums out discrete sites one by one, which is
        silently wrong for labels that answers tie together. Also for bad input, as in
        `bayesclust.MPCKMeans`.

    Examples
    --------
    >>> import numpy as np
    >>> from numpyro.infer.util import log_density
    >>> sites = {"z": np.array([0, 1]), "center": np.array([[0.0], [2.0]]), "metric": np.array([[1.0]])}
    >>> value, _ = log_density(hmrf, ([[0.0], [2.0]], 2), {}, sites)
    >>> float(value)  # -1 / 2 of the prior of A, 2 log(1 / 2), and two centres one deviation from the mean, of 3
    -6.032
    """
    jnp, numpyro, dist = numpyro_modules()
    field = Field() if field is None else field
    items, number = check_field_data(X, field), check_int(n_clusters, "n_clusters")
    answered = check_views(views, len(items), kinds=("pairwise",))
    d, H = items.shape[1], number if field.per_cluster else 1
    spread = field.center_scale**2 * covariance(items, field)
    prior = dist.MultivariateNormal(items.mean(axis=0), spread).expand([number]).to_event(1)
    center = numpyro.sample("center", prior)
    metric = None
    if field.metric == "diagonal":
        metric = numpyro.sample(
            "metric", dist.ImproperUniform(dist.constraints.positive, (), (H, d))
        )
    elif field.metric == "full":
        metric = numpyro.sample(
            "metric", dist.ImproperUniform(dist.constraints.positive_definite, (), (H, d, d))
        )
    with numpyro.plate("item", len(items)):
        z = numpyro.sample("z", dist.Categorical(logits=jnp.zeros(number)))
        refuse_enumerated(z, len(items))
    numpyro.factor(
        "energy", -energy(jnp, z, center, metric, items, answered, field) / field.temperature
    )


def check_field_data(X: ArrayLike, field: Field) -> FloatArray:
    """Return items that spread in every column, and under a full metric in every direction.

    Parameters
    ----------
    X : array-like of shape (n, d)
    field : Field

    Returns
    -------
    (n, d) array

    Raises
    ------
    TypeError, ValueError
        If the data are no numbers, or do not spread.
    """
    items = check_items(X)
    if field.metric == "full":
        full = np.linalg.matrix_rank(items - items.mean(axis=0)) == items.shape[1]
        if not full:
            raise ValueError(
                "X does not spread in all directions: drop columns that others give, or choose another metric."
            )
    elif (np.ptp(items, axis=0) == 0).any():
        column = int(np.argmin(np.ptp(items, axis=0)))
        raise ValueError(f"X has the same value in all of column {column}: drop the column.")
    return items


def hmrf_log_joint(
    z: ArrayLike,
    center: ArrayLike,
    metric: ArrayLike | None,
    X: ArrayLike,
    views: Sequence[View] = (),
    field: Field | None = None,
) -> float:
    """Return -J / T - n log K + log p(centres), the twin of the program `hmrf`.

    Parameters
    ----------
    z : array of int, shape (n,)
        Labels in 0..K-1.
    center : array of shape (K, d)
    metric : array of shape (H, d) or (H, d, d), or None
    X : array of shape (n, d)
    views : sequence of PairwiseConstraints
    field : Field or None

    Returns
    -------
    float

    Examples
    --------
    >>> hmrf_log_joint([0, 1], [[0.0], [2.0]], [[1.0]], [[0.0], [2.0]])
    -6.032
    """
    field = Field() if field is None else field
    items, labels, middles = (
        check_field_data(X, field),
        np.asarray(z),
        np.asarray(center, dtype=np.float64),
    )
    A = None if metric is None else np.asarray(metric, dtype=np.float64)
    value = -energy(np, labels, middles, A, items, views, field) / field.temperature
    spread = field.center_scale**2 * covariance(items, field)
    moved = middles - items.mean(axis=0)
    squares = float((moved * np.linalg.solve(spread, moved.T).T).sum())
    volume = len(middles) * np.linalg.slogdet(2.0 * np.pi * spread)[1]
    return float(value - len(items) * np.log(len(middles)) - 0.5 * (squares + volume))


__all__ = [
    "Field",
    "check_field_data",
    "covariance",
    "energy",
    "hmrf",
    "hmrf_log_joint",
    "links_of",
]
