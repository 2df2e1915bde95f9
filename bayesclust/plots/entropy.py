"""Where in the plane the posterior is unsure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._plane import plane
from bayesclust.plots._style import axes_or_new, counted, dot_size
from bayesclust.posterior.similarity import item_entropy
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["entropy"]

GRID = 160
"""Points of the background along each side."""
REACH = 2.0
"""How far from a single item the background goes, in widths of the kernel."""
FEW = 500
"""Items whose dots are large enough for an edge."""
LEAST_BITS = 0.1
"""Least range of the scale, so that next to nothing does not look like much."""


def entropy(
    posterior: Any, X: ArrayLike | None = None, *, regions: bool = True, ax: Axes | None = None
) -> Axes:
    """Show in the plane how unsure it is with whom each item belongs.

    The colour of an item is the mean over all other items j of the entropy, in bits, of whether the
    two are together (`bayesclust.posterior.item_entropy`); the least sure items lie on top. Behind them,
    regions have the colour of the mean over the items near by, weighted by a Gaussian kernel whose
    width follows Scott's rule.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    X : (n, d) array, optional
        Data that place the items; by default those kept by the posterior. Two columns are drawn as
        they are; of more, the first two principal components of the standardised columns.
    regions : bool, default True
        Whether to colour the regions.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The last of its collections are the items, in order of entropy; its ``child_axes`` hold the
        colour bar.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, or there are no data or those of other items.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.entropy([[0, 0, 1], [0, 1, 1]], [[0, 0], [1, 0], [2, 0]])
    >>> ax.collections[-1].get_array().data
    array([0.5, 0.5, 1. ])
    """
    draws = stacked_partitions(posterior)
    field = plane(posterior, X, draws.shape[1])
    bits = item_entropy(draws)
    ax = axes_or_new(ax, 7.2, 5.4)
    top = max(LEAST_BITS, float(bits.max()))
    look: dict[str, Any] = {"cmap": "cividis_r", "vmin": 0, "vmax": top}
    if regions and len(bits) > 2:
        _regions(ax, field.at, bits, look)
    order = np.argsort(bits, kind="stable")
    dots = ax.scatter(
        field.at[order, 0],
        field.at[order, 1],
        c=bits[order],
        s=dot_size(len(bits)),
        edgecolors="0.35",
        linewidths=0.3 if len(bits) <= FEW else 0.0,
        **look,
    )
    field.name_axes(ax)
    bar = ax.figure.colorbar(dots, cax=ax.inset_axes((1.03, 0, 0.035, 1)))
    bar.set_label("item entropy (bits)")
    bar.outline.set_visible(False)
    ax.set_title(
        f"Where {counted(len(bits), 'item')} are unsure, {counted(len(draws), 'draw')}", loc="left"
    )
    return ax


def _regions(ax: Axes, at: FloatArray, bits: FloatArray, look: dict[str, Any]) -> None:
    """Colour the plane, as far as there are items, by the mean entropy of those near by."""
    from scipy.ndimage import gaussian_filter

    low, high = at.min(axis=0), at.max(axis=0)
    room = np.where(high > low, 0.1 * (high - low), 0.5)
    edges = [np.linspace(low[k] - room[k], high[k] + room[k], GRID + 1) for k in (0, 1)]
    # Scott's rule, in cells
    spread = np.maximum(at.std(axis=0), 1e-12) * len(at) ** (-1 / 6)
    width = [
        float(np.clip(spread[k] / (edges[k][1] - edges[k][0]), 1.5, GRID / 12)) for k in (0, 1)
    ]
    number, total = (
        gaussian_filter(
            np.histogram2d(at[:, 0], at[:, 1], edges, weights=weights)[0],
            width,
            mode="constant",
            truncate=6,
        )
        for weights in (None, bits)
    )
    alone = 1 / (2 * np.pi * width[0] * width[1])
    mean = np.divide(total, number, out=np.zeros_like(total), where=number > 0)
    shown = np.ma.masked_where(number < alone * np.exp(-0.5 * REACH**2), mean)
    ax.pcolormesh(*edges, shown.T, alpha=0.45, linewidth=0, rasterized=True, **look)
