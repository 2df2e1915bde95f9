"""Incremental constrained clustering by minimal modification (IAC), as in its slides.

Alpha (anchors) and beta (super-instances) over sixteen data sets, every two settings compared by
the Bayesian signed-rank test. Figure 6: seconds by number and kind of constraints, on letters and
MNIST. Table 2: soft constraints on mk2, beside PCK-Means and MPCK-Means. Figure 7: ten rounds of
select and modify on glass, by modification and by clustering anew. The image: its tree cuts, 637 of
243,988 pixels, with 179 answers, of a generated one. MNIST, mk2 and six other sets come with no
package: name folders with files such as lsun.csv (a line of names, the class in the last column) or
mnist.npz (X, y); what is not there is left out. Needs OR-tools, which bayesclust's extra 'solver'
installs.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments import figures, frame, sources
from experiments.baselines import cop_k_means
from experiments.frame import counted, decimal, option
from experiments.signed_rank import bayesian_signed_rank

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIMIT = 600.0
"""Seconds of wall-clock time for the search of one modification; an idle machine needs a few."""
LARGE, IMAGES = 5000, 784
"""Items from which k-means has one start, not ten; columns from which they are pixels."""
ROUNDS, SURE, WRONG, MEMBERS = 10, 0.95, 0.05, 3
"""Rounds; when one setting is clearly better; share of wrong answers; items of a span."""
MEASURES = {
    "ari": bc.metrics.adjusted_rand,
    "ami": bc.metrics.ami,
    "fmi": bc.metrics.fmi,
}
AREAS = tuple(f"{side}_{measure}" for side in ("quality", "similarity") for measure in MEASURES)
CASES = {"conflicts": 0.95, "wrong": 0.95, "relaxed": 0.94}
"""By name, delta, the share of the answers that the modification must satisfy."""
DATA = (
    *("iris", "wine", "sonar", "glass", "ecoli", "ionosphere", "yeast", "segment"),
    *("lsun", "target", "atom", "chainlink", "wingnut", "engytime", "letter", "mnist"),
)
"""Of the slides' Table 1; segment is statlog there."""
TIMED, CONFLICTING, GLASS, PARAMETERS = ("letter", "mnist"), "mk2", "glass", "random"
IMAGE, EXPERT = "tree_cut", 179
"""The image, and how many answers the slides' expert gave."""
FILES = {"mnist": ("mnist", "mnist10k"), "segment": ("segment", "statlog")}
"""What files of a set may be called, without their ending, where not as the set."""
ALPHAS, BETAS = (0, 5, 20), (10, 30, 50, 100)
"""Anchors and super-instances in percent of a cluster's items: the grid of the slides."""

# what the slides print
WINS = {
    "iac-0-10": ((9, 1), (10, 1), (9, 1), (0, 0), (0, 0), (0, 0)),
    "iac-0-30": ((2, 0), (1, 0), (1, 0), (3, 1), (2, 0), (1, 1)),
    "iac-0-50": ((0, 0), (0, 0), (0, 0), (6, 3), (6, 2), (4, 2)),
    "iac-0-100": ((0, 0), (4, 1), (3, 0), (9, 9), (9, 9), (9, 9)),
    "iac-5-10": ((10, 3), (10, 3), (10, 3), (1, 0), (1, 0), (1, 0)),
    "iac-5-30": ((7, 3), (5, 3), (7, 3), (4, 2), (4, 1), (3, 1)),
    "iac-5-50": ((1, 0), (2, 0), (1, 0), (6, 4), (6, 3), (4, 2)),
    "iac-5-100": ((5, 2), (4, 0), (5, 1), (9, 9), (9, 9), (9, 9)),
    "iac-20-10": ((10, 7), (10, 6), (10, 6), (1, 1), (2, 1), (1, 0)),
    "iac-20-30": ((8, 3), (6, 3), (7, 3), (4, 2), (4, 2), (3, 1)),
    "iac-20-50": ((4, 1), (3, 1), (4, 1), (6, 5), (6, 4), (6, 4)),
    "iac-20-100": ((5, 2), (7, 3), (5, 1), (9, 9), (9, 9), (9, 9)),
}
"""By setting, for each of `AREAS`: how many others it beats, and how many of these clearly."""
TABLE_2 = {
    ("iac-20-100", "conflicts"): (0.576, 0.075, 5.262, 49.7),
    ("iac-20-30", "conflicts"): (0.760, 0.024, 4.868, 49.83),
    ("pck", "conflicts"): (0.081, 0.051, 3.639, 149.3),
    ("mpck", "conflicts"): (0.078, 0.017, 29.27, 159.9),
    ("iac-20-100", "relaxed"): (0.309, 0.177, 3.051, 60.1),
    ("iac-20-30", "relaxed"): (0.393, 0.108, 2.972, 60.1),
    ("pck", "relaxed"): (0.375, 0.045, 2.834, 66.5),
    ("mpck", "relaxed"): (0.406, 0.019, 26.98, 61.2),
}
"""On mk2, by method and case: the scores of `SOFT_SCORES`."""
SOFT_SCORES = {
    "quality_ari": "quality (ARI to the classes)",
    "similarity_ari": "similarity (ARI to k-means)",
    "cpu_seconds": "processor seconds",
    "violated": "answers not satisfied",
}
SECONDS = {("letter", "pairs"): (201.0, 302.0), ("letter", "triplets"): (132.0, 617.0)}
"""Published for 1000 constraints with alpha = 0, beta = 100%: the least and the most."""


