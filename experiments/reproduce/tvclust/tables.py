"""Means of cells as the paper's tables, with the paper's numbers beside them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from experiments.reproduce import sources
from experiments.reproduce.tvclust import paper
from experiments.reproduce.tvclust.cells import ORDERED, UNANSWERED
from experiments.reproduce.tvclust.methods import COUNT_METHODS, EVERY_METHOD
from experiments.reproduce.tvclust.plans import (
    ACCURACIES,
    FRACTIONS,
    TABLE_4_FRACTION,
    Plan,
)

__all__ = ["MEAN", "MEAN_WITH_ID", "rows_of", "tables"]

SCORES = ("f", "rand", "nmi")
MEAN, MEAN_WITH_ID = "mean", "mean_with_id"


def rows_of(frame: pd.DataFrame, method: str, **settings: Any) -> pd.DataFrame:
    """The rows of a method in which each setting given has one of its values.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    method : str
    **settings : value or list
        Fields of a cell. Those of answers are left aside where the method heeds none.

    Returns
    -------
    DataFrame
    """
    kept = frame[frame.method == method]
    if not EVERY_METHOD[method].answers:
        unanswered = {"sampling": UNANSWERED, "fraction": 0.0, "accuracy": 1.0}
        settings = {name: unanswered.get(name, value) for name, value in settings.items()}
    for name, value in settings.items():
        kept = kept[kept[name].isin(value if isinstance(value, list) else [value])]
    return kept


def tables(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """All entries of the tables that a plan asks for, as far as their cells are done.

    Parameters
    ----------
    frame : DataFrame
        Of cells: those of the plan's seed and trials.
    plan : Plan

    Returns
    -------
    DataFrame
        One row per entry: table; sampling and glass (which of the two copies); method; column, as
        the paper's table has it; mean f, rand and nmi; f_error, the standard error of the mean over
        trials; clusters, the mean number found; trials, how many of every setting are done;
        paper_f, paper_rand and paper_nmi.
    """
    entries = [*_uci(frame, plan), *(_counts(frame, plan) if 4 in plan.tables else ())]
    return pd.DataFrame([entry for entry in entries if entry["table"] in plan.tables])


def _entry(rows: pd.DataFrame, theirs: paper.Scores | None) -> dict[str, Any]:
    """Means of which every setting is the same part, however many of its trials are done."""
    settings = rows.groupby(["data", "fraction", "accuracy"])
    mine = settings[[*SCORES, "clusters"]].mean().mean()
    trials = rows.groupby("trial").f.agg(["size", "mean"])
    whole = trials[trials["size"] == settings.ngroups]["mean"]
    return {
        **{name: round(float(mine[name]), 6) for name in SCORES},
        "f_error": round(float(whole.std(ddof=1) / np.sqrt(len(whole))), 6)
        if len(whole) > 1
        else np.nan,
        "clusters": round(float(mine.clusters), 1),
        "trials": int(settings.size().min()),
        **{f"paper_{name}": np.nan if theirs is None else getattr(theirs, name) for name in SCORES},
    }


def _uci(frame: pd.DataFrame, plan: Plan) -> Iterator[dict[str, Any]]:
    """Tables 1 to 3: for both ways of drawing pairs, and without and with the row id of glass."""
    copies = [glass for glass in ("glass", sources.WITH_ID) if glass in plan.data] or ["glass"]
    for sampling, glass, method in product(plan.samplings, copies, plan.methods):
        data = [glass if name == "glass" else name for name in sources.UCI]
        data = [name for name in data if name in plan.data]
        settings = {"sampling": sampling, "deviation": 0, "data": data}
        settings |= {"fraction": list(plan.fractions), "accuracy": list(plan.accuracies)}
        rows = rows_of(frame, method, **settings)
        for table, column, chosen, theirs in _columns(
            EVERY_METHOD[method].paper, data, glass, plan
        ):
            if table == 1 and glass != copies[0] and column not in (glass, MEAN_WITH_ID):
                continue  # it is in the table already
            kept = rows_of(rows, method, **chosen)
            # a mean over what happens to be done compares with nothing
            if kept.groupby(["data", "fraction", "accuracy"]).ngroups == _expected(
                method, data, plan, chosen
            ):
                key = {
                    "table": table,
                    "sampling": sampling,
                    "glass": glass,
                    "method": method,
                    "column": column,
                }
                yield {
                    **key,
                    **_entry(kept, theirs if _as_in_paper(table, sampling, plan) else None),
                }


def _as_in_paper(table: int, sampling: str, plan: Plan) -> bool:
    """Whether an entry is a mean over what the paper's is: it drew ordered pairs, at these r and p."""
    every_r, every_p = (
        set(plan.fractions) == set(FRACTIONS),
        set(plan.accuracies) == set(ACCURACIES),
    )
    return sampling == ORDERED and (table > 2 or every_r) and (table > 1 or every_p)


def _expected(method: str, data: list[str], plan: Plan, chosen: dict[str, Any]) -> int:
    """How many settings, trials aside, an entry is the mean of."""
    parts: list[Any] = [chosen.get("data", data)]
    if EVERY_METHOD[method].answers:
        parts += [
            plan.fractions if "fraction" not in chosen else (chosen["fraction"],),
            plan.accuracies if "accuracy" not in chosen else (chosen["accuracy"],),
        ]
    return prod(map(len, parts))


def _columns(
    row: str, data: list[str], glass: str, plan: Plan
) -> Iterator[tuple[int, str, dict[str, Any], paper.Scores | None]]:
    """Table, column, which cells, and the paper's entry in that row, where its data are ours: it has glass with the id."""
    leaky = glass == sources.WITH_ID
    for name in data:
        theirs = paper.TABLE_1.get((row, name.removesuffix("_with_id")))
        yield 1, name, {"data": [name]}, theirs if name != "glass" else None
    yield (
        1,
        MEAN_WITH_ID if leaky else MEAN,
        {},
        paper.TABLE_1.get((row, paper.ALL)) if leaky else None,
    )
    for p in plan.accuracies:
        yield 2, f"p = {p:g}", {"accuracy": p}, paper.TABLE_2.get((row, p)) if leaky else None
    for r, p in product(plan.fractions, plan.accuracies):
        theirs = paper.TABLE_3.get((r, row, p))
        yield 3, f"r = {r:g}, p = {p:g}", {"fraction": r, "accuracy": p}, theirs if leaky else None


def _counts(frame: pd.DataFrame, plan: Plan) -> Iterator[dict[str, Any]]:
    for method, data in product(COUNT_METHODS, plan.counts):
        settings = {"sampling": ORDERED, "fraction": TABLE_4_FRACTION, "accuracy": 1.0}
        rows = rows_of(frame, method, data=data, **settings)
        if len(rows):
            entry = COUNT_METHODS[method]
            # the generated set stands in for the paper's
            f = paper.TABLE_4[entry.paper, entry.model]
            theirs = paper.Scores(f, np.nan, np.nan) if data == sources.COUNTS[0] else None
            yield {
                "table": 4,
                "sampling": ORDERED,
                "glass": "",
                "method": method,
                "column": data,
                **_entry(rows, theirs),
            }
