"""Which query to ask next. A way to choose is one file with a callable after `QueryStrategy`, and a name in `QUERY_STRATEGIES`."""

from collections.abc import Mapping
from typing import Any

from bayesclust.active.explore_consolidate import ExploreConsolidate
from bayesclust.active.min_max import MinMax
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
"""Choosers by name, for sessions and the command line."""


def check_query_strategy(query_strategy: Any) -> str | QueryStrategy:
    """Return `query_strategy` if it is the name of one, or may be one.

    Parameters
    ----------
    query_strategy : str or callable

    Returns
    -------
    str or callable

    Raises
    ------
    ValueError, TypeError
        If it is neither.
    """
    if isinstance(query_strategy, str):
        return check_choice(query_strategy, "query_strategy", QUERY_STRATEGIES)
    if not callable(query_strategy):
        raise TypeError(
            f"query_strategy must be a name or a callable; got {type(query_strategy).__name__}."
        )
    chosen: QueryStrategy = query_strategy
    return chosen


def query_strategy_of(
    query_strategy: str | QueryStrategy, own: Mapping[str, QueryStrategy] = QUERY_STRATEGIES
) -> QueryStrategy:
    """Return what a name stands for, or the query strategy itself.

    Parameters
    ----------
    query_strategy : str or callable
    own : mapping of str to callable, default `QUERY_STRATEGIES`
        Where names are looked up. A query strategy that keeps what it has heard is of one session alone,
        which has a copy.

    Returns
    -------
    callable

    Raises
    ------
    ValueError, TypeError
        If it is neither.
    """
    found = check_query_strategy(query_strategy)
    return own[found] if isinstance(found, str) else found


__all__ = ["QUERY_STRATEGIES", "check_query_strategy", "query_strategy_of"]
