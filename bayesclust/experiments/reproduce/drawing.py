"""How figures of a reproduction look and are saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save"]

LOOK: Any = {"svg.hashsalt": "bayesclust", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}


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
                    figure.savefig(written[-1], dpi=150, metadata=metadata)
                plt.close(figure)
    return written
