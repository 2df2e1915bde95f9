"""Khashabi, Wieting, Liu and Liang: Clustering With Side Information, section 5.

Tables 1 to 3: five UCI sets, or one's own, a share r of the pairs answered, each answer right with
probability p; with r of the ordered pairs, as the authors drew them, and of the unordered ones;
glass with the row id that the authors left among its features, a leak, and without. Table 4:
counts. Figure 2: the six patterns of the authors' code. Figure 3: a wrong number told. Figure 4:
counts, ever more answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments import figures, frame, sources
from experiments.authors import fit_as_released, released_rdp_means
from experiments.baselines import cop_k_means, dp_means, k_means, lcvqe
from experiments.frame import counted, fitted, option
from experiments.learned_metrics import itml

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDERED, UNORDERED, UNANSWERED = "ordered", "unordered", "none"
FRACTIONS, ACCURACIES = (0.01, 0.03, 0.05), (1.0, 0.95, 0.9, 0.8)
SHAPE_FRACTION, DEVIATION_FRACTION, TABLE_4_FRACTION = 0.01, 0.03, 0.01
MEAN, MEAN_WITH_ID = "mean", "mean_with_id"

# pairwise F as the paper prints it: rows are methods
ROWS = ("K-means", "DP-means", "TVClust (variational)", "RDP-means", "MPCKMeans", "LCVQE")


def _read(columns: Iterable[Any], text: str) -> dict[tuple[str, Any], float]:
    rows = zip(ROWS, text.split("/"), strict=True)
    columns = tuple(columns)
    return {
        (row, column): float(value)
        for row, values in rows
        for column, value in zip(columns, values.split(), strict=True)
    }


TABLE_1 = _read(
    ("iris", "wine", "ecoli", "glass", "balance", MEAN_WITH_ID),
    """.81 .59 .61 .57 .47 .61 / .74 .63 .71 .53 .31 .58 / .91 .56 .85 .42 .94 .74 /
    .86 .81 .90 .82 .94 .87 / .53 .54 .57 .46 .70 .56 / .73 .57 .61 .64 .62 .64""",
)
"""By row and data set, over all p and r."""
TABLE_2 = _read(
    ACCURACIES,
    """.61 .60 .61 .61 / .58 .59 .59 .58 / .77 .75 .73 .68 /
    .93 .92 .87 .75 / .94 .46 .44 .41 / .83 .64 .58 .50""",
)
"""By row and p, over all data sets and r."""
TABLE_3 = {
    0.01: _read(
        ACCURACIES,
        """.62 .62 .61 .60 / .58 .59 .58 .58 / .72 .69 .66 .58 /
        .84 .79 .69 .56 / .83 .52 .49 .44 / .73 .69 .62 .52""",
    ),
    0.03: _read(
        ACCURACIES,
        """.60 .60 .61 .61 / .59 .58 .59 .58 / .78 .77 .76 .70 /
        .98 .98 .93 .77 / .99 .43 .41 .40 / .86 .62 .57 .48""",
    ),
    0.05: _read(
        ACCURACIES,
        """.62 .59 .60 .60 / .58 .59 .60 .58 / .81 .79 .78 .74 /
        .96 .99 .98 .91 / 1.00 .44 .41 .38 / .88 .60 .55 .50""",
    ),
}
"""By r, then row and p, over all data sets."""
TABLE_4 = {
    ("DP-means", "Gaussian"): 0.18,
    ("DP-means", "multinomial"): 0.22,
    ("K-means", "Gaussian"): 0.18,
    ("K-means", "multinomial"): 0.25,
    ("RDP-means", "Gaussian"): 0.20,
    ("RDP-means", "multinomial"): 0.44,
}
"""On 1000 ImageNet images as counts of 1000 visual words, ten categories, mean of ten runs."""


@dataclass(frozen=True)
class Method(frame.Method):
    """How to fit, what it is told and given, and which of the paper's rows it is compared with."""

    told: bool = False
    """Whether it uses the number of clusters: the true one in the tables, others in Figure 3."""
    raw: bool = False
    """Give it features on the scale of their source, not standardized ones."""
    paper: str = ""
    model: str = ""
    """In Table 4, "Gaussian" or "multinomial"."""
    least: int = 1
    """The smallest number of clusters that it works with."""
    slow: bool = False

    @property
    def name(self) -> str:
        """What tables and figures call it, marked where it is told k."""
        return self.title + (f", {self.model}" if self.model else "") + " [k]" * self.told


