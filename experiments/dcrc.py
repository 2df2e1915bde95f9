"""Pei, Fern, Rosales and Tjahja: Discriminative Clustering with Relative Constraints, section V.

Figure 2: what an answer tells. Figure 4: F by number of triplets, DCRC beside methods that use
"yes" and "no" or pairs. Figures 5 and 6: soft and hard answers. Figure 7: balance of clusters.
Table III: the sets. Tables IV and V: answers with people's errors. And the time of one large fit.
Of the paper's sets, MSRCv2, Stonefly9 and the two of bird song come with no package: generated ones
of the size of bird song stand in, and a CSV file can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments import figures, frame, sources
from experiments.baselines import comparisons, k_means, sssvad
from experiments.frame import counted, decimal, option
from experiments.learned_metrics import itml, lsml, mmc, sparse_lp

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RIGHT, BOUNDARY, PEOPLE, PEOPLE_PAIRS, NONE = "right", "boundary", "people", "people-pairs", "none"
ALL, YES_NO, PAIRS, NOTHING = "all", "yes and no", "pairs", "nothing"
FRACTIONS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
FOLDS, FEWEST_ANSWERS, STARTS, ROUGH_STARTS = 5, 10, 50, 3
RUNTIME = ("birdsong", 1500)

# what the paper prints
TABLE_III = {
    "ionosphere": (351, 34, 2),
    "pima": (768, 8, 2),
    "balance": (625, 4, 3),
    "digits389": (3165, 16, 3),
    "letters_ijlt": (3059, 16, 4),
    "msrcv2_6": (1046, 48, 6),
    "birdsong": (4998, 38, 13),
}
"""Items, columns and classes; Stonefly9 has 3824, 285 and 9."""
TABLE_IV = np.array([[18.50, 0.33, 4.83], [0.33, 16.50, 4.50], [3.50, 3.00, 98.50]])
"""Mean number of triplets by true answer (rows) and answer given (columns): yes, no, dnk."""
TABLE_IV_PAIRS = np.array([[42.50, 9.67], [10.83, 162.00]])
"""Mean number of pairs by true answer (rows) and answer given (columns): together, apart."""
TABLE_V = {
    ("dcrc-none", NONE, 0): (0.5175, 0.0232),
    ("kmeans", NONE, 0): (0.6523, 0.0189),
    ("dcrc-15", PEOPLE, 150): (0.7620, 0.1335),
    ("dcrc-yn-15", PEOPLE, 150): (0.7635, 0.1067),
    ("lsml", PEOPLE, 150): (0.6409, 0.0654),
    ("sparse-lp", PEOPLE, 150): (0.5200, 0.0706),
    ("sssvad", PEOPLE, 150): (0.6046, 0.0605),
    ("itml", PEOPLE_PAIRS, 150): (0.6409, 0.0424),
    ("mmc", PEOPLE_PAIRS, 150): (0.6438, 0.0423),
    ("itml", PEOPLE_PAIRS, 225): (0.6347, 0.0372),
    ("mmc", PEOPLE_PAIRS, 225): (0.6438, 0.0282),
}
"""Mean and deviation of F on bird syllables, by method, kind and number of answers."""
SECONDS = 120.0
"""Section V-B6: "less than 2 minutes" for 4998 items, 38 columns, 13 clusters and 1500 triplets."""


def rates(counts: FloatArray) -> FloatArray:
    """p(answer | truth) from counts whose rows are the truth."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


Setting = Mapping[str, float]


@dataclass(frozen=True)
class Method(frame.Method):
    """How to fit, which answers it uses, and the settings to choose among by answers held out."""

    uses: str = ALL
    grid: tuple[Setting, ...] = ({},)


def _method(
    title: str, fit: Callable[..., Any], uses: str = ALL, **values: tuple[float, ...]
) -> Method:
    """A method that chooses from all combinations of these values."""
    grid = tuple(dict(zip(values, row, strict=True)) for row in product(*values.values()))
    about = f"told k, uses {uses}" + "".join(
        f"; {name} of {', '.join(f'{value:g}' for value in own)} by answers held out"
        for name, own in values.items()
    )
    return Method(title, fit, about, uses != NOTHING, uses=uses, grid=grid)


