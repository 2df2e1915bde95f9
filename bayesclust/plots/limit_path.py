"""How the posterior at growing gamma approaches RDP-means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._style import BLUE, DASHES, GREY, VERMILION, bare, panels_or_new
from bayesclust.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["limit_path"]

PANELS = (
    ("vi", "Variation of information to RDP-means", "bits"),
    ("ari", "Adjusted Rand index with RDP-means", ""),
    ("n_clusters", "Number of clusters", ""),
    ("entropy", "Entropy of the cluster sizes", "bits"),
    ("objective", "Objective J", ""),
)
"""Variable, title and unit of all panels but the last."""
NEEDED = (*(name for name, _, _ in PANELS), "energy", "vi_within", "vi_between")
UNITS = {
    "euclidean": "squared units of the data",
    "mahalanobis": "squared standard units",
    "standardized": "squared standard units",
}
"""Units of J for the divergences that are squared distances; others are in nats."""
MARKED: dict[str, Any] = {"marker": "o", "markersize": 3, "linewidth": 1.6}


def limit_path(
    path: xr.Dataset, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Show how the posterior approaches RDP-means as gamma grows.

    Lines are posterior means and bands the intervals in `path`. Panels: variation of information
    and adjusted Rand index to the partition of RDP-means; number of clusters and entropy of their
    sizes, dashed those of RDP-means; J of the draws, and minus the log joint over gamma, which
    tends to it; the variation of information between two draws of one chain and of two.

    Parameters
    ----------
    path : xarray.Dataset
        From `bayesclust.limit_path`.
    axes : sequence of 6 matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    (6,) array of matplotlib.axes.Axes
        In the order of the panels above.

    Raises
    ------
    ValueError, TypeError
        If `path` is no such data set, or `axes` are not six.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> X = np.random.default_rng(0).normal(size=(20, 2)) + 5 * np.repeat([[0], [1]], 10, axis=0)
    >>> short = {"num_chains": 2, "num_warmup": 50, "num_samples": 50, "random_state": 0}
    >>> limit = bc.DPMeans(penalty=25.0)
    >>> path = bc.limit_path(X, limit=limit, gammas=[0.1, 1.0, 100.0], **short)
    >>> axes = bc.plots.limit_path(path)
    >>> axes[0].get_title(loc="left")
    'Variation of information to RDP-means'
    """
    _check(path)
    panels = panels_or_new(axes, 6, "the panels of a path", 2, (9.5, 8.6), sharex=True)
    for ax, (name, title, unit) in zip(panels, PANELS, strict=False):
        ax.set_ylabel(unit)
        _line(ax, path, name, "J of the draws" if name == "objective" else "posterior")
        if name not in ("vi", "ari"):
            _level(ax, path, name)
        ax.set_title(title, loc="left")
    _show_ranges(panels, path)
    ax = panels[5]
    ax.plot(path["gamma"], path["vi_within"], color=BLUE, label="of one chain", **MARKED)
    if np.isfinite(path["vi_between"]).any():
        look = MARKED | {"color": VERMILION, "linestyle": DASHES[1]}
        ax.plot(path["gamma"], path["vi_between"], label="of two chains", **look)
    ax.set_ylim(bottom=0)
    ax.set_title("Variation of information between two draws", loc="left")
    ax.set_ylabel("bits")
    for ax in panels:
        _gamma_axis(ax, path)
        if len(ax.get_legend_handles_labels()[0]) > 1:
            ax.legend(frameon=False, fontsize="small")
    return panels


def _check(path: Any) -> None:
    """Refuse what does not come from `bayesclust.limit_path`."""
    import xarray as xr

    instead = "pass the data set that bayesclust.limit_path returns."
    if not isinstance(path, xr.Dataset):
        raise TypeError(f"path is a {type(path).__name__}: {instead}")
    for name in NEEDED:
        if name not in path:
            raise ValueError(f"path has no variable {name!r}: {instead}")
    if not path.sizes.get("gamma"):
        raise ValueError(f"path holds no gamma: {instead}")


def _line(ax: Axes, path: xr.Dataset, name: str, label: str) -> None:
    """Posterior mean and interval over gamma."""
    mean, low, high = (path[name].sel(statistic=which) for which in ("mean", "lower", "upper"))
    ax.fill_between(path["gamma"], low, high, color=BLUE, alpha=0.18, linewidth=0)
    ax.plot(path["gamma"], mean, color=BLUE, label=label, **MARKED)


def _level(ax: Axes, path: xr.Dataset, name: str) -> None:
    """A horizontal line where RDP-means is."""
    if name == "objective":
        energy = path["energy"].sel(statistic="mean")
        look: dict[str, Any] = {"color": "black", "linestyle": DASHES[3], "linewidth": 1.3}
        ax.plot(path["gamma"], energy, label="minus log joint / gamma", **look)
    level: dict[str, Any] = {"color": GREY, "linestyle": DASHES[1], "linewidth": 1.1}
    ax.axhline(path.attrs[f"limit_{name}"], label="RDP-means", **level)


def _show_ranges(panels: NDArray[np.object_], path: xr.Dataset) -> None:
    """Set the ranges of the first five panels, and the unit of the fifth."""
    from matplotlib.ticker import MaxNLocator

    panels[0].set_ylim(bottom=0)
    panels[2].yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    # far from the limit the energy is out of all proportion
    shown = np.append(path["objective"].to_numpy(), path.attrs["limit_objective"])
    room = 0.08 * (np.ptp(shown) or abs(shown.max()) or 1.0)
    panels[4].set_ylim(shown.min() - 3 * room, shown.max() + room)
    panels[4].set_ylabel(UNITS.get(path.attrs["divergence"], "nats"))


def _gamma_axis(ax: Axes, path: xr.Dataset) -> None:
    """The logarithmic scale of gamma, named in the last row."""
    gamma = path["gamma"].to_numpy()
    ax.set_xscale("log")
    if len(gamma) > 1:
        ax.set_xlim(gamma[0] / 1.15, gamma[-1] * 1.15)
    bare(ax)
    grid = ax.get_subplotspec()
    if grid is None or grid.is_last_row():
        is_gaussian = path.attrs["divergence"] in UNITS
        unit = "clusters of variance 1 / (2 gamma)" if is_gaussian else "weight of an item"
        ax.set_xlabel(f"gamma ({unit})")
