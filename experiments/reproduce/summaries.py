"""Errors and intervals of means, how many draws they are of, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from bayesclust.plots._style import counted
from bayesclust.typing import FloatArray

__all__ = ["half_width", "in_markdown", "span", "standard_error"]


def standard_error(values: FloatArray) -> float:
    """Standard error of a mean; NaN for a single value or none.

    Parameters
    ----------
    values : (m,) array

    Returns
    -------
    float

    Examples
    --------
    >>> standard_error(np.array([1.0, 2.0, 3.0, 4.0])), standard_error(np.array([1.0]))
    (0.645, nan)
    """
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def span(numbers: pd.Series, noun: str) -> str:
    """Say of how many draws, or the like, the rows of a table are.

    Parameters
    ----------
    numbers : Series of int
        Not empty.
    noun : str

    Returns
    -------
    str

    Examples
    --------
    >>> span(pd.Series([1, 1]), "draw"), span(pd.Series([2, 5, 3]), "draw")
    ('1 draw', '2 to 5 draws')
    """
    least, most = int(numbers.min()), int(numbers.max())
    return counted(most, noun) if least == most else f"{least} to {counted(most, noun)}"


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
