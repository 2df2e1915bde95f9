"""Active learning: which query to ask next, and the session that asks it."""

from bayesclust.active.neighbourhoods import ExploreConsolidate, MinMax, Neighbourhoods
from bayesclust.active.npu import NPU
from bayesclust.active.posterior_queries import PosteriorQueries, suggest_queries
from bayesclust.active.protocol import Query, QueryState, QueryStrategy
from bayesclust.active.random_queries import RandomQueries
from bayesclust.active.session import InteractiveSession
from bayesclust.active.strategies import QUERY_STRATEGIES

__all__ = [
    "NPU",
    "QUERY_STRATEGIES",
    "ExploreConsolidate",
    "InteractiveSession",
    "MinMax",
    "Neighbourhoods",
    "PosteriorQueries",
    "Query",
    "QueryState",
    "QueryStrategy",
    "RandomQueries",
    "suggest_queries",
]
