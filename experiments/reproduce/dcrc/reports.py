"""The tables in words and Markdown, and which of the paper's claims they bear out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from bayesclust.plots._style import counted
from experiments.reproduce.dcrc import paper
from experiments.reproduce.dcrc.answers import BOUNDARY, RIGHT
from experiments.reproduce.dcrc.methods import METHODS
from experiments.reproduce.dcrc.plans import FIGURE_6, FIGURE_7, RUNTIME, Plan
from experiments.reproduce.dcrc.tables import confusions, curve, ranks
from experiments.reproduce.sources import title
from experiments.reproduce.summaries import in_markdown

__all__ = ["claims", "report"]

HEAD = """# DCRC's figures and tables, measured

Mean pairwise F over draws of answers. Seed {seed}, {trials}; an entry with fewer says so. Columns are standardised,
methods are told the number of classes. Labels simulate answers and score; no setting is chosen with them.
"""
ANSWERS = {"people": "triplets", "people-pairs": "pairs", "none": "no answers"}


def report(frame: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> str:
    """Set what is done in Markdown.

    Parameters
    ----------
    frame : DataFrame
        Of cells: those of the plan's seed and trials.
    entries : DataFrame
        From `experiments.reproduce.dcrc.tables.tables`.
    plan : Plan

    Returns
    -------
    str
    """
    if entries.empty:
        return "No cell is done yet.\n"
    parts = [HEAD.format(seed=plan.seed, trials=counted(plan.trials, "draw"))]
    if 4 in plan.figures:
        parts += ["## Figure 4: F by number of triplets\n", *_figure_4(entries, plan), ""]
        parts += ["### What it says\n", *(f"- {line}" for line in claims(ranks(entries, plan))), ""]
    if 5 in plan.figures:
        parts += [
            "## Figure 5: three clusters, triplets near their boundaries\n",
            *_regions(entries),
            "",
        ]
    for number, methods, data in ((6, FIGURE_6, plan.data_6), (7, FIGURE_7, plan.data_7)):
        if number in plan.figures:
            fractions = plan.fractions if number == 6 else (0.0, *plan.fractions)
            parts += [f"## Figure {number}\n", *_curves(entries, data, methods, fractions), ""]
    if "iv" in plan.tables:
        parts += [
            "## Table IV: p(answer | truth) learned back from answers drawn from it\n",
            *_confusions(frame, plan),
            "",
        ]
    if "v" in plan.tables:
        parts += [
            "## Table V: answers drawn from Table IV, on other data than the paper's\n",
            *_people(entries, plan),
            "",
        ]
    if plan.runtime:
        parts += ["## Time\n", *_time(entries), ""]
    return "\n".join(parts)


def _rows(frame: pd.DataFrame) -> Iterable[Any]:
    return frame.itertuples()


def _f(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


def _figure_4(entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    table = ranks(entries, plan)
    head = ["", "triplets", *(METHODS[name].title for name in table.columns)]
    rows = []
    for name, block in table.groupby(level=0, sort=False):
        for fraction, values in block.droplevel(0).iterrows():
            rows.append([title(str(name)), f"{fraction} n", *map(_f, values)])
        rows.append(
            [
                title(str(name)),
                "mean",
                *(_f(values.mean(skipna=False)) for _, values in block.items()),
            ]
        )
    yield from in_markdown(head, rows)
    done = entries[(entries.answers == RIGHT) & (entries.fraction > 0)].trials
    if len(done):
        most = counted(done.max(), "draw")
        yield from ("", f"{most}." if done.min() == done.max() else f"{done.min()} to {most}.")


def claims(table: pd.DataFrame) -> Iterator[str]:
    """The paper's claims about Figure 4, counted.

    Parameters
    ----------
    table : DataFrame
        From `experiments.reproduce.dcrc.tables.ranks`.

    Yields
    ------
    str
        A sentence for each claim of which there is something to count.
    """
    others = [name for name in table.columns if not name.startswith("dcrc")]
    if {"dcrc", *others} <= set(table.columns) and others:
        done = table[["dcrc", *others]].dropna()
        above = done.dcrc > done[others].max(axis=1)
        yield f"DCRC is above every other method in {above.sum()} of {len(above)} settings (V-B3: in all, as answers grow)."
    for first, second, words in (
        ("dcrc", "dcrc-yn", "DCRC above DCRC-YN, which does not hear dnk"),
        ("dcrc-yn", "itml", "DCRC-YN above ITML, the best baseline in the paper"),
    ):
        if {first, second} <= set(table.columns):
            gap = (table[first] - table[second]).dropna()
            means = gap.groupby(level=0, sort=False).mean()
            by_set = ", ".join(f"{title(str(name))} {value:+.3f}" for name, value in means.items())
            yield f"{words}: in {(gap > 0).sum()} of {len(gap)} settings; mean gain by set {by_set}."
    if "dcrc" in table:
        falls = table.dcrc.groupby(level=0, sort=False).apply(
            lambda f: (f.dropna().diff() < -0.01).sum()
        )
        yield f"DCRC falls by more than .01 from one number of triplets to the next: {falls.sum()} times."


def _curves(
    entries: pd.DataFrame,
    data: tuple[str, ...],
    methods: tuple[str, ...],
    fractions: tuple[float, ...],
) -> Iterator[str]:
    rows = []
    for name in data:
        for method in methods:
            mine = curve(entries, name, method, fractions).set_index("fraction").f
            values = [float(mine.get(fraction, np.nan)) for fraction in fractions]
            rows.append(
                [title(name), _method(method), *map(_f, values), _f(float(np.mean(values)))]
            )
    yield from in_markdown(["", "", *(f"{fraction:g} n" for fraction in fractions), "mean"], rows)


def _method(name: str) -> str:
    return {"dcrc": "DCRC's default"}.get(name, METHODS[name].title)


def _regions(entries: pd.DataFrame) -> Iterator[str]:
    rows = [
        [row.data, _method(row.method), _f(row.predicted_accuracy), _f(row.accuracy)]
        for row in _rows(entries[entries.answers == BOUNDARY])
    ]
    yield from in_markdown(
        ["clusters", "", "accuracy of the classifier", "with the answers heard"], rows
    )


def _confusions(frame: pd.DataFrame, plan: Plan) -> Iterator[str]:
    truth = ["paper", "", *(f"{p:.2f}" for p in paper.rates(paper.TABLE_IV).ravel()), "", ""]
    rows = [
        [
            title(row.data),
            f"{row.number}",
            *(f"{p:.2f}" for p in row.learned.ravel()),
            f"{row.error:.3f}",
            f"{row.trials}",
        ]
        for row in _rows(confusions(frame, plan))
    ]
    head = [f"{true} as {given}" for true in ("yes", "no", "dnk") for given in ("yes", "no", "dnk")]
    yield from in_markdown(["", "answers", *head, "largest error", "draws"], [truth, *rows])


def _people(entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    kept = entries[
        (entries.fraction == 0) & entries.answers.isin(ANSWERS) & entries.data.isin(plan.data_v)
    ]
    keys: list[Any] = list(
        kept[["method", "answers", "number"]].drop_duplicates().itertuples(index=False, name=None)
    )
    rows = []
    for key in keys:
        method, answers, number = key
        if method not in plan.methods_v or (answers == "people" and number != plan.asked[0]):
            continue
        mine = kept[
            (kept.method == method) & (kept.answers == answers) & (kept.number == number)
        ].set_index("data")
        told = ANSWERS[answers] if answers == "none" else f"{number} {ANSWERS[answers]}"
        theirs = (
            f"{paper.TABLE_V[key][0]:.2f} ± {paper.TABLE_V[key][1]:.2f}"
            if key in paper.TABLE_V
            else ""
        )
        cells = [
            _with_deviation(mine.f[name], mine.f_std[name]) if name in mine.index else ""
            for name in plan.data_v
        ]
        rows.append([METHODS[method].title, told, *cells, theirs])
    yield from in_markdown(["", "", *map(title, plan.data_v), "paper's set"], rows)


def _with_deviation(mean: float, deviation: float) -> str:
    return _f(mean) + ("" if np.isnan(deviation) else f" ± {deviation:.2f}")


def _time(entries: pd.DataFrame) -> Iterator[str]:
    mine = entries[
        (entries.data == RUNTIME[0]) & (entries.answers == RIGHT) & (entries.fraction == 0)
    ]
    for row in _rows(mine[mine.number == RUNTIME[1]]):
        yield (
            f"One fit of 4998 items, 38 columns and 13 clusters with {row.number} triplets: {row.seconds:.1f} s, "
            f"{row.cpu_seconds:.1f} s of processors, mean of {counted(row.trials, 'fit')} (paper: less than "
            f"{paper.SECONDS:g} s)."
        )
