"""The numbers that the DCRC paper prints, by its table numbers.

Pei, Fern, Rosales, Tjahja: Discriminative Clustering with Relative Constraints, section V. Figures
come without numbers.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from bayesclust.typing import FloatArray

__all__ = ["SECONDS", "TABLE_IV", "TABLE_IV_PAIRS", "TABLE_V", "rates"]

TABLE_IV: FloatArray = np.array([[18.50, 0.33, 4.83], [0.33, 16.50, 4.50], [3.50, 3.00, 98.50]])
"""Mean number of triplets by true answer (rows) and answer given (columns): yes, no, dnk."""

TABLE_IV_PAIRS: FloatArray = np.array([[42.50, 9.67], [10.83, 162.00]])
"""Mean number of pairs by true answer (rows) and answer given (columns): together, apart."""

TABLE_V = MappingProxyType(
    {
        ("dcrc-none", "none", 0): (0.5175, 0.0232),
        ("kmeans", "none", 0): (0.6523, 0.0189),
        ("dcrc-15", "people", 150): (0.7620, 0.1335),
        ("dcrc-yn-15", "people", 150): (0.7635, 0.1067),
        ("lsml", "people", 150): (0.6409, 0.0654),
        ("sparse-lp", "people", 150): (0.5200, 0.0706),
        ("sssvad", "people", 150): (0.6046, 0.0605),
        ("itml", "people-pairs", 150): (0.6409, 0.0424),
        ("mmc", "people-pairs", 150): (0.6438, 0.0423),
        ("itml", "people-pairs", 225): (0.6347, 0.0372),
        ("mmc", "people-pairs", 225): (0.6438, 0.0282),
    }
)
"""Mean and standard deviation of F on the paper's bird syllables, by method, kind of answers and their number."""

SECONDS = 120.0
"""Section V-B6: "less than 2 minutes" for 4998 items, 38 columns, 13 clusters and 1500 triplets."""


def rates(counts: FloatArray) -> FloatArray:
    """p(answer | truth) from counts.

    Parameters
    ----------
    counts : (a, a) array
        Rows are the truth.

    Returns
    -------
    (a, a) array

    Examples
    --------
    >>> rates(TABLE_IV).round(2)
    array([[0.78, 0.01, 0.2 ],
           [0.02, 0.77, 0.21],
           [0.03, 0.03, 0.94]])
    """
    shares: FloatArray = counts / counts.sum(axis=1, keepdims=True)
    return shares
