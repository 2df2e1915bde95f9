"""Cluster models and powers: as given, or chosen by how well constraints are predicted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import islice
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesclust.checks import check_choice, number_between, some_of
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.noise import TINY
from bayesclust.constraints.queries import all_easy
from bayesclust.constraints.stored import noise_names
from bayesclust.estimators.base import AUTO, MIXTURE, SINGLE, no_data, warn
from bayesclust.families import Family, get_family
from bayesclust.families.base import BoundFamily
from bayesclust.families.columns import (
    ENOUGH_TIES,
    Column,
    CopiedColumnsWarning,
    TiedColumnsWarning,
    describe_column,
)
from bayesclust.families.gaussian import BoundColumns, BoundFullGaussian
from bayesclust.families.mixed import BoundProduct, Mixed
from bayesclust.inference.batches import BatchProblem
from bayesclust.inference.chain import Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.checkpoint import Checkpoint
from bayesclust.inference.dcrc.classifier import classifier_problem
from bayesclust.inference.dcrc.em import EMSettings
from bayesclust.inference.limits.tuning import CLASSES, folds, until_no_better
from bayesclust.inference.runner import Chain, Draws, Schedule, run_chains
from bayesclust.inference.samplers import COLLAPSED, chain_starts
from bayesclust.partition_priors import Nested, PartitionPrior, as_nested
from bayesclust.typing import FloatArray, IntArray

CLASSIFIER, CHOICE = "classifier", "choice"
MODEL = "model"
"""The attribute of draws for the choice, the words of its columns, and a classifier's weights."""
# labels are too few to choose by, and part classes better along a curve than along a line
LOGISTIC, RADIAL = "logistic", "radial"
"""Features of a classifier: the columns for links, radial basis functions of them for labels."""
# a cluster seldom has the items for d (d + 1) / 2 parameters; with the power, classes that are no
# ellipses take fewer Gaussians, which few answers can group
MANY_COLUMNS, COMPONENTS, WEAKER = 20, (10, 5, 20), 0.7
"""Most columns for Gaussians, components tried otherwise, and a power tried with most of them."""
COMPARABLE = 1.5
"""Ratio of standard deviations up to which scaling makes no difference."""
WIDE, MOST_FEATURES = 100, 50
"""Columns from which classifiers are of so many principal components."""
# a Gaussian fits shared values arbitrarily tightly; sweeps of the second cost ten times as much:
# only in tables of at most `MOST_CELLS`; lengths are one up to `ROUNDING`
GAUSSIAN, MIXED, DIRECTIONS = "gaussian", "mixed", "von_mises_fisher"
"""The second is tried where many items share a value, the third where rows have length one."""
MOST_CELLS, ROUNDING = 10_000, 1e-3
ROUNDS, MOST_LEFT, HOPELESS = (Schedule(75, 75), Schedule(100, 100)), 3, 3.0
"""Pilot runs go on with so many at most, none further behind the best than so many errors."""
# first of all the models left, then of those no further behind than so many errors
ANEW, MOST_PARTS, ENOUGH, CLOSE = Schedule(150, 100), 2, 3000, 2.0
"""Runs on so many further parts at most, until so many constraints have been held out."""
LONGER, MOST_LONGER = Schedule(300, 100), 2
"""Rounds more of those left while none of them predicts better than the shares of the answers."""
# of few labels densities learn more (Ng and Jordan 2002), of many wrong shapes hold them back
PER_CLASS = 5
"""Labelled items per class for a classifier, which is taken within an error of the best."""
EQUAL = 0.003
"""Gain in nats per answer below which a cluster keeps one component."""
PILOT_CHAINS = 2
ROUGH = EMSettings(starts=4, kept=1, tolerance=1e-3)
SHOWN = 3
# measured: copies of three columns, from .999 on, can hide clusters that are far apart
COPIED = 0.999
"""Correlation from which one column is a copy of another."""


