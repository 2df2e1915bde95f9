"""Answers: how credible each is, and whether credibilities are what they say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_array, check_int, counted, number_between
from bayesclust.constraints.pairwise import GRADES, GradedConstraints
from bayesclust.names import MEMBERS
from bayesclust.plots import _style as style
from bayesclust.plots._plane import plane
from bayesclust.posterior import credibility as tables
from bayesclust.posterior.tree import item_names, stacked_partitions
from bayesclust.typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_DRAWN, LEGIBLE, FEW_DRAWN = 150, 60, 15
"""Answers that a graph shows, those of them that it shows of more, and those with names."""
SIDES = dict(zip(GRADES, GradedConstraints.sides, strict=True))
"""Which answer a grade speaks for."""
LETTERS = 42
"""Letters of what an answer is about that fit beside its row."""
BAND = 0.72
"""Height of the band over which the dots of a row are spread."""
ANSWERS = ("same", "different", "yes", "no", "dnk")
"""Order of the rows of a kind of constraints; other answers follow in alphabetical order."""
RIGHT = "P(answer is right)"
SHADES = (style.VERMILION, "#F0B48C", "#C9C9C9", "#8DBBDB", style.BLUE)
"""Colours of credibility, from 0 to 1."""
STYLES: tuple[tuple[Any, str, tuple[tuple[str, str], ...]], ...] = (
    ("-", "answered: together", (("same", "ij"), ("yes", "ij"), ("no", "ik"))),
    ((0, (4, 2)), "answered: apart", (("different", "ij"), ("yes", "ik"), ("no", "ij"))),
    ((0, (1, 1.2)), '"do not know"', (("dnk", "ij"), ("dnk", "ik"))),
)
"""Styles of lines, their meaning, and which items they join under which answers."""


def credibility(posterior: Any, flipped: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Show the posterior probability that each answer is right.

    One dot an answer, one row for each word that a source answered; within a row height means
    nothing. Answers in the shaded half are more likely wrong than right.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints.
    flipped : (m,) array of bool, optional
        Which answers are in fact wrong, marked by crosses: the `flipped` of simulated constraints,
        one object after another.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With one collection of dots a row, and after it one of crosses if `flipped` is given.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, False], n_items=3)
    >>> draws = [[[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1]]]
    >>> tree = bc.posterior.to_datatree({"z": draws}, constraints=[links])
    >>> ax = bc.plots.credibility(tree, flipped=[False, True])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['"same"', '"different"']
    """
    table = _answered(posterior)
    value = table["credibility"].to_numpy()
    wrong = None
    if flipped is not None:
        wrong = _truth_values(flipped, value.shape)
    names, rows = zip(*_rows(posterior, table), strict=True)
    ax = style.axes_or_new(ax, 8.5, 1.3 + max(0.42 * len(rows), 1.2))
    ax.axvline(0.5, color=style.shade(0.4), linewidth=0.8, zorder=0)
    size = float(np.clip(4000 / max(map(len, rows)), 6, 18))
    for y, own in enumerate(rows):
        _draw_row(ax, y, value[own], None if wrong is None else wrong[own], size)
    _probability_axis(ax, names)
    style.bare(ax, "top", "right", "left")
    ax.set_title(_counts(value), loc="left", pad=6 if wrong is None else 22)
    if wrong is not None:
        style.legend_above(ax, 2, ax.collections[:2])
    return style.as_written(ax)


def _truth_values(flipped: ArrayLike, shape: tuple[int, ...]) -> BoolArray:
    """Which answers are wrong in truth, one value for each."""
    hint = "pass one truth value for each answer"
    given = check_array(flipped, "flipped", shape, "", hint)
    if not np.isin(given, (0, 1)).all():
        raise ValueError(f"flipped holds other than truth values: {hint}.")
    return given.astype(np.bool_)


