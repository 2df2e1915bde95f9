"""Clusters by their parameters, the mean of each feature, and by their weight in each batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_int, counted
from bayesclust.plots._style import (
    MARKERS,
    NUMBER,
    as_written,
    bare,
    palette,
    panels_or_new,
    shade,
    shortened,
)
from bayesclust.profiles import cluster_profiles
from bayesclust.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 28
"""Letters of a feature's name that fit above a panel, and of a batch's beside it."""
HEAD = 0.6
"""Height of the lines above profiles, in inches."""


def profiles(
    estimator: Any,
    labels: ArrayLike | None = None,
    *,
    max_listed: int = 6,
    prob: float = 0.9,
    axes: Sequence[Axes] | NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Show how clusters differ in the features in which they differ most.

    A dot is the posterior mean of a feature's mean within a cluster, the thick line its interval,
    and the thin one reaches a standard deviation of the items to both sides, except where the mean
    is the share of a code, a word or a one.

    Parameters
    ----------
    estimator : TVClust
        Fitted, as for `bayesclust.cluster_profiles`.
    labels : (n,) array of int, optional
        The partition; by default `labels_`.
    max_listed : int, default 6
        Number of features shown, those with the largest `difference` of any cluster.
    prob : float in (0, 1), default 0.9
        Posterior probability of an interval.
    axes : sequence of matplotlib.axes.Axes, optional
        One for each feature shown; by default a new figure.

    Returns
    -------
    array of matplotlib.axes.Axes
        One for each feature, that which differs most first.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> y = np.repeat([0, 1], 30)
    >>> X = np.random.default_rng(0).normal(np.c_[0 * y, 9 * y])
    >>> est = bc.TVClust("variational", num_samples=50, random_state=0).fit(X)
    >>> axes = bc.plots.profiles(est, labels=y)
    >>> [ax.get_title(loc="left") for ax in axes]
    ['1', '0']
    """
    most = check_int(max_listed, "max_listed")
    table = cluster_profiles(estimator, labels, prob=prob)
    apart = table["difference"].abs().groupby(level="feature", sort=False).max()
    features = list(apart.sort_values(ascending=False, kind="stable").index[:most])
    clusters = list(table.index.unique("cluster"))
    panels = _panels(axes, len(features), "the features shown", len(clusters), HEAD)
    is_bare = True
    titles = shortened(features, LONGEST)
    for ax, feature, title in zip(panels, features, titles, strict=True):
        own = table.xs(feature, level="feature")
        variance = own["mean"] * (1 - own["mean"])
        shares = (variance >= 0).all() and np.allclose(own["sd"] ** 2, variance, atol=0.05)
        for y, (_, row) in enumerate(own.iterrows()):
            colour = palette()[y % NUMBER]
            if not shares:
                is_bare = False
                spread = [row["mean"] - row["sd"], row["mean"] + row["sd"]]
                ax.plot(spread, [y, y], color=colour, linewidth=1, alpha=0.6)
            _interval(ax, y, row, "mean", y)
        ax.set_title(title, loc="left", fontsize="medium")
    sizes = table["size"].groupby(level="cluster", sort=False).first()
    _name_rows(panels, clusters, [sizes[cluster] for cluster in clusters])
    if axes is None:
        figure = panels[0].figure
        figure.supylabel("cluster", fontsize="medium")
        head = ""
        if len(features) < len(apart):
            head = f"{len(features)} of {len(apart):,} features, those that differ most\n"
        lines = f"dot and thick line: mean and its {prob:.0%} interval"
        lines += "" if is_bare else ";\nthin line: one standard deviation of the items"
        figure.suptitle(head + lines, x=0.01, ha="left", fontsize="medium")
    return as_written(panels)


def batch_weights(
    estimator: Any,
    *,
    max_listed: int = 6,
    prob: float = 0.9,
    axes: Sequence[Axes] | NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Show how frequent each cluster is in each batch: posterior mean and interval of its weight.

    Parameters
    ----------
    estimator : TVClust
        Fitted with a `bayesclust.partition_priors.HierarchicalDirichletProcess`.
    max_listed : int, default 6
        Number of clusters shown, the largest of `labels_`.
    prob : float in (0, 1), default 0.9
        Posterior probability of an interval.
    axes : sequence of matplotlib.axes.Axes, optional
        One for each cluster shown; by default a new figure.

    Returns
    -------
    array of matplotlib.axes.Axes
        One for each cluster, the largest first.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import bayesclust as bc
    >>> y = np.repeat([0, 1], [40, 20])
    >>> X = pd.DataFrame({"a": np.random.default_rng(0).normal(9 * y)})
    >>> X["site"] = np.where(y, "B", "A")
    >>> prior = bc.partition_priors.HierarchicalDirichletProcess("site")
    >>> short = {"num_warmup": 100, "num_samples": 100, "random_state": 0, "progress": False}
    >>> est = bc.TVClust(partition_prior=prior, cluster_model="single", **short).fit(X)
    >>> axes = bc.plots.batch_weights(est)
    >>> [label.get_text() for label in axes[0].get_yticklabels()]
    ['A (40 items)', 'B (20 items)']
    """
    if isinstance(estimator, type) or not hasattr(estimator, "batch_weights"):
        raise TypeError(
            "the estimator must be a TVClust fitted with HierarchicalDirichletProcess; got "
            f"{type(estimator).__name__} without batches: pass such a one."
        )
    table = estimator.batch_weights(prob=prob)
    batches = list(table.index.unique("batch"))
    clusters = list(table.index.unique("cluster"))[: check_int(max_listed, "max_listed")]
    panels = _panels(axes, len(clusters), "the clusters shown", len(batches))
    for ax, (k, cluster) in zip(panels, enumerate(clusters), strict=True):
        for y, (_, row) in enumerate(table.xs(cluster, level="cluster").iterrows()):
            _interval(ax, y, row, "weight", k)
        ax.set_xlim(-0.02, 1.02)
        ax.set_title(f"weight of cluster {cluster}", loc="left", fontsize="medium")
    _name_rows(panels, batches, list(table["items"].groupby(level="batch", sort=False).sum()))
    return as_written(panels)


def _panels(axes: Any, number: int, what: str, height: int, head: float = 0) -> NDArray[np.object_]:
    """So many panels with one scale of rows, at most three beside each other, each so many high."""
    rows = -(-number // 3)
    columns = -(-number // rows)
    size = (3.2 * columns + 0.6, rows * (0.9 + 0.32 * height) + head)
    return panels_or_new(axes, number, what, columns, size, sharey=True)


def _interval(ax: Axes, y: int, row: Any, name: str, k: int) -> None:
    """A dot at a value and its interval, in the colour and shape of cluster k."""
    colour, marker = palette()[k % NUMBER], MARKERS[k % len(MARKERS)]
    ax.plot([row[f"{name}_low"], row[f"{name}_high"]], [y, y], color=colour, linewidth=4)
    ax.plot(row[name], y, marker, color=colour, markeredgecolor=shade(0), markersize=6)


def _name_rows(panels: NDArray[np.object_], names: Sequence[Any], items: Sequence[Any]) -> None:
    """Rows by name, with how many items they have."""
    words = shortened(names, LONGEST)
    rows = [f"{name} ({counted(int(m), 'item')})" for name, m in zip(words, items, strict=True)]
    for ax in panels:
        bare(ax, "top", "right", "left")
        ax.tick_params(left=False)
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.5, -0.5)