class Choice(NamedTuple):
    """What a cluster is, what an item weighs, the family of a component, and of what."""

    cluster_model: str
    power: float
    family: str
    n_dimensions: int
    """Columns, or principal components of them."""
    scaled: bool = True
    """Whether these are of standardised columns."""
    n_classes: int = 0

    @property
    def words(self) -> str:
        """The model in words."""
        kind = f"{self.cluster_model}, {self.family}"
        if self.n_classes:
            name = f", {RADIAL}" if self.family == RADIAL else ""
            kind = f"{self.cluster_model}{name}, K = {self.n_classes}"
        weight = "" if self.power == 1.0 else f", power {self.power:g}"
        return f"{kind}, d = {self.n_dimensions}{'' if self.scaled else ', unscaled'}{weight}"


@dataclass(frozen=True)
class Candidates:
    """The models to choose from."""

    items: FloatArray
    family: str | Family
    partition_prior: PartitionPrior | Nested | str | None
    words: Sequence[int] = ()
    """Columns that hold codes of words."""
    batches: Any = None
    """The batch of each item, where the prior has batches."""

    @property
    def one_model(self) -> bool:
        """Whether there is nothing to choose from: no data, or a prior of one component."""
        prior = as_nested(self.partition_prior).among
        return self.batches is not None or not prior.exchangeable or no_data(self.items)

    @cached_property
    def name(self) -> str:
        """The name of the family asked for."""
        return self.family if isinstance(self.family, str) else type(self.family).__name__

    @cached_property
    def bound(self) -> BoundFamily:
        """The family asked for, bound to all columns."""
        return self.of_words(self.family).bind(self.items)

    def of_words(self, family: str | Family) -> Family:
        """A family, given the columns of words if it uses them."""
        found = get_family(family)
        return replace(found, words=tuple(self.words)) if isinstance(found, Mixed) else found

    @cached_property
    def components(self) -> Callable[[int, bool], tuple[Any, FloatArray]]:
        """So many principal components, scaled or not: their map and the items, made once."""
        return cache(partial(principal_components, self.items))

    def problem(
        self,
        choice: Choice,
        constraints: Sequence[Constraints],
        rng: Generator | None = None,
        search: EMSettings | None = None,
        W: FloatArray | None = None,
    ) -> tuple[Any, Any]:
        """The model and the data under one choice, and the map of the columns, if there is one."""
        reduction, items = None, self.items
        if choice.n_dimensions < items.shape[1]:
            reduction, items = self.components(choice.n_dimensions, choice.scaled)
        given = tuple(constraints)
        if choice.cluster_model == CLASSIFIER:
            assert rng is not None
            K, radial = choice.n_classes, choice.family == RADIAL
            made = classifier_problem(items, given, K, search, rng, radial=radial, W=W)
            return made, reduction
        own = choice.family == self.name
        bound = self.bound
        if reduction is not None or not own:
            bound = self.of_words(self.family if own else choice.family).bind(items)
        if reduction is not None:
            bound = half_scaled(bound)
        family, mixture = bound.coarsened(choice.power), choice.cluster_model == MIXTURE
        prior = as_nested(self.partition_prior, mixture=mixture)
        if mixture:
            return TwoLevelProblem(family, given, prior.among, prior.within), reduction
        if self.batches is not None:
            names, batch = np.unique(self.batches.astype(str), return_inverse=True)
            largest = int(np.bincount(batch).argmax())
            return BatchProblem(
                family, given, prior.among, batch, names.tolist(), largest
            ), reduction
        return TVClustProblem(family, given, prior.among), reduction

    def to_try(
        self, power: float | None, *, densities: bool, labels: Sequence[Any] = ()
    ) -> list[Choice]:
        """The models that "auto" compares, simplest first; a family that was asked for is kept."""
        # The default gives way to other families, and to classifiers where all cells are seen, of
        # many labels of just their classes.
        n, d = self.items.shape
        plain = Choice(SINGLE, float(power or 1.0), self.name, d)
        usual = self.name == GAUSSIAN
        if usual and d > MANY_COLUMNS and n > min(COMPONENTS):
            # columns of one unit may differ in spread because they differ in what they say
            spread = self.items.std(axis=0)
            scalings = (True, False) if spread.max() > COMPARABLE * spread.min() else (True,)
            mixture = plain._replace(cluster_model=MIXTURE)
            sizes = [mixture._replace(n_dimensions=q) for q in COMPONENTS if q < n]
            widest = max(sizes, key=lambda own: own.n_dimensions)
            weaker = [] if power else [widest._replace(power=WEAKER)]
            tried = [own._replace(scaled=one) for own in sizes + weaker for one in scalings]
        else:
            tried = [plain, plain._replace(cluster_model=MIXTURE)]
            small = self.items.size <= MOST_CELLS
            if usual and small and tied_columns(self.bound, self.items):
                tried.append(tried[1]._replace(family=MIXED))
        if usual and d > 1 and np.allclose(np.linalg.norm(self.items, axis=1), 1, atol=ROUNDING):
            tried.append(plain._replace(cluster_model=MIXTURE, family=DIRECTIONS))
        if densities or not usual:
            return tried
        seen = min(n - 1, MOST_FEATURES) if d > WIDE else d
        most = as_nested(self.partition_prior).among.most_clusters or n // 2
        numbers: Sequence[int] = [max(2, len(own.classes)) for own in labels if many(own)]
        classes = (k for k in (numbers if labels else CLASSES) if k <= most)
        kind = RADIAL if labels else LOGISTIC
        return [*tried, *(Choice(CLASSIFIER, 1.0, kind, seen, n_classes=k) for k in classes)]