def _answered(posterior: Any) -> pd.DataFrame:
    """The credibility of all answers, at least one."""
    table = tables.credibility_table(posterior)
    _some(table)
    return table


def _some(answers: Sized, kind: str = "") -> None:
    """Refuse to show no answers at all."""
    if not len(answers):
        raise ValueError(f"the constraints of the posterior hold no answers{kind} to show.")


def _probability_axis(ax: Axes, names: Sequence[str]) -> None:
    """Rows by name from top to bottom over probabilities, with the lower half shaded."""
    ax.axvspan(0, 0.5, color=style.shade(0.06), zorder=0, linewidth=0)
    ax.set(ylim=(len(names) - 0.45, -0.55), xlim=(-0.02, 1.02), xticks=np.linspace(0, 1, 6))
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(left=False)
    ax.set_xlabel(f"{RIGHT}\n(shaded: probably wrong)")


def _counts(value: FloatArray) -> str:
    return f"{counted(len(value), 'answer')}, {int((value < 0.5).sum()):,} probably wrong"


def in_order(words: Collection[str]) -> list[str]:
    """Words that are answered, those of built-in kinds first."""
    return [*(word for word in ANSWERS if word in words), *sorted(set(words) - set(ANSWERS))]


def _rows(posterior: Any, table: pd.DataFrame) -> Iterator[tuple[str, IntArray]]:
    """Each row's name, of constraints, source and word, where they vary, and its answers."""
    words = in_order(set(table["answer"]))
    own = tables.answers_in_words(posterior, table).reset_index(drop=True)
    own["number"], own["word"] = table["source"].to_numpy(), own["answer"].map(words.index)
    several = own["view"].nunique() > 1
    sources = own.groupby("view")["number"].nunique()
    own["short"] = style.shortened(own["source"], 20)
    for view, group in own.groupby("view", sort=False):
        for _, by in group.groupby(["number", "word"]):
            parts = [str(view)] if several else []
            parts += [by["short"].iloc[0]] if sources[view] > 1 else []
            (word,) = style.shortened([by["answer"].iloc[0]], 20)
            yield ", ".join([*parts, f'"{word}"']), by.index.to_numpy()


def _draw_row(
    ax: Axes, y: float, credibility: FloatArray, wrong: BoolArray | None, size: float
) -> None:
    """Dots and crosses of a row, spread so that neighbours on the scale land far apart."""
    from scipy.stats.qmc import Halton

    number = len(credibility)
    height = np.empty(number)
    spread = Halton(1, scramble=False).random(number)[:, 0]
    height[np.argsort(credibility, kind="stable")] = y + BAND * (spread - 0.5)
    right = np.ones(number, dtype=np.bool_) if wrong is None else ~wrong
    dot: dict[str, Any] = {"s": size, "color": style.BLUE, "alpha": 0.55, "linewidths": 0}
    ax.scatter(credibility[right], height[right], clip_on=False, label="right in truth", **dot)
    note = f"{int((credibility < 0.5).sum()):,} of {number:,} probably wrong"
    if wrong is not None:
        cross: dict[str, Any] = {"color": style.VERMILION, "marker": "x", "label": "wrong in truth"}
        cross |= {"s": size + 12, "linewidths": 1.3}
        ax.scatter(credibility[wrong], height[wrong], clip_on=False, **cross)
        found = int((wrong & (credibility < 0.5)).sum())
        note += f",\n{found:,} of the {int(wrong.sum()):,} wrong"
    style.note_right(ax, y, note)


