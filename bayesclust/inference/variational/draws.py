"""Draws from the mean field, in the form in which samplers give theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.inference.variational.mean_field import MeanField
from bayesclust.typing import FloatArray, IntArray

CERTAIN = 1.0 - 1e-12
"""An item with a larger responsibility is not drawn."""


def draw_mean_field(
    state: MeanField, shape: tuple[int, int], rng: Generator
) -> dict[str, NDArray[Any]]:
    """Draw labels, concentration and noise from q, independently of each other.

    Parameters
    ----------
    state : MeanField
    shape : (int, int)
        Chains and draws per chain; since draws are independent, chains mean nothing.
    rng : Generator

    Returns
    -------
    dict of ndarray of shape (chain, draw, ...)
        Named as the samplers name their variables; learned hyper-parameters are repeated, being
        point values.
    """
    problem, sticks = state.task.problem, state.sticks
    z = draw_labels(state.r, shape[0] * shape[1], rng).reshape(*shape, -1)
    ordered = np.sort(z, axis=-1)
    variables: dict[str, NDArray[Any]] = {
        "z": z,
        "n_clusters": 1 + np.count_nonzero(np.diff(ordered, axis=-1), axis=-1),
        "concentration": np.full(shape, sticks.alpha),
    }
    if problem.concentration.fixed is None:
        variables["concentration"] = rng.gamma(sticks.shape, size=shape) / sticks.rate
    for prior, value in zip(problem.family.hyper_priors, state.hyper, strict=False):
        if prior.log_sd > 0:
            variables[prior.name] = np.full(shape, value)
    for view, names, counts in zip(
        problem.constraints, problem.noise_names, state.counts, strict=True
    ):
        initial = view.noise.initial(view.n_sources)
        repeated: FloatArray = np.broadcast_to(counts, (*shape, *counts.shape))
        drawn = view.noise.draw(repeated, initial, rng)
        for name, value in drawn.items():
            variables[names[name]] = np.broadcast_to(value, (*shape, *initial[name].shape)).copy()
    return variables


def draw_labels(r: FloatArray, number: int, rng: Generator) -> IntArray:
    """Draw every item's label by itself.

    Parameters
    ----------
    r : ndarray of shape (n, K)
        Probabilities, rows summing to one.
    number : int
        Draws.
    rng : Generator

    Returns
    -------
    ndarray of shape (number, n)
    """
    mode = r.argmax(axis=1)
    z = np.tile(mode, (number, 1))
    open_items = np.flatnonzero(r.max(axis=1) < CERTAIN)
    for i in open_items:
        edges = np.cumsum(r[i])
        z[:, i] = np.searchsorted(edges[:-1], rng.random(number) * edges[-1], side="right")
    return z