class Method(NamedTuple):
    """A setting of the modification, or a method that its soft constraints are compared with."""

    title: str
    about: str
    alpha: float = float("nan")
    beta: float = float("nan")


def _modification(alpha: int, beta: int) -> Method:
    anchors = f"{alpha}% of a cluster's items as anchors" if alpha else "one anchor a cluster"
    groups = "every item by itself" if beta == 100 else f"super-instances, {beta}% as many as items"
    return Method(f"IAC ({alpha}, {beta})", f"{anchors}, {groups}", alpha / 100, beta / 100)


MODIFICATIONS = {f"iac-{a}-{b}": _modification(a, b) for a, b in product(ALPHAS, BETAS)}
METHODS = MODIFICATIONS | {
    "naive": Method("naive IAC", "the fewest items that change cluster, whichever", 0.0, 1.0),
    "cop": Method("COP-KMeans", "told the number of classes, keeps all answers or finds nothing"),
    "pck": Method("PCK-Means", "told the number of classes and all answers"),
    "mpck": Method("MPCK-Means", "the same, with one diagonal metric"),
}
ALONE, DEFAULT, SOFT = "iac-0-100", "iac-20-30", ("iac-20-100", "iac-20-30", "pck", "mpck")
"""What the slides time; what they select and modify with; the methods of their Table 2."""
LOOPS = (DEFAULT, "naive", "cop", "pck", "mpck")
"""The methods of Figure 7: modification, and its alternatives."""
FEATURES = {"session": "standardized", "raw": "as they are"}
"""Features of the rounds of Figure 7, by part."""


class _Draws:
    """Items of one class and of another, in the numbers of clusters."""

    def __init__(self, truth: IntArray, rng: np.random.Generator) -> None:
        self.truth, self.rng, self.n = truth, rng, len(truth)
        self.members = [np.flatnonzero(truth == k) for k in range(int(truth.max()) + 1)]
        # an item that is alone in its class has none beside it
        self.paired = np.flatnonzero(np.bincount(truth)[truth] > 1)

    def beside(self) -> tuple[int, int]:
        """Two items of one class."""
        i = int(self.rng.choice(self.paired))
        others = self.members[self.truth[i]]
        return i, int(self.rng.choice(others[others != i]))

    def outside(self, i: int) -> int:
        """An item of another class."""
        while self.truth[k := int(self.rng.integers(self.n))] == self.truth[i]:
            pass
        return k

    def link(self) -> tuple[int, int, bool]:
        """Two items, and whether they are of one class, with a chance of one half."""
        if self.rng.random() < 0.5:
            return (*self.beside(), True)
        i = int(self.rng.integers(self.n))
        return i, self.outside(i), False


def _pairs(truth: IntArray, number: int, rng: np.random.Generator) -> Any:
    return bc.PairwiseConstraints.sample(truth, size=number, seed=rng)


def _triplets(truth: IntArray, number: int, rng: np.random.Generator) -> Any:
    draws = _Draws(truth, rng)
    rows = [(*pair, draws.outside(pair[0])) for pair in (draws.beside() for _ in range(number))]
    swapped = rng.random(number) < 0.5
    items = np.array(rows).reshape(-1, 3)
    items = np.where(swapped[:, None], items[:, [0, 2, 1]], items)
    return bc.RelativeConstraints(items, np.where(swapped, "no", "yes"), len(truth))


def _spans(truth: IntArray, number: int, rng: np.random.Generator) -> Any:
    rows = []
    for _ in range(number):
        items = rng.choice(len(truth), MEMBERS, replace=False)
        clusters = {*truth[items].tolist(), int(rng.integers(int(truth.max()) + 1))}
        rows.append((items.tolist(), sorted(clusters)))
    return bc.SpanConstraints(rows, len(truth))


def _implications(truth: IntArray, number: int, rng: np.random.Generator) -> Any:
    draws = _Draws(truth, rng)
    rows = [([draws.link(), draws.link()], [draws.link()]) for _ in range(number)]
    return bc.ImplicationConstraints(rows, len(truth))


KINDS: dict[str, Callable[[IntArray, int, np.random.Generator], Any]] = {
    "pairs": _pairs,
    "triplets": _triplets,
    "span": _spans,
    "implication": _implications,
}


def right(kind: str, y: IntArray, clusters: IntArray, number: int, rng: np.random.Generator) -> Any:
    """Random constraints that hold of the classes, numbered as the clusters they share most with.

    "pairs" are drawn from all pairs. "triplets" have two items of one class and one of another.
    "span" lets three items be in the clusters of their classes and in one more. "implication" has
    two links before and one behind, all of them true.

    >>> y = np.array([0, 0, 1, 1])
    >>> right("span", y, 1 - y, 2, np.random.default_rng(0)).satisfied(1 - y)
    array([ True,  True])
    """
    return KINDS[kind](figures.in_colours_of(y, clusters), number, rng)


