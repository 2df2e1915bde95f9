"""Clusters as the classes of a logistic classifier, for TVClust's data and constraints.

DCRC's data term in place of a density of the items (Pei et al., Eq. 6): given weights W at the mode
that EM finds, labels and noise are drawn from p(z, noise | constraints, X, W). It says nothing of
the items' density, so that classes may have any shape that a linear boundary in the standardised
columns parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from bayesclust.constraints.base import Constraints
from bayesclust.inference.dcrc.em import PRECISION, EMSettings, fit_em
from bayesclust.inference.dcrc.features import FeatureMap, fit_features
from bayesclust.inference.dcrc.gibbs import DCRCProblem
from bayesclust.inference.dcrc.weights import log_classes
from bayesclust.typing import FloatArray, IntArray

TINY = 1e-300


@dataclass(frozen=True)
class ClassifierProblem(DCRCProblem):
    """A DCRC problem on the items of TVClust, its features remembered for new items."""

    features: FeatureMap

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.points)


def classifier_problem(
    X: FloatArray,
    constraints: Sequence[Constraints],
    n_clusters: int,
    search: EMSettings | None,
    rng: Generator,
) -> ClassifierProblem:
    """Fit the weights to items and constraints, by default with the search of `DCRC`."""
    features = fit_features(X, None, rng)
    points = features(X)
    answers = sum(map(len, constraints))
    settings = EMSettings() if search is None else search
    settings = replace(settings, penalty=PRECISION / (2 * max(answers, 1)))
    fit = fit_em(points, constraints, n_clusters, settings, rng)
    return ClassifierProblem(points, tuple(constraints), fit.W, features)


@dataclass(frozen=True)
class ClassifierPrediction:
    """Predictions of new items by a classifier and the classes of the items it was fitted to."""

    problem: ClassifierProblem
    shares: FloatArray  # (n, K) share of the draws in which each item is of each class

    def classes(self, X: FloatArray) -> FloatArray:
        """Probability of each class of new items (m, d): (m, K)."""
        return np.exp(log_classes(self.problem.W, self.problem.features(X)))

    def memberships(self, X: FloatArray, labels: IntArray) -> FloatArray:
        """Probability of each cluster of `labels`; a class stands for those of its items."""
        own = self.shares.T @ np.eye(int(labels.max()) + 1)[labels]
        value = self.classes(X) @ (own / np.maximum(own.sum(axis=1, keepdims=True), TINY)) + TINY
        return value / value.sum(axis=1, keepdims=True)

    def novelty(self, X: FloatArray) -> FloatArray:
        """A classifier has no class for what is new: 0 for every item."""
        return np.zeros(len(X))

    def similarity(self, X: FloatArray) -> FloatArray:
        """Probability that each new item is of the class of each item of the data: (m, n)."""
        return self.classes(X) @ self.shares.T

    def log_density(self, X: FloatArray) -> FloatArray:
        """Refused: a classifier has no density of items."""
        raise ValueError(
            "the model of this fit is a classifier, which has no density of items: fit with "
            'cluster_model="single" or "mixture" for score_samples.'
        )
