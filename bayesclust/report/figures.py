"""The figures of the page: narrow ones, so that their words can be read on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust import plots
from bayesclust.posterior.tree import group
from bayesclust.report.findings import CHAINS, PARTITION, Findings
from bayesclust.report.markup import WIDTH, Picture, figure_style, png
from bayesclust.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["pictures"]

LARGEST = 20_000
"""Items whose similarities, all n^2 of them, are looked at in good time."""
CURVE = 60
"""Answers from which on a ranking is a curve; a list would repeat the table beside it."""
TRACES = ("log_joint", "n_clusters", "concentration")
RANKS = ("log_joint", "n_clusters", "entropy", "largest_cluster")
BALL = {
    "Upper vertical bound": "Of the partitions in the ball, one with the fewest clusters.",
    "Horizontal bound": "The partition in the ball that is farthest from the point estimate.",
    "Lower vertical bound": "Of the partitions in the ball, one with the most clusters.",
}


def pictures(posterior: Any, found: Findings) -> list[Picture]:
    """Draw all figures that a posterior has something for.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    found : Findings

    Returns
    -------
    list of Picture
        In the order of the page. The same posterior gives the same bytes.
    """
    with figure_style():
        parts = (_numbers, _partitions, _similarity, _entropy, _graph, _ranking, _sources, _chains)
        return [picture for part in parts for picture in part(posterior, found)]


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), layout="constrained")


def _taken(figure: Figure, section: str, text: str, alt: str, title: str | None = None) -> Picture:
    """Render a figure; its title goes below it, where it can be read and wrapped."""
    first = figure.axes[0]
    if title is None:
        title = first.get_title(loc="left").replace("\n", " ")
        first.set_title("", loc="left")
    return Picture(section, title, text, alt, *png(figure))


def _has_data(posterior: Any) -> bool:
    tree = getattr(posterior, "posterior_", posterior)
    return "observed_data" in tree.children and "X" in tree["observed_data"]


def _numbers(posterior: Any, found: Findings) -> Iterator[Picture]:
    if found.kind == PARTITION:
        return
    figure = _figure(3.0)
    ax = plots.n_clusters(posterior, found.labels, figure.add_subplot())
    handles, words = ax.get_legend_handles_labels()
    words = [word.replace("partition given", "point estimate") for word in words]
    ax.legend(handles, words, frameon=False, fontsize="small")
    ticks = [tick for tick in ax.get_yticks() if 0 <= tick <= 1]
    ax.set_ylim(top=1.5 * ax.get_ylim()[1])  # room for the legend
    ax.set_yticks(ticks)
    shares = ", ".join(f"{k} clusters {share:.2f}" for k, share in found.numbers.items())
    text = "Bars pool the chains; the marks are single chains, which should lie close together."
    yield _taken(
        figure, "clusters", text, f"Posterior probability of each number of clusters: {shares}."
    )


def _partitions(posterior: Any, found: Findings) -> Iterator[Picture]:
    if not _has_data(posterior):
        return
    figures = [_figure(3.3) for _ in range(1 + len(BALL))]
    axes = [figure.add_subplot() for figure in figures]
    plots.partitions(posterior, labels=found.labels, level=found.ball.level, axes=axes)
    where = f"{axes[0].get_xlabel()} against {axes[0].get_ylabel()}"
    sizes = ", ".join(f"{size:,}" for size in found.clusters["items"])
    number = f"{found.labels.max() + 1} clusters of {sizes} items"
    axes[0].set_title("", loc="left")
    point = "The partition" if found.kind == PARTITION else "The point estimate"
    yield _taken(
        figures[0],
        "clusters",
        f"Items by their cluster; {where}.",
        f"{number} in the plane.",
        point,
    )
    if found.kind == PARTITION:
        return
    for figure, text in zip(figures[1:], BALL.values(), strict=True):
        title = figure.axes[0].get_title(loc="left").replace("\n", " ")
        bound = f"{text} Items that are elsewhere than in the point estimate stand out."
        yield _taken(figure, "doubts", bound, f"{title}, in the plane.")


def _similarity(posterior: Any, found: Findings) -> Iterator[Picture]:
    if found.kind == PARTITION or len(found.labels) > LARGEST:
        return
    figure = _figure(3.4)
    ax = plots.similarity(posterior, found.labels, figure.add_subplot())
    ax.child_axes[0].yaxis.label.set_fontsize("small")
    ax.child_axes[-1].set_ylabel("P(same cluster)")
    text = (
        "How probable it is that two items share a cluster: dark is certain. Frames are the clusters of the point estimate; "
        "the strip above shows how unsure each item is."
    )
    alt = f"Heat map of the posterior similarity of {len(found.labels):,} items, in blocks by cluster."
    yield _taken(figure, "clusters", text, alt)


def _entropy(posterior: Any, found: Findings) -> Iterator[Picture]:
    if found.kind == PARTITION or len(found.labels) > LARGEST or not _has_data(posterior):
        return
    figure = _figure(3.3)
    plots.entropy(posterior, ax=figure.add_subplot())
    text = "Dark items and regions are those of which it is unsure with whom they belong."
    yield _taken(figure, "doubts", text, "Items in the plane, coloured by their entropy.")


def _graph(posterior: Any, found: Findings) -> Iterator[Picture]:
    if not found.answers or not _has_data(posterior):
        return
    figure = _figure(3.6)
    ax = plots.constraint_graph(posterior, ax=figure.add_subplot())
    legend = ax.get_legend()
    ax.legend(
        handles=[] if legend is None else legend.legend_handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        frameon=False,
        fontsize="x-small",
        borderaxespad=0.1,
        borderpad=0.1,
        columnspacing=1,
        handlelength=1.6,
    )
    text = "Each line is an answer: blue ones are believed, orange ones are doubted."
    yield _taken(
        figure,
        "answers",
        text,
        f"{found.answers:,} answers as lines, {found.doubted:,} of them doubted.",
    )


def _ranking(posterior: Any, found: Findings) -> Iterator[Picture]:
    if found.answers <= CURVE:
        return
    figure = _figure(2.8)
    plots.credibility_ranking(posterior, ax=figure.add_subplot())
    alt = f"Credibility of {found.answers:,} answers in rising order; {found.doubted:,} are below one half."
    yield _taken(figure, "answers", "All answers, from the least to the most believed.", alt)


def _sources(posterior: Any, found: Findings) -> Iterator[Picture]:
    if found.sources.empty:
        return
    views = found.sources.groupby("view", sort=False)["source"].nunique()
    figures = [_figure(1.7 + 0.3 * min(int(number), 40)) for number in views]
    axes = [figure.add_subplot() for figure in figures]
    for ax in plots.reliability(posterior, axes):
        for note in list(ax.texts):  # the table says it
            note.remove()
        ax.set_xlabel("probability", fontsize="small")
    for figure, view in zip(figures, views.index, strict=True):
        own = found.sources[found.sources["view"] == view]
        means = ", ".join(
            f"{row['source']} {row['parameter']} {row['mean']:.2f}"
            for row in own.to_dict("records")
        )
        yield _taken(
            figure,
            "sources",
            "Posterior means and central 90% intervals.",
            f"Posterior means: {means}.",
        )


def _chains(posterior: Any, found: Findings) -> Iterator[Picture]:
    draws = group(posterior, "posterior").sizes["draw"]
    if found.kind != CHAINS or draws < 2:
        return
    tree = getattr(posterior, "posterior_", posterior)
    there = {
        *tree["posterior"].data_vars,
        *(tree["sample_stats"].data_vars if "sample_stats" in tree.children else ()),
    }
    followed = [name for name in TRACES if name in there]
    figure = _figure(0.5 + 1.25 * len(followed))
    grid: NDArray[np.object_] = figure.subplots(
        len(followed), 2, sharey="row", squeeze=False, gridspec_kw={"width_ratios": [2.4, 1]}
    )
    plots.traces(posterior, followed, grid)
    for right in grid[:, 1]:
        right.set_title("", loc="right")
    grid[-1, 1].set_xlabel("share")
    text = "Draws in order, and their distribution. Chains that agree overlap."
    yield _taken(figure, "chains", text, f"Traces of {', '.join(followed)} by chain.", "Traces")
    names = [name for name in RANKS if name in there or name in RANKS[1:]]
    figure = _figure(4.2)
    panels = figure.subplots(2, 2).ravel()[: len(names)]
    for ax in plots.ranks(posterior, names, panels):
        ax.set(xlabel="", ylabel="")
        ax.set_title(ax.get_title(loc="left"), loc="left", fontsize="x-small")
    handles, words = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        words,
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize="x-small",
        handlelength=1.4,
    )
    text = "How the draws of each chain rank among all draws; flat lines inside the band are as they should be."
    yield _taken(
        figure,
        "chains",
        text,
        f"Histograms of ranks of {', '.join(names)} by chain.",
        "Ranks of the draws",
    )