def credibility_ranking(posterior: Any, *, max_listed: int = 40, ax: Axes | None = None) -> Axes:
    """List the answers by the posterior probability that they are right, the least credible first.

    Whiskers are two Monte Carlo standard errors; where the noise was kept, a hollow diamond is the
    leave-one-out credibility.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints.
    max_listed : int, default 40
        How many answers are listed, at most.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With a row for each answer, named by its items and, of several, its source.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, False], n_items=3)
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1]]]}
    >>> ax = bc.plots.credibility_ranking(bc.posterior.to_datatree(draws, constraints=[links]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['0, 2: "different"', '0, 1: "same"']
    """
    table = _answered(posterior)
    rows = table.nsmallest(check_int(max_listed, "max_listed"), "credibility")
    named = tables.answers_in_words(posterior, rows)
    several = named["view"].map(table.groupby("view")["source"].nunique()) > 1
    names = [
        f'{about}: "{answer}"' + (f" ({source})" if many else "")
        for about, answer, source, many in zip(
            _abouts(named["about"], item_names(posterior)),
            style.shortened(named["answer"], 20),
            style.shortened(named["source"], 20),
            several,
            strict=True,
        )
    ]
    width = max(7.6, 5.6 + 0.07 * max(map(len, names)))
    ax = style.axes_or_new(ax, width, 1.5 + 0.2 * len(rows))
    y = np.arange(len(rows))
    dots: dict[str, Any] = {"markersize": 5, "label": "given all answers", "clip_on": False}
    dots |= {"xerr": 2 * rows["mcse"].to_numpy(), "elinewidth": 1.1}
    ax.errorbar(rows["credibility"].to_numpy(), y, fmt="o", color=style.BLUE, **dots)
    if "credibility_loo" in rows:
        hollow: dict[str, Any] = {
            "markerfacecolor": style.shade(0),
            "markeredgecolor": style.grey(),
        }
        hollow |= {"markersize": 4.5, "zorder": 1.9, "clip_on": False}
        ax.plot(rows["credibility_loo"], y, "D", label="leave-one-out", **hollow)
    _probability_axis(ax, names)
    ax.tick_params("y", labelsize="small")
    ax.grid(axis="y", color=style.shade(0.1), linewidth=0.6)
    ax.set_axisbelow(True)
    style.bare(ax, "top", "right", "left")
    style.legend_above(ax, 3)
    text = _counts(table["credibility"].to_numpy())
    shown = f"The {len(rows):,} least credible of " if len(rows) < len(table) else ""
    ax.set_title(shown + text, loc="left", pad=24)
    return style.as_written(ax)


def _abouts(abouts: Iterable[Sequence[str]], items: Sequence[str]) -> Iterator[str]:
    """What answers are about, items or a rule, on one line each."""
    short: dict[int, dict[str, str]] = {}
    for about in abouts:
        most = LETTERS // len(about)
        if most not in short:
            short[most] = dict(zip(items, style.shortened(items, most), strict=True))
        yield ", ".join(short[most].get(word) or style.shortened([word], most)[0] for word in about)


