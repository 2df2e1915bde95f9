"""The spectral relaxation of RDP-means as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, Self

from numpy.random import Generator

from bayesclust import checks
from bayesclust.estimators import base, confidence
from bayesclust.estimators.rdp_means import MeansClusterer, RDPMeans
from bayesclust.inference.limits import tuning
from bayesclust.inference.limits.answers import largest, times
from bayesclust.inference.limits.spectral import relax, relaxed_objective, solve
from bayesclust.typing import ArrayLike, FloatArray


@dataclass(eq=False, repr=False)
class SpectralRDPMeans(MeansClusterer):
    r"""RDP-means relaxed to an eigenvalue problem: no starts, and a bound for every partition.

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
    penalty, n_clusters, xi
        As in `RDPMeans`; xi has the value to which it grows there, and where it would grow without
        end, 64 mean squared distances of items from their overall mean.
    kernel, kernel_params
        As in `RDPMeans`: K in place of XX', the matrix of Eq. 21.
    max_clusters : int, default 50
        Largest number of clusters before merging, and of eigenvectors.
    random_state : int, Generator or None, default None
        Decides how answers are held out to choose `xi`; all else is deterministic.

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
        problem, schedule, _ = confidence.plan(
            points, squared, constraints, cost, asked, None, RDPMeans.xi_rate, rng, 1
        )
        xi = schedule.xi
        if schedule.rate > 1:
            most = min(schedule.most, tuning.LARGEST_SHARE * tuning.first_xi(problem, share=1.0))
            xi = times(xi, max(most / largest(xi), 1.0))
        checks.check_memory(
            32 * len(points) * min(number, len(points)),
            f"{number:,} eigenvectors of {len(points):,} items, with room to find them,",
            "lower max_clusters",
        )
        relaxation = relax(problem, xi, number)
        self._keep(problem, solve(problem, relaxation, xi))
        self.eigenvalues_: FloatArray = relaxation.eigenvalues
        self.bound_ = relaxation.bound
        self.relaxed_objective_ = relaxed_objective(problem, self.labels_, xi)
        self.xi_: Any = confidence.shown_confidence(xi, constraints)
        self.fit_seconds_ = perf_counter() - clock
        return self
