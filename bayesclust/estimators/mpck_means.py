"""MPCK-Means as a scikit-learn estimator; PCK, MK and Supervised-Means are its settings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from bayesclust import checks
from bayesclust.constraints.base import Constraints
from bayesclust.estimators.base import (
    DistanceClusterer,
    describe_columns_of_new,
    read_input,
    start_labels,
    warn_unless,
)
from bayesclust.estimators.confidence import check_costs
from bayesclust.inference.limits import tuning
from bayesclust.inference.limits.mpck import descend
from bayesclust.inference.limits.mpck.assign import Near, Sizes
from bayesclust.inference.limits.mpck.links import WeightedLinks, closure, contradictions
from bayesclust.inference.limits.rdp_means import means
from bayesclust.posterior.tree import by_size
from bayesclust.typing import ArrayLike, FloatArray, IntArray

EUCLIDEAN = "euclidean"
METRICS = ("diagonal", "full", EUCLIDEAN)
DATA = "data"
COSTS = tuple(10.0 ** np.arange(-3.0, 1.01, 0.5))
"""Costs that "data" tries, from next to none to where constraints decide nearly alone."""
STEPS = ("exact", "paper")
INITS = ("neighbourhoods", "paper", "k-means++")
COST_FORMS = '"data", a number or a pair (must-links, cannot-links)'


@dataclass(eq=False, repr=False)
class MPCKMeans(DistanceClusterer):
    """Metric pairwise constrained k-means: noisy constraints on pairs, and metrics learned.

    With A_h the metric of cluster h (or one for all), and C the covariance of all items, it lowers

        J = sum_i (|x_i - m_{z_i}|_A^2 - log det A_{z_i})
            + sum_same w (|x_i - x_j|_{A_{z_i}}^2 + |x_i - x_j|_{A_{z_j}}^2) / 2
            + sum_different w (diam^2 - |x_i - x_j|_A^2)
            + prior_items sum_h (tr(A_h C) - log det A_h),

    the sums over must-links between items that are apart and cannot-links between items that are
    together, and diam the largest distance of two items under A (Bilenko et al. 2004, Eq. 6;
    without the last term, which keeps J from falling without end).

    Settings make the paper's other methods of it: PCK-Means is ``metric="euclidean"`` (``cost=1,
    growth=1`` as in the paper), MK-Means has no constraints (Eq. 2), and Supervised-Means is
    ``metric="euclidean", max_iter=0, closure=False``.

    Parameters
    ----------
    n_clusters : int or "data", default 3
        K. A cluster may be left without items. "data": of 2, 3, 4, 6, ... that by which constraints
        held out are predicted best, until more are no better.
    metric : {"diagonal", "full", "euclidean"}, default "diagonal"
        Weights of features, or a full matrix. "euclidean" learns none: J is sum_i |x_i - m_{z_i}|^2
        + sum w over the violated constraints (Eq. 1).
    per_cluster : bool, default False
        Whether each cluster has a metric of its own.
    cost : "data", float or (float, float), default "data"
        w, the cost of violating a constraint. "data": from a thousandth to 10 (times the variance
        of X under "euclidean"), by which constraints held out are predicted best; below 10
        constraints 1, as in the paper. Or a number, or (of must-links, of cannot-links).
    constant_cost : bool, default False
        Whether a violated constraint costs w and no more (Eq. 3). Otherwise a must-link costs the
        more the farther apart its items are under the metric, and a cannot-link the nearer (Eq. 6).
    closure : bool or None, default None
        Whether constraints that follow count too, as in the paper; one wrong one then entails many.
        None does so where none contradict others.
    metric_step : {"exact", "paper"}, default "exact"
        "exact" takes the metric at which J is least given labels and centres. "paper" is Eq. 7 and
        8 with its remedies for singular matrices and negative weights, and J may rise.
    prior_items : float, default 1
        Items' worth of the prior that each metric is C^(-1); positive for the exact step.
    growth : int, default 5
        Stages in which `cost` grows from a hundredth to its full size; 1, as in the paper, ends in
        far worse local minima.
    init : str, labels, fitted estimator or posterior, default "neighbourhoods"
        Centres: of the largest sets that must-links join, farthest from each other, and where there
        are too few items drawn as in k-means++; "paper" draws these around the mean of all;
        "k-means++" ignores the constraints. Or labels (n,) of at most K clusters.
    n_init : int, default 1
        Starts, those after the first drawn; the lowest J is taken. A learned metric follows the
        units of the columns, but the starts compare items as they are: one scale for all columns,
        or more starts, saves them from being about a single column.
    min_size, max_size : int or None, default None
        Least and greatest number of items of every cluster. Items then move, or two change places,
        where J falls and sizes allow, and all at once by a flow of least cost (Bradley, Bennett and
        Demiriz 2000); J still falls at every step. With 10,000 items it takes minutes.
    max_diameter : float or None, default None
        Greatest Euclidean distance between two items of a cluster, in units of X whatever the
        metric, as in `MinimalModification`. Items choose among clusters without an item that is
        farther; if one finds none at the start, clusters are those of complete linkage. Not
        together with sizes.
    max_iter : int, default 300
        Largest number of rounds of each start. 0 places every item at the nearest of the centres to
        start from.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    labels_, n_clusters_, cluster_centers_ : (n,) array of int, int, (n_clusters_, d) array
        The largest cluster first.
    cost_ : float or (float, float)
        w as used.
    metric_ : (d,), (d, d), (n_clusters_, d) or (n_clusters_, d, d) array
        A: weights or a matrix, one or one per cluster; not set by ``metric="euclidean"``.
    objective_, objective_path_ : float, (n_iter_,) array
        J, and J after each round of the last of the stages.
    n_iter_, n_violated_ : int
        Rounds, and how many of the given constraints `labels_` violates.
    closure_ : bool
        Whether constraints that follow counted.
    contradictions_ : (b, 2) array of int
        Pairs of cannot-links whose items a chain of must-links joins.

    References
    ----------
    Bilenko, Basu and Mooney (2004): Integrating Constraints and Metric Learning in Semi-Supervised
    Clustering. Eq. 3, 6, 7, 8; Figure 1. Under one metric for all clusters a violated must-link
    weighs 1/2 + 1/2 = 1 in Eq. 7 and 8, not 1/2.

    Bradley, Bennett and Demiriz (2000): Constrained K-Means Clustering. MSR-TR-2000-65.

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

    n_clusters: int | str = 3
    metric: str = "diagonal"
    per_cluster: bool = False
    _: KW_ONLY
    cost: Any = DATA
    constant_cost: bool = False
    closure: bool | None = None
    metric_step: str = "exact"
    prior_items: float = 1.0
    growth: int = 5
    init: Any = "neighbourhoods"
    n_init: int = 1
    min_size: int | None = None
    max_size: int | None = None
    max_diameter: float | None = None
    max_iter: int = 300
    random_state: int | Generator | None = None

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> Self:
        """Cluster items under constraints on pairs.

        Parameters
        ----------
        X, y, constraints
            As of `RDPMeans.fit`, but pairs or labels alone.

        Returns
        -------
        self
        """
        clock = perf_counter()
        settings = self._check_settings()
        points, given = read_input(self, X, y, constraints, needs="links")
        rng = checks.check_random_state(self.random_state)
        near = self._check_diameter(points)
        number, self.cost_ = self._choose(points, given, near, rng)
        self._settle(points, given, number, near, settings, rng)
        self.fit_seconds_ = perf_counter() - clock
        return self

    def _settle(
        self,
        points: FloatArray,
        given: Sequence[Constraints],
        number: Any,
        near: Near | None,
        settings: descend.Settings,
        rng: Generator,
    ) -> None:
        """Fit with `cost_` and a number of clusters that are known."""
        links, n_given = self._links(given, len(points))
        k, init, start = self._check_start(number, len(points))
        sizes = self._check_sizes(k, len(points))
        if near is not None and near.n_clusters > k:
            raise ValueError(
                f"max_diameter={self.max_diameter:g} needs {near.n_clusters} clusters by complete "
                f"linkage, but n_clusters={k}: raise one of them."
            )
        model = self.metric, bool(self.per_cluster), float(self.prior_items), sizes
        problem = descend.Problem.of(points, links, k, *model)
        problem = problem._replace(constant=bool(self.constant_cost), near=near)
        settings = settings._replace(init=init)
        if settings.max_iter == 0:
            solution = descend.place_once(problem, settings, rng)
        else:
            solution = descend.search(problem, settings, self.n_init, rng, start)
        warn_unless(solution.converged, "items still move", self.max_iter, "rounds")
        self._keep(problem, solution)
        self.n_violated_ = int(links.violated(self.labels_)[:n_given].sum())

    def _choose(
        self, items: FloatArray, given: Sequence[Constraints], near: Near | None, rng: Generator
    ) -> tuple[Any, Any]:
        """The number of clusters and the cost, chosen by held-out constraints where asked for."""
        # For each number, labels found without those held out are followed through growing costs.
        number, cost = self.n_clusters, self.cost
        told, priced = not isinstance(number, str), not isinstance(cost, str)
        if not (self.max_iter and tuning.enough(given)):
            if not told:
                raise ValueError(
                    f'n_clusters="data" needs 10 constraints and max_iter=1 at least; got '
                    f"{sum(map(len, given))} and {self.max_iter}: pass a number."
                )
            return number, cost if priced else 1.0
        if told and priced:
            return number, cost
        if not told and tuning.one_sided(given, len(items)):
            raise ValueError(
                'n_clusters="data" needs constraints of both kinds; got such as a single cluster, '
                "or one for each item, would satisfy: pass a number."
            )
        unit = float(items.var(axis=0).sum()) if self.metric == EUCLIDEAN else 1.0
        costs = [cost] if priced else [unit * one for one in COSTS]
        least, most = checks.check_sizes(self.min_size, self.max_size, len(items))
        start = (
            None
            if isinstance(self.init, str)
            else start_labels(self.init, len(items), self._names[0])
        )
        fewest = 1 if near is None else near.n_clusters
        fewest = fewest if start is None else max(fewest, int(start.max()) + 1)
        fit = [k for k in tuning.CLASSES if k * least <= len(items) <= k * most and k >= fewest]
        # if it cannot be, it is refused
        numbers = [number] if told else fit or [2]
        seed = int(rng.integers(2**31))
        scores = {k: np.zeros(len(costs)) for k in numbers}

        def best(k: Any) -> float:
            checks.check_int(k, "n_clusters", most=len(items))
            own = clone(self).set_params(n_init=1, growth=1)
            own._names = self._names
            rough = own._check_settings()
            for kept, held in tuning.folds(given, np.random.default_rng(seed)):
                own.set_params(init=self.init)
                for step, cost in enumerate(costs):
                    own.cost_ = cost
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # of a rough fit
                        own._settle(items, kept, k, near, rough, np.random.default_rng(seed))
                    own.set_params(init=own.labels_)
                    scores[k][step] += tuning.log_prob_given(own.labels_, held)
            return float(scores[k].max())

        number = numbers[int(np.argmax(tuning.until_no_better(numbers, best)))]
        return number, costs[int(scores[number].argmax())]

    def _check_settings(self) -> descend.Settings:
        """Refuse settings out of range; returns those of the descent."""
        checks.check_choice(self.metric, "metric", METRICS)
        checks.check_choice(self.metric_step, "metric_step", STEPS)
        checks.check_flag(self.per_cluster, "per_cluster")
        checks.check_flag(self.constant_cost, "constant_cost")
        if self.closure is not None:
            checks.check_flag(self.closure, "closure")
        checks.check_int(self.n_init, "n_init")
        checks.check_sizes(self.min_size, self.max_size)
        if self.max_diameter is not None:
            checks.number_between(self.max_diameter, "max_diameter", "[0, inf)")
            if (self.min_size, self.max_size) != (None, None) or self.max_iter == 0:
                raise ValueError(
                    "max_diameter goes neither with min_size or max_size nor with max_iter=0: "
                    "leave one of them out."
                )
        if isinstance(self.n_clusters, str):
            checks.check_choice(self.n_clusters, "n_clusters", (DATA,))
        if not (isinstance(self.cost, str) and self.cost == DATA):
            check_costs(self.cost, "cost", COST_FORMS)
        interval = "(0, inf)" if self.metric_step == "exact" else "[0, inf)"
        checks.number_between(self.prior_items, "prior_items", interval)
        return descend.Settings(
            step=self.metric_step,
            max_iter=checks.check_int(self.max_iter, "max_iter", least=0),
            stages=checks.check_int(self.growth, "growth"),
        )

    def _links(self, given: Sequence[Constraints], n: int) -> tuple[WeightedLinks, int]:
        """Return the constraints as links, with those that follow, and how many were given."""
        pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *(one.items for one in given)])
        must = np.concatenate([np.empty(0, dtype=bool), *(one.answers == 1 for one in given)])
        of_must, of_cannot = np.broadcast_to(self.cost_, 2)
        torn = contradictions(pairs, must, n)
        links = WeightedLinks.of(pairs, must, np.where(must, of_must, of_cannot), n)
        self.contradictions_: IntArray = pairs[torn]
        self.closure_ = bool(self.closure if self.closure is not None else not torn.any())
        if self.closure_ and len(pairs):
            try:
                return closure(links), len(pairs)
            except ValueError:
                if self.closure:
                    raise
                self.closure_ = False
        return links, len(pairs)

    def _check_start(self, number: Any, n_items: int) -> tuple[int, str, IntArray | None]:
        """Return the number of clusters, the kind of start, and labels to start from."""
        k = checks.check_int(number, "n_clusters", most=n_items)
        if isinstance(self.init, str):
            if self.init not in INITS:
                options = " or ".join(f'"{name}"' for name in INITS)
                raise ValueError(f"init must be {options}, or labels; got {self.init!r}.")
            return k, self.init, None
        if self.max_iter == 0:
            raise ValueError(
                'init must be "neighbourhoods", "paper" or "k-means++" under max_iter=0: labels '
                "leave nothing to be placed."
            )
        start = start_labels(self.init, n_items, self._names[0])
        if start is not None and start.max() >= k:
            raise ValueError(
                f"init has {start.max() + 1} clusters, more than n_clusters={k}: pass labels of "
                f"at most {k}."
            )
        return k, INITS[0], start

    def _check_sizes(self, k: int, n: int) -> Sizes | None:
        """Return the sizes of clusters, refused if k clusters cannot have them."""
        least, most = checks.check_sizes(self.min_size, self.max_size, n)
        if self.min_size is None and self.max_size is None:
            return None
        if not k * least <= n <= k * most:
            raise ValueError(
                f"{k} clusters of {least} to {most} items have {k * least} to {k * most}, but X "
                f"has {n}: change n_clusters, min_size or max_size."
            )
        return Sizes(0 if self.min_size is None else least, most)

    def _check_diameter(self, X: FloatArray) -> Near | None:
        """Return which items are too far from each other, refused where these do not fit."""
        if self.max_diameter is None:
            return None
        n = len(X)
        room = f"the distances between {n:,} items"
        checks.check_memory(16 * n * n, room, "leave max_diameter out, or cluster fewer items")
        return Near.of(X, float(self.max_diameter))

    def _keep(self, problem: descend.Problem, solution: descend.Solution) -> None:
        """Set labels by size, with centres and metrics."""
        kept, self.labels_ = by_size(solution.z)
        self._middle: FloatArray = problem.X.mean(axis=0)
        self._centers: FloatArray = solution.centers[kept]
        self.cluster_centers_ = means(problem.X, self.labels_)[1]
        if self.max_iter == 0:
            self.cluster_centers_ = self._centers @ np.linalg.pinv(problem.T) + self._middle
        self.n_clusters_ = len(kept)
        self.objective_: float = solution.objective
        self.objective_path_: FloatArray = solution.path
        self.n_iter_ = len(solution.path)
        metrics = solution.metrics
        if problem.per_cluster:
            metrics = descend.Metrics(*(values[kept] for values in metrics))
        if problem.learned:
            units = [problem.form.in_units(A, problem.T) for A in metrics.A]
            self.metric_: FloatArray = np.stack(units) if problem.per_cluster else units[0]
        self._metrics = metrics
        self._model = problem._replace(
            X=problem.X[:0],
            points=problem.points[:0],
            links=WeightedLinks.none(0),
            gaps=problem.gaps[:0],
            n_clusters=self.n_clusters_,
        )

    def _distances(self, X: ArrayLike) -> FloatArray:
        items = checks.check_items(X, least=1)
        describe_columns_of_new(self, X)
        points = np.ascontiguousarray((items - self._middle) @ self._model.T)
        found = descend.distances(self._model._replace(points=points), self._centers, self._metrics)
        log_det = descend.first_log_det(self._model, self._metrics) + self._model.log_volume
        return found - log_det