def _dcrc(X: FloatArray, constraints: Any, n_clusters: int, seed: int, **settings: Any) -> bc.DCRC:
    return bc.DCRC(n_clusters, random_state=seed, **settings).fit(X, constraints=constraints)


def _starts(method: Callable[..., IntArray]) -> Callable[..., IntArray]:
    """The method with the paper's number of starts of k-means, unless another is asked for."""
    return partial(method, n_init=STARTS)


def _variant(title: str, uses: str = ALL, **settings: Any) -> Method:
    return _method(title, partial(_dcrc, **settings), uses)


_chains: dict[str, Any] = {
    "inference": "gibbs",
    "num_chains": 2,
    "num_warmup": 300,
    "num_samples": 300,
    "progress": False,
}
METHODS = {
    "kmeans": _method("k-means", _starts(k_means), NOTHING),
    "dcrc": _variant("DCRC"),
    "dcrc-yn": _variant("DCRC-YN", YES_NO),
    "itml": _method("ITML", _starts(itml), PAIRS, slack=(0.1, 1.0, 10.0)),
    "mmc": _method("Xing", _starts(mmc), PAIRS),
    "lsml": _method("LSML", _starts(lsml), YES_NO, weight=(1.0, 30.0, 1000.0)),
    "sssvad": _method("SSSVaD", sssvad, YES_NO, weight=(1.0, 10.0, 100.0)),
    "sparse-lp": _method("sparseLP", _starts(sparse_lp), YES_NO, penalty=(0.1, 1.0, 10.0)),
    "dcrc-paper": _method(
        "DCRC, the paper's search",
        partial(_dcrc, n_init=1, balance=True),
        tau=(0.5, 1.0, 1.5),
        penalty=tuple(2.0**power for power in (-10, -8, -6, -4, -2)),
    ),
    "dcrc-rbf": _variant("DCRC, RBF kernel", kernel="rbf"),
    "dcrc-hard": _variant("hard answers", noise=0.0),
    "dcrc-hard-literal": _variant("hard answers, Eq. 14 literally", noise="literal"),
    "dcrc-even": _variant("balance enforced", balance=True),
    "dcrc-no-balance": _variant("balance not enforced", balance=False),
    "dcrc-none": _variant("DCRC-NoConst", NOTHING, balance=True),
    "dcrc-15": _variant("DCRC", noise=0.15),
    "dcrc-yn-15": _variant("DCRC-YN", YES_NO, noise=0.15),
    "dcrc-learn": _variant("DCRC, error rate learned", noise="learn"),
    "dcrc-confusion": _variant("DCRC, confusion learned", noise="confusion"),
    "dcrc-gibbs": _variant("DCRC, labels drawn", **_chains),
}
EPS = {f"dcrc-eps-{eps}": eps / 100 for eps in (1, 5, 10, 15, 20, 30)}
"""Error rates that DCRC is told: a sweep, for `--methods`."""
METHODS |= {name: _variant(f"eps = {eps}", noise=eps) for name, eps in EPS.items()}
FIGURE_4 = ("kmeans", "dcrc", "dcrc-yn", "itml", "mmc", "lsml", "sssvad", "sparse-lp")
FIGURE_6 = ("dcrc", "dcrc-hard", "dcrc-hard-literal")
FIGURE_7 = ("dcrc-even", "dcrc-no-balance", "dcrc")
TABLE_V_METHODS = (
    *("dcrc-none", "kmeans", "dcrc-15", "dcrc-yn-15", "dcrc-learn", "dcrc-confusion"),
    *("lsml", "sparse-lp", "sssvad", "itml", "mmc"),
)
REGIONS = ("fuzzy", "separate")

# whose answers do not change with the names of other sets
NUMBERED = (
    *("ionosphere", "pima", "balance", "digits389"),
    *("letters_ijlt", "wine", "ecoli", "segment"),
)


