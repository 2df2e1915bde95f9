"""How figures of a reproduction look and are saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust._files import replaced
from bayesclust.typing import IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["in_colours_of", "save"]

LOOK: Any = {
    "svg.hashsalt": "bayesclust",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def save(figures: Mapping[str, Callable[[], Figure | None]], folder: Path) -> list[Path]:
    """Draw figures one by one, and save each as PNG and SVG.

    Parameters
    ----------
    figures : mapping of callable
        By name, what draws it, or returns None if nothing of it is done.
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
        What was written.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")  # files only, wherever this runs
    written = []
    with mpl.rc_context(LOOK):
        for name, make in figures.items():
            figure = make()
            if figure is not None:
                for ending, metadata in (("png", None), ("svg", {"Date": None})):
                    written.append(folder / f"{name}.{ending}")
                    with replaced(written[-1]) as draft:
                        figure.savefig(draft, format=ending, dpi=150, metadata=metadata)
                plt.close(figure)
    return written


def in_colours_of(labels: IntArray, y: IntArray) -> IntArray:
    """Renumber clusters by the classes that they share most items with, one each; the others follow, the largest first.

    Parameters
    ----------
    labels : (n,) array of int
        From 0, without gaps.
    y : (n,) array of int
        Classes, likewise.

    Returns
    -------
    (n,) array of int

    Examples
    --------
    >>> in_colours_of(np.array([0, 0, 1, 2, 2]), np.array([1, 1, 0, 0, 0]))
    array([1, 1, 2, 0, 0])
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    shared = contingency_matrix(labels, y)
    clusters, classes = linear_sum_assignment(-shared)
    others = [k for k in np.argsort(-shared.sum(axis=1), kind="stable") if k not in clusters]
    number = np.empty(len(shared), dtype=np.int64)
    number[clusters] = classes
    number[others] = shared.shape[1] + np.arange(len(others))
    return number[labels]
