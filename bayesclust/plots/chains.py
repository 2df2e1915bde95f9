"""How the chains ran: every draw in order, and the ranks of the draws of each chain, by ArviZ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesclust.checks import each_is, shown
from bayesclust.plots._style import AFTER, BEFORE, as_written, shade, shortened
from bayesclust.posterior.diagnosis import label_free
from bayesclust.posterior.tree import Labels, chain_partitions
from bayesclust.typing import FloatArray, NDArray

TITLES = {
    "log_joint": "log joint density",
    "n_clusters": "number of clusters",
    "entropy": "entropy of the cluster sizes",
    "largest_cluster": "size of the largest cluster",
    "rand_to_reference": "Rand index to a reference",
    "concentration": "concentration",
}
"""What is shown by default, in words."""
LONGEST = 30
"""Letters of a title that fit above a panel."""
STYLE: dict[Any, Any] = {
    "axes.prop_cycle": f"cycler(color={BEFORE + AFTER})",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "legend.frameon": False,
}


def traces(
    posterior: Any, names: str | Sequence[str] | None = None, **settings: Any
) -> NDArray[np.object_]:
    """Show the draws of scalar quantities in order, a line for each chain.

    Chains that explore the same posterior overlap; one that stays at a level of its own has not
    found what the others have.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    names : str or sequence of str, optional
        Functionals that `bayesclust.diagnose` follows, such as "entropy", "p[0]" or "together[0,
        5]". By default those of the clusters, the log joint and the concentration, as there are.
    **settings
        For `arviz.plot_trace`, such as ``figure_kwargs={"figsize": (6, 4)}`` in inches.

    Returns
    -------
    array of matplotlib.axes.Axes
        One panel for each functional.

    Examples
    --------
    >>> import bayesclust as bc
    >>> draws = {"z": [[[0, 0, 1], [0, 1, 2]]], "concentration": [[0.5, 0.7]]}
    >>> axes = bc.plots.traces(bc.posterior.to_datatree(draws), ["n_clusters", "concentration"])
    >>> axes[0].get_title(loc="left"), axes[0].lines[0].get_ydata()
    ('number of clusters', array([2, 3]))
    """
    from arviz import plot_trace

    rows = _followed(posterior, names)
    plain: dict[str, Any] = {"visuals": {"trace": {"width": 0.8}, "xlabel": False}}
    axes = _panels(plot_trace, rows, 1, (9.5, 0.8 + 1.4 * len(rows)), plain | settings)
    for ax, values in zip(axes, rows.values(), strict=True):
        ax.yaxis.get_major_locator().set_params(nbins=4, integer=values.dtype.kind in "iub")
    axes[-1].set_xlabel("draw")
    return axes


def ranks(
    posterior: Any, names: str | Sequence[str] | None = None, **settings: Any
) -> NDArray[np.object_]:
    """Show for each chain how the ranks of its draws are spread among the draws of all chains.

    Lines are the distribution functions of the ranks less those of even ranks. Chains that explore
    the same posterior stay near 0 (Vehtari et al. 2021, section 4): a line above 0 has too many
    small values, one below too many large ones. Where the chains differ more than independent draws
    would with probability 99%, the points that matter most are black (white in a dark style). Equal
    draws are ranked at random.

    Parameters
    ----------
    posterior, names
        As of `traces`.
    **settings
        For `arviz.plot_rank`, such as ``col_wrap=2`` panels in a row.

    Returns
    -------
    array of matplotlib.axes.Axes
        One panel for each functional.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> z = np.random.default_rng(0).integers(0, 3, (2, 40, 6))
    >>> bc.plots.ranks(bc.posterior.to_datatree({"z": z}), "entropy")[0].get_title(loc="left")
    'entropy of the cluster sizes'
    """
    from arviz import plot_rank

    if len(chain_partitions(posterior)) == 1:
        raise ValueError("this posterior has one chain, and ranks compare chains: fit several.")
    rows = {title: _fractional_ranks(own) for title, own in _followed(posterior, names).items()}
    columns = min(len(rows), settings.setdefault("col_wrap", 3))
    size = (0.6 + 3.1 * columns, 0.7 + 2.5 * -(-len(rows) // columns))
    axes = _panels(plot_rank, rows, columns, size, settings)
    _explain_marks(axes[0].figure)
    for ax in axes:
        for text in list(ax.texts):
            text.remove()  # the p-value, which lies over the lines; black points say the same
        ax.set_xlabel("rank among all draws (share)")
    return axes


def _explain_marks(figure: Any) -> None:
    """Say below the panels what points in the colour of texts are."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 4}
    point = Line2D([], [], color=shade(1), label="differs more than by chance", **look)
    figure.legend(handles=[point], loc="outside lower right", frameon=False, handletextpad=0.1)


def _followed(posterior: Any, names: str | Sequence[str] | None) -> dict[str, Labels]:
    """Draws (chain, draw) of the functionals chosen, by title."""
    found = label_free(posterior, chain_partitions(posterior), 20, 0)
    wanted = [name for name in TITLES if name in found]
    if names is not None:
        wanted = [names] if isinstance(names, str) else each_is(names, (str,), "names")
    unknown = [name for name in wanted if name not in found]
    if unknown or not wanted:
        # of pairs of items there are many
        listed = ", ".join(name for name in found if not name.startswith("together["))
        raise ValueError(f"names must be some of {listed}; got {shown(names)}.")
    return {TITLES.get(name) or name: found[name] for name in wanted}


def _fractional_ranks(values: Labels) -> FloatArray:
    """Ranks among all draws as shares, ties in random order."""
    shuffle = np.random.default_rng(0).permutation(values.size)
    place = np.argsort(np.lexsort((shuffle, values.ravel())))
    return np.asarray((place + 0.5) / values.size).reshape(values.shape)


def _panels(
    draw: Callable[..., Any],
    rows: dict[str, Any],
    columns: int,
    size: tuple[float, float],
    settings: dict[str, Any],
) -> NDArray[np.object_]:
    """Let ArviZ draw the rows, and name the chains above them."""
    import matplotlib as mpl
    import xarray as xr

    variables = {title: (("chain", "draw"), values) for title, values in rows.items()}
    chains, draws = next(iter(rows.values())).shape
    data = xr.Dataset(variables, {"chain": range(chains), "draw": range(draws)})
    figure: dict[str, Any] = {"figsize": size, "layout": "constrained"}
    plain: dict[str, Any] = {"backend": "matplotlib", "col_wrap": columns}
    plain |= settings | {"figure_kwargs": figure | settings.get("figure_kwargs", {})}
    with mpl.rc_context(STYLE):
        drawn = draw(xr.DataTree.from_dict({"posterior": data}), **plain)
        drawn.add_legend("chain", loc="outside upper right", ncols=min(chains, 7))
    axes = np.array([drawn.viz["plot"][title].item() for title in rows], dtype=object)
    words = [ax.get_title(loc="left") for ax in axes]
    for ax, title in zip(axes, shortened(words, LONGEST), strict=True):
        ax.set_title(title, loc="left")
    return as_written(axes)
