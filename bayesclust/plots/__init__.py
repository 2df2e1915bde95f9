"""Pictures of a posterior: which items belong together, which answers to believe, how the chains ran."""

from bayesclust.plots.constraints import constraints
from bayesclust.plots.similarity import similarity
from bayesclust.plots.traces import traces

__all__ = ["constraints", "similarity", "traces"]
