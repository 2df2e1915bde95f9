"""Minimal modification of a partition as a scikit-learn estimator."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from bayesclust.checks import check_int, check_sizes, number_between, real_array, true_labels
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.statements import Statement
from bayesclust.estimators.base import ConstrainedClusterer, given_labels, read_input, warn
from bayesclust.estimators.rdp_means import DPMeans
from bayesclust.inference.limits.minimal_modification import program
from bayesclust.inference.limits.minimal_modification.modify import (
    Modification,
    bounds_of,
    modify,
    named_items,
    possible_moves,
)
from bayesclust.typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

NUMBERED = 1000
"""Clusters of few items may be numbered up to this."""


class ConflictError(ValueError):
    """Constraints that cannot all hold.

    Attributes
    ----------
    conflict : list of (str, int)
        An irreducible set of them, by name and row: without any one of them the others can hold.
    """

    def __init__(self, sentence: str, conflict: list[tuple[str, int]]) -> None:
        super().__init__(sentence)
        self.conflict = conflict


@dataclass(eq=False, repr=False)
class MinimalModification(ConstrainedClusterer):
    """The least change of a partition, by whole groups of items, that satisfies constraints.

    Among all partitions P' that satisfy the constraints and keep the super-instances whole, it
    finds the one that minimises

        sum_i 1[P'(i) != P(i)] D[i, P'(i)],

    where P is the given partition and D[i, c] the distance of item i to the nearest anchor of
    cluster c. Items that no constraint names move only with one that does, in its super-instance.
    The minimum is proven, unless time runs out. The solver is OR-tools CP-SAT, of the extra
    `solver`.

    Parameters
    ----------
    anchors : float in [0, 1], default 0.2
        alpha, anchors per item of a cluster (at least one): the items nearest the means of so many
        parts.
    super_instances : float in [0, 1], default 0.3
        beta, super-instances per item of a cluster, with at most one named item in each; with 1
        only named items move.
    min_satisfied : float in (0, 1], default 1
        delta, the share of the hard constraints that must hold at least, rounded up.
    new_clusters : int, default 0
        How many clusters may be added; they have the next numbers.
    new_cluster_distance : float or None, default None
        Distance of every item to a new cluster. None is twice the largest distance to a cluster.
    min_size, max_size : int or None, default None
        Least and greatest number of items of a cluster; a cluster may also be emptied. They always
        hold. Under them, and `max_diameter`, super-instances without a named item move too.
    max_diameter : float or None, default None
        Greatest Euclidean distance between two items of a cluster, in units of X.
    precision : float or None, default None
        gamma, in units of 1 / X, which weighs `credibility` against distance. None lets moving a
        typical item cost 1 nat.
    time_limit : float or None, default 60
        Seconds for the search; then the best partition found is kept, with a warning. With time
        enough, results repeat exactly.

    Attributes
    ----------
    labels_, n_clusters_ : ndarray of shape (n,), int
        The modified partition, in the numbers of the given one: an emptied cluster leaves a gap.
    moved_ : ndarray of int
        Items that changed cluster.
    cost_, objective_ : float
        The distance that they moved, by the formula above, and that with the weights of the
        violated soft constraints.
    bound_, gap_ : float
        No allowed partition has an objective below `bound_`, which is `objective_` less `gap_`.
    violated_ : DataFrame
        The constraints that `labels_` does not satisfy: constraints (name), row, what (in words),
        weight (infinite for hard ones).
    precision_ : float
        gamma.

    Raises
    ------
    ConflictError, TimeoutError, ModuleNotFoundError
        From `fit`, if the constraints cannot hold (it names an irreducible set of them), no
        partition that satisfies them was found in time, or OR-tools is not installed.

    Notes
    -----
    With ``credibility=p`` a violated constraint c adds w_c = ln(p_c / (1 - p_c)) / gamma to the sum
    above, 0 for p_c <= 1/2. This is the mode of a posterior under the prior p(P' | P) ~ exp(-gamma
    sum_i 1[P'(i) != P(i)] D[i, P'(i)]), where answer c is right with probability p_c.

    References
    ----------
    Incremental constrained clustering by minimal weighted modification (IAC): Algorithms 1 to 3 of
    the modification step.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0]]
    >>> seen = [0, 0, 0, 1, 1]
    >>> links = bc.PairwiseConstraints([(2, 3)], [True], n_items=5)
    >>> est = bc.MinimalModification(super_instances=1.0)
    >>> est.fit(X, partition=seen, constraints=links).labels_
    array([0, 0, 1, 1, 1])
    """

    anchors: float = 0.2
    super_instances: float = 0.3
    _: KW_ONLY
    min_satisfied: float = 1.0
    new_clusters: int = 0
    new_cluster_distance: float | None = None
    min_size: int | None = None
    max_size: int | None = None
    max_diameter: float | None = None
    precision: float | None = None
    time_limit: float | None = 60.0

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        partition: Any = None,
        constraints: Any = None,
        credibility: Any = None,
    ) -> Self:
        """Modify a partition.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        partition : array-like of shape (n,), fitted estimator, posterior or None, default None
            The given partition: labels from 0, an estimator fitted to the same items, or the point
            estimate of a posterior. None is what `DPMeans` finds with its defaults.
        constraints : view, rules, list of them or None, default None
            Constraints of any kind. In a triplet, "yes" says that j is with i wherever k is, "no"
            the same of k, and "dnk" nothing.
        credibility : array-like of shape (m,) or None, default None
            Probability that each constraint is right, in order, such as the column of that name of
            `bayesclust.constraint_credibility`. Hard ones, as all are by default, have 1.

        Returns
        -------
        self
        """
        clock = time.perf_counter()
        self.check_settings()
        points, given = read_input(self, X, y, constraints, needs="statements")
        start = DPMeans() if partition is None else partition
        seen = start_partition(start, points, self._names[0])
        sizes = self._check_sizes(seen)
        bounded = sizes != (1, len(seen)) or self.max_diameter is not None
        names = self._names[0] or range(len(points))
        stated = state_constraints(given, int(seen.max()) + 1 + self.new_clusters, names)
        right = probabilities(credibility, len(stated.statements))
        with np.errstate(divide="ignore"):
            weights = np.maximum(np.log(right) - np.log1p(-right), 0.0)
        weights[stated.unsure] = 0.0
        used = np.flatnonzero(weights > 0)
        statements = [stated.statements[row] for row in used]
        moves = possible_moves(
            points,
            seen,
            named_items(statements),
            anchors=self.anchors,
            super_instances=self.super_instances,
            new_clusters=self.new_clusters,
            far=self.new_cluster_distance,
            every=bounded,
        )
        widest = np.inf if self.max_diameter is None else float(self.max_diameter)
        bounds = bounds_of(points, moves.groups, *sizes, widest) if bounded else None
        typical = 1 / moves.typical if moves.typical > 0 else 1.0
        self.precision_ = typical if self.precision is None else float(self.precision)
        weights /= self.precision_
        until = np.inf if self.time_limit is None else time.monotonic() + self.time_limit
        try:
            weighed = weights[used]
            found = modify(seen, moves, statements, weighed, self.min_satisfied, until, bounds)
        except program.Unsatisfiable as error:
            raise self._conflict(stated, used[error.rows]) from None
        except program.OutOfTime:
            raise TimeoutError(
                "no partition that satisfies the constraints was found within "
                f"time_limit={self.time_limit} seconds: allow more time, or let some constraints "
                "be violated (min_satisfied below 1, or credibility)."
            ) from None
        self._keep(seen, found, stated, weights)
        self.fit_seconds_ = time.perf_counter() - clock
        return self

    def check_settings(self) -> None:
        """Refuse settings out of range."""
        for name, interval in (
            ("anchors", "[0, 1]"),
            ("super_instances", "[0, 1]"),
            ("min_satisfied", "(0, 1]"),
        ):
            number_between(getattr(self, name), name, interval)
        for name, interval in (
            ("precision", "(0, inf)"),
            ("new_cluster_distance", "[0, inf)"),
            ("max_diameter", "[0, inf)"),
            ("time_limit", "(0, inf)"),
        ):
            if getattr(self, name) is not None:
                number_between(getattr(self, name), name, interval)
        check_int(self.new_clusters, "new_clusters", least=0)
        check_sizes(self.min_size, self.max_size)

    def _check_sizes(self, seen: IntArray) -> tuple[int, int]:
        """Return the sizes of clusters, refused if no number of clusters can have them."""
        n, K = len(seen), len(np.unique(seen)) + self.new_clusters
        least, most = check_sizes(self.min_size, self.max_size, n)
        if -(-n // most) > min(K, n // least):
            raise ValueError(
                f"no number of clusters up to {K} splits {n} items into clusters of {least} to "
                f"{most}: change min_size or max_size, or allow more new_clusters."
            )
        return least, most

    def _conflict(self, stated: Stated, rows: IntArray) -> ConflictError:
        origin = [stated.origin[row] for row in rows.tolist()]
        names = ("min_size", "max_size", "max_diameter")
        bounds = {name: getattr(self, name) for name in names}
        told = ", ".join(f"{name}={bound}" for name, bound in bounds.items() if bound is not None)
        under = f" under {told}" if told else ""
        if not origin:
            return ConflictError(
                f"no partition has {told} by moving whole super-instances: allow new_clusters, or "
                "raise super_instances (1 moves every item by itself).",
                origin,
            )
        listed = ", ".join(
            f"{name}[{row}] ({stated.in_words(at)})"
            for at, (name, row) in zip(rows, origin, strict=True)
        )
        return ConflictError(
            f"these constraints cannot all hold{under}: {listed}: leave one out, allow "
            "new_clusters, or require less by min_satisfied or credibility.",
            origin,
        )

    def _keep(
        self, seen: IntArray, found: Modification, stated: Stated, weights: FloatArray
    ) -> None:
        if not found.optimal:
            warn(
                f"time is up: the objective is {found.objective:.6g}, and none below "
                f"{found.bound:.6g} is possible; allow a longer time_limit to close the gap."
            )
        self.labels_ = found.labels
        self.n_clusters_ = len(np.unique(found.labels))
        self.moved_: IntArray = np.flatnonzero(found.labels != seen)
        self.cost_, self.objective_, self.bound_ = found.cost, found.objective, found.bound
        self.gap_ = found.objective - found.bound
        self.violated_ = stated.violated(found.labels, weights)


def start_partition(partition: Any, points: FloatArray, names: Sequence[str] | None) -> IntArray:
    """The given partition: labels, or those of an estimator (or a fitted copy) or a posterior."""
    n = len(points)
    if isinstance(partition, BaseEstimator) and not hasattr(partition, "labels_"):
        partition = clone(partition).fit(points)
    array = given_labels(partition, n, "partition", names)
    if isinstance(partition, BaseEstimator) or hasattr(partition, "children"):
        return true_labels(array, 1, "partition")
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"partition must hold integers; got dtype {array.dtype}: number the clusters from 0."
        )
    most = max(2 * n, NUMBERED)  # new clusters have the next numbers, beside ones that fell empty
    if array.min() < 0 or array.max() >= most:
        at = int(np.argmax((array < 0) | (array >= most)))
        raise ValueError(
            f"partition[{at}] is {array[at]}: number the clusters 0, 1, 2, ..., and give noise one "
            "of its own."
        )
    return array.astype(np.int64)


def probabilities(credibility: Any, m: int) -> FloatArray:
    """The probability that each of m constraints is right, 1 where none is given."""
    if credibility is None:
        return np.ones(m)
    found = real_array(credibility, "credibility")
    if found.shape != (m,):
        raise ValueError(
            f"credibility has shape {found.shape}, but there are {m} constraints: pass one "
            "probability for each, in order."
        )
    outside = ~((found >= 0) & (found <= 1))
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"credibility[{at}] is {found[at]}: pass probabilities from 0 to 1.")
    return found


class Stated(NamedTuple):
    """The statements of all constraints, row by row."""

    statements: list[Statement]
    origin: list[tuple[str, int]]  # name of the view or rules, and row
    unsure: BoolArray  # answers "don't know"
    names: Sequence[Any]  # of the items

    def in_words(self, at: int) -> str:
        """Return a statement about items by their names."""
        return str(self.statements[at].renamed(self.names))

    def violated(self, labels: IntArray, weights: FloatArray) -> pd.DataFrame:
        """Return the rows that weigh anything and that labels do not satisfy."""
        import pandas as pd

        plain = labels.tolist()
        rows = [
            (*self.origin[at], self.in_words(at), weights[at])
            for at, statement in enumerate(self.statements)
            if weights[at] > 0 and not statement.holds(plain)
        ]
        table = pd.DataFrame(rows, columns=["constraints", "row", "what", "weight"])
        return table.astype({"row": np.int64, "weight": np.float64})


def state_constraints(
    given: Sequence[Constraints], n_clusters: int, names: Sequence[Any]
) -> Stated:
    """Return the statements of constraints, refusing clusters that there cannot be."""
    statements, origin = [], []
    for constraints in given:
        for row, statement in enumerate(constraints.statements()):
            largest = max(statement.clusters, default=0)
            if largest >= n_clusters:
                raise ValueError(
                    f"{constraints.name}[{row}] names cluster {largest}, but clusters are numbered "
                    f"0 to {n_clusters - 1}, new ones included: correct the number or allow more "
                    "new_clusters."
                )
            statements.append(statement)
            origin.append((constraints.name, row))
    unsure = [np.empty(0, dtype=np.bool_), *(constraints.unsure for constraints in given)]
    return Stated(statements, origin, np.concatenate(unsure), names)
