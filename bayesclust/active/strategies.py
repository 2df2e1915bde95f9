"""The query strategies by name. A new one is a file with a `QueryStrategy`, and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesclust.active.neighbourhoods import ExploreConsolidate, MinMax
from bayesclust.active.npu import NPU
from bayesclust.active.posterior_queries import PosteriorQueries
from bayesclust.active.protocol import QueryStrategy
from bayesclust.active.random_queries import RandomQueries
from bayesclust.checks import check_choice

QUERY_STRATEGIES: dict[str, QueryStrategy] = {
    "random": RandomQueries("pair"),
    "random-triplets": RandomQueries("triplet"),
    "npu": NPU(),
    "explore-consolidate": ExploreConsolidate(),
    "min-max": MinMax(),
    "posterior": PosteriorQueries("pair"),
    "posterior-triplets": PosteriorQueries("triplet"),
}
"""Query strategies by name, for sessions and the command line."""


def check_query_strategy(query_strategy: Any) -> str | QueryStrategy:
    """Return a name in `QUERY_STRATEGIES` or a callable; refuse anything else."""
    if isinstance(query_strategy, str):
        return check_choice(query_strategy, "query_strategy", QUERY_STRATEGIES)
    if not callable(query_strategy):
        raise TypeError(
            f"query_strategy must be a name or a callable; got {type(query_strategy).__name__}."
        )
    chosen: QueryStrategy = query_strategy
    return chosen


def query_strategy_of(
    query_strategy: str | QueryStrategy, named: Mapping[str, QueryStrategy] = QUERY_STRATEGIES
) -> QueryStrategy:
    """Return the strategy of a name, or the strategy itself; a session passes its own copies."""
    found = check_query_strategy(query_strategy)
    return named[found] if isinstance(found, str) else found
