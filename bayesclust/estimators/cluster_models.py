"""Cluster models and powers: as given, or chosen by how well constraints are predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_choice, n_threads
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.stored import noise_names
from bayesclust.estimators.base import AUTO, MIXTURE, SINGLE, chain_starts, warn
from bayesclust.families import Family, get_family
from bayesclust.families.base import BoundFamily
from bayesclust.families.columns import Column, TiedColumnsWarning, describe_column
from bayesclust.families.gaussian import BoundColumns
from bayesclust.families.mixed import BoundProduct
from bayesclust.inference.chain import Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.dcrc.classifier import classifier_problem
from bayesclust.inference.dcrc.em import HELD_OUT_STARTS, ROUGH_TOLERANCE, EMSettings
from bayesclust.inference.limits.tuning import leave_out
from bayesclust.inference.runner import Draws, Schedule, run_chains
from bayesclust.partition_priors import Nested
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

CLASSIFIER = "classifier"
CLASSES = (2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30)
"""Numbers of classes that "auto" tries, in this order, until so many in a row are no better."""
PATIENCE = 2
HELD_OUT = 0.2
"""Share of the constraints that models are compared on."""
MANY_COLUMNS = 20
SPARSER = ("gaussian_tied", "gaussian_diagonal")
"""Tried beside full covariances of many columns: a cluster seldom has the items for d (d + 1) / 2
parameters."""
MIXED = "mixed"
"""Tried where many items share a value, which a Gaussian cluster fits arbitrarily tightly."""
PILOT, PILOT_CHAINS = Schedule(num_warmup=150, num_samples=150), 2
ROUGH = EMSettings(starts=HELD_OUT_STARTS, kept=1, tolerance=ROUGH_TOLERANCE)
SHOWN = 3


class Choice(NamedTuple):
    """What a cluster is, what an item weighs, the family of a component, and classes if known."""

    cluster_model: str
    power: float
    family: str
    n_classes: int = 0


@dataclass(frozen=True)
class Candidates:
    """The models to choose from; the first family is the one asked for."""

    items: FloatArray
    families: Mapping[str, BoundFamily]
    prior: Nested

    def problem(
        self,
        choice: Choice,
        constraints: Sequence[Constraints],
        rng: Generator | None = None,
        search: EMSettings | None = None,
    ) -> Any:
        """The model and the data under one choice."""
        given = tuple(constraints)
        if choice.cluster_model == CLASSIFIER:
            assert rng is not None
            return classifier_problem(self.items, given, choice.n_classes, search, rng)
        family = self.families[choice.family].coarsened(choice.power)
        if choice.cluster_model == MIXTURE:
            return TwoLevelProblem(family, given, self.prior.among, self.prior.within)
        return TVClustProblem(family, given, self.prior.among)

    def to_try(self, power: float | None, *, densities: bool) -> list[Choice]:
        """The models that "auto" compares, simplest first; classifiers only of whole tables."""
        weight = 1.0 if power is None else float(power)
        models = product(self.families, (SINGLE, MIXTURE))
        tried = [Choice(model, weight, name) for name, model in models]
        if densities or np.isnan(self.items).any():
            return tried
        most = len(self.items) // 2
        return [*tried, *(Choice(CLASSIFIER, 1.0, "logistic", k) for k in CLASSES if k <= most)]


def check_cluster_model(model: object, power: object, sampler: object) -> None:
    """Refuse unknown cluster models, those that the sampler lacks, and powers outside (0, 1]."""
    check_choice(model, "cluster_model", (SINGLE, MIXTURE, AUTO))
    number = isinstance(power, Real) and not isinstance(power, bool)
    if power is not None and not (number and 0 < float(power) <= 1):  # type: ignore[arg-type]
        raise ValueError(f"power={power!r} is not a number in (0, 1]: give one, or None.")
    if model != SINGLE and sampler != "collapsed":
        raise ValueError(
            f"cluster_model={model!r} needs sampler='collapsed'; got sampler={sampler!r}: "
            "choose that one."
        )


def bind_families(
    family: str | Family, items: FloatArray, *, several: bool
) -> dict[str, BoundFamily]:
    """Bind the family asked for and, where several may be tried, its alternatives, by their names.

    Where nothing is to be chosen, columns in which many items share a value cause a warning.
    """
    name = family if isinstance(family, str) else type(family).__name__
    given = get_family(family).bind(items)
    tied = tied_columns(given, items)
    if not several or name != "gaussian":
        if tied:
            warn(_tied_in_words(tied, len(items)), TiedColumnsWarning)
        return {name: given}
    further = SPARSER if items.shape[1] > MANY_COLUMNS else ()
    if tied:
        further = (*further, MIXED)
    return {name: given} | {other: get_family(other).bind(items) for other in further}


def tied_columns(bound: BoundFamily, items: FloatArray) -> dict[int, Column]:
    """The user's columns that a family takes for Gaussian though many items share a value."""
    found = {int(j): describe_column(items[:, j]) for j in _gaussian_columns(bound, items.shape[1])}
    return {j: column for j, column in found.items() if column.ties}


