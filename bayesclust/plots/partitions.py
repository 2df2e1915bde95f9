"""The posterior's partitions as pictures: the point estimate and the bounds of its credible ball."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._plane import Plane, draw_clusters, matched, plane
from bayesclust.plots._style import counted, several_axes
from bayesclust.posterior.credible_ball import credible_ball
from bayesclust.posterior.labels import Labels, as_labels
from bayesclust.posterior.losses import VI, Loss
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import ArrayLike, IntArray, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["partitions"]

BOUNDS = {
    "upper": "Upper vertical bound",
    "horizontal": "Horizontal bound",
    "lower": "Lower vertical bound",
}
PANELS = 1 + len(BOUNDS)


def partitions(
    posterior: Any,
    X: ArrayLike | None = None,
    *,
    labels: ArrayLike | None = None,
    level: float = 0.95,
    loss: str | Loss = "vi",
    axes: Sequence[Axes] | NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Show a partition of the items in the plane, and the extreme members of the credible ball around it.

    The ball holds a given share of the posterior (Wade and Ghahramani 2018). Of the partitions in
    it, the upper vertical bound has the fewest clusters, the lower one the most, and the horizontal
    bound is farthest from the centre: together they show what the uncertainty is about. Clusters
    have the colour of the cluster of the centre with which they share most items, and items that
    are in the same cluster there as in the centre are faint. Clusters are numbered by their first
    items, as in the `labels_` of estimators.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    X : (n, d) array, optional
        Data that place the items; by default those kept by the posterior. Two columns are drawn as
        they are; of more, the first two principal components of the standardised columns.
    labels : (n,) array of int, optional
        The centre. By default the point estimate under the loss.
    level : float in (0, 1), default 0.95
        Share of the posterior that the ball holds.
    loss : "vi", "binder" or Loss, default "vi"
        The distance.
    axes : sequence of 4 matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of two rows and two columns.

    Returns
    -------
    (4,) array of matplotlib.axes.Axes
        Centre, upper vertical bound, horizontal bound, lower vertical bound. Where several
        partitions are equally extreme, the first one is drawn, and the title says how many there
        are.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions or there are no data, or something does not fit
        together.

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
    centre = as_labels(point_estimate(draws, loss) if labels is None else labels, "labels")
    ball = credible_ball(draws, centre, level=level, loss=loss)
    panels = _panels(axes)
    draw_clusters(panels[0], field.at, centre)
    which = "Point estimate" if labels is None else "Given partition"
    panels[0].set_title(
        f"{which}: {counted(int(centre.max()) + 1, 'cluster')}", loc="left", fontsize="medium"
    )
    unit = " bits" if isinstance(ball.loss, VI) else ""
    for ax, (name, title) in zip(panels[1:], BOUNDS.items(), strict=True):
        found: IntArray = getattr(ball, name)
        moved = _draw_bound(ax, field, found[0], centre)
        several = f" (1 of {len(found)})" if len(found) > 1 else ""
        away = f"{ball.distance(found[0]):.2f}{unit} away, {counted(moved, 'item')} elsewhere"
        clusters = counted(int(found[0].max()) + 1, "cluster")
        ax.set_title(f"{title}{several}: {clusters},\n{away}", loc="left", fontsize="medium")
    for ax in panels:
        field.name_axes(ax)
    if axes is None:
        _head(
            panels,
            f"{level:.0%} credible ball of radius {ball.radius:.2f}{unit}, {counted(len(draws), 'draw')}",
        )
    return panels


def _panels(axes: Any) -> NDArray[np.object_]:
    if axes is None:
        import matplotlib.pyplot as plt

        grid = plt.subplots(2, 2, figsize=(9.5, 8), layout="constrained", sharex=True, sharey=True)[
            1
        ]
        return grid.ravel()  # type: ignore[no-any-return]
    return several_axes(axes, PANELS, "the panels of a credible ball")


def _head(panels: NDArray[np.object_], text: str) -> None:
    panels[0].figure.suptitle(text, x=0.01, ha="left")
    for ax in panels:
        ax.label_outer()


def _draw_bound(ax: Axes, field: Plane, bound: IntArray, centre: Labels) -> int:
    """Draw a bound, and return how many of its items are in another cluster than in the centre."""
    numbers = matched(as_labels(bound, "bound"), centre)
    moved = numbers != centre
    draw_clusters(ax, field.at, numbers, faint=~moved)
    return int(moved.sum())