def calibration(
    posterior: Any, flipped: ArrayLike | None = None, *, n_bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Show whether probabilities of answers hold: a reliability diagram.

    With `flipped`, the share of right answers against their credibility. Without, each answer is
    left out and forecast from the data and all others, and the share of forecasts that were met is
    shown against the probability of the likeliest answer. Points below the diagonal claim too much.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints, without `flipped` one whose noise was kept.
    flipped : (m,) array of bool, optional
        Which answers are in fact wrong, one constraints object after another.
    n_bins : int, default 10
        Number of intervals of equal width into which probabilities are put.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A dot is the mean probability of an interval and the share in it, a whisker the central 90%
        of that share's posterior under Jeffreys' prior. The strip above counts the answers.

    Notes
    -----
    Answers of one posterior are not independent, and whiskers are somewhat short. Credibilities
    are calibrated over data sets from the model; of one data set they need not be.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> tree = bc.posterior.to_datatree({"z": [[[0, 0, 1]] * 3 + [[0, 0, 0]]]}, constraints=[links])
    >>> ax = bc.plots.calibration(tree, flipped=[False, True])
    >>> print(ax.get_title(loc="left"))
    Calibration of 2 answers:
    credibility 0.62 on average, 0.50 of them right
    """
    from scipy.stats import beta

    number = check_int(n_bins, "n_bins")
    if flipped is None:
        claimed, met = tables.forecasts(posterior)
        _some(claimed)
        axis, words = "probability of the likeliest answer, leave-one-out", "given"
        what = "forecast"
    else:
        claimed = _answered(posterior)["credibility"].to_numpy()
        met = ~_truth_values(flipped, claimed.shape)
        axis, words = RIGHT, "right"
        what = "credibility"
    place = np.minimum((claimed * number).astype(np.int64), number - 1)
    counts = np.bincount(place, minlength=number)
    some = np.flatnonzero(counts)
    mean = np.bincount(place, weights=claimed)[some] / counts[some]
    hits = np.bincount(place, weights=met)[some]
    shape = hits + 0.5, counts[some] - hits + 0.5
    low, high = (np.asarray(beta.ppf(level, *shape)) for level in tables.INTERVAL)
    ax = style.axes_or_new(ax, 5.2, 5.6)
    ax.plot([0, 1], [0, 1], color=style.shade(0.4), linewidth=0.9, linestyle=(0, (4, 2)))
    ax.vlines(mean, low, high, color=style.BLUE, linewidth=1.8)
    ax.plot(mean, hits / counts[some], "o", color=style.BLUE, markeredgecolor=style.shade(0))
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=axis)
    ax.set_ylabel(f"share {words} (90% interval)")
    style.bare(ax)
    strip = ax.inset_axes((0, 1.02, 1, 0.13))
    strip.stairs(counts, np.linspace(0, 1, number + 1), fill=True, color=style.shade(0.25))
    for k in some.tolist():
        above: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": "small"}
        strip.text((k + 0.5) / number, counts[k], f"{counts[k]:,}", color=style.grey(), **above)
    strip.set(xlim=(-0.02, 1.02), ylim=(0, 1.6 * counts.max()), xticks=[], yticks=[])
    style.bare(strip, "top", "right", "left")
    average = f"{what} {claimed.mean():.2f} on average, {met.mean():.2f} of them {words}"
    text = f"Calibration of {counted(len(met), 'answer')}:\n{average}"
    ax.set_title(text, loc="left", pad=52, fontsize="medium")
    return ax


def constraint_graph(
    posterior: Any,
    X: ArrayLike | None = None,
    *,
    below: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the answers as lines between their items in the plane, coloured by their credibility.

    Lines are solid between items that an answer puts together, dashed between items that it puts
    apart: "yes" about (i, j, k) draws i to j solid and i to k dashed, "no" the other way round, and
    "dnk" both dotted. Labels and answers about groups have no lines. Answers that are probably
    wrong, in vermilion, lie on top. The more there are of either, the thinner and paler they are.
    Of few answers the items have their names.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        A fit with constraints.
    X : (n, d) array, optional
        Data that place the items, as for `partitions`.
    below : float in (0, 1], optional
        Answers of at most this credibility are drawn. By default all are, up to 150; of more, only
        the 60 least credible of those that are probably wrong.
    ax : matplotlib.axes.Axes, optional
        By default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With collections of lines for the answers that are probably right, solid, dashed and dotted,
        then for those that are probably wrong, and then the items.

    Examples
    --------
    >>> import bayesclust as bc
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, False], n_items=3)
    >>> X, draws = [[0, 0], [1, 0], [2, 0]], {"z": [[[0, 0, 1], [0, 1, 1]]]}
    >>> ax = bc.plots.constraint_graph(bc.posterior.to_datatree(draws, X=X, constraints=[links]))
    >>> [lines.get_array().tolist() for lines in ax.collections[:2]]
    [[0.5], [1.0]]
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.lines import Line2D

    if below is not None:
        number_between(below, "below", "(0, 1]")
    table, others = drawable(posterior)
    _some(table, " about pairs or triplets")
    n_items = stacked_partitions(posterior).shape[1]
    field = plane(posterior, X, n_items)
    shown = table[table["credibility"] <= (1 if below is None else below)]
    if below is None and len(table) > MOST_DRAWN:
        shown = table[table["credibility"] < 0.5].nsmallest(LEGIBLE, "credibility")
    ax = style.axes_or_new(ax, 7.6, 5.8)
    colours = LinearSegmentedColormap.from_list("credibility", SHADES)
    drawn = {}
    for half in (shown[shown["credibility"] >= 0.5], shown[shown["credibility"] < 0.5]):
        scale = max(len(half), 1) ** -0.5
        look: dict[str, Any] = {"cmap": colours, "clim": (0, 1), "zorder": 1}
        look["linewidths"] = float(np.clip(10 * scale, 0.45, 1.6))
        look["alpha"] = float(np.clip(6 * scale, 0.16, 0.9))
        for dashes, text, lines in STYLES:
            ends, value = _ends(half, lines)
            if len(ends):
                segments = list(field.at[ends])
                ax.add_collection(
                    LineCollection(segments, array=value, linestyles=[dashes], **look)
                )
                drawn[text] = Line2D([], [], color=style.shade(0.7), linestyle=dashes, label=text)
    size = 0.4 * style.dot_size(n_items)
    x, y = field.at.T
    ax.scatter(x, y, s=size, color=style.shade(0.75), zorder=1.5, linewidths=0)
    if len(shown) <= FEW_DRAWN:
        _name_ends(ax, shown, field.at, item_names(posterior))
    field.name_axes(ax)
    style.legend_above(ax, 3, list(drawn.values()))
    style.colour_bar(ax, ScalarMappable(cmap=colours), RIGHT)
    text = _counts(table["credibility"].to_numpy())
    text += f"; shown: the {len(shown):,} least credible" if len(shown) < len(table) else ""
    text += f";\n{others:,} of other kinds not shown" if others else ""
    ax.set_title(text, loc="left", pad=24)
    return style.as_written(ax)


def drawable(posterior: Any) -> tuple[pd.DataFrame, int]:
    """The credibility of the answers that lines can show, and how many other answers there are."""
    table = tables.credibility_table(posterior).replace({"answer": SIDES})
    words = [word for _, _, lines in STYLES for word, _ in lines]
    pairs = table.reindex(columns=["j"])["j"].notna()  # labels and rules have none
    own = table[table["answer"].isin(words) & pairs]
    return own, len(table) - len(own)


def _name_ends(ax: Axes, table: pd.DataFrame, at: FloatArray, names: Sequence[str]) -> None:
    """Write the names of the items of some answers beside them."""
    short = style.shortened(names, 14)
    left, right = at[:, 0].min(), at[:, 0].max()
    members = table.reindex(columns=[*MEMBERS]).melt()["value"]
    for item in members.dropna().astype(int).unique():
        # from the colour bar away
        side = -1 if at[item, 0] > left + 0.75 * (right - left) else 1
        look: dict[str, Any] = {"fontsize": "x-small", "color": style.grey(), "parse_math": False}
        look["ha"] = "right" if side < 0 else "left"
        where: dict[str, Any] = {"xytext": (3 * side, 3), "textcoords": "offset points"}
        ax.annotate(short[item], at[item], **where, **look)


def _ends(table: pd.DataFrame, lines: Sequence[tuple[str, str]]) -> tuple[IntArray, FloatArray]:
    """Ends of some lines and their credibility, the most credible first."""
    import pandas as pd

    columns = ["i", "j", "credibility"]
    parts = [
        table.loc[table["answer"] == word, [*ends, "credibility"]].set_axis(columns, axis=1)
        for word, ends in lines
        if set(ends) <= set(table)
    ]
    found = pd.concat(parts or [table[columns].head(0)]).dropna()
    found = found.sort_values("credibility", ascending=False, kind="stable")
    return found[["i", "j"]].to_numpy(dtype=np.int64), found["credibility"].to_numpy()
