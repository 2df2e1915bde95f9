"""Classes that are no ellipses: which cluster model does justice to the answers.

TVClust with cluster_model="auto" beside a single Gaussian to a cluster, its limit, k-means, ITML
and DCRC. Table "usual": the five sets of the TVClust paper, glass without its row id; "others":
ionosphere, pima, digits 389, letters IJLT. F, how far the noise learned lies from the truth, how
well credibility finds the wrong answers, and which cluster model was taken.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.typing import IntArray
from experiments import figures, frame, sources
from experiments.baselines import k_means
from experiments.frame import Method, fitted, option
from experiments.learned_metrics import itml

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDERED, UNORDERED, PER_ITEM = "ordered", "unordered", "per item"
LARGE, WITHIN = 1000, 0.05


def _sampled(title: str, about: str, **settings: Any) -> Method:
    make = fitted(lambda k, seed: bc.TVClust(random_state=seed, progress=False, **settings))
    return Method(title, make, f"not told k; {about}")


METHODS = {
    "kmeans": Method("k-means", k_means, "told k, uses no answers", uses_answers=False),
    "rdp-means": Method(
        "RDP-means", fitted(lambda k, seed: bc.RDPMeans(random_state=seed)), "not told k"
    ),
    "itml": Method("ITML + k-means", itml, "told k"),
    "dcrc": Method("DCRC", fitted(lambda k, seed: bc.DCRC(k, random_state=seed)), "told k"),
    "single": _sampled("TVClust", "a cluster is one Gaussian"),
    "mixture": _sampled("TVClust, mixture", "cluster_model='mixture'", cluster_model="mixture"),
    "auto": _sampled("TVClust, auto", "cluster_model='auto'", cluster_model="auto"),
}
BASELINES, SAMPLED = ("kmeans", "rdp-means", "itml", "dcrc"), ("single", "auto")


class Part(NamedTuple):
    """One table: its data, how many answers there are and how good, and who is compared."""

    title: str
    data: tuple[str, ...]
    amounts: tuple[tuple[tuple[str, float], ...], ...]
    """(sampling, amount) as in a cell, for sets of at most `LARGE` items and for larger ones."""
    accuracies: tuple[float, ...]
    methods: tuple[str, ...]


_shares = tuple((ORDERED, share) for share in (0.01, 0.03, 0.05))
_few = (
    tuple((UNORDERED, share) for share in (0.01, 0.03)),
    tuple((PER_ITEM, number) for number in (2.0, 5.0)),
)
_others = ("ionosphere", "pima", "digits389", "letters_ijlt")
PARTS = {
    "usual": Part(
        "The sets of the TVClust paper",
        sources.UCI,
        (_shares, _shares),
        (1.0, 0.95, 0.9, 0.8),
        ("rdp-means", *SAMPLED),
    ),
    "others": Part(
        "Sets whose classes are no ellipses", _others, _few, (1.0, 0.9), (*BASELINES, *SAMPLED)
    ),
}


class Cell(NamedTuple):
    """One fit: who, on what, with which answers."""

    seed: int
    method: str
    data: str
    sampling: str
    """Whether `amount` is a share of ordered or unordered pairs, pairs per item, or "none"."""
    amount: float
    accuracy: float
    trial: int


NOISE = ("p_true", "q_true", "p_mean", "q_mean", "area")
SCORES = {
    "f": "float",
    "rand": "float",
    "clusters": "int",
    **dict.fromkeys(NOISE, "float"),
    "model": "str",
    "power": "float",
    "seconds": "float",
    "cpu_seconds": "float",
}


def answers(cell: Cell, y: IntArray) -> bc.PairwiseConstraints:
    """The answers of a cell; they depend neither on the method nor on which other cells are run."""
    name = zlib.crc32(sources.title(cell.data).encode())
    words = name, round(1000 * cell.amount), round(1000 * cell.accuracy)
    settings: dict[str, Any] = {"fraction": cell.amount, "ordered": cell.sampling == ORDERED}
    if cell.sampling == PER_ITEM:
        settings = {"size": round(cell.amount * len(y))}
    rng = np.random.default_rng([cell.seed, cell.trial, *words])
    return bc.PairwiseConstraints.sample(y, error_rate=1.0 - cell.accuracy, seed=rng, **settings)


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell; what a method does not have is NaN, `area` is that of `noise`."""
    items, method = sources.load(cell.data), METHODS[cell.method]
    X = sources.standardized(items.X)
    links = answers(cell, items.y) if method.uses_answers else None
    with frame.Timed() as timed:
        found = method.fit(X, links, len(items.target_names), cell.seed + cell.trial)
    labels = frame.labels_of(found)
    return {
        "f": bc.metrics.pairwise_f(labels, items.y),
        "rand": bc.metrics.adjusted_rand(labels, items.y),
        "clusters": len(np.unique(labels)),
        **noise(found, links, items.y),
        "seconds": timed.seconds,
        "cpu_seconds": timed.cpu_seconds,
    }


