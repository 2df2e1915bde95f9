"""Bilenko, Basu and Mooney: Integrating Constraints and Metric Learning, section 4.

Figures 2, 3, 5, 6 and 7: MPCK-Means and its parts by number of pairs answered, on iris, wine,
ionosphere, digits 389 and letters IJL. Figures 8, 9, 11, 12 and 13: one metric or one for each
cluster, diagonal or full, and RCA. F over all items, and over a fold of items that no answer names,
as in the paper. Protein, of Figures 4 and 10, comes with no package: a generated set of its size
stands in for it, or files of one's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.typing import IntArray
from experiments import figures, frame, sources
from experiments.frame import Method, decimal, fitted, option
from experiments.learned_metrics import rca

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDS = 5
DATA = ("iris", "wine", "ionosphere", "digits389", "letters_ijl")
STAND_IN, OWN = "protein", (4, 10)
FIGURES = {
    **dict(zip((2, 3, 4, 5, 6, 7), (*DATA[:2], STAND_IN, *DATA[2:]), strict=True)),
    **dict(zip((8, 9, 10, 11, 12, 13), (*DATA[:2], STAND_IN, *DATA[2:]), strict=True)),
}
NUMBERS = (0, 25, 50, 100, 200, 300, 400)
AS_PRINTED: dict[str, Any] = {
    "metric_step": "paper",
    "growth": 1,
    "init": "paper",
    "closure": True,
    "prior_items": 0.0,
    "max_iter": 50,
}


def _mpck(title: str, about: str, **settings: Any) -> Method:
    settings = {"cost": 1.0} | settings
    return Method(
        title, fitted(lambda k, seed: bc.MPCKMeans(k, random_state=seed, **settings)), about
    )


_pck = fitted(lambda k, seed: bc.MPCKMeans(k, "euclidean", cost=1, growth=1, random_state=seed))
_mk = fitted(lambda k, seed: bc.MPCKMeans(k, random_state=seed))
_supervised = fitted(
    lambda k, seed: bc.MPCKMeans(k, "euclidean", max_iter=0, closure=False, random_state=seed)
)
METHODS = {
    "sd": _mpck("MPCK-Means, S-D", "one diagonal metric"),
    "sd-unseeded": _mpck(
        "S-D, start without answers", "answers count but do not seed", init="k-means++"
    ),
    "sd-constant": _mpck(
        "S-D, violations alike", "a violated answer costs the same anywhere", constant_cost=True
    ),
    "mk": Method("MK-Means", _mk, "one diagonal metric, no answers", uses_answers=False),
    "pck": Method("PCK-Means", _pck, "answers, no metric"),
    "kmeans": Method("k-means", _pck, "neither answers nor metric", uses_answers=False),
    "supervised": Method(
        "Supervised-Means", _supervised, "nearest of the centres that answers suggest"
    ),
    "md": _mpck("MPCK-Means, M-D", "a diagonal metric for each cluster", per_cluster=True),
    "sf": _mpck("MPCK-Means, S-F", "one full metric", metric="full"),
    "mf": _mpck(
        "MPCK-Means, M-F", "a full metric for each cluster", metric="full", per_cluster=True
    ),
    "rca": Method("RCA + k-means", rca, "a full metric from answers alone"),
    "sd-printed": _mpck(
        "S-D as printed", "Eq. 8 with its repair, no prior, full costs at once", **AS_PRINTED
    ),
}
ABLATIONS = ("sd", "sd-unseeded", "sd-constant", "mk", "pck", "kmeans", "supervised", "sd-printed")
"""Of Figures 2 to 7."""
VARIANTS = ("sd", "md", "sf", "mf", "rca")
"""Of Figures 8 to 13."""


class Cell(NamedTuple):
    """One fit to right answers about pairs of items outside the fold held out."""

    seed: int
    method: str
    data: str
    number: int
    trial: int
    """Which split into folds and draw of answers."""
    fold: int


SCORES = {"f": "float", "held_out_f": "float", "clusters": "int", "seconds": "float"}


def answers(cell: Cell, y: IntArray) -> tuple[bc.PairwiseConstraints, IntArray]:
    """Right answers to random pairs of items that are not held out, and the items held out.

    Those of a smaller number are among those of a larger one, and none depends on the method.
    """
    at = DATA.index(cell.data) if cell.data in DATA else len(DATA) + sources.code(cell.data)
    words = [cell.seed, cell.trial, at]
    fold = np.random.default_rng(words).permutation(len(y)) % FOLDS
    held_out, kept = np.flatnonzero(fold == cell.fold), np.flatnonzero(fold != cell.fold)
    first, second = np.triu_indices(len(kept), k=1)
    drawn = np.random.default_rng([*words, cell.fold]).permutation(len(first))[: cell.number]
    pairs = np.column_stack([kept[first[drawn]], kept[second[drawn]]])
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]).astype(int)
    return bc.PairwiseConstraints(pairs, same, len(y)), held_out


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell: F over all items, and over those held out, as in the paper."""
    items, method = sources.load_tenth(cell.data), METHODS[cell.method]
    links, held_out = answers(cell, items.y)
    seed = cell.seed + 5 * cell.trial + cell.fold
    # the printed algorithm goes round in circles, which is no matter of a warning
    with frame.Timed() as timed:
        found = method.fit(
            items.X, links if method.uses_answers else None, len(items.target_names), seed
        )
    labels = frame.labels_of(found)
    return {
        "f": bc.metrics.pairwise_f(labels, items.y),
        "held_out_f": bc.metrics.pairwise_f(labels[held_out], items.y[held_out]),
        "clusters": len(np.unique(labels)),
        "seconds": timed.seconds,
    }


