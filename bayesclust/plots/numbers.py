"""How many clusters there are, by the posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from bayesclust.plots._style import (
    BLUE,
    GREY,
    MARKERS,
    PALETTE,
    VERMILION,
    axes_or_new,
    bare,
    counted,
)
from bayesclust.posterior.labels import as_labels
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["n_clusters"]

CHAINS_SHOWN = 7


def n_clusters(posterior: Any, labels: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Show the posterior probability of each number of clusters.

    Bars pool the chains; marks on them are the shares of the single chains, which should lie close
    together. A line says how many clusters the point estimate has: often fewer than most draws,
    which have small clusters that come and go.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition. Marks are drawn where there are two to seven chains.
    labels : (n,) array of int, optional
        The partition whose clusters are counted for the line. By default the point estimate under
        the VI loss.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With one bar for each number from the least to the largest in the draws.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, or labels are not one integer an item.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.n_clusters([[0, 0, 1], [0, 1, 2], [0, 0, 1], [0, 1, 1]])
    >>> [round(float(bar.get_height()), 2) for bar in ax.patches]
    [0.75, 0.25]
    """
    draws = stacked_partitions(posterior)
    numbers = draws.max(axis=1).astype(np.int64) + 1
    least, most = int(numbers.min()), int(numbers.max())
    chosen = as_labels(point_estimate(draws) if labels is None else labels, "labels")
    if len(chosen) != draws.shape[1]:
        raise ValueError(
            f"labels has {len(chosen)} items, but the posterior has {draws.shape[1]}: pass one label per item."
        )
    ax = axes_or_new(ax, 6.4, 3.8)
    values = np.arange(least, most + 1)
    ax.bar(values, _shares(numbers, least, most), width=0.8, color=BLUE, alpha=0.55)
    chains = _chains(posterior)
    if 2 <= chains <= CHAINS_SHOWN:
        for chain, part in enumerate(numbers.reshape(chains, -1)):
            at = values + 0.5 * ((chain + 0.5) / chains - 0.5)
            ax.plot(
                at,
                _shares(part, least, most),
                linestyle="",
                marker=MARKERS[chain],
                color=PALETTE[chain],
                markersize=4.5,
                markeredgecolor="white",
                markeredgewidth=0.4,
                label=f"chain {chain}",
            )
    own = int(chosen.max()) + 1
    which = "point estimate" if labels is None else "partition given"
    ax.axvline(
        own,
        color=VERMILION,
        linestyle=(0, (4, 2)),
        linewidth=1.3,
        label=f"{which}: {own}",
        zorder=0.9,
    )
    ax.set_xlim(min(least, own) - 0.8, max(most, own) + 0.8)
    ax.xaxis.set_major_locator(MaxNLocator(12, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    ax.set_ylim(bottom=0)
    bare(ax)
    ax.set_xlabel("number of clusters K")
    ax.set_ylabel("posterior probability")
    ax.legend(
        frameon=False,
        fontsize="small",
        loc="upper left",
        bbox_to_anchor=(1, 1),
        labelcolor=GREY,
        handletextpad=0.4,
    )
    ax.set_title(
        f"How many clusters: mean {numbers.mean():.3g}, {counted(len(numbers), 'draw')}", loc="left"
    )
    return ax


def _shares(numbers: Any, least: int, most: int) -> FloatArray:
    counts: FloatArray = np.bincount(numbers - least, minlength=most - least + 1) / len(numbers)
    return counts


def _chains(posterior: Any) -> int:
    tree = getattr(posterior, "posterior_", posterior)
    if isinstance(tree, np.ndarray):
        return len(tree) if tree.ndim == 3 else 1
    return int(tree["posterior"].sizes["chain"]) if hasattr(tree, "children") else 1
