"""How the posterior at growing gamma becomes RDP-means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from bayesclust.plots._style import BLUE, DASHES, GREY, VERMILION
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
PANELS = 6
RDP_MEANS, LEAST = "RDP-means", "the partition of least J found"
UNITS = dict.fromkeys(("mahalanobis", "standardized"), "squared standard units")
UNITS["euclidean"] = "squared units of the data"
"""Of J, for the divergences that are squared distances; others are in nats."""
LEAST_BITS = 0.2
"""Least range of an entropy that is shown."""
ROOM = 0.08
"""Share of a panel's height that is left free above and below."""


def limit_path(
    path: xr.Dataset, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Show how the posterior approaches RDP-means as gamma grows.

    Lines are posterior means and bands the intervals kept in `path`, over gamma on a logarithmic
    scale. The panels: the variation of information and the adjusted Rand index to the partition of
    RDP-means; the number of clusters and the entropy of their sizes, with those of RDP-means as
    dashed lines; the objective J of the draws, and minus the log joint over gamma, which tends to
    it; and the variation of information between two draws of one chain and of two chains: how
    unsure the posterior is, and, where the second stays above the first, that chains have come to
    rest apart. Where RDP-means' own partition has not the least J known, the partition that has it
    is drawn too.

    Parameters
    ----------
    path : xarray.Dataset
        As `bayesclust.limit_path` returns it.
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
    >>> X = np.r_[np.random.default_rng(0).normal(size=(10, 2)), np.random.default_rng(1).normal(5, 1, size=(10, 2))]
    >>> short = {"num_chains": 2, "num_warmup": 50, "num_samples": 50, "random_state": 0}
    >>> path = bc.limit_path(X, limit=bc.DPMeans(penalty=25.0), gammas=[0.1, 1.0, 100.0], **short)
    >>> axes = bc.plots.limit_path(path)
    >>> axes[0].get_title(loc="left")
    'Variation of information to RDP-means'
    """
    _check(path)
    panels = _panels(axes)
    better = bool(path.attrs["best_objective"] < path.attrs["limit_objective"])
    for ax, name, title, unit in (
        (panels[0], "vi", "Variation of information to RDP-means", "bits"),
        (panels[1], "ari", "Adjusted Rand index with RDP-means", ""),
    ):
        _line(ax, path, name, BLUE, RDP_MEANS)
        if better:
            _line(ax, path, f"{name}_best", VERMILION, LEAST, dashes=DASHES[1])
            ax.legend(frameon=False, fontsize="small")
        ax.set_title(title.removesuffix(RDP_MEANS) + "..." if better else title, loc="left")
        ax.set_ylabel(unit)
    panels[0].set_ylim(bottom=0)
    for ax, name, title, unit in (
        (panels[2], "n_clusters", "Number of clusters", ""),
        (panels[3], "entropy", "Entropy of the cluster sizes", "bits"),
    ):
        _line(ax, path, name, BLUE, "posterior")
        _levels(ax, path, name, better)
        ax.set_title(title, loc="left")
        ax.set_ylabel(unit)
    panels[2].yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    _widen(panels[2], 1.5)
    _widen(panels[3], LEAST_BITS)
    _objective(panels[4], path, better)
    _between_draws(panels[5], path)
    for ax in panels:
        _gamma_axis(ax, path)
    return panels


def _check(path: Any) -> None:
    import xarray as xr

    if not isinstance(path, xr.Dataset):
        raise TypeError(
            f"path is a {type(path).__name__}: pass the data set that bayesclust.limit_path returns."
        )
    missing = [name for name in NEEDED if name not in path]
    if missing:
        raise ValueError(
            f"path has no variable {missing[0]!r}: pass the data set that bayesclust.limit_path returns."
        )
    if not path.sizes.get("gamma"):
        raise ValueError(
            "path holds no gamma: pass the data set that bayesclust.limit_path returns."
        )


def _panels(axes: Any) -> NDArray[np.object_]:
    if axes is None:
        import matplotlib.pyplot as plt

        return plt.subplots(3, 2, figsize=(9.5, 8.6), layout="constrained", sharex=True)[1].ravel()  # type: ignore[no-any-return]
    given: NDArray[np.object_] = np.asarray(axes, dtype=object).ravel()
    if len(given) != PANELS:
        raise ValueError(
            f"axes are {len(given)}, but the picture has {PANELS} panels: pass {PANELS} axes, or None."
        )
    return given


def _line(ax: Axes, path: xr.Dataset, name: str, color: str, label: str, dashes: Any = "-") -> None:
    mean, low, high = (
        path[name].sel(statistic=which).to_numpy() for which in ("mean", "lower", "upper")
    )
    gamma = path["gamma"].to_numpy()
    ax.fill_between(gamma, low, high, color=color, alpha=0.18, linewidth=0)
    ax.plot(
        gamma,
        mean,
        color=color,
        linestyle=dashes,
        marker="o",
        markersize=3,
        linewidth=1.6,
        label=label,
    )


def _levels(ax: Axes, path: xr.Dataset, name: str, better: bool) -> None:
    """Horizontal lines where RDP-means is, and the partition of least J if it is another."""
    ax.axhline(
        path.attrs[f"limit_{name}"], color=GREY, linestyle=DASHES[1], linewidth=1.1, label=RDP_MEANS
    )
    if better:
        ax.axhline(
            path.attrs[f"best_{name}"],
            color=VERMILION,
            linestyle=DASHES[2],
            linewidth=1.3,
            label=LEAST,
        )
    ax.legend(frameon=False, fontsize="small")


def _widen(ax: Axes, least: float) -> None:
    """Show at least this range, so that next to nothing does not fill the panel."""
    low, high = ax.get_ylim()
    short = max(least - (high - low), 0.0) / 2
    ax.set_ylim(low - short, high + short)


def _objective(ax: Axes, path: xr.Dataset, better: bool) -> None:
    _line(ax, path, "objective", BLUE, "J of the draws")
    energy = path["energy"].sel(statistic="mean")
    ax.plot(
        path["gamma"],
        energy,
        color="black",
        linestyle=DASHES[3],
        linewidth=1.3,
        label="minus log joint / gamma",
    )
    _levels(ax, path, "objective", better)
    # far from the limit the energy is out of all proportion
    shown = path["objective"].to_numpy()
    levels = [path.attrs["limit_objective"], path.attrs["best_objective"]]
    low, high = min(shown.min(), *levels), max(shown.max(), *levels)
    room = ROOM * ((high - low) or abs(high) or 1.0)
    ax.set_ylim(low - 3 * room, high + room)
    ax.set_title("Objective J", loc="left")
    ax.set_ylabel(UNITS.get(path.attrs["divergence"], "nats"))


def _between_draws(ax: Axes, path: xr.Dataset) -> None:
    gamma = path["gamma"]
    ax.plot(
        gamma,
        path["vi_within"],
        color=BLUE,
        marker="o",
        markersize=3,
        linewidth=1.6,
        label="of one chain",
    )
    if np.isfinite(path["vi_between"]).any():
        look: dict[str, Any] = {
            "color": VERMILION,
            "linestyle": DASHES[1],
            "marker": "o",
            "markersize": 3,
        }
        ax.plot(gamma, path["vi_between"], linewidth=1.6, label="of two chains", **look)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small")
    ax.set_title("Variation of information between two draws", loc="left")
    ax.set_ylabel("bits")


def _gamma_axis(ax: Axes, path: xr.Dataset) -> None:
    gamma = path["gamma"].to_numpy()
    ax.set_xscale("log")
    if len(gamma) > 1:
        ax.set_xlim(gamma[0] / 1.15, gamma[-1] * 1.15)
    ax.spines[["top", "right"]].set_visible(False)
    grid = ax.get_subplotspec()
    if grid is None or grid.is_last_row():
        unit = (
            "clusters of variance 1 / (2 gamma)"
            if path.attrs["divergence"] in UNITS
            else "what an item weighs"
        )
        ax.set_xlabel(f"gamma ({unit})")
