"""Point estimate and credible ball in the plane; numbers and sizes of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_int, counted, each_is
from bayesclust.partition_priors import Nested, PartitionPrior, as_nested
from bayesclust.plots import _style as style
from bayesclust.plots._plane import draw_clusters, matched, plane
from bayesclust.posterior.credible_ball import credible_ball
from bayesclust.posterior.losses import VI, Loss
from bayesclust.posterior.point_estimate import point_estimate, settled_labels
from bayesclust.posterior.tree import (
    as_labels,
    by_size,
    chain_partitions,
    partition_sizes,
    stacked_partitions,
)
from bayesclust.typing import ArrayLike, IntArray, NDArray, Seed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 15
"""Clusters whose sizes are shown."""
BOUNDS = {
    "upper": "Upper vertical bound",
    "horizontal": "Horizontal bound",
    "lower": "Lower vertical bound",
}


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

    Among the partitions in the ball (`bayesclust.credible_ball`), the upper bound has the fewest
    clusters, the lower one the most, and the horizontal one is farthest from the centre. Clusters
    have the colours of those of the centre; items that stay in theirs are faint.

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
    _, centre = by_size(as_labels(chosen, "labels", draws.shape[1]))
    ball = credible_ball(draws, centre, level=level, loss=loss)
    shared = {"sharex": True, "sharey": True}
    panels = style.panels_or_new(axes, 4, "the panels of a credible ball", 2, (9.5, 8), **shared)
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
    return style.as_written(panels)


def n_clusters(posterior: Any, labels: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Show the posterior probability of each number of clusters.

    Bars pool the chains; marks are the shares of two to seven single chains, which should lie close
    together. A line shows the point estimate.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Draws of the partition, from a posterior or by `simulate` of a prior.
    labels : (n,) array of int, optional
        The partition of the line; by default the point estimate under the VI loss.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With one bar for each number from the least to the largest in the draws.

    Examples
    --------
    >>> import bayesclust as bc
    >>> ax = bc.plots.n_clusters([[0, 0, 1], [0, 1, 2], [0, 0, 1], [0, 1, 1]])
    >>> [round(float(bar.get_height()), 2) for bar in ax.patches]
    [0.75, 0.25]
    """
    from matplotlib.ticker import MaxNLocator

    draws = chain_partitions(posterior)
    numbers = draws.max(axis=2).astype(np.int64) + 1
    chosen = settled_labels(posterior) if labels is None else labels
    own = int(as_labels(chosen, "labels", draws.shape[2]).max()) + 1
    ax = style.axes_or_new(ax, 6.4, 3.8)
    values = np.arange(int(numbers.min()), int(numbers.max()) + 1)
    shares = (numbers[..., None] == values).mean(axis=1)
    ax.bar(values, shares.mean(axis=0), width=0.8, color=style.BLUE, alpha=0.55)
    if 2 <= len(shares) <= len(style.MARKERS):
        colours = style.palette()
        edge: dict[str, Any] = {"markersize": 4.5, "markeredgecolor": style.shade(0)}
        edge |= {"markeredgewidth": 0.4, "linestyle": ""}
        for chain, share in enumerate(shares):
            look = edge | {"marker": style.MARKERS[chain], "color": colours[chain]}
            beside = values + 0.5 * ((chain + 0.5) / len(shares) - 0.5)
            ax.plot(beside, share, label=f"chain {chain}", **look)
    which = "point estimate" if labels is None else "partition"
    line: dict[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 1.3, "zorder": 0.9}
    ax.axvline(own, color=style.VERMILION, label=f"{which}: {own}", **line)
    ax.set_xlim(min(values[0], own) - 0.8, max(values[-1], own) + 0.8)
    ax.xaxis.set_major_locator(MaxNLocator(12, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    ax.set_ylim(bottom=0)
    style.bare(ax)
    ax.set(xlabel="number of clusters K", ylabel="probability")
    style.legend_beside(ax)
    text = f"Number of clusters: mean {numbers.mean():.3g}, {counted(numbers.size, 'draw')}"
    ax.set_title(text, loc="left")
    return ax


def prior_sizes(
    priors: Any,
    n_items: int,
    *,
    num_draws: int = 1000,
    seed: Seed = 0,
    axes: Sequence[Axes] | None = None,
) -> NDArray[np.object_]:
    """Show what partition priors say about the number and the sizes of clusters, before any data.

    Left, the probability of each number of clusters; right, the mean size of the largest cluster,
    the second, and so on, with the central 90% of the draws.

    Parameters
    ----------
    priors : PartitionPrior, Nested, str, None or dict of them by name
        As `partition_prior` of `TVClust`; of a `Nested` one the clusters are shown.
    n_items : int
        Number of items, on which both depend.
    num_draws : int, default 1000
    seed : int, Generator or None, default 0
        The same draws for every prior of an integer.
    axes : sequence of two matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    array of matplotlib.axes.Axes
        Two.

    Examples
    --------
    >>> import bayesclust as bc
    >>> priors = {"default": "dirichlet_process", "known": bc.partition_priors.KnownK(3)}
    >>> left, right = bc.plots.prior_sizes(priors, 50, num_draws=100)
    >>> left.get_xlabel(), len(right.lines)
    ('number of clusters', 2)
    """
    from matplotlib.ticker import MaxNLocator

    named = priors if isinstance(priors, Mapping) else {"": priors}
    most = style.NUMBER
    if not 0 < len(named) <= most:
        raise ValueError(
            f"priors are {len(named)}, and {most} can be told apart: pass 1 to {most}."
        )
    number = check_int(n_items, "n_items")
    kinds = PartitionPrior, Nested, str, type(None)
    checked = each_is([*named.values()], kinds, "priors")
    given = [as_nested(one, name="priors") for one in checked]
    panels = style.panels_or_new(axes, 2, "prior sizes", 2, (9.5, 3.6))
    widest, colours = [], style.palette()
    for at, name in enumerate(style.shortened(named, 28)):
        sizes = partition_sizes(given[at].among.simulate(number, num_draws, seed))
        clusters = (sizes > 0).sum(axis=1)
        low, high = np.quantile(clusters, (0.05, 0.95))
        widest.append(high)
        label = f"{name}: {clusters.mean():.3g} ({low:.0f} to {high:.0f})".removeprefix(": ")
        look: dict[str, Any] = {"color": colours[at], "marker": style.MARKERS[at]}
        look |= {"markersize": 4, "linewidth": 1.2, "label": label}
        shares = np.bincount(clusters) / len(clusters)
        first = int(clusters.min())
        panels[0].plot(np.arange(first, len(shares)), shares[first:], **look)
        ordered = -np.sort(-sizes, axis=1)[:, :LARGEST]
        ranks = np.arange(1, ordered.shape[1] + 1)
        panels[1].plot(ranks, ordered.mean(axis=0), **look)
        ends = np.quantile(ordered, (0.05, 0.95), axis=0)
        panels[1].fill_between(ranks, *ends, color=colours[at], alpha=0.15, linewidth=0)
    panels[0].set_xlim(0.5, 1.1 * max(widest) + 1)
    panels[0].set(xlabel="number of clusters", ylabel="prior probability")
    panels[0].set_title(f"Clusters of {counted(number, 'item')}", loc="left")
    panels[1].set(xlabel="cluster, from the largest on", ylabel="items")
    panels[1].set_title("Sizes: mean and central 90%", loc="left")
    for ax in panels:
        ax.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
        ax.set_ylim(bottom=0)
        style.bare(ax)
    lines = panels[1].lines[-len(named) :]  # by themselves names with _ first are left out
    style.legend_beside(panels[1], handles=lines, title="number of clusters,\nmean (5% to 95%)")
    return style.as_written(panels)
