"""Settings chosen by answers that were held out: no labels are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from bayesclust.constraints.base import Constraints
from bayesclust.inference.limits.confidence import FEWEST_ANSWERS, FOLDS, rows_of
from bayesclust.inference.variational.answers import triplet_patterns
from bayesclust.inference.variational_em.fit import fit_em
from bayesclust.inference.variational_em.settings import EMSettings
from bayesclust.typing import Counts, FloatArray

TAUS = (0.5, 1.0, 1.5)
PENALTIES = tuple(2.0**power for power in (-10, -8, -6, -4, -2))
"""The paper's grid (section V-B)."""
STARTS = 4
ROUGH_TOLERANCE = 1e-3


def mean_confusion(view: Constraints, counts: Counts) -> FloatArray:
    """Return the posterior mean of p(answer | truth) given expected counts.

    Parameters
    ----------
    view : Constraints
    counts : ndarray of shape (sources * answers, patterns)

    Returns
    -------
    ndarray of shape (sources, answers, answers)
        Rows are the true answer, columns the one given.
    """
    S, A = view.n_sources, view.n_answers
    one_more = np.zeros((S, A, A, S * A, view.n_patterns))
    first = [int(np.flatnonzero(view.truth == truth)[0]) for truth in range(A)]
    for s in range(S):
        for truth in range(A):
            for answer in range(A):
                one_more[s, truth, answer, s * A + answer, first[truth]] = 1.0
    # m(counts and one more answer) / m(counts) is the probability of that answer
    ratio: FloatArray = np.exp(
        view.noise.log_marginal(counts + one_more) - view.noise.log_marginal(counts)
    )
    return ratio


def log_predictive(view: Constraints, q: FloatArray, confusion: FloatArray) -> float:
    """Return the sum of log p(answer) of a view's answers.

    Parameters
    ----------
    view : Constraints
    q : ndarray of shape (n, K)
        Distributions of the labels, taken as independent.
    confusion : ndarray of shape (sources, answers, answers)
        p(answer | truth).

    Returns
    -------
    float
    """
    rows = [q[view.items[:, t]] for t in range(view.items.shape[1])]
    if len(rows) == 2:
        same = np.minimum((rows[0] * rows[1]).sum(axis=1), 1.0)
        patterns = np.stack([same, 1.0 - same])
    else:
        patterns = triplet_patterns(*rows)
    given = confusion[view.source, :, view.answers][:, view.truth]  # (m, patterns)
    return float(
        np.log(np.maximum((given * patterns.T).sum(axis=1), np.finfo(np.float64).tiny)).sum()
    )


def choose(
    points: FloatArray,
    constraints: Sequence[Constraints],
    n_clusters: int,
    tried: Sequence[EMSettings],
    rng: Generator,
    *,
    binding: bool = False,
) -> EMSettings:
    """Return the settings under which answers held out in five parts are predicted best.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    constraints : sequence of Constraints
    n_clusters : int
    tried : sequence of EMSettings
        The first is returned if there are fewer than ten answers, and among equals.
    rng : Generator
    binding : bool, default False
        As in `fit_em`.

    Returns
    -------
    EMSettings

    Notes
    -----
    The paper counts right predictions; their log probability tells more from few answers. Fits take
    the first few starts, under which settings compare; the same for all.
    """
    if len(tried) == 1 or sum(map(len, constraints)) < FEWEST_ANSWERS:
        return tried[0]
    parts = [rng.permutation(len(view)) % FOLDS for view in constraints]
    seed = int(rng.integers(2**63))
    scores = np.zeros(len(tried))
    for fold in range(FOLDS):
        kept = [rows_of(view, part != fold) for view, part in zip(constraints, parts, strict=True)]
        held = [rows_of(view, part == fold) for view, part in zip(constraints, parts, strict=True)]
        for number, settings in enumerate(tried):
            rough = replace(
                settings, starts=min(STARTS, settings.starts), kept=1, tolerance=ROUGH_TOLERANCE
            )
            fit = fit_em(
                points,
                kept,
                n_clusters,
                rough,
                np.random.default_rng([seed, fold]),
                binding=binding,
            )
            for view, counts in zip(held, fit.counts, strict=True):
                scores[number] += log_predictive(view, fit.q, mean_confusion(view, counts))
    return tried[int(np.argmax(scores))]


__all__ = ["PENALTIES", "TAUS", "choose", "log_predictive", "mean_confusion"]
