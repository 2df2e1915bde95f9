"""How the posterior at growing gamma approaches its limit: RDP-means, or hard DCRC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import kind_of
from bayesclust.plots._style import BLUE, DASHES, VERMILION, bare, grey, panels_or_new, shade
from bayesclust.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

PANELS = (
    ("vi", "Variation of information to {limit}", "bits"),
    ("ari", "Adjusted Rand index with {limit}", ""),
    ("n_clusters", "Number of clusters", ""),
    ("entropy", "Entropy of the cluster sizes", "bits"),
    ("objective", "Objective J", ""),
)
"""Variable, title and unit of all panels but the last."""
UNITS = {
    "euclidean": "squared units of the data",
    "mahalanobis": "squared standard units",
    "standardized": "squared standard units",
    "kernel": "squared units of the kernel's space",
}
"""Units of J for the divergences that are squared distances; others are in nats."""
MARKED: dict[str, Any] = {"marker": "o", "markersize": 3, "linewidth": 1.6}


def limit_path(
    path: xr.Dataset, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Show how the posterior approaches RDP-means, or DCRC at temperature 0, as gamma grows.

    Lines are posterior means and bands the intervals in `path`. Panels: variation of information
    and adjusted Rand index to the limit's partition; number of clusters and entropy of their sizes,
    dashed those of the limit; J of the draws, and minus the log joint over gamma, or the free
    energy of mean field, which tend to it; the variation of information between two draws of one
    chain and of two.

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
    from matplotlib.ticker import MaxNLocator

    if "vi_within" not in getattr(path, "data_vars", ()) or not path.sizes["gamma"]:
        raise TypeError(f"path must have gammas of bayesclust.limit_path; got {kind_of(path)}.")
    gamma = path["gamma"].to_numpy()
    limit = path.attrs["limit"]
    panels = panels_or_new(axes, 6, "the panels of a path", 2, (9.5, 8.6), sharex=True)
    for ax, (name, title, unit) in zip(panels, PANELS, strict=False):
        mean, low, high = (path[name].sel(statistic=which) for which in ("mean", "lower", "upper"))
        ax.fill_between(gamma, low, high, color=BLUE, alpha=0.18, linewidth=0)
        label = "J of the draws" if name == "objective" else "posterior"
        ax.plot(gamma, mean, color=BLUE, label=label, **MARKED)
        if f"limit_{name}" in path.attrs:
            level: dict[str, Any] = {"color": grey(), "linestyle": DASHES[1], "linewidth": 1.1}
            ax.axhline(path.attrs[f"limit_{name}"], label=limit, **level)
        ax.set_title(title.format(limit=limit), loc="left")
        ax.set_ylabel(unit)
    panels[0].set_ylim(bottom=0)
    panels[2].yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    _draw_energy(panels[4], path)
    ax = panels[5]
    ax.plot(gamma, path["vi_within"], color=BLUE, label="of one chain", **MARKED)
    if np.isfinite(path["vi_between"]).any():
        look = MARKED | {"color": VERMILION, "linestyle": DASHES[1]}
        ax.plot(gamma, path["vi_between"], label="of two chains", **look)
    ax.set_ylim(bottom=0)
    ax.set_title("Variation of information between two draws", loc="left")
    ax.set_ylabel("bits")
    divergence = path.attrs["divergence"]
    unit = "clusters of variance 1 / (2 gamma)" if divergence in UNITS else "weight of an item"
    if divergence == "none":
        unit = "1 / temperature"
    for ax in panels:
        ax.set_xscale("log")
        bare(ax)
        if len(ax.get_legend_handles_labels()[0]) > 1:
            ax.legend(frameon=False, fontsize="small")
    for ax in panels[-2:]:
        ax.set_xlabel(f"gamma ({unit})")
    return panels


def _draw_energy(ax: Axes, path: xr.Dataset) -> None:
    """Add minus the log joint over gamma, which is out of all proportion far from the limit."""
    if "energy" in path:
        energy = path["energy"].sel(statistic="mean")
        look: dict[str, Any] = {"color": shade(1), "linestyle": DASHES[3], "linewidth": 1.3}
        label = "free energy" if path.attrs["divergence"] == "none" else "minus log joint / gamma"
        ax.plot(path["gamma"], energy, label=label, **look)
    shown = np.append(path["objective"].to_numpy(), path.attrs["limit_objective"])
    room = 0.08 * (np.ptp(shown) or abs(shown.max()) or 1.0)
    ax.set_ylim(shown.min() - 3 * room, shown.max() + room)
    ax.set_ylabel(UNITS.get(path.attrs["divergence"], "nats"))
