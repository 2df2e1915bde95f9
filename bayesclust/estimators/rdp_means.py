"""RDP-means and DP-means as scikit-learn estimators."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_int, check_positive, check_random_state
from bayesclust.constraints._checks import number_between
from bayesclust.constraints.base import View
from bayesclust.estimators._means import NO_LINKS, MeansClusterer
from bayesclust.inference.limits import confidence
from bayesclust.inference.limits.divergences import Divergence, as_divergence
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.penalty import candidates, penalty_from_data
from bayesclust.inference.limits.rdp_means import Problem, Schedule
from bayesclust.typing import ArrayLike, FloatArray


class RDPMeans(MeansClusterer):
    """Relational DP-means: k-means that finds the number of clusters and weighs doubtful answers about pairs.

    The small-variance limit of TVClust. Coordinate descent, merges of clusters included, lowers

        J = sum_i D(x_i, m_{z_i}) - xi1 #{may-links inside clusters} + xi2 #{may-not-links inside clusters} + penalty K.

    Each answer counts once (the paper's Eq. 20 counts links from both ends, and so does not fall at every step). D and J
    are in squared units of X: put features on one scale first.

    Parameters
    ----------
    penalty : float or None, default None
        lambda, the cost of a cluster: an item farther than this from all centres opens one, answers aside.
    n_clusters : int or None, default None
        A guess of the number of clusters, from which the penalty is set by furthest-first (Kulis and Jordan 2012); more or
        fewer may be found. With neither this nor `penalty`, the penalties of 1 to about sqrt(n) clusters, at most 50, are
        tried: the one is taken that predicts held-out answers best, or, with fewer than ten answers or `xi` given,
        whose DP-means solution has the smallest Bayesian information criterion.
    divergence : {"euclidean", "kl"} or Divergence, default "euclidean"
        D: squared Euclidean distance, or Kullback-Leibler between rows of counts made distributions with 0.3 added to
        each count.
    xi : float, (float, float) or None, default None
        Confidence in answers, in units of D: a number or (xi1, xi2) for may-links and may-not-links is kept fixed. None
        lets it grow from `xi0` to where answers held out in five parts are predicted best, so that doubtful answers do
        not overrule the data. infinity lets it grow without end, as in the paper: right where answers are never wrong.
        Fewer than ten answers are too few to hold some out, and None then means infinity.
    xi0 : float or None, default None
        Where growth starts. None is a thousandth of the mean divergence of items from their overall mean. The paper has
        0.001, in units of its data.
    xi_rate : float, default 2.0
        Growth per pass, the paper's; with 1, xi stays at `xi0`.
    n_init : int, default 1
        Starts. The first is the paper's, all items in one cluster; others are random, and the smallest J is kept. J is
        lower with more, but under growing xi and many wrong answers the single start often gave better partitions.
    max_iter : int, default 300
        Most passes in one descent.
    random_state : int, Generator or None, default None
        Decides how answers are held out, and the random starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Clusters, numbered by their first items.
    n_clusters_ : int
    cluster_centers_ : ndarray of shape (n_clusters_, d)
        Means of the items (for "kl": of their distributions).
    objective_ : float
        J at `xi_`.
    objective_path_ : ndarray of shape (n_iter_,)
        J after each pass, at the xi of that pass; it never rises where xi is fixed.
    penalty_ : float
    xi_ : (float, float)
        xi1 and xi2 of the last pass.
    n_iter_ : int
        Passes of the best start.
    n_features_in_ : int

    Raises
    ------
    ValueError, TypeError
        From `fit`, before any computing, in one sentence: what was got, where, and what to do.

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information, section 4: Eq. 19 is the update, Eq. 20 the objective,
    Algorithm 1 the passes. Kulis and Jordan (2012): Revisiting k-means.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [10.0], [11.0], [5.4]]
    >>> bc.RDPMeans(penalty=30.0).fit(X).labels_
    array([0, 0, 1, 1, 0])
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(3, 4)], cannot_link=[], n_items=5)
    >>> bc.RDPMeans(penalty=30.0, xi=20.0).fit(X, constraints=links).labels_
    array([0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        penalty: float | None = None,
        n_clusters: int | None = None,
        divergence: str | Divergence = "euclidean",
        *,
        xi: float | tuple[float, float] | None = None,
        xi0: float | None = None,
        xi_rate: float = 2.0,
        n_init: int = 1,
        max_iter: int = 300,
        random_state: int | Generator | None = None,
    ) -> None:
        self.penalty = penalty
        self.n_clusters = n_clusters
        self.divergence = divergence
        self.xi = xi
        self.xi0 = xi0
        self.xi_rate = xi_rate
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> Self:
        """Cluster items under side information.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        constraints : PairwiseConstraints, list of them or None, default None
            Answers about pairs; those of several views and sources count alike. Without any this is DP-means.

        Returns
        -------
        self
        """
        divergence = as_divergence(self.divergence)
        check_int(self.n_init, "n_init")
        check_int(self.max_iter, "max_iter")
        fixed = self._fixed_xi()
        rng = check_random_state(self.random_state)
        points, views = self._enter(X, constraints, divergence.points, kinds=("pairwise",))
        penalty = self._penalty(points, divergence)
        penalty, schedule = self._settings(points, divergence, views, penalty, fixed, rng)
        return self._solve(points, divergence, views, penalty, schedule, rng)

    def _fixed_xi(self) -> tuple[float, float] | None:
        """The confidence asked for, infinite for growth without end; None to choose it."""
        if self.xi0 is not None:
            check_positive(self.xi0, "xi0")
        number_between(self.xi_rate, "xi_rate", "[1, inf)")
        xi: Any = self.xi
        if xi is None:
            return None
        if isinstance(xi, Real):
            value = number_between(xi, "xi", "[0, inf]")
            return value, value
        if not isinstance(xi, (tuple, list)) or len(xi) != 2:
            raise TypeError(f"xi must be a number, a pair (xi1, xi2) or None; got {xi!r}.")
        may, may_not = (number_between(value, f"xi[{at}]", "[0, inf)") for at, value in enumerate(xi))
        return may, may_not

    def _settings(
        self,
        points: FloatArray,
        divergence: Divergence,
        views: list[View],
        penalty: float | None,
        fixed: tuple[float, float] | None,
        rng: Generator,
    ) -> tuple[float, Schedule]:
        rate = float(self.xi_rate)
        if fixed is None and rate > 1 and confidence.enough(views):
            tried = candidates(points, divergence) if penalty is None else np.array([penalty])
            return confidence.choose(views, points, divergence, tried, self.xi0, rate, rng)
        if penalty is None:
            penalty = penalty_from_data(points, divergence)
        if not sum(map(len, views)):
            return penalty, NO_LINKS
        if fixed is not None and math.isfinite(fixed[0]):
            return penalty, Schedule(fixed)
        problem = Problem.of(points, divergence, link_graph(views, len(points)), penalty)
        start = confidence.first_xi(problem) if self.xi0 is None else float(self.xi0)
        return penalty, Schedule((start, start), rate)


class DPMeans(MeansClusterer):
    """DP-means: k-means that finds the number of clusters (Kulis and Jordan 2012).

    RDP-means without answers; see `RDPMeans` for what the parameters and attributes have in common. Passes over the items
    and merges of clusters lower J = sum_i D(x_i, m_{z_i}) + penalty K.

    Parameters
    ----------
    penalty : float or None, default None
        lambda, the cost of a cluster: an item farther than this from all centres opens one.
    n_clusters : int or None, default None
        A guess of the number of clusters, from which the penalty is set by furthest-first. With neither this nor
        `penalty`, of the penalties of 1 to about sqrt(n) clusters, at most 50, the one is taken whose solution has the
        smallest Bayesian information criterion.
    divergence : {"euclidean", "kl"} or Divergence, default "euclidean"
        D: squared Euclidean distance, or Kullback-Leibler between rows of counts made distributions.
    n_init : int, default 1
        Starts: all items in one cluster, then random ones; the smallest J is kept.
    max_iter : int, default 300
        Most passes in one descent.
    random_state : int, Generator or None, default None
        Decides the random starts; with one start nothing is random.

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_, objective_, objective_path_, penalty_, xi_, n_iter_, n_features_in_
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
        divergence: str | Divergence = "euclidean",
        *,
        n_init: int = 1,
        max_iter: int = 300,
        random_state: int | Generator | None = None,
    ) -> None:
        self.penalty = penalty
        self.n_clusters = n_clusters
        self.divergence = divergence
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
        divergence = as_divergence(self.divergence)
        check_int(self.n_init, "n_init")
        check_int(self.max_iter, "max_iter")
        rng = check_random_state(self.random_state)
        if constraints is not None:
            raise TypeError("DPMeans takes no constraints: use RDPMeans.")
        points, _ = self._enter(X, None, divergence.points)
        penalty = self._penalty(points, divergence)
        if penalty is None:
            penalty = penalty_from_data(points, divergence)
        return self._solve(points, divergence, [], penalty, NO_LINKS, rng)
