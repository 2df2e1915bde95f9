"""What all estimators share: data and answers checked at the door, and scikit-learn's ways of calling."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from bayesclust.checks import check_items, check_views
from bayesclust.constraints.base import View
from bayesclust.typing import ArrayLike, FloatArray, IntArray


class ConstrainedClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: `fit(X, constraints=...)` sets `labels_`."""

    labels_: IntArray

    def _enter(
        self,
        X: ArrayLike,
        constraints: Any,
        read: Callable[[Any], FloatArray] = check_items,
        kinds: Collection[str] = ("pairwise", "relative"),
    ) -> tuple[FloatArray, list[View]]:
        """Check data with `read` and side information on it, and remember the features."""
        items = read(X)
        validate_data(self, X, skip_check_array=True)
        return items, check_views(constraints, len(items), kinds=kinds)

    def fit_predict(self, X: ArrayLike, y: object = None, *, constraints: Any = None) -> IntArray:
        """Fit and return the labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        constraints : View, list of View or None, default None

        Returns
        -------
        ndarray of int, shape (n,)
            `labels_`, numbered from 0 without gaps.
        """
        labels: IntArray = self.fit(X, y, constraints=constraints).labels_
        return labels
