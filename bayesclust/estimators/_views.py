"""What a cluster is and how much the data weigh: given, or chosen by how well the answers are predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_choice, check_random_state
from bayesclust.constraints.base import Constraints
from bayesclust.estimators._draws import draws_tree
from bayesclust.estimators._samplers import chain_starts
from bayesclust.estimators._ties import bind_family, tied_columns
from bayesclust.families import Family, get_family
from bayesclust.families.base import BoundFamily
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.runner import Schedule, run_chains
from bayesclust.inference.two_level.chain import TwoLevelProblem
from bayesclust.models.priors import Concentration
from bayesclust.posterior.credibility import constraint_credibility
from bayesclust.posterior.tree import group
from bayesclust.typing import FloatArray

if TYPE_CHECKING:
    import pandas as pd

SINGLE, MIXTURE, AUTO = "single", "mixture", "auto"
POWERS = (1.0, 0.5, 0.25, 0.1)
"""Tried by "auto", the most first: from every item at its full weight to ten counting as one."""
MANY_COLUMNS = 20
SPARER = ("gaussian_tied", "gaussian_diagonal")
"""Tried beside full covariances of many columns, whose d (d + 1) / 2 parameters a cluster seldom has the items for."""
MIXED = "mixed"
"""Tried where many items share a value, which Gaussian clusters fit by clusters of their own whatever the answers say."""
PILOT, PILOT_CHAINS = Schedule(num_warmup=150, num_samples=150), 2


class Choice(NamedTuple):
    """What a cluster is, what an item weighs, and the family of a component."""

    cluster_model: str
    power: float
    family: str


class Pieces(NamedTuple):
    """The pieces of a problem that views are made of; of the families the first is the one asked for."""

    families: Mapping[str, BoundFamily]
    answers: tuple[Constraints, ...]
    concentration: Concentration
    within: Concentration

    def problem(self, choice: Choice) -> TVClustProblem:
        """The problem under one choice."""
        cluster_model, power, name = choice
        family = self.families[name].coarsened(power)
        if cluster_model == MIXTURE:
            return TwoLevelProblem(family, self.answers, self.concentration, self.within)
        return TVClustProblem(family, self.answers, self.concentration)


def check_cluster_model(model: object, power: object, sampler: object, gamma: float | None) -> None:
    """Refuse an unknown cluster model, one that the sampler does not have, and a power outside (0, 1]."""
    check_choice(model, "cluster_model", (SINGLE, MIXTURE, AUTO))
    if power is not None and (
        isinstance(power, bool) or not isinstance(power, Real) or not 0 < float(power) <= 1
    ):
        raise ValueError(f"power={power!r} is not a number in (0, 1]: give one, or None.")
    if model != SINGLE and sampler != "collapsed":
        raise ValueError(
            f"cluster_model={model!r} has sampler='collapsed' alone; got sampler={sampler!r}: choose that one."
        )
    if gamma is not None and (model == AUTO or power is not None):
        raise ValueError(
            'gamma leads to the limit of one model at full weight: leave out gamma, or power and cluster_model="auto".'
        )


def bind_families(
    family: str | Family, items: FloatArray, *, several: bool
) -> dict[str, BoundFamily]:
    """Bind the family that was asked for, and those that "auto" tries beside it, by their names.

    Beside full covariances these are sparer ones of many columns, and "mixed" where many items
    share a value of a column, of which there is no warning then.

    Parameters
    ----------
    family : str or Family
    items : ndarray of shape (n, d)
    several : bool
        Whether there is a choice to make.

    Returns
    -------
    dict
    """
    name = family if isinstance(family, str) else type(family).__name__
    if not several or name != "gaussian":
        return {name: bind_family(get_family(family), items)}
    given = get_family(family).bind(items)
    further = SPARER if items.shape[1] > MANY_COLUMNS else ()
    if tied_columns(given, items):
        further = (*further, MIXED)
    return {name: given} | {other: get_family(other).bind(items) for other in further}


def settle(
    pieces: Pieces,
    items: FloatArray,
    settings: Mapping[str, Any],
    random_state: int | Generator | None,
) -> tuple[Choice, pd.DataFrame | None]:
    """Return what is fitted, as given or as chosen, and the scores by which it was chosen."""
    cluster_model, power = settings["cluster_model"], settings["power"]
    if cluster_model == AUTO:
        return choose(pieces, power, items, settings, check_random_state(random_state).spawn(1)[0])
    return Choice(
        cluster_model, 1.0 if power is None else float(power), next(iter(pieces.families))
    ), None


def choose(
    pieces: Pieces,
    power: float | None,
    items: FloatArray,
    settings: Mapping[str, Any],
    rng: Generator,
) -> tuple[Choice, pd.DataFrame]:
    """Compare cluster models by short runs.

    The score of a model is how probable it makes each answer, given the data and all the other
    answers. Labels have no part in it, and neither has the density of the data, which tells nothing
    about answers and cannot be compared between powers. Among the models whose mean score lies
    within one standard error (of paired differences) of the best, the one closest to the single
    model is taken (Breiman et al. 1984, Sec. 3.4.3): the greatest power, the family that was asked
    for, and one component to a cluster. Further families are tried at the greatest power alone.

    Parameters
    ----------
    pieces : Pieces
    power : float or None
        The only one to try; None tries `POWERS` where the family has them.
    items : ndarray of shape (n, d)
    settings : mapping
        Of the estimator.
    rng : Generator

    Returns
    -------
    tuple of Choice and pandas.DataFrame
        And one row for each that was tried: cluster_model, power, family, elpd_loo (mean over answers, in
        nats), behind (the best one's less this one's), error (standard error of that), clusters
        (mean number) and chosen.
    """
    given, *further = pieces.families
    powers = (
        (power,)
        if power is not None
        else POWERS
        if pieces.families[given].takes_power
        else POWERS[:1]
    )
    tried = [
        Choice(model, powers[0], name) for name in (given, *further) for model in (SINGLE, MIXTURE)
    ]
    tried += [Choice(model, weight, given) for weight in powers[1:] for model in (SINGLE, MIXTURE)]
    if not sum(map(len, pieces.answers)):
        tried = tried[:1]
    scores, clusters = [], []
    for choice in tried:
        problem = pieces.problem(choice)
        starts = chain_starts(
            "collapsed", problem, None, settings["moves"], rng.spawn(PILOT_CHAINS)
        )
        draws = run_chains(starts, PILOT, progress=settings["progress"], n_jobs=settings["n_jobs"])
        tree = draws_tree(replace(draws, sample_stats={}), pieces.answers, items, settings)
        clusters.append(float(group(tree, "posterior")["n_clusters"].mean()))
        scores.append(
            constraint_credibility(tree)["elpd_loo"].to_numpy() if len(tried) > 1 else np.zeros(1)
        )
    return _within_one_error(tried, np.array(scores), clusters)


def behind_best(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far each row's mean lies behind the best one's, and the standard error of these paired differences."""
    behind = scores[scores.mean(axis=1).argmax()] - scores
    return behind.mean(axis=1), behind.std(axis=1) / np.sqrt(scores.shape[1])


def _within_one_error(
    tried: Sequence[Choice], scores: FloatArray, clusters: Sequence[float]
) -> tuple[Choice, pd.DataFrame]:
    import pandas as pd

    behind, error = behind_best(scores)
    chosen = int(np.flatnonzero(behind <= error)[0])
    table = pd.DataFrame(tried, columns=Choice._fields)
    table["elpd_loo"], table["behind"], table["error"] = scores.mean(axis=1), behind, error
    table["clusters"], table["chosen"] = clusters, np.arange(len(tried)) == chosen
    return tried[chosen], table


__all__ = [
    "Choice",
    "Pieces",
    "behind_best",
    "bind_families",
    "check_cluster_model",
    "choose",
    "settle",
]
