"""Which query to ask next, and the session that asks it and corrects the partition by the answers."""

from bayesclust.active.explore_consolidate import ExploreConsolidate
from bayesclust.active.interactive import InteractiveSession
from bayesclust.active.min_max import MinMax
from bayesclust.active.neighbourhoods import Neighbourhoods
from bayesclust.active.npu import NPU
from bayesclust.active.posterior_queries import PosteriorQueries
from bayesclust.active.protocol import Query, QueryState, QueryStrategy
from bayesclust.active.random_queries import RandomQueries
from bayesclust.active.strategies import (
    QUERY_STRATEGIES,
    check_query_strategy,
    query_strategy_of,
)
from bayesclust.active.suggestions import suggest_queries

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
    "check_query_strategy",
    "query_strategy_of",
    "suggest_queries",
]
