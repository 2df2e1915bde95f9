"""How far partitions agree, each with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._style import axes_or_new, shortened
from bayesclust.typing import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["agreement"]

LONGEST = 18
MEASURES = {
    "vi": ("Variation of information", "bits"),
    "ari": ("Adjusted Rand index", ""),
    "nmi": ("Normalised mutual information", ""),
    "f": ("Pairwise F", ""),
}
"""Title and unit of what `bayesclust.agreement` measures."""
NUMBERED = 16
"""Partitions whose cells have room for a number."""


def agreement(
    matrix: pd.DataFrame,
    title: str | None = None,
    *,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show a table of agreement or distance between partitions as a heat map with its numbers.

    Parameters
    ----------
    matrix : (m, m) pandas.DataFrame of float
        As `bayesclust.agreement` returns it, or another table of agreements or distances; rows and
        columns have the same names. NaN cells stay empty.
    title : str, optional
        By default the measure of `bayesclust.agreement` in words, the name of the columns, or
        "Agreement".
    unit : str, optional
        For the colour bar; by default bits of a variation of information.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure, as large as the names ask for.

    Returns
    -------
    matplotlib.axes.Axes
        With one image, and a number in each cell where there are up to 16 partitions; its
        ``child_axes`` hold the colour bar.

    Raises
    ------
    TypeError
        If it is no DataFrame of numbers.
    ValueError
        If it is empty, or rows and columns have different names.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.agreement(bc.agreement({"a": [0, 0, 1, 1], "b": [0, 0, 0, 0]}, "vi"))
    >>> ax.get_title(loc="left"), [text.get_text() for text in ax.texts]
    ('Variation of information', ['0.00', '1.00', '1.00', '0.00'])
    """
    values = _check(matrix)
    number = len(values)
    side = float(np.clip(2.2 + 0.55 * number, 3.6, 10))
    ax = axes_or_new(ax, side + 1.5, side)
    finite = values[np.isfinite(values)]
    low, high = (
        (min(0.0, float(finite.min())), max(1.0, float(finite.max())))
        if finite.size
        else (0.0, 1.0)
    )
    image = ax.imshow(values, cmap="cividis", vmin=low, vmax=high, aspect="equal")
    names = shortened([str(name) for name in matrix.index], LONGEST)
    small = "small" if number <= 24 else "x-small"
    ax.set_xticks(
        range(number), names, rotation=40, ha="right", rotation_mode="anchor", fontsize=small
    )
    ax.set_yticks(range(number), names, fontsize=small)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if number <= NUMBERED:
        _numbers(ax, values, image)
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.03, 0, 0.045, 1)))
    bar.outline.set_visible(False)
    named = "Agreement" if matrix.columns.name is None else str(matrix.columns.name)
    words = MEASURES.get(str(matrix.attrs.get("measure")), (named, ""))
    bar.set_label(words[1] if unit is None else unit)
    ax.set_title(words[0] if title is None else title, loc="left")
    return ax


def _check(matrix: Any) -> FloatArray:
    import pandas as pd

    if not isinstance(matrix, pd.DataFrame):
        raise TypeError(
            f"matrix is a {type(matrix).__name__}: pass a DataFrame of partitions by partitions."
        )
    rows, columns = [str(name) for name in matrix.index], [str(name) for name in matrix.columns]
    if rows != columns or not rows:
        raise ValueError(
            f"matrix has rows {rows} and columns {columns}: pass a table of partitions by the same partitions, at least one."
        )
    try:
        values: FloatArray = matrix.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            "matrix has cells that are no numbers: pass a table of agreements or distances."
        ) from None
    return values


def _numbers(ax: Axes, values: FloatArray, image: AxesImage) -> None:
    """Write the numbers in the colour that can be read on their cell."""
    size = "small" if len(values) <= 10 else "x-small"
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue, _ = image.to_rgba(np.array([value]))[0]
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        ax.text(
            column,
            row,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=size,
            color="white" if dark else "black",
        )
