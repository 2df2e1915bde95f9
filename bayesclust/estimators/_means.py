"""What RDP-means and DP-means share as estimators."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesclust.checks import (
    check_choice,
    check_int,
    check_n_clusters,
    check_positive,
    check_random_state,
)
from bayesclust.constraints._checks import plain_array, true_labels
from bayesclust.constraints.base import Constraints
from bayesclust.estimators._joint import check_partition
from bayesclust.estimators.base import ConstrainedClusterer, with_names
from bayesclust.families import Divergence, Family, as_divergence
from bayesclust.inference.limits.answers import Graph, Xi
from bayesclust.inference.limits.penalty import penalties
from bayesclust.inference.limits.rdp_means import Problem, Schedule, Solution, means, objective
from bayesclust.inference.limits.search import PLAIN, Steps, search
from bayesclust.posterior.partition import point_estimate
from bayesclust.typing import ArrayLike, FloatArray, IntArray

NO_LINKS = Schedule((0.0, 0.0))
ORDERS = ("given", "random")


class Task(NamedTuple):
    """What was passed to `fit`."""

    points: FloatArray
    divergence: Divergence
    constraints: list[Constraints]
    start: IntArray | None


class MeansClusterer(ConstrainedClusterer):
    """What RDP-means and DP-means share: the penalty, the search and what is learned."""

    penalty: float | None
    n_clusters: int | None
    divergence: str | Divergence | Family
    init: Any
    order: str
    n_init: int
    max_iter: int
    random_state: int | Generator | None
    _problem: Problem
    _xi: Xi
    _owner: IntArray | None = None
    """The cluster of each centre, where clusters may have several."""

    def _check_settings(self) -> tuple[Divergence, Generator]:
        """The divergence, not yet bound to data, and the generator."""
        divergence = as_divergence(self.divergence)
        check_choice(self.order, "order", ORDERS)
        check_int(self.n_init, "n_init")
        check_int(self.max_iter, "max_iter")
        return divergence, check_random_state(self.random_state)

    def _read(self, X: ArrayLike, constraints: Any, divergence: Divergence) -> Task:
        """Data, answers and start checked, the divergence bound to the data."""
        bound = divergence

        def read(data: Any) -> FloatArray:
            nonlocal bound
            bound = divergence.bind(data)
            return bound.points(data)

        points, views = self._enter(X, constraints, read)
        return Task(points, bound, views, start_labels(self.init, len(points)))

    def _penalty(
        self,
        points: FloatArray,
        divergence: Divergence,
        name: str = "penalty",
        what: str = "cluster",
    ) -> float | None:
        given = getattr(self, name)
        if given is not None and self.n_clusters is not None:
            raise ValueError(
                f"{name} and n_clusters both set what a {what} costs: leave one of them out."
            )
        if given is not None:
            return check_positive(given, name)
        if self.n_clusters is None:
            return None
        return float(
            penalties(points, divergence, check_n_clusters(self.n_clusters, len(points)))[-1]
        )

    def _solve(
        self,
        task: Task,
        graph: Graph,
        penalty: float,
        schedule: Schedule,
        rng: Generator,
        steps: Steps = PLAIN,
    ) -> Solution:
        points, divergence, _, start = task
        problem, shuffle = Problem.of(points, divergence, graph, penalty), self.order == "random"
        solution = search(
            problem,
            schedule,
            self.n_init,
            self.max_iter,
            rng,
            start=start,
            shuffle=shuffle,
            steps=steps,
        )
        if not solution.converged:
            warnings.warn(
                f"items still move after max_iter={self.max_iter} passes: allow more passes.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.labels_: IntArray = solution.clusters
        self.cluster_centers_: FloatArray = divergence.shown(means(points, solution.clusters)[1])
        self.n_clusters_ = len(self.cluster_centers_)
        self.objective_ = solution.objective
        self.objective_path_: FloatArray = solution.path
        self.penalty_ = penalty
        self.n_iter_ = len(solution.path)
        self._divergence, self._centers, self._owner = divergence, solution.centers, solution.owner
        self._problem, self._xi = problem, solution.xi
        return solution

    def objective(self, labels: ArrayLike) -> float:
        """Return J of any partition of the items, at `penalty_` and `xi_` and with the best centres, the clusters' means.

        Parameters
        ----------
        labels : array-like of int, shape (n,)
            One label for each item that was clustered.

        Returns
        -------
        float
            `objective_` for `labels_`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` was not called.
        ValueError, TypeError
            If it is not one whole number per item.

        Examples
        --------
        >>> import bayesclust as bc
        >>> est = bc.DPMeans(penalty=30.0).fit([[0.0], [2.0], [10.0], [12.0]])
        >>> est.objective([0, 0, 1, 1]), est.objective([0, 0, 0, 0])
        (64.0, 134.0)
        """
        check_is_fitted(self)
        numbers, centers = means(
            self._problem.points, check_partition(labels, len(self._problem.points))
        )
        return objective(self._problem, numbers, centers, self._xi)

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the cluster of the nearest centre to each item, answers left aside.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of int, shape (m,)
            Of the training data too, labels may differ from `labels_` where answers outweighed the
            data.
        """
        check_is_fitted(self)
        points = self._divergence.points(X, least=1)
        validate_data(self, with_names(X), skip_check_array=True, reset=False)
        labels: IntArray = self._divergence.between(points, self._centers).argmin(axis=1)
        return labels if self._owner is None else self._owner[labels]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with suppress(TypeError, ValueError):  # what is no divergence is refused by fit
            divergence = as_divergence(self.divergence)
            tags.input_tags.positive_only = divergence.counts
            tags.input_tags.allow_nan = divergence.takes_missing
        return tags


def start_labels(init: Any, n_items: int) -> IntArray | None:
    """The partition to start from: labels, those of a fitted estimator, or the point estimate of a posterior."""
    if init is None:
        return None
    if isinstance(init, BaseEstimator):
        check_is_fitted(init)
        labels = np.asarray(init.labels_)
    else:
        labels = (
            point_estimate(init)
            if hasattr(init, "children")
            else plain_array(init, "init", "pass one label per item")
        )
    if labels.shape != (n_items,):
        raise ValueError(
            f"init has shape {labels.shape}, but X has {n_items} items: "
            "pass one label per item, an estimator fitted to these items, or its posterior_."
        )
    return true_labels(labels, least=1, what="init")
