"""Answers about pairs and triplets, said in the language of rules."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from bayesclust.constraints.pairwise import PairwiseConstraints
from bayesclust.constraints.relative import DNK, YES, RelativeConstraints
from bayesclust.constraints.rules.base import Rules
from bayesclust.constraints.rules.statements import (
    Apart,
    Closer,
    Either,
    Every,
    Statement,
    Together,
)
from bayesclust.typing import BoolArray


@singledispatch
def statements_of(constraints: Any) -> list[Statement]:
    """Return what each row of a view or of rules says of a partition, if it is right.

    Of a triplet (i, j, k), "yes" says that j is with i wherever k is (G_i = G_k implies G_i = G_j),
    which is less than what the probabilistic models read into it, and "no" the same with j and k
    exchanged. "dnk" says that j and k are both with i or both not.

    Parameters
    ----------
    constraints : PairwiseConstraints, RelativeConstraints or Rules

    Returns
    -------
    list of Statement

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> triplets = RelativeConstraints([(0, 1, 2), (0, 1, 2)], ["yes", "dnk"], n_items=3)
    >>> [str(statement) for statement in statements_of(triplets)]
    ['item 0 nearer to 1 than to 2',
     '(items 0 and 1 together and items 0 and 2 together, or items 0 and 1 apart and items 0 and 2
     apart)']
    """
    raise TypeError(
        f"{type(constraints).__name__} says nothing of a partition: pass a view or rules."
    )


@statements_of.register
def _of_rules(constraints: Rules) -> list[Statement]:
    return constraints.statements()


@statements_of.register
def _of_pairs(constraints: PairwiseConstraints) -> list[Statement]:
    rows = zip(constraints.items.tolist(), constraints.answers.tolist(), strict=True)
    return [Together(i, j) if same else Apart(i, j) for (i, j), same in rows]


@statements_of.register
def _of_triplets(constraints: RelativeConstraints) -> list[Statement]:
    rows = zip(constraints.items.tolist(), constraints.answers.tolist(), strict=True)
    return [_of_triplet(i, j, k, answer) for (i, j, k), answer in rows]


def _of_triplet(i: int, j: int, k: int, answer: int) -> Statement:
    if answer == DNK:
        return Either((Every((Together(i, j), Together(i, k))), Every((Apart(i, j), Apart(i, k)))))
    return Closer(i, j, k) if answer == YES else Closer(i, k, j)


def unsure(constraints: Any) -> BoolArray:
    """Tell which rows are answers "don't know".

    Parameters
    ----------
    constraints : Constraints or Rules

    Returns
    -------
    (m,) array of bool
    """
    if isinstance(constraints, RelativeConstraints):
        found: BoolArray = constraints.answers == DNK
        return found
    return np.zeros(len(constraints), dtype=np.bool_)


__all__ = ["statements_of", "unsure"]
