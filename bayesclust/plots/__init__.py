"""Pictures of a posterior: which items belong together, which answers to believe, how chains ran, how it becomes a limit."""

from bayesclust.plots.agreement import agreement
from bayesclust.plots.credibility import credibility
from bayesclust.plots.credibility_ranking import credibility_ranking
from bayesclust.plots.entropy import entropy
from bayesclust.plots.graph import constraint_graph
from bayesclust.plots.numbers import n_clusters
from bayesclust.plots.partitions import partitions
from bayesclust.plots.paths import limit_path
from bayesclust.plots.ranks import ranks
from bayesclust.plots.reliability import reliability
from bayesclust.plots.similarity import similarity
from bayesclust.plots.traces import traces

__all__ = [
    "agreement",
    "constraint_graph",
    "credibility",
    "credibility_ranking",
    "entropy",
    "limit_path",
    "n_clusters",
    "partitions",
    "ranks",
    "reliability",
    "similarity",
    "traces",
]
