"""The methods of the figures and tables, by name, and how their settings are chosen without labels.

A further method is one more entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

import bayesclust as bc
from bayesclust.constraints.base import Constraints
from bayesclust.inference.limits.confidence import FEWEST_ANSWERS, FOLDS, rows_of
from bayesclust.typing import FloatArray, IntArray
from experiments.baselines import itml, k_means, lsml, mmc, sparse_lp, sssvad
from experiments.reproduce.dcrc.answers import ALL, NOTHING, PAIRS, YES_NO, heard

__all__ = ["FIGURE_4", "METHODS", "TABLE_V", "Method", "choose"]

Setting = Mapping[str, float]
STARTS, ROUGH_STARTS = 50, 3


@dataclass(frozen=True)
class Method:
    """How to fit, and what is to be known about it.

    Parameters
    ----------
    title : str
        What tables and figures call it.
    fit : callable
        Of data, answers, the number of clusters, a seed and a setting; returns labels, or an
        estimator that has them.
    hears : {"all", "yes and no", "pairs", "nothing"}, default "all"
    grid : tuple of dict, default of one that is empty
        Settings to choose among, for each set of answers anew, by answers held out.
    """

    title: str
    fit: Callable[..., IntArray | bc.DCRC]
    hears: str = ALL
    grid: tuple[Setting, ...] = ({},)

    @property
    def about(self) -> str:
        """What it is told and what is chosen, in words."""
        chosen = ", ".join(
            f"{name} of {', '.join(f'{setting[name]:g}' for setting in self.grid)}"
            for name in self.grid[0]
        )
        return f"told k, hears {self.hears}" + (f"; {chosen} by answers held out" if chosen else "")


def choose(
    method: Method, X: FloatArray, view: Constraints | None, n_clusters: int, seed: int
) -> Setting:
    """Choose a setting as the paper does: the one that predicts answers held out in five parts most often.

    Parameters
    ----------
    method : Method
    X : (n, d) array
    view : Constraints or None
        Answers, of which the method hears what it can. Parts are the same for every method.
    n_clusters : int
    seed : int

    Returns
    -------
    dict
        The first of equals, and where there are fewer than ten answers the one in the middle.
    """
    if len(method.grid) == 1 or view is None or len(view) < FEWEST_ANSWERS:
        return method.grid[len(method.grid) // 2]
    part = np.random.default_rng(seed).permutation(len(view)) % FOLDS
    right = np.zeros(len(method.grid))
    for fold in range(FOLDS):
        kept, held = (
            heard(rows_of(view, chosen), method.hears) for chosen in (part != fold, part == fold)
        )
        if held is None:
            continue
        for number, setting in enumerate(method.grid):
            labels = method.fit(X, kept, n_clusters, seed, **setting, n_init=ROUGH_STARTS)
            right[number] += (held.truths(labels) == held.answers).sum()
    return method.grid[int(right.argmax())]


def _dcrc(X: FloatArray, constraints: Any, n_clusters: int, seed: int, **settings: Any) -> bc.DCRC:
    return bc.DCRC(n_clusters, random_state=seed, **settings).fit(X, constraints=constraints)


def _grid(name: str, *values: float) -> tuple[Setting, ...]:
    return tuple({name: value} for value in values)


def _started(method: Callable[..., IntArray]) -> Callable[..., IntArray]:
    """The method with the paper's number of starts of k-means, unless another is asked for."""
    return partial(method, n_init=STARTS)


_paper: dict[str, Any] = {"n_init": 1, "balance": True, "tau": "cv", "penalty": "cv"}

_chains: dict[str, Any] = {
    "inference": "gibbs",
    "num_chains": 2,
    "num_warmup": 300,
    "num_samples": 300,
    "progress": False,
}

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "kmeans": Method("k-means", _started(k_means), NOTHING),
        "dcrc": Method("DCRC", _dcrc),
        "dcrc-yn": Method("DCRC-YN", _dcrc, YES_NO),
        "itml": Method("ITML", _started(itml), PAIRS, _grid("slack", 0.1, 1.0, 10.0)),
        "mmc": Method("Xing", _started(mmc), PAIRS),
        "lsml": Method("LSML", _started(lsml), YES_NO, _grid("weight", 1.0, 30.0, 1000.0)),
        "sssvad": Method("SSSVaD", sssvad, YES_NO, _grid("weight", 1.0, 10.0, 100.0)),
        "sparse-lp": Method(
            "sparseLP", _started(sparse_lp), YES_NO, _grid("penalty", 0.1, 1.0, 10.0)
        ),
        "dcrc-paper": Method("DCRC, the paper's search", partial(_dcrc, **_paper)),
        "dcrc-cv": Method("DCRC, tau and lambda chosen", partial(_dcrc, tau="cv", penalty="cv")),
        "dcrc-rbf": Method("DCRC, RBF kernel", partial(_dcrc, kernel="rbf")),
        "dcrc-hard": Method("hard answers", partial(_dcrc, noise=0.0)),
        "dcrc-hard-literal": Method(
            "hard answers, Eq. 14 literally", partial(_dcrc, noise="literal")
        ),
        "dcrc-even": Method("balance enforced", partial(_dcrc, balance=True)),
        "dcrc-no-balance": Method("balance not enforced", partial(_dcrc, balance=False)),
        "dcrc-none": Method("DCRC-NoConst", partial(_dcrc, balance=True), NOTHING),
        "dcrc-15": Method("DCRC", partial(_dcrc, noise=0.15)),
        "dcrc-yn-15": Method("DCRC-YN", partial(_dcrc, noise=0.15), YES_NO),
        "dcrc-learn": Method("DCRC, error rate learned", partial(_dcrc, noise="learn")),
        "dcrc-confusion": Method("DCRC, confusion learned", partial(_dcrc, noise="confusion")),
        "dcrc-gibbs": Method("DCRC, labels drawn", partial(_dcrc, **_chains)),
        "dcrc-full": Method("DCRC, weights drawn too", partial(_dcrc, **_chains, weights="sample")),
    }
)
FIGURE_4 = ("kmeans", "dcrc", "dcrc-yn", "itml", "mmc", "lsml", "sssvad", "sparse-lp")
TABLE_V = (
    *("dcrc-none", "kmeans", "dcrc-15", "dcrc-yn-15", "dcrc-learn", "dcrc-confusion"),
    *("lsml", "sparse-lp", "sssvad", "itml", "mmc"),
)