def ask(items: sources.Dataset, kind: str, number: int, words: list[int]) -> Any:
    """Random triplets or pairs, answered; None where none is asked.

    By the classes ("right"), also among items near a boundary between classes ("boundary"), or with
    errors as often as people made them in Table IV ("people", "people-pairs"). They depend on the
    data and on the seed `words` alone.
    """
    if kind == NONE or number == 0:
        return None
    rng, y, triplets = np.random.default_rng(words), items.y, bc.RelativeConstraints
    if kind == PEOPLE_PAIRS:
        pairs = bc.PairwiseConstraints.sample(y, size=number, seed=rng).items
        together = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], *rates(TABLE_IV_PAIRS)[:, 0])
        return bc.PairwiseConstraints(pairs, rng.random(number) < together, n_items=len(y))
    if kind == BOUNDARY:
        near = sources.near_boundaries(items)
        asked = triplets.sample(y[near], size=number, error_rate=0.0, seed=rng)
        return triplets(near[asked.items], asked.answers, n_items=len(y))
    errors: Any = {"confusion": rates(TABLE_IV)} if kind == PEOPLE else {"error_rate": 0.0}
    return triplets.sample(y, size=number, seed=rng, **errors)


def used(given: Any, uses: str) -> Any:
    """The answers that a method uses, None if there are none.

    "yes and no" leaves each "dnk" out; "pairs" makes two pairs of each other answer, one together
    and one apart, as the paper does for methods that take pairs. Answers about pairs stay as they
    are.

    >>> rows, answers = [(0, 1, 2), (3, 0, 2), (0, 1, 3)], ["yes", "no", "dnk"]
    >>> given = bc.RelativeConstraints(rows, answers, n_items=4)
    >>> used(given, "yes and no")
    <RelativeConstraints 'triplets': 1 yes, 1 no, 0 dnk, on 4 items>
    >>> links = used(given, "pairs")
    >>> links.items.tolist(), links.answers.tolist()
    ([[0, 1], [2, 3], [0, 2], [0, 3]], [1, 1, 0, 0])
    """
    if given is None or uses == NOTHING or not len(given):
        return None
    if uses == ALL or given.kind == "pairwise":
        return given
    compared = comparisons(given)
    if not len(compared):
        return None
    if uses == PAIRS:
        together = np.repeat([True, False], len(compared))
        ends = np.concatenate([compared[:, [0, 1]], compared[:, [0, 2]]])
        return bc.PairwiseConstraints(ends, together, n_items=given.n_items)
    return _rows(given, given.answers < 2)


def _rows(given: Any, kept: Any) -> Any:
    """Some of the answers."""
    return type(given)(given.items[kept], given.answers[kept], n_items=given.n_items)


