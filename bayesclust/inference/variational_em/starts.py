"""Where EM starts: k-means and a logistic classifier of its clusters, as in the paper, and dispersed partitions."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.random import Generator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from bayesclust.inference.starts import seeded_partition
from bayesclust.inference.variational_em.weights import fit_logistic
from bayesclust.typing import FloatArray, IntArray

MOST_ITEMS = 5000
"""Starts are made from at most so many items, drawn at random."""
KMEANS_RUNS = 3


def start_weights(
    features: FloatArray, number: int, starts: int, rng: Generator
) -> list[FloatArray]:
    """Return weights to start from.

    The first start is the paper's. The others are classifiers of the nearest of K seeds drawn as in
    k-means++: k-means pulls all its solutions into few basins, which need not hold the clusters
    that the answers are about.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        The last column is 1.
    number : int
        K.
    starts : int
    rng : Generator

    Returns
    -------
    list of ndarray of shape (K, D)
    """
    if len(features) > MOST_ITEMS:
        features = features[rng.choice(len(features), MOST_ITEMS, replace=False)]
    points = features[:, :-1]
    partitions = [_kmeans(points, number, rng)]
    partitions += [seeded_partition(points, number, rng) for _ in range(starts - 1)]
    return [fit_logistic(features, labels, number) for labels in partitions]


def _kmeans(points: FloatArray, number: int, rng: Generator) -> IntArray:
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        # fewer different items than clusters: some clusters stay empty, which is no harm to a start
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels: IntArray = (
            KMeans(number, n_init=KMEANS_RUNS, random_state=seed)
            .fit(points)
            .labels_.astype(np.int64)
        )
    return labels


__all__ = ["start_weights"]
