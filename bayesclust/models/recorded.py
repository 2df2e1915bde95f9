"""Recorded values as the measurements that they may have been.

A value recorded in steps of h stands for all of [x - h/2, x + h/2). Clusters of a density on the
recorded values can have any variance, down to none; base measures of the Gaussian families expect
h^2 / 12 more, but n items outweigh an expectation. With u uniform on [-h/2, h/2) and independent of
all else, x + u has a density, its clusters a variance of h^2 / 12 or more (Sheppard), and by
Jensen's inequality

    E_u log p(x + u) <= log of the integral of p over [x - h/2, x + h/2), divided by h

(uniform dequantisation: Theis, van den Oord and Bethge 2016, Eq. 3 to 6): what a model gains on x +
u, it gains on the recorded values too, and a cluster of one recorded value gains nothing by being
narrower than a step. The posterior given x + u is that of an ordinary model of ordinary data, exact
for all samplers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.checks import check_items, check_random_state
from bayesclust.models.columns import CONTINUOUS, INFLATED, ROUNDED, describe_column
from bayesclust.typing import FloatArray, Seed

__all__ = ["dequantise"]


def dequantise(X: Any, *, steps: Any = "data", seed: Seed = 0) -> FloatArray:
    """Return the data with every recorded value moved to some place within the step that it stands for.

    Items that share a value of a column are spread evenly over its step, in random order; each
    place is uniform. Fit Gaussian clusters to what comes out, and no cluster gains by being
    narrower than a step. It is for coarse columns, whose step comes near the spread within a
    cluster; steps of half of it did no harm where this was tried, with up to 3000 items. New items
    are predicted as they are.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Missing cells (NaN) stay missing.
    steps : "data" or array-like of shape (d,), default "data"
        What each column was recorded in, 0 for columns to leave alone. "data" takes the steps that
        `bayesclust.check_columns` finds in continuous, rounded and inflated columns; the exact
        values that stand out of an inflated column stay, and so do codes, counts, zeros and ones.
    seed : int, Generator or None, default 0
        Of the order. Another one shows how much depends on it.

    Returns
    -------
    ndarray of shape (n, d)
        Within half a step of X.

    Raises
    ------
    ValueError, TypeError
        If X is no table of real numbers, or the steps are not d numbers that are finite and not
        negative.

    References
    ----------
    Theis, van den Oord, Bethge (2016), A note on the evaluation of generative models, Sec. 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> X = np.round(np.random.default_rng(0).normal(size=(200, 1)), 1)
    >>> Y = bc.dequantise(X)
    >>> len(np.unique(X)), len(np.unique(Y)), bool((np.abs(Y - X) <= 0.05 + 1e-12).all())
    (39, 200, True)
    """
    items, rng = check_items(X, missing=True).copy(), check_random_state(seed)
    given = (
        None if isinstance(steps, str) and steps == "data" else _check_steps(steps, items.shape[1])
    )
    for j, x in enumerate(items.T):
        if given is None:
            column = describe_column(x)
            step = column.step if column.kind in (CONTINUOUS, ROUNDED, INFLATED) else 0.0
            moved = ~np.isnan(x) & ~np.isin(x, column.atoms)
        else:
            step, moved = float(given[j]), ~np.isnan(x)
        if step > 0:
            items[moved, j] += step * (_places(x[moved], rng) - 0.5)
    return items


def _places(x: NDArray[np.float64], rng: Generator) -> FloatArray:
    """Uniform numbers; those of equal values are one in each of as many equal parts of the unit interval."""
    order = np.lexsort((rng.random(len(x)), x))
    _, first, number = np.unique(x[order], return_index=True, return_counts=True)
    rank = np.empty(len(x))
    rank[order] = np.arange(len(x)) - np.repeat(first, number)
    ties = np.empty(len(x))
    ties[order] = np.repeat(number, number)
    places: FloatArray = (rank + rng.random(len(x))) / ties
    return places


def _check_steps(steps: Any, d: int) -> FloatArray:
    try:
        given = np.asarray(steps, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"steps={steps!r} is neither 'data' nor a number for each column: give one of these."
        ) from None
    if given.shape != (d,) or not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(
            f"steps={steps!r} must be {d} numbers, one for each column, finite and at least 0."
        )
    return given
