"""Intervals of means, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from bayesclust.typing import FloatArray

__all__ = ["half_width", "in_markdown"]


def half_width(deviations: FloatArray, trials: FloatArray) -> FloatArray:
    """Half the width of the 95% interval of a mean, by Student's t; NaN for a single draw.

    Parameters
    ----------
    deviations, trials : array
        Standard deviations, and of how many draws.

    Returns
    -------
    array

    Examples
    --------
    >>> half_width(np.array([1.0]), np.array([4])).round(2)
    array([1.59])
    """
    from scipy.stats import t

    trials = np.asarray(trials, dtype=np.float64)
    width: FloatArray = t.ppf(0.975, np.maximum(trials - 1, 1)) * deviations / np.sqrt(trials)
    return np.where(trials > 1, width, np.nan)


def in_markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    r"""Write a table in Markdown.

    Parameters
    ----------
    head : iterable of str
        Titles of the columns.
    rows : iterable of iterables of str

    Yields
    ------
    str
        Line by line.

    Examples
    --------
    >>> print(*in_markdown(["", "F"], [["k-means", "0.74"]]), sep="\n")
    |  | F |
    |---|---|
    | k-means | 0.74 |
    """
    names = list(head)
    yield "| " + " | ".join(names) + " |"
    yield "|---" * len(names) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