def many(labels: Any) -> bool:
    """Whether there are labels enough for a classifier."""
    return len(np.unique(labels.items)) >= PER_CLASS * len(labels.classes)


def principal_components(items: FloatArray, number: int, scaled: bool) -> tuple[Any, FloatArray]:
    """The map to so many principal components, of scaled columns or not, and the items' own."""
    steps = [StandardScaler()] if scaled else []
    reduction = make_pipeline(*steps, PCA(number, random_state=0)).fit(items)
    return reduction, reduction.transform(items)


def half_scaled(bound: Any) -> Any:
    """Components in units of the roots of their deviations: clusters are nearly round in these."""
    ratio = np.sqrt(bound.unit / bound.unit.mean())
    scaled = {"X": bound.X * ratio, "unit": bound.unit / ratio, "floor": bound.floor * ratio**2}
    return replace(bound, **scaled)


def check_cluster_model(model: object, power: object, sampler: object) -> None:
    """Refuse unknown cluster models, those that the sampler lacks, and powers not in (0, 1]."""
    check_choice(model, "cluster_model", (SINGLE, MIXTURE, AUTO))
    if power is not None:
        number_between(power, "power", "(0, 1]")
    if model == MIXTURE and sampler != COLLAPSED:
        raise ValueError(
            f"cluster_model={model!r} needs sampler='collapsed'; got sampler={sampler!r}: "
            "choose that one."
        )


def warn_of_columns(bound: BoundFamily, items: FloatArray) -> None:
    """Warn of columns in which items share a value, or that copy others, in Gaussian clusters."""
    copies = [f"column {j} (of {k})" for k, j in copied_columns(bound, items.shape[1])]
    if copies:
        warn(
            f"X has nearly a copy in {some_of(copies, SHOWN)}, a correlation that no single "
            "cluster is expected to have, so that one cluster may take all items: leave the "
            "copies out, or choose family='gaussian_tied'.",
            CopiedColumnsWarning,
        )
    said = []
    for j, column in tied_columns(bound, items).items():
        values = ", ".join(f"{atom:g}" for atom in column.atoms or (column.value,))
        said.append(f"column {j} ({values} in {column.ties / len(items):.0%})")
    if said:
        warn(
            f"in {some_of(said, SHOWN)} of X many items share a value, to which a Gaussian cluster "
            "can shrink whatever the constraints say: see bayesclust.describe_columns(X), and "
            "compare families by how well they predict the constraints.",
            TiedColumnsWarning,
        )


def _parts(bound: BoundFamily, d: int) -> list[tuple[BoundFamily, IntArray]]:
    """A family, or those of a product, each with its columns."""
    if isinstance(bound, BoundProduct):
        return list(zip(bound.parts, bound.given, strict=True))
    return [(bound, np.arange(d))]


