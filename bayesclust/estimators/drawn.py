"""Draws of a posterior in the form that prediction uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust.inference.batches import SHIFTS, BatchProblem, InBatches, codes_of
from bayesclust.inference.chain import TVClustProblem, TwoLevelProblem
from bayesclust.inference.prediction import Prediction, with_shared
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import IntArray


def some_draws(problem: TVClustProblem, draws: Any, chosen: IntArray) -> Prediction:
    """Some draws of a posterior of this problem, numbered chain by chain."""
    family, prior = problem.family, problem.partition_prior
    every = draws["z"].values.reshape(-1, draws.sizes["item"])
    z = stacked_partitions(every[chosen]).astype(np.int64)
    hyper = np.empty((len(chosen), len(family.hyper_priors)))
    for j, own in enumerate(family.hyper_priors):
        hyper[:, j] = draws[own.name].values.ravel()[chosen] if own.log_sd > 0 else own.median
    values = _parameter_rows(draws, chosen, {name: name for name in prior.parameters})
    if isinstance(problem, BatchProblem):
        found = _batches(problem, draws, chosen)
        return Prediction(family, z, values, hyper, prior, batches=found)
    if not isinstance(problem, TwoLevelProblem):
        return Prediction(family, z, values, with_shared(family, z, hyper), prior)
    components = draws["component"].values.reshape(every.shape)[chosen].astype(np.int64)
    names = {name: f"within_{name}" for name in problem.within.parameters}
    within_values = _parameter_rows(draws, chosen, names)
    hyper = with_shared(family, components, hyper)
    return Prediction(family, z, values, hyper, prior, components, problem.within, within_values)


def _parameter_rows(draws: Any, chosen: IntArray, names: dict[str, str]) -> list[dict[str, float]]:
    """Parameters of some draws, each a dict, from the variables named."""
    columns = {name: draws[variable].values.ravel()[chosen] for name, variable in names.items()}
    number = len(chosen)
    return [{name: float(column[s]) for name, column in columns.items()} for s in range(number)]


def _batches(problem: BatchProblem, draws: Any, chosen: IntArray) -> InBatches:
    """The batches of items in some draws."""
    weight = draws["weight"].values.reshape(-1, problem.n_items)[chosen]
    if not problem.has_shifts:
        return InBatches(problem.batch, weight, problem.batch)
    found = draws[SHIFTS].values
    found = found.reshape(found.shape[0] * found.shape[1], *found.shape[2:])[chosen]
    shift = np.zeros((len(chosen), len(problem.batch_names) + 1, found.shape[2]))
    own = codes_of(draws["batch"].values.tolist(), problem.batch_names)
    shift[:, own] = found / problem.family.unit  # type: ignore[attr-defined]
    return InBatches(problem.batch, weight, problem.batch, shift)