def case(name: str, y: IntArray, number: int, rng: np.random.Generator) -> bc.PairwiseConstraints:
    """Answers about pairs: one in twenty also the other way round, or wrong, or all right.

    >>> y = np.repeat([0, 1], 20)
    >>> links = case("wrong", y, 100, np.random.default_rng(0))
    >>> int((links.truths(y) != links.answers).sum())
    5
    """
    wrong = round(WRONG * number)
    distinct = number - wrong if name == "conflicts" else number
    links = bc.PairwiseConstraints.sample(y, size=distinct, seed=rng)
    items, answers = links.items, links.answers.copy()
    at = rng.choice(distinct, wrong, replace=False)
    if name == "conflicts":
        items = np.concatenate([items, items[at]])
        answers = np.concatenate([answers, 1 - answers[at]])
    elif name == "wrong":
        answers[at] = 1 - answers[at]
    return bc.PairwiseConstraints(items, answers, len(y))


class Cell(NamedTuple):
    """Ten rounds ("session"), a timed fit ("runtime") or one to conflicting answers ("soft")."""

    seed: int
    part: str
    method: str
    data: str
    kind: str
    """Who chooses queries, the kind of constraints, or a name in `CASES`."""
    number: int
    trial: int
    """Which draw of start and answers; neither depends on the method."""


SCORES = {
    **dict.fromkeys(AREAS, "float"),
    "violated": "int",
    "unsolved": "int",
    **dict.fromkeys(("gap", "seconds", "cpu_seconds", "choosing"), "float"),
    "qualities": "str",
    "similarities": "str",
}
BLANK = {"float": np.nan, "int": 0, "str": ""}


@lru_cache(maxsize=2)
def prepared(name: str, raw: bool = False) -> tuple[FloatArray, IntArray]:
    """Items, columns standardized unless they are pixels or `raw`, and classes."""
    items = sources.load(name)
    raw = raw or name == IMAGE or items.X.shape[1] >= IMAGES
    return items.X if raw else sources.standardized(items.X), items.y


@lru_cache(maxsize=4)
def start(name: str, seed: int, raw: bool = False) -> IntArray:
    """The partition that is modified: that of k-means, told the number of classes."""
    from sklearn.cluster import KMeans

    X, y = prepared(name, raw)
    k_means = KMeans(int(y.max()) + 1, n_init=1 if len(X) >= LARGE else 10, random_state=seed)
    return np.asarray(k_means.fit(X).labels_, dtype=np.int64)


def run(cell: Cell) -> dict[str, Any]:
    """Run and score one cell; what a part does not have is NaN, 0 or empty.

    Scores are those to the classes (quality) and to the partition before (similarity), of a session
    the areas under their budget curves; `choosing` are processor seconds of the queries of a round.
    """
    raw = cell.part == "raw"
    X, y = prepared(cell.data, raw)
    labels = start(cell.data, cell.seed + cell.trial, raw)
    words = [cell.seed, cell.trial, sources.code(cell.data)]
    row = PARTS[cell.part](cell, X, y, labels, words)
    # an interrupted search ends with a gap before its time, which is not what the cell stands for
    if (
        row.get("gap", 0.0) > 0
        and row["seconds"] * (ROUNDS if cell.part in FEATURES else 1) < LIMIT
    ):
        raise KeyboardInterrupt
    return {**{name: BLANK[kind] for name, kind in SCORES.items()}, **row}


def _settings(method: str, **settings: Any) -> bc.MinimalModification:
    found = METHODS[method]
    return bc.MinimalModification(found.alpha, found.beta, time_limit=LIMIT, **settings)


def _anew(method: str, X: FloatArray, links: Any, k: int, seed: int) -> IntArray:
    """The labels of a method that clusters under answers, from nothing."""
    if method == "cop":
        return cop_k_means(X, links, k, seed)
    pck = {"metric": "euclidean", "growth": 1} if method == "pck" else {}
    found = bc.MPCKMeans(k, cost=1.0, random_state=seed, **pck).fit(X, constraints=links)
    return np.asarray(found.labels_)


@dataclass(eq=False, repr=False)
class Alternative(bc.MinimalModification):
    """What a session has in the place of a modification: it clusters anew, or counts changes."""

    method: str = "naive"
    n_clusters: int = 2
    seed: int = 0

    def fit(self, X: Any, *, partition: Any = None, constraints: Any = None) -> Any:
        """Labels of the method; where COP-KMeans finds none, those before."""
        if self.method == "naive":
            # every item is at distance 1 from every cluster but its own
            alike = np.eye(int(partition.max()) + 1)[partition] / np.sqrt(2)
            return super().fit(alike, partition=partition, constraints=constraints)
        labels = _anew(self.method, X, constraints[0], self.n_clusters, self.seed)
        self.labels_ = labels if np.ptp(labels) else np.asarray(partition)
        self.violated_ = pd.DataFrame({"what": []})
        self.cost_ = self.objective_ = self.gap_ = 0.0
        return self


