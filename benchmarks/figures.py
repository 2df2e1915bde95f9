"""The figures of the page: one for each record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from bayesclust.report.markup import WIDTH, Picture, figure_style, png
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from benchmarks.records import Growth, Race, Record, Spread
from benchmarks.words import between, duration, size_of

OWN, OTHER, GREY = "#0072b2", "#c24e00", "#8a8a8a"
LONGEST = 34
"""Letters of a name beside an axis."""


def picture(section: str, record: Record) -> Picture:
    """Draw a record."""
    with figure_style():
        figure = _race(record) if isinstance(record, Race) else _growth(record)
        figure.get_layout_engine().set(rect=(0, 0, 0.98, 1))  # type: ignore[union-attr, call-arg]
        return Picture(
            section, record.title, f"{record.measured}.", _in_words(record), *png(figure)
        )


def _in_words(record: Record) -> str:
    """What the figure shows, for those who do not see it."""
    if isinstance(record, Growth):
        ends = (
            f"{duration(point.median)} at {point.at:,.0f}"
            for point in (record.points[0], record.points[-1])
        )
        return f"Time along {record.along}, {' to '.join(ends)}; slope {record.slope:.2f}."
    ratios = (
        f"{each.name} {between(Spread.of(record.ratios(each.name)))}"
        for each in record.alternatives
    )
    return f"Times {record.reference}: {'; '.join(ratios)}."


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _race(race: Race) -> Figure:
    """Ratios to the reference with their spread, on a logarithmic axis."""
    figure = Figure(figsize=(WIDTH, 0.9 + 0.42 * len(race.alternatives)), layout="constrained")
    ax = figure.add_subplot()
    ax.axvline(1, color=GREY, linewidth=1)
    for row, each in enumerate(race.alternatives):
        spread = Spread.of(max(ratio, 1e-6) for ratio in race.ratios(each.name))
        colour = OWN if each.name == race.reference else OTHER
        ax.plot(
            [spread.least, spread.most],
            [row, row],
            color=colour,
            linewidth=2,
            alpha=0.5,
            solid_capstyle="butt",
        )
        ax.plot(spread.median, row, "o", color=colour, markersize=5)
        ax.annotate(
            _short(each.name),
            (0, row),
            (2, 6),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize="x-small",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    ax.set(xscale="log", ylim=(len(race.alternatives) - 0.4, -0.7), yticks=[])
    ax.set_xlabel(f"times {_short(race.reference)}", fontsize="small")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(labelsize="small")
    ax.spines[["left", "top", "right"]].set_visible(False)
    return figure


def _growth(growth: Growth) -> Figure:
    """Time and memory against the size, both axes logarithmic; what has size 0 is a line across."""
    remembered = [point for point in growth.points if point.bytes]
    figure = Figure(figsize=(WIDTH, 4.0 if remembered else 2.6), layout="constrained")
    upper, *lower = figure.subplots(2 if remembered else 1, sharex=True, squeeze=False)[:, 0]
    at = np.array([point.at for point in growth.points])
    seconds = np.array([Spread.of(point.seconds) for point in growth.points])
    some = at > 0
    upper.errorbar(
        at[some],
        seconds[some, 0],
        np.abs(seconds[some, 1:] - seconds[some, :1]).T,
        fmt="o-",
        color=OWN,
        capsize=3,
    )
    if not some.all():
        upper.axhline(seconds[~some, 0][0], color=GREY, linestyle=":", label="none")
        upper.legend(frameon=False, fontsize="x-small")
    upper.set(title=f"slope {growth.slope:.2f}")
    _logarithmic(upper, "CPU time", duration)
    for ax in lower:
        ax.plot(
            [p.at for p in remembered if p.at],
            [p.bytes for p in remembered if p.at],
            "s-",
            color=OTHER,
        )
        _logarithmic(ax, "peak memory", size_of)
    bottom = lower[0] if lower else upper
    bottom.set_xlabel(growth.along, fontsize="small")
    bottom.set_xticks(at[some], [_count(number) for number in at[some]])
    bottom.xaxis.set_minor_locator(NullLocator())
    return figure


def _count(number: float) -> str:
    """A size that fits below a tick."""
    for letter, factor in (("M", 1e6), ("k", 1e3)):
        if number >= factor:
            return f"{number / factor:g}{letter}"
    return f"{number:g}"


def _logarithmic(ax: Any, label: str, words: Callable[[float], str]) -> None:
    ax.set(xscale="log", yscale="log")
    ax.set_ylabel(label, fontsize="small")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words(value)))
    low, high = ax.get_ylim()
    if high / low < 100:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    few = high / low < 4
    ax.yaxis.set_minor_formatter(
        FuncFormatter(lambda value, _: words(value)) if few else NullFormatter()
    )
    ax.tick_params(which="both", labelsize="small")
    ax.spines[["top", "right"]].set_visible(False)
