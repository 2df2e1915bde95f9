"""The methods of the paper's learning curves, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments.baselines import rca

__all__ = ["ABLATIONS", "METHODS", "VARIANTS", "Method"]


@dataclass(frozen=True)
class Method:
    """How to fit, and what is to be known about it.

    Parameters
    ----------
    title : str
    about : str
        What it is given.
    fit : callable
        Of data, answers, the number of clusters and a seed; returns labels.
    answers : bool, default True
        Whether it hears answers.
    """

    title: str
    about: str
    fit: Callable[[FloatArray, Any, int, int], IntArray]
    answers: bool = True


def _mpck(title: str, about: str, **settings: Any) -> Method:
    def fit(X: FloatArray, links: Any, k: int, seed: int) -> IntArray:
        labels: IntArray = (
            bc.MPCKMeans(k, random_state=seed, **settings).fit(X, constraints=links).labels_
        )
        return labels

    return Method(title, about, fit)


def _pck(X: FloatArray, links: Any, k: int, seed: int) -> IntArray:
    labels: IntArray = (
        bc.MPCKMeans(k, "euclidean", growth=1, random_state=seed).fit(X, constraints=links).labels_
    )
    return labels


def _mk(X: FloatArray, links: Any, k: int, seed: int) -> IntArray:
    labels: IntArray = bc.MPCKMeans(k, random_state=seed).fit(X).labels_
    return labels


def _supervised(X: FloatArray, links: Any, k: int, seed: int) -> IntArray:
    labels: IntArray = (
        bc.MPCKMeans(k, "euclidean", max_iter=0, closure=False, random_state=seed)
        .fit(X, constraints=links)
        .labels_
    )
    return labels


AS_PRINTED: dict[str, Any] = {
    "metric_step": "paper",
    "growth": 1,
    "init": "paper",
    "closure": True,
    "prior_items": 0.0,
    "max_iter": 50,
}

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "sd": _mpck("MPCK-Means, S-D", "one diagonal metric"),
        "sd-unseeded": _mpck(
            "S-D, start without answers", "answers count but do not seed", init="k-means++"
        ),
        "mk": Method("MK-Means", "one diagonal metric, no answers", _mk, answers=False),
        "pck": Method("PCK-Means", "answers, no metric", _pck),
        "kmeans": Method("k-means", "neither answers nor metric", _pck, answers=False),
        "supervised": Method(
            "Supervised-Means", "nearest of the centres that answers suggest", _supervised
        ),
        "md": _mpck("MPCK-Means, M-D", "a diagonal metric for each cluster", per_cluster=True),
        "sf": _mpck("MPCK-Means, S-F", "one full metric", metric="full"),
        "mf": _mpck(
            "MPCK-Means, M-F", "a full metric for each cluster", metric="full", per_cluster=True
        ),
        "rca": Method("RCA + k-means", "a full metric from answers alone", rca),
        "sd-printed": _mpck(
            "S-D as printed", "Eq. 8 with its mending, no prior, full costs at once", **AS_PRINTED
        ),
    }
)

ABLATIONS = ("sd", "sd-unseeded", "mk", "pck", "kmeans", "supervised", "sd-printed")
"""Of Figures 2 to 7."""

VARIANTS = ("sd", "md", "sf", "mf", "rca")
"""Of Figures 8 to 13."""
