"""What RDP-means does where a cluster has several centres."""

from __future__ import annotations

from numpy.random import Generator
from sklearn.utils.validation import check_is_fitted

from bayesclust.checks import check_choice, check_positive
from bayesclust.constraints._checks import number_between
from bayesclust.estimators._joint import check_partition
from bayesclust.estimators._means import MeansClusterer, Task
from bayesclust.estimators._views import MIXTURE, SINGLE
from bayesclust.families import Divergence
from bayesclust.inference.limits.rdp_means import Solution, means
from bayesclust.inference.limits.search import PLAIN as PLAIN_STEPS
from bayesclust.inference.limits.search import Steps
from bayesclust.inference.limits.two_level.descent import price_of, steps, value
from bayesclust.inference.limits.two_level.moves import compact
from bayesclust.typing import ArrayLike, FloatArray, IntArray


class SeveralCentres(MeansClusterer):
    """Settings, results and J of the cluster models "single" and "mixture"."""

    cluster_model: str
    within_penalty: float | None

    def objective(self, labels: ArrayLike, components: ArrayLike | None = None) -> float:
        """Return J of any partition of the items, at `penalty_` and `xi_` and with the best centres, the means.

        Parameters
        ----------
        labels : array-like of int, shape (n,)
            Clusters: one label for each item that was clustered.
        components : array-like of int, shape (n,), or None, default None
            Only with cluster_model="mixture": components, each within one cluster. None makes one of every
            cluster.

        Returns
        -------
        float
            `objective_` for `labels_`, and `components_` where there are such.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` was not called.
        ValueError, TypeError
            If it is not one whole number per item, or a component lies in two clusters.

        Examples
        --------
        >>> import bayesclust as bc
        >>> est = bc.RDPMeans(cluster_model="mixture", penalty=1.0, within_penalty=30.0).fit([[0.0], [2.0], [10.0], [12.0]])
        >>> est.objective([0, 0, 0, 0], [0, 0, 1, 1]), est.objective([0, 0, 1, 1])
        (65.0, 66.0)
        """
        check_is_fitted(self)
        if self._owner is None:
            if components is not None:
                raise ValueError(
                    'components are of clusters that are mixtures: leave them out, or fit with cluster_model="mixture".'
                )
            return super().objective(labels)
        points = self._problem.points
        clusters = check_partition(labels, len(points))
        lower = clusters if components is None else check_partition(components, len(points))
        numbers, owner = compact(lower, clusters)
        if (owner[numbers] != clusters).any():
            raise ValueError(
                "a component has items in two clusters of labels: give every component one cluster."
            )
        return value(self._problem, self.penalty_, *means(points, numbers), owner, self._xi)

    def _check_settings(self) -> tuple[Divergence, Generator]:
        check_choice(self.cluster_model, "cluster_model", (SINGLE, MIXTURE))
        if self.cluster_model == SINGLE and self.within_penalty is not None:
            raise ValueError(
                f"within_penalty={self.within_penalty!r} is the cost of a component, and plain clusters have none: leave it "
                'out, or set cluster_model="mixture".'
            )
        if self.cluster_model == MIXTURE:
            self._check_prices()
        return super()._check_settings()

    def _check_prices(self) -> None:
        least = (
            0.0
            if self.within_penalty is None
            else -check_positive(self.within_penalty, "within_penalty")
        )
        if self.penalty is not None:
            number_between(self.penalty, "penalty", f"({least}, inf)")

    def _way_down(self, task: Task) -> tuple[float | None, Steps]:
        """The penalty of a centre, if it is given, and how J is lowered."""
        if self.cluster_model == MIXTURE:
            return self._penalty(
                task.points, task.divergence, "within_penalty", "component"
            ), steps(self.penalty)
        return self._penalty(task.points, task.divergence), PLAIN_STEPS

    def _keep_components(self, solution: Solution) -> None:
        if solution.owner is not None:
            self.within_penalty_, self.penalty_ = (
                self.penalty_,
                price_of(self._problem, self.penalty),
            )
            self.components_: IntArray = solution.labels
            self.component_centers_: FloatArray = self._divergence.shown(solution.centers)
            self.component_clusters_: IntArray = solution.owner