def copied_columns(bound: BoundFamily, d: int) -> list[tuple[int, int]]:
    """Pairs of the user's columns, nearly copies of each other, in one full covariance."""
    found: list[tuple[int, int]] = []
    for part, columns in _parts(bound, d):
        if type(part) is BoundFullGaussian and part.X.shape[1] > 1 and len(part.X) > ENOUGH_TIES:
            alike = np.triu(np.abs(np.corrcoef(part.X.T)) > COPIED, 1)
            own = columns[part.kept]
            found += [(int(own[k]), int(own[j])) for k, j in np.argwhere(alike)]
    return found


def tied_columns(bound: BoundFamily, items: FloatArray) -> dict[int, Column]:
    """The user's columns that a family takes for Gaussian though many items share a value."""
    found = {int(j): describe_column(items[:, j]) for j in _gaussian_columns(bound, items.shape[1])}
    return {j: column for j, column in found.items() if column.ties}


def _gaussian_columns(bound: BoundFamily, d: int) -> IntArray:
    """The user's columns that are Gaussian within a cluster, but for those behind a hurdle."""
    parts = _parts(bound, d)
    taken = {int(j) for part, own in parts if isinstance(part, BoundColumns) for j in own}
    hurdles = {j for j, atoms in enumerate(getattr(bound, "atoms", ())) if atoms}
    return np.array(sorted(taken - hurdles), np.int64)


