"""How the chains ran: every draw in order, and the ranks of the draws of each chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.plots._style import (
    DASHES,
    GREY,
    NOISE,
    PALETTE,
    bare,
    check_names,
    counted,
    in_words,
    noise_in_words,
    panels_or_new,
)
from bayesclust.posterior.diagnosis import label_free
from bayesclust.posterior.tree import Labels, chain_partitions, group, tree_of
from bayesclust.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["ranks", "traces"]

TRACED = ("log_joint", "n_clusters", "concentration")
BINS = 30
STEPS = (1, 2, 5, 10)
"""Between ticks."""
TITLES = {
    "log_joint": "log joint density",
    "n_clusters": "number of clusters",
    "entropy": "entropy of the cluster sizes",
    "largest_cluster": "size of the largest cluster",
    "rand_to_reference": "Rand index to a reference",
    "concentration": "concentration",
}
"""What `ranks` shows by default, in words."""
ANSWERS = ("yes", "no", "dnk")
"""Answers about triplets, by code: the rows and columns of a confusion matrix."""
MOST_BINS = 20
LEAST_IN_BIN = 8
INSIDE = 0.99
"""Probability of the band around flat ranks."""


def traces(
    posterior: Any,
    var_names: str | Sequence[str] | None = None,
    axes: NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Show the draws of scalar quantities in order, by chain, and their distribution beside.

    Chains that explore the same posterior overlap in both columns; one that stays at a level of its
    own has not found what the others have.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        With draws in the groups posterior and sample_stats.
    var_names : str or sequence of str, optional
        Variables of these groups, one row for each component. By default log_joint, n_clusters,
        concentration and noise parameters (of a confusion matrix its diagonal), as there are.
    axes : (rows, 2) array of matplotlib.axes.Axes, optional
        By default a new figure with a legend of the chains.

    Returns
    -------
    (rows, 2) array of matplotlib.axes.Axes
        Traces at the left, each line labelled by its chain, and distributions at the right.

    Raises
    ------
    ValueError, TypeError
        If there are no draws or no such variable, or axes are of another shape.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> tree = to_datatree({"z": [[[0, 0, 1], [0, 1, 2]]], "concentration": [[0.5, 0.7]]})
    >>> axes = bc.plots.traces(tree)
    >>> axes.shape, axes[0, 0].get_title(loc="left")
    ((2, 2), 'number of clusters')
    """
    rows = _rows(posterior, var_names)
    shape = (len(rows), 2)
    if axes is not None and np.shape(axes) != shape:
        raise ValueError(
            f"axes have shape {np.shape(axes)}, but these are {counted(len(rows), 'row')} of 2: "
            f"pass {shape} axes."
        )
    size = (9.5, 0.8 + 1.4 * len(rows))
    ratios = {"width_ratios": [3.2, 1]}
    grid = panels_or_new(
        axes, 2 * len(rows), "the rows", 2, size, sharey="row", gridspec_kw=ratios
    ).reshape(shape)
    for (left, right), (title, values) in zip(grid, rows.items(), strict=True):
        _draw_trace(left, values)
        _draw_distribution(right, values)
        left.set_title(title, loc="left", fontsize="medium")
        left.tick_params(labelbottom=left is grid[-1, 0])
    grid[-1, 0].set_xlabel("draw")
    grid[-1, 1].set_xlabel("share of the chain's draws")
    if axes is None:
        _head(grid[0, 0], "", values.shape)
    return grid


def _head(ax: Axes, what: str, shape: tuple[int, ...]) -> None:
    """Write the number of chains and draws above a figure, and a legend of the chains beside."""
    chains, draws = shape
    figure: Any = ax.figure
    text = f"{what}{counted(chains, 'chain')} of {counted(draws, 'draw')}"
    figure.suptitle(text, x=0.01, ha="left")
    place: dict[str, Any] = {"loc": "outside upper right", "ncols": min(chains, 7)}
    handles = ax.get_legend_handles_labels()
    legend = figure.legend(*handles, frameon=False, fontsize="small", **place)
    for line in legend.get_lines():
        line.set(linewidth=2, alpha=1)


def _rows(posterior: Any, var_names: str | Sequence[str] | None) -> dict[str, Labels]:
    """Draws (chain, draw) of each component of the variables chosen, by title."""
    groups = [group(posterior, "posterior")]
    if "sample_stats" in tree_of(posterior).children:
        groups.append(group(posterior, "sample_stats"))
    variables = {
        str(name): array.transpose("chain", "draw", ...)
        for data in groups
        for name, array in data.data_vars.items()
        if name != "z" and {"chain", "draw"} <= set(array.dims)
    }
    kinds = {name: _noise_kind(name, array) for name, array in variables.items()}
    names: str | Sequence[str] | None = var_names
    if names is None:
        names = [name for name in TRACED if name in variables]
        names += [name for kind in NOISE for name in variables if kinds[name] == kind]
    rows = {}
    for name in check_names(names, "var_names", list(variables), "variable with draws"):
        values = variables[name].to_numpy()
        for index in np.ndindex(values.shape[2:]):
            if var_names is None and kinds[name] == "confusion" and index[1] != index[2]:
                continue
            title = _title(name, kinds[name], index, variables[name])
            rows[title] = values[(..., *index)]
    return rows


def _noise_kind(name: str, array: xr.DataArray) -> str | None:
    """The noise parameter that a variable is: p_night is the p of the constraints night."""
    kind = name.partition("_")[0]
    return kind if kind in NOISE and array.ndim > 2 else None


