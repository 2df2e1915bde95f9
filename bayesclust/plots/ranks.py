"""Whether chains explore the same posterior: ranks of their draws among those of all chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._style import DASHES, PALETTE, bare, chosen_names, counted, several_axes
from bayesclust.posterior.diagnosis import label_free
from bayesclust.posterior.labels import Labels
from bayesclust.typing import FloatArray, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ranks"]

DEFAULT = (
    "log_joint",
    "n_clusters",
    "entropy",
    "largest_cluster",
    "rand_to_reference",
    "concentration",
)
TITLES = {
    "log_joint": "log joint density",
    "n_clusters": "number of clusters",
    "entropy": "entropy of the cluster sizes",
    "largest_cluster": "size of the largest cluster",
    "rand_to_reference": "Rand index to a reference",
}
MOST_BINS, LEAST_IN_BIN = 20, 8
COLUMNS = 3
INSIDE = 0.99


def ranks(
    posterior: Any,
    names: str | Sequence[str] | None = None,
    axes: Sequence[Axes] | NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Show for each chain how the ranks of its draws are spread among the draws of all chains.

    Chains that explore the same posterior have flat lines (Vehtari et al. 2021). A line that is
    high at one end belongs to a chain that sits at small or large values; one that is high at both
    ends to a chain that wanders further than others. The band holds 99% of the heights that
    independent draws would have, each bin by itself; draws that depend on each other scatter more.
    Draws of equal value are ranked at random.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    names : str or sequence of str, optional
        Of the functionals that `bayesclust.diagnose` follows, such as "entropy" or "together[0,
        5]". By default those that there are of log_joint, n_clusters, entropy, largest_cluster,
        rand_to_reference and concentration.
    axes : sequence of matplotlib.axes.Axes, optional
        Where to draw, one for each functional; by default a new figure of up to three columns.

    Returns
    -------
    array of matplotlib.axes.Axes
        One panel for each functional, in which each step line is labelled by its chain.

    Raises
    ------
    ValueError, TypeError
        If there are no draws in what is passed, there is no such functional, or axes are too few or
        too many.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021): Rank-normalization, folding, and
    localization, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> z = np.random.default_rng(0).integers(0, 3, (2, 40, 6))
    >>> axes = bc.plots.ranks(to_datatree({"z": z}), "entropy")
    >>> axes[0].get_title(loc="left")
    'entropy of the cluster sizes'
    """
    found = label_free(posterior, 20, 0).values
    wanted = (
        [name for name in DEFAULT if name in found]
        if names is None
        else chosen_names(names, "names")
    )
    unknown = [name for name in wanted if name not in found]
    if unknown or not len(wanted):
        what = (
            f"names: {unknown[0]!r} is no functional of these draws"
            if unknown
            else "names is empty"
        )
        raise ValueError(f"{what}: choose from {', '.join(found)}.")
    panels = _panels(axes, len(wanted))
    for ax, name in zip(panels, wanted, strict=True):
        _draw(ax, found[name])
        ax.set_title(TITLES.get(name, name), loc="left", fontsize="medium")
    if axes is None:
        _head(panels, *found[wanted[0]].shape)
    return panels


def _panels(axes: Any, number: int) -> NDArray[np.object_]:
    if axes is not None:
        return several_axes(axes, number, "the functionals")
    import matplotlib.pyplot as plt

    columns = min(number, COLUMNS)
    lines = -(-number // columns)
    figure, grid = plt.subplots(
        lines,
        columns,
        figsize=(0.6 + 3.1 * columns, 0.9 + 2.3 * lines),
        layout="constrained",
        squeeze=False,
    )
    panels: NDArray[np.object_] = grid.ravel()
    for ax in panels[number:]:
        figure.delaxes(ax)
    return panels[:number]


def _draw(ax: Axes, values: Labels) -> None:
    from scipy.stats import binom

    draws = values.shape[1]
    bins = int(np.clip(draws // LEAST_IN_BIN, 1, MOST_BINS))
    edges = np.linspace(0, 1, bins + 1)
    tails = ((1 - INSIDE) / 2, (1 + INSIDE) / 2)
    low, high = binom.ppf(tails, draws, 1 / bins) * bins / draws
    ax.axhspan(low, high, color="0.92", zorder=0, linewidth=0)
    for chain, own in enumerate(_fractional_ranks(values)):
        heights = np.histogram(own, edges)[0] * bins / draws
        look: dict[str, Any] = {
            "color": PALETTE[chain % len(PALETTE)],
            "linestyle": DASHES[chain % len(DASHES)],
        }
        ax.stairs(heights, edges, baseline=None, linewidth=1.3, label=f"chain {chain}", **look)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, max(2.0, 1.05 * ax.get_ylim()[1]))
    ax.set_xlabel("rank among all draws, as a share", fontsize="small")
    ax.set_ylabel("times the even share", fontsize="small")
    ax.tick_params(labelsize="small")
    bare(ax)


def _fractional_ranks(values: Labels) -> FloatArray:
    """Ranks in (0, 1) of the draws among all, ties in random order, (chain, draw)."""
    flat = values.ravel()
    place = np.empty(flat.size)
    shuffle = np.random.default_rng(0).permutation(flat.size)
    place[np.lexsort((shuffle, flat))] = (np.arange(flat.size) + 0.5) / flat.size
    return place.reshape(values.shape)


def _head(panels: NDArray[np.object_], chains: int, draws: int) -> None:
    figure = panels[0].figure
    figure.suptitle(
        f"Ranks of {counted(chains, 'chain')} of {counted(draws, 'draw')}", x=0.01, ha="left"
    )
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="outside upper right",
        ncols=min(chains, 6),
        frameon=False,
        fontsize="small",
    )
