"""Monte Carlo error by batch means: how much the means of successive stretches of the chains scatter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from bayesclust.typing import FloatArray, NDArray

__all__ = ["batch_error", "batches", "error_of_means"]

BATCHES = 20


def batches(chains: int, draws: int) -> Iterator[tuple[int, int, int]]:
    """Yield chain, first and last draw of stretches of the chains: 20 of each, or as many as there are draws.

    Parameters
    ----------
    chains, draws : int

    Yields
    ------
    tuple of three int

    Examples
    --------
    >>> list(batches(chains=2, draws=2))
    [(0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 1, 2)]
    """
    edges = np.linspace(0, draws, min(BATCHES, draws) + 1).astype(int).tolist()
    yield from ((c, first, last) for c in range(chains) for first, last in pairwise(edges))


def error_of_means(means: list[FloatArray]) -> FloatArray:
    """Return the standard error of the overall mean from those of batches; nan from a single one.

    Parameters
    ----------
    means : list of arrays of one shape

    Returns
    -------
    array of that shape

    Examples
    --------
    >>> error_of_means([np.array([1.0]), np.array([3.0])])
    array([1.])
    """
    if len(means) < 2:
        return np.full(np.shape(means[0]), np.nan)
    error: FloatArray = np.std(means, axis=0, ddof=1) / np.sqrt(len(means))
    return error


def batch_error(values: NDArray[Any]) -> FloatArray:
    """Return the Monte Carlo standard error of the mean over draws.

    Parameters
    ----------
    values : (chain, draw, ...) array

    Returns
    -------
    (...) array of float

    Examples
    --------
    >>> batch_error(np.array([[[0.0], [2.0], [0.0], [2.0]]]))
    array([0.577])
    """
    return error_of_means(
        [values[c, first:last].mean(axis=0) for c, first, last in batches(*values.shape[:2])]
    )
