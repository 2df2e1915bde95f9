"""Equality patterns: all that an answer about two or three items can depend on."""

from __future__ import annotations

import numpy as np

from bayesclust.constraints._checks import plain_array
from bayesclust.typing import ArrayLike, CodeArray, FloatArray, IntArray

# index 1[i=j] + 2 * 1[i=k] + 4 * 1[j=k]; 3, 5 and 6 cannot occur
_TRIPLET_PATTERN = np.array([4, 1, 2, -1, 3, -1, -1, 0], dtype=np.int8)


def equality_patterns(labels: ArrayLike) -> CodeArray:
    """Return which members of each tuple share a label.

    Parameters
    ----------
    labels : (..., t) array of int
        Labels of the members of each tuple, t = 2 or 3.

    Returns
    -------
    (...) array of int8
        For pairs 0 = same, 1 = different; for triplets (i, j, k) 0 = all same, 1 = ij|k, 2 = ik|j,
        3 = jk|i, 4 = all different.

    Examples
    --------
    >>> equality_patterns([[0, 0, 1], [0, 1, 0], [0, 1, 2]])
    array([1, 2, 4], dtype=int8)
    """
    labels = plain_array(labels, "labels")
    if labels.ndim == 0 or labels.shape[-1] not in (2, 3):
        raise ValueError(
            f"labels must have shape (..., 2) or (..., 3); got {labels.shape}: pass those of the items."
        )
    first, second = labels[..., 0], labels[..., 1]
    if labels.shape[-1] == 2:
        return np.asarray(first != second, dtype=np.int8)
    third = labels[..., 2]
    equalities = (first == second) + 2 * (first == third) + 4 * (second == third)
    return np.asarray(_TRIPLET_PATTERN[equalities], dtype=np.int8)


def draw_answers(
    confusion: FloatArray, source: IntArray, truths: CodeArray, rng: np.random.Generator
) -> CodeArray:
    """Draw an answer to each question from its source's row of the confusion matrix.

    Parameters
    ----------
    confusion : (S, A, A) array of float
        p(answer | truth) of each source.
    source : (m,) array of int
        Who answers each question.
    truths : (m,) array of int
        What a faultless source would answer.
    rng : numpy.random.Generator

    Returns
    -------
    (m,) array of int8

    Examples
    --------
    >>> never_wrong = np.eye(2)[None]
    >>> draw_answers(never_wrong, np.array([0, 0]), np.array([1, 0]), np.random.default_rng(0))
    array([1, 0], dtype=int8)
    """
    thresholds = np.cumsum(confusion[source, truths], axis=-1)[:, :-1]
    answers: CodeArray = (
        (rng.random(len(source))[:, None] >= thresholds).sum(axis=1).astype(np.int8)
    )
    return answers


__all__ = ["draw_answers", "equality_patterns"]
