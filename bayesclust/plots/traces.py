"""How the chains ran: every draw in order, and what the draws of each chain amount to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from bayesclust.plots._style import DASHES, GREY, PALETTE, chosen_names, counted, in_words
from bayesclust.posterior.labels import Labels
from bayesclust.posterior.tree import group
from bayesclust.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["traces"]

FIRST = ("log_joint", "n_clusters", "concentration")
NOISE = ("p", "q", "noise", "confusion")
NARROWEST = 0.1
"""Least range of a probability that is shown, so that Monte Carlo noise does not fill the panel."""
BINS = 30
STEPS = (1, 2, 5, 10)
"""Between ticks."""
WORDS = {
    "log_joint": "log joint density",
    "n_clusters": "number of clusters",
    "p": 'p: a pair from one cluster is answered "same"',
    "q": 'q: a pair from two clusters is answered "different"',
    "noise": "noise: an answer is wrong",
    "confusion": 'confusion: "{}" in truth is answered "{}"',
}
ANSWERS = ("yes", "no", "dnk")
"""Of triplets, by code: the rows and columns of a confusion matrix."""


class _Row(NamedTuple):
    """A scalar quantity: its title and its draws (chain, draw)."""

    title: str
    values: Labels
    probability: bool

    @property
    def whole(self) -> bool:
        return self.values.dtype.kind in "iub"


def traces(
    posterior: Any,
    var_names: str | Sequence[str] | None = None,
    axes: NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Show the draws of scalar quantities in order, by chain, and the distributions of each chain beside.

    Chains that explore the same posterior overlap in both columns. A chain that stays at a level of
    its own has not found what the others have. No default depends on how the clusters are numbered:
    traces of such would mean nothing.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        With draws in the groups posterior and sample_stats.
    var_names : str or sequence of str, optional
        Variables of these groups, one row for each of their components. By default those that there
        are of log_joint, n_clusters, concentration and the noise parameters of all views; of a
        confusion matrix, its diagonal.
    axes : (rows, 2) array of matplotlib.axes.Axes, optional
        Where to draw; by default a new figure with a legend of the chains.

    Returns
    -------
    (rows, 2) array of matplotlib.axes.Axes
        Traces at the left, distributions at the right. Each line of a trace is labelled by its
        chain.

    Raises
    ------
    ValueError, TypeError
        If there are no draws in what is passed, no such variable in them, or axes are of another
        shape.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> tree = to_datatree({"z": [[[0, 0, 1], [0, 1, 2]]], "concentration": [[0.5, 0.7]]})
    >>> axes = bc.plots.traces(tree)
    >>> axes.shape, axes[0, 0].get_title(loc="left")
    ((2, 2), 'number of clusters')
    """
    rows = _rows(_variables(posterior), var_names)
    grid = _new_axes(len(rows)) if axes is None else np.asarray(axes, dtype=object)
    if grid.shape != (len(rows), 2):
        raise ValueError(
            f"axes have shape {grid.shape}, but there are {len(rows)} rows of 2: pass ({len(rows)}, 2) axes."
        )
    for (left, right), row in zip(grid, rows, strict=True):
        _draw_trace(left, row)
        _draw_distribution(right, row)
        left.set_xlim(0, max(row.values.shape[1] - 1, 1))
        left.tick_params(labelbottom=left is grid[-1, 0])
    grid[-1, 0].set_xlabel("draw")
    grid[-1, 1].set_xlabel("share of the chain's draws")
    if axes is None:
        _head(grid, *rows[0].values.shape)
    return grid


def _new_axes(rows: int) -> NDArray[np.object_]:
    import matplotlib.pyplot as plt

    grid: NDArray[np.object_] = plt.subplots(
        rows,
        2,
        figsize=(9.5, 0.8 + 1.4 * rows),
        layout="constrained",
        sharey="row",
        squeeze=False,
        gridspec_kw={"width_ratios": [3.2, 1]},
    )[1]
    return grid


def _head(grid: NDArray[np.object_], chains: int, draws: int) -> None:
    figure = grid[0, 0].figure
    figure.suptitle(f"{counted(chains, 'chain')} of {counted(draws, 'draw')}", x=0.01, ha="left")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    legend = figure.legend(
        handles, labels, loc="outside upper right", ncols=min(chains, 8), frameon=False
    )
    for line in legend.get_lines():
        line.set(linewidth=2, alpha=1)


def _variables(posterior: Any) -> dict[str, xr.DataArray]:
    """Every variable with draws, except the partitions."""
    groups = [group(posterior, "posterior")]
    if "sample_stats" in getattr(posterior, "posterior_", posterior).children:
        groups.append(group(posterior, "sample_stats"))
    return {
        str(name): array.transpose("chain", "draw", ...)
        for data in groups
        for name, array in data.data_vars.items()
        if name != "z" and {"chain", "draw"} <= set(array.dims)
    }


