"""Gibbs sampling of MPCK-Means' random field at a temperature, and the way down to temperature zero.

Given all else,

- z_i is categorical, with weights exp(-cost / T): proper.
- m_h is Gaussian with precision 2 n_h A_h / T + 1 / (s^2 C): proper, by its own prior also where no
  item is in the cluster.
- A_h, while no cannot-link is broken in h, is Wishart (its weights are gamma) by the prior worth
  n_0 items: proper. Broken must-links only add to its scatter. Broken cannot-links multiply that by
  exp(-sum w f_C / T), in which the farthest pair changes with A: no family that one can draw from,
  but at most 1, so proper too, and log-concave. Its mode is the exact step of MPCK-Means, whose
  support B gives the bound f(A) >= <A, B> - n log det A: a Wishart or gamma density above it, equal
  at the mode. So A is drawn by rejection, exactly; after `TRIES` refusals it stays, which leaves
  the posterior in place as well, since that happens with a probability that does not depend on
  where A was.

A sweep draws metrics, centres, and the items one by one in random order. As T falls all three turn
into the steps of MPCK-Means: what remains is the metric, the mean and the cluster of least cost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import kernel
from bayesclust.constraints.base import View
from bayesclust.inference.limits.mpck.descend import Settings, Solution, descend
from bayesclust.inference.limits.mpck.energy import (
    Metrics,
    Problem,
    distances,
    first_metrics,
    link_costs,
    means,
    objective,
    pulls,
)
from bayesclust.inference.limits.mpck.links import WeightedLinks
from bayesclust.inference.limits.mpck.metric import FarPairs, Pull, exact_step, value
from bayesclust.inference.limits.mpck.passes import add_link_costs
from bayesclust.models.hmrf import Field, links_of
from bayesclust.typing import FloatArray, IntArray

TRIES = 100


class FieldProblem(NamedTuple):
    """Items, answers and the energy."""

    problem: Problem
    field: Field
    views: tuple[View, ...]

    @classmethod
    def of(
        cls, X: FloatArray, views: tuple[View, ...], n_clusters: int, field: Field
    ) -> FieldProblem:
        """Pose the problem; no column of X may be constant.

        Parameters
        ----------
        X : (n, d) array
        views : tuple of PairwiseConstraints
        n_clusters : int
        field : Field

        Returns
        -------
        FieldProblem
        """
        links = WeightedLinks.of(*links_of(views, field), len(X))
        prior = field.prior_items
        return cls(
            Problem.of(X, links, n_clusters, field.metric, field.per_cluster, prior), field, views
        )

    @property
    def center_precision(self) -> FloatArray:
        """Precision of the prior of a centre on the coordinates, (r, r)."""
        scale = self.field.center_scale
        if self.problem.learned:
            return np.eye(self.problem.points.shape[1]) / scale**2
        return np.diag(1.0 / (scale**2 * self.problem.X.var(axis=0)))


@kernel
def draw_labels(
    order: Any, distance: Any, links: Any, cost: Any, z: Any, temperature: float, uniform: Any
) -> int:
    """Draw the cluster of each item given all others, in the order given; returns how many moved."""
    n_clusters, moved = distance.shape[1], 0
    total = np.empty(n_clusters)
    for at in range(len(order)):
        i = order[at]
        for k in range(n_clusters):
            total[k] = distance[i, k]
        add_link_costs(links, cost, z, i, total)
        least = total.min()
        whole = 0.0
        for k in range(n_clusters):
            total[k] = np.exp(-(total[k] - least) / temperature)
            whole += total[k]
        choice, left = 0, uniform[at] * whole - total[0]
        while left > 0.0 and choice < n_clusters - 1:
            choice += 1
            left -= total[choice]
        moved += choice != z[i]
        z[i] = choice
    return moved


def draw_metric(
    problem: Problem, pull: Pull, temperature: float, rng: Generator
) -> FloatArray | None:
    """Draw a metric from its full conditional by rejection; None after `TRIES` refusals.

    Parameters
    ----------
    problem : Problem
    pull : Pull
        What labels and centres ask of the metric.
    temperature : float
    rng : Generator

    Returns
    -------
    (r,) or (r, r) array, or None
    """
    form, far = problem.form, FarPairs(problem.points)
    support = exact_step(form, pull, far).support if len(pull.gaps) else pull.scatter
    assert support is not None
    for _ in range(TRIES):
        A = _gamma_or_wishart(support, pull.n / temperature, temperature, rng)
        if not len(pull.gaps):
            return A
        bound = float((A * support).sum()) - pull.n * form.log_det(A)
        if np.log(rng.random()) * temperature <= bound - value(
            form, pull, A, far.search(form, A)[0]
        ):
            return A
    return None


def _gamma_or_wishart(
    B: FloatArray, power: float, temperature: float, rng: Generator
) -> FloatArray:
    """Draw from the density proportional to det(A)^power exp(-<A, B> / T)."""
    r = len(B)
    if B.ndim == 1:
        return rng.gamma(power + 1.0, temperature / B)
    freedom = 2.0 * power + r + 1.0
    # Bartlett's decomposition
    lower = np.tril(rng.normal(size=(r, r)), -1) + np.diag(
        np.sqrt(rng.chisquare(freedom - np.arange(r)))
    )
    half = np.linalg.solve(np.linalg.cholesky(2.0 * B / temperature).T, lower)
    return np.asarray(half @ half.T)


class HMRFChain:
    """One chain. `sweep` moves it on, `draw` tells where it is.

    Parameters
    ----------
    posed : FieldProblem
    z : (n,) array of int
        Labels 0..K-1 to start from.
    rng : Generator
    """

    def __init__(self, posed: FieldProblem, z: IntArray, rng: Generator) -> None:
        self.posed, self.rng = posed, rng
        self.temperature = posed.field.temperature
        self.z = z.astype(np.int64)
        problem = posed.problem
        self.centers = means(
            problem, self.z, np.zeros((problem.n_clusters, problem.points.shape[1]))
        )
        self.metrics = first_metrics(problem, FarPairs(problem.points))
        self.moved, self.kept = 0, 0

    def sweep(self, *, adapt: bool = False, trust: bool = False) -> None:
        """Draw metrics, centres and labels, each given the rest.

        Parameters
        ----------
        adapt, trust : bool, default False
            Nothing is adapted: for the common way of calling.
        """
        self._draw_metrics()
        self._draw_centers()
        problem = self.posed.problem
        distance, cost = (
            distances(problem, self.centers, self.metrics),
            link_costs(problem, self.metrics),
        )
        order, uniform = self.rng.permutation(len(self.z)), self.rng.random(len(self.z))
        self.moved = int(
            draw_labels(order, distance, problem.links, cost, self.z, self.temperature, uniform)
        )

    def _draw_metrics(self) -> None:
        problem, self.kept = self.posed.problem, 0
        if not problem.learned:
            return
        A, diameter, pair = (values.copy() for values in self.metrics)
        for h, pull in enumerate(pulls(problem, self.z, self.centers)):
            drawn = draw_metric(problem, pull, self.temperature, self.rng)
            if drawn is None:
                self.kept += 1
                continue
            A[h] = drawn
            diameter[h], pair[h] = FarPairs(problem.points).search(problem.form, drawn)
        self.metrics = Metrics(A, diameter, pair)

    def _draw_centers(self) -> None:
        problem, prior = self.posed.problem, self.posed.center_precision
        sizes = np.bincount(self.z, minlength=problem.n_clusters)
        middles = means(problem, self.z, np.zeros_like(self.centers))
        for h in range(problem.n_clusters):
            A = self.metrics.A[h if problem.per_cluster else 0]
            likely = 2.0 * sizes[h] / self.temperature * (np.diag(A) if A.ndim == 1 else A)
            lower = np.linalg.cholesky(likely + prior)
            mean = np.linalg.solve(lower @ lower.T, likely @ middles[h])
            self.centers[h] = mean + np.linalg.solve(lower.T, self.rng.normal(size=len(mean)))

    def energy(self) -> float:
        """Return J, in the units of X."""
        problem, metrics = self.posed.problem, self.metrics
        distance, cost = distances(problem, self.centers, metrics), link_costs(problem, metrics)
        return objective(problem, self.z, distance, cost, metrics) + problem.shift

    def log_joint(self) -> float:
        """Return the log joint, that of `bayesclust.models.hmrf.hmrf_log_joint`."""
        problem, prior = self.posed.problem, self.posed.center_precision
        K, r = self.centers.shape
        squares = float((self.centers @ prior * self.centers).sum())
        scale = np.square(problem.T).sum(axis=0)
        volume = K * (
            np.linalg.slogdet(prior)[1] + float(np.log(scale).sum()) - r * np.log(2.0 * np.pi)
        )
        return (
            -self.energy() / self.temperature
            - 0.5 * squares
            + 0.5 * float(volume)
            - len(self.z) * float(np.log(K))
        )

    def in_units(self) -> tuple[FloatArray, FloatArray | None]:
        """Return centres (K, d) and metrics (H, d) or (H, d, d), None without, in the units of X."""
        problem = self.posed.problem
        centers = self.centers @ np.linalg.pinv(problem.T) + problem.X.mean(axis=0)
        if not problem.learned:
            return centers, None
        return centers, np.stack([problem.form.in_units(A, problem.T) for A in self.metrics.A])

    def draw(self) -> tuple[dict[str, Any], dict[str, float]]:
        """Return posterior variables, clusters in the order in which items show them, and sample statistics."""
        shown, first = np.unique(self.z, return_index=True)
        order = [*shown[np.argsort(first)].tolist()]
        order += [k for k in range(len(self.centers)) if k not in order]
        place = np.argsort(order)
        centers, metrics = self.in_units()
        found: dict[str, Any] = {"z": place[self.z], "center": centers[order]}
        if metrics is not None:
            found["metric"] = metrics[order] if self.posed.problem.per_cluster else metrics[0]
        statistics = {
            "log_joint": self.log_joint(),
            "energy": self.energy(),
            "moved": self.moved,
            "kept": self.kept,
        }
        return found, statistics

    def snapshot(self) -> dict[str, Any]:
        """Return where the chain is, to the last bit."""
        generator = self.rng.bit_generator.state
        metrics = {name: values.copy() for name, values in self.metrics._asdict().items()}
        return {
            "z": self.z.copy(),
            "centers": self.centers.copy(),
            "metrics": metrics,
            "generator": generator,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a snapshot of a chain of the same problem.

        Parameters
        ----------
        snapshot : dict
        """
        self.z, self.centers, self.metrics = (
            snapshot["z"],
            snapshot["centers"],
            Metrics(**snapshot["metrics"]),
        )
        self.rng.bit_generator.state = snapshot["generator"]


def anneal(
    posed: FieldProblem, z: IntArray, rng: Generator, *, coldest: float = 1e-4, sweeps: int = 200
) -> tuple[Solution, FloatArray]:
    """Sweep at temperatures that fall from that of the field, then go down at zero: simulated annealing of MPCK-Means.

    Parameters
    ----------
    posed : FieldProblem
    z : (n,) array of int
        Labels to start from.
    rng : Generator
    coldest : float, default 1e-4
        Last temperature; steps between are equal in log.
    sweeps : int, default 200

    Returns
    -------
    Solution
        The fixed point of MPCK-Means that is reached.
    path : (sweeps,) array of float
        The energy J after each sweep.
    """
    chain, path = HMRFChain(posed, z, rng), []
    for temperature in np.geomspace(posed.field.temperature, coldest, sweeps):
        chain.temperature = float(temperature)
        chain.sweep()
        path.append(chain.energy())
    return descend(posed.problem, chain.z, Settings(), rng), np.array(path)


__all__ = ["FieldProblem", "HMRFChain", "anneal", "draw_metric"]
