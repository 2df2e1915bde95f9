"""Views that grow: which of them hold the answers of others, and the way from one to the other answer by answer."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

import numpy as np

from bayesclust.constraints.base import Constraints

__all__ = ["check_extends", "extends", "one_by_one"]


def extends(constraints: Sequence[Constraints], more: Sequence[Constraints]) -> bool:
    """Tell whether views hold all answers of others, in their order and before any further ones.

    Parameters
    ----------
    constraints, more : sequence of Constraints
        Of the same kinds in the same order, as far as both go.

    Returns
    -------
    bool

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> one, other = PairwiseConstraints([(0, 1)], [True], 3), PairwiseConstraints([(0, 1), (1, 2)], [True, False], 3)
    >>> extends([one], [other]), extends([other], [one]), extends([], [one])
    (True, False, True)
    """
    return len(constraints) <= len(more) and all(
        _continues(old, new) for old, new in zip(constraints, more, strict=False)
    )


def check_extends(constraints: Sequence[Constraints], more: Sequence[Constraints]) -> None:
    """Refuse answers that leave out some of those that were heard.

    Parameters
    ----------
    constraints, more : sequence of Constraints
        Heard before, and all of them.

    Raises
    ------
    ValueError
        If `extends` does not hold of them.
    """
    if not extends(constraints, more):
        raise ValueError(
            "answers that were heard are missing from views: start anew from chains of the other problem."
        )


def _continues(old: Constraints, new: Constraints) -> bool:
    m = len(old)
    alike = (old.kind, old.noise, old.n_items) == (new.kind, new.noise, new.n_items) and m <= len(
        new
    )
    rows = ((old.items, new.items), (old.answers, new.answers), (old.source, new.source))
    return alike and all(np.array_equal(before, after[:m]) for before, after in rows)


def _first(view: Constraints, number: int) -> Constraints:
    """The first answers of a view."""
    part = copy.copy(view)
    part.items, part.answers, part.source = (
        view.items[:number],
        view.answers[:number],
        view.source[:number],
    )
    part.flipped = None
    return part


def one_by_one(
    constraints: Sequence[Constraints], more: Sequence[Constraints]
) -> Iterator[tuple[Constraints, ...]]:
    """Yield the views with one further answer at a time, up to all of `more`.

    Parameters
    ----------
    constraints, more : sequence of Constraints
        Of which `extends` holds.

    Yields
    ------
    tuple of Constraints
    """
    for v, view in enumerate(more):
        for number in range(len(constraints[v]) if v < len(constraints) else 0, len(view)):
            yield (*more[:v], _first(view, number + 1), *constraints[v + 1 :])
