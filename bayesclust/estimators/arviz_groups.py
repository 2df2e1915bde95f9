"""The groups that ArviZ needs besides those of a fit: prior, log_prior, log_likelihood of items.

An item's row x_i, with its label summed out, given all else in a draw, is

    p(x_i | other rows, other labels, constraints) = sum_k w_k p(x_i | cluster k) / sum_k w_k

with the weights w_k of the partition prior and the constraints that a sweep has (`moves.scan`).
Draws weighted by one over it are from the posterior without the row: what importance-sampling
leave-one-out needs, exactly (Gelfand 1996; Vehtari et al. 2016, Sec. 3, integrate z_i out as here).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.random import Generator

from bayesclust._numba import FAST, device, generic, implements, kernel
from bayesclust.checks import check_int, check_random_state
from bayesclust.constraints.stored import noise_names
from bayesclust.families.base import add_item, clear_cluster, log_predictive, remove_item
from bayesclust.inference.assignment import Target
from bayesclust.inference.batches import BatchTarget
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.dcrc.gibbs import DCRCProblem
from bayesclust.inference.moves.scan import place, take_out, weigh_options
from bayesclust.inference.prediction import Prediction
from bayesclust.inference.samplers import new_state
from bayesclust.inference.two_level.state import TwoLevelTarget, new_levels
from bayesclust.inference.variational.mean_field import draw_noise
from bayesclust.posterior.credibility import constraint_log_likelihood
from bayesclust.posterior.tree import constraints_if_any, group, numbered, tree_of
from bayesclust.typing import FloatArray, Seed

DRAWS = ("chain", "draw")


def with_all_groups(
    posterior: Any,
    problem: TVClustProblem | DCRCProblem,
    draws: Prediction | None,
    num_prior_draws: int,
    seed: Seed,
) -> xr.DataTree:
    """The tree with groups added; items have a likelihood where all draws are given for it."""
    number, rng = check_int(num_prior_draws, "num_prior_draws"), check_random_state(seed, "seed")
    given = constraints_if_any(posterior)
    tree = constraint_log_likelihood(posterior, seed=rng) if given else tree_of(posterior).copy()
    variables = group(posterior, "posterior")
    prior = draw_prior(problem, number, rng)
    named = {
        name: ((*DRAWS, *variables[name].dims[2:]), values)
        for name, values in prior.items()
        if name in variables.data_vars  # neither what is known nor what is fixed at a point
    }
    tree["prior"] = _group(variables, xr.Dataset(named), DRAWS)
    densities = {name: (DRAWS, value) for name, value in log_priors(problem, variables).items()}
    tree["log_prior"] = _group(variables, xr.Dataset(densities))
    if draws is not None:
        noise = noise_draws(problem, variables)
        value = item_log_likelihood(problem, draws, noise).reshape(variables["z"].shape)
        own = tree["log_likelihood"].to_dataset() if given else xr.Dataset()
        tree["log_likelihood"] = _group(variables, own.assign(X=((*DRAWS, "item"), value)))
    return tree


def _group(variables: xr.Dataset, data: xr.Dataset, other: Sequence[str] = ()) -> xr.DataTree:
    """The data with the posterior's coordinates of all dimensions but `other`."""
    shared = [dim for dim in data.dims if dim in variables.coords and dim not in other]
    return xr.DataTree(numbered(data.assign_coords({dim: variables[dim] for dim in shared})))


def draw_prior(
    problem: TVClustProblem | DCRCProblem, number: int, rng: Generator
) -> dict[str, FloatArray]:
    """Draws (1, number, ...) of the parameters and the number of clusters before any data."""
    nothing = [
        np.zeros((one.n_sources * one.noise.n_answers, len(one.noise.truth)), np.int64)
        for one in problem.constraints
    ]
    noise = draw_noise(problem.constraints, nothing, (1, number), rng)
    return noise | {name: own[None] for name, own in problem.draw_prior(number, rng).items()}


def log_priors(
    problem: TVClustProblem | DCRCProblem, variables: xr.Dataset
) -> dict[str, FloatArray]:
    """Log prior densities (chain, draw): of each learned parameter, noise, and the partition."""
    found: dict[str, FloatArray] = {}
    for one, noise in zip(problem.constraints, _noise_arrays(problem, variables), strict=True):
        if one.noise.free:
            found[one.name] = one.noise.log_prior(noise)
    every = variables.variables.items()
    draws = {str(name): own.values for name, own in every if own.dims[:2] == DRAWS}
    return found | problem.log_priors(draws)