def _method(title: str, fit: Callable[..., Any], paper: str = "", **settings: Any) -> Method:
    told = "told k" if settings.get("told") else "not told k"
    unused = "" if settings.get("uses_answers", True) else ", uses no answers"
    raw = ", raw features" if settings.get("raw") else ""
    return Method(title, fit, told + unused + raw, paper=paper, **settings)


def _authors(X: FloatArray, constraints: Any, n_clusters: int, seed: int) -> IntArray:
    return fit_as_released(X, constraints)[0].r.argmax(axis=1)


def _variational(k: int, seed: int) -> Any:
    return bc.TVClust("variational", num_chains=1, num_samples=1, random_state=seed)


_default = fitted(lambda k, seed: bc.RDPMeans(random_state=seed))
_told = fitted(lambda k, seed: bc.RDPMeans(n_clusters=k, random_state=seed))
_default_kl = fitted(lambda k, seed: bc.RDPMeans(divergence="kl", random_state=seed))
_told_kl = fitted(lambda k, seed: bc.RDPMeans(n_clusters=k, divergence="kl", random_state=seed))
_mpck = fitted(lambda k, seed: bc.MPCKMeans(k, cost=1, random_state=seed))
_sampled = fitted(
    lambda k, seed: bc.TVClust(cluster_model="single", random_state=seed, progress=False)
)
_chosen = fitted(lambda k, seed: bc.TVClust(random_state=seed, progress=False))
_without_answers: dict[str, Any] = {"told": True, "uses_answers": False}

METHODS = {
    "kmeans": _method("k-means", k_means, "K-means", **_without_answers),
    "kmeans-raw": _method(
        "k-means, raw features", k_means, "K-means", **_without_answers, raw=True
    ),
    "dp-means": _method("DP-means", dp_means, "DP-means", **_without_answers),
    "dp-means-released": _method(
        "DP-means, released settings", released_rdp_means, "DP-means", **_without_answers, raw=True
    ),
    "rdp-means": _method("RDP-means", _default, "RDP-means"),
    "rdp-means-k": _method("RDP-means", _told, "RDP-means", told=True),
    "rdp-means-released": _method(
        "RDP-means, released settings", released_rdp_means, "RDP-means", told=True, raw=True
    ),
    "lcvqe": _method("LCVQE", lcvqe, "LCVQE", told=True, least=2),
    "cop": _method("COP-KMeans", cop_k_means, told=True),
    "itml": _method("ITML + k-means", itml, told=True),
    "mpck-means": _method("MPCK-Means", _mpck, "MPCKMeans", told=True),
    "variational": _method("TVClust, variational", fitted(_variational), ROWS[2]),
    "authors": _method("TVClust, authors' settings", _authors, ROWS[2]),
    "mixture": _method("mixture without answers", _sampled, uses_answers=False, slow=True),
    "collapsed": _method("TVClust, sampled, single Gaussians", _sampled, slow=True),
    "default": _method("TVClust, default", _chosen, slow=True),
}
"""Those of Tables 1 to 3 and Figures 2 and 3, the slow ones last."""

