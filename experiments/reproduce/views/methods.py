"""What is compared: the model's views, its limit, and methods that have no posterior."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments.baselines import itml, k_means

__all__ = ["BASELINES", "METHODS", "SAMPLED", "Method"]


@dataclass(frozen=True)
class Method:
    """How to fit, and what is to be known about it.

    Parameters
    ----------
    title, about : str
    fit : callable
        Of data, answers, the number of classes and a seed; returns labels, or an estimator that has
        them.
    answers : bool, default True
        Whether it hears answers.
    """

    title: str
    about: str
    fit: Callable[[FloatArray, Any, int, int], Any]
    answers: bool = True


def _sampled(X: FloatArray, links: Any, k: int, seed: int, **settings: Any) -> bc.TVClust:
    est = bc.TVClust(random_state=seed, progress=False, **settings).fit(X, constraints=links)
    # a sampler that is interrupted returns the draws so far, which are not what the cell stands for
    if est.posterior_.attrs["interrupted"]:
        raise KeyboardInterrupt
    return est


def _limit(X: FloatArray, links: Any, k: int, seed: int) -> IntArray:
    labels: IntArray = bc.RDPMeans(random_state=seed).fit(X, constraints=links).labels_
    return labels


def _dcrc(X: FloatArray, links: Any, k: int, seed: int) -> IntArray:
    labels: IntArray = bc.DCRC(k, random_state=seed).fit(X, constraints=links).labels_
    return labels


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "kmeans": Method("k-means", "told k, hears no answers", k_means, answers=False),
        "rdp-means": Method("RDP-means", "not told k", _limit),
        "itml": Method("ITML + k-means", "told k", itml),
        "dcrc": Method("DCRC", "told k", _dcrc),
        "plain": Method("TVClust", "not told k; a cluster is one Gaussian", _sampled),
        "mixture": Method(
            "TVClust, mixture",
            "not told k; cluster_model='mixture'",
            partial(_sampled, cluster_model="mixture"),
        ),
        "auto": Method(
            "TVClust, auto",
            "not told k; cluster_model='auto'",
            partial(_sampled, cluster_model="auto"),
        ),
    }
)
BASELINES, SAMPLED = ("kmeans", "rdp-means", "itml", "dcrc"), ("plain", "auto")