def choose(method: Method, X: FloatArray, given: Any, n_clusters: int, seed: int) -> Setting:
    """The setting that predicts answers held out in five parts most often, as in the paper.

    Where there are fewer than ten answers, the one in the middle. Parts are the same for all
    methods.
    """
    if len(method.grid) == 1 or given is None or len(given) < FEWEST_ANSWERS:
        return method.grid[len(method.grid) // 2]
    part = np.random.default_rng(seed).permutation(len(given)) % FOLDS
    right = np.zeros(len(method.grid))
    for fold in range(FOLDS):
        kept, held = (
            used(_rows(given, rows), method.uses) for rows in (part != fold, part == fold)
        )
        if held is None:
            continue
        for number, setting in enumerate(method.grid):
            found = method.fit(X, kept, n_clusters, seed, **setting, n_init=ROUGH_STARTS)
            right[number] += (held.truths(frame.labels_of(found)) == held.answers).sum()
    return method.grid[int(right.argmax())]


class Cell(NamedTuple):
    """One fit: who, on what, with which answers."""

    seed: int
    method: str
    data: str
    answers: str
    """Who answers, as in `ask`; "none" where the method uses nothing."""
    fraction: float
    """Triplets asked as a share of the number of items; 0 where `number` is given."""
    number: int
    trial: int


MEANS = ("f", "rand", "nmi", "accuracy", "predicted_f", "predicted_accuracy")
SCORES = {
    "used": "int",
    **dict.fromkeys(MEANS, "float"),
    "clusters": "int",
    "seconds": "float",
    "cpu_seconds": "float",
    "setting": "str",
    "confusion": "str",
}


OTHERS = {"rand": "adjusted Rand", "nmi": "NMI"}


def words_of(cell: Cell) -> list[int]:
    """The seed of the answers of a cell."""
    at = NUMBERED.index(cell.data) if cell.data in NUMBERED else None
    number = len(NUMBERED) + sources.code(cell.data) if at is None else at
    words = [cell.seed, cell.trial, number, round(1000 * cell.fraction)]
    return words if cell.fraction else [*words, cell.number]


def run(cell: Cell) -> dict[str, Any]:
    """Fit and score one cell; "predicted" is what DCRC's classifier alone says, NaN for others."""
    items, method = sources.load(cell.data), METHODS[cell.method]
    X, k = sources.standardized(items.X), len(items.target_names)
    seed = cell.seed + cell.trial
    given = ask(items, cell.answers, cell.number, words_of(cell))
    with frame.Timed() as timed:
        setting = choose(method, X, given, k, seed)
        told = used(given, method.uses)
        found = method.fit(X, told, k, seed, **setting)
    labels, predicted, confusion = frame.labels_of(found), None, ""
    if isinstance(found, bc.DCRC):
        predicted = found.predict(X)
        confusion = frame.words(found.confusion_.get("triplets", np.empty(0)).ravel())
    return {
        "used": 0 if told is None else len(told),
        "f": bc.metrics.pairwise_f(labels, items.y),
        "rand": bc.metrics.adjusted_rand(labels, items.y),
        "nmi": bc.metrics.nmi(labels, items.y),
        "accuracy": accuracy(labels, items.y),
        "predicted_f": np.nan if predicted is None else bc.metrics.pairwise_f(predicted, items.y),
        "predicted_accuracy": np.nan if predicted is None else accuracy(predicted, items.y),
        "clusters": len(np.unique(labels)),
        "seconds": timed.seconds,
        "cpu_seconds": timed.cpu_seconds,
        "setting": " ".join(f"{name}={value:g}" for name, value in setting.items()),
        "confusion": confusion,
    }


def accuracy(labels: IntArray, y: IntArray) -> float:
    """Share of the items in the cluster of their class, clusters and classes matched best.

    >>> accuracy(np.array([5, 5, 2, 2]), np.array([0, 0, 1, 0]))
    0.75
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    shared = contingency_matrix(y, labels)
    return float(shared[linear_sum_assignment(-shared)].sum() / len(y))


@dataclass(frozen=True, kw_only=True)
class Plan(frame.Plan):
    """What is to be run and shown."""

    figures: tuple[int, ...] = option(
        (2, 4, 5, 6, 7), "figures to make", among=(2, 4, 5, 6, 7), kind=int, part=True
    )
    tables: tuple[str, ...] = option(
        ("iii", "iv", "v"), "tables to make", among=("iii", "iv", "v"), kind=str.lower, part=True
    )
    runtime: bool = option(True, "time one fit of 4998 items with 1500 triplets", part=True)
    methods: tuple[str, ...] = option((), "methods of Figure 4 and Table V", among=METHODS)
    data: tuple[str, ...] = option(
        (), "data sets of Figures 4, 6, 7 and the tables, or CSV files (classes in the last column)"
    )
    data_4: tuple[str, ...] = option(
        (
            *("ionosphere", "pima", "balance", "digits389", "letters_ijlt"),
            *("segment", "ecoli", "birdsong"),
        )
    )
    data_6: tuple[str, ...] = option(("ionosphere", "balance", "letters_ijlt", "segment"))
    data_7: tuple[str, ...] = option(("birdsong", "ecoli", "letters_ijlt"))
    data_v: tuple[str, ...] = option(("syllables", "segment", "letters_ijlt", "penbased"))
    fractions: tuple[float, ...] = option(
        FRACTIONS, "triplets asked, as shares of the items", kind=float, share=True
    )
    asked: tuple[int, ...] = option((150, 900))
    """Triplets asked for Table IV; the first is Table V's."""
    pairs: tuple[int, ...] = option((150, 225))
    asked_regions: int = option(500, least=1)
    trials: int = option(20, "draws of answers", least=1)

    QUICK = {  # noqa: RUF012
        "data": ("balance",),
        "fractions": (0.05, 0.3),
        "asked": (150,),
        "asked_regions": 60,
        "trials": 1,
        "runtime": False,
    }

    def __post_init__(self) -> None:
        for name in ("data_4", "data_6", "data_7", "data_v"):
            object.__setattr__(self, name, self.data or getattr(self, name))

    def check(self) -> None:
        """Also the names of data sets."""
        super().check()
        sources.check((*self.data_4, *self.data_6, *self.data_7, *self.data_v))

    @property
    def methods_4(self) -> tuple[str, ...]:
        """The methods of Figure 4."""
        return self.methods or FIGURE_4

    @property
    def methods_v(self) -> tuple[str, ...]:
        """The methods of Table V."""
        chosen = tuple(name for name in self.methods if name in (*TABLE_V_METHODS, *EPS))
        return chosen if self.methods else TABLE_V_METHODS

    def wanted(self) -> Iterator[Cell]:
        """Trial by trial, so that a run cut short has a part of every entry."""
        for trial in range(self.trials):
            if 4 in self.figures:
                yield from self._curves(self.methods_4, self.data_4, self.fractions, trial)
            if 6 in self.figures:
                yield from self._curves(FIGURE_6, self.data_6, self.fractions, trial)
            if 7 in self.figures:
                yield from self._curves(FIGURE_7, self.data_7, (0.0, *self.fractions), trial)
            if 5 in self.figures:
                for method, name in product(FIGURE_6, REGIONS):
                    asked = (BOUNDARY, 0.0, self.asked_regions)
                    yield Cell(self.seed, method, name, *asked, trial)
            if self.tables:
                yield from self._people(trial)
            if self.runtime:
                yield Cell(self.seed, "dcrc", RUNTIME[0], RIGHT, 0.0, RUNTIME[1], trial)

    def _curves(
        self, methods: Iterable[str], sets: Iterable[str], fractions: Iterable[float], trial: int
    ) -> Iterator[Cell]:
        for name, method, fraction in product(sets, methods, fractions):
            asked = (RIGHT, fraction, max(1, round(fraction * len(sources.load(name).y))))
            if METHODS[method].uses == NOTHING or fraction == 0:
                asked = (NONE, 0.0, 0)
            yield Cell(self.seed, method, name, *asked, trial)

    def _people(self, trial: int) -> Iterator[Cell]:
        for name in self.data_v:
            for number in self.asked if "iv" in self.tables else ():
                yield Cell(self.seed, "dcrc-confusion", name, PEOPLE, 0.0, number, trial)
            for method in self.methods_v if "v" in self.tables else ():
                kind = {NOTHING: NONE, PAIRS: PEOPLE_PAIRS}.get(METHODS[method].uses, PEOPLE)
                numbers = {NONE: (0,), PEOPLE_PAIRS: self.pairs, PEOPLE: self.asked[:1]}[kind]
                for number in numbers:
                    yield Cell(self.seed, method, name, kind, 0.0, number, trial)


def tables(cells: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Mean scores by data set, answers and method.

    f_std is the standard deviation of F between draws, f_error half the width of the 95% interval
    of the mean; paper_f and paper_std are of Table V, on other data.
    """
    key = ["data", "answers", "fraction", "number", "method"]
    groups = frame.of_settings(cells, plan.cells()).groupby(key, sort=False)
    entries = groups[[*MEANS, "clusters", "seconds", "cpu_seconds"]].mean().round(4)
    entries["f_std"] = groups.f.std().round(4)
    entries["trials"] = groups.f.size()
    entries["f_error"] = frame.half_width(entries.f_std, entries.trials).round(4)
    entries = entries.reset_index()
    keys = zip(entries.method, entries.answers, entries.number, strict=True)
    published = np.array([TABLE_V.get(key, (np.nan, np.nan)) for key in keys]).reshape(-1, 2)
    shown = (entries.data.isin(plan.data_v) & (entries.fraction == 0)).to_numpy()
    entries[["paper_f", "paper_std"]] = np.where(shown[:, None], published, np.nan)
    return entries


def curve(
    entries: pd.DataFrame, name: str, method: str, fractions: Iterable[float]
) -> pd.DataFrame:
    """The entries of a method by number of right answers; one that uses none is level."""
    mine = entries[(entries.data == name) & (entries.method == method)]
    done = mine[(mine.answers == RIGHT) & mine.fraction.isin(list(fractions))]
    without = mine[mine.answers == NONE]
    if len(without) and not len(done):
        return pd.concat([without.assign(fraction=fraction) for fraction in fractions])
    return pd.concat([without, done]) if 0.0 in fractions else done


def by_fraction(
    entries: pd.DataFrame,
    sets: Iterable[str],
    methods: Iterable[str],
    fractions: tuple[float, ...],
    score: str = "f",
) -> pd.DataFrame:
    """A mean by data set and fraction (rows) and method (columns), NaN where nothing is done."""
    columns = {}
    for method in methods:
        parts = {
            name: curve(entries, name, method, fractions)
            .set_index("fraction")[score]
            .reindex(fractions)
            for name in sets
        }
        columns[method] = pd.concat(parts, names=["data", "fraction"])
    return pd.DataFrame(columns)


def confusions(
    cells: pd.DataFrame, plan: Plan
) -> Iterator[tuple[str, int, FloatArray, float, int]]:
    """Data set, answers, mean confusion matrix learned, its mean largest error, and draws."""
    mine = cells[(cells.method == "dcrc-confusion") & (cells.answers == PEOPLE)]
    mine = mine[mine.data.isin(plan.data_v) & mine.number.isin(plan.asked)]
    for (name, number), block in mine.groupby(["data", "number"]):
        learned = np.stack([frame.numbers(text).reshape(3, 3) for text in block.confusion])
        error = float(np.abs(learned - rates(TABLE_IV)).max(axis=(1, 2)).mean())
        yield name, number, learned.mean(axis=0), error, len(block)


HEAD = """# DCRC's figures and tables, measured

Mean pairwise F over draws of answers. Seed {seed}, {trials}; an entry with fewer says so. Columns
are standardized, methods are told the number of classes. Labels simulate answers and score; no
setting is chosen with them.
"""


def report(cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """What is done in Markdown, and which of the paper's claims it bears out."""
    yield HEAD.format(seed=plan.seed, trials=counted(plan.trials, "draw"))
    if "iii" in plan.tables:
        yield "## Table III: items, columns and classes\n"
        yield from frame.in_markdown(["", "here", "paper"], map(_sizes, plan.data_4))
    if 4 in plan.figures:
        asked = (plan.data_4, plan.methods_4, plan.fractions)
        tables = {name: by_fraction(entries, *asked, name) for name in ("f", "f_error", *OTHERS)}
        yield "## Figure 4: F by number of triplets, with half the width of its 95% interval\n"
        yield from _figure_4(tables)
        done = entries[(entries.answers == RIGHT) & (entries.fraction > 0)].trials
        if len(done):
            yield f"{frame.span(done, 'draw')}.\n"
    if 5 in plan.figures:
        yield "## Figure 5: three clusters, triplets near their boundaries\n"
        rows = entries[entries.answers == BOUNDARY].itertuples()
        yield from frame.in_markdown(
            ["clusters", "", "accuracy of the classifier", "with the answers used"],
            (
                [r.data, _name(r.method), *map(decimal, (r.predicted_accuracy, r.accuracy))]
                for r in rows
            ),
        )
    for number, methods, sets in ((6, FIGURE_6, plan.data_6), (7, FIGURE_7, plan.data_7)):
        if number in plan.figures:
            fractions = plan.fractions if number == 6 else (0.0, *plan.fractions)
            table = by_fraction(entries, sets, methods, fractions)
            lines = (
                [
                    sources.title(name),
                    _name(method),
                    *map(decimal, f),
                    decimal(f.mean(skipna=False)),
                ]
                for name, method in product(sets, methods)
                for f in (table.loc[name, method],)
            )
            yield f"## Figure {number}\n"
            yield from frame.in_markdown(["", "", *(f"{x:g} n" for x in fractions), "mean"], lines)
    if "iv" in plan.tables:
        yield "## Table IV: p(answer | truth) learned back from answers drawn from it\n"
        yield from _confusions(cells, plan)
    if "v" in plan.tables:
        yield "## Table V: answers drawn from Table IV, on other data than the paper's\n"
        yield from _people(entries, plan)
    if plan.runtime:
        yield from ("## Time\n", *_time(entries), "")


def _name(method: str) -> str:
    return "DCRC's default" if method == "dcrc" else METHODS[method].title


def _sizes(name: str) -> list[str]:
    """A row of Table III."""
    here = (*sources.load(name).X.shape, sources.classes(name))
    sizes = (here, TABLE_III.get(Path(name).stem, ()))
    return [sources.title(name), *(" x ".join(map(str, size)) for size in sizes)]


def _figure_4(tables: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    table, width = tables["f"], tables["f_error"]
    rows = []
    for name, block in table.groupby(level=0, sort=False):
        title = sources.title(str(name))
        for fraction, values in block.droplevel(0).iterrows():
            errors = width.loc[(name, fraction)]
            rows.append(
                [
                    title,
                    f"{fraction} n",
                    *(decimal(f, 3, e) for f, e in zip(values, errors, strict=True)),
                ]
            )
        rows.append([title, "mean", *map(decimal, block.mean(skipna=False))])
    for score, title in {"f": "F", **OTHERS}.items():
        rows.append(["all", f"mean {title}", *map(decimal, tables[score].mean(skipna=False))])
    heads = (METHODS[name].title for name in table.columns)
    yield from frame.in_markdown(["", "triplets", *heads], rows)


def _confusions(cells: pd.DataFrame, plan: Plan) -> Iterator[str]:
    words = ("yes", "no", "dnk")
    head = [f"{true} as {given}" for true, given in product(words, words)]
    rows = [["paper", "", *(f"{p:.2f}" for p in rates(TABLE_IV).ravel()), "", ""]]
    for name, number, learned, error, trials in confusions(cells, plan):
        entries = (f"{p:.2f}" for p in learned.ravel())
        rows.append([sources.title(name), f"{number}", *entries, f"{error:.3f}", f"{trials}"])
    yield from frame.in_markdown(["", "answers", *head, "largest error", "draws"], rows)


def people(entries: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The entries of Table V, with the words of each row."""
    kept = entries[(entries.fraction == 0) & entries.data.isin(plan.data_v)]
    kept = kept[kept.method.isin(plan.methods_v) & kept.answers.isin([PEOPLE, PEOPLE_PAIRS, NONE])]
    kept = kept[(kept.answers != PEOPLE) | (kept.number == plan.asked[0])]
    nouns = {PEOPLE: "triplets", PEOPLE_PAIRS: "pairs"}
    told = [
        f"{number} {nouns[kind]}" if kind in nouns else "no answers"
        for kind, number in zip(kept.answers, kept.number, strict=True)
    ]
    return kept.assign(told=told, title=[METHODS[name].title for name in kept.method])


def _people(entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    rows = []
    for (title, told), block in people(entries, plan).groupby(["title", "told"], sort=False):
        mine = block.set_index("data")
        cells = [
            decimal(mine.f[name], 3, mine.f_std[name]) if name in mine.index else ""
            for name in plan.data_v
        ]
        published = decimal(mine.paper_f.iloc[0], 2, mine.paper_std.iloc[0])
        rows.append([title, told, *cells, published])
    yield from frame.in_markdown(["", "", *map(sources.title, plan.data_v), "paper's set"], rows)


def _time(entries: pd.DataFrame) -> Iterator[str]:
    mine = entries[(entries.data == RUNTIME[0]) & (entries.number == RUNTIME[1])]
    for row in mine[(mine.answers == RIGHT) & (mine.fraction == 0)].itertuples():
        yield (
            f"One fit of 4998 items with {row.number} triplets: {row.seconds:.1f} s, "
            f"{row.cpu_seconds:.1f} s of processors, mean of {counted(row.trials, 'fit')} "
            f"(paper: less than {SECONDS:g} s)."
        )


def draw(
    cells: pd.DataFrame, entries: pd.DataFrame, plan: Plan
) -> dict[str, Callable[[], Figure | None]]:
    """The figures asked for."""
    more = (0.0, *plan.fractions)
    made: dict[Any, Callable[[], Figure | None]] = {
        2: information,
        4: lambda: _curves(
            entries, plan.data_4, plan.methods_4, plan.fractions, "Right answers about triplets"
        ),
        5: lambda: regions(plan),
        6: lambda: _curves(entries, plan.data_6, FIGURE_6, plan.fractions, "Soft and hard answers"),
        7: lambda: _curves(entries, plan.data_7, FIGURE_7, more, "Cluster balance"),
    }
    return {f"figure{number}": made[number] for number in plan.figures}


def information() -> Figure | None:
    """Figure 2: what an answer tells about labels, by the number of clusters."""
    clusters = np.arange(2, 21)
    triplet, pair = bc.information.triplet(clusters), bc.information.pair(clusters)
    lines = {
        "three pairs": 3 * np.asarray(pair),
        "two triplets": 2 * np.asarray(triplet),
        "one triplet": triplet,
        "one triplet, dnk ignored": bc.information.triplet(clusters, dnk=False),
        "one pair": pair,
    }
    parts = [pd.DataFrame({"line": name, "x": clusters, "mean": f}) for name, f in lines.items()]
    table = pd.concat(parts).assign(panel="mutual information with the labels", error=np.nan)
    return figures.curves(table, "What an answer tells", "number of clusters K", "nats")


def _curves(
    entries: pd.DataFrame,
    sets: Iterable[str],
    methods: Iterable[str],
    fractions: tuple[float, ...],
    heading: str,
) -> Figure | None:
    """F by number of triplets, a panel for each data set, with 95% intervals of the mean."""
    parts = []
    for name, method in product(sets, methods):
        rows = curve(entries, name, method, fractions)
        panel = (
            f"{sources.title(name)}: {len(sources.load(name).y)} items, K = {sources.classes(name)}"
        )
        level = len(rows) > 1 and (rows.answers == NONE).all()
        error = rows.f_error.where(rows.trials >= figures.FEWEST)
        x = np.nan if level else rows.fraction
        named = {"panel": panel, "line": _name(method), "x": x, "mean": rows.f, "error": error}
        parts.append(rows.assign(**named))
    table = pd.concat(parts)
    draws = frame.span(table.trials, "draw") if len(table) else ""
    xlabel = "triplets asked, as a share of the items"
    return figures.curves(table, f"{heading}: mean of {draws}", xlabel, ticks=fractions)


def regions(plan: Plan) -> Figure:
    """Figure 5: entropy of p(y | x; W) over the plane, after answers used in three ways."""
    import matplotlib.pyplot as plt
    from scipy.special import entr

    fine = 120
    size = (2.6 * len(FIGURE_6), 2.7 * len(REGIONS) + 0.5)
    figure, panels = plt.subplots(len(REGIONS), len(FIGURE_6), figsize=size, layout="constrained")
    for row, name in zip(panels, REGIONS, strict=True):
        items = sources.load(name)
        cell = Cell(plan.seed, "", name, BOUNDARY, 0.0, plan.asked_regions, 0)
        triplets = ask(items, BOUNDARY, plan.asked_regions, words_of(cell))
        low, high = items.X.min(axis=0) - 0.5, items.X.max(axis=0) + 0.5
        across, up = (np.linspace(*ends, fine) for ends in zip(low, high, strict=True))
        grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        for ax, method in zip(row, FIGURE_6, strict=True):
            est = METHODS[method].fit(items.X, triplets, 3, plan.seed)
            shade = entr(est.predict_proba(grid)).sum(axis=1).reshape(fine, fine)
            levels = np.linspace(0, np.log(3), 8)
            ax.contourf(across, up, shade, levels=levels, cmap="Greys", vmin=0, vmax=np.log(4))
            predicted = est.predict(items.X)
            figures.points(ax, items.X, figures.in_colours_of(predicted, items.y))
            right = accuracy(predicted, items.y)
            ax.set_title(f"{name}: {_name(method)}\n({right:.1%} right)", fontsize=8)
    figure.suptitle(
        f"Entropy of p(y | x; W); {plan.asked_regions} right answers among items near a boundary",
        fontsize=9,
    )
    return figure
