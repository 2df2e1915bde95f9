"""Which query strategy teaches a clustering most. No paper's, but as theirs are.

An expert who errs once in ten answers is asked about pairs, a hundred one by one. One posterior of
TVClust is updated by the answers, whoever chooses the queries: posterior selection, NPU (Xiong,
Azimi and Fern 2014) or chance. Pairwise F by number of answers, the area under that curve, paired
differences, and where a stopping rule would have stopped.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.active import NPU, PosteriorQueries, Query, QueryState, RandomQueries
from bayesclust.typing import BoolArray, FloatArray, IntArray
from experiments import figures, frame, sources
from experiments.frame import counted, decimal, option

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA = ("iris", "wine", "ecoli", "glass", "balance", "digits389")
"""The five sets of the TVClust paper, and the tenth of three digits of the MPCK-Means paper."""
OURS, TARGET, ERROR_RATE, ALL = "posterior", "vi", 0.1, "all"


class Method(NamedTuple):
    """A strategy for one session, given the posterior that is updated by the answers."""

    title: str
    about: str
    make: Callable[[PosteriorQueries], Any]


def posterior(target: str = TARGET) -> PosteriorQueries:
    """What is updated by the answers in every session: the defaults."""
    return PosteriorQueries(target=target)


METHODS = {
    OURS: Method("posterior", "expected fall of the posterior expected VI", lambda shared: shared),
    "information": Method(
        "information", "expected information on the partition", lambda _: posterior("partition")
    ),
    "npu": Method(
        "NPU", "neighbourhoods, a forest that learns the point estimate", lambda _: NPU()
    ),
    "random": Method("random", "nothing", lambda _: RandomQueries()),
}


class Cell(NamedTuple):
    """One session; its expert gives all methods the same answer to a pair."""

    seed: int
    method: str
    data: str
    questions: int
    trial: int


SCORES = {
    "area": "float",
    "rand": "float",
    "wrong": "int",
    **dict.fromkeys(("curve", "rand_curve", "gains"), "str"),
    "seconds": "float",
}


@cache
def load(name: str) -> tuple[FloatArray, IntArray]:
    """Items, columns standardized, and their classes."""
    items = sources.load_tenth(name)
    return sources.standardized(items.X), items.y


def expert(cell: Cell, y: IntArray, query: Query) -> bool:
    """Whether the expert says that the two items are in one class; one answer in ten is wrong."""
    i, j = sorted(query.items)
    wrong = np.random.default_rng([*_start(cell), i, j]).random() < ERROR_RATE
    return bool((y[i] == y[j]) ^ wrong)


def _start(cell: Cell) -> tuple[int, ...]:
    return cell.seed, cell.trial, sources.code(cell.data)


@lru_cache(maxsize=1)  # cells that begin alike come one after the other
def _beginning(start: tuple[int, ...], name: str) -> tuple[PosteriorQueries, np.random.Generator]:
    """The posterior before the first answer, with which all methods begin, and its generator."""
    X, y = load(name)
    rng = np.random.default_rng([*start, 1])
    return posterior().update(QueryState(X, y * 0, [], []), rng), rng


def area(curve: Sequence[float]) -> float:
    """Area under a curve by the trapezoidal rule, over its length.

    >>> area([0.5, 0.7, 0.7])
    0.65
    """
    return float(np.trapezoid(curve) / (len(curve) - 1))


def run(cell: Cell) -> dict[str, Any]:
    """Ask the queries of one session; where nothing was left to ask, curves stay as they are.

    Seconds are those of processors after the posterior before the first answer.
    """
    X, y = load(cell.data)
    shared, updating = copy.deepcopy(_beginning(_start(cell), cell.data))
    choose = METHODS[cell.method].make(shared)
    choosing = np.random.default_rng([*_start(cell), 0])
    pairs: list[tuple[int, ...]] = []
    said: list[bool] = []

    def scored() -> tuple[QueryState, float, float]:
        links = [bc.PairwiseConstraints(pairs, said, n_items=len(X))] if pairs else []
        labels = shared.update(QueryState(X, y * 0, links, []), updating).labels()
        f, rand = bc.metrics.pairwise_f(labels, y), bc.metrics.adjusted_rand(labels, y)
        return QueryState(X, labels, links, []), f, rand

    with frame.Timed() as timed:
        state, f, rand = scored()
        curve, rands = [f], [rand]
        gains = np.zeros(cell.questions)
        for turn in range(cell.questions):
            asked = choose(state, 1, choosing)
            if not asked:
                break
            gains[turn] = shared.gains(state, updating, asked)["gain"].iloc[0]
            pairs.append(asked[0].items)
            said.append(expert(cell, y, asked[0]))
            state, f, rand = scored()
            curve.append(f)
            rands.append(rand)
    left = cell.questions + 1 - len(curve)
    curve, rands = curve + [f] * left, rands + [rand] * left
    return {
        "area": area(curve),
        "rand": area(rands),
        "wrong": sum((y[i] == y[j]) != same for (i, j), same in zip(pairs, said, strict=True)),
        "curve": frame.words(curve),
        "rand_curve": frame.words(rands),
        "gains": frame.words(gains, 5),
        "seconds": timed.cpu_seconds,
    }


@dataclass(frozen=True, kw_only=True)
class Plan(frame.Plan):
    """What is to be run and shown."""

    methods: tuple[str, ...] = option((OURS, "npu", "random"), "who chooses", among=METHODS)
    data: tuple[str, ...] = option(DATA, "data sets")
    questions: int = option(100, least=1)
    trials: int = option(20, "experts", least=1)

    QUICK = {"data": ("iris",), "questions": 10, "trials": 2}  # noqa: RUF012

    def check(self) -> None:
        """Also the names of data sets."""
        super().check()
        sources.check(self.data)

    def wanted(self) -> Iterator[Cell]:
        """Trial by trial, so that what is cut short has some trials of everything."""
        for trial, name, method in product(range(self.trials), self.data, self.methods):
            yield Cell(self.seed, method, name, self.questions, trial)


BOUNDS = (0.01, 0.005, 0.002, 0.001)
"""Expected gains below which to stop: falls of the expected VI, in bits."""
PATIENCE = (0, 10)
"""Queries in a row that are not worth it and are asked all the same, before the session stops."""
DIFFERENCES = {"area": "difference", "rand": "rand_difference"}
"""The tables of differences by those of areas."""
COLUMNS = ["table", "data", "method", "at", "patience", "mean", "error", "runs"]


def tables(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Means over sessions and their standard errors.

    In "asked", "f" and "to_come" `at` is the bound of the stopping rule; in "curve" it is the
    number of answers.
    """
    mine = cells[(cells.questions == plan.questions) & cells.method.isin(plan.methods)]
    mine = mine[mine.data.isin(plan.data)]
    rows = [*_areas(mine, plan), *_differences(mine, plan), *_stops(mine, plan)]
    for name, method, block in _blocks(mine, plan):
        curves = np.stack([frame.numbers(text) for text in block.curve])
        rows += [_entry(f, "curve", name, method, at) for at, f in enumerate(curves.T)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _entry(
    values: Any, table: str, name: str, method: str, at: float = np.nan, patience: float = np.nan
) -> tuple[Any, ...]:
    values = np.asarray(values, dtype=np.float64)
    error = frame.standard_error(values)
    return table, name, method, at, patience, float(values.mean()), error, len(values)


def _blocks(cells: pd.DataFrame, plan: Plan) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Sessions by data set and method, in the order of the plan."""
    for name, method in product(plan.data, plan.methods):
        block = cells[(cells.data == name) & (cells.method == method)]
        if len(block):
            yield name, method, block


def _areas(cells: pd.DataFrame, plan: Plan) -> Iterator[tuple[Any, ...]]:
    for score in DIFFERENCES:
        for name, method, block in _blocks(cells, plan):
            yield _entry(block[score], score, name, method)


def _differences(cells: pd.DataFrame, plan: Plan) -> Iterator[tuple[Any, ...]]:
    """By data set, and of all: the mean over sets, of the experts who were asked on each."""
    for score, table in DIFFERENCES.items():
        areas = cells.pivot(index=["data", "trial"], columns="method", values=score)
        others = [name for name in plan.methods if name != OURS and name in areas]
        for method in others if OURS in areas else ():
            by_set = (areas[OURS] - areas[method]).dropna().unstack("data")
            for name in plan.data:
                if name in by_set:
                    yield _entry(by_set[name].dropna(), table, name, method)
            whole = by_set.dropna()
            if len(whole) and by_set.shape[1] == len(plan.data):
                yield _entry(whole.mean(axis=1), table, ALL, method)


def _stops(cells: pd.DataFrame, plan: Plan) -> Iterator[tuple[Any, ...]]:
    for name, method, block in _blocks(cells, plan):
        if method == OURS:
            curves = np.stack([frame.numbers(text) for text in block.curve])
            gains = np.stack([frame.numbers(text) for text in block.gains])
            for rule in product(BOUNDS, PATIENCE):
                asked = _stop(gains < rule[0], rule[1])
                reached = np.take_along_axis(curves, asked[:, None], axis=1)[:, 0]
                yield _entry(asked, "asked", name, method, *rule)
                yield _entry(reached, "f", name, method, *rule)
                yield _entry(curves[:, -1] - reached, "to_come", name, method, *rule)


def _stop(low: BoolArray, patience: int) -> IntArray:
    """How many queries are asked before one more than `patience` in a row are low."""
    padded = np.pad(low, ((0, 0), (patience, 0)))
    together = np.lib.stride_tricks.sliding_window_view(padded, patience + 1, axis=1).all(axis=2)
    return np.where(together.any(axis=1), together.argmax(axis=1), low.shape[1])


HEAD = """# Choosing queries, measured

{questions} queries about pairs, one by one, {wrong:.0%} of the answers wrong; {runs}, seed {seed}.
Whoever chooses, the same posterior is updated by the answers and gives the partition: draws of
TVClust, with several Gaussians to a cluster, reweighted and renewed after each answer. The score is
the area under the curve of pairwise F by number of answers, over its length. Means ± standard
errors.
"""
RAND = """## The same by the adjusted Rand index

A single cluster has a high F where classes are few and large, and an adjusted Rand index of 0: what
parts it may lower F at first, however well it separates the classes.
"""
STOPPING = """## When to stop

Had the session stopped at a query that was expected to lower the posterior expected VI by less than
a bound after as many of these in a row as patience says: how many were asked by then, F at that
point, and by how much F was still to change up to the last query.
"""


def report(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """Means, differences and stopping rules in Markdown."""
    runs = frame.span(entries.runs, "expert")
    yield HEAD.format(questions=plan.questions, wrong=ERROR_RATE, runs=runs, seed=plan.seed)
    for score, difference in DIFFERENCES.items():
        if score == "rand":
            yield RAND
        yield from _grid(entries[entries.table == score], "area", plan)
        more = entries[entries.table == difference]
        if len(more):
            yield "What posterior selection has more, by expert:\n"
            yield from _grid(more, "area of posterior selection less that of", plan)
    stops = entries[entries.table == "asked"]
    if len(stops):
        named = entries[entries.patience.notna()]
        rules = named.set_index(["data", "at", "patience", "table"]).sort_index()
        lines = []
        for row in stops.itertuples():
            key = (row.data, row.at, row.patience)
            parts = [rules.loc[(*key, what)] for what in ("asked", "f", "to_come")]
            texts = [
                decimal(float(part["mean"]), digits, float(part.error))
                for part, digits in zip(parts, (1, 3, 3), strict=True)
            ]
            lines.append([sources.title(str(row.data)), f"{row.at:g}", f"{row.patience:g}", *texts])
        yield STOPPING
        head = ["data", "bound", "patience", "asked", "F then", "still to come"]
        yield from frame.in_markdown(head, lines)


def _grid(table: pd.DataFrame, corner: str, plan: Plan) -> Iterator[str]:
    """A line for each data set, and a column for each method."""
    methods = [method for method in plan.methods if (table.method == method).any()]
    texts = {(r.data, r.method): decimal(r.mean, 3, r.error) for r in table.itertuples(index=False)}
    sets = [name for name in (*plan.data, ALL) if (table.data == name).any()]
    lines = ([sources.title(n), *(texts.get((n, m), "") for m in methods)] for n in sets)
    yield from frame.in_markdown([corner, *(METHODS[name].title for name in methods)], lines)


def draw(
    cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan
) -> dict[str, Callable[[], Figure | None]]:
    """The curves, one panel for each data set."""
    mine = entries[entries.table == "curve"]
    line = mine.method.map(lambda name: METHODS[name].title)
    table = mine.assign(panel=mine.data.map(sources.title), line=line, x=mine["at"])
    experts = counted(int(entries.runs.max()), "expert")
    heading = f"F by number of answers, {ERROR_RATE:.0%} wrong; mean of {experts} ± s.e."
    return {"curves": lambda: figures.curves(table, heading, "answers", across=3, bands=True)}
