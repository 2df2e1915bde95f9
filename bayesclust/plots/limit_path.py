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

NEEDED = (
    "vi",
    "ari",
    "vi_best",
    "ari_best",
    "n_clusters",
    "entropy",
    "objective",
    "energy",
    "vi_within",
    "vi_between",
)
RDP_MEANS = "RDP-means"
BEST = "the partition of least J found"
UNITS = {
    "euclidean": "squared units of the data",
    "mahalanobis": "squared standard units",
    "standardized": "squared standard units",
}
"""Units of J for the divergences that are squared distances; others are in nats."""
LEAST_BITS = 0.2
"""Least range of an entropy that is shown."""
ROOM = 0.08
"""Share of a panel's height that is left free above and below."""
MARKED: dict[str, Any] = {"marker": "o", "markersize": 3, "linewidth": 1.6}


def limit_path(
    path: xr.Dataset, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Show how the posterior approaches RDP-means as gamma grows.

    Lines are posterior means and bands the intervals kept in `path`, over gamma on a logarithmic
    scale. The panels: the variation of information and the adjusted Rand index to the partition of
    RDP-means; the number of clusters and the entropy of their sizes, with those of RDP-means as
    dashed lines; the objective J of the draws, and minus the log joint over gamma, which tends to
    it; and the variation of information between two draws of one chain and of two chains: the
    uncertainty of the posterior, and, where the second stays above the first, chains in different
    local modes. Where the partition of RDP-means has not the least J known, the partition that has
    it is drawn too.

    Parameters
    ----------
    path : xarray.Dataset
        From `bayesclust.limit_path`.
    axes : sequence of 6 matplotlib.axes.Axes, optional
        Where to draw; by default a new figure of three rows and two columns.

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
    has_better = bool(path.attrs["best_objective"] < path.attrs["limit_objective"])
    distances = (
        (panels[0], "vi", "Variation of information to RDP-means", "bits"),
        (panels[1], "ari", "Adjusted Rand index with RDP-means", ""),
    )
    for ax, name, title, unit in distances:
        _line(ax, path, name, BLUE, RDP_MEANS)
        if has_better:
            _line(ax, path, f"{name}_best", VERMILION, BEST, dashes=DASHES[1])
            ax.legend(frameon=False, fontsize="small")
            title = title.removesuffix(RDP_MEANS) + "..."
        ax.set_title(title, loc="left")
        ax.set_ylabel(unit)
    panels[0].set_ylim(bottom=0)
    _counts(panels[2], path, has_better)
    _entropies(panels[3], path, has_better)
    _objective(panels[4], path, has_better)
    _between_draws(panels[5], path)
    for ax in panels:
        _gamma_axis(ax, path)
    return panels


def _check(path: Any) -> None:
    """Refuse what does not come from `bayesclust.limit_path`."""
    import xarray as xr

    instead = "pass the data set that bayesclust.limit_path returns."
    if not isinstance(path, xr.Dataset):
        raise TypeError(f"path is a {type(path).__name__}: {instead}")
    missing = [name for name in NEEDED if name not in path]
    if missing:
        raise ValueError(f"path has no variable {missing[0]!r}: {instead}")
    if not path.sizes.get("gamma"):
        raise ValueError(f"path holds no gamma: {instead}")


def _line(ax: Axes, path: xr.Dataset, name: str, color: str, label: str, dashes: Any = "-") -> None:
    """Posterior mean and interval over gamma."""
    kept = [path[name].sel(statistic=which).to_numpy() for which in ("mean", "lower", "upper")]
    mean, low, high = kept
    gamma = path["gamma"].to_numpy()
    ax.fill_between(gamma, low, high, color=color, alpha=0.18, linewidth=0)
    ax.plot(gamma, mean, color=color, linestyle=dashes, label=label, **MARKED)


def _levels(ax: Axes, path: xr.Dataset, name: str, has_better: bool) -> None:
    """Horizontal lines where RDP-means is, and the partition of least J if it is another."""
    limit: dict[str, Any] = {"color": GREY, "linestyle": DASHES[1], "linewidth": 1.1}
    ax.axhline(path.attrs[f"limit_{name}"], label=RDP_MEANS, **limit)
    if has_better:
        best: dict[str, Any] = {"color": VERMILION, "linestyle": DASHES[2], "linewidth": 1.3}
        ax.axhline(path.attrs[f"best_{name}"], label=BEST, **best)
    ax.legend(frameon=False, fontsize="small")


def _counts(ax: Axes, path: xr.Dataset, has_better: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    _line(ax, path, "n_clusters", BLUE, "posterior")
    _levels(ax, path, "n_clusters", has_better)
    ax.set_title("Number of clusters", loc="left")
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    _widen(ax, 1.5)


def _entropies(ax: Axes, path: xr.Dataset, has_better: bool) -> None:
    _line(ax, path, "entropy", BLUE, "posterior")
    _levels(ax, path, "entropy", has_better)
    ax.set_title("Entropy of the cluster sizes", loc="left")
    ax.set_ylabel("bits")
    _widen(ax, LEAST_BITS)


def _widen(ax: Axes, least: float) -> None:
    """Show at least this range, so that next to nothing does not fill the panel."""
    low, high = ax.get_ylim()
    short = max(least - (high - low), 0.0) / 2
    ax.set_ylim(low - short, high + short)


def _objective(ax: Axes, path: xr.Dataset, has_better: bool) -> None:
    _line(ax, path, "objective", BLUE, "J of the draws")
    energy = path["energy"].sel(statistic="mean")
    look: dict[str, Any] = {"color": "black", "linestyle": DASHES[3], "linewidth": 1.3}
    ax.plot(path["gamma"], energy, label="minus log joint / gamma", **look)
    _levels(ax, path, "objective", has_better)
    # far from the limit the energy is out of all proportion
    shown = path["objective"].to_numpy()
    levels = [path.attrs["limit_objective"], path.attrs["best_objective"]]
    low = min(shown.min(), *levels)
    high = max(shown.max(), *levels)
    room = ROOM * ((high - low) or abs(high) or 1.0)
    ax.set_ylim(low - 3 * room, high + room)
    ax.set_title("Objective J", loc="left")
    ax.set_ylabel(UNITS.get(path.attrs["divergence"], "nats"))


def _between_draws(ax: Axes, path: xr.Dataset) -> None:
    ax.plot(path["gamma"], path["vi_within"], color=BLUE, label="of one chain", **MARKED)
    if np.isfinite(path["vi_between"]).any():
        look = MARKED | {"color": VERMILION, "linestyle": DASHES[1]}
        ax.plot(path["gamma"], path["vi_between"], label="of two chains", **look)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small")
    ax.set_title("Variation of information between two draws", loc="left")
    ax.set_ylabel("bits")


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