@dataclass(frozen=True, kw_only=True)
class Plan(frame.Plan):
    """What is to be run and shown."""

    figures: tuple[int, ...] = option(
        tuple(FIGURES), "figures to make", among=FIGURES, kind=int, part=True
    )
    data: tuple[str, ...] = option(
        (), "sets or CSV files (classes in the last column) for Figures 4 and 10", part=True
    )
    methods: tuple[str, ...] = option((), "only these of each figure's methods", among=METHODS)
    numbers: tuple[int, ...] = option(NUMBERS, "pairs answered", kind=int, least=0)
    trials: int = option(50, "runs of five folds", least=1)

    QUICK = {"figures": (2, 8), "numbers": (0, 50, 200), "trials": 1}  # noqa: RUF012

    def check(self) -> None:
        """Also the names of data sets."""
        super().check()
        sources.check(self.data)

    def panels(self) -> Iterator[tuple[int, str]]:
        """Figures and their data sets."""
        for figure in self.figures or OWN:
            sets = self.data if figure in OWN and self.data else (FIGURES[figure],)
            yield from product((figure,), sets)

    def of_figure(self, figure: int) -> tuple[str, ...]:
        """The methods of a figure."""
        names = ABLATIONS if figure < 8 else VARIANTS
        return tuple(name for name in names if name in self.methods) if self.methods else names

    def wanted(self) -> Iterator[Cell]:
        """Run by run, so that what is cut short has some runs of everything."""
        for trial, (figure, data) in product(range(self.trials), self.panels()):
            for name, number, fold in product(self.of_figure(figure), self.numbers, range(FOLDS)):
                number = number if METHODS[name].uses_answers else 0
                yield Cell(self.seed, name, data, number, trial, fold)


def tables(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Mean F over runs and half its interval, by figure, set, method, number of pairs and score."""
    key = ["data", "method", "number", "trial"]
    runs = cells.groupby(key)[list(SIDES)].mean().reset_index()
    rows = []
    for figure, data in plan.panels():
        mine = runs[(runs.data == data) & runs.method.isin(plan.of_figure(figure))]
        for (name, number), block in mine.groupby(["method", "number"], sort=False):
            for score in SIDES:
                mean, error = block[score].mean(), frame.half_width(block[score].std(), len(block))
                rows.append((figure, data, name, number, score, mean, float(error), len(block)))
    columns = ["figure", "data", "method", "number", "score", "mean", "error", "runs"]
    return pd.DataFrame(rows, columns=columns)


HEAD = """# MPCK-Means' learning curves, measured

Mean pairwise F by number of pairs answered, all answers right; over {runs} of five folds, seed
{seed}; with half the width of the 95% interval over runs. Features as they are, methods told the
number of classes. "All items" counts every pair of items; "held out" only pairs within the fold
whose items no answer names, as the paper does.
"""
SIDES = {"f": "all items", "held_out_f": "held out"}


def report(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """The curves in Markdown."""
    yield HEAD.format(seed=plan.seed, runs=frame.span(entries.runs, "run"))
    for (figure, data), (score, side) in product(plan.panels(), SIDES.items()):
        mine = entries[(entries.figure == figure) & (entries.data == data)]
        mine = mine[mine.score == score]
        if mine.empty:
            continue
        shown = mine.assign(
            text=[decimal(r.mean, 3, r.error) for r in mine.itertuples(index=False)]
        )
        table = shown.pivot(index="method", columns="number", values="text").fillna("")
        names = [name for name in plan.of_figure(figure) if name in table.index]
        yield f"## Figure {figure}: {sources.title(data)}, {side}\n"
        rows = ([METHODS[name].title, *table.loc[name]] for name in names)
        yield from frame.in_markdown(["", *map(str, table.columns)], rows)


def draw(
    cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan
) -> dict[str, Callable[[], Figure | None]]:
    """A figure for each of the plan's, all items beside the items held out."""
    named = {
        (figure, data): f"figure{figure}" + f"_{Path(data).stem}" * (data in plan.data)
        for figure, data in plan.panels()
    }
    return {name: partial(_figure, entries, *panel) for panel, name in named.items()}


def _figure(entries: pd.DataFrame, figure: int, data: str) -> Figure | None:
    mine = entries[(entries.figure == figure) & (entries.data == data)]
    level = ~mine.method.map(lambda name: METHODS[name].uses_answers).astype(bool)
    table = mine.assign(
        panel=mine.score.map(SIDES),
        line=mine.method.map(lambda name: METHODS[name].title),
        x=mine.number.where(~level).astype(float),
    )
    runs = frame.span(mine.runs, "run") if len(mine) else ""
    heading = f"Figure {figure}: {sources.title(data)}; mean of {runs} of five folds"
    return figures.curves(table, heading, "pairs answered")
