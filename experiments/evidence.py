"""What labels, crowds, scores, records and wide tables tell. No paper's, but as theirs are.

Labels: 5% of the items labelled by three annotators; the share of all items that TVClust classifies
rightly, beside label spreading and self-training after a vote, and whether annotators are ranked
rightly. Crowd: 40 workers with five answers each, learned one by one and pooled. Graded: scores of
pairs beside the same cut to yes and no. Batches: items of four sites whose clusters are alike and
whose weights differ, and a fifth that is added. Records: registers of people as in notebook 11,
beside thresholds of the mean score that the truth chooses. Tables: wide and mixed ones, and two
annotators, with defaults, beside methods told the number of classes. Each part has its own number
of draws.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import logit

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments import baselines, frame, sources
from experiments.frame import counted, decimal, option

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORT = {"num_chains": 2, "num_warmup": 300, "num_samples": 200}
SINGLE: dict[str, Any] = {"cluster_model": "single", **SHORT}
LABELLED, ERRORS, MOST_ITEMS = 0.05, (0.05, 0.2, 0.4), 1000
WORKERS, EACH = 40, 5
CROWDS = {"unlike": ((8.0, 2.0), 2.0), "alike": (None, 2.0), "unlike, apart": ((8.0, 2.0), 3.0)}
"""Annotators, answers of each; the Beta that p and q come from (alike, all are .8), and how many
standard deviations the clusters are apart."""
SCORES_OF = {
    "too sure": (0.5, 1.0, 300),
    "right": (1.0, 0.0, 300),
    "too sure, few": (0.5, 1.0, 150),
}
"""Log odds of scores: the right ones over a number, plus another; and how many there are."""
SITES, EVEN, ANGLES, COMPONENTS = 4, 0.3, (-15, -5, 5, 15), 8
"""Batches, the Dirichlet that their weights come from, degrees by which digits are turned."""
MOST_IMAGES, ANNOTATED, CARELESS = 5000, 600, (0.05, 0.3)
IMAGES, TWO, TWO_MORE = "mnist10k.npz", "digits, two annotators", "breast_cancer, two more columns"
"""Images and 5 answers each; answers of two annotators, and their shares of wrong ones."""
KEYS = ("first", "last"), ("first", "born"), ("last", "year"), ("born", "town")
THRESHOLDS = np.linspace(0.4, 0.98, 59)


class Method(NamedTuple):
    """What is fitted in one part; `way` is what that part knows it by."""

    title: str
    about: str
    way: Any = None


VOTES = {"majority": "a majority vote", "ds": "Dawid-Skene votes"}
CLASSIFIERS = {
    "spreading-knn": "LabelSpreading, 7 neighbours",
    "spreading-rbf": "LabelSpreading, rbf",
    "training-logistic": "self-training, logistic",
    "training-svc": "self-training, SVC",
}
RIVALS = {
    f"{name}-{vote}": Method(title, f"after {text}", (name, vote))
    for name, title in CLASSIFIERS.items()
    for vote, text in VOTES.items()
}
PRIORS = {
    f"{way}-{name}": Method(f"{title}, Beta({a:g}, {b:g})", text, ((a, b), way == "pooled"))
    for way, title, text in (
        ("alone", "one by one", "p and q of each worker"),
        ("pooled", "pooled", "workers are a sample of a crowd, whose mean has the prior"),
    )
    for name, (a, b) in {"flat": (1.0, 1.0), "default": bc.LinkNoise().p}.items()
}
METHODS: dict[str, Method] = {
    "auto": Method("TVClust", "cluster_model='auto', labels as evidence"),
    **RIVALS,
    **PRIORS,
    "graded": Method("scores", "what they are worth is learned"),
    "cut": Method("cut at .5", "the same answers as yes and no"),
    "batches": Method("batches", "HierarchicalDirichletProcess"),
    "ignored": Method("batches ignored", "the default prior"),
    "extended": Method("a batch added", "extend"),
    "whole": Method("all batches at once", "fit"),
    "links": Method("CandidateLinks", "no threshold"),
    "components": Method("connected components", "at the best threshold"),
    "linkage": Method("average linkage", "at the best threshold"),
    "default": Method("TVClust, defaults", "told nothing"),
    "dcrc": Method("DCRC", "told the number of classes", bc.DCRC),
    "mpck": Method("MPCK-Means", "told the number of classes", bc.MPCKMeans),
}


class Cell(NamedTuple):
    """One fit of a part."""

    seed: int
    part: str
    method: str
    data: str
    trial: int


SCORES = {
    **dict.fromkeys(("right", "ranked", "f", "rand", "error", "trusted"), "float"),
    **dict.fromkeys(("clusters", "memory_mb"), "int"),
    "took": "str",
    **dict.fromkeys(("seconds", "cpu_seconds"), "float"),
}


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell; what its part does not have is NaN, 0 or nothing.

    Seconds are those of the method, memory the most that the process has had so far.
    """
    row: dict[str, Any] = {
        name: {"float": np.nan, "int": 0, "str": ""}[kind] for name, kind in SCORES.items()
    }
    row |= PARTS[cell.part].run(cell)
    row["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return row


def drawn(cell: Cell) -> np.random.Generator:
    """The same draw for all methods of a part."""
    return np.random.default_rng([cell.seed, cell.trial, sources.code(cell.data)])


def fitted(cell: Cell, X: Any, constraints: Any, **settings: Any) -> tuple[bc.TVClust, Any]:
    """A fit of TVClust, and what it took."""
    est = bc.TVClust(progress=False, random_state=cell.seed + cell.trial, **settings)
    with frame.Timed() as timed:
        warnings.simplefilter("ignore", bc.posterior.DiagnosisWarning)  # `trusted` says it
        est.fit(X, constraints=constraints)
    if est.posterior_.attrs.get("interrupted"):
        raise KeyboardInterrupt
    return est, timed


def scored_labels(labels: IntArray, y: IntArray, timed: Any) -> dict[str, Any]:
    """What every part says of a partition."""
    return {
        "f": bc.metrics.pairwise_f(labels, y),
        "clusters": len(np.unique(labels)),
        "seconds": timed.seconds,
        "cpu_seconds": timed.cpu_seconds,
    }


def scored(est: bc.TVClust, y: IntArray, timed: Any) -> dict[str, Any]:
    """What every part says of a fit."""
    other = "" if est.family_ == est.family else f", {est.family_}"
    more = {"took": est.cluster_model_ + other, "trusted": float(bc.diagnose(est).ok)}
    return scored_labels(est.labels_, y, timed) | more


def _labels(cell: Cell) -> dict[str, Any]:
    """Columns standardized; `ranked`: whether the accuracies are in the order of the annotators."""
    items, rng = sources.load_at_most(cell.data, MOST_ITEMS), drawn(cell)
    X, y = sources.standardized(items.X), items.y
    labels = bc.LabelConstraints.sample(
        y, fraction=LABELLED, n_sources=3, per_item=3, error_rate=ERRORS, seed=rng
    )
    if cell.method == "auto":
        est, timed = fitted(cell, X, labels, cluster_model="auto", **SHORT)
        found = est.predict_label_proba().to_numpy().argmax(axis=1)
        table = bc.source_reliability(est)
        accuracy = table[table.parameter == "accuracy"].sort_values("source")["mean"].to_numpy()
        row = scored(est, y, timed)
    else:
        name, vote = METHODS[cell.method].way
        with frame.Timed() as timed:
            some, votes, accuracy = baselines.voted(labels, vote, rng)
            found = baselines.classified(name, X, some, votes, cell.seed + cell.trial)
        row = {"seconds": timed.seconds, "cpu_seconds": timed.cpu_seconds}
    ranked = float((np.diff(accuracy) < 0).all()) if len(accuracy) else np.nan
    return {**row, "right": float((found == y).mean()), "ranked": ranked}


def _crowd(cell: Cell) -> dict[str, Any]:
    """Three clusters that overlap; `error` is the root mean square one of p and q."""
    rng, y = drawn(cell), np.repeat([0, 1, 2], 20)
    beta, apart = CROWDS[cell.data]
    X = rng.normal(size=(60, 2)) + apart * np.array([[0, 0], [1, 0], [0.5, 0.87]])[y]
    rates = rng.beta(*beta, size=(2, WORKERS)) if beta else np.full((2, WORKERS), 0.8)
    pairs = np.array([rng.choice(60, 2, replace=False) for _ in range(WORKERS * EACH)])
    who, together = np.repeat(np.arange(WORKERS), EACH), y[pairs[:, 0]] == y[pairs[:, 1]]
    right = rng.random(len(pairs)) < np.where(together, rates[0][who], rates[1][who])
    mean, pooled = METHODS[cell.method].way
    noise = bc.LinkNoise(p=mean, q=mean, pooled=pooled)
    asked = bc.PairwiseConstraints(pairs, together == right, 60, source=who, noise=noise)
    est, timed = fitted(cell, X, asked, **SINGLE)
    table = bc.source_reliability(est)
    found = np.stack([table[table.parameter == name]["mean"] for name in ("p", "q")])
    return {**scored(est, y, timed), "error": float(np.sqrt(np.square(found - rates).mean()))}


def _graded(cell: Cell) -> dict[str, Any]:
    """Three clusters that overlap; `error` is the mean distance of probabilities from shares.

    By grade; of scores those learned, of answers cut to yes and no the scores as they were given.
    """
    slope, shift, number = SCORES_OF[cell.data]
    rng, y = drawn(cell), np.arange(60) % 3
    pairs = np.array([rng.choice(60, 2, replace=False) for _ in range(number)])
    together = y[pairs[:, 0]] == y[pairs[:, 1]]
    # evidence is normal, with means a distance of 2 apart, and a third of the pairs are together
    right = 2 * rng.normal(np.where(together, 1.0, -1.0)) + logit(1 / 3)
    scores = 1 / (1 + np.exp(-(right / slope + shift)))
    X = rng.normal(size=(60, 2)) + 1.5 * np.eye(3)[y][:, :2]
    graded = bc.PairwiseConstraints.from_scores(pairs, scores, 60)
    asked = graded if cell.method == "graded" else graded.cut()
    est, timed = fitted(cell, X, asked, **SINGLE)
    if cell.method == "graded":
        scores = bc.source_reliability(est)["mean"].to_numpy()[graded.answers]
    both = pd.DataFrame({"p": scores, "together": together}).groupby(graded.answers)
    gaps = (both["p"].mean() - both["together"].mean()).abs()
    return {**scored(est, y, timed), "error": float(np.average(gaps, weights=both.size()))}


def _batches(cell: Cell) -> dict[str, Any]:
    """Weights of clusters in batches are Dirichlet; of a batch that is added, its cost alone."""
    rng = drawn(cell)
    given: dict[str, Any] = {"family": "gaussian_spherical", **SINGLE}
    links = None
    if cell.data == "digits, turned":
        X, y, site = _turned(rng)
        links = bc.PairwiseConstraints.sample(y, size=len(y) // 2, error_rate=0.1, seed=rng)
        given["family"] = "gaussian_diagonal"
    else:
        sites, size = (SITES, 80) if cell.data == "simulated" else (SITES + 1, 100)
        site = np.repeat(np.arange(sites), size)
        shares = rng.dirichlet(np.full(4, EVEN), sites)
        y = np.concatenate([rng.choice(4, size, p=share) for share in shares])
        X = 1.5 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[y] + rng.normal(size=(len(y), 2))
    if cell.method != "ignored":
        given["partition_prior"] = bc.partition_priors.HierarchicalDirichletProcess(X.shape[1])
        X = np.column_stack([X, site])
    if cell.method in ("extended", "whole"):
        given = {name: value for name, value in given.items() if name not in SHORT}
    first = site < SITES if cell.method == "extended" else np.full(len(y), True)
    est, timed = fitted(cell, X[first], links, **given)
    if cell.method == "extended":
        with frame.Timed() as timed:
            est.extend(X[~first])
    return scored(est, y, timed)


def _turned(rng: np.random.Generator) -> tuple[FloatArray, IntArray, IntArray]:
    """Some 400 digits, in each batch turned by another angle, as principal components."""
    from scipy.ndimage import rotate
    from sklearn.decomposition import PCA

    digits = sources.load("digits")
    left, chosen = rng.permutation(len(digits.y)), []
    for share in rng.dirichlet(np.full(10, EVEN), SITES):
        wanted = rng.multinomial(100, share)
        some = [left[digits.y[left] == k][:number] for k, number in enumerate(wanted)]
        chosen.append(np.concatenate(some))
        left = np.setdiff1d(left, chosen[-1], assume_unique=True)
    images = [
        rotate(digits.X[some].reshape(-1, 8, 8), angle, axes=(1, 2), reshape=False, order=1)
        for some, angle in zip(chosen, ANGLES, strict=True)
    ]
    X = PCA(COMPONENTS, random_state=0).fit_transform(np.concatenate(images).reshape(-1, 64))
    return X, digits.y[np.concatenate(chosen)], np.repeat(np.arange(SITES), list(map(len, chosen)))


@cache
def register(n: int, words: tuple[int, ...]) -> tuple[IntArray, IntArray, FloatArray]:
    """Who each record is of, candidate pairs, and how alike these are in each column."""
    people, who = bc.datasets.make_register(n, seed=np.random.default_rng(words))
    keyed, found = people.assign(year=people.born.str[:4]), set()
    for key in KEYS:
        for _, block in keyed.dropna(subset=list(key)).groupby(list(key)):
            found.update(combinations(block.index, 2))
    pairs, cells = np.array(sorted(found)), people.to_numpy()
    alike = [
        [
            SequenceMatcher(None, a, b).ratio() if a and b else np.nan
            for a, b in zip(*two, strict=True)
        ]
        for two in cells[pairs]
    ]
    return who, pairs, np.array(alike)


def _records(cell: Cell) -> dict[str, Any]:
    """Each column is a source; thresholds are of the mean score."""
    n = int(cell.data.split()[0])
    who, pairs, alike = register(n, (cell.seed, cell.trial, n))
    if cell.method == "links":
        rows, column = np.nonzero(~np.isnan(alike))
        asked = bc.PairwiseConstraints.from_scores(
            pairs[rows], alike[rows, column], n_items=n, source=column
        )
        est, timed = fitted(
            cell, None, asked, partition_prior=bc.partition_priors.CandidateLinks(pairs, n_items=n)
        )
        return scored(est, who, timed)
    mean = np.nanmean(alike, axis=1)
    way = components if cell.method == "components" else linkage
    with frame.Timed() as timed:
        partitions = way(n, pairs, mean)
    best = max(partitions, key=lambda labels: bc.metrics.pairwise_f(labels, who))
    return scored_labels(best, who, timed)


def components(n: int, pairs: IntArray, mean: FloatArray) -> list[IntArray]:
    """What pairs above each threshold connect."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    kept = (pairs[mean >= threshold] for threshold in THRESHOLDS)
    return [
        connected_components(coo_array((np.ones(len(some)), some.T), (n, n)), directed=False)[1]
        for some in kept
    ]


def linkage(n: int, pairs: IntArray, mean: FloatArray) -> list[IntArray]:
    """Average linkage cut at each threshold; pairs that are no candidates are not alike at all."""
    from scipy.cluster.hierarchy import fcluster
    from scipy.cluster.hierarchy import linkage as tree_of

    i, j = pairs.T  # in order
    apart = np.ones(n * (n - 1) // 2)
    apart[i * (2 * n - i - 1) // 2 + j - i - 1] = 1 - mean
    tree = tree_of(apart, "average")
    return [fcluster(tree, 1 - threshold, "distance") for threshold in THRESHOLDS]


def _tables(cell: Cell) -> dict[str, Any]:
    """`ranked`: whether the better of two annotators has the higher p and q."""
    items = sources.load_at_most(cell.data.partition(",")[0], MOST_IMAGES)
    rng, X, y = drawn(cell), items.X, items.y
    if cell.data == TWO_MORE:
        # one that says yes or no and one that counts; both tell something of the classes
        X = np.column_stack([X, rng.random(len(y)) < 0.3 + 0.4 * y, rng.poisson(2.0 + 2.0 * y)])
        links = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.1, seed=rng)
    elif cell.data == TWO:
        links = bc.PairwiseConstraints.sample(
            y, size=ANNOTATED, error_rate=CARELESS, n_sources=2, seed=rng
        )
    else:
        links = bc.PairwiseConstraints.sample(y, size=5 * len(y), error_rate=0.1, seed=rng)
    if cell.method == "default":
        est, timed = fitted(cell, X, links)
        row = scored(est, y, timed)
        if cell.data == TWO:
            table = bc.source_reliability(est).set_index(["parameter", "source"])["mean"].unstack()
            row["ranked"] = float((table.loc[["p", "q"]].diff(axis=1).iloc[:, 1] < 0).all())
    else:
        est = METHODS[cell.method].way(
            n_clusters=len(items.target_names), random_state=cell.seed + cell.trial
        )
        with frame.Timed() as timed:
            est.fit(sources.standardized(X), constraints=links)
        row = scored_labels(est.labels_, y, timed)
    return {**row, "rand": bc.metrics.adjusted_rand(est.labels_, y)}


class Part(NamedTuple):
    """A part: how a cell is run, the scores that its table shows, and draws, methods and data."""

    run: Callable[[Cell], dict[str, Any]]
    shown: tuple[str, ...]
    cases: tuple[tuple[int, tuple[str, ...], tuple[str, ...]], ...]


LABELS = (
    *("iris", "wine", "ecoli", "glass", "texture", "breast_cancer", "ionosphere", "heart"),
    *("pima", "digits389", "satimage"),
)
REGISTERS, COST = ("1000 records", "10000 records"), ("clusters", "trusted", "cpu_seconds")
PARTS = {
    # first, since memory is the most so far
    "records": Part(
        _records,
        ("f", *COST, "memory_mb"),
        ((3, ("links",), REGISTERS), (3, ("components", "linkage"), REGISTERS)),
    ),
    "labels": Part(
        _labels, ("right", "ranked", "trusted", "cpu_seconds"), ((3, ("auto", *RIVALS), LABELS),)
    ),
    "crowd": Part(_crowd, ("error", "f"), ((10, tuple(PRIORS), tuple(CROWDS)),)),
    "graded": Part(_graded, ("error", "f"), ((10, ("graded", "cut"), tuple(SCORES_OF)),)),
    "batches": Part(
        _batches,
        ("f", *COST),
        (
            (16, ("batches", "ignored"), ("simulated",)),
            (10, ("batches", "ignored"), ("digits, turned",)),
            (3, ("extended", "whole"), ("simulated, a fifth",)),
        ),
    ),
    "tables": Part(
        _tables,
        ("rand", "f", "ranked", *COST),
        (
            (5, ("default", "mpck", "dcrc"), (TWO, TWO_MORE)),
            (2, ("default", "mpck", "dcrc"), (IMAGES,)),
        ),
    ),
}


def here(data: str) -> bool:
    """Whether data of a part can be had: a file has to lie where the command is run."""
    return not data.endswith(".npz") or Path(data).is_file()


@dataclass(frozen=True, kw_only=True)
class Plan(frame.Plan):
    """What is to be run and shown."""

    parts: tuple[str, ...] = option(tuple(PARTS), "what to measure", among=PARTS)
    methods: tuple[str, ...] = option(tuple(METHODS), "methods to compare", among=METHODS)
    data: tuple[str, ...] = option((), "only these data sets or cases")
    trials: int = option(100, "draws, of each part its own number at most", least=1)

    QUICK = {  # noqa: RUF012
        "data": ("iris", "unlike", "too sure", "simulated", "1000 records"),
        "trials": 1,
    }

    def check(self) -> None:
        """Also the names of data."""
        super().check()
        known = {name for part in PARTS.values() for *_, names in part.cases for name in names}
        for name in self.data:
            if name not in known:
                raise ValueError(f"data has {name!r}: choose from {', '.join(sorted(known))}.")

    def wanted(self) -> Iterator[Cell]:
        """Those whose data can be had."""
        return (cell for cell in self.cases() if here(cell.data))

    def cases(self) -> Iterator[Cell]:
        """Part by part, set by set."""
        for name, part in PARTS.items():
            for draws, methods, sets in part.cases if name in self.parts else ():
                some = [own for own in sets if own in (self.data or sets)]
                who = [own for own in methods if own in self.methods]
                for data, method, trial in product(some, who, range(min(self.trials, draws))):
                    yield Cell(self.seed, name, method, data, trial)


def tables(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Means over draws of the scores that a part shows, with half their 95% intervals."""
    rows = []
    order = dict.fromkeys(cell[1:-1] for cell in plan.cases())
    groups = dict(iter(cells.groupby(["part", "method", "data"], sort=False)))
    for part, method, data in order:
        block = groups.get((part, method, data))
        for score in PARTS[part].shown if block is not None else ():
            values = block[score].dropna()
            if len(values):
                width = float(frame.half_width(values.std(), len(values)))
                rows.append((part, method, data, score, values.mean(), width, len(values)))
    return pd.DataFrame(rows, columns=["part", "method", "data", "score", "mean", "error", "draws"])


HEAD = """# Evidence beside links, measured

Means ± half their 95% intervals over draws; seed {seed}.
"""
WORDS = {
    "right": "share rightly classified",
    "ranked": "annotators ranked rightly",
    "f": "pairwise F",
    "rand": "adjusted Rand",
    "error": "error",
    "clusters": "clusters",
    "trusted": "share trusted",
    "cpu_seconds": "processor seconds",
    "memory_mb": "MB of the process so far",
}


def report(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """A table for each part, and of labels one of all methods by data set."""
    yield HEAD.format(seed=plan.seed)
    for name, mine in entries.groupby("part", sort=False):
        yield f"## {str(name).capitalize()}: {frame.span(mine.draws, 'draw')}\n"
        scores = list(PARTS[str(name)].shown)
        if name == "labels":
            yield from _by_set(mine, cells)
            means = mine.groupby(["method", "score"], sort=False)["mean"].mean()
            texts, first = means.map(decimal).unstack(), ["means over sets"]
        else:
            both = [decimal(row["mean"], 3, row.error) for _, row in mine.iterrows()]
            index = ["data", "method", "score"]
            texts, first = mine.assign(text=both).set_index(index).text.unstack(), index[:2]
        texts = texts.reindex(columns=scores, fill_value="").fillna("")
        rows = []
        for key in mine.set_index(list(texts.index.names)).index.unique():
            *data, method = key if isinstance(key, tuple) else (key,)
            rows.append([*data, _title(method), *texts.loc[key]])
        yield from frame.in_markdown([*first, *(WORDS[score] for score in scores)], rows)


def _title(method: str) -> str:
    known = METHODS[method]
    return f"{known.title}, {known.about}" if method in RIVALS else known.title


def _by_set(entries: pd.DataFrame, cells: pd.DataFrame) -> Iterator[str]:
    """Shares rightly classified, a line for each set; how often TVClust is above all others."""
    wide = entries[entries.score == "right"].pivot_table("mean", "data", "method", sort=False)
    ours = cells[cells.method == "auto"].groupby("data").took.agg("; ".join).str.replace("_", " ")
    texts = {str(name): [ours.get(name, ""), *map(decimal, row)] for name, row in wide.iterrows()}
    rows = [[sources.title(name), *row] for name, row in texts.items()]
    rows.append(["mean", "", *map(decimal, wide.mean())])
    yield from frame.in_markdown(["share rightly classified", "took", *map(_title, wide)], rows)
    others = [name for name in wide if name in RIVALS]
    if "auto" in wide and others:
        above = counted(int((wide["auto"] > wide[others].max(axis=1)).sum()), "set")
        yield f"TVClust is above all others on {above} of {len(wide)}.\n"


def draw(
    cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan
) -> dict[str, Callable[[], Figure | None]]:
    """No figure: each part is a few numbers."""
    return {}