def _gaussian_columns(bound: BoundFamily, d: int) -> IntArray:
    """The user's columns that are Gaussian within a cluster, but for those behind a hurdle."""
    if isinstance(bound, BoundColumns):
        return np.arange(d)
    if not isinstance(bound, BoundProduct):
        return np.zeros(0, np.int64)
    parts = zip(bound.parts, bound.given, strict=True)
    taken = [own for part, own in parts if isinstance(part, BoundColumns)]
    columns = np.sort(np.concatenate([*taken, np.zeros(0, np.int64)])).astype(np.int64)
    hurdles = enumerate(bound.atoms)
    return np.setdiff1d(columns, [j for j, atoms in hurdles if atoms])


def _tied_in_words(tied: Mapping[int, Column], n: int) -> str:
    said = []
    for j, column in tied.items():
        values = ", ".join(f"{atom:g}" for atom in column.atoms or (column.value,))
        said.append(f"column {j} ({values} in {column.ties / n:.0%})")
    shown = ", ".join(said[:SHOWN])
    if len(said) > SHOWN:
        shown += f" and {len(said) - SHOWN} more"
    return (
        f"in {shown} of X many items share a value, to which a Gaussian cluster can shrink "
        "whatever the constraints say: see bayesclust.describe_columns(X), and compare families "
        "by how well they predict the constraints."
    )


def choose(
    candidates: Candidates,
    constraints: Sequence[Constraints],
    tried: Sequence[Choice],
    moves: Moves | None,
    settings: Mapping[str, Any],
    rng: Generator,
) -> tuple[Choice, pd.DataFrame]:
    """Compare models by short runs on a part of the constraints; a row of the table for each.

    The score of a model is the mean log probability of the constraints held out, given the data and
    the others: the density of the data has no part in it, which models need not have. Classifiers
    are tried from few classes to many, until more are no better. The first model within one
    standard error of the best is taken (Breiman et al. 1984, Sec. 3.4.3).
    """
    kept, held = split(constraints, rng)
    seed = int(rng.integers(2**63))
    threads = n_threads(settings["n_jobs"], cells=candidates.items.size)
    rows: list[dict[str, Any]] = []
    scores: list[FloatArray] = []

    def attempt(choice: Choice) -> float:
        clock = process_time()
        own = np.random.default_rng([seed, len(rows)])
        problem = candidates.problem(choice, kept, own, ROUGH)
        starts = chain_starts("collapsed", problem, None, moves, own.spawn(PILOT_CHAINS))
        draws = run_chains(starts, PILOT, progress=settings["progress"], n_jobs=threads)
        if draws.interrupted:
            raise KeyboardInterrupt
        scores.append(held_out_log_prob(draws, held))
        z = draws.posterior["z"]
        used = np.mean([len(np.unique(labels)) for labels in z.reshape(-1, z.shape[-1])])
        rows.append({**choice._asdict(), "clusters": used, "seconds": process_time() - clock})
        return float(scores[-1].mean())

    best, worse = -np.inf, 0
    for choice in tried:
        score = attempt(choice)
        if choice.cluster_model == CLASSIFIER:
            worse = 0 if score > best else worse + 1
            best = max(best, score)
        if worse == PATIENCE:
            break
    return first_within_one_error(rows, np.array(scores))


def split(
    constraints: Sequence[Constraints], rng: Generator
) -> tuple[list[Constraints], list[Constraints]]:
    """The constraints in two parts, to fit and to score by."""
    sizes = [len(one) for one in constraints]
    out = rng.permutation(sum(sizes)) < HELD_OUT * sum(sizes)
    return leave_out(constraints, np.split(out, np.cumsum(sizes)[:-1]))


def held_out_log_prob(draws: Draws, held: Sequence[Constraints]) -> FloatArray:
    """log p(answer | the constraints of the draws) of each answer held out."""
    z = draws.posterior["z"].reshape(-1, draws.posterior["z"].shape[-1])
    values = []
    for one, names in zip(held, noise_names(held), strict=True):
        noise = {
            name: draws.posterior[variable].reshape(len(z), *draws.posterior[variable].shape[2:])
            for name, variable in names.items()
        }
        total = np.full(len(one), -np.inf)
        for labels, table in zip(z, one.noise.log_table(noise), strict=True):
            total = np.logaddexp(total, table[one.codes, one.patterns(labels)])
        values.append(total - np.log(len(z)))
    return np.concatenate(values)


def behind_best(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far each row's mean lies behind the best one's, and the standard error of that."""
    behind = scores[scores.mean(axis=1).argmax()] - scores
    return behind.mean(axis=1), behind.std(axis=1) / np.sqrt(scores.shape[1])


def first_within_one_error(
    rows: Sequence[Mapping[str, Any]], scores: FloatArray
) -> tuple[Choice, pd.DataFrame]:
    """The first model within one error of the best, and the table; scores (models, constraints)."""
    import pandas as pd

    behind, error = behind_best(scores)
    chosen = int(np.flatnonzero(behind <= error)[0])
    table = pd.DataFrame(rows).assign(
        score=scores.mean(axis=1),
        behind=behind,
        error=error,
        chosen=np.arange(len(rows)) == chosen,
    )
    return Choice(*(rows[chosen][name] for name in Choice._fields)), table