_counts: dict[str, tuple[str, Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "kmeans": ("k-means", k_means, partial(k_means, divergence="kl"), _without_answers),
    "dp-means": ("DP-means", dp_means, partial(dp_means, divergence="kl"), _without_answers),
    "rdp-means-k": ("RDP-means", _told, _told_kl, {"told": True}),
    "rdp-means": ("RDP-means", _default, _default_kl, {}),
}
COUNT_METHODS = {
    f"{name}-{model.lower()}": _method(
        words, fit, METHODS[name].paper, raw=True, model=model, **told
    )
    for name, (words, *fits, told) in _counts.items()
    for model, fit in zip(("Gaussian", "multinomial"), fits, strict=True)
}
"""Those of Table 4 and Figure 4, which see counts as they are."""
EVERY_METHOD = METHODS | COUNT_METHODS


class Cell(NamedTuple):
    """One fit: who, on what, with which answers."""

    seed: int
    method: str
    data: str
    sampling: str
    """Whether `fraction` is of the n^2 ordered pairs or of the unordered ones, or "none"."""
    fraction: float
    accuracy: float
    deviation: int
    """The method is told k - deviation clusters, k the number of classes."""
    trial: int


SCORES = {
    **dict.fromkeys(("f", "rand", "nmi"), "float"),
    "clusters": "int",
    "seconds": "float",
    "labels": "str",
}


def answers(cell: Cell, y: IntArray) -> bc.PairwiseConstraints | None:
    """The answers of a cell, which do not depend on the method."""
    if cell.sampling == UNANSWERED:
        return None
    # the row id of glass changes nothing about its answers
    name = "glass" if cell.data == sources.WITH_ID else cell.data
    groups = enumerate((sources.UCI, sources.SHAPES, sources.COUNTS))
    known = (100 * at + names.index(name) for at, names in groups if name in names)
    number = next(known, 1000 + sources.code(name))
    seed = [cell.seed, cell.trial, number, round(1000 * cell.fraction), round(1000 * cell.accuracy)]
    error_rate = 1.0 - cell.accuracy
    if cell.sampling == UNORDERED:
        share = {"fraction": cell.fraction, "error_rate": error_rate}
        return bc.PairwiseConstraints.sample(y, **share, seed=np.random.default_rng([*seed, 1]))
    # the authors draw cells of the n x n matrix, which cover nearly twice that share of the pairs
    rng, n = np.random.default_rng(seed), len(y)
    drawn = np.divmod(rng.choice(n * n, max(1, round(cell.fraction * n * n)), replace=False), n)
    pairs = np.unique(np.sort(np.column_stack(drawn))[drawn[0] != drawn[1], ::-1], axis=0)
    i, j = pairs[rng.permutation(len(pairs)), ::-1].T
    rng.permutation(len(pairs))  # draws by seed are those of earlier results
    same = (y[i] == y[j]) ^ (rng.random(len(pairs)) < error_rate)
    return bc.PairwiseConstraints(np.column_stack([i, j]), same, n)


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell; for data in the plane, with its labels."""
    items, method = sources.load(cell.data), EVERY_METHOD[cell.method]
    X = items.X if method.raw else sources.standardized(items.X)
    k = len(items.target_names) - cell.deviation
    with frame.Timed() as timed:
        found = method.fit(X, answers(cell, items.y), k, cell.seed + cell.trial)
    labels = np.unique(frame.labels_of(found), return_inverse=True)[1]
    return {
        "f": bc.metrics.pairwise_f(labels, items.y),
        "rand": bc.metrics.adjusted_rand(labels, items.y),
        "nmi": bc.metrics.nmi(labels, items.y),
        "clusters": int(labels.max()) + 1,
        "seconds": timed.seconds,
        "labels": " ".join(map(str, labels)) if X.shape[1] == 2 else "",
    }


@dataclass(frozen=True, kw_only=True)
class Plan(frame.Plan):
    """What is to be run and shown."""

    tables: tuple[int, ...] = option(
        (1, 2, 3, 4), "tables to make", among=(1, 2, 3, 4), kind=int, part=True
    )
    figures: tuple[int, ...] = option(
        (2, 3, 4), "figures to make", among=(2, 3, 4), kind=int, part=True
    )
    methods: tuple[str, ...] = option(
        tuple(METHODS), "methods of Tables 1 to 3 and Figures 2 and 3", among=METHODS
    )
    data: tuple[str, ...] = option(
        (*sources.UCI, sources.WITH_ID),
        "data sets of Tables 1 to 3 and Figure 3, or CSV files (classes in the last column)",
    )
    samplings: tuple[str, ...] = option(
        (ORDERED, UNORDERED), "which pairs r is a share of", among=(ORDERED, UNORDERED)
    )
    fractions: tuple[float, ...] = option(
        FRACTIONS, "the r of Tables 1 to 3", kind=float, share=True
    )
    accuracies: tuple[float, ...] = option(
        ACCURACIES, "the p of Tables 1 to 3", kind=float, share=True
    )
    deviations: tuple[int, ...] = option((-3, -2, -1, 0, 1, 2, 3))
    rates: tuple[float, ...] = option((0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.06))
    shapes: tuple[str, ...] = option(sources.SHAPES, among=sources.SHAPES)
    counts: tuple[str, ...] = option(sources.COUNTS, among=sources.COUNTS)

    QUICK = {  # noqa: RUF012
        "methods": tuple(name for name, method in METHODS.items() if not method.slow),
        "data": ("iris", "glass", sources.WITH_ID),
        "fractions": (0.03,),
        "accuracies": (1.0, 0.8),
        "deviations": (-1, 0, 1),
        "rates": (0.001, 0.01),
        "trials": 1,
    }

    def check(self) -> None:
        """Also the names of data sets."""
        super().check()
        sources.check(self.data)

    def wanted(self) -> Iterator[Cell]:
        """Method by method; Figure 3 leaves out "glass_with_id"."""
        for name in self.methods:
            if {1, 2, 3} & set(self.tables):
                settings = (self.samplings, self.fractions, self.accuracies)
                yield from self._cells(name, self.data, *settings)
            if 3 in self.figures:
                yield from self._deviations(name)
            if 2 in self.figures:
                yield from self._cells(name, self.shapes, (ORDERED,), (SHAPE_FRACTION,), (1.0,))
        for name, method in COUNT_METHODS.items():
            if 4 in self.tables:
                yield from self._cells(name, self.counts, (ORDERED,), (TABLE_4_FRACTION,), (1.0,))
            if 4 in self.figures and method.model == "multinomial":
                yield from self._cells(name, self.counts, (ORDERED,), self.rates, (1.0,))

    def _deviations(self, name: str) -> Iterator[Cell]:
        method, settings = METHODS[name], ((ORDERED,), (DEVIATION_FRACTION,), (1.0,))
        # methods that are not told k do not change with what others are told
        for deviation in self.deviations if method.told else (0,):
            sets = [
                items
                for items in self.data
                if items != sources.WITH_ID and sources.classes(items) - deviation >= method.least
            ]
            yield from self._cells(name, sets, *settings, deviation)

    def _cells(
        self,
        method: str,
        sets: Iterable[str],
        samplings: Iterable[str],
        fractions: Iterable[float],
        accuracies: Iterable[float],
        deviation: int = 0,
    ) -> Iterator[Cell]:
        """A product of settings; to methods that use no answers, answers are no setting."""
        if not EVERY_METHOD[method].uses_answers:
            samplings, fractions, accuracies = (UNANSWERED,), (0.0,), (1.0,)
        for name, sampling, trial in product(sets, samplings, range(self.trials)):
            for fraction, accuracy in product(fractions, accuracies):
                yield Cell(self.seed, method, name, sampling, fraction, accuracy, deviation, trial)


def rows_of(cells: pd.DataFrame, method: str, **settings: Any) -> pd.DataFrame:
    """The rows of a method in which each setting has one of its values."""
    kept = cells[cells.method == method]
    if not EVERY_METHOD[method].uses_answers:
        unanswered = {"sampling": UNANSWERED, "fraction": 0.0, "accuracy": 1.0}
        settings = {name: unanswered.get(name, value) for name, value in settings.items()}
    for name, value in settings.items():
        kept = kept[kept[name].isin(value if isinstance(value, list) else [value])]
    return kept


def tables(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The entries of the tables, and what the paper prints where its data are ours."""
    entries = [*_uci(cells, plan), *(_table_4(cells, plan) if 4 in plan.tables else ())]
    return pd.DataFrame([entry for entry in entries if entry["table"] in plan.tables])


def _entry(rows: pd.DataFrame, published: float) -> dict[str, Any]:
    """Means of which every setting is the same part, however many of its trials are done."""
    settings = rows.groupby(["data", "fraction", "accuracy"])
    mine = settings[["f", "rand", "nmi", "clusters"]].mean().mean()
    trials = rows.groupby("trial").f.agg(["size", "mean"])
    whole = trials[trials["size"] == settings.ngroups]["mean"]
    return {
        **mine.round(6).to_dict(),
        "f_error": round(frame.standard_error(whole), 6),
        "trials": int(settings.size().min()),
        "paper_f": published,
    }


def _uci(cells: pd.DataFrame, plan: Plan) -> Iterator[dict[str, Any]]:
    """Tables 1 to 3: for both ways of drawing pairs, and without and with the row id of glass."""
    copies = [glass for glass in ("glass", sources.WITH_ID) if glass in plan.data] or ["glass"]
    for sampling, glass, method in product(plan.samplings, copies, plan.methods):
        sets = [glass if name == "glass" else name for name in sources.UCI]
        sets += [name for name in plan.data if name not in (*sources.UCI, sources.WITH_ID)]
        sets = [name for name in sets if name in plan.data]
        settings = {"sampling": sampling, "deviation": 0, "data": sets}
        settings |= {"fraction": list(plan.fractions), "accuracy": list(plan.accuracies)}
        rows = rows_of(cells, method, **settings)
        for table, column, chosen, published in _columns(method, sets, glass, plan):
            if table == 1 and glass != copies[0] and column not in (glass, MEAN_WITH_ID):
                continue  # it is in the table already
            kept = rows_of(rows, method, **chosen)
            done = kept.groupby(["data", "fraction", "accuracy"]).ngroups
            # a mean over what happens to be done compares with nothing
            if done == _expected(method, sets, plan, chosen):
                # the paper drew ordered pairs, at these r and p
                same_r = table > 2 or set(plan.fractions) == set(FRACTIONS)
                same_p = table > 1 or set(plan.accuracies) == set(ACCURACIES)
                same = sampling == ORDERED and same_r and same_p
                key = {"table": table, "sampling": sampling, "glass": glass, "method": method}
                yield {**key, "column": column, **_entry(kept, published if same else np.nan)}


def _expected(method: str, sets: list[str], plan: Plan, chosen: dict[str, Any]) -> int:
    """How many settings, trials aside, an entry is the mean of."""
    parts: list[Any] = [chosen.get("data", sets)]
    if EVERY_METHOD[method].uses_answers:
        parts += [() if "fraction" in chosen else plan.fractions]
        parts += [() if "accuracy" in chosen else plan.accuracies]
    return prod(max(len(part), 1) for part in parts)


def _columns(
    method: str, sets: list[str], glass: str, plan: Plan
) -> Iterator[tuple[int, str, dict[str, Any], float]]:
    """Table, column, which cells, and the paper's entry, whose glass has the id."""
    leaky, row = glass == sources.WITH_ID, EVERY_METHOD[method].paper
    for name in sets:
        published = TABLE_1.get((row, name.removesuffix("_with_id")), np.nan)
        yield 1, name, {"data": [name]}, np.nan if name == "glass" else published
    # a mean over other sets compares with nothing
    row = row if {*sets} == {*sources.UCI} - {"glass"} | {glass} else ""
    mean = TABLE_1.get((row, MEAN_WITH_ID), np.nan) if leaky else np.nan
    yield 1, MEAN_WITH_ID if leaky else MEAN, {}, mean
    for p in plan.accuracies:
        published = TABLE_2.get((row, p), np.nan) if leaky else np.nan
        yield 2, f"p = {p:g}", {"accuracy": p}, published
    for r, p in product(plan.fractions, plan.accuracies):
        published = TABLE_3.get(r, {}).get((row, p), np.nan) if leaky else np.nan
        yield 3, f"r = {r:g}, p = {p:g}", {"fraction": r, "accuracy": p}, published


def _table_4(cells: pd.DataFrame, plan: Plan) -> Iterator[dict[str, Any]]:
    settings = {"sampling": ORDERED, "fraction": TABLE_4_FRACTION, "accuracy": 1.0}
    for (name, method), items in product(COUNT_METHODS.items(), plan.counts):
        rows = rows_of(cells, name, data=items, **settings)
        if len(rows):
            # the generated set stands in for the paper's
            published = (
                TABLE_4[method.paper, method.model] if items == sources.COUNTS[0] else np.nan
            )
            key = {"table": 4, "sampling": ORDERED, "glass": "", "method": name, "column": items}
            yield {**key, **_entry(rows, published)}


CAPTIONS = {
    1: "Table 1: mean pairwise F by data set, over all r and p",
    2: "Table 2: mean pairwise F by p, over all r and the data sets",
    3: "Table 3: mean pairwise F by r and p, over the data sets",
    4: "Table 4: mean pairwise F on counts",
}
DRAWN = {
    ORDERED: "Ordered pairs: r of the n^2 drawn, as by the authors, about 2 r of the pairs",
    UNORDERED: "Unordered pairs: r of the n (n - 1) / 2 answered",
}
GLASS = {
    "glass": "glass without its row id",
    sources.WITH_ID: "glass with its row id, as in the paper",
}
FIGURES = {
    2: f"Figure 2: answers to r = {SHAPE_FRACTION:g} of the ordered pairs, all right",
    3: f"Figure 3: told k - deviation, answers to r = {DEVIATION_FRACTION:g}, all right",
    4: "Figure 4: multinomial clusters of counts, by r in % of the ordered pairs, answers right",
}
COUNTED = f"Answers to r = {TABLE_4_FRACTION:g} of the ordered pairs; the paper's r is not said"
HEAD = """# TVClust's tables, measured

Mean pairwise F; in brackets what the paper prints, where its data are ours. Seed {seed}, {trials}
draws of answers. [k]: told the true number of classes, as in the paper. Labels are used for nothing
else but to simulate answers and to score. The paper's glass had among its features the number of
the row, by which its classes are sorted: a leak.
"""


def report(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """The tables in Markdown: our mean F, and in brackets the paper's."""
    yield HEAD.format(seed=plan.seed, trials=plan.trials)
    if len(entries):
        yield from _tables_in_markdown(entries, plan)
    drawn: dict[int, Callable[..., pd.DataFrame]] = {
        2: _on_shapes,
        3: _told_wrong,
        4: _more_answers,
    }
    for number in plan.figures:
        yield from _curves_in_markdown(FIGURES[number], drawn[number](cells, plan))


def _tables_in_markdown(entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """Tables 1 to 4, one for each way of drawing pairs and copy of glass."""
    # both copies of glass are columns of Table 1
    copy = entries.glass.where(entries.table != 1, "")
    for _, rows in entries.groupby([entries.table, entries.sampling, copy], sort=False):
        table, sampling, glass = (rows[name].iloc[0] for name in ("table", "sampling", "glass"))
        setting = {1: DRAWN[sampling], 4: COUNTED}.get(
            table, f"{DRAWN[sampling]}; {GLASS.get(glass)}"
        )
        yield f"## {CAPTIONS[table]}\n\n{setting}.\n"
        parts = rows.column.str.partition(", ")
        if table == 3:
            for fraction, block in rows.assign(column=parts[2]).groupby(parts[0], sort=False):
                yield from (f"{fraction}:", "", *_markdown(block, plan))
        else:
            yield from _markdown(rows, plan)


def _curves_in_markdown(caption: str, curves: pd.DataFrame) -> Iterator[str]:
    """What a figure shows as a table of mean F, panel by panel; a level line has one mean."""
    if curves.empty:
        return
    yield f"## {caption}\n"
    for panel, rows in curves.groupby("panel", sort=False):
        columns = sorted(rows.x.dropna().unique())
        lines = []
        for line, own in rows.groupby("line", sort=False):
            level = own["mean"].iloc[0] if own.x.isna().all() else np.nan
            if np.isnan(level) and len(own) == 1:
                continue  # one point shows no course
            means = own.set_index("x")["mean"].reindex(columns).fillna(level)
            lines.append([str(line), *map(frame.decimal, means)])
        heads = [x.replace("_", " ") if isinstance(x, str) else f"{x:g}" for x in columns]
        yield from frame.in_markdown([str(panel), *heads], lines)


def _markdown(rows: pd.DataFrame, plan: Plan) -> Iterator[str]:
    columns = list(dict.fromkeys(rows.column))
    others = {"rand": "mean adjusted Rand", "nmi": "mean NMI"} if (rows.table == 1).all() else {}
    lines = []
    for name, mine in rows.groupby("method", sort=False):
        entries = mine.set_index("column")[["f", "paper_f"]].reindex(columns)
        texts = [
            frame.decimal(f) + ("" if np.isnan(published) else f" ({published:.2f})")
            for f, published in entries.itertuples(index=False)
        ]
        means = mine[mine.column.isin([MEAN, MEAN_WITH_ID])]  # the first: without the id
        texts += [frame.decimal(means[score].iloc[0] if len(means) else np.nan) for score in others]
        title, least = EVERY_METHOD[str(name)].name, int(mine.trials.min())
        lines.append(
            [title + (f" ({counted(least, 'draw')})" if least < plan.trials else ""), *texts]
        )
    heads = (*columns, *others.values())
    yield from frame.in_markdown(["", *(head.replace("_", " ") for head in heads)], lines)


def draw(
    cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan
) -> dict[str, Callable[[], Figure | None]]:
    """Figures 2 to 4, as far as they are asked for."""
    trials = f"mean of {counted(plan.trials, 'draw')}"
    made: dict[int, Callable[[], Figure | None]] = {
        2: lambda: shapes(cells, plan),
        3: lambda: figures.curves(
            _told_wrong(cells, plan),
            f"{FIGURES[3].partition(': ')[2].capitalize()}; {trials}",
            "deviation",
            across=5,
            ticks=plan.deviations,
            limits=(0, 1.03),
        ),
        4: lambda: figures.curves(
            _more_answers(cells, plan),
            f"Multinomial clusters of counts, answers right; {trials}",
            "r, % of the ordered pairs",
            ticks=[100 * r for r in plan.rates],
            log="x",
            limits=(0, 1.03),
        ),
    }
    return {f"figure{number}": made[number] for number in plan.figures}


def _table(rows: Iterable[Any], line: str = "line") -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["panel", line, "x", "mean"]).assign(error=np.nan)


def _on_shapes(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    done = [(name, rows_of(cells, name, deviation=0)) for name in plan.methods]
    means = [(name, rows.groupby("data").f.mean()) for name, rows in done]
    return _table(
        ("", METHODS[name].name, shape, of_data[shape])
        for (name, of_data), shape in product(means, plan.shapes)
        if shape in of_data
    )


def _told_wrong(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    settings = {"sampling": ORDERED, "fraction": DEVIATION_FRACTION, "accuracy": 1.0}
    rows: list[Any] = []
    for items, name in product(plan.data, plan.methods):
        f = rows_of(cells, name, data=items, **settings).groupby("deviation").f.mean()
        level = not METHODS[name].told
        if items != sources.WITH_ID:
            panel = f"{items}, k = {sources.classes(items)}"
            rows += [(panel, METHODS[name].name, np.nan if level else x, v) for x, v in f.items()]
    return _table(rows)


def _more_answers(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    rows: list[Any] = []
    settings = {"sampling": ORDERED, "accuracy": 1.0, "fraction": list(plan.rates)}
    for items, (name, method) in product(plan.counts, COUNT_METHODS.items()):
        if method.model == "multinomial":
            f = rows_of(cells, name, data=items, **settings).groupby("fraction").f.mean()
            for x, mean in f.items():
                x = 100 * float(str(x)) if method.uses_answers else np.nan
                rows.append((items.replace("_", " "), method.name, x, mean))
    # the generated set stands in for the paper's
    words, theirs = sources.COUNTS[0].replace("_", " "), TABLE_4["RDP-means", "multinomial"]
    if any(row[0] == words for row in rows):
        rows.append((words, "RDP-means in the paper's Table 4", np.nan, theirs))
    return _table(rows)


def shapes(cells: pd.DataFrame, plan: Plan) -> Figure | None:
    """Figure 2: the best of the trials of each method on each shape, as the paper shows it."""
    import matplotlib.pyplot as plt

    done = {
        name: rows_of(cells, name, data=list(plan.shapes), deviation=0) for name in plan.methods
    }
    methods = [name for name, rows in done.items() if len(rows)]
    if not methods:
        return None
    size = (1.25 * (len(methods) + 1), 1.25 * len(plan.shapes) + 1.1)
    shape: Any = {"figsize": size, "layout": "constrained", "squeeze": False}
    figure, panels = plt.subplots(len(plan.shapes), len(methods) + 1, **shape)
    for across, name in zip(panels, plan.shapes, strict=True):
        items = sources.load(name)
        figures.points(across[0], items.X, items.y)
        across[0].set_ylabel(name.replace("_", " "), fontsize=8)
        for ax, method in zip(across[1:], methods, strict=True):
            rows = done[method][done[method].data == name]
            if rows.empty:
                ax.set_axis_off()
                continue
            best = rows.nlargest(1, "f").iloc[0]
            labels = np.array(str(best.labels).split(), dtype=np.int64)
            figures.points(ax, items.X, figures.in_colours_of(labels, items.y))
            ax.set_xlabel(f"F {best.f:.2f} (mean {rows.f.mean():.2f})", fontsize=7, labelpad=2)
    for ax, text in zip(
        panels[0], ["classes", *(METHODS[name].name for name in methods)], strict=True
    ):
        ax.set_title(text.replace(", ", ",\n"), fontsize=7)
    figure.suptitle(
        f"Answers to r = {SHAPE_FRACTION:g} of the ordered pairs, all right: the best of "
        f"{counted(plan.trials, 'run')} by pairwise F, as in the paper",
        fontsize=10,
    )
    return figure
