"""Clusters by their parameters: the mean of each feature, its interval and spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_int, counted
from bayesclust.plots._style import MARKERS, PALETTE, bare, panels_or_new, shortened
from bayesclust.profiles import cluster_profiles
from bayesclust.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 28
"""Letters of a feature's name that fit above a panel."""


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
    number = len(features)
    rows = -(-number // 3)
    columns = -(-number // rows)
    size = (3.2 * columns + 0.6, rows * (0.9 + 0.32 * len(clusters)))
    panels = panels_or_new(axes, number, "the features shown", columns, size, sharey=True)
    for ax, feature in zip(panels, features, strict=True):
        own = table.xs(feature, level="feature")
        variance = own["mean"] * (1 - own["mean"])
        shares = (variance >= 0).all() and np.allclose(own["sd"] ** 2, variance, atol=0.05)
        for y, (_, row) in enumerate(own.iterrows()):
            colour = PALETTE[y % len(PALETTE)]
            if not shares:
                spread = [row["mean"] - row["sd"], row["mean"] + row["sd"]]
                ax.plot(spread, [y, y], color=colour, linewidth=1, alpha=0.6)
            ax.plot([row["mean_low"], row["mean_high"]], [y, y], color=colour, linewidth=4)
            marker = MARKERS[y % len(MARKERS)]
            ax.plot(row["mean"], y, marker, color=colour, markeredgecolor="white", markersize=6)
        ax.set_title(shortened([feature], LONGEST)[0], loc="left", fontsize="medium")
        bare(ax, "top", "right", "left")
        ax.tick_params(left=False)
    sizes = table["size"].groupby(level="cluster", sort=False).first()
    names = [f"{cluster} ({counted(int(sizes[cluster]), 'item')})" for cluster in clusters]
    for ax in panels:
        ax.set_yticks(range(len(clusters)), names)
        ax.set_ylim(len(clusters) - 0.5, -0.5)
    if axes is None:
        panels[0].figure.supylabel("cluster", fontsize="medium")
    return panels