def _noise_kind(name: str, array: xr.DataArray) -> str | None:
    """Tell which noise parameter a variable is: p_night is the p of the view night."""
    if array.ndim < 3:
        return None
    kind = name.partition("_")[0]
    of_view = name == kind or str(array.dims[2]).endswith("_source")
    return kind if kind in NOISE and of_view else None


def _rows(variables: dict[str, xr.DataArray], var_names: str | Sequence[str] | None) -> list[_Row]:
    kinds = {name: _noise_kind(name, array) for name, array in variables.items()}
    if var_names is None:
        names = [name for name in FIRST if name in variables]
        names += [name for kind in NOISE for name in variables if kinds[name] == kind]
    else:
        names = chosen_names(var_names, "var_names")
    unknown = [name for name in names if name not in variables]
    if unknown or not names:
        what = (
            f"var_names: {unknown[0]!r} is no variable with draws"
            if unknown
            else "var_names is empty"
        )
        raise ValueError(f"{what}: choose from {', '.join(variables)}.")
    rows = []
    for name in names:
        values = variables[name].to_numpy()
        for index in np.ndindex(values.shape[2:]):
            if var_names is None and kinds[name] == "confusion" and index[1] != index[2]:
                continue
            title = _title(name, kinds[name], index, variables[name])
            rows.append(_Row(title, values[(..., *index)], kinds[name] is not None))
    return rows


def _title(name: str, kind: str | None, index: tuple[int, ...], array: xr.DataArray) -> str:
    if kind is None:
        return WORDS.get(name, name) + (f"[{', '.join(map(str, index))}]" if index else "")
    parts = [WORDS[kind].format(*(ANSWERS[code] for code in index[1:]))]
    if name != kind:
        parts.append(name.removeprefix(f"{kind}_"))
    if array.shape[2] > 1:
        parts.append(in_words(str(array[array.dims[2]].values[index[0]])))
    return ", ".join(parts)


def _look(chain: int) -> dict[str, Any]:
    return {"color": PALETTE[chain % len(PALETTE)], "label": f"chain {chain}"}


def _draw_trace(ax: Axes, row: _Row) -> None:
    for chain, values in enumerate(row.values):
        # one draw alone would be a line of no length
        ax.plot(
            values, linewidth=0.7, alpha=0.8, marker="." if len(values) == 1 else "", **_look(chain)
        )
    ax.set_title(row.title, loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_ylim(*_limits(row))
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=row.whole, steps=STEPS))


def _limits(row: _Row) -> tuple[float, float]:
    """The range of the finite draws with some room; that of a probability stays in [0, 1] and is not too narrow."""
    finite = row.values[np.isfinite(row.values)].astype(np.float64)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if row.whole:
        return low - 0.7, high + 0.7
    room = 0.05 * (high - low)
    if not row.probability:
        room = room or 0.05 * abs(high) or 0.5
        return low - room, high + room
    short = max(NARROWEST - (high - low), 0.0) / 2
    low, high = low - short - room, high + short + room
    # near an end, the missing range is on the other side
    return max(low - max(high - 1, 0.0), -0.01), min(high + max(-low, 0.0), 1.01)


def _draw_distribution(ax: Axes, row: _Row) -> None:
    if row.whole:
        _draw_bars(ax, row)
    else:
        low, high = _limits(row)
        if row.probability:  # a bin beyond 0 or 1 would be partly empty
            low, high = max(low, 0.0), min(high, 1.0)
        edges = np.linspace(low, high, BINS + 1)
        for chain, values in enumerate(row.values):
            share = np.histogram(values[np.isfinite(values)], edges)[0] / values.size
            dashes = DASHES[chain % len(DASHES)]
            ax.stairs(
                share,
                edges,
                orientation="horizontal",
                linewidth=1.2,
                linestyle=dashes,
                **_look(chain),
            )
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_locator(MaxNLocator(3, steps=STEPS))
    finite = row.values[np.isfinite(row.values)]
    if finite.size:
        low, high = np.quantile(finite, [0.05, 0.95])
        text = f"mean {_short(finite.mean())}, 90% in {_short(low)} to {_short(high)}"
        ax.set_title(text, loc="right", fontsize="small", color=GREY)


def _short(number: float) -> str:
    return f"{number:,.0f}" if 1000 <= abs(number) < 1e7 else f"{number:.3g}"


def _draw_bars(ax: Axes, row: _Row) -> None:
    """Bars side by side, one for each chain and number."""
    numbers = np.unique(row.values)
    height = 0.8 / len(row.values)
    for chain, values in enumerate(row.values):
        share = (values == numbers[:, None]).mean(axis=1)
        offset = ((len(row.values) - 1) / 2 - chain) * height
        ax.barh(numbers + offset, share, height=height, **_look(chain))
