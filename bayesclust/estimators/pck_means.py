"""PCK-Means, MK-Means and Supervised-Means, the parts of MPCK-Means alone, as scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Self

from numpy.random import Generator

from bayesclust.checks import number_between
from bayesclust.estimators._linked_means import LinkedMeans, credible_costs
from bayesclust.typing import ArrayLike


class PCKMeans(LinkedMeans):
    """Pairwise constrained k-means: K clusters under Euclidean distance, and answers that may be broken at a cost.

    It lowers, and never raises,

        J = sum_i |x_i - m_{z_i}|^2 + sum_same w [z_i != z_j] + sum_different w [z_i = z_j]

    (Bilenko et al. 2004, Eq. 1). J is in squared units of X: put features on one scale first, and
    costs on theirs.

    Parameters
    ----------
    n_clusters : int, default 3
    cost : float, (float, float), array or dict, default 1
        w, in squared units of X; the forms are those of `MPCKMeans`.
    closure : bool or None, default None
    strict : bool, default False
    init : {"neighbourhoods", "paper", "k-means++"}, labels, estimator or posterior, default "neighbourhoods"
    n_init : int, default 1
    max_iter : int, default 300
    random_state : int, Generator or None, default None
        These as in `MPCKMeans`.

    Attributes
    ----------
    labels_, cluster_centers_, n_clusters_, objective_, objective_path_, n_iter_
    n_broken_, contradictions_, n_contradictions_, closure_
        As in `MPCKMeans`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [10.0], [11.0], [4.0]]
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(3, 4)], cannot_link=[], n_items=5)
    >>> for cost in (0.0, 30.0):
    ...     est = bc.PCKMeans(n_clusters=2, cost=cost, n_init=10, random_state=0).fit(X, constraints=links)
    ...     print(est.n_broken_, bool(est.labels_[4] == est.labels_[0]), bool(est.labels_[4] == est.labels_[3]))
    1 True False
    0 False True
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        cost: Any = 1.0,
        closure: bool | None = None,
        strict: bool = False,
        init: Any = "neighbourhoods",
        n_init: int = 1,
        max_iter: int = 300,
        random_state: int | Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.cost = cost
        self.closure = closure
        self.strict = strict
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def from_posterior(
        cls, posterior: Any, X: ArrayLike, *, loss: Any = "vi", **settings: Any
    ) -> Self:
        """Return an estimator whose costs are what a posterior says of the answers: how often they are right.

        With s^2 the variance within the clusters of the point estimate, per feature, J / (2 s^2) is
        minus the log density of spherical Gaussians; so w = 2 s^2 ln(p / (1 - q)) for answers
        "same" and 2 s^2 ln(q / (1 - p)) for "different", p and q the posterior means of a source:
        the confidence xi of `RDPMeans.from_posterior`. Entailed answers are left out.

        Parameters
        ----------
        posterior : fitted estimator or its posterior_
            Of a fit to X.
        X : array-like of shape (n, d)
            The same data.
        loss : str or loss, default "vi"
            Of the point estimate; not used where an estimator has `labels_`.
        **settings
            Other parameters of the estimator; those derived may be overruled.

        Returns
        -------
        PCKMeans
            Not yet fitted: `fit` it with the same constraints. It starts from the point estimate,
            with as many clusters.

        Raises
        ------
        ValueError, TypeError
            If there are no draws, X does not fit to them, answers are not pairwise, or the point
            estimate leaves no scatter.
        """
        return cls(**{**credible_costs(posterior, X, loss, None), "closure": False, **settings})

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
        self._solve(
            *self._enter_links(X, constraints, self.cost, self.closure, self.strict), stages=1
        )
        return self


class MKMeans(LinkedMeans):
    """K-means with metrics learned from the items alone: `MPCKMeans` without answers (Bilenko et al. 2004, Eq. 2).

    Parameters
    ----------
    n_clusters : int, default 3
    metric : {"diagonal", "full"}, default "diagonal"
    per_cluster : bool, default False
    prior_items : float, default 1
    init : {"k-means++", "paper"}, labels, estimator or posterior, default "k-means++"
        "paper" draws all centres around the mean of all items.
    n_init : int, default 1
    max_iter : int, default 300
    random_state : int, Generator or None, default None
        These as in `MPCKMeans`.

    Attributes
    ----------
    labels_, cluster_centers_, metric_, n_clusters_, objective_, objective_path_, n_iter_
        As in `MPCKMeans`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> data = bc.datasets.load("wine")  # one of the features is a thousand times as wide as others
    >>> plain, learned = bc.PCKMeans(random_state=0).fit(data.X), bc.MKMeans(random_state=0).fit(data.X)
    >>> bc.metrics.pairwise_f(plain.labels_, data.y) < 0.6, bc.metrics.pairwise_f(learned.labels_, data.y) > 0.85
    (True, True)
    """

    def __init__(
        self,
        n_clusters: int = 3,
        metric: str = "diagonal",
        per_cluster: bool = False,
        *,
        prior_items: float = 1.0,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        random_state: int | Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.prior_items = prior_items
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, *, constraints: None = None) -> Self:
        """Cluster items.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        constraints : None
            For a common way of calling; `MPCKMeans` takes answers.

        Returns
        -------
        self
        """
        if constraints is not None:
            raise TypeError("MKMeans takes no constraints: use MPCKMeans.")
        metric, per_cluster = self._check_metrics()
        prior = number_between(self.prior_items, "prior_items", "(0, inf)")
        points, links = self._enter_links(X, None, 1.0, False, False)
        self._solve(points, links, metric, per_cluster, prior)
        return self


class SupervisedMeans(LinkedMeans):
    """Items go to the nearest of the centres that answers suggest, once: the baseline of Bilenko et al. 2004, section 4.2.

    Parameters
    ----------
    n_clusters : int, default 3
    init : {"neighbourhoods", "paper"}, default "neighbourhoods"
        As in `MPCKMeans`; without answers the centres are items drawn as in k-means++, or around
        the mean of all.
    strict : bool, default False
    random_state : int, Generator or None, default None

    Attributes
    ----------
    labels_, n_clusters_, n_broken_, contradictions_, n_contradictions_
        As in `MPCKMeans`.
    cluster_centers_ : (n_clusters_, d) array
        The centres that answers suggest, of those clusters that got items.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [10.0], [11.0], [5.0]]
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(0, 1), (2, 3)], cannot_link=[], n_items=5)
    >>> est = bc.SupervisedMeans(n_clusters=2).fit(X, constraints=links)
    >>> est.labels_, est.cluster_centers_.ravel()
    (array([0, 0, 1, 1, 0]), array([ 0.5, 10.5]))
    """

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        init: Any = "neighbourhoods",
        strict: bool = False,
        random_state: int | Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.strict = strict
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> Self:
        """Find centres and place the items.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        constraints : PairwiseConstraints, list of them or None, default None

        Returns
        -------
        self
        """
        self._place(*self._enter_links(X, constraints, 1.0, False, self.strict))
        return self
