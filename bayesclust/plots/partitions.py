"""Point estimate, credible ball and entropy in the plane; the number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._plane import draw_clusters, matched, plane
from bayesclust.plots._style import (
    BLUE,
    FEW,
    MARKERS,
    PALETTE,
    VERMILION,
    axes_or_new,
    bare,
    colour_bar,
    counted,
    dot_size,
    legend_beside,
    panels_or_new,
)
from bayesclust.posterior.credible_ball import credible_ball
from bayesclust.posterior.losses import VI, Loss
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.similarity import item_entropy
from bayesclust.posterior.tree import as_labels, group, is_array, stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray, IntArray, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["entropy", "n_clusters", "partitions"]

BOUNDS = {
    "upper": "Upper vertical bound",
    "horizontal": "Horizontal bound",
    "lower": "Lower vertical bound",
}
GRID = 160
"""Points of the background of entropies along each side."""
REACH = 2.0
"""How far from a single item this background goes, in widths of the kernel."""
LEAST_BITS = 0.1
"""Least range of the scale of entropies, so that next to nothing does not look like much."""


def partitions(
    posterior: Any,
    X: ArrayLike | None = None,
    *,
    labels: ArrayLike | None = None,
    level: float = 0.95,
    loss: str | Loss = "vi",
    axes: Sequence[Axes] | NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Show a partition in the plane, and the bounds of the credible ball around it.

    Of the partitions in the ball (`bayesclust.credible_ball`), the upper bound has the fewest
    clusters, the lower one the most, and the horizontal one is farthest from the centre. A cluster
    has the colour of that of the centre with which it shares most items; items that are in it there
    too are faint.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    X : (n, d) array, optional
        Data that place the items; by default those of the posterior. Two columns are drawn as they
        are; of more, the first two principal components of the standardized columns.
    labels : (n,) array of int, optional
        The centre; by default the point estimate under the loss.
    level : float in (0, 1), default 0.95
        Share of the posterior in the ball.
    loss : "vi", "binder" or Loss, default "vi"
    axes : sequence of 4 matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    (4,) array of matplotlib.axes.Axes
        Centre, upper, horizontal and lower bound; of equally extreme partitions the first.

    Raises
    ------
    ValueError, TypeError
        If there are no partitions or no data, or these do not fit together.

    Examples
    --------
    >>> import bayesclust as bc
    >>> draws = [[0, 0, 1, 1]] * 16 + [[0, 0, 0, 0]] * 3 + [[0, 1, 2, 3]]
    >>> axes = bc.plots.partitions(draws, [[0, 0], [0, 1], [4, 4], [4, 5]])
    >>> print(axes[0].get_title(loc="left"), axes[1].get_title(loc="left"), sep="; ")
    Point estimate: 2 clusters; Upper vertical bound: 1 cluster,
    1.00 bits away, 2 items elsewhere
    """
    draws = stacked_partitions(posterior)
    field = plane(posterior, X, draws.shape[1])
    chosen = point_estimate(draws, loss) if labels is None else labels
    centre = as_labels(chosen, "labels", draws.shape[1])
    ball = credible_ball(draws, centre, level=level, loss=loss)
    panels = panels_or_new(
        axes, 4, "the panels of a credible ball", 2, (9.5, 8), sharex=True, sharey=True
    )
    draw_clusters(panels[0], field.at, centre)
    which = "Point estimate" if labels is None else "Given partition"
    title = f"{which}: {counted(int(centre.max()) + 1, 'cluster')}"
    panels[0].set_title(title, loc="left", fontsize="medium")
    unit = " bits" if isinstance(ball.loss, VI) else ""
    for ax, (name, title) in zip(panels[1:], BOUNDS.items(), strict=True):
        found: IntArray = getattr(ball, name)
        numbers = matched(as_labels(found[0], "bound"), centre)
        moved = numbers != centre
        draw_clusters(ax, field.at, numbers, faint=~moved)
        several = f" (1 of {len(found)})" if len(found) > 1 else ""
        clusters = counted(int(found[0].max()) + 1, "cluster")
        elsewhere = f"{counted(int(moved.sum()), 'item')} elsewhere"
        away = f"{ball.distance(found[0]):.2f}{unit} away, {elsewhere}"
        ax.set_title(f"{title}{several}: {clusters},\n{away}", loc="left", fontsize="medium")
    for ax in panels:
        field.name_axes(ax)
    if axes is None:
        radius = f"radius {ball.radius:.2f}{unit}, {counted(len(draws), 'draw')}"
        text = f"{level:.0%} credible ball of {radius}"
        panels[0].figure.suptitle(text, x=0.01, ha="left")
        for ax in panels:
            ax.label_outer()
    return panels


