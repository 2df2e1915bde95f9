"""Draws of a posterior in the form that prediction uses; batches of items beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.random import Generator

from bayesclust.inference.batches import (
    SHIFTS,
    BatchProblem,
    InBatches,
    codes_of,
    counts_in_batches,
)
from bayesclust.inference.chain import TVClustProblem, TwoLevelProblem
from bayesclust.inference.prediction import Prediction, shares_of_labels, with_shared
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import FloatArray, IntArray

MOST = 400
"""Draws that a table of weights averages over, at most."""


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


def with_batches(tree: Any, problem: BatchProblem) -> Any:
    """The tree, with the batches of a problem among the observed data, and their column."""
    tree.attrs["batches"] = problem.partition_prior.column
    every = np.array(problem.batch_names, dtype=object)
    data = tree["observed_data"].to_dataset()
    tree["observed_data"] = xr.DataTree(data.assign(batch=("item", every[problem.batch])))
    if len(problem.shifted):
        draws = tree["posterior"].to_dataset()
        family: Any = problem.family
        columns = data["feature"].values[family.kept]
        own = {"batch": every[problem.shifted], "shifted_feature": columns}
        tree["posterior"] = xr.DataTree(draws.assign_coords(own))
    return tree


def in_new_batches(drawn: Any, problem: Any, names: Any, *, extends: bool = False) -> Any:
    """Draws that predict new items, of the batches named if there are any."""
    if names is None:
        return drawn
    codes = codes_of(names.tolist(), problem.batch_names)
    if len(getattr(problem, "shifted", ())) and codes.min() < 0 and not extends:
        raise ValueError(
            f"X has batch {names[codes.argmin()]!r}, whose shift is not known: give items of "
            f"{', '.join(problem.batch_names)}, or extend the fit with those of a new batch."
        )
    return drawn.of_batches(codes)


def batch_weights(estimator: Any, prob: float, rng: Generator) -> pd.DataFrame:
    """The table of `SampledClusterer.batch_weights`."""
    drawn: Prediction = estimator.spread_draws(MOST)
    labels, names = estimator.labels_, estimator._problem.batch_names
    batches = drawn.batches
    assert batches is not None
    number = int(labels.max()) + 1
    found: FloatArray = np.empty((len(drawn.z), len(names), number))
    for s, z in enumerate(drawn.z):
        weights = np.exp(batches.log_weights(s, z, drawn.values[s], np.arange(len(names))))
        total = drawn.values[s]["batch_concentration"] + np.bincount(batches.batch)[:, None]
        gammas = rng.standard_gamma(weights * total)
        share = gammas / gammas.sum(axis=1, keepdims=True)
        found[s] = share[:, :-1] @ shares_of_labels(z, labels)
    tail = (1.0 - prob) / 2
    low, high = np.quantile(found, (tail, 1.0 - tail), axis=0)
    items = counts_in_batches(batches.batch, labels, (len(names), number))
    columns = {"items": items, "weight": found.mean(axis=0), "weight_low": low, "weight_high": high}
    index = pd.MultiIndex.from_product([list(names), range(number)], names=["batch", "cluster"])
    table = pd.DataFrame({key: own.ravel() for key, own in columns.items()}, index=index)
    table.attrs["prob"] = prob
    return table
