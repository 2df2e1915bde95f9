"""Bregman divergences, one kind of them each file, and those of the likelihood families."""

from bayesclust.inference.limits.divergences.base import Divergence
from bayesclust.inference.limits.divergences.categorical import Categorical
from bayesclust.inference.limits.divergences.columns import Bernoulli, Poisson
from bayesclust.inference.limits.divergences.euclidean import SquaredEuclidean
from bayesclust.inference.limits.divergences.kullback_leibler import KullbackLeibler
from bayesclust.inference.limits.divergences.mahalanobis import Mahalanobis, Standardized
from bayesclust.inference.limits.divergences.named import DIVERGENCES, as_divergence, divergence_of

__all__ = [
    "DIVERGENCES",
    "Bernoulli",
    "Categorical",
    "Divergence",
    "KullbackLeibler",
    "Mahalanobis",
    "Poisson",
    "SquaredEuclidean",
    "Standardized",
    "as_divergence",
    "divergence_of",
]
