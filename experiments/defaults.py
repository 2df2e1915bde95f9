"""How good the defaults are: TVClust, not told the number of clusters, beside methods told it.

On the sets on which defaults may be chosen, of each 2000 items at most: F, and what the posterior
says of itself: whether intervals of the number of clusters and of the noise hold the truth, how
well credibility finds the wrong answers, whether F is what was expected, and which cluster model
was taken. msrcv2_6 and MNIST's sample come from files: name them after --data.
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

SHARE, PER_ITEM = "share", "per item"
WITHIN, MOST_ITEMS, FEW = 0.05, 2000, 400
"""How near the noise learned should be; items of a set, and those up to which a share of the pairs
is asked about."""
LEVEL, BINS, MOST_WIDE, OVERSTATED = 0.9, 20, 4, 0.15
"""Of intervals, and of credibility; the widest interval of K that says something; by how much an
expected F may be too high before that should be noticed."""
CHOSEN_ON, CLEARLY, NEARLY = 2, 0.05, 0.03
"""Draws of answers that a method is chosen on before it is compared on the others, and how much of
F is below by much and by little."""
TOLD = ("kmeans", "itml", "mpck", "dcrc")
OURS = ("rdp-means", "rdp-mixture", "mpck", "dcrc", "single", "mixture", "default")


def _sampled(title: str, about: str, **settings: Any) -> Method:
    make = fitted(lambda k, seed: bc.TVClust(random_state=seed, progress=False, **settings))
    return Method(title, make, f"not told k; {about}", scales=True)


METHODS = {
    "kmeans": Method("k-means", k_means, "told k, uses no answers", uses_answers=False),
    "rdp-means": Method(
        "RDP-means", fitted(lambda k, seed: bc.RDPMeans(random_state=seed)), "not told k"
    ),
    "rdp-mixture": Method(
        "RDP-means, several centres",
        fitted(lambda k, seed: bc.RDPMeans(cluster_model="mixture", random_state=seed)),
        "not told k",
    ),
    "itml": Method("ITML + k-means", itml, "told k"),
    "mpck": Method(
        "MPCK-Means", fitted(lambda k, seed: bc.MPCKMeans(k, random_state=seed)), "told k"
    ),
    "dcrc": Method("DCRC", fitted(lambda k, seed: bc.DCRC(k, random_state=seed)), "told k"),
    "default": _sampled("TVClust", "with defaults, the cluster model by held-out answers"),
    "single": _sampled("TVClust, single", "a cluster is one Gaussian", cluster_model="single"),
    "mixture": _sampled("TVClust, mixture", "cluster_model='mixture'", cluster_model="mixture"),
}
DATA = (
    *(*sources.UCI, "ionosphere", "pima", "digits", "digits389", "letters_ijlt", "breast_cancer"),
    *("satimage", "texture", "optdigits", "heart", "movement_libras", "led7digit", "tae"),
)
AMOUNTS = ((SHARE, 0.01), (SHARE, 0.03)), ((PER_ITEM, 2.0), (PER_ITEM, 5.0))
"""Of sets of at most `FEW` items, shares of the pairs; of larger ones, pairs per item."""
FEWER, MORE = "fewer", "more"
ACCURACIES = 1.0, 0.9


class Cell(NamedTuple):
    """One fit: who, on what, with which answers."""

    seed: int
    method: str
    data: str
    sampling: str
    """Whether `amount` is a share of the pairs, or pairs per item, or "none"."""
    amount: float
    accuracy: float
    trial: int


NOISE = ("p_true", "q_true", "p_mean", "q_mean", "area")
INTERVALS = tuple(f"{name}_{end}" for name in ("p", "q", "k") for end in ("low", "high"))
SCORES = {
    "f": "float",
    "rand": "float",
    **dict.fromkeys(("clusters", "classes"), "int"),
    **dict.fromkeys((*NOISE, *INTERVALS, "f_expected"), "float"),
    "answers": "str",
    "right": "str",
    "content": "str",
    "model": "str",
    "power": "float",
    "seconds": "float",
    "cpu_seconds": "float",
}


def answers(cell: Cell, y: IntArray) -> bc.PairwiseConstraints:
    """The answers of a cell; they depend neither on the method nor on which other cells are run."""
    name = zlib.crc32(sources.title(cell.data).encode())
    words = name, round(1000 * cell.amount), round(1000 * cell.accuracy)
    settings: dict[str, Any] = {"fraction": cell.amount}
    if cell.sampling == PER_ITEM:
        settings = {"size": round(cell.amount * len(y))}
    rng = np.random.default_rng([cell.seed, cell.trial, *words])
    return bc.PairwiseConstraints.sample(y, error_rate=1.0 - cell.accuracy, seed=rng, **settings)


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell; what a method does not have is NaN, `area` is that of `noise`."""
    items, method = sources.load_at_most(cell.data, MOST_ITEMS), METHODS[cell.method]
    X = items.X if method.scales else sources.standardized(items.X)
    links = answers(cell, items.y) if method.uses_answers else None
    with frame.Timed() as timed:
        found = method.fit(X, links, len(items.target_names), cell.seed + cell.trial)
    labels = frame.labels_of(found)
    return {
        "f": bc.metrics.pairwise_f(labels, items.y),
        "rand": bc.metrics.adjusted_rand(labels, items.y),
        "clusters": len(np.unique(labels)),
        "classes": len(items.target_names),
        **noise(found, links, items.y),
        "seconds": timed.seconds,
        "cpu_seconds": timed.cpu_seconds,
    }


