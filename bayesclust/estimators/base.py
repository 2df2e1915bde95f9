"""The parts that all estimators share.

Input validation, partitions given by users, predictions' input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesclust.checks import check_items, plain_array, true_labels
from bayesclust.constraints.base import Constraints, Needs, check_constraints
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import as_labels
from bayesclust.typing import ArrayLike, FloatArray, IntArray

SINGLE, MIXTURE, AUTO = "single", "mixture", "auto"
"""What a cluster is: one component, several, or what the constraints choose."""


class ConstrainedClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: `fit(X, constraints=...)` sets `labels_`.

    And `fit_seconds_`, its wall-clock time.

    A run that a checkpoint continues counts the seconds of its last part.
    """

    labels_: IntArray
    fit_seconds_: float

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


def read_input(
    estimator: ConstrainedClusterer,
    X: ArrayLike,
    y: object,
    constraints: Any,
    *,
    read: Callable[[Any], FloatArray] = check_items,
    needs: Needs = "table",
) -> tuple[FloatArray, list[Constraints]]:
    """Validate the arguments of a fit: the data by `read`, and the constraints.

    Remember the columns' names.
    """
    for given in y if isinstance(y, (list, tuple)) else (y,):
        if isinstance(given, Constraints):
            raise TypeError(
                f"a {type(given).__name__} came as y, which is ignored: "
                "pass constraints=... instead."
            )
    items = read(X)
    validate_data(estimator, _with_unique_names(X), skip_check_array=True)
    return items, check_constraints(constraints, len(items), needs=needs)


def describe_columns_of_new(estimator: ConstrainedClusterer, X: ArrayLike) -> None:
    """Refuse new items whose columns are not those of the fit."""
    validate_data(estimator, _with_unique_names(X), skip_check_array=True, reset=False)


def _with_unique_names(X: Any) -> Any:
    """The data without names of columns where one occurs twice, which scikit-learn refuses."""
    columns = getattr(X, "columns", None)
    return X if getattr(columns, "is_unique", True) else X.to_numpy()


def check_partition(labels: ArrayLike, n_items: int) -> IntArray:
    """Labels 0 to K - 1 of the items that an estimator was fitted to."""
    z = as_labels(labels, "labels").astype(np.int64)
    if len(z) != n_items:
        raise ValueError(
            f"labels has {len(z)} items, but {n_items} were clustered: pass one label for each."
        )
    return z


def start_labels(init: Any, n_items: int) -> IntArray | None:
    """The partition to start from.

    Labels, those of a fitted estimator, or a posterior's point estimate.
    """
    if init is None:
        return None
    if isinstance(init, BaseEstimator):
        check_is_fitted(init)
        labels = np.asarray(init.labels_)
    elif hasattr(init, "children"):
        labels = point_estimate(init)
    else:
        labels = plain_array(init, "init", "pass one label per item")
    if labels.shape != (n_items,):
        raise ValueError(
            f"init has shape {labels.shape}, but X has {n_items} items: pass one label per item, "
            "an estimator fitted to these items, or its posterior_."
        )
    return true_labels(labels, least=1, name="init")
