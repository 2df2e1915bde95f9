"""The cells recorded in experiments/results: run again at random, and held against claims.

A paper's folder has the cells and the tables.md of its command. ``check`` runs some cells again by
their seeds. ``summary`` sets each claim of claims.csv beside the cells that its queries pick.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.frame import (
    CELLS,
    RESULTS,
    Experiment,
    decimal,
    half_width,
    in_markdown,
    load,
    of_settings,
)

SAME, NEAR = 0.001, 0.03
"""How far apart scores of a cell are the same, and a mean and a printed one agree."""
SUMMARY, FOLDER = RESULTS.parents[1] / "RESULTS.md", "experiments/results"
HEAD = "## Their claims, and whether they hold here\n\n"


def recorded(folder: Path) -> Iterator[tuple[str, Experiment, pd.DataFrame]]:
    """Each paper that has recorded cells: its name, its experiment and the cells."""
    for paper in sorted({path.parent for path in folder.glob(f"*/{CELLS}*")}):
        experiment = Experiment(import_module(f"experiments.{paper.name}"))
        yield paper.name, experiment, load(paper / CELLS, experiment.kinds)


def again(experiment: Experiment, cells: pd.DataFrame, at: int) -> list[str]:
    """Run a cell again: its words, the score that differs most, before and now, and the verdict.

    A score that is not the same is "within" where 95% of further draws of its setting would lie.
    """
    row = cells.iloc[at].to_dict()
    cell = experiment.module.Cell(*(row[name] for name in experiment.module.Cell._fields))
    words = " ".join(map(str, cell))
    try:
        fresh = experiment.row(cell)
    except (ModuleNotFoundError, FileNotFoundError):
        return [words, "", "", "", "not here"]
    kinds = experiment.module.SCORES.items()
    scores = [n for n, kind in kinds if kind == "float" and "second" not in n and n != "choosing"]
    gaps = {name: np.nan_to_num(abs(fresh[name] - row[name]), nan=np.inf) for name in scores}
    gaps = {name: gap for name, gap in gaps.items() if str(fresh[name]) != str(row[name])}
    worst = max(gaps, key=lambda name: float(gaps[name]), default="")
    if not worst or gaps[worst] <= SAME:
        return [words, "", "", "", "same"]
    draws = of_settings(cells, [cell])[worst]
    width = half_width(draws.std(), len(draws)) * math.sqrt(len(draws) + 1)
    verdict = "within" if abs(fresh[worst] - draws.mean()) <= width else "OFF"
    return [words, worst, decimal(row[worst], 4), decimal(fresh[worst], 4), verdict]


def check(arguments: Sequence[str]) -> int:
    """Run recorded cells again; 1 where one is off."""
    about = "Draw recorded cells at random, run each again by its seeds, and compare the scores."
    parser = argparse.ArgumentParser(prog="python -m experiments check", description=about)
    parser.add_argument("--share", type=float, default=0.05, help="of the cells (default: 0.05)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw of cells (default: 0)")
    parser.add_argument("--papers", nargs="+", help="only these (default: all)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder (default: ours)")
    asked = parser.parse_args(arguments)
    rng, counts, lines = np.random.default_rng(asked.seed), {}, []
    for paper, experiment, cells in recorded(asked.results):
        drawn = np.sort(rng.choice(len(cells), math.ceil(asked.share * len(cells)), replace=False))
        if asked.papers is None or paper in asked.papers:
            found = [[paper, *again(experiment, cells, at)] for at in drawn]
            lines += [line for line in found if line[-1] != "same"]
            counts[paper] = pd.Series([line[-1] for line in found]).value_counts()
            print(f"{paper}: {counts[paper].to_dict()} of {len(cells)} cells", flush=True)
    head = ["paper", "cell", "score", "recorded", "now", "verdict"]
    print("", *in_markdown(head, lines), sep="\n")
    return int(any("OFF" in found for found in counts.values()))


def by_draw(cells: pd.DataFrame, query: str, score: str) -> pd.Series:
    """Means over settings, of the draws that have them all."""
    draws = cells.query(query).groupby("trial")[score].agg(["size", "mean"])
    return draws["mean"][draws["size"] == draws["size"].max()]


def claims(folder: Path) -> Iterator[str]:
    """Each claim with what is printed of it and what is measured, in Markdown."""
    table = pd.read_csv(folder / "claims.csv", dtype=str, keep_default_na=False)
    total = 0.0
    for paper, experiment, cells in recorded(folder):
        rows = []
        for claim in table[table.paper == paper].itertuples():
            ours = by_draw(cells, str(claim.cells), str(claim.score))
            other = by_draw(cells, str(claim.against), str(claim.score)) if claim.against else None
            rows.append(
                [claim.claim, claim.printed, *verdict(ours, other, claim.printed, claim.by)]
            )
        page = f"{FOLDER}/{paper}"
        yield f"### [{paper}]({page}.md): {(experiment.module.__doc__ or '').partition('\n')[0]}\n"
        yield from in_markdown(["claim", "printed", "here", "beside", "more by", "holds"], rows)
        made = (folder / paper / "tables.md").read_text(encoding="utf-8").splitlines()[-1]
        versions = ", ".join(cells.commit.drop_duplicates())
        hours = cells.seconds.sum() / 3600
        total += hours
        yield (
            f"{len(cells)} cells, {hours:.1f} hours, at {versions}; [tables]({page}/tables.md). "
            f"{made}\n"
        )
    yield f"In all {total:.1f} hours of the clock, several fits at a time on two cores.\n"


def verdict(ours: pd.Series, other: pd.Series | None, printed: Any, by: Any) -> list[str]:
    """Means with their intervals, and whether the claim holds: yes, no, or open.

    `by` is how much more ours are; or "< .6", what they are below, "> .6" above, "times < .6" of
    the others.
    """
    what, sign, bound = re.fullmatch(r"(times )?([<>]?) ?(.*)", str(by)).groups()  # type: ignore[union-attr]
    if not len(ours) or (other is not None and not len(other)):
        return ["", "", "", "not recorded"]
    if other is None and not sign:
        near = abs(ours.mean() - float(printed)) <= NEAR
        return [stated(ours), "", "", "yes" if near else "no"]
    more, least = ours, float(bound or 0)
    if other is not None:
        more = (ours / other if what else ours - other).dropna()
    width = float(half_width(more.std(), len(more)))
    low, high = more.mean() - width - least, more.mean() + width - least
    if sign == "<":
        low, high = -high, -low
    found = "yes" if low > 0 else "no" if high < 0 else "open"
    if other is None:
        return [stated(ours), "", "", found]
    return [stated(ours), stated(other), ("times " if what else "") + stated(more), found]


def stated(draws: pd.Series) -> str:
    """A mean with half the width of its 95% interval, and of how many draws it is."""
    width = float(half_width(draws.std(), len(draws)))
    return f"{decimal(draws.mean(), 3, width)} ({len(draws)})"


def summary(arguments: Sequence[str]) -> int:
    """Write RESULTS.md, from its head on."""
    about = "Write the claims of experiments/results/claims.csv, measured, into RESULTS.md."
    argparse.ArgumentParser(prog="python -m experiments summary", description=about).parse_args(
        arguments
    )
    kept = SUMMARY.read_text(encoding="utf-8").partition(HEAD)[0]
    SUMMARY.write_text(kept + HEAD + "\n".join(claims(RESULTS)), encoding="utf-8")
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"check": check, "summary": summary}
