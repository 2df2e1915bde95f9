"""The spectral relaxation of RDP-means as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from time import perf_counter
from typing import Any, Self

from numpy.random import Generator

from bayesclust import checks
from bayesclust.estimators import base, confidence
from bayesclust.estimators.rdp_means import MeansClusterer, RDPMeans
from bayesclust.inference.limits import tuning
from bayesclust.inference.limits.answers import pose, times
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.inference.limits.spectral import (
    choose,
    penalty_from_data,
    relax,
    relaxed_objective,
    solve,
)
from bayesclust.typing import ArrayLike, FloatArray


@dataclass(eq=False, repr=False)
class SpectralRDPMeans(MeansClusterer):
    r"""RDP-means relaxed to an eigenvalue problem: no starts, and a bound on J~ of every partition.

    With squared Euclidean distance, and the links of each cluster divided by its size n_k,
    RDP-means' objective becomes

        J~ = sum_i |x_i - m_{z_i}|^2 - sum_k (xi1 #{may-links in k} - xi2 #{may-not-links in k}) /
        n_k + penalty K,

    whose minimum over relaxed partitions is known: one cluster more than the matrix P (XX' + L / 2)
    P has eigenvalues above the penalty, P centring and L holding xi1 at may-links and -xi2 at
    may-not-links. K-means, begun at items that a pivoted QR decomposition picks, rounds the
    eigenvectors to a partition; then clusters whose union lowers RDP-means' own J are merged.
    Without links there are at most d + 1 clusters, since XX' has no more than d eigenvalues.

    Parameters
    ----------
    penalty, n_clusters
        As in `RDPMeans`. With neither, the penalty under which the relaxation itself predicts
        held-out answers best or, with fewer than ten answers or `xi` given, has the smallest
        Bayesian information criterion.
    xi : float, (float, float), dict or None, default None
        As in `RDPMeans`. None is chosen by held-out answers too; with fewer than ten of them it is
        infinity, which stands for 64 mean squared distances of items from their overall mean. Of
        more than 2,000 items, `penalty` and `xi` are chosen on a sample.
    kernel, kernel_params
        As in `RDPMeans`: K in place of XX', the matrix of Eq. 21.
    max_clusters : int, default 50
        Largest number of clusters before merging, and of eigenvectors.
    random_state : int, Generator or None, default None
        Decides how answers are held out, and the sample; all else is deterministic.

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, penalty_, xi_
        As in `RDPMeans`.
    eigenvalues_ : ndarray of shape (r,)
        Those above the penalty, falling, at most max_clusters - 1.
    bound_ : float
        No partition has a smaller J~: the optimum of the relaxed problem. Minus infinity where more
        eigenvalues lie above the penalty than `max_clusters` lets be found.
    relaxed_objective_, objective_ : float
        J~ and J of `labels_`.

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information, Eq. 21; its slips are named in
    `bayesclust.inference.limits.spectral`. Kulis and Jordan (2012), Theorem 5.2. Zha, He, Ding, Gu,
    Simon (2001): Spectral relaxation for k-means clustering.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [10.0], [11.0], [5.4]]
    >>> est = bc.SpectralRDPMeans(penalty=30.0).fit(X)
    >>> est.labels_, est.n_clusters_
    (array([0, 0, 1, 1, 0]), 2)
    >>> est.bound_ <= est.relaxed_objective_
    True
    """

    divergence = "euclidean"

    penalty: float | None = None
    n_clusters: int | None = None
    _: KW_ONLY
    xi: Any = None
    kernel: Any = None
    kernel_params: dict[str, Any] | None = None
    max_clusters: int = tuning.MOST_CLUSTERS
    random_state: int | Generator | None = None

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> Self:
        """Cluster items under side information.

        Parameters
        ----------
        X, y, constraints
            As of `RDPMeans.fit`, but pairs or labels alone; all sources count alike.

        Returns
        -------
        self
        """
        clock = perf_counter()
        number = checks.check_int(self.max_clusters, "max_clusters") - 1
        asked = confidence.check_confidence(self.xi, None, RDPMeans.xi_rate)
        rng = checks.check_random_state(self.random_state)
        squared = self._distance().bind(X)
        points, constraints = base.read_input(
            self, X, y, constraints, read=squared.points, needs="links"
        )
        cost = confidence.cost_of_centre(self.penalty, self.n_clusters, points, squared)
        checks.check_memory(
            32 * len(points) * min(number, len(points)),
            f"{number:,} eigenvectors of {len(points):,} items, with room to find them,",
            "lower max_clusters",
        )
        grows = asked is None or asked == confidence.GROWS
        read = pose if grows else partial(confidence.fixed_confidence, asked)
        graph, xi = read(constraints, len(points))
        problem = Problem.of(points, squared, graph, cost or 0.0)
        if cost is None and tuning.one_sided(constraints, len(points)):
            cost = penalty_from_data(problem, number)
        if asked is None and tuning.enough(constraints):
            cost, factor = choose(constraints, problem, cost, number, rng)
            xi = times(xi, factor)
        elif grows:
            answers = float(any(map(len, constraints)))
            far = tuning.LARGEST_SHARE * tuning.first_xi(problem, share=1.0)
            xi = times(xi, answers * far)
        if cost is None:
            cost = penalty_from_data(problem, number)
        problem = problem._replace(penalty=cost)
        relaxation = relax(problem, xi, number)
        self._keep(problem, solve(problem, relaxation, xi))
        self.eigenvalues_: FloatArray = relaxation.eigenvalues
        self.bound_ = relaxation.bound
        self.relaxed_objective_ = relaxed_objective(problem, self.labels_, xi)
        self.xi_: Any = confidence.shown_confidence(xi, constraints)
        self.fit_seconds_ = perf_counter() - clock
        return self
