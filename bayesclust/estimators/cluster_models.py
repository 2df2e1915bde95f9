"""Cluster models and powers: as given, or chosen by how well constraints are predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_choice
from bayesclust.constraints.base import Constraints
from bayesclust.estimators.base import AUTO, MIXTURE, SINGLE, chain_starts, draws_tree, warn
from bayesclust.families import Family, get_family
from bayesclust.families.base import BoundFamily
from bayesclust.families.columns import Column, TiedColumnsWarning, describe_column
from bayesclust.families.gaussian import BoundColumns
from bayesclust.families.mixed import BoundProduct
from bayesclust.inference.chain import Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.runner import Schedule, run_chains
from bayesclust.partition_priors import Nested
from bayesclust.posterior.credibility import constraint_credibility
from bayesclust.posterior.tree import group
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

POWERS = (1.0, 0.5, 0.25, 0.1)
"""Tried by "auto", the largest first: from every item at full weight to ten counting as one."""
MANY_COLUMNS = 20
SPARSER = ("gaussian_tied", "gaussian_diagonal")
"""Tried beside full covariances of many columns: a cluster seldom has the items for d (d + 1) / 2
parameters."""
MIXED = "mixed"
"""Tried where many items share a value, which a Gaussian cluster fits arbitrarily tightly."""
PILOT, PILOT_CHAINS = Schedule(num_warmup=150, num_samples=150), 2
SHOWN = 3


class Choice(NamedTuple):
    """What a cluster is, what an item weighs, and the family of a component."""

    cluster_model: str
    power: float
    family: str


@dataclass(frozen=True)
class Candidates:
    """The models to choose from; the first family is the one asked for."""

    families: Mapping[str, BoundFamily]
    constraints: tuple[Constraints, ...]
    prior: Nested

    def problem(self, choice: Choice) -> TVClustProblem:
        """The model and the data under one choice."""
        family = self.families[choice.family].coarsened(choice.power)
        if choice.cluster_model == MIXTURE:
            return TwoLevelProblem(family, self.constraints, self.prior.among, self.prior.within)
        return TVClustProblem(family, self.constraints, self.prior.among)

    def to_try(self, power: float | None) -> list[Choice]:
        """All models that "auto" compares, simplest first; further families at full power alone."""
        given, *further = self.families
        powers = POWERS if self.families[given].takes_power else POWERS[:1]
        powers = powers if power is None else (float(power),)
        models = (SINGLE, MIXTURE)
        tried = [Choice(model, powers[0], name) for name in (given, *further) for model in models]
        tried += [Choice(model, weight, given) for weight in powers[1:] for model in models]
        return tried if any(map(len, self.constraints)) else tried[:1]


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
    power: float | None,
    items: FloatArray,
    moves: Moves | None,
    settings: Mapping[str, Any],
    rng: Generator,
) -> tuple[Choice, pd.DataFrame]:
    """Compare cluster models, powers and families by short runs; a row of the table for each.

    The score of a model is how probable it makes each constraint given the data and all others;
    the density of the data has no part in it, which cannot be compared between powers. The simplest
    model within one standard error of the best is taken (Breiman et al. 1984, Sec. 3.4.3).
    """
    tried = candidates.to_try(power)
    scores, clusters = [], []
    for choice in tried:
        problem = candidates.problem(choice)
        starts = chain_starts("collapsed", problem, None, moves, rng.spawn(PILOT_CHAINS))
        draws = run_chains(starts, PILOT, progress=settings["progress"], n_jobs=settings["n_jobs"])
        tree = draws_tree(replace(draws, sample_stats={}), candidates.constraints, items, settings)
        clusters.append(float(group(tree, "posterior")["n_clusters"].mean()))
        several = len(tried) > 1
        scores.append(
            constraint_credibility(tree)["elpd_loo"].to_numpy() if several else np.zeros(1)
        )
    return simplest_within_one_error(tried, np.array(scores), clusters)


def behind_best(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far each row's mean lies behind the best one's, and the standard error of that."""
    behind = scores[scores.mean(axis=1).argmax()] - scores
    return behind.mean(axis=1), behind.std(axis=1) / np.sqrt(scores.shape[1])


def simplest_within_one_error(
    tried: Sequence[Choice], scores: FloatArray, clusters: Sequence[float]
) -> tuple[Choice, pd.DataFrame]:
    """The first model within one error of the best, and the table; scores (models, constraints)."""
    import pandas as pd

    behind, error = behind_best(scores)
    chosen = int(np.flatnonzero(behind <= error)[0])
    table = pd.DataFrame(tried, columns=Choice._fields).assign(
        elpd_loo=scores.mean(axis=1),
        behind=behind,
        error=error,
        clusters=clusters,
        chosen=np.arange(len(tried)) == chosen,
    )
    return tried[chosen], table
