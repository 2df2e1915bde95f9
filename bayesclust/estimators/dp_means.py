"""DP-means as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

from numpy.random import Generator

from bayesclust.estimators._means import NO_LINKS, MeansClusterer
from bayesclust.families import Divergence, Family
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.penalty import penalty_from_data
from bayesclust.typing import ArrayLike


class DPMeans(MeansClusterer):
    """DP-means: k-means that finds the number of clusters (Kulis and Jordan 2012).

    RDP-means without answers; see `RDPMeans` for what the parameters and attributes have in common.
    Passes over the items and merges of clusters lower J = sum_i D(x_i, m_{z_i}) + penalty K.

    Parameters
    ----------
    penalty : float or None, default None
        lambda, the cost of a cluster: an item farther than this from all centres opens one.
    n_clusters : int or None, default None
        A guess of the number of clusters, from which the penalty is set by furthest-first. With
        neither this nor `penalty`, of the penalties of 1 to about sqrt(n) clusters, at most 50, the
        one is taken whose solution has the smallest Bayesian information criterion.
    divergence : str, Divergence or Family, default "euclidean"
        D, as in `RDPMeans`.
    init : labels of shape (n,), fitted estimator, posterior or None, default None
        The first start; None is all items in one cluster.
    order : {"given", "random"}, default "given"
        In which order passes visit the items.
    n_init : int, default 1
        Starts, the first and random ones; the smallest J is kept.
    max_iter : int, default 300
        Most passes in one descent.
    random_state : int, Generator or None, default None
        Decides the random starts and the random order; with one start in the given order nothing is
        random.

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, objective_, objective_path_, penalty_, xi_, n_iter_,
    n_features_in_
        As in `RDPMeans`; `xi_` is (0, 0).

    Raises
    ------
    ValueError, TypeError
        From `fit`, before any computing, in one sentence: what was got, where, and what to do.

    Examples
    --------
    >>> DPMeans(penalty=30.0).fit_predict([[0.0], [1.0], [10.0], [11.0], [5.4]])
    array([0, 0, 1, 1, 0])
    """

    def __init__(
        self,
        penalty: float | None = None,
        n_clusters: int | None = None,
        divergence: str | Divergence | Family = "euclidean",
        *,
        init: Any = None,
        order: str = "given",
        n_init: int = 1,
        max_iter: int = 300,
        random_state: int | Generator | None = None,
    ) -> None:
        self.penalty = penalty
        self.n_clusters = n_clusters
        self.divergence = divergence
        self.init = init
        self.order = order
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
            For a common way of calling; `RDPMeans` takes answers.

        Returns
        -------
        self
        """
        unbound, rng = self._check_settings()
        if constraints is not None:
            raise TypeError("DPMeans takes no constraints: use RDPMeans.")
        task = self._read(X, None, unbound)
        penalty = self._penalty(task.points, task.divergence)
        if penalty is None:
            penalty = penalty_from_data(task.points, task.divergence)
        self._solve(task, link_graph([], len(task.points)), penalty, NO_LINKS, rng)
        self.xi_ = NO_LINKS.xi
        return self
