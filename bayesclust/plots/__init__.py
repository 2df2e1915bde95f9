"""Plots of a posterior: partitions, credibility of answers, chains, and the path to the limit."""

from bayesclust.plots.answers import constraint_graph, credibility, credibility_ranking, reliability
from bayesclust.plots.chains import ranks, traces
from bayesclust.plots.limit_path import limit_path
from bayesclust.plots.partitions import entropy, n_clusters, partitions
from bayesclust.plots.profiles import profiles
from bayesclust.plots.similarity import agreement, similarity

__all__ = [
    "agreement",
    "constraint_graph",
    "credibility",
    "credibility_ranking",
    "entropy",
    "limit_path",
    "n_clusters",
    "partitions",
    "profiles",
    "ranks",
    "reliability",
    "similarity",
    "traces",
]
