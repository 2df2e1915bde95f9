"""RDP-means and DP-means as scikit-learn estimators."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.utils.validation import check_is_fitted

from bayesclust import checks
from bayesclust.estimators import base, confidence
from bayesclust.estimators.base import MIXTURE, SINGLE, DistanceClusterer
from bayesclust.families import Divergence, Family, as_divergence
from bayesclust.families.kernel_distance import PRECOMPUTED, kernel_distance
from bayesclust.inference.limits.answers import Xi
from bayesclust.inference.limits.rdp_means import Problem, Solution, means, objective
from bayesclust.inference.limits.search import search
from bayesclust.posterior.tree import as_labels, by_size
from bayesclust.typing import ArrayLike, FloatArray, IntArray


class MeansClusterer(DistanceClusterer):
    """What the limits have in common: centres, J, and the nearest centre of new items."""

    divergence: str | Divergence | Family
    kernel: Any
    kernel_params: Any
    # of `RDPMeans` alone
    cluster_model: str = SINGLE
    within_penalty: float | None = None
    xi: Any = None
    xi0: float | None = None
    xi_rate: float = 1.0
    xi_: Any
    _problem: Problem
    _xi: Xi
    _components: IntArray
    _centers: FloatArray
    _owner: IntArray
    """The cluster of each centre: itself, unless clusters may have several."""

    def _keep(self, problem: Problem, solution: Solution) -> None:
        """Set the attributes that follow from a solution."""
        order, components = by_size(solution.labels)
        _, self.labels_ = by_size(solution.clusters)
        centers = means(problem.points, self.labels_)[1]
        self.cluster_centers_: FloatArray = problem.divergence.shown(centers)
        self.n_clusters_ = len(centers)
        self.objective_ = solution.objective
        self.penalty_ = problem.per_cluster if problem.several else problem.penalty
        self._problem = problem
        self._xi = solution.xi
        self._components = components
        self._centers = solution.centers[order]
        self._owner = self.labels_[np.unique(components, return_index=True)[1]]

    def objective(self, labels: ArrayLike) -> float:
        """Return J of any partition of the items, at `penalty_`, `xi_` and the best centres.

        Parameters
        ----------
        labels : array-like of int, shape (n,)

        Returns
        -------
        float
            That of a mixture has one component in each cluster.

        Raises
        ------
        ValueError, TypeError
            If labels are not one whole number per item.

        Examples
        --------
        >>> import bayesclust as bc
        >>> est = bc.DPMeans(penalty=30.0).fit([[0.0], [2.0], [10.0], [12.0]])
        >>> est.objective([0, 0, 1, 1]), est.objective([0, 0, 0, 0])
        (64.0, 134.0)
        """
        check_is_fitted(self)
        points = self._problem.points
        z = as_labels(labels, "labels", len(points)).astype(np.int64)
        return objective(self._problem, *means(points, z), self._xi, np.arange(int(z.max()) + 1))

    def _distances(self, X: ArrayLike) -> FloatArray:
        divergence = self._problem.divergence
        if self.kernel is None and self.kernel_params is None:  # kernels say it in their own words
            checks.check_items(X, least=1)
            base.describe_columns_of_new(self, X)
        points = divergence.points(X, least=1)
        base.describe_columns_of_new(self, X)
        each = divergence.between(points, self._centers)
        if len(self._owner) == self.n_clusters_:
            return each
        own = [each[:, self._owner == k] for k in range(self.n_clusters_)]
        return np.stack([one.min(axis=1) for one in own], axis=1)

    def _distance(self) -> Divergence:
        """What items and centres are compared by, not bound to data yet."""
        if self.kernel is None and self.kernel_params is None:
            return as_divergence(self.divergence)
        if self.divergence != "euclidean":
            raise ValueError(
                f"divergence={checks.shown(self.divergence)} is a distance of its own, and kernel "
                "is compared by squared distances in its space: leave one of them out."
            )
        return kernel_distance(self.kernel, self.kernel_params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == PRECOMPUTED
        with suppress(TypeError, ValueError):  # what is no divergence is refused by fit
            tags.input_tags.positive_only = as_divergence(self.divergence).counts
        return tags


@dataclass(eq=False, repr=False)
class DPMeans(MeansClusterer):
    """DP-means: k-means that finds the number of clusters (Kulis and Jordan 2012).

    RDP-means without answers: passes over the items and merges of clusters lower J = sum_i D(x_i,
    m_{z_i}) + penalty K.

    Parameters
    ----------
    penalty, n_clusters, divergence, kernel, kernel_params, init, n_init, max_iter, random_state
        As in `RDPMeans`. With one start nothing is random.

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, objective_, objective_path_, penalty_, xi_, n_iter_
        As in `RDPMeans`; `xi_` is (0, 0).

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.DPMeans(penalty=30.0).fit_predict([[0.0], [1.0], [10.0], [11.0], [5.4]])
    array([0, 0, 1, 1, 0])
    """

    penalty: float | None = None
    n_clusters: int | None = None
    divergence: str | Divergence | Family = "euclidean"
    _: KW_ONLY
    kernel: Any = None
    kernel_params: dict[str, Any] | None = None
    init: Any = None
    n_init: int = 1
    max_iter: int = 300
    random_state: int | Generator | None = None

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> Self:
        """Cluster the items; `RDPMeans` uses constraints too.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        constraints : PairwiseConstraints, RelativeConstraints, list of them or None, default None
            Only `RDPMeans`, which is DP-means without any.

        Returns
        -------
        self
        """
        if constraints is not None and not isinstance(self, RDPMeans):
            raise TypeError("DPMeans takes no constraints: use RDPMeans.")
        clock = perf_counter()
        checks.check_int(self.n_init, "n_init")
        checks.check_int(self.max_iter, "max_iter")
        unbound = self._distance()
        self._check_costs()
        rng = checks.check_random_state(self.random_state)
        xi = confidence.check_confidence(self.xi, self.xi0, self.xi_rate)

        divergence = unbound.bind(X)
        points, constraints = base.read_input(self, X, y, constraints, read=divergence.points)
        start = base.start_labels(self.init, len(points), self._names[0])
        several = self.cluster_model == MIXTURE
        name, what = ("within_penalty", "component") if several else ("penalty", "cluster")
        given = self.within_penalty if several else self.penalty
        cost = confidence.cost_of_centre(
            given, self.n_clusters, points, divergence, name, what, self.n_init
        )
        own = None if self.penalty is None else float(self.penalty)
        model = (several, own if several else None)
        growth = self.xi0, self.xi_rate
        problem, schedule, near = confidence.plan(
            points, divergence, constraints, cost, xi, *growth, rng, self.n_init, *model
        )
        start = near if start is None else start
        solution = search(problem, schedule, self.n_init, self.max_iter, rng, start=start)
        base.warn_unless(solution.converged, "items still move", self.max_iter, "passes")
        self.objective_path_: FloatArray = solution.path
        self.n_iter_ = len(solution.path)
        self._keep(problem, solution)
        if several:
            self.within_penalty_ = problem.penalty
            self.components_: IntArray = self._components
            self.component_centers_: FloatArray = divergence.shown(self._centers)
            self.component_clusters_: IntArray = self._owner
        self.xi_ = confidence.shown_confidence(self._xi, constraints)
        self.fit_seconds_ = perf_counter() - clock
        return self

    def _check_costs(self) -> None:
        """Refuse a cluster model that does not exist, and costs that it does not have."""
        checks.check_choice(self.cluster_model, "cluster_model", (SINGLE, MIXTURE))
        if self.cluster_model == SINGLE:
            if self.within_penalty is not None:
                raise ValueError(
                    f"within_penalty={self.within_penalty!r} is the cost of a component, and "
                    'single clusters have none: leave it out, or set cluster_model="mixture".'
                )
            return
        least = 0.0
        if self.within_penalty is not None:
            least = -checks.check_positive(self.within_penalty, "within_penalty")
        if self.penalty is not None:
            checks.number_between(self.penalty, "penalty", f"({least}, inf)")


@dataclass(eq=False, repr=False)
class RDPMeans(DPMeans):
    """Relational DP-means: k-means that finds the number of clusters and weighs noisy constraints.

    The small-variance limit of TVClust. Coordinate descent, merges of clusters included, lowers

        J = sum_i D(x_i, m_{z_i}) + penalty K
            - xi1 #{may-links inside clusters} + xi2 #{may-not-links inside clusters}
            - xi_t #{triplet answers that the clusters make true}.

    Each answer counts once; in the paper's Eq. 20 links count from both ends, and J may rise. Where
    D is "euclidean", put features on one scale first.

    Parameters
    ----------
    penalty : float or None, default None
        lambda, the cost of a cluster: an item farther than this from all centres opens one. Of a
        mixture, what a cluster costs besides its components, a thousandth of `within_penalty` by
        default; below zero, as without answers, components that no answer joins are clusters.
    n_clusters : int or None, default None
        A guess that sets the penalty by furthest-first (Kulis and Jordan 2012). With neither, of
        the penalties of 1 to sqrt(n) clusters the one that predicts held-out answers best or, with
        `xi` given, fewer than ten answers, or such as one cluster or none of two items would make
        all true, has the smallest Bayesian information criterion.
    divergence : str, Divergence or Family, default "euclidean"
        D: "euclidean" (squared distance), "standardized", "mahalanobis", "kl" (between rows of
        counts), "poisson", "bernoulli", "categorical", or the limit of a family of
        `bayesclust.families`. Counts are compared with 0.3 added to each cell, as in the paper's
        section 5.3, so that none is impossible; J counts these.
    kernel : {"rbf", "polynomial", "cosine", "precomputed"}, function or None, default None
        In place of `divergence`: squared distance in the space of a kernel of the columns, given as
        k(x, y), or of X as the matrix of similarities (n, n).
    kernel_params : dict or None, default None
        gamma of "rbf", exp(-gamma |x - y|^2), and of "polynomial", (gamma x'y + coef0)^degree with
        degree 3 and coef0 1. By default gamma is one over the mean squared distance of two items.
    cluster_model : {"single", "mixture"}, default "single"
        Whether a cluster is one centre, or several, each with its items, a component: the limit of
        ``TVClust(cluster_model="mixture")``. J then has `within_penalty` times the number of
        components besides.
    within_penalty : float or None, default None
        Only "mixture": the cost of a component, chosen as `penalty` is where it is None.
    xi : float, (float, float), dict or None, default None
        Confidence in answers, in units of D: a number; (xi1, xi2) for may-links and may-not-links;
        or a dict by the names of the constraints, ``{"links": (2.0, 1.0), "triplets": 0.5}``. Of
        triplets, what a true answer lowers J by, or the (3, 3) costs of answers (columns) under
        each truth (row). Arrays (sources, 2) and (sources, 3, 3) tell sources apart. None lets it
        grow from `xi0` to where held-out answers are predicted best; infinity, and None with fewer
        than ten answers, without end as in the paper. With more than 50,000 items, `xi` and
        `penalty` are chosen on samples, and a descent ends when one item in 2,000 moves or fewer.
    xi0 : float or None, default None
        Where growth starts: a thousandth of the mean divergence of items from their overall mean.
    xi_rate : float, default 2.0
        Growth per pass, the paper's; with 1, xi stays at `xi0`.
    init : labels of shape (n,), fitted estimator, posterior or None, default None
        The first start. None is the paper's, all items in one cluster; where settings are chosen on
        a sample, the nearest of its centres.
    n_init : int, default 1
        Starts; the smallest J is kept. Those after the first are random, or disturb the best one.
        Without constraints, a given penalty above the distance of every item from the mean ends the
        first in a single cluster, where several starts may find a smaller J.
        Under one penalty the smallest J has more clusters than the first start finds: with several
        a penalty is chosen by the smallest J of four, in some ten times as long, and from
        `n_clusters` so that this J has as many; of more than 50,000 items as for one.
    max_iter : int, default 300
        Largest number of passes in one descent.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Clusters, the largest first, ties by first item.
    n_clusters_, n_iter_, n_features_in_ : int
    cluster_centers_ : ndarray of shape (n_clusters_, d)
        Means of the items over the cells seen; for "categorical" shares of each column's codes;
        with a kernel in coordinates of its space.
    components_, component_clusters_ : ndarray of shape (n,) and (n_components,)
        Only "mixture": components, the largest first, and the cluster of each.
    component_centers_ : ndarray of shape (n_components, d)
        Only "mixture".
    objective_, objective_path_ : float, ndarray of shape (n_iter_,)
        J at `xi_`, and after each pass of the best start, at its xi; it never rises where xi is
        fixed.
    penalty_, within_penalty_ : float
        As used; the second only for "mixture".
    xi_ : (float, float) or dict
        xi1 and xi2 of the last pass; where constraints differ, arrays by their names: of links
        (sources, 2), of triplets (sources, 3, 3).

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information, section 4: Eq. 19 is the
    update, Eq. 20 the objective, Algorithm 1 the passes. Kulis and Jordan (2012): Revisiting
    k-means. Banerjee et al. (2005): Clustering with Bregman divergences, Theorem 4. Kernels: the K
    of Eq. 21; `bayesclust.families.kernel_distance` has the formulas.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [10.0], [11.0], [5.4]]
    >>> bc.RDPMeans(penalty=30.0).fit(X).labels_
    array([0, 0, 1, 1, 0])
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(3, 4)], cannot_link=[], n_items=5)
    >>> bc.RDPMeans(penalty=30.0, xi=20.0).fit(X, constraints=links).labels_
    array([1, 1, 0, 0, 0])
    >>> far = bc.PairwiseConstraints.from_lists(must_link=[(0, 2)], cannot_link=[(2, 4)], n_items=5)
    >>> est = bc.RDPMeans(cluster_model="mixture", within_penalty=15.0, xi=20.0)
    >>> est.fit(X, constraints=far).labels_
    array([0, 0, 0, 0, 1])
    >>> similarity = [[2.0, 1.9, 0.1], [1.9, 2.0, 0.1], [0.1, 0.1, 1.0]]
    >>> bc.RDPMeans(penalty=0.5, kernel="precomputed").fit(similarity).labels_
    array([0, 0, 1])
    """

    _: KW_ONLY
    cluster_model: str = SINGLE
    within_penalty: float | None = None
    xi: float | tuple[float, float] | dict[str, Any] | None = None
    xi0: float | None = None
    xi_rate: float = 2.0

    @classmethod
    def from_posterior(
        cls,
        posterior: Any,
        X: ArrayLike,
        *,
        divergence: str | Divergence | Family | None = None,
        **settings: Any,
    ) -> Self:
        """Return an estimator with the penalty and the weights that a posterior implies.

        With D and f, the free coordinates of a centre, the posterior's point estimate z and its K
        clusters, and W the sum of D(x_i, m_{z_i}) / (n - K),

            gamma   = f / (2 W),
            xi1     = ln(p / (1 - q)) / gamma,   xi2 = ln(q / (1 - p)) / gamma,
            xi      = ln((1 - eps) / (eps / 2)) / gamma of triplets,
                      or costs -ln C[truth, answer] / gamma,
            penalty = mean_i [ln G(n_{z_i}) - 2 ln G(n_{z_i} / 2) - ln alpha + f / 2 ln(n_{z_i} T /
            (4 W))] / gamma,

        p and q the posterior means of a source, G the gamma function and T the mean D from the mean
        of all. The penalty is what two halves of a cluster cost the sampler, on average over the
        items: first by the Chinese restaurant process (under a Pitman-Yor process ln G(m) is ln
        G(m - s) - ln G(1 - s), and alpha is t + s K), last by one more centre under a base measure
        as wide as the data. At the cost of a single item that leaves, J would split what the
        sampler holds together. A source with p + q <= 1, or eps >= 2/3, is left aside, xi = 0, with
        a warning.

        Parameters
        ----------
        posterior : fitted estimator or its posterior_
            A fit to X.
        X : array-like of shape (n, d)
        divergence : str, Divergence, Family or None, default None
            None takes that of the posterior's family; of full Gaussians, the squared Mahalanobis
            distance of the covariance pooled within the clusters of the point estimate.
        **settings
            Other parameters of the estimator, or in place of those derived.

        Returns
        -------
        RDPMeans
            To be fitted with the same constraints; it starts from the point estimate.

        Raises
        ------
        ValueError, TypeError
            If there are no draws, X does not fit to them, or there is no scatter within clusters.

        Warns
        -----
        UserWarning
            If fewer than four items of five are nearest to the centre of their own cluster.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesclust as bc
        >>> y = np.repeat([0, 1], 20)
        >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 4.0 * y[:, None]
        >>> links = bc.PairwiseConstraints.sample(y, size=60, error_rate=0.1, seed=0)
        >>> short = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "random_state": 0}
        >>> chains = bc.TVClust(**short).fit(X, constraints=links)
        >>> bc.RDPMeans.from_posterior(chains, X).fit(X, constraints=links).n_clusters_
        2
        """
        return cls(**confidence.credible_settings(posterior, X, divergence) | settings)
