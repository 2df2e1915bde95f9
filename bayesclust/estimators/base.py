"""What all estimators share: data and answers checked at the door, and scikit-learn's ways of calling."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from time import perf_counter
from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from bayesclust.checks import check_constraints, check_items
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.rules.base import Rules
from bayesclust.typing import ArrayLike, FloatArray, IntArray


def _check_no_answers(y: object) -> None:
    """Refuse answers in the place of labels, where nobody would read them."""
    for view in y if isinstance(y, (list, tuple)) else (y,):
        if isinstance(view, (Constraints, Rules)):
            raise TypeError(
                f"a {type(view).__name__} came as y, which is ignored: pass constraints=... instead."
            )


def _timed(fit: Callable[..., Any]) -> Callable[..., Any]:
    """The same `fit`, which also leaves behind how long it took, in the estimator and in its draws."""

    @wraps(fit)
    def timed(self: Any, X: ArrayLike, y: object = None, **kwargs: Any) -> Any:
        _check_no_answers(y)
        start = perf_counter()
        fitted = fit(self, X, y, **kwargs)
        self.fit_seconds_ = perf_counter() - start
        tree = vars(self).get(
            "posterior_", vars(self).get("_tree")
        )  # none yet where draws are made when asked for
        if tree is not None:
            tree.attrs["fit_seconds"] = self.fit_seconds_
        return fitted

    return timed


def with_names(X: Any) -> Any:
    """Data as scikit-learn is to see them: as they are, or without the names of columns where a name comes twice."""
    columns = getattr(X, "columns", None)
    return X if getattr(columns, "is_unique", True) else X.to_numpy()


class ConstrainedClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: `fit(X, constraints=...)` sets `labels_`, and `fit_seconds_`, its own wall-clock time.

    A run that a checkpoint continues counts the seconds of its last part.
    """

    labels_: IntArray
    fit_seconds_: float

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "fit" in vars(cls):
            setattr(cls, "fit", _timed(vars(cls)["fit"]))  # noqa: B010
        super().__init_subclass__(**kwargs)

    def _enter(
        self,
        X: ArrayLike,
        constraints: Any,
        read: Callable[[Any], FloatArray] = check_items,
        kinds: Collection[str] | None = ("pairwise", "relative"),
    ) -> tuple[FloatArray, list[Constraints]]:
        """Check data with `read` and side information on it, and remember the features."""
        items = read(X)
        validate_data(self, with_names(X), skip_check_array=True)
        return items, check_constraints(constraints, len(items), kinds=kinds)

    def fit_predict(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> IntArray:
        """Fit and return the labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        constraints : Constraints, list of Constraints or None, default None

        Returns
        -------
        ndarray of int, shape (n,)
            `labels_`, numbered from 0 without gaps.
        """
        labels: IntArray = self.fit(X, y, constraints=constraints).labels_
        return labels