def noise(found: Any, links: bc.PairwiseConstraints | None, y: IntArray) -> dict[str, Any]:
    """Shares of right answers, and what a posterior says of them, of K and of its own F.

    `answers` and `right` count the answers, and those that are right, by credibility in twentieths.
    """
    row: dict[str, Any] = {**dict.fromkeys((*NOISE, *INTERVALS, "f_expected", "power"), np.nan)}
    row |= dict.fromkeys(("answers", "right", "content", "model"), "")
    if links is None:
        return row
    right = ~np.asarray(links.flipped)
    together = y[links.items[:, 0]] == y[links.items[:, 1]]
    row |= {"p_true": float(right[together].mean()), "q_true": float(right[~together].mean())}
    if not isinstance(found, bc.TVClust):
        return row
    draws = found.posterior_["posterior"]
    row |= {f"{name}_mean": float(draws[name].mean()) for name in ("p", "q")}
    for name, variable in (("p", "p"), ("q", "q"), ("k", "n_clusters")):
        ends = draws[variable].quantile([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        row |= {f"{name}_low": float(ends[0]), f"{name}_high": float(ends[1])}
    z = draws["z"].values.reshape(-1, len(y))
    some = z[np.linspace(0, len(z) - 1, min(len(z), 100)).astype(int)]
    row["f_expected"] = float(np.mean([bc.metrics.pairwise_f(found.labels_, own) for own in some]))
    other = "" if found.family_ == found.family else f", {found.family_}"
    row |= {"model": found.cluster_model_ + other, "power": found.power_}
    row["content"] = "yes" if bc.diagnose(found).ok else "no"
    credibility = bc.constraint_credibility(found)["credibility"].to_numpy()
    place = np.minimum((BINS * credibility).astype(int), BINS - 1)
    row["answers"] = frame.words(np.bincount(place, minlength=BINS), 0)
    row["right"] = frame.words(np.bincount(place, right, BINS), 0)
    if 0 < right.sum() < len(right):
        from sklearn.metrics import roc_auc_score

        row["area"] = float(roc_auc_score(right, credibility))
    return row


@dataclass(frozen=True, kw_only=True)
class Plan(frame.Plan):
    """What is to be run and shown."""

    methods: tuple[str, ...] = option(tuple(METHODS), "methods to compare", among=METHODS)
    data: tuple[str, ...] = option(
        DATA, "data sets, or files: CSV with classes in the last column, or an archive of X and y"
    )

    amounts: tuple[str, ...] = option((FEWER, MORE), "numbers of answers", among=(FEWER, MORE))
    accuracies: tuple[float, ...] = option(
        ACCURACIES, "shares of answers that are right", kind=float, share=True
    )

    QUICK = {"data": ("iris", "wine"), "methods": ("kmeans", "rdp-means"), "trials": 1}  # noqa: RUF012

    def check(self) -> None:
        """Also the names of data sets."""
        super().check()
        sources.check(self.data)

    def wanted(self) -> Iterator[Cell]:
        """Draw by draw, on the data sets that can be had."""
        sets = [name for name in self.data if name not in left_out(self.data)]
        for trial, method, name in product(range(self.trials), self.methods, sets):
            if not METHODS[method].uses_answers:
                yield Cell(self.seed, method, name, "none", 0.0, 1.0, trial)
                continue
            amounts = AMOUNTS[len(sources.load_at_most(name, MOST_ITEMS).y) > FEW]
            chosen = [amounts[(FEWER, MORE).index(amount)] for amount in self.amounts]
            for asked, accuracy in product(chosen, self.accuracies):
                yield Cell(self.seed, method, name, *asked, accuracy, trial)


def left_out(names: tuple[str, ...]) -> list[str]:
    """Those of the sets whose files come with packages that are not installed."""
    here = bc.datasets.names(installed=True)
    return [name for name in names if name not in here and not name.endswith((".csv", ".npz"))]


SETTING = ["sampling", "amount", "accuracy"]


def tables(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Means over draws; a method without answers has a row for every setting of the others."""
    rows, names = [], ["data", "method", *SETTING]
    for values, block in beside(cells, plan).groupby(names, sort=False):
        rows.append({**dict(zip(names, values, strict=True)), **_means(block)})
    return pd.DataFrame(rows, columns=[*names, *_means(cells.iloc[:0])])


def beside(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The cells of a plan; those of methods without answers stand beside every setting's."""
    mine = cells[cells.data.isin(plan.data) & cells.method.isin(plan.methods)]
    with_answers = mine[mine.sampling != "none"]
    settings = with_answers[["data", *SETTING]].drop_duplicates()
    without = mine[mine.sampling == "none"].drop(columns=SETTING).merge(settings, on="data")
    return pd.concat([with_answers, without])


def _means(block: pd.DataFrame) -> dict[str, Any]:
    return {
        "f": block.f.mean(),
        "error": frame.standard_error(block.f),
        "clusters": block.clusters.mean(),
        "seconds": block.seconds.mean(),
        "draws": len(block),
    }


HEAD = """# Defaults, measured

Pairwise F between labels and classes, which no method has seen; columns standardized, but for
TVClust, which takes them as they are. Answers: a share of the pairs, or a number of pairs per item,
each right with the probability named; {draws} of them, seed {seed}.
"""
WORDS = {
    SHARE: "{:g} of pairs",
    PER_ITEM: "{:g} pairs per item",
}


def report(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """The tables in Markdown: F by method, and what posteriors say of themselves."""
    yield HEAD.format(draws=frame.span(entries.draws, "draw"), seed=plan.seed)
    if gone := sorted(set(left_out(plan.data)) - set(cells.data)):
        yield f"Left out, as the packages with their files are not installed: {', '.join(gone)}.\n"
    # small and large sets have their numbers of answers in one column
    rank = entries.groupby("data").amount.rank(method="dense").astype(int)
    mine = entries.assign(rank=rank)
    names = []
    for (_, accuracy), block in mine.groupby(["rank", "accuracy"], sort=False):
        settings = block[["sampling", "amount"]].drop_duplicates().itertuples()
        asked = " or ".join(WORDS[str(row.sampling)].format(row.amount) for row in settings)
        names.append(f"{asked}, {accuracy:.0%} right")
    yield from _pivoted(mine, plan, ["rank", "accuracy"], names)
    titles = [sources.title(name) for name in mine.data.drop_duplicates()]
    yield from _pivoted(mine, plan, ["data"], titles)
    sampled = cells[(cells.content != "") & cells.data.isin(plan.data)]
    yield from _standing(beside(cells, plan))
    yield from _said(sampled)
    yield from _honesty(sampled)


def _pivoted(mine: pd.DataFrame, plan: Plan, columns: list[str], names: list[str]) -> Iterator[str]:
    wide = mine.pivot_table(index="method", columns=columns, values="f", sort=False)
    rows = (
        [METHODS[name].title, *map(frame.decimal, [*wide.loc[name], wide.loc[name].mean()])]
        for name in plan.methods
        if name in wide.index
    )
    yield from frame.in_markdown(["mean F", *names, "mean"], rows)


def _said(cells: pd.DataFrame) -> Iterator[str]:
    """What each posterior says of F and of K, and which model it took, draw by draw."""
    rows = []
    for (name, method), block in cells.groupby(["data", "method"], sort=False):
        interval = [f"{row.k_low:.0f} to {row.k_high:.0f}" for row in block.itertuples()]
        models = [str(model).replace("_", " ") for model in block["model"]]
        seconds = [f"{seconds:.0f}" for seconds in block.cpu_seconds]
        words = map("; ".join, (interval, models, seconds))
        both = map(frame.decimal, (block.f.mean(), block.f_expected.mean()))
        rows.append([sources.title(name), METHODS[method].title, *both, *words])
    head = ["set", "method", "F", "F it expects", "its K, 90%", "model", "processor s"]
    if rows:
        yield from frame.in_markdown(head, rows)


def standing(cells: pd.DataFrame) -> pd.DataFrame:
    """F of the defaults less that of others, a row per set, others chosen on the first draws.

    `told` is the method told the number of clusters that is best over all sets, `best` the best of
    our methods on the set.
    """
    wide = cells.pivot_table(index=["trial", "data"], columns="method", values="f", sort=False)
    is_later = wide.index.get_level_values("trial") >= CHOSEN_ON
    first, later = (part.groupby("data").mean() for part in (wide[~is_later], wide[is_later]))
    first, later = first.align(later, join="inner", axis=0)
    first = first.dropna(axis=1, how="all")
    if "default" not in later or later["default"].isna().all():
        return pd.DataFrame()
    found = pd.DataFrame({"f": later["default"]})
    told = [name for name in TOLD if name in first]
    if told:
        found.attrs["told"] = first[told].mean().idxmax()
        found["told"] = found.f - later[found.attrs["told"]]
    ours = [name for name in OURS if name != "default" and name in first]
    if ours:
        best = first[ours].fillna(-np.inf).idxmax(axis=1)
        found["best"] = [found.f[name] - later.loc[name, best[name]] for name in found.index]
    return found


def _standing(cells: pd.DataFrame) -> Iterator[str]:
    """Whether the defaults are as good as what their user would have had to choose."""
    rows = []
    for accuracy, block in cells.groupby("accuracy", sort=False):
        found = standing(block)
        if not {"told", "best"} <= set(found):
            continue
        counts = int((found.best < -CLEARLY).sum()), int((found.best >= -NEARLY).sum()), len(found)
        words = [f"{accuracy:.0%}", frame.decimal(found.f.mean())]
        words += [METHODS[found.attrs["told"]].title, f"{found.told.mean():+.3f}"]
        rows.append([*words, *map(str, counts)])
    head = ["right", "mean F of the defaults", "best told k", "less it", "sets over .05 below ours"]
    if rows:
        head += ["at most .03 below", "sets"]
        yield from frame.in_markdown(head, rows)


def honesty(cells: pd.DataFrame) -> dict[str, float]:
    """How often what posteriors say of themselves is true, over fits."""
    inside = {
        name: (cells[f"{name}_low"] <= cells[f"{name}_true"])
        & (cells[f"{name}_true"] <= cells[f"{name}_high"])
        for name in ("p", "q")
    }
    k = cells.classes
    narrow = cells.k_high - cells.k_low <= MOST_WIDE
    answers, right = (sum(map(frame.numbers, column)) for column in (cells.answers, cells.right))
    total = answers.reshape(-1, 2).sum(axis=1)
    share = right.reshape(-1, 2).sum(axis=1) / np.maximum(total, 1)
    middle = (np.arange(len(total)) + 0.5) / len(total)
    content = cells.content == "yes"
    gap = cells.f_expected - cells.f
    return {
        "p in": float(inside["p"].mean()),
        "q in": float(inside["q"].mean()),
        "K in": float(((cells.k_low <= k) & (k <= cells.k_high) & narrow).mean()),
        "area": float(cells.area.mean()),
        "calibration": float(np.abs(share - middle)[total > 0].max()),
        "right below .05": float(right[0] / answers[0]) if answers[0] else np.nan,
        "content": float(content.mean()),
        "F as expected": float((gap[content].abs() <= WITHIN).mean()),
        "overstated F noticed": float((~content[gap > OVERSTATED]).mean()),
    }


def _honesty(cells: pd.DataFrame) -> Iterator[str]:
    """What posteriors say of themselves, method by method."""
    groups = cells[cells.content != ""].groupby("method", sort=False)
    found = {METHODS[method].title: honesty(block) for method, block in groups}
    rows = [[title, *map(frame.decimal, row.values())] for title, row in found.items()]
    if rows:
        yield from frame.in_markdown(["share of fits", *next(iter(found.values()))], rows)


def draw(
    cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan
) -> dict[str, Callable[[], Figure | None]]:
    """F by number of answers, a panel for each set."""
    line = entries.method.map(lambda name: METHODS[name].title)
    line += entries.accuracy.map(", {:.0%} right".format)
    panel = entries.data.map(sources.title)
    table = entries.assign(panel=panel, line=line, x=entries.amount, mean=entries.f)
    xlabel = "share of pairs, or pairs per item"
    return {"defaults": lambda: figures.curves(table, "Defaults", xlabel, across=5)}
