"""What the estimators of the MPCK-Means family share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesclust.checks import (
    check_choice,
    check_int,
    check_items,
    check_n_clusters,
    check_random_state,
)
from bayesclust.constraints.base import Constraints
from bayesclust.estimators._costs import check_cost, costs_of_answers
from bayesclust.estimators._credible import confidence_by_source
from bayesclust.estimators._means import start_labels
from bayesclust.estimators.base import ConstrainedClusterer, with_names
from bayesclust.inference.limits.mpck.descend import Settings, Solution, search, starts
from bayesclust.inference.limits.mpck.energy import Metrics, Problem, distances, first_metrics
from bayesclust.inference.limits.mpck.links import WeightedLinks, closure, contradictions
from bayesclust.inference.limits.mpck.metric import FarPairs
from bayesclust.inference.limits.mpck.scale import average_penalties
from bayesclust.inference.limits.rdp_means import means
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import group, stacked_partitions, stored_views
from bayesclust.typing import ArrayLike, FloatArray, IntArray

METRICS = ("diagonal", "full")
INITS = ("neighbourhoods", "paper", "k-means++")


class LinkedMeans(ConstrainedClusterer):
    """K clusters around means, with answers about pairs that may be broken at a cost, and metrics."""

    n_clusters: int
    init: Any
    n_init: int
    max_iter: int
    random_state: int | Generator | None
    _middle: FloatArray
    _centers: FloatArray

    def _enter_links(
        self, X: ArrayLike, constraints: Any, cost: Any, close: bool | None, strict: bool
    ) -> tuple[FloatArray, WeightedLinks]:
        """Check data and answers, and return them, the answers as links first to last; sets what is learned of them."""
        cost = check_cost(cost)
        for name, value in (("closure", close), ("strict", strict)):
            if not isinstance(value, (bool, np.bool_)) and (name == "strict" or value is not None):
                raise TypeError(f"{name} must be True or False; got {value!r}.")
        points, views = self._enter(X, constraints, check_items, kinds=("pairwise",))
        pairs, may = joined(views)
        n = len(points)
        torn = contradictions(pairs, may, n)
        if strict and torn.any():
            i, j = pairs[int(np.argmax(torn))].tolist()
            raise ValueError(
                f"{int(torn.sum())} answers contradict others, first that items {i} and {j} are different: remove those "
                "that conflicts() lists, or set strict=False, under which breaking them costs."
            )
        links = WeightedLinks.of(pairs, may, costs_of_answers(cost, views), n)
        self.contradictions_: IntArray = pairs[torn]
        self.n_contradictions_ = int(torn.sum())
        self._n_answers = len(pairs)
        self.closure_ = bool(close if close is not None else not torn.any())
        if not self.closure_ or not len(pairs):
            return points, links
        try:
            return points, closure(links)
        except ValueError:
            if close:
                raise
            self.closure_ = False
            return points, links

    def _check_metrics(self: Any) -> tuple[str, bool]:
        """Kind of metric, and whether each cluster has its own."""
        check_choice(self.metric, "metric", METRICS)
        if not isinstance(self.per_cluster, (bool, np.bool_)):
            raise TypeError(f"per_cluster must be True or False; got {self.per_cluster!r}.")
        return self.metric, bool(self.per_cluster)

    def _check_start(self, n_items: int) -> tuple[int, str, IntArray | None, Generator]:
        """Number of clusters, kind of start, labels to start from, and the generator."""
        k = check_n_clusters(self.n_clusters, n_items)
        if isinstance(self.init, str):
            if self.init not in INITS:
                options = " or ".join(f'"{name}"' for name in INITS)
                raise ValueError(f"init must be {options}, or labels; got {self.init!r}.")
            return k, self.init, None, check_random_state(self.random_state)
        start = start_labels(self.init, n_items)
        if start is not None and start.max() >= k:
            raise ValueError(
                f"init has {start.max() + 1} clusters, more than n_clusters={k}: pass labels of at most {k}."
            )
        return k, INITS[0], start, check_random_state(self.random_state)

    def _solve(
        self,
        X: FloatArray,
        links: WeightedLinks,
        metric: str | None = None,
        per_cluster: bool = False,
        prior: float = 0.0,
        **settings: Any,
    ) -> Solution:
        """Search, and set what is learned."""
        for name in ("n_init", "max_iter"):
            check_int(getattr(self, name), name)
        k, init, start, rng = self._check_start(len(X))
        problem = Problem.of(X, links, k, metric, per_cluster, prior)
        chosen = Settings(init=init, max_iter=self.max_iter, **settings)
        solution = search(problem, chosen, self.n_init, rng, start)
        if not solution.converged:
            warnings.warn(
                f"items still move after max_iter={self.max_iter} rounds: allow more rounds.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.objective_, self.objective_path_, self.n_iter_ = (
            solution.objective,
            solution.path,
            len(solution.path),
        )
        self._keep(problem, solution)
        return solution

    def _place(self, X: FloatArray, links: WeightedLinks) -> None:
        """Place every item at the nearest of the centres to start from, and set what is learned."""
        k, init, start, rng = self._check_start(len(X))
        if start is not None:
            raise ValueError(
                'init must be "neighbourhoods" or "paper" here: labels leave nothing to be placed.'
            )
        problem = Problem.of(X, links, k, None, False, 0.0)
        centers = starts(problem, Settings(init=init), 1, rng)[0] - X.mean(axis=0)
        metrics = first_metrics(problem, FarPairs(problem.points))
        z = distances(problem, centers, metrics).argmin(axis=1)
        self._keep(problem, Solution(z, centers, metrics, 0.0, np.empty(0), 0, True))
        self.cluster_centers_ = self._centers + self._middle

    def _keep(self, problem: Problem, solution: Solution) -> None:
        """Set labels without gaps, with centres and metrics."""
        self.labels_: IntArray
        self.labels_, self.cluster_centers_ = means(problem.X, solution.z)
        self.n_clusters_ = len(self.cluster_centers_)
        self.n_broken_ = int(problem.links.broken(self.labels_)[: self._n_answers].sum())
        kept = np.unique(solution.z)
        metrics = solution.metrics
        if problem.per_cluster:
            metrics = Metrics(*(values[kept] for values in metrics))
        if problem.learned:
            units = [problem.form.in_units(A, problem.T) for A in metrics.A]
            self.metric_: FloatArray = np.stack(units) if problem.per_cluster else units[0]
        none = WeightedLinks.none(0)
        self._middle = problem.X.mean(axis=0)
        self._model = problem._replace(
            X=problem.X[:0], points=problem.points[:0], links=none, gaps=problem.gaps[:0]
        )
        self._model = self._model._replace(n_clusters=self.n_clusters_)
        self._centers, self._metrics = solution.centers[kept], metrics

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the nearest cluster of each item, under its metric, answers left aside.

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
        items = check_items(X, least=1)
        validate_data(self, with_names(X), skip_check_array=True, reset=False)
        problem = self._model._replace(
            points=np.ascontiguousarray((items - self._middle) @ self._model.T)
        )
        labels: IntArray = distances(problem, self._centers, self._metrics).argmin(axis=1)
        return labels


def joined(constraints: Sequence[Constraints]) -> tuple[IntArray, Any]:
    """Pairs (m, 2) of all views, and which of them were answered "same"."""
    pairs = np.concatenate(
        [np.empty((0, 2), dtype=np.int64), *(view.items for view in constraints)]
    )
    return pairs, np.concatenate(
        [np.empty(0, dtype=bool), *(view.answers == 1 for view in constraints)]
    )


def credible_costs(posterior: Any, X: ArrayLike, loss: Any, metric: str | None) -> dict[str, Any]:
    """Number of clusters, costs and starting labels that a posterior suggests; the formulas stand at `from_posterior`."""
    draws = group(posterior, "posterior")
    items, n_items = check_items(X), stacked_partitions(posterior).shape[1]
    if len(items) != n_items:
        raise ValueError(
            f"X has {len(items)} items, but the posterior is about {n_items}: pass the data that was clustered."
        )
    given = posterior if hasattr(posterior, "labels_") else point_estimate(posterior, loss=loss)
    labels = start_labels(given, len(items))
    assert labels is not None
    k = int(labels.max()) + 1
    problem = Problem.of(items, WeightedLinks.none(len(items)), k, metric, False, 1.0)
    apart, together = average_penalties(problem, labels)
    unit = 2.0
    if metric is None:
        centers = means(items, labels)[1]
        within = float(np.square(items - centers[labels]).sum()) / max(len(items) - k, 1)
        unit = 2.0 * within / items.shape[1]
    if not (unit > 0 and apart > 0 and together > 0):
        raise ValueError(
            f"the point estimate has {k} clusters without scatter within or between them: set cost yourself."
        )
    tree = getattr(posterior, "posterior_", posterior)
    views = stored_views(tree) if "constant_data" in tree.children else []
    cost: dict[str, Any] = {}
    for view in views:
        if view.kind != "pairwise":
            raise TypeError(
                f"the posterior is of {view.kind} constraints {view.name!r} too: only pairwise ones can be used."
            )
        nats = confidence_by_source(draws, view, 1.0)
        cost[view.name] = {
            s: (unit * same / apart, unit * other / together) for s, (same, other) in nats.items()
        }
    return {"n_clusters": k, "cost": cost or 1.0, "init": labels}
