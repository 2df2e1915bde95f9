"""What families of mixed columns put together: the columns of each part, the names of its hyper-parameters, its errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesclust.models.families import base


@contextmanager
def said_of(given: NDArray[np.intp]) -> Iterator[None]:
    """Errors of a part tell which columns it means."""
    try:
        yield
    except ValueError as error:
        raise ValueError(
            f"In the columns {given.tolist()}, numbered from 0 among themselves: {error}"
        ) from error


def unique_names(priors: Sequence[base.HyperPrior]) -> tuple[base.HyperPrior, ...]:
    """The second prior of a name gets "_2" appended, and so on."""
    named: list[base.HyperPrior] = []
    for prior in priors:
        number = sum(other.name == prior.name for other in priors[: len(named)]) + 1
        named.append(prior if number == 1 else replace(prior, name=f"{prior.name}_{number}"))
    return tuple(named)


def columns_of(pairs: Sequence[tuple[base.Family, Any]], d: int) -> tuple[NDArray[np.intp], ...]:
    """Each part's columns as numbers; together every column once."""
    given = []
    for number, (_, columns) in enumerate(pairs):
        try:
            given.append(np.atleast_1d(np.arange(d)[columns]))
        except (IndexError, TypeError):
            raise ValueError(
                f"parts[{number}] asks for the columns {columns!r}, but X has the columns 0 to {d - 1}; "
                "give a list of their numbers."
            ) from None
        if len(given[-1]) == 0:
            raise ValueError(f"parts[{number}] has no columns; give it some or leave it out.")
    times = np.bincount(np.concatenate(given), minlength=d)
    for what, columns, remedy in (
        ("used by no part", np.flatnonzero(times == 0), "give them a family or drop them from X"),
        ("used more than once", np.flatnonzero(times > 1), "give every column to one part"),
    ):
        if len(columns):
            raise ValueError(f"the columns {columns.tolist()} of X are {what}; {remedy}.")
    return tuple(given)
