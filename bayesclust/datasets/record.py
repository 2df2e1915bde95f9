"""What every loader and generator returns."""

from __future__ import annotations

from dataclasses import dataclass

from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, slots=True)
class Dataset:
    """A matrix of features with the class of each row.

    Parameters
    ----------
    X : (n, d) float64 array
        One row per item, on the scale of the source: nothing is standardised.
    y : (n,) int64 array
        The class of each item, 0 to K - 1, numbering `target_names`.
    feature_names : tuple of str
        The d columns.
    target_names : tuple of str
        The K classes.
    name : str
        What `load` calls it.
    description : str
        Where it comes from, and how that differs from other copies in use.

    Examples
    --------
    >>> from bayesclust.datasets import load
    >>> load("balance")
    Dataset('balance': 625 items, 4 features, 3 classes)
    """

    X: FloatArray
    y: IntArray
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    name: str
    description: str

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({self.name!r}: {n} items, {d} features, {len(self.target_names)} classes)"