def _session(
    cell: Cell, X: FloatArray, y: IntArray, labels: IntArray, words: list[int]
) -> dict[str, Any]:
    way = _settings(cell.method)
    if cell.method not in MODIFICATIONS:
        about: Any = {"n_clusters": int(y.max()) + 1, "seed": cell.seed + cell.trial}
        way = Alternative(0.0, 1.0, new_cluster_distance=1.0, method=cell.method, **about)
    session = bc.InteractiveSession(
        X,
        labels,
        y=y,
        modification=way,
        query_strategy=cell.kind,
        random_state=int(np.random.default_rng(words).integers(2**31)),
    )
    return converse(session, y, cell.number)


def _runtime(
    cell: Cell, X: FloatArray, y: IntArray, labels: IntArray, words: list[int]
) -> dict[str, Any]:
    rng = np.random.default_rng([*words, zlib.crc32(cell.kind.encode()), cell.number])
    given = right(cell.kind, y, labels, cell.number, rng)
    return _timed(lambda: _settings(cell.method).fit(X, partition=labels, constraints=given))[1]


def _soft(
    cell: Cell, X: FloatArray, y: IntArray, labels: IntArray, words: list[int]
) -> dict[str, Any]:
    links = case(cell.kind, y, cell.number, np.random.default_rng(words))
    if cell.method in MODIFICATIONS:
        est: Any = _settings(cell.method, min_satisfied=CASES[cell.kind])
        fitted, row = _timed(lambda: est.fit(X, partition=labels, constraints=links))
    else:
        k, seed = int(y.max()) + 1, cell.seed + cell.trial
        fitted, row = _timed(lambda: _anew(cell.method, X, links, k, seed))
    if fitted is None:
        return row
    found, others = frame.labels_of(fitted), {"quality": y, "similarity": labels}
    row["violated"] = int((links.truths(found) != links.answers).sum())
    scored = {
        f"{side}_{name}": float(f(found, other))
        for side, other in others.items()
        for name, f in MEASURES.items()
    }
    return {**row, **scored}


def _image(
    cell: Cell, X: FloatArray, y: IntArray, labels: IntArray, words: list[int]
) -> dict[str, Any]:
    """Pairs of a pixel of a tree cut and another, half of them of one too; `qualities`: recall."""
    rng, cuts = np.random.default_rng(words), np.flatnonzero(y == y.max())
    first, other = rng.choice(cuts, cell.number), rng.choice(cuts, cell.number)
    other = np.where(rng.random(cell.number) < 0.5, other, rng.choice(len(y), cell.number))
    first, other = first[first != other], other[first != other]
    links = bc.PairwiseConstraints(np.column_stack([first, other]), y[first] == y[other], len(y))
    fitted, row = _timed(lambda: _settings(cell.method).fit(X, partition=labels, constraints=links))
    # its cluster is the one that the class is matched with
    own = labels[figures.in_colours_of(labels, y) == y.max()][0]
    after = labels if fitted is None else fitted.labels_
    recalls = [float((found[cuts] == own).mean()) for found in (labels, after)]
    return {**row, "qualities": frame.words(recalls)}


PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "session": _session,
    "raw": _session,
    "runtime": _runtime,
    "soft": _soft,
    "image": _image,
}


