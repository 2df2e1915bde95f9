"""ArviZ's groups that take computing: likelihood of items and answers, replicates, and the prior.

An item's likelihood is given everything but its own label, over which it is summed, so that leaving
the item out by weights is exact in the long run. With sizes n_k and their number K without item i,

    p(x_i | rest) = sum_k w_k a_ik p(x_i | theta_k) / sum_k w_k a_ik,

where w_k = W(n_k + 1) / W(n_k) for the clusters of the other items and V(n, K + 1) / V(n, K) W(1)
for a new one, whose theta is integrated out, and a_ik is the probability of the answers if item i
is in k. Where clusters are mixtures, k runs over components.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import xarray as xr
from numpy.random import Generator
from scipy.special import logsumexp

from bayesclust.constraints.base import equality_patterns
from bayesclust.constraints.stored import noise_dims, noise_names
from bayesclust.families.base import hard_statistics
from bayesclust.inference.prediction import Prediction
from bayesclust.inference.variational.mean_field import draw_noise
from bayesclust.partition_priors.nested import nested_tables
from bayesclust.posterior.credibility import TINY, confusions, constraint_log_likelihood
from bayesclust.posterior.tree import (
    chain_partitions,
    constraints_if_any,
    draws_dataset,
    evenly_spread,
    group,
    numbered,
)
from bayesclust.typing import FloatArray, IntArray


def with_predictions(estimator: Any, number: int, rng: Generator) -> xr.DataTree:
    """The posterior of so many draws of each chain, with the groups of `TVClust.to_arviz`."""
    thin = copy(estimator)
    available = group(estimator, "posterior").sizes["draw"]
    thin.posterior_ = estimator.posterior_.isel(draw=evenly_spread(number, available))
    draws, observed = group(thin, "posterior"), group(thin, "observed_data")
    views, z = constraints_if_any(thin), chain_partitions(thin)
    tree = constraint_log_likelihood(thin) if views else thin.posterior_.copy()
    likelihood = tree["log_likelihood"].to_dataset() if views else xr.Dataset()
    groups: dict[str, dict[str, Any]] = {"posterior_predictive": {}}
    dims = {"X": ("item",), **noise_dims(estimator._problem.constraints)}
    tables = [confusions(view, draws) for view in views]
    for view, table in zip(views, tables, strict=True):
        dims[view.name] = (f"{view.name}_answer_id",)
        chain, draw, _ = np.ogrid[: len(z), : z.shape[1], :1]
        edges = table[chain, draw, view.source, view.truths(z)].cumsum(axis=-1)[..., :-1]
        answers = (rng.random(edges.shape[:-1])[..., None] >= edges).sum(axis=-1)
        groups["posterior_predictive"][view.name] = answers
        observed[view.name] = (dims[view.name], view.answers.astype(np.int64))
    groups["log_likelihood"] = {name: own.values for name, own in likelihood.data_vars.items()}
    drawn = thin.spread_draws(z.shape[0] * z.shape[1])
    if isinstance(drawn, Prediction):
        logs = [np.log(np.maximum(own, TINY)).reshape(-1, *own.shape[2:]) for own in tables]
        found = _items(drawn, list(zip(views, logs, strict=True)), rng)
        groups["log_likelihood"]["X"] = found.reshape(z.shape)
        groups["prior"], groups["log_prior"] = _prior(estimator._problem, draws, rng)
    for name, variables in groups.items():
        own = draws_dataset(variables, dims, z.shape)
        coords = {dim: draws.coords[dim] for dim in own.dims if dim in draws.coords}
        tree[name] = xr.DataTree(own.assign_coords(coords))
    tree["observed_data"] = xr.DataTree(numbered(observed))
    return tree


def _items(drawn: Prediction, views: list[Any], rng: Generator) -> FloatArray:
    """Log likelihood of the items, shape (draws, n)."""
    family, n = drawn.family, drawn.z.shape[1]
    single = hard_statistics(family, np.arange(n), n)
    value = np.empty(drawn.z.shape)
    for s, z in enumerate(drawn.z):
        parts = z if drawn.components is None else drawn.components[s]
        owner = np.empty(int(parts.max()) + 1, np.int64)
        owner[parts] = z
        clusters = np.append(owner, np.arange(z.max() + 2))
        weight = _log_weights(drawn, s, parts, owner) + _log_answers(views, s, z)[:, clusters]
        terms = family.terms(hard_statistics(family, parts, len(owner)), drawn.hyper[s], rng)
        old = family.log_likelihood(np, family.own_rows, terms)
        new = family.log_marginals(single, drawn.hyper[s])[:, None]
        density = np.append(old, np.repeat(new, z.max() + 2, axis=1), axis=1)
        value[s] = logsumexp(weight + density, axis=1) - logsumexp(weight, axis=1)
    return value + family.power * family.row_constants(family.X)


def _log_weights(drawn: Prediction, s: int, parts: IntArray, owner: IntArray) -> FloatArray:
    """log w (n, C + G + 1): to join each component, open one in each cluster, open a cluster."""
    z, G, C = drawn.z[s], int(owner.max()) + 1, len(owner)
    size = np.bincount(z) - (z[:, None] == np.arange(G))
    count = np.bincount(parts) - (parts[:, None] == np.arange(C))
    tables = drawn.partition_prior.tables(len(z), G, drawn.values[s])
    opened = np.full(size.shape, -np.inf)
    join = tables.log_join[count]
    if drawn.within is not None and drawn.within_values is not None:
        nested = nested_tables(tables, drawn.within, C, drawn.within_values[s])
        grow = nested.log_grow[size]
        number = (count > 0).astype(np.int64) @ (owner[:, None] == np.arange(G))
        join = grow[:, owner] + nested.within.log_join[count]
        opened = np.where(size > 0, grow + nested.within.log_open[number], -np.inf)
    join = np.where(count > 0, join, -np.inf)
    return np.column_stack([join, opened, tables.log_open[(size > 0).sum(axis=1)]])


def _log_answers(views: list[Any], s: int, z: IntArray) -> FloatArray:
    """log a (n, G + 1): of the answers that name an item, were it in each cluster or a new one."""
    value = np.zeros((len(z), int(z.max()) + 2))
    for view, log_confusion in views:
        by_truth = log_confusion[s][view.source, :, view.answers]
        for member in range(view.items.shape[1]):
            labels = np.repeat(z[view.items][:, None], value.shape[1], axis=1)
            labels[:, :, member] = np.arange(value.shape[1])
            truth = view.truth[equality_patterns(labels)]
            np.add.at(value, view.items[:, member], np.take_along_axis(by_truth, truth, axis=1))
    return value


def _prior(problem: Any, draws: xr.Dataset, rng: Generator) -> tuple[dict[str, Any], ...]:
    """Draws of the parameters from their priors, and the log prior densities of the posterior's."""
    shape = draws.sizes["chain"], draws.sizes["draw"]
    within = problem.within.parameters if hasattr(problem, "within") else {}
    known: dict[str, Any] = {f"within_{name}": one for name, one in within.items()}
    known |= problem.partition_prior.parameters
    known |= {one.name: one for one in problem.family.hyper_priors}
    nothing = [0 * one.counts(np.zeros(problem.n_items, np.int64)) for one in problem.constraints]
    prior = dict(draw_noise(problem.constraints, nothing, shape, rng))
    log_prior = {}
    for name in draws.data_vars.keys() & known:
        own, values = known[name], draws[name].values
        prior[name] = np.array([own.sample(rng) for _ in range(values.size)]).reshape(shape)
        if hasattr(own, "log_prob"):  # the density of a hyper-parameter's logarithm
            log_prior[name] = np.vectorize(own.log_prob)(values) - np.log(values)
        else:
            log_prior[name] = np.vectorize(own.log_prior)(values)
    for one, names in zip(problem.constraints, noise_names(problem.constraints), strict=True):
        density = one.noise.log_prior({own: draws[name].values for own, name in names.items()})
        log_prior[f"{one.name}_noise"] = np.broadcast_to(density, shape)
    return prior, log_prior
