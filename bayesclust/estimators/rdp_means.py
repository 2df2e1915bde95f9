"""RDP-means as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_positive
from bayesclust.constraints._checks import number_between
from bayesclust.estimators._confidence import GROWS, by_view, check_xi, fixed_confidence
from bayesclust.estimators._credible import credible_settings
from bayesclust.estimators._means import NO_LINKS, Task
from bayesclust.estimators._several_centres import SeveralCentres
from bayesclust.estimators._views import SINGLE
from bayesclust.families import Divergence, Family
from bayesclust.inference.limits import confidence
from bayesclust.inference.limits.answers import Graph, pose, times
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.penalty import candidates, penalty_from_data
from bayesclust.inference.limits.rdp_means import Problem, Schedule
from bayesclust.inference.limits.search import PLAIN as PLAIN_STEPS
from bayesclust.inference.limits.search import Steps
from bayesclust.typing import ArrayLike


class RDPMeans(SeveralCentres):
    """Relational DP-means: k-means that finds the number of clusters and weighs doubtful answers about pairs.

    The small-variance limit of TVClust. Coordinate descent, merges of clusters included, lowers

        J = sum_i D(x_i, m_{z_i}) - xi1 #{may-links inside clusters} + xi2 #{may-not-links inside
        clusters}
            - xi_t #{triplet answers that the clusters make true} + penalty K.

    Each answer counts once (the paper's Eq. 20 counts links from both ends, and so does not fall at
    every step). Where D is "euclidean", D and J are in squared units of X: put features on one
    scale first.

    Parameters
    ----------
    penalty : float or None, default None
        lambda, the cost of a cluster: an item farther than this from all centres opens one, answers
        aside. With cluster_model="mixture" it is what a cluster costs beside its components, by default a
        thousandth of `within_penalty`: answers then decide which components are one cluster, and
        where they do not, fewer clusters are better. Below zero, as by default without any answers,
        and above -`within_penalty`, components that no answer joins are clusters of their own.
    n_clusters : int or None, default None
        A guess of the number of clusters, from which the penalty is set by furthest-first (Kulis
        and Jordan 2012); more or fewer may be found. With neither this nor `penalty`, the penalties
        of 1 to about sqrt(n) clusters, at most 50, are tried: the one is taken that predicts
        held-out answers best, or, with fewer than ten answers or `xi` given, whose DP-means
        solution has the smallest Bayesian information criterion.
    divergence : str, Divergence or Family, default "euclidean"
        D. By name: "euclidean", squared distance; "standardized" and "mahalanobis", in units of the
        columns' variances or of the data's covariance; "kl", Kullback-Leibler between rows of
        counts made distributions with 0.3 added to each count; "poisson", "bernoulli",
        "categorical", of columns of counts, of zeros and ones, of codes. Or a family of
        `bayesclust.families` or its name, such as ``bc.families.Product`` for mixed columns: D is
        what it turns into when its variance goes to zero. "standardized", "poisson", "bernoulli"
        and "categorical" leave missing cells (NaN) out.
    cluster_model : {"single", "mixture"}, default "single"
        What a cluster is: one centre, or ("mixture") several, each with its items, a component. It
        is the limit of ``TVClust(cluster_model="mixture")``: J has `within_penalty` times the number of
        components besides, D is from the centre of an item's component, and answers are about
        clusters. Components that answers leave free go to the nearest cluster.
    within_penalty : float or None, default None
        Only "mixture": the cost of a component; an item farther than this from all centres opens
        one. It is guessed from `n_clusters`, there a number of components, or chosen, as `penalty`
        is of plain clusters.
    xi : float, (float, float), dict or None, default None
        Confidence in answers, in units of D, kept fixed: a number for all; (xi1, xi2) for may-links
        and may-not-links; or a dict by the names of the views,
        ``{"links": (2.0, 1.0), "triplets": 0.5}``, in which a dict by number tells sources apart,
        ``{"links": {0: 2.0, 1: (0.5, 0.1)}}``. Of triplets, a number is what a true answer lowers J
        by, and (3, 3) numbers what each answer (column: yes, no, dnk) costs under each truth (row).
        None lets confidence in all answers grow from `xi0` to where answers held out in five parts
        are predicted best, so that doubtful answers do not overrule the data. infinity lets it grow
        without end, as in the paper: right where answers are never wrong. Fewer than ten answers
        are too few to hold some out, and None then means infinity.
    xi0 : float or None, default None
        Where growth starts. None is a thousandth of the mean divergence of items from their overall
        mean. The paper has 0.001, in units of its data.
    xi_rate : float, default 2.0
        Growth per pass, the paper's; with 1, xi stays at `xi0`.
    init : labels of shape (n,), fitted estimator, posterior or None, default None
        The first start: labels, those of an estimator fitted to the same items, or the point
        estimate of a posterior. None is the paper's, all items in one cluster. Where xi grows from
        nearly nothing, the first passes may undo it.
    order : {"given", "random"}, default "given"
        In which order passes visit the items: as they come, as in the paper, or in one random
        order.
    n_init : int, default 1
        Starts. Those after the first are random, or disturb the best one so far, and the smallest J
        is kept. With 20, the best of all partitions was found in more than 95 of 100 random
        problems of up to ten items. J is lower with more, but under growing xi and many wrong
        answers the single start often gave better partitions.
    max_iter : int, default 300
        Most passes in one descent.
    random_state : int, Generator or None, default None
        Decides how answers are held out, the random starts and the random order.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Clusters, numbered by their first items.
    components_ : ndarray of shape (n,)
        Only "mixture": components, numbered by their first items.
    component_centers_ : ndarray of shape (n_components, d)
        Only "mixture": as `cluster_centers_`, of the components.
    component_clusters_ : ndarray of shape (n_components,)
        Only "mixture": the cluster of each component.
    n_clusters_ : int
    cluster_centers_ : ndarray of shape (n_clusters_, d)
        Means of the items, over the cells seen (for "kl": of their distributions, smoothed); for
        "categorical", shares of each column's codes side by side; for products, the parts' centres
        side by side.
    objective_ : float
        J at `xi_`.
    objective_path_ : ndarray of shape (n_iter_,)
        J after each pass, at the xi of that pass; it never rises where xi is fixed.
    penalty_ : float
    within_penalty_ : float
        Only "mixture".
    xi_ : (float, float) or dict
        xi1 and xi2 of the last pass; where views differ, by their names: of links an array
        (sources, 2), of triplets (sources, 3, 3), the cost of each answer under each truth.
    n_iter_ : int
        Passes of the best start.
    n_features_in_ : int

    Raises
    ------
    ValueError, TypeError
        From `fit`, before any computing, in one sentence: what was got, where, and what to do.

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information, section 4: Eq. 19 is the
    update, Eq. 20 the objective, Algorithm 1 the passes. Kulis and Jordan (2012): Revisiting
    k-means. Banerjee, Merugu, Dhillon and Ghosh (2005): Clustering with Bregman divergences, whose
    Theorem 4 gives the divergence of a family.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [10.0], [11.0], [5.4]]
    >>> bc.RDPMeans(penalty=30.0).fit(X).labels_
    array([0, 0, 1, 1, 0])
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(3, 4)], cannot_link=[], n_items=5)
    >>> bc.RDPMeans(penalty=30.0, xi=20.0).fit(X, constraints=links).labels_
    array([0, 0, 1, 1, 1])
    >>> far = bc.PairwiseConstraints.from_lists(must_link=[(0, 2)], cannot_link=[(2, 4)], n_items=5)
    >>> bc.RDPMeans(cluster_model="mixture", within_penalty=15.0, xi=20.0).fit(X, constraints=far).labels_
    array([0, 0, 0, 0, 1])
    """

    def __init__(
        self,
        penalty: float | None = None,
        n_clusters: int | None = None,
        divergence: str | Divergence | Family = "euclidean",
        *,
        cluster_model: str = SINGLE,
        within_penalty: float | None = None,
        xi: float | tuple[float, float] | dict[str, Any] | None = None,
        xi0: float | None = None,
        xi_rate: float = 2.0,
        init: Any = None,
        order: str = "given",
        n_init: int = 1,
        max_iter: int = 300,
        random_state: int | Generator | None = None,
    ) -> None:
        self.penalty = penalty
        self.n_clusters = n_clusters
        self.divergence = divergence
        self.cluster_model = cluster_model
        self.within_penalty = within_penalty
        self.xi = xi
        self.xi0 = xi0
        self.xi_rate = xi_rate
        self.init = init
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def from_posterior(
        cls,
        posterior: Any,
        X: ArrayLike,
        *,
        divergence: str | Divergence | Family | None = None,
        loss: Any = "vi",
        **settings: Any,
    ) -> Self:
        """Return an estimator at the credibility that a sampler found: its limit where the sampler stands, not beyond.

        With D and f, the free coordinates of a centre, the posterior's point estimate z and its K
        clusters, and W the sum of D(x_i, m_{z_i}) / (n - K),

            gamma   = f / (2 W),
            xi1     = ln(p / (1 - q)) / gamma,   xi2 = ln(q / (1 - p)) / gamma,   p and q the posterior means of a source,
            xi      = ln((1 - eps) / (eps / 2)) / gamma of triplets, or costs -ln C[truth, answer] / gamma,
            penalty = mean_i [ln G(n_{z_i}) - 2 ln G(n_{z_i} / 2) - ln alpha + f / 2 ln(n_{z_i} T /
            (4 W))] / gamma,

        G the gamma function and T the mean D from the mean of all. gamma is what the scatter within
        clusters says of exp(-gamma D), exactly so for spherical Gaussians. The penalty is what it
        costs the sampler to make two halves of a cluster, on average over the items: the first
        terms come from the Chinese restaurant process, the last from one more centre under a base
        measure as wide as the data (Laplace's approximation). About n ln 2 of it is the number of
        ways in which items fall in halves, which J does not know, as it goes away with gamma: at
        the price of a single item that leaves, about ln n - ln alpha, J would split what the
        sampler holds together.

        Where p + q <= 1, or eps >= 2/3, answers tell the sampler nothing or their opposite. The
        limit then leaves the source aside, xi = 0, with a warning. (Under negative xi J would fall
        as well, but may-links would act as may-not-links: that is for the user to decide, by
        correcting such answers.)

        Parameters
        ----------
        posterior : fitted estimator or its posterior_
            Of a fit to X, with or without constraints.
        X : array-like of shape (n, d)
            The same data.
        divergence : str, Divergence, Family or None, default None
            None takes the divergence of the posterior's family; of full Gaussians, the squared
            Mahalanobis distance of the covariance pooled within the clusters of the point estimate.
        loss : str or loss, default "vi"
            Of the point estimate; not used where an estimator has `labels_`.
        **settings
            Other parameters of the estimator; those derived may be overruled.

        Returns
        -------
        RDPMeans
            Not yet fitted: `fit` it with the same constraints. It starts from the point estimate.

        Raises
        ------
        ValueError, TypeError
            If there are no draws, X does not fit to them, or the point estimate leaves no scatter
            within clusters.

        Warns
        -----
        UserWarning
            If a source is left aside.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesclust as bc
        >>> X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.0], [4.0]], 20, axis=0)
        >>> links = bc.PairwiseConstraints.sample(np.repeat([0, 1], 20), size=60, error_rate=0.1, seed=0)
        >>> chains = bc.TVClust(num_chains=2, num_warmup=100, num_samples=100, random_state=0).fit(X, constraints=links)
        >>> bc.RDPMeans.from_posterior(chains, X).fit(X, constraints=links).n_clusters_
        2
        """
        return cls(**{**credible_settings(posterior, X, divergence, loss), **settings})

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> Self:
        """Cluster items under side information.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Missing cells (NaN) are left out by the divergences that can do so.
        y : ignored
        constraints : PairwiseConstraints, RelativeConstraints, list of them or None, default None
            Answers about pairs and triplets. Without any this is DP-means.

        Returns
        -------
        self
        """
        unbound, rng = self._check_settings()
        xi = self._check_xi()
        task = self._read(X, constraints, unbound)
        penalty, steps = self._way_down(task)
        graph, penalty, schedule = self._pose(task, penalty, xi, rng, steps)
        self._keep_components(self._solve(task, graph, penalty, schedule, rng, steps))
        self.xi_: Any = by_view(self._xi, task.constraints)
        return self

    def _check_xi(self) -> Any:
        if self.xi0 is not None:
            check_positive(self.xi0, "xi0")
        number_between(self.xi_rate, "xi_rate", "[1, inf)")
        return check_xi(self.xi)

    def _pose(
        self, task: Task, penalty: float | None, xi: Any, rng: Generator, steps: Steps = PLAIN_STEPS
    ) -> tuple[Graph, float, Schedule]:
        points, divergence, views, _ = task
        rate, n = float(self.xi_rate), len(points)
        if xi is None and rate > 1 and confidence.enough(views):
            tried = candidates(points, divergence) if penalty is None else np.array([penalty])
            penalty, schedule = confidence.choose(
                views, points, divergence, tried, self.xi0, rate, rng, steps
            )
            return pose(views, n)[0], penalty, schedule
        fixed = None if xi is None or xi == GROWS else fixed_confidence(xi, views, n)
        if penalty is None:
            penalty = penalty_from_data(points, divergence)
        if not sum(map(len, views)):
            return link_graph([], n), penalty, NO_LINKS
        if fixed is not None:
            return fixed[0], penalty, Schedule(fixed[1])
        graph, unit = pose(views, n)
        start = self.xi0
        if start is None:
            start = confidence.first_xi(Problem.of(points, divergence, graph, penalty))
        return graph, penalty, Schedule(times(unit, float(start)), rate)
