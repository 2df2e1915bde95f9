"""Clusters as the classes of a logistic classifier, for TVClust's data and constraints.

DCRC's data term in place of a density of the items (Pei et al., Eq. 6): labels and noise are drawn
from p(z, noise | constraints, X), with weights that are normal around the mode that EM finds. (At
the mode alone, classes of few labelled items are too sure.) It says nothing of the items' density,
so that classes may have any shape that a linear boundary in the standardised columns parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.queries import all_easy
from bayesclust.inference.dcrc.em import PRECISION, EMSettings, fit_em
from bayesclust.inference.dcrc.features import FeatureMap, fit_features, radial_features
from bayesclust.inference.dcrc.gibbs import DCRCProblem
from bayesclust.inference.dcrc.weights import log_moderated_classes, weight_roots
from bayesclust.inference.prediction import FromTerms, Terms
from bayesclust.models.dcrc import unnamed
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class ClassifierProblem(DCRCProblem):
    """A DCRC problem on the items of TVClust, its features remembered for new items."""

    features: FeatureMap
    roots: FloatArray  # (K, d + 1, d + 1)
    """Of the weights' precisions, a Cholesky factor for each class."""
    radial: bool = False
    """Whether features are radial basis functions."""

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.points)

    def to_keep(self, z: IntArray) -> dict[str, Any]:
        """The weights as plain numbers, and the class of each cluster of draws (S, n), by draw."""
        first = [np.unique(own, return_index=True) for own in z]
        classes = [used[np.argsort(at)].tolist() for used, at in first]
        return {"W": self.W.tolist(), "classes": classes}

    def log_classes(self, rows: FloatArray) -> FloatArray:
        """Log class probabilities of rows of features over the weights' uncertainty, (m, K)."""
        return log_moderated_classes(self.W, self.roots, rows)


def classifier_problem(
    X: FloatArray,
    constraints: Sequence[Constraints],
    n_clusters: int,
    search: EMSettings | None,
    rng: Generator,
    *,
    radial: bool = False,
    W: FloatArray | None = None,
) -> ClassifierProblem:
    """Fit the weights, unless given, to items and constraints, as `DCRC` does by default."""
    features = radial_features(X) if radial else fit_features(X, None, rng)
    points = features(X)
    if W is None:
        given = all_easy(constraints)
        answers = max(sum(map(len, given)), 1)
        # items that nobody labelled weigh as many as the labelled ones, whoever labelled these
        units = sum(len(np.unique(one.units)) for one in given)
        penalty = PRECISION / (2 * answers)
        settings = replace(search or EMSettings(), tau=units / answers, penalty=penalty)
        W = fit_em(points, given, n_clusters, settings, rng).W
    roots = weight_roots(W, points[~unnamed(constraints, len(points))], PRECISION)
    return ClassifierProblem(points, tuple(constraints), W, features, roots, radial)


class ClassifierPrediction(FromTerms):
    """Predictions of new items, whose classes may be any, by draws of the classes of the others."""

    def __init__(self, problem: ClassifierProblem, z: IntArray) -> None:
        self.problem = problem
        self.rows = problem.points
        found = [np.unique(own, return_inverse=True) for own in z]
        self.used = [used for used, _ in found]
        self.z = np.array([own for _, own in found])

    def terms(self, rows: FloatArray) -> Iterator[Terms]:
        """The terms of new items; those of classes that no item has in a draw are of a new one."""
        log_p = self.problem.log_classes(rows)
        alone = np.full((len(rows), len(self.z)), -np.inf)
        for s, used in enumerate(self.used):
            if len(used) < log_p.shape[1]:
                alone[:, s] = logsumexp(np.delete(log_p, used, axis=1), axis=1)
        yield Terms(slice(0, len(rows)), [log_p[:, used] for used in self.used], alone)
