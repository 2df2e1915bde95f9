"""The figures of the page: narrow, so that their words can be read on a phone."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesclust import plots
from bayesclust.plots.answers import drawable
from bayesclust.posterior.tree import data_if_any, group, log_joints
from bayesclust.report.findings import CHAINS, PARTITION, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 4.2
"""Width of figures, in inches."""
DPI = 180
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 10,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}
LARGEST = 20_000
"""Items whose similarities, n^2 of them, are computed in reasonable time."""
FOLLOWED = ["n_clusters", "entropy", "largest_cluster"]
BOUNDS = (
    "Of the partitions in the ball, one with the fewest clusters.",
    "The partition in the ball that is farthest from the point estimate.",
    "Of the partitions in the ball, one with the most clusters.",
)


class Picture(NamedTuple):
    """A figure of the page: its section, caption, description, PNG in base64, size in pixels."""

    section: str
    title: str
    text: str
    alt: str
    base64: str
    size: tuple[int, int]


def pictures(posterior: Any, found: Findings) -> list[Picture]:
    """Draw all figures of the page, in its order; the same posterior gives the same bytes."""
    import matplotlib as mpl

    parts = (_numbers, _partitions, _similarity, _graph, _sources, _chains)
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        return [picture for part in parts for picture in part(posterior, found)]


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), layout="constrained")


def _taken(figure: Figure, section: str, text: str, alt: str, title: str | None = None) -> Picture:
    """Render a figure; its title goes into the caption, where it is wrapped."""
    import matplotlib.pyplot as plt

    if title is None:
        first = figure.axes[0]
        title = first.get_title(loc="left").replace("\n", " ")
        first.set_title("", loc="left")
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, metadata={"Software": None})
    plt.close(figure)
    width, height = (round(float(side) * DPI) for side in figure.get_size_inches())
    return Picture(section, title, text, alt, b64encode(drawn.getvalue()).decode(), (width, height))


def _numbers(posterior: Any, found: Findings) -> Iterator[Picture]:
    if found.kind == PARTITION:
        return
    figure = _figure(3.0)
    ax = plots.n_clusters(posterior, found.labels, figure.add_subplot())
    ax.legend(frameon=False, fontsize="small")
    ticks = [tick for tick in ax.get_yticks() if 0 <= tick <= 1]
    ax.set_ylim(top=1.5 * ax.get_ylim()[1])  # room for the legend
    ax.set_yticks(ticks)
    shares = ", ".join(f"{k} clusters {share:.2f}" for k, share in found.numbers.items())
    text = "Bars pool the chains; marks are single chains, the line is the point estimate."
    alt = f"Posterior probability of each number of clusters: {shares}."
    yield _taken(figure, "clusters", text, alt)


def _partitions(posterior: Any, found: Findings) -> Iterator[Picture]:
    """The point estimate and the bounds of the credible ball in the plane."""
    if data_if_any(posterior) is None:
        return
    figures = [_figure(3.3) for _ in range(1 + len(BOUNDS))]
    axes = [figure.add_subplot() for figure in figures]
    plots.partitions(posterior, labels=found.labels, level=found.ball.level, axes=axes)
    text = f"Items by their cluster; {axes[0].get_ylabel()} against {axes[0].get_xlabel()}."
    sizes = ", ".join(f"{size:,}" for size in found.clusters["items"])
    alt = f"{found.labels.max() + 1} clusters of {sizes} items in the plane."
    axes[0].set_title("", loc="left")
    title = "The partition" if found.kind == PARTITION else "The point estimate"
    yield _taken(figures[0], "clusters", text, alt, title)
    if found.kind == PARTITION:
        return
    for figure, bound in zip(figures[1:], BOUNDS, strict=True):
        title = figure.axes[0].get_title(loc="left").replace("\n", " ")
        text = f"{bound} Items that are elsewhere than in the point estimate stand out."
        yield _taken(figure, "uncertainty", text, f"{title}, in the plane.")


def _similarity(posterior: Any, found: Findings) -> Iterator[Picture]:
    n = len(found.labels)
    if found.kind == PARTITION or n > LARGEST:
        return
    figure = _figure(3.4)
    ax = plots.similarity(posterior, found.labels, figure.add_subplot())
    ax.child_axes[0].yaxis.label.set_fontsize("small")
    ax.child_axes[-1].set_ylabel("P(same cluster)")
    text = (
        "How probable it is that two items share a cluster: dark is certain. Frames are the "
        "clusters of the point estimate; the strip above shows how unsure each item is."
    )
    alt = f"Heat map of the posterior similarity of {n:,} items, in blocks by cluster."
    yield _taken(figure, "clusters", text, alt)


def _graph(posterior: Any, found: Findings) -> Iterator[Picture]:
    if not found.answers or data_if_any(posterior) is None:
        return
    drawn, _ = drawable(posterior)
    if drawn.empty:
        return
    figure = _figure(3.6)
    ax = plots.constraint_graph(posterior, ax=figure.add_subplot())
    legend: Any = ax.get_legend()
    for text in legend.get_texts():
        text.set_fontsize("xx-small")
    caption = (
        "Lines join the items of an answer: blue where it is probably right, orange where it is "
        "probably wrong."
    )
    wrong = int((drawn["credibility"] < 0.5).sum())
    alt = f"Answers between their items; {wrong:,} of {len(drawn):,} are probably wrong."
    yield _taken(figure, "answers", caption, alt)


def _sources(posterior: Any, found: Findings) -> Iterator[Picture]:
    """The reliability of the sources, one figure for each constraints object."""
    if found.sources.empty:
        return
    numbers = found.sources.groupby("view", sort=False)["source"].nunique()
    figures = [_figure(1.7 + 0.3 * min(int(number), 40)) for number in numbers]
    axes = [figure.add_subplot() for figure in figures]
    for ax in plots.reliability(posterior, axes):
        for note in list(ax.texts):  # the table has them
            note.remove()
        ax.set_xlabel("probability", fontsize="small")
    for figure, view in zip(figures, numbers.index, strict=True):
        own = found.sources[found.sources["view"] == view].to_dict("records")
        means = (f"{row['source']} {row['parameter']} {row['mean']:.2f}".strip() for row in own)
        text = "Posterior means and central 90% intervals."
        yield _taken(figure, "sources", text, f"Posterior means: {', '.join(means)}.")


def _chains(posterior: Any, found: Findings) -> Iterator[Picture]:
    z = group(posterior, "posterior")["z"]
    if found.kind != CHAINS or z.sizes["draw"] < 2:
        return
    names = [*FOLLOWED, "log_joint"] if log_joints(posterior) is not None else FOLLOWED
    axes = plots.traces(posterior, names, figure_kwargs={"figsize": (WIDTH, 5)})
    alt = f"Traces of {', '.join(names)} by chain."
    text = "Draws in order. Chains that agree overlap."
    yield _taken(axes[0].figure, CHAINS, text, alt, "Traces")
    if z.sizes["chain"] == 1:
        return
    figure = {"figsize": (WIDTH, 4.2)}
    axes = plots.ranks(posterior, names, col_wrap=2, figure_kwargs=figure)
    text = "How the draws of each chain rank among all draws; black where chains differ."
    alt = f"Distributions of ranks of {', '.join(names)} by chain."
    yield _taken(axes[0].figure, CHAINS, text, alt, "Ranks of the draws")
