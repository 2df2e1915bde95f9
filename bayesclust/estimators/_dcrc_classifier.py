"""Prediction of DCRC's clusters by its classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesclust.checks import check_items
from bayesclust.estimators.base import with_names
from bayesclust.inference.variational_em.weights import log_softmax
from bayesclust.typing import ArrayLike, FloatArray, IntArray


class ClassifiesNewItems:
    """Prediction by P(y = k | x; W), averaged over the draws of W where there are several."""

    _classifiers: FloatArray  # (draws, K, d + 1), the biases last

    @property
    def coef_(self) -> FloatArray:
        """Weights of the standardised columns or kernel features, (n_clusters, features); their mean where drawn."""
        check_is_fitted(self)
        weights: FloatArray = self._classifiers[:, :, :-1].mean(axis=0)
        return weights

    @property
    def intercept_(self) -> FloatArray:
        """Biases of the clusters, (n_clusters,); their mean where drawn."""
        check_is_fitted(self)
        biases: FloatArray = self._classifiers[:, :, -1].mean(axis=0)
        return biases

    def predict_proba(self: Any, X: ArrayLike) -> FloatArray:
        """Return P(y = k | x; W) of items, answers left aside.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) for a precomputed kernel

        Returns
        -------
        ndarray of shape (m, n_clusters)
            Clusters as in `proba_`.
        """
        check_is_fitted(self)
        items = check_items(X, least=1)
        validate_data(self, with_names(X), skip_check_array=True, reset=False)
        points, total = self._map(items), np.zeros((len(items), self._classifiers.shape[1]))
        for W in self._classifiers:
            total += np.exp(log_softmax(W[:, :-1] @ points.T + W[:, -1:])).T
        return total / len(self._classifiers)

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the most probable cluster of each item, answers left aside.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) for a precomputed kernel

        Returns
        -------
        ndarray of int, shape (m,)
            Of the training data too, labels may differ from `labels_` where answers outweighed the
            classifier.
        """
        labels: IntArray = self.predict_proba(X).argmax(axis=1)
        return labels