@dataclass
class Pilot:
    """A short run of one model on a part of the constraints."""

    choice: Choice
    chains: list[Chain] = field(default_factory=list)
    seconds: float = 0.0
    score: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Mean log p of the constraints in each unit held out."""
    clusters: float = np.nan


@dataclass
class Comparison:
    """Short runs of models on a part of the constraints, which the others score."""

    candidates: Candidates
    tried: Sequence[Choice]
    moves: Moves | None
    how: Mapping[str, Any]
    seed: int
    pilots: dict[Choice, Pilot] = field(default_factory=dict)
    labelled: bool = False
    """Whether there are labels: then a classifier is taken where it is about as good."""
    part: int = -1
    by_shares: FloatArray = field(default_factory=lambda: np.zeros(0))

    def hold_out(self, kept: Sequence[Constraints], held: Sequence[Constraints]) -> None:
        """Take another part of the constraints to score by."""
        self.part += 1
        self.kept = kept
        self.held = held
        self.by_shares = np.append(self.by_shares, shares_log_prob(kept, held))

    def go_on(self, pilot: Pilot, schedule: Schedule) -> float:
        """Make more sweeps of a model; returns the mean score of their draws."""
        clock = process_time()
        title = f"Comparing models: {pilot.choice.words}"
        starts = [lambda own=own: own for own in pilot.chains]
        draws = run_chains(starts, schedule, title=title, **self.how)
        if draws.interrupted:
            raise KeyboardInterrupt
        pilot.score = held_out_log_prob(draws, self.kept, self.held)
        z = draws.posterior["z"]
        pilot.clusters = np.mean([len(np.unique(row)) for row in z.reshape(-1, z.shape[-1])])
        pilot.seconds += process_time() - clock
        return float(pilot.score.mean())

    def begin(self, choice: Choice, schedule: Schedule) -> float:
        """New chains of one model, with a seed that does not depend on what else is run."""
        clock = process_time()
        rng = np.random.default_rng([self.seed, self.tried.index(choice), self.part])
        problem, reduction = self.candidates.problem(choice, self.kept, rng, ROUGH)
        rngs = rng.spawn(PILOT_CHAINS)
        starts = chain_starts(COLLAPSED, problem, None, self.moves, rngs, finer=bool(reduction))
        pilot = self.pilots.setdefault(choice, Pilot(choice))
        pilot.chains = [start() for start in starts]
        pilot.seconds += process_time() - clock
        return self.go_on(pilot, schedule)

    def densities(self) -> list[Pilot]:
        """The best models of items, by successive halving (Jamieson and Talwalkar 2016)."""
        for choice in self.tried:
            if not choice.n_classes and choice.scaled not in hopeless_scalings(self.pilots):
                self.begin(choice, ROUNDS[0])
        left = hopeful(list(self.pilots.values()))
        for schedule in (*ROUNDS[1:], *[LONGER] * MOST_LONGER):
            if schedule is LONGER and tells(left, self.by_shares):
                break
            for pilot in left:
                self.go_on(pilot, schedule)
        return left

    def classifiers(self) -> list[Pilot]:
        """The classifier of the fewest classes about as good as the best, if there is one."""
        # Run from few classes to many until more are no better, unless that of about as many as the
        # best model has clusters is hopeless and no classifier would win if about as good.
        tried = [choice for choice in self.tried if choice.cluster_model == CLASSIFIER]
        if not tried:
            return []
        best = max(self.pilots.values(), key=lambda pilot: float(pilot.score.mean()))
        near = min(tried, key=lambda choice: abs(choice.n_classes - best.clusters))
        score = cache(partial(self.begin, schedule=ROUNDS[-1]))
        score(near)
        if not self.labelled and self.pilots[near] not in hopeful([best, self.pilots[near]]):
            return []
        until_no_better(tried, score)
        # within a standard error (Breiman et al. 1984): of many numbers the best is so by luck
        some = [self.pilots[choice] for choice in tried if choice in self.pilots]
        near_best = zip(some, *behind_best([pilot.score for pilot in some]), strict=True)
        return [next(pilot for pilot, behind, error in near_best if behind <= error)]

    def close(self, pilots: Sequence[Pilot], errors: float) -> list[Pilot]:
        """The hopeful ones, and the classifier where it is taken if about as good."""
        left = hopeful(pilots, errors)
        return [p for p in pilots if p in left or (self.labelled and p.choice.n_classes)]

    def further(self, close: Sequence[Pilot]) -> None:
        """Run some models on another part too."""
        for pilot in close:
            before = pilot.score
            self.begin(pilot.choice, ANEW)
            pilot.score = np.append(before, pilot.score)

    def outcome(self) -> tuple[Choice, pd.DataFrame]:
        """The model chosen, and what is said of all."""
        pilots = [self.pilots[choice] for choice in self.tried if choice in self.pilots]
        behind, error = behind_best([pilot.score for pilot in pilots])
        held_out = np.array([len(pilot.score) for pilot in pilots])
        # where no model predicts anything, the simplest of those about as good as the best
        single = np.array([pilot.choice.cluster_model == SINGLE for pilot in pilots])
        equal = (held_out == held_out.max()) & (behind <= EQUAL * single)
        chosen = int(np.argmax(equal if tells(pilots, self.by_shares) else behind <= error))
        if self.labelled:
            good = [i for i, own in enumerate(pilots) if own.choice.n_classes]
            chosen = next((i for i in good if behind[i] <= error[i]), chosen)
        columns = {
            "model": [pilot.choice.words for pilot in pilots],
            "held": held_out,
            "score": [pilot.score.mean() for pilot in pilots],
            "behind": behind,
            "error": error,
            "clusters": [pilot.clusters for pilot in pilots],
            "seconds": [pilot.seconds for pilot in pilots],
            "chosen": np.arange(len(pilots)) == chosen,
        }
        decimals = {"score": 3, "behind": 3, "error": 3, "clusters": 1, "seconds": 1}
        table = pd.DataFrame(columns).set_index("model").round(decimals)
        return pilots[chosen].choice, table


def choose(
    candidates: Candidates,
    constraints: Sequence[Constraints],
    tried: Sequence[Choice],
    moves: Moves | None,
    how: Mapping[str, Any],
    rng: Generator,
) -> tuple[Choice, pd.DataFrame]:
    """Compare models by short runs on a part of the constraints; a row of the table for each."""
    # Scored is the mean log probability of constraints held out given the data and the others:
    # models need no density of the data. The best run on further parts, as few answers tell little.
    constraints = all_easy(constraints)
    parts = folds(constraints, rng, enough=ENOUGH)
    first = next(parts)
    compared = Comparison(candidates, tried, moves, how, int(rng.integers(2**63)))
    compared.labelled = any(not one.has_table for one in constraints)
    compared.hold_out(*first)
    densities, classifiers = compared.densities(), compared.classifiers()
    close = compared.close([*densities, *classifiers], HOPELESS)
    for part in islice(parts, MOST_PARTS):
        if len(close) == 1:
            break
        compared.hold_out(*part)
        compared.further(close)
        close = compared.close(close, CLOSE)
    return compared.outcome()


def tells(pilots: Sequence[Pilot], by_shares: FloatArray) -> bool:
    """Whether any model predicts answers better than their shares, by its standard error."""
    gains = [pilot.score - by_shares[: len(pilot.score)] for pilot in pilots]
    return any(gain.mean() > gain.std() / np.sqrt(len(gain)) for gain in gains)


def chosen_once(
    compare: Callable[[], tuple[Choice, pd.DataFrame]], store: Checkpoint | None
) -> tuple[Choice, pd.DataFrame]:
    """The outcome of a comparison, which a checkpoint keeps for the run that resumes."""
    kept = store.kept(CHOICE) if store is not None else None
    if kept is not None:
        return Choice(*kept["choice"]), pd.DataFrame(kept["scores"]).set_index("model")
    choice, scores = compare()
    if store is not None:
        store.keep(CHOICE, {"choice": list(choice), "scores": scores.reset_index().to_dict("list")})
    return choice, scores


def hopeful(pilots: Sequence[Pilot], errors: float = HOPELESS) -> list[Pilot]:
    """The best ones, in their order, without those further behind than so many errors."""
    behind, error = behind_best([pilot.score for pilot in pilots])
    order = [i for i in np.argsort(behind) if behind[i] <= errors * error[i]]
    return [pilots[i] for i in sorted(order[:MOST_LEFT])]


def hopeless_scalings(pilots: Mapping[Choice, Pilot]) -> set[bool]:
    """Scalings with which the first models are far behind the same ones without, or with, them."""
    first = list(pilots.values())[:2]
    if len({pilot.choice.scaled for pilot in first}) < 2:
        return set()
    return {pilot.choice.scaled for pilot in first} - {p.choice.scaled for p in hopeful(first)}


def held_out_log_prob(draws: Draws, kept: Sequence[Any], held: Sequence[Constraints]) -> FloatArray:
    """log p(answer | the constraints of the draws, `kept`) of each unit of answers held out."""
    z = draws.posterior["z"].reshape(-1, draws.posterior["z"].shape[-1])
    values = []
    for known, one, names in zip(kept, held, noise_names(held), strict=True):
        noise = {
            name: draws.posterior[variable].reshape(len(z), *draws.posterior[variable].shape[2:])
            for name, variable in names.items()
        }
        confusion = one.noise.confusion(noise)
        p = np.zeros(len(one))
        for at in range(len(z)):
            part = slice(at, at + 1)
            p += known.forecast(one, z[part], confusion[part])[0, np.arange(len(one)), one.answers]
        values.append(mean_of_units(one, np.log(np.maximum(p / len(z), TINY))))
    return np.concatenate(values)


def shares_log_prob(kept: Sequence[Constraints], held: Sequence[Constraints]) -> FloatArray:
    """The same, an answer being as probable as its share among the others of its kind."""
    values = []
    for known, one in zip(kept, held, strict=True):
        times = np.bincount(known.answers, minlength=len(one.vocabulary)) + 1.0
        values.append(mean_of_units(one, np.log(times / times.sum())[one.answers]))
    return np.concatenate(values)


def mean_of_units(held: Constraints, score: FloatArray) -> FloatArray:
    """The mean score of each unit: labels of one item go well or badly together."""
    unit = held.units
    return np.asarray(np.bincount(unit, score) / np.bincount(unit))


def behind_best(scores: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """How far each mean lies behind the best one's, and the standard error of that."""
    # The best one is among those with the most scores; others have only the first of these.
    most = max(map(len, scores))
    best = max((own for own in scores if len(own) == most), key=lambda own: float(own.mean()))
    behind = [best[: len(own)] - own for own in scores]
    errors = [own.std() / np.sqrt(len(own)) for own in behind]
    return np.array([own.mean() for own in behind]), np.array(errors)