def _noise_arrays(
    problem: TVClustProblem | DCRCProblem, variables: xr.Dataset
) -> list[dict[str, FloatArray]]:
    """Parameters (chain, draw, source, ...) of the noise of each set of constraints."""
    names = noise_names(problem.constraints)
    return [{own: variables[name].values for own, name in each.items()} for each in names]


def noise_draws(
    problem: TVClustProblem | DCRCProblem, variables: xr.Dataset
) -> list[list[dict[str, FloatArray]]]:
    """The noise of each set of constraints in each draw, the chains one after another."""
    arrays = _noise_arrays(problem, variables)
    shape = variables["z"].shape[:2]
    return [
        [{name: values[at] for name, values in each.items()} for each in arrays]
        for at in np.ndindex(shape)
    ]


def item_log_likelihood(
    problem: Any, draws: Prediction, noise: Sequence[Sequence[Mapping[str, Any]]]
) -> FloatArray:
    """log p(x_i | all else but label z_i) of each draw and item, (S, n), in the user's units."""
    # With a power, the likelihood is the density raised to it.
    lowest = draws.z if draws.components is None else draws.components
    state = new_state(problem, lowest[0], np.random.default_rng(0))
    found = np.empty(lowest.shape)
    for s, labels in enumerate(lowest):
        state.hyper = draws.hyper[s]
        state.values = dict(draws.values[s])
        state.noise = list(noise[s])
        if draws.within_values is not None:
            state.within = dict(draws.within_values[s])
            state.levels = new_levels(labels, draws.z[s], len(labels))
        state.assign(labels)
        if draws.batches is not None:
            if draws.batches.shift is not None:
                state.set_shift(draws.batches.shift[s, :-1])
            state.set_weights(draws.batches.cluster_weights(s, labels))
        leave_rows_out(state.target, found[s])
    family = problem.family
    return found + family.power * family.row_constants(family.X)


@generic
def way_back(target: Any, old: int, alone: bool) -> Any:
    """The option that puts an item, taken out of slot `old`, `alone` there or not, back there."""


@implements(way_back, Target, fastmath=FAST, no_refcount=True)
def _way_back(target, old, alone):  # type: ignore[no-untyped-def]
    return target.assignment.number[0] if alone else target.assignment.place[old]


implements(way_back, BatchTarget, fastmath=FAST, no_refcount=True)(_way_back)


@implements(way_back, TwoLevelTarget, fastmath=FAST, no_refcount=True)
def _way_back_two(target, old, alone):  # type: ignore[no-untyped-def]
    if not alone:
        return target.assignment.place[old]
    clusters = target.levels.clusters
    g = target.levels.owner[old]
    above = clusters.number[0] if target.levels.size[g] == 0 else clusters.place[g]
    return target.assignment.number[0] + above


@device(fastmath=FAST, no_refcount=True)
def _log_sum(logits: FloatArray, number: int) -> float:
    largest = logits[0]
    for a in range(1, number):
        largest = max(largest, logits[a])
    total = 0.0
    for a in range(number):
        total += math.exp(logits[a] - largest)
    return largest + math.log(total)


@kernel(fastmath=FAST)
def leave_rows_out(target: Any, found: FloatArray) -> None:
    """Write log p(x_i | all else but the label z_i) of each item, up to the family's constants."""
    state = target.state
    assignment = target.assignment
    empty = len(state.count) - 1
    site = np.zeros(empty + 1)
    predictive = np.zeros(empty + 1)
    nothing = np.zeros(empty + 1)
    logits = np.zeros(2 * empty + 1)
    for i in range(len(found)):
        old = assignment.z[i]
        alone = state.count[old] == 1
        take_out(target, i, alone)
        remove_item(state, i, old)
        for a in range(assignment.number[0]):
            k = assignment.slots[a]
            if state.count[k] > 0:
                predictive[k] = log_predictive(state, i, k)
        predictive[empty] = log_predictive(state, i, empty)
        options = weigh_options(target, i, predictive, site, logits)
        found[i] = _log_sum(logits, options)
        options = weigh_options(target, i, nothing, site, logits)
        found[i] -= _log_sum(logits, options)
        place(target, i, way_back(target, old, alone), old, alone)
        if alone:
            clear_cluster(state, old)
        add_item(state, i, old)
