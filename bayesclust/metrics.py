"""Agreement of one partition with another.

Labels are names only, numbers or words, and all measures are symmetric in the two partitions. A
ValueError says where partitions are empty, not one-dimensional or of different lengths, or where a
label is missing (NaN).
"""

from __future__ import annotations

import numpy as np

from bayesclust.checks import true_labels
from bayesclust.typing import ArrayLike, IntArray

__all__ = ["adjusted_rand", "ami", "fmi", "nmi", "pairwise_f", "variation_of_information"]


def pairwise_f(labels: ArrayLike, truth: ArrayLike) -> float:
    """F-measure of the pairs put together (Bilenko, Basu and Mooney 2004, section 4.1).

    The harmonic mean of precision, the share of the pairs together in `labels` that are together in
    `truth`, and of recall, the reverse.

    Parameters
    ----------
    labels, truth : (n,) array of int or str

    Returns
    -------
    float
        Between 0 and 1; 1 only for equal partitions, those without a pair together among them.

    Examples
    --------
    >>> from bayesclust.metrics import pairwise_f
    >>> pairwise_f(["b", "b", "b", "a"], [0, 0, 7, 7])  # 3 pairs and 2 pairs together, 1 in both
    0.4
    """
    from sklearn.metrics.cluster import pair_confusion_matrix

    found, true = _partitions(labels, truth)
    (_, wrongly_together), (wrongly_apart, both) = pair_confusion_matrix(true, found).tolist()
    either = 2 * both + wrongly_together + wrongly_apart
    return 2 * both / either if either else 1.0


def adjusted_rand(labels: ArrayLike, truth: ArrayLike) -> float:
    """Rand index adjusted for chance (Hubert and Arabie 1985), by scikit-learn.

    Parameters
    ----------
    labels, truth : (n,) array of int or str

    Returns
    -------
    float
        1 for equal partitions, about 0 for independent ones.

    Examples
    --------
    >>> from bayesclust.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 2], [0, 0, 1, 1])
    0.571
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_partitions(labels, truth)))


def nmi(labels: ArrayLike, truth: ArrayLike) -> float:
    """Mutual information over the arithmetic mean of the two entropies, by scikit-learn.

    Parameters
    ----------
    labels, truth : (n,) array of int or str

    Returns
    -------
    float
        Between 0 (independent) and 1 (equal). Grows with the number of clusters even by chance.

    Examples
    --------
    >>> from bayesclust.metrics import nmi
    >>> nmi([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(*_partitions(labels, truth)))


def ami(labels: ArrayLike, truth: ArrayLike) -> float:
    """`nmi` adjusted for chance (Vinh, Epps and Bailey 2010), by scikit-learn.

    Parameters
    ----------
    labels, truth : (n,) array of int or str

    Returns
    -------
    float
        1 for equal partitions, about 0 for independent ones.

    Examples
    --------
    >>> from bayesclust.metrics import ami
    >>> ami([0, 0, 1, 2], [0, 0, 1, 1])
    0.571
    """
    from sklearn.metrics import adjusted_mutual_info_score

    return float(adjusted_mutual_info_score(*_partitions(labels, truth)))


def fmi(labels: ArrayLike, truth: ArrayLike) -> float:
    """Geometric mean of precision and recall of pairs (Fowlkes and Mallows 1983), by scikit-learn.

    Parameters
    ----------
    labels, truth : (n,) array of int or str

    Returns
    -------
    float
        At least `pairwise_f`, but 0 where no pair is together in both; 1 for equal partitions with
        a pair together.

    Examples
    --------
    >>> from bayesclust.metrics import fmi
    >>> fmi(["b", "b", "b", "a"], [0, 0, 7, 7])  # 3 pairs and 2 pairs together, 1 in both
    0.408
    """
    from sklearn.metrics import fowlkes_mallows_score

    return float(fowlkes_mallows_score(*_partitions(labels, truth)))


def variation_of_information(labels: ArrayLike, truth: ArrayLike) -> float:
    """Bits lost and gained from one partition to the other, H(l | t) + H(t | l) (Meila 2007).

    Parameters
    ----------
    labels, truth : (n,) array of int or str

    Returns
    -------
    float
        A metric: 0 for equal partitions, at most log2(n).

    Examples
    --------
    >>> from bayesclust.metrics import variation_of_information
    >>> variation_of_information([0, 0, 1, 1], [0, 1, 0, 1])  # one bit lost, one gained
    2.0
    """
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(*_partitions(labels, truth), sparse=True).tocoo()
    first = np.bincount(table.row, table.data)
    second = np.bincount(table.col, table.data)
    # n_ij log(n_i n_j / n_ij^2): no term is below 0, so that equal partitions give exactly 0
    terms = table.data * np.log2(first[table.row] / table.data * (second[table.col] / table.data))
    return float(terms.sum() / table.data.sum())


def _partitions(labels: ArrayLike, truth: ArrayLike) -> tuple[IntArray, IntArray]:
    """Both partitions as numbers."""
    first = true_labels(labels, 1)
    second = true_labels(truth, 1, "truth")
    if len(first) != len(second):
        raise ValueError(
            f"labels has {len(first)} items and truth {len(second)}: pass two partitions of the "
            "same items."
        )
    return first, second