def _timed(fit: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """What was fitted, None if time was too short, and what it took."""
    with frame.Timed() as timed:
        try:
            fitted = fit()
        except TimeoutError:
            fitted = None
    row: dict[str, Any] = {"seconds": timed.seconds, "cpu_seconds": timed.cpu_seconds}
    row["unsolved"] = int(fitted is None)
    if isinstance(fitted, bc.MinimalModification):
        row |= {"gap": gap_of(fitted), "violated": len(fitted.violated_)}
    return fitted, row


def gap_of(fitted: bc.MinimalModification) -> float:
    """The relative gap that a search left."""
    return fitted.gap_ / fitted.objective_ if fitted.gap_ > 0 else 0.0


def converse(session: bc.InteractiveSession, y: IntArray, number: int) -> dict[str, Any]:
    """Ten rounds of queries answered by the classes, and one modification each.

    All answers so far count in each. Clusters that lost their items are allowed to come back as new
    ones, so that there is always a partition in as many clusters as classes.
    """
    partitions, counts = [session.labels], [0]
    gap, unsolved, choosing, wall, cpu = 0.0, 0, 0.0, 0.0, 0.0
    for until in np.linspace(0, number, ROUNDS + 1).astype(int)[1:].tolist():
        with frame.Timed() as timed:
            while session.n_answers < until and (asked := session.ask()):
                i, j = asked[0].items
                session.answer(asked[0], "same" if y[i] == y[j] else "different")
        choosing += timed.cpu_seconds
        gone = int(y.max()) + 1 - len(np.unique(session.labels))
        session.modification.set_params(new_clusters=max(gone, 0))
        with frame.Timed() as timed:
            try:
                gap = max(gap, gap_of(session.modify()))
            except TimeoutError:
                unsolved += 1
        wall += timed.seconds
        cpu += timed.cpu_seconds
        partitions.append(session.labels)
        counts.append(session.n_answers)
    areas, qualities, similarities = scores(partitions, counts, y)
    links = [c for c in session.constraints if isinstance(c, bc.PairwiseConstraints)]
    return {
        **areas,
        "violated": sum(int((c.truths(session.labels) != c.answers).sum()) for c in links),
        "unsolved": unsolved,
        "gap": gap,
        "seconds": wall / ROUNDS,
        "cpu_seconds": cpu / ROUNDS,
        "choosing": choosing / ROUNDS,
        "qualities": frame.words(qualities),
        "similarities": frame.words(similarities),
    }


def scores(
    partitions: Sequence[IntArray], counts: Sequence[int], y: IntArray
) -> tuple[dict[str, float], FloatArray, FloatArray]:
    """Areas under the budget curves, linear between rounds; and ARI after each round.

    ARI is to the classes, and to the partition before, which of the start is 1.

    >>> y = np.array([0, 0, 1, 1])
    >>> areas, qualities, similarities = scores([np.array([0, 1, 1, 1]), y], [0, 10], y)
    >>> qualities, similarities, round(areas["similarity_ari"], 2)
    (array([0., 1.]), array([1., 0.]), 0.5)
    """
    curves: dict[str, FloatArray] = {}
    for name, measure in MEASURES.items():
        curves[f"quality_{name}"] = np.array([measure(labels, y) for labels in partitions])
        steps = [measure(now, before) for before, now in pairwise(partitions)]
        curves[f"similarity_{name}"] = np.array([1.0, *steps])
    total = counts[-1]
    areas = {
        name: float(np.trapezoid(curves[name], counts) / total if total else curves[name][-1])
        for name in AREAS
    }
    return areas, curves["quality_ari"], curves["similarity_ari"]


def find(name: str, folders: Iterable[Path]) -> str | None:
    """What `sources.load` takes: an installed set, or a .csv or .npz in the folders, or None.

    >>> find("iris", ()), find("lsun", ())
    ('iris', None)
    """
    file = name.endswith((".csv", ".npz")) and Path(name).is_file()
    if file or name in bc.datasets.names(installed=True):
        return name
    for folder, stem, ending in product(folders, FILES.get(name, (name,)), ("csv", "npz")):
        if (path := folder / f"{stem}.{ending}").is_file():
            return str(path)
    return None


@dataclass(frozen=True, kw_only=True)
class Plan(frame.Plan):
    """What is to be run and shown."""

    parameters: bool = option(True, "compare settings of alpha and beta", part=True)
    runtime: bool = option(True, "time modifications: Figure 6", part=True)
    soft: bool = option(True, "compare soft constraints: Table 2", part=True)
    loop: bool = option(True, "rounds of select and modify: Figure 7", part=True)
    image: bool = option(True, "answers about tree cuts in a large image, generated", part=True)
    folders: tuple[Path, ...] = option((), "folders with files of other sets", kind=Path)
    data: tuple[str, ...] = option(DATA, "data sets for alpha and beta, names or files")
    methods: tuple[str, ...] = option(
        tuple(MODIFICATIONS), "settings of alpha and beta", among=MODIFICATIONS
    )
    kinds: tuple[str, ...] = option(tuple(KINDS), "kinds of constraints of Figure 6", among=KINDS)
    numbers: tuple[int, ...] = option(
        (100, 250, 500, 750, 1000), "numbers of constraints of Figure 6", kind=int, least=1
    )
    query_strategies: tuple[str, ...] = option(
        ("random", "npu"), "who chooses the queries of Figure 7"
    )
    features: tuple[str, ...] = option(
        ("raw", "session"), "features of Figure 7: raw, or standardized (session)", among=FEATURES
    )
    loops: tuple[str, ...] = option(LOOPS, "methods of Figure 7", among=(*LOOPS, *MODIFICATIONS))
    answers: int = option(100, least=10)
    """Of a session, in ten rounds; the slides do not tell theirs."""
    conflicts: int = option(1000, least=20)
    """Answers for `soft`: 1000, of which 6% are 60, agrees with the slides' Table 2."""
    trials: int = option(90, "draws of start and answers", least=1)

    QUICK = {"data": ("iris", "wine", "glass"), "numbers": (100, 1000), "trials": 1}  # noqa: RUF012

    def check(self) -> None:
        """Also folders, data sets and query strategies."""
        super().check()
        known = bc.active.QUERY_STRATEGIES
        for name in self.query_strategies:
            if name not in known:
                raise ValueError(f"query_strategies has {name!r}: choose from {', '.join(known)}.")
        for folder in self.folders:
            if not folder.is_dir():
                raise ValueError(f"folders has {str(folder)!r}: name folders that hold data.")
        for name in self.data:
            if name not in DATA and find(name, self.folders) is None:
                raise ValueError(
                    f"data has {name!r}, which no installed package ships: name a folder that has "
                    f"{name}.csv or {name}.npz, or such a file."
                )

    def found(self, names: Iterable[str]) -> dict[str, str]:
        """Where the sets that can be had are read from, by name."""
        places = {name: find(name, self.folders) for name in names}
        return {name: place for name, place in places.items() if place is not None}

    def absent(self) -> list[str]:
        """The sets that this plan wants and that cannot be had."""
        wanted = [
            *(self.data if self.parameters else ()),
            *(TIMED if self.runtime else ()),
            *((CONFLICTING,) if self.soft else ()),
            *((GLASS,) if self.loop else ()),
        ]
        places = self.found(wanted)
        return [name for name in dict.fromkeys(wanted) if name not in places]

    def wanted(self) -> Iterator[Cell]:
        """Trial by trial, so that what is cut short has some of everything."""
        places = self.found((*self.data, *TIMED, CONFLICTING, GLASS))
        chosen = [places[name] for name in self.data if name in places]
        timed = [places[name] for name in TIMED if name in places]
        for trial in range(self.trials):
            if self.soft and CONFLICTING in places:
                place = places[CONFLICTING]
                for kind, method in product(CASES, SOFT):
                    yield Cell(self.seed, "soft", method, place, kind, self.conflicts, trial)
            rounds = product(self.features, self.loops, self.query_strategies)
            for part, method, kind in rounds if self.loop and GLASS in places else ():
                yield Cell(self.seed, part, method, places[GLASS], kind, self.answers, trial)
            if self.image:
                yield Cell(self.seed, "image", ALONE, IMAGE, "pairs", EXPERT, trial)
            for place, method in product(chosen, self.methods) if self.parameters else ():
                asked = (place, PARAMETERS, self.answers)
                yield Cell(self.seed, "session", method, *asked, trial)
            for asked in product(timed, self.kinds, self.numbers) if self.runtime else ():
                yield Cell(self.seed, "runtime", ALONE, *asked, trial)


def tables(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Means by score and setting, half the width of their 95% intervals, and what is published."""
    key = ["part", "data", "method", "kind", "number"]
    means = [name for name, kind in SCORES.items() if kind != "str"]
    mine = frame.of_settings(cells, plan.cells())
    long = mine.melt(key, means, var_name="score", value_name="value").dropna()
    grouped = long.groupby([*key, "score"], sort=False).value
    entries = pd.DataFrame({"mean": grouped.mean(), "trials": grouped.size()})
    entries["error"] = frame.half_width(grouped.std(), entries.trials)
    entries = entries.reset_index()
    keys = zip(entries.part, entries.method, entries.kind, entries.score, strict=True)
    entries["published"] = [_published(*row) for row in keys]
    return entries


def _published(part: str, method: str, kind: str, score: str) -> float:
    row = dict(zip(SOFT_SCORES, TABLE_2.get((method, kind), ()), strict=False))
    return row.get(score, np.nan) if part == "soft" else np.nan


def areas(cells: pd.DataFrame, plan: Plan, score: str) -> pd.DataFrame:
    """Scores by data set and setting, means over the trials that every setting has."""
    places = list(plan.found(plan.data).values())
    mine = cells[(cells.part == "session") & (cells.kind == PARAMETERS)]
    mine = mine[(mine.number == plan.answers) & mine.data.isin(places)]
    table = mine.pivot_table(index=["data", "trial"], columns="method", values=score)
    table = table.reindex(columns=list(plan.methods)).dropna()
    return table.groupby(level="data").mean().reindex(places).dropna()


def comparisons(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Every ordered pair of settings over the data sets, by the Bayesian signed-rank test."""
    rows = []
    for score in AREAS:
        table = areas(cells, plan, score)
        for one, other in combinations(table.columns if len(table) else (), 2):
            found = bayesian_signed_rank(table[one] - table[other], seed=plan.seed)
            rows += [(score, one, other, *found), (score, other, one, *reversed(found))]
    return pd.DataFrame(rows, columns=["score", "method", "other", "worse", "equivalent", "better"])


def wins(compared: pd.DataFrame) -> pd.DataFrame:
    """How many others each setting beats with probability above 1/2, and of at least `SURE`.

    >>> rows = [("f", "a", "b", 0.1, 0.2, 0.7), ("f", "b", "a", 0.7, 0.2, 0.1)]
    >>> names = ["score", "method", "other", "worse", "equivalent", "better"]
    >>> wins(pd.DataFrame(rows, columns=names))
                  likely  sure
    method score
    a      f           1     0
    b      f           0     0
    """
    better = compared.set_index(["method", "score"]).better
    beaten = pd.DataFrame({"likely": better > 0.5, "sure": better >= SURE})
    return beaten.groupby(level=[0, 1], sort=False).sum().astype(int)


def rounds(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """ARI round by round (0 is the start) on the first of the features, by method and chooser."""
    mine = cells[(cells.part == plan.features[0]) & (cells.number == plan.answers)]
    mine = mine[mine.data.isin(plan.found([GLASS]).values())]
    rows = []
    loops = product(plan.loops, plan.query_strategies, ("qualities", "similarities"))
    for method, kind, side in loops:
        texts = mine.loc[(mine.kind == kind) & (mine.method == method), side]
        if len(texts):
            values = np.stack([frame.numbers(text) for text in texts])
            spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
            error = frame.half_width(spread, np.full(values.shape[1], len(values)))
            steps = enumerate(zip(values.mean(axis=0), error, strict=True))
            line = f"{METHODS[method].title}, {kind}"
            rows += [(line, at, side, mean, width, len(values)) for at, (mean, width) in steps]
    columns = ["line", "round", "side", "mean", "error", "trials"]
    return pd.DataFrame(rows, columns=columns)


HEAD = """# IAC's figures and tables, measured

Means over draws of start and answers: seed {seed}, {trials}; where fewer are done it says so.
Columns are standardized where nothing else is said, pixels left as they are; the start is k-means,
told the number of classes. Labels simulate answers and score. Times are those of processors, which
a busy machine does not change; published ones are of another machine.
"""
CASE_TITLES = {
    "conflicts": "one answer in 20 given twice, once each way; 95% to be satisfied",
    "wrong": "one answer in 20 wrong; 95% to be satisfied",
    "relaxed": "all answers right; 94% to be satisfied",
}


def report(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """What is done in Markdown, the slides' numbers beside ours."""
    yield HEAD.format(seed=plan.seed, trials=counted(plan.trials, "draw"))
    if absent := plan.absent():
        names = ", ".join(absent)
        yield f"Left out, since no installed package and no folder named has them: {names}.\n"
    if plan.parameters:
        yield "## Anchors (alpha) and super-instances (beta)\n"
        yield from _parameters(cells, entries, plan)
    if plan.runtime:
        yield "## Figure 6: processor seconds by number and kind of constraints\n"
        yield from _times(entries, plan)
    if plan.soft:
        yield "## Table 2: soft constraints on mk2\n"
        yield from _conflicting(entries)
    if plan.loop:
        yield "## Figure 7: rounds of select and modify on glass\n"
        yield from _loop(entries, plan)
    if plan.image:
        yield "## Tree cuts in an image\n"
        yield from _tree_cuts(cells, entries)


def _parameters(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    found = {score: areas(cells, plan, score) for score in AREAS}
    table = found["quality_ari"]
    if table.empty:
        yield "No data set has all settings done yet.\n"
        return
    asked, sets = counted(plan.answers, "answer"), counted(len(table), "data set")
    heads = ["(alpha, beta) in %", *(f"{score[:-4]} {score[-3:].upper()}" for score in AREAS)]
    titles = {name: METHODS[name].title for name in table.columns}
    done = cells[(cells.part == "session") & cells.data.isin(table.index)]
    draws = frame.span(done.groupby(["data", "method"]).size().groupby("data").min(), "draw")
    yield f"Areas under the budget curve of {asked} in ten rounds; means over {sets}, {draws}:\n"
    means = ([titles[name], *(decimal(found[s][name].mean()) for s in AREAS)] for name in titles)
    yield from frame.in_markdown(heads, means)
    compared = comparisons(cells, plan)
    if len(compared):
        yield "How many others each beats (at probability .95), and as published:\n"
        counts = wins(compared)
        rows = []
        for name in titles:
            ours = [counts.loc[(name, score)] for score in AREAS]
            both = zip(ours, WINS[name], strict=True)
            beaten = (f"{row.likely} ({row.sure}) / {their[0]} ({their[1]})" for row, their in both)
            rows.append([titles[name], *beaten])
        yield from frame.in_markdown(heads, rows)
    yield "Quality (ARI) by data set:\n"
    short = (title.removeprefix("IAC ") for title in titles.values())
    named = ([sources.title(str(place)), *map(decimal, f)] for place, f in table.iterrows())
    yield from frame.in_markdown(["", *short], named)
    yield _unproven(entries, "session") + "\n"


def _times(entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    mine = entries[(entries.part == "runtime") & (entries.score == "cpu_seconds")]
    if mine.empty:
        yield frame.NOTHING + "\n"
        return
    rows = []
    for (name, place), kind in product(plan.found(TIMED).items(), plan.kinds):
        one = mine[(mine.data == place) & (mine.kind == kind)].set_index("number")["mean"]
        if len(one):
            published = (
                "{:g} to {:g}".format(*SECONDS[name, kind]) if (name, kind) in SECONDS else ""
            )
            seconds = map(decimal, one.reindex(list(plan.numbers)))
            rows.append([sources.title(place), kind, *seconds, published])
    head = ["", "constraints", *map(str, plan.numbers), "published, 1000"]
    yield from frame.in_markdown(head, rows)
    draws = frame.span(mine.trials, "draw")
    proven = _unproven(entries, "runtime")
    yield f"One anchor a cluster, every item by itself; mean of {draws}. {proven}\n"


def _unproven(entries: pd.DataFrame, part: str) -> str:
    """How many optima are proven, and whether constraints that had to hold do."""
    # others need not satisfy answers
    mine = entries[(entries.part == part) & entries.method.isin((*MODIFICATIONS, "naive"))]
    if mine.empty:
        return ""
    total = (mine["mean"] * mine.trials).groupby(mine.score).sum()
    unproven = int(((mine.score == "gap") & (mine["mean"] > 0)).sum())
    words = []
    if part != "soft" and total["violated"] > 0:
        words.append(f"WRONG: {total['violated']:.0f} constraints that must hold do not.")
    if total["unsolved"] > 0:
        words.append(f"{total['unsolved']:.0f} times nothing was found in time.")
    settings = counted(unproven, "setting")
    words += [
        f"In {settings} an optimum is not proven." if unproven else "Every optimum is proven."
    ]
    return " ".join(words)


def _conflicting(entries: pd.DataFrame) -> Iterator[str]:
    mine = entries[entries.part == "soft"]
    if mine.empty:
        yield frame.NOTHING + "\n"
        return
    for kind in CASES:
        rows = []
        for method in SOFT:
            block = mine[(mine.method == method) & (mine.kind == kind)].set_index("score")
            if len(block):
                rows.append(
                    [METHODS[method].title, *(_beside(block, name) for name in SOFT_SCORES)]
                )
        if rows:
            yield f"{CASE_TITLES[kind].capitalize()}:\n"
            yield from frame.in_markdown(["", *SOFT_SCORES.values()], rows)
    asked, draws = counted(int(mine.number.iloc[0]), "answer"), frame.span(mine.trials, "draw")
    yield (
        f"{asked}, {draws}; published in parentheses, whose conflicts are not described. "
        f"{_unproven(entries, 'soft')}\n"
    )


def _beside(block: pd.DataFrame, score: str) -> str:
    """A score with its error, and what is published in parentheses."""
    if score not in block.index:
        return ""
    mean, error, theirs = (float(block[name][score]) for name in ("mean", "error", "published"))
    ours = decimal(mean, 1 if score == "violated" else 3, error)
    return ours if np.isnan(theirs) else f"{ours} ({theirs:g})"


def _loop(entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    places = plan.found([GLASS]).values()
    mine = entries[entries.data.isin(places) & (entries.number == plan.answers)]
    mine = mine[mine.method.isin(plan.loops) & mine.kind.isin(plan.query_strategies)]
    yield "Areas under the curves of Figure 7, and processor seconds of a round.\n"
    keys = ("quality_ari", "similarity_ari", "cpu_seconds", "choosing")
    for part in plan.features:
        rows = []
        for method, kind in product(plan.loops, plan.query_strategies):
            block = mine[(mine.part == part) & (mine.method == method) & (mine.kind == kind)]
            if len(block):
                scores = (_beside(block.set_index("score"), key) for key in keys)
                rows.append([METHODS[method].title, kind, *scores])
        if rows:
            yield f"Features {FEATURES[part]}:\n"
            heads = ["", "queries chosen by", "quality", "similarity", "to modify", "to choose"]
            yield from frame.in_markdown(heads, rows)
    if mine.empty:
        yield frame.NOTHING + "\n"
        return
    draws = frame.span(mine.trials, "draw")
    yield f"{counted(plan.answers, 'answer')} in ten rounds; {draws}.\n"


def _tree_cuts(cells: pd.DataFrame, entries: pd.DataFrame) -> Iterator[str]:
    mine = cells[cells.part == "image"]
    if len(mine):
        before, after = np.stack([frame.numbers(text) for text in mine.qualities]).T
        yield (
            f"{len(sources.load(IMAGE).y)} generated pixels of 11 dates, {EXPERT} answers: of the "
            f"tree cuts {before.mean():.3f} are in their cluster before and {after.mean():.3f} "
            f"after, in {mine.cpu_seconds.mean():.1f} processor seconds; "
            f"{counted(len(mine), 'draw')}. {_unproven(entries, 'image')}\n"
        )


def draw(
    cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan
) -> dict[str, Callable[[], Figure | None]]:
    """The figures of the parts asked for."""
    made: dict[str, tuple[bool, Callable[[], Figure | None]]] = {
        "figure6": (plan.runtime, lambda: _seconds(entries, plan)),
        "figure7": (plan.loop, lambda: _rounds(rounds(cells, plan), plan)),
    }
    return {name: make for name, (wanted, make) in made.items() if wanted}


def _wide(rows: pd.DataFrame) -> pd.Series:
    return rows.error.where(rows.trials >= figures.FEWEST)


def _seconds(entries: pd.DataFrame, plan: Plan) -> Figure | None:
    """Processor seconds by number and kind of constraints, ours and published."""
    mine = entries[(entries.part == "runtime") & (entries.score == "cpu_seconds")]
    panel = mine.data.map(sources.title)
    ours = mine.assign(panel=panel, line=mine.kind, x=mine.number, error=_wide(mine))
    published = [
        (sources.title(place), f"{kind}, published", 1000, seconds, np.nan)
        for (name, kind), ends in SECONDS.items()
        for place in plan.found([name]).values()
        if (mine.data == place).any()
        for seconds in ends
    ]
    theirs = pd.DataFrame(published, columns=["panel", "line", "x", "mean", "error"])
    table = pd.concat([ours[theirs.columns], theirs]) if len(theirs) else ours
    heading = "One anchor a cluster, every item by itself"
    return figures.curves(table, heading, "constraints", "processor seconds", log="y")


def _rounds(table: pd.DataFrame, plan: Plan) -> Figure | None:
    """ARI to the classes and to the partition before, round by round, by who chooses."""
    sides = {"qualities": "ARI to the classes", "similarities": "ARI to the partition before"}
    # the start has no partition before it
    kept = table[(table.side == "qualities") | (table["round"] > 0)]
    named = kept.assign(panel=kept.side.map(sides), x=kept["round"], error=_wide(kept))
    features = FEATURES[plan.features[0]]
    heading = f"glass, features {features}; mean of {counted(max(table.trials, default=0), 'run')}"
    xlabel = f"round of {plan.answers // ROUNDS} answers and a modification"
    ticks = range(0, ROUNDS + 1, 2)
    return figures.curves(named, heading, xlabel, "ARI", ticks=ticks, bands=True)


def ready() -> None:
    """Modifications under many constraints need OR-tools."""
    if find_spec("ortools") is None:
        raise ModuleNotFoundError(
            "modifications need OR-tools: install bayesclust with its extra 'solver'."
        )
