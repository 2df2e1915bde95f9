"""Active learning: which query to ask next, and the session that asks it."""

from bayesclust.active.neighbourhoods import NPU
from bayesclust.active.posterior_queries import PosteriorQueries, suggest_queries
from bayesclust.active.protocol import Query, QueryState, QueryStrategy, RandomQueries
from bayesclust.active.session import QUERY_STRATEGIES, InteractiveSession

__all__ = [
    "NPU",
    "QUERY_STRATEGIES",
    "InteractiveSession",
    "PosteriorQueries",
    "Query",
    "QueryState",
    "QueryStrategy",
    "RandomQueries",
    "suggest_queries",
]
