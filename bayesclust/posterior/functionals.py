"""What can be followed over the draws of a partition: numbers that do not change when labels do."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesclust.checks import check_random_state
from bayesclust.posterior.labels import Labels, partition_sizes
from bayesclust.posterior.losses import VI, Binder, expected_losses
from bayesclust.posterior.partition import point_estimate
from bayesclust.posterior.tree import chain_partitions, group, is_array, log_joints
from bayesclust.typing import FloatArray

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Functionals", "label_free", "partition_distances"]

SAMPLED = 40
"""Draws of each chain that are compared with those of the others."""


class Functionals(NamedTuple):
    """Label-free functionals of the draws, and the draws they were computed from.

    Attributes
    ----------
    values : dict of (chain, draw) arrays
        By name; indicators are int8.
    z : (chain, draw, n) array of int16
    log_joint : (chain, draw) array of float or None
    """

    values: dict[str, Labels]
    z: Labels
    log_joint: FloatArray | None


def label_free(posterior: Any, n_pairs: int, seed: int) -> Functionals:
    """Return everything about the draws that does not depend on how clusters are numbered.

    Parameters
    ----------
    posterior : DataTree, fitted estimator, or array of shape (draws, n) or (chain, draw, n)
    n_pairs : int
        How many pairs of items are followed; half of them are together in the reference partition,
        where there are as many.
    seed : int
        Of the choice of pairs.

    Returns
    -------
    Functionals
        n_clusters, entropy (bits) of the cluster sizes, largest_cluster (items), rand_to_reference
        (Rand index to the draw of highest log joint or, where that was not kept, to the point
        estimate), together[i, j], log_joint, and every component of every continuous parameter.
    """
    z = chain_partitions(posterior)
    log_joint = log_joints(posterior)
    chains, draws, n = z.shape
    stacked = z.reshape(-1, n)
    if log_joint is None:
        reference = point_estimate(stacked, n_runs=4, seed=seed)
    else:
        reference = stacked[int(np.argmax(log_joint))].astype(np.int64)
    sizes = [partition_sizes(chain) for chain in z]
    potential = VI().potential
    values: dict[str, Labels] = {
        "n_clusters": z.max(axis=2).astype(np.int64) + 1,
        "entropy": np.log2(n) - np.array([potential(s).sum(axis=1) / n for s in sizes]),
        "largest_cluster": np.array([s.max(axis=1) for s in sizes]),
    }
    rand = 1 - expected_losses(Binder(), stacked, reference[None]) * n / max(n - 1, 1)
    values["rand_to_reference"] = rand.reshape(chains, draws)
    for i, j in _pairs(reference, n_pairs, check_random_state(seed, "seed")):
        values[f"together[{i}, {j}]"] = (z[:, :, i] == z[:, :, j]).astype(np.int8)
    if log_joint is not None:
        values["log_joint"] = log_joint
    others = {} if is_array(posterior) else _continuous(group(posterior, "posterior"))
    return Functionals(values | others, z, log_joint)


def _pairs(reference: Labels, n_pairs: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of different items at random, half of them together in the reference where it has as many."""
    n = len(reference)
    n_pairs = min(n_pairs, n * (n - 1) // 2)
    chosen: set[tuple[int, int]] = set()
    for _ in range(50 * n_pairs):
        if len(chosen) == n_pairs // 2:
            break
        i = int(rng.integers(n))
        mates = np.flatnonzero(reference == reference[i])
        j = int(rng.choice(mates))
        if i != j:
            chosen.add((min(i, j), max(i, j)))
    while len(chosen) < n_pairs:
        i, j = sorted(rng.choice(n, size=2, replace=False).tolist())
        chosen.add((i, j))
    return sorted(chosen)


def _continuous(draws: xr.Dataset) -> dict[str, Labels]:
    values: dict[str, Labels] = {}
    for name, variable in draws.data_vars.items():
        if variable.dtype.kind != "f":
            continue
        by_component = variable.transpose(..., "chain", "draw").values
        for index in product(*(range(size) for size in by_component.shape[:-2])):
            where = f"[{', '.join(map(str, index))}]" if index else ""
            values[f"{name}{where}"] = by_component[index]
    return values


def partition_distances(z: Labels, sampled: int = SAMPLED) -> FloatArray:
    """Return how far the partitions of each two chains are apart on average.

    Parameters
    ----------
    z : (chain, draw, n) array of int
    sampled : int, default 40
        Draws of each chain that take part, evenly spread over it.

    Returns
    -------
    (chain, chain) array of float
        Mean variation of information, in bits, between a draw of one chain and a draw of the other;
        on the diagonal between two different draws of one chain, nan where it has only one.
    """
    chains, draws, _ = z.shape
    m = min(sampled, draws)
    at = np.linspace(0, draws - 1, m).round().astype(int)
    out = np.empty((chains, chains))
    for c in range(chains):
        for other in range(c, chains):
            mean = expected_losses(VI(), z[c, at], z[other, at]).mean()
            # a draw is at distance 0 from itself, which says nothing
            out[c, other] = out[other, c] = (
                mean if c != other else (mean * m / (m - 1) if m > 1 else np.nan)
            )
    return out
