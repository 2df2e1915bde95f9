"""MPCK-Means as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

from numpy.random import Generator

from bayesclust.checks import check_choice, check_int
from bayesclust.constraints._checks import number_between
from bayesclust.estimators._linked_means import METRICS, LinkedMeans, credible_costs
from bayesclust.typing import ArrayLike

STEPS = ("exact", "paper")


class MPCKMeans(LinkedMeans):
    """Metric pairwise constrained k-means: K clusters, answers about pairs that may be wrong, and metrics learned from both.

    With A_h the metric of cluster h (or one for all), and C the covariance of all items, it lowers

        J = sum_i (|x_i - m_{z_i}|_A^2 - log det A_{z_i})
            + sum_same w (|x_i - x_j|_{A_{z_i}}^2 + |x_i - x_j|_{A_{z_j}}^2) / 2
            + sum_different w (diam^2 - |x_i - x_j|_A^2)
            + prior_items sum_h (tr(A_h C) - log det A_h),

    the sums over answers "same" on items apart and answers "different" on items together, and diam
    the largest distance of two items under A (Bilenko et al. 2004, Eq. 6; without the last term,
    which keeps J from falling without end). Metrics are free of the units of X; only the first
    round, which has Euclidean distance, depends on them.

    Parameters
    ----------
    n_clusters : int, default 3
        K. A cluster may be left without items; `n_clusters_` says how many have some.
    metric : {"diagonal", "full"}, default "diagonal"
        Weights of features, or a full matrix, whose axes are any directions.
    per_cluster : bool, default False
        Whether each cluster has a metric of its own: clusters of different shapes.
    cost : float, (float, float), array or dict, default 1
        w, what breaking an answer costs: a number; (of answers "same", of answers "different"); one
        number per answer, shape (m,); or a dict of these by the names of the views, in which a dict
        by number tells sources apart. `from_posterior` derives it from how often answers are right.
    closure : bool or None, default None
        Whether what the answers entail counts as well, as in the paper: that all items joined by
        answers "same" are the same, and different from those of another such set that one answer
        sets apart. One wrong answer then entails many. None does so where no answer contradicts
        others (`closure_` tells) and less than 20 million pairs follow.
    strict : bool, default False
        Whether answers that contradict others are an error. Otherwise they are counted, and some of
        them broken at their cost.
    metric_step : {"exact", "paper"}, default "exact"
        "exact" takes the metric at which J is least given labels and centres, a convex problem, so
        that J never rises. "paper" is Eq. 7 and 8, with what the paper does where they fail:
        singular matrices get `conditioning` x trace on their diagonal, negative weights are
        clipped, and J may then rise, and go round in circles.
    conditioning : float, default 1e-3
        Of the "paper" step; weights are clipped at so much of the largest one.
    prior_items : float, default 1
        How many items' worth of the prior that each metric is C^(-1); positive for the exact step.
    growth : int, default 5
        Stages in which `cost` grows from a hundredth to what it is, each starting from the labels
        of the one before; J is lowered within the last one. 1 starts at the full cost, as the paper
        does, and gets stuck far above.
    init : {"neighbourhoods", "paper", "k-means++"}, labels, estimator or posterior, default "neighbourhoods"
        Centres to start from: of the sets that answers "same" join, the largest farthest from each
        other, and, where these are fewer than K, of items drawn as in k-means++; "paper" draws the
        latter around the mean of all; "k-means++" heeds no answers. Or labels (n,) of at most K
        clusters, those of a fitted estimator, or the point estimate of a posterior.
    n_init : int, default 1
        How many starts to try, the first as `init` says and others drawn; the lowest J is taken.
    max_iter : int, default 300
        Most rounds of each start, each one placing all items in random order.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    labels_ : (n,) array of int
        0 to n_clusters_ - 1.
    cluster_centers_ : (n_clusters_, d) array
    metric_ : (d,), (d, d), (n_clusters_, d) or (n_clusters_, d, d) array
        A: weights or a matrix, one or one per cluster. Columns that are constant, and directions in
        which no items differ, have no weight.
    n_clusters_ : int
    objective_ : float
        J; log det of the features, or directions, that have weight.
    objective_path_ : (n_iter_,) array
        J after each round of the last stage.
    n_iter_ : int
    n_mended_ : int
        How many metrics of that stage the "paper" step had to condition or clip.
    n_broken_ : int
        How many of the answers given `labels_` break.
    contradictions_ : (b, 2) array of int
        Pairs called different that answers "same", by a chain, make the same.
    n_contradictions_ : int
    closure_ : bool
        Whether what answers entail counted.

    References
    ----------
    Bilenko, Basu and Mooney (2004): Integrating Constraints and Metric Learning in Semi-Supervised
    Clustering. Eq. 6, 7, 8; Figure 1. Under one metric for all clusters a broken must-link weighs
    1/2 + 1/2 = 1 in Eq. 7 and 8, not 1/2.

    Examples
    --------
    Two stripes, cut across by k-means:

    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng, y = np.random.default_rng(0), np.repeat([0, 1], 50)
    >>> X = np.column_stack([rng.normal(scale=4.0, size=100), rng.normal(3.0 * y)])
    >>> links = bc.PairwiseConstraints.sample(y, size=100, seed=0)
    >>> est = bc.MPCKMeans(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> bc.metrics.pairwise_f(est.labels_, y) > 0.85, bool(est.metric_[1] > 5 * est.metric_[0])
    (True, True)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        metric: str = "diagonal",
        per_cluster: bool = False,
        *,
        cost: Any = 1.0,
        closure: bool | None = None,
        strict: bool = False,
        metric_step: str = "exact",
        conditioning: float = 1e-3,
        prior_items: float = 1.0,
        growth: int = 5,
        init: Any = "neighbourhoods",
        n_init: int = 1,
        max_iter: int = 300,
        random_state: int | Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.cost = cost
        self.closure = closure
        self.strict = strict
        self.metric_step = metric_step
        self.conditioning = conditioning
        self.prior_items = prior_items
        self.growth = growth
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def from_posterior(
        cls,
        posterior: Any,
        X: ArrayLike,
        *,
        metric: str = "diagonal",
        loss: Any = "vi",
        **settings: Any,
    ) -> Self:
        """Return an estimator whose costs are what a posterior says of the answers: how often they are right.

        J / 2 is minus the log density of Gaussians with covariances A^(-1). With p and q the
        posterior means of a source, breaking an answer costs it ln(p / (1 - q)) or ln(q / (1 - p))
        nats; so

            w = 2 ln(p / (1 - q)) / mean f_M,    w-bar = 2 ln(q / (1 - p)) / mean f_C,

        f_M = |x_i - x_j|_A^2 over pairs of items that the point estimate puts apart, and f_C =
        diam^2 - |x_i - x_j|_A^2 over those it puts together, under the one metric A that fits its
        clusters. Entailed answers are left out (closure=False). A source with p + q <= 1 is left
        aside, with a warning.

        Parameters
        ----------
        posterior : fitted estimator or its posterior_
            Of a fit to X.
        X : array-like of shape (n, d)
            The same data.
        metric : {"diagonal", "full"}, default "diagonal"
        loss : str or loss, default "vi"
            Of the point estimate; not used where an estimator has `labels_`.
        **settings
            Other parameters of the estimator; those derived may be overruled.

        Returns
        -------
        MPCKMeans
            Not yet fitted: `fit` it with the same constraints. It starts from the point estimate,
            with as many clusters.

        Raises
        ------
        ValueError, TypeError
            If there are no draws, X does not fit to them, answers are not pairwise, or the point
            estimate leaves no scatter.

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
        >>> est = bc.MPCKMeans.from_posterior(chains, X, random_state=0).fit(X, constraints=links)
        >>> est.n_clusters_, est.n_broken_ == int(links.flipped.sum())
        (2, True)
        """
        check_choice(metric, "metric", METRICS)
        derived = credible_costs(posterior, X, loss, metric)
        return cls(**{**derived, "metric": metric, "closure": False, "growth": 1, **settings})

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> Self:
        """Cluster items under answers about pairs.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        constraints : PairwiseConstraints, list of them or None, default None

        Returns
        -------
        self
        """
        metric, per_cluster = self._check_metrics()
        step = check_choice(self.metric_step, "metric_step", STEPS)
        stages = check_int(self.growth, "growth")
        eps = number_between(self.conditioning, "conditioning", "(0, 1)")
        prior = number_between(
            self.prior_items, "prior_items", "(0, inf)" if step == "exact" else "[0, inf)"
        )
        points, links = self._enter_links(X, constraints, self.cost, self.closure, self.strict)
        solution = self._solve(
            points, links, metric, per_cluster, prior, step=step, eps=eps, stages=stages
        )
        self.n_mended_ = solution.mended
        return self
