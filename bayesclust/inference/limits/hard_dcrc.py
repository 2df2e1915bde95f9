"""Two limits of DCRC: answers that bind (eps to 0), and labels that are certain (temperature to 0).

With eps -> 0 the update of Eq. 13 becomes Eq. 14: of the clusters that agree with most answers,
given the other items' distributions, each in proportion to P(y | x). From a start where these
distributions are unsettled, their agreement F hardly ever ties, so that the first sweep makes every
distribution one-hot and P(y | x) is never heard. The sensible limit lets eps fall in steps to 0,
each from the solution of the one before: P(y | x) decides until the answers are settled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.sites import N_PATTERNS
from bayesclust.typing import FloatArray

IMPOSSIBLE = float(np.log(np.finfo(np.float64).tiny))
"""Log probability of an answer that cannot be: finite, so that it can be told which labels break more answers."""

FALLING_EPS = (0.05, 0.005, 5e-5, 5e-9)
"""Errors on the way to none; the log odds of a right answer double from step to step."""

TIE = 1e-9
"""Differences of F up to this are ties."""


def agreement_table(constraints: Sequence[Constraints], wrong: float) -> FloatArray:
    """Return 0 where an answer agrees with a pattern and `wrong` where it does not, for all views.

    Parameters
    ----------
    constraints : sequence of Constraints
    wrong : float

    Returns
    -------
    ndarray of shape (codes, 5)
        Laid out as by `bayesclust.constraints.sites.stack_tables`.
    """
    tables = [np.zeros((0, N_PATTERNS))]
    for view in constraints:
        agrees = np.arange(view.n_answers)[:, None] == view.truth[None, :]
        table = np.zeros((view.n_answers, N_PATTERNS))
        table[:, : view.n_patterns] = np.where(agrees, 0.0, wrong)
        tables.append(np.tile(table, (view.n_sources, 1)))
    return np.concatenate(tables)


def max_compatible(F: FloatArray, log_p: FloatArray) -> FloatArray:
    """Eq. 14: P(y | x) within the set of labels of largest F.

    Parameters
    ----------
    F : ndarray of shape (m, K)
        Expected number of answers that agree with each label, up to a constant per item.
    log_p : ndarray of shape (m, K)
        log P(y | x; W).

    Returns
    -------
    ndarray of shape (m, K)

    Examples
    --------
    >>> max_compatible(np.array([[2.0, 2.0, 1.0]]), np.log([[0.1, 0.3, 0.6]]))
    array([[0.25, 0.75, 0.  ]])
    """
    inside = F.max(axis=1, keepdims=True) - F <= TIE
    kept = np.where(inside, log_p, -np.inf)
    weights = np.exp(kept - kept.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def most_probable(logits: FloatArray) -> FloatArray:
    """Certain labels: 1 for the largest logit of each row, the first among equals.

    Parameters
    ----------
    logits : ndarray of shape (m, K)

    Returns
    -------
    ndarray of shape (m, K)

    Examples
    --------
    >>> most_probable(np.array([[0.0, 2.0, 2.0]]))
    array([[0., 1., 0.]])
    """
    return np.eye(logits.shape[1])[logits.argmax(axis=1)]


__all__ = ["FALLING_EPS", "IMPOSSIBLE", "agreement_table", "max_compatible", "most_probable"]