def noise(found: Any, links: bc.PairwiseConstraints | None, y: IntArray) -> dict[str, Any]:
    """Shares of right answers, their posterior means, and the ROC area of credibility."""
    row: dict[str, Any] = {**dict.fromkeys(NOISE, np.nan), "model": "", "power": np.nan}
    if links is None:
        return row
    wrong = np.asarray(links.flipped)
    together = y[links.items[:, 0]] == y[links.items[:, 1]]
    row |= {"p_true": float((~wrong[together]).mean()), "q_true": float((~wrong[~together]).mean())}
    if isinstance(found, bc.TVClust):
        draws = found.posterior_["posterior"]
        row |= {f"{name}_mean": float(draws[name].mean()) for name in ("p", "q")}
        other = "" if found.family_ == found.family else f", {found.family_}"
        row |= {"model": found.cluster_model_ + other, "power": found.power_}
        if 0 < wrong.sum() < len(wrong):
            from sklearn.metrics import roc_auc_score

            credibility = bc.constraint_credibility(found)["credibility"]
            row["area"] = float(roc_auc_score(~wrong, credibility))
    return row


@dataclass(frozen=True, kw_only=True)
class Plan(frame.Plan):
    """What is to be run and shown."""

    tables: tuple[str, ...] = option(tuple(PARTS), "tables to make", among=PARTS)
    methods: tuple[str, ...] = option((), "methods to compare", among=METHODS)
    data: tuple[str, ...] = option(
        (), "data sets, or CSV files (classes in the last column), which belong to 'others'"
    )
    trials: int = option(3, "draws of answers", least=1)

    QUICK = {"data": ("iris", "ionosphere"), "methods": BASELINES, "trials": 1}  # noqa: RUF012

    def check(self) -> None:
        """Also the names of data sets."""
        super().check()
        sources.check(self.data)

    def parts(self) -> Iterator[Part]:
        """The plan's tables, of the data sets that can be had."""
        here = bc.datasets.names(installed=True)
        for name in self.tables:
            part = PARTS[name]
            asked = [d for d in self.data if (d in sources.UCI) == (name == "usual")]
            sets = tuple(asked if self.data else part.data)
            kept = tuple(d for d in sets if d in here or d.endswith((".csv", ".npz")))
            yield part._replace(data=kept, methods=self.methods or part.methods)

    def wanted(self) -> Iterator[Cell]:
        """Draw by draw, the fast methods first."""
        for trial, part in product(range(self.trials), self.parts()):
            for method, name in product(part.methods, part.data):
                if not METHODS[method].uses_answers:
                    yield Cell(self.seed, method, name, "none", 0.0, 1.0, trial)
                    continue
                amounts = part.amounts[len(sources.load(name).y) > LARGE]
                for asked, accuracy in product(amounts, part.accuracies):
                    yield Cell(self.seed, method, name, *asked, accuracy, trial)


SETTING = ["sampling", "amount", "accuracy"]


