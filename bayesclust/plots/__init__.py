"""Plots of a posterior: partitions, credibility of answers, chains, and the path to the limit.

What a posterior lacks (constraints, noise, data, chains) and other bad input is refused in one
sentence, by a ValueError or a TypeError.
"""

from bayesclust._lazy import unknown
from bayesclust.plots.alluvial import alluvial
from bayesclust.plots.answers import calibration, constraint_graph, credibility, credibility_ranking
from bayesclust.plots.chains import ranks, traces
from bayesclust.plots.limit_path import limit_path
from bayesclust.plots.partitions import n_clusters, partitions, prior_sizes
from bayesclust.plots.profiles import batch_weights, profiles
from bayesclust.plots.similarity import agreement, similarity
from bayesclust.plots.sources import confusion, reliability

__all__ = [
    "agreement",
    "alluvial",
    "batch_weights",
    "calibration",
    "confusion",
    "constraint_graph",
    "credibility",
    "credibility_ranking",
    "limit_path",
    "n_clusters",
    "partitions",
    "prior_sizes",
    "profiles",
    "ranks",
    "reliability",
    "similarity",
    "traces",
]


def __getattr__(name: str) -> object:
    raise unknown(__name__, name, __all__)
