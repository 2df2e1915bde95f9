"""What RDP-means and DP-means share as estimators."""

from __future__ import annotations

import warnings
from typing import Any, Self

from numpy.random import Generator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesclust.checks import check_int, check_positive
from bayesclust.constraints.base import View
from bayesclust.estimators.base import ConstrainedClusterer
from bayesclust.inference.limits.divergences import Divergence
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.penalty import penalties
from bayesclust.inference.limits.rdp_means import Problem, Schedule
from bayesclust.inference.limits.search import search
from bayesclust.typing import ArrayLike, FloatArray, IntArray

NO_LINKS = Schedule((0.0, 0.0))


class MeansClusterer(ConstrainedClusterer):
    """What RDP-means and DP-means share: the penalty, the search and what is learned."""

    penalty: float | None
    n_clusters: int | None
    divergence: str | Divergence
    n_init: int
    max_iter: int

    def _penalty(self, points: FloatArray, divergence: Divergence) -> float | None:
        if self.penalty is not None and self.n_clusters is not None:
            raise ValueError("penalty and n_clusters both set what a cluster costs: leave one of them out.")
        if self.penalty is not None:
            return check_positive(self.penalty, "penalty")
        if self.n_clusters is None:
            return None
        k = check_int(self.n_clusters, "n_clusters")
        if k > len(points):
            raise ValueError(f"n_clusters={k} is more than the {len(points)} items of X: ask for fewer clusters.")
        return float(penalties(points, divergence, k)[-1])

    def _solve(
        self,
        points: FloatArray,
        divergence: Divergence,
        views: list[View],
        penalty: float,
        schedule: Schedule,
        rng: Generator,
    ) -> Self:
        problem = Problem.of(points, divergence, link_graph(views, len(points)), penalty)
        solution = search(problem, schedule, self.n_init, self.max_iter, rng)
        if not solution.converged:
            warnings.warn(
                f"items still move after max_iter={self.max_iter} passes: allow more passes.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.labels_: IntArray = solution.labels
        self.cluster_centers_: FloatArray = solution.centers
        self.n_clusters_ = len(solution.centers)
        self.objective_ = solution.objective
        self.objective_path_: FloatArray = solution.path
        self.penalty_ = penalty
        self.xi_ = solution.xi
        self.n_iter_ = len(solution.path)
        self._divergence = divergence
        return self

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the nearest cluster of each item, answers left aside.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of int, shape (m,)
            Of the training data too, labels may differ from `labels_` where answers outweighed the data.
        """
        check_is_fitted(self)
        points = self._divergence.points(X, least=1)
        validate_data(self, X, skip_check_array=True, reset=False)
        labels: IntArray = self._divergence.between(points, self.cluster_centers_).argmin(axis=1)
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.divergence == "kl"
        return tags