def tables(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Means over draws; a method without answers has a row for every setting of the others."""
    rows, names = [], ["data", "method", *SETTING]
    for part in plan.parts():
        mine = cells[cells.data.isin(part.data) & cells.method.isin(part.methods)]
        with_answers = mine[mine.sampling != "none"]
        settings = with_answers[["data", *SETTING]].drop_duplicates()
        without = mine[mine.sampling == "none"].drop(columns=SETTING).merge(settings, on="data")
        for values, block in pd.concat([with_answers, without]).groupby(names, sort=False):
            key = dict(zip(names, values, strict=True))
            rows.append({"part": part.title, **key, **_means(block)})
    return pd.DataFrame(rows, columns=["part", *names, *_means(cells.iloc[:0])])


def _means(block: pd.DataFrame) -> dict[str, Any]:
    models = block["model"].mode()
    return {
        "f": block.f.mean(),
        "error": frame.standard_error(block.f),
        "clusters": block.clusters.mean(),
        "p_gap": (block.p_mean - block.p_true).mean(),
        "q_gap": (block.q_mean - block.q_true).mean(),
        "area": block.area.mean(),
        "model": models.iloc[0] if len(models) else "",
        "power": block.power.mean(),
        "seconds": block.seconds.mean(),
        "draws": len(block),
    }


HEAD = """# Cluster models, measured

Pairwise F between labels and classes; columns standardized, labels never seen by a method. Answers:
a share of the ordered or unordered pairs, or a number of pairs per item, each right with the
probability named; {draws} of them, seed {seed}.
"""
WORDS = {
    ORDERED: "{:g} of ordered pairs",
    UNORDERED: "{:g} of pairs",
    PER_ITEM: "{:g} pairs per item",
}


def report(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """The tables in Markdown: F by method, the noise learned, and which cluster model was taken."""
    yield HEAD.format(draws=frame.span(entries.draws, "draw"), seed=plan.seed)
    for part in plan.parts():
        mine = entries[entries.part == part.title]
        if len(mine):
            # small and large sets have their numbers of answers in one column
            mine = mine.assign(rank=mine.groupby("data").amount.rank(method="dense").astype(int))
            names = []
            for (_, accuracy), block in mine.groupby(["rank", "accuracy"], sort=False):
                settings = block[["sampling", "amount"]].drop_duplicates().itertuples()
                asked = " or ".join(WORDS[str(row.sampling)].format(row.amount) for row in settings)
                names.append(f"{asked}, {accuracy:.0%} right")
            yield f"## {part.title}\n"
            yield from _pivoted(mine, part, ["rank", "accuracy"], names)
            titles = [sources.title(name) for name in mine.data.drop_duplicates()]
            yield from _pivoted(mine, part, ["data"], titles)
            yield from _noise(mine)


def _pivoted(mine: pd.DataFrame, part: Part, columns: list[str], names: list[str]) -> Iterator[str]:
    wide = mine.pivot_table(index="method", columns=columns, values="f", sort=False)
    rows = (
        [METHODS[name].title, *map(frame.decimal, [*wide.loc[name], wide.loc[name].mean()])]
        for name in part.methods
        if name in wide.index
    )
    yield from frame.in_markdown(["mean F", *names, "mean"], rows)


def _noise(mine: pd.DataFrame) -> Iterator[str]:
    """What the posterior says of the answers, set by set."""
    rows = []
    sampled = mine[mine.p_gap.notna()]
    for (name, method), block in sampled.groupby(["data", "method"], sort=False):
        p, q = block.p_gap.abs(), block.q_gap.abs()
        near = f"{int(((p <= WITHIN) & (q <= WITHIN)).sum())} of {len(block)}"
        models = ", ".join(f"{m} {count}" for m, count in block["model"].value_counts().items())
        words = [sources.title(name), METHODS[method].title, f"{p.max():.2f}", f"{q.max():.2f}"]
        clusters, power = f"{block.clusters.mean():.1f}", f"{block.power.mean():.2f}"
        rows.append([*words, near, frame.decimal(block.area.mean()), clusters, models, power])
    head = ["set", "method", "largest gap of p", "of q", "settings within .05"]
    head += ["area of credibility", "clusters", "cluster model", "power"]
    if rows:
        yield from frame.in_markdown(head, rows)


def draw(
    cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan
) -> dict[str, Callable[[], Figure | None]]:
    """F by number of answers, a panel for each set."""
    parts = zip(plan.tables, plan.parts(), strict=True)
    return {name: lambda part=part: _figure(entries, part) for name, part in parts}


def _figure(entries: pd.DataFrame, part: Part) -> Figure | None:
    ends = {min(part.accuracies), max(part.accuracies)}
    mine = entries[(entries.part == part.title) & entries.accuracy.isin(ends)]
    right = mine.accuracy.map("{:.0%} right".format)
    line = mine.method.map(lambda name: METHODS[name].title) + ", " + right
    table = mine.assign(panel=mine.data.map(sources.title), line=line, x=mine.amount, mean=mine.f)
    xlabel = "share of pairs, or pairs per item"
    return figures.curves(table, part.title, xlabel, across=5)
