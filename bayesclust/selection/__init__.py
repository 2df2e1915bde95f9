"""Which question to ask next. A way to choose is one file with a callable after `Chooser`, and a name in `CHOOSERS`."""

from collections.abc import Mapping
from typing import Any

from bayesclust.checks import check_choice
from bayesclust.selection.explore_consolidate import ExploreConsolidate
from bayesclust.selection.min_max import MinMax
from bayesclust.selection.neighbourhoods import Neighbourhoods
from bayesclust.selection.npu import NPU
from bayesclust.selection.posterior_questions import PosteriorQuestions
from bayesclust.selection.protocol import Chooser, Question, Situation
from bayesclust.selection.random_questions import RandomQuestions
from bayesclust.selection.suggestions import suggest

CHOOSERS: dict[str, Chooser] = {
    "random": RandomQuestions("pair"),
    "random-triplets": RandomQuestions("triplet"),
    "npu": NPU(),
    "explore-consolidate": ExploreConsolidate(),
    "min-max": MinMax(),
    "posterior": PosteriorQuestions("pair"),
    "posterior-triplets": PosteriorQuestions("triplet"),
}
"""Choosers by name, for sessions and the command line."""


def check_chooser(chooser: Any) -> str | Chooser:
    """Return `chooser` if it is the name of one, or may be one.

    Parameters
    ----------
    chooser : str or callable

    Returns
    -------
    str or callable

    Raises
    ------
    ValueError, TypeError
        If it is neither.
    """
    if isinstance(chooser, str):
        return check_choice(chooser, "chooser", CHOOSERS)
    if not callable(chooser):
        raise TypeError(f"chooser must be a name or a callable; got {type(chooser).__name__}.")
    chosen: Chooser = chooser
    return chosen


def chooser_of(chooser: str | Chooser, own: Mapping[str, Chooser] = CHOOSERS) -> Chooser:
    """Return what a name stands for, or the chooser itself.

    Parameters
    ----------
    chooser : str or callable
    own : mapping of str to callable, default `CHOOSERS`
        Where names are looked up. A chooser that keeps what it has heard is of one session alone,
        which has a copy.

    Returns
    -------
    callable

    Raises
    ------
    ValueError, TypeError
        If it is neither.
    """
    found = check_chooser(chooser)
    return own[found] if isinstance(found, str) else found


__all__ = [
    "CHOOSERS",
    "NPU",
    "Chooser",
    "ExploreConsolidate",
    "MinMax",
    "Neighbourhoods",
    "PosteriorQuestions",
    "Question",
    "RandomQuestions",
    "Situation",
    "check_chooser",
    "chooser_of",
    "suggest",
]
