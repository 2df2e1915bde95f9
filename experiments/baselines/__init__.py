"""Methods that the TVClust and DCRC papers compare with, small and ours, called in one way.

Every one is a function ``method(X, constraints, n_clusters, seed)`` that returns labels 0 to K - 1
of the items. Methods that need the number of clusters are told the true one, as in the paper
(section 5); those that take no answers, or find the number of clusters themselves, leave the
argument aside.

>>> import bayesclust as bc
>>> data = bc.datasets.load("iris")
>>> links = bc.PairwiseConstraints.sample(data.y, size=200, seed=0)
>>> for name in ("k-means", "dp-means", "lcvqe", "itml"):
...     labels = BASELINES[name](data.X, links, 3, 0)
...     print(f"{name}: {bc.metrics.pairwise_f(labels, data.y):.2f}")
k-means: 0.82
dp-means: 0.82
lcvqe: 0.96
itml: 0.96

Those of `RELATIVE_BASELINES` take answers about triplets, of which they hear "yes" and "no".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from bayesclust.typing import FloatArray, IntArray
from experiments.baselines.bregman_k_means import k_means
from experiments.baselines.diagonal_metric import mmc
from experiments.baselines.dirichlet_means import dp_means
from experiments.baselines.learned_metric import itml
from experiments.baselines.relevant_components import rca
from experiments.baselines.sparse_metric import sparse_lp
from experiments.baselines.squared_residuals import lsml
from experiments.baselines.unconstrained import mixture
from experiments.baselines.variant_weights import sssvad
from experiments.baselines.vector_quantization import lcvqe

Baseline = Callable[[FloatArray, Any, int, int], IntArray]
"""What takes data (n, d), answers or None, the true number of clusters and a seed, and returns labels (n,)."""

BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {
        "k-means": k_means,
        "dp-means": dp_means,
        "lcvqe": lcvqe,
        "itml": itml,
        "mmc": mmc,
        "rca": rca,
        "mixture": mixture,
    }
)
"""Which hear answers about pairs, or none."""

RELATIVE_BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {"lsml": lsml, "sparse-lp": sparse_lp, "sssvad": sssvad}
)

__all__ = [
    "BASELINES",
    "RELATIVE_BASELINES",
    "Baseline",
    "dp_means",
    "itml",
    "k_means",
    "lcvqe",
    "lsml",
    "mixture",
    "mmc",
    "rca",
    "sparse_lp",
    "sssvad",
]
