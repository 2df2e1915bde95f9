"""Ways to choose questions, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bayesclust.active import (
    NPU,
    ExploreConsolidate,
    MinMax,
    PosteriorQueries,
    QueryStrategy,
    RandomQueries,
)

__all__ = ["COMPARED", "METHODS", "OURS", "TARGET", "Method", "posterior"]

OURS, TARGET = "posterior", "vi"


@dataclass(frozen=True)
class Method:
    """How questions are chosen, and what is to be known about it.

    Parameters
    ----------
    title : str
    about : str
        What it looks at.
    make : callable
        Returns a chooser for one session, given the posterior that hears the answers.
    """

    title: str
    about: str
    make: Callable[[PosteriorQueries], QueryStrategy]


def posterior(target: str = TARGET) -> PosteriorQueries:
    """Return what hears the answers in every session, whoever chooses the questions: the defaults, but that it never stops.

    Parameters
    ----------
    target : str, default "vi"
        What questions it would choose itself are to tell.

    Returns
    -------
    PosteriorQueries
    """
    return PosteriorQueries(target=target, min_gain=0.0)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        OURS: Method(
            "posterior", "expected fall of the posterior expected VI", lambda heard: heard
        ),
        "information": Method(
            "information",
            "expected information about the partition",
            lambda _: posterior("partition"),
        ),
        "npu": Method(
            "NPU", "neighbourhoods, and a forest that learns the point estimate", lambda _: NPU()
        ),
        "explore-consolidate": Method(
            "explore, consolidate",
            "neighbourhoods and distances, as many clusters as found",
            lambda _: ExploreConsolidate(),
        ),
        "min-max": Method("min-max", "neighbourhoods and distances", lambda _: MinMax()),
        "random": Method("random", "nothing", lambda _: RandomQueries()),
    }
)
COMPARED = (OURS, "npu", "random")
