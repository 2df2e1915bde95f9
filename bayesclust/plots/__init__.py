"""Pictures of a posterior: which items belong together, which answers to believe, how chains ran, how it becomes a limit."""

from bayesclust.plots.constraints import constraints
from bayesclust.plots.paths import limit_path
from bayesclust.plots.similarity import similarity
from bayesclust.plots.traces import traces

__all__ = ["constraints", "limit_path", "similarity", "traces"]