def _title(name: str, kind: str | None, index: tuple[int, ...], array: xr.DataArray) -> str:
    """A component of a variable in words."""
    if kind is None:
        return TITLES.get(name, name) + (f"[{', '.join(map(str, index))}]" if index else "")
    parts = [noise_in_words(kind, [ANSWERS[code] for code in index[1:]])]
    if name != kind:
        parts.append(name.removeprefix(f"{kind}_"))
    if array.shape[2] > 1:
        parts.append(in_words(str(array[array.dims[2]].values[index[0]])))
    return ", ".join(parts)


def _look(chain: int) -> dict[str, Any]:
    return {"color": PALETTE[chain % len(PALETTE)], "label": f"chain {chain}"}


def _line(chain: int) -> dict[str, Any]:
    return _look(chain) | {"linestyle": DASHES[chain % len(DASHES)], "linewidth": 1.25}


def _draw_trace(ax: Axes, values: Labels) -> None:
    """The draws of each chain in order."""
    from matplotlib.ticker import MaxNLocator

    draws = values.shape[1]
    marker = "." if draws == 1 else ""  # one draw alone would be a line of no length
    for chain, own in enumerate(values):
        ax.plot(own, linewidth=0.7, alpha=0.8, marker=marker, **_look(chain))
    ax.set_xlim(0, max(draws - 1, 1))
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=values.dtype.kind in "iub", steps=STEPS))
    bare(ax)


def _draw_distribution(ax: Axes, values: Labels) -> None:
    """The share of draws of each chain in bins, of whole numbers in one bin each."""
    from matplotlib.ticker import MaxNLocator

    finite = values[np.isfinite(values)]
    edges: NDArray[np.floating[Any]] = np.histogram_bin_edges(finite, BINS)
    if values.dtype.kind in "iub":
        edges = np.arange(int(finite.min()), int(finite.max()) + 2) - 0.5
    for chain, own in enumerate(values):
        share = np.histogram(own, edges)[0] / own.size
        ax.stairs(share, edges, orientation="horizontal", **_line(chain))
    bare(ax)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_locator(MaxNLocator(3, steps=STEPS))
    if finite.size:
        low, high = np.quantile(finite, [0.05, 0.95])
        text = f"mean {_short(finite.mean())}, 90% in {_short(low)} to {_short(high)}"
        ax.set_title(text, loc="right", fontsize="small", color=GREY)


def _short(number: float) -> str:
    return f"{number:,.0f}" if 1000 <= abs(number) < 1e7 else f"{number:.3g}"


def ranks(
    posterior: Any,
    names: str | Sequence[str] | None = None,
    axes: Sequence[Axes] | NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Show for each chain how the ranks of its draws are spread among the draws of all chains.

    Chains that explore the same posterior have flat lines (Vehtari et al. 2021, section 4): one
    that is high at one end stays at small or large values, one that is high at both ends varies
    more than others. The band holds 99% of the heights that independent draws would have, bin by
    bin. Equal draws are ranked at random.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    names : str or sequence of str, optional
        Functionals that `bayesclust.diagnose` follows, such as "entropy" or "together[0, 5]".
    axes : sequence of matplotlib.axes.Axes, optional
        One for each functional; by default a new figure.

    Returns
    -------
    array of matplotlib.axes.Axes
        One panel for each functional, in which each step line is labelled by its chain.

    Raises
    ------
    ValueError, TypeError
        If there are no draws or no such functional, or too few or many axes.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021): Rank-normalization, folding, and
    localization.

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
    found = label_free(posterior, chain_partitions(posterior), 20, 0)
    default = [name for name in TITLES if name in found]
    wanted = check_names(
        default if names is None else names, "names", list(found), "functional of these draws"
    )
    columns = min(len(wanted), 3)
    size = (0.6 + 3.1 * columns, 0.9 + 2.3 * -(-len(wanted) // columns))
    panels = panels_or_new(axes, len(wanted), "the functionals", columns, size)
    for ax, name in zip(panels, wanted, strict=True):
        _draw_ranks(ax, found[name])
        ax.set_title(TITLES.get(name, name), loc="left", fontsize="medium")
    if axes is None:
        _head(panels[0], "Ranks of ", found[wanted[0]].shape)
    return panels


def _draw_ranks(ax: Axes, values: Labels) -> None:
    """Histograms of the ranks of each chain, and the band around a flat one."""
    from scipy.stats import binom

    draws = values.shape[1]
    bins = int(np.clip(draws // LEAST_IN_BIN, 1, MOST_BINS))
    edges = np.linspace(0, 1, bins + 1)
    tails = ((1 - INSIDE) / 2, (1 + INSIDE) / 2)
    low, high = binom.ppf(tails, draws, 1 / bins) * bins / draws
    ax.axhspan(low, high, color="0.92", zorder=0, linewidth=0)
    # fractional ranks among all draws, ties in random order
    shuffle = np.random.default_rng(0).permutation(values.size)
    place = (np.argsort(np.lexsort((shuffle, values.ravel()))) + 0.5) / values.size
    for chain, own in enumerate(place.reshape(values.shape)):
        heights = np.histogram(own, edges)[0] * bins / draws
        ax.stairs(heights, edges, baseline=None, **_line(chain))
    ax.set(xlim=(0, 1), ylim=(0, max(2.0, 1.05 * ax.get_ylim()[1])))
    ax.set_xlabel("rank among all draws, as a share", fontsize="small")
    ax.set_ylabel("times the even share", fontsize="small")
    ax.tick_params(labelsize="small")
    bare(ax)