def entropy(
    posterior: Any, X: ArrayLike | None = None, *, regions: bool = True, ax: Axes | None = None
) -> Axes:
    """Show in the plane how uncertain the co-clustering of each item is.

    The colour of an item is its `bayesclust.posterior.item_entropy`, in bits; the least sure items
    lie on top. Regions have the mean colour of the items near by, by a Gaussian kernel whose width
    follows Scott's rule.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    X : (n, d) array, optional
        Data that place the items, as for `partitions`.
    regions : bool, default True
        Whether to colour the regions.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Its last collection are the items, in order of entropy; ``child_axes`` hold the colour bar.

    Raises
    ------
    ValueError, TypeError
        If there are no partitions or no data, or these do not fit together.

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
    edge: dict[str, Any] = {"edgecolors": "0.35", "linewidths": 0.3 if len(bits) <= FEW else 0.0}
    x, y = field.at[order].T
    dots = ax.scatter(x, y, c=bits[order], s=dot_size(len(bits)), **edge, **look)
    field.name_axes(ax)
    colour_bar(ax, dots, "item entropy (bits)")
    title = f"Entropy of {counted(len(bits), 'item')}, {counted(len(draws), 'draw')}"
    ax.set_title(title, loc="left")
    return ax


def _regions(ax: Axes, at: FloatArray, bits: FloatArray, look: dict[str, Any]) -> None:
    """Colour the plane, as far as there are items, by the mean entropy of those near by."""
    from scipy.ndimage import gaussian_filter

    low = at.min(axis=0)
    high = at.max(axis=0)
    room = np.where(high > low, 0.1 * (high - low), 0.5)
    edges = np.linspace(low - room, high + room, GRID + 1).T
    # Scott's rule, in cells
    spread = np.maximum(at.std(axis=0), 1e-12) * len(at) ** (-1 / 6)
    width = np.clip(spread / (edges[:, 1] - edges[:, 0]), 1.5, GRID / 12)

    def smooth(weights: FloatArray | None) -> FloatArray:
        counts = np.histogram2d(at[:, 0], at[:, 1], list(edges), weights=weights)[0]
        return np.asarray(gaussian_filter(counts, width, mode="constant", truncate=6))

    number = smooth(None)
    mean = smooth(bits) / np.maximum(number, 1e-300)
    alone = 1 / (2 * np.pi * width.prod())
    shown = np.ma.masked_where(number < alone * np.exp(-0.5 * REACH**2), mean)
    ax.pcolormesh(*edges, shown.T, alpha=0.45, linewidth=0, rasterized=True, **look)


def n_clusters(posterior: Any, labels: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Show the posterior probability of each number of clusters.

    Bars pool the chains; marks are the shares of two to seven single chains, which should lie close
    together. A line shows the point estimate, often with fewer clusters than most draws, in which
    small ones come and go.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition.
    labels : (n,) array of int, optional
        The partition of the line; by default the point estimate under the VI loss.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With one bar for each number from the least to the largest in the draws.

    Raises
    ------
    ValueError, TypeError
        If there are no partitions, or labels are not one integer an item.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.n_clusters([[0, 0, 1], [0, 1, 2], [0, 0, 1], [0, 1, 1]])
    >>> [round(float(bar.get_height()), 2) for bar in ax.patches]
    [0.75, 0.25]
    """
    from matplotlib.ticker import MaxNLocator

    draws = stacked_partitions(posterior)
    numbers = draws.max(axis=1).astype(np.int64) + 1
    chosen = point_estimate(draws) if labels is None else labels
    own = int(as_labels(chosen, "labels", draws.shape[1]).max()) + 1
    ax = axes_or_new(ax, 6.4, 3.8)
    values = np.arange(int(numbers.min()), int(numbers.max()) + 1)
    ax.bar(values, _shares(numbers, values), width=0.8, color=BLUE, alpha=0.55)
    chains = _n_chains(posterior)
    if 2 <= chains <= len(MARKERS):
        edge: dict[str, Any] = {"markersize": 4.5, "markeredgecolor": "white"}
        edge |= {"markeredgewidth": 0.4, "linestyle": ""}
        for chain, part in enumerate(numbers.reshape(chains, -1)):
            look = edge | {"marker": MARKERS[chain], "color": PALETTE[chain]}
            beside = values + 0.5 * ((chain + 0.5) / chains - 0.5)
            ax.plot(beside, _shares(part, values), label=f"chain {chain}", **look)
    which = "point estimate" if labels is None else "partition given"
    line: dict[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 1.3, "zorder": 0.9}
    ax.axvline(own, color=VERMILION, label=f"{which}: {own}", **line)
    ax.set_xlim(min(values[0], own) - 0.8, max(values[-1], own) + 0.8)
    ax.xaxis.set_major_locator(MaxNLocator(12, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    ax.set_ylim(bottom=0)
    bare(ax)
    ax.set(xlabel="number of clusters K", ylabel="posterior probability")
    legend_beside(ax)
    draws_drawn = counted(len(numbers), "draw")
    ax.set_title(f"Number of clusters: mean {numbers.mean():.3g}, {draws_drawn}", loc="left")
    return ax


def _shares(numbers: IntArray, values: IntArray) -> FloatArray:
    """The share of each of consecutive values."""
    return np.bincount(numbers - values[0], minlength=len(values)) / len(numbers)


def _n_chains(posterior: Any) -> int:
    """The number of chains, 1 where chains are not distinguished."""
    if is_array(posterior):
        return len(posterior) if np.ndim(posterior) == 3 else 1
    return int(group(posterior, "posterior").sizes["chain"])
