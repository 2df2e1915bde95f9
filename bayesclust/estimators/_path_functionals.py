"""What is followed along a path of gammas, and how it is summed up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.inference.limits.answers import Xi
from bayesclust.inference.limits.bridge import EQUAL, value
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.inference.limits.search import improve
from bayesclust.posterior.diagnosis import partition_distances
from bayesclust.posterior.labels import canonical, partition_sizes
from bayesclust.posterior.losses import VI, Binder, expected_losses
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import xarray as xr


def entropy(z: IntArray) -> FloatArray:
    """Return the entropy of the cluster sizes of each partition, in bits, shape (m,)."""
    n = z.shape[1]
    bits: FloatArray = np.log2(n) - VI().potential(partition_sizes(z)).sum(axis=1) / n
    return np.maximum(bits, 0.0)  # what is negative is rounding


def adjusted_rand(z: IntArray, labels: IntArray) -> FloatArray:
    """Return the adjusted Rand index (Hubert and Arabie 1985) of each partition with one, shape (m,).

    From Binder's loss and the sizes, so that thousands of partitions cost one pass of compiled
    code.
    """
    n, reference = z.shape[1], labels[None]
    pairs = n * (n - 1) / 2

    def together(partitions: IntArray) -> FloatArray:
        sizes = partition_sizes(partitions).astype(np.float64)
        return np.asarray((sizes * (sizes - 1)).sum(axis=1) / 2)

    own, theirs = together(z), together(canonical(reference))
    in_both = (own + theirs - expected_losses(Binder(), z, reference) * n * n / 2) / 2
    chance, most = own * theirs / pairs, (own + theirs) / 2
    # both all in one cluster, or both all apart: the same partition
    same = np.isclose(most, chance, rtol=1e-12)
    return np.where(same, 1.0, (in_both - chance) / np.where(same, 1.0, most - chance))


def objectives(problem: Problem, z: IntArray, xi: Xi) -> FloatArray:
    """Return J of each partition, centres at their best, shape (m,)."""
    distinct, which = np.unique(z, axis=0, return_inverse=True)
    values = np.array([value(problem, labels.astype(np.int64), xi) for labels in distinct])
    return np.asarray(values[which.reshape(-1)])


def summarise(
    gammas: FloatArray,
    drawn: Sequence[IntArray],
    energies: Sequence[FloatArray],
    problem: Problem,
    xi: Xi,
    limit: IntArray,
    level: float,
) -> xr.Dataset:
    """Sum up the draws of every gamma: partitions (chain, draw, n) and energies (chain, draw)."""
    import xarray as xr

    n = len(problem.points)
    J: list[FloatArray] = [
        objectives(problem, z.reshape(-1, n), xi).reshape(z.shape[:2]) for z in drawn
    ]
    final = value(problem, limit, xi)
    best = _best(problem, xi, drawn, J, limit)
    tails = (1 - level) / 2, (1 + level) / 2

    def over_draws(followed: Sequence[FloatArray]) -> tuple[tuple[str, str], list[list[float]]]:
        return ("gamma", "statistic"), [[v.mean(), *np.quantile(v, tails)] for v in followed]

    stacked = [z.reshape(-1, n) for z in drawn]
    variables: dict[str, Any] = {
        "n_clusters": over_draws(
            [np.asarray(z.max(axis=1) + 1.0, dtype=np.float64) for z in stacked]
        ),
        "entropy": over_draws([entropy(z) for z in stacked]),
        "objective": over_draws(J),
        "energy": over_draws(energies),
    }
    references = {"": limit, "_best": best}
    for which, labels in references.items():
        variables[f"vi{which}"] = over_draws(
            [expected_losses(VI(), z, labels[None]) for z in stacked]
        )
        variables[f"ari{which}"] = over_draws([adjusted_rand(z, labels) for z in stacked])
    distances = [partition_distances(z) for z in drawn]
    variables["vi_within"] = ("gamma", [_mean(np.diag(each)) for each in distances])
    variables["vi_between"] = (
        "gamma",
        [_mean(each[~np.eye(len(each), dtype=bool)]) for each in distances],
    )
    variables["chain_objective"] = (("gamma", "chain"), [each.mean(axis=1) for each in J])
    variables["share_below"] = ("gamma", [(each < final - EQUAL * abs(final)).mean() for each in J])
    variables |= {"limit_labels": ("item", limit), "best_labels": ("item", best)}
    attrs: dict[str, Any] = {
        "level": level,
        "divergence": problem.divergence.name,
        "penalty": problem.penalty,
    }
    for name, labels in (("limit", limit), ("best", best)):
        attrs[f"{name}_objective"] = value(problem, labels, xi)
        attrs[f"{name}_n_clusters"] = int(labels.max()) + 1
        attrs[f"{name}_entropy"] = float(entropy(labels[None])[0])
    coords = {"gamma": gammas, "statistic": ["mean", "lower", "upper"]}
    return xr.Dataset(variables, coords=coords, attrs=attrs)


def _mean(values: FloatArray) -> float:
    """Mean, and not the rounding below zero; nan of nothing."""
    return max(float(values.mean()), 0.0) if values.size else np.nan


def _best(
    problem: Problem, xi: Xi, drawn: Sequence[IntArray], J: Sequence[FloatArray], limit: IntArray
) -> IntArray:
    """The partition of least J known: the limit's, or where RDP-means' own descent leads from the best draw."""
    at = int(np.argmin([each.min() for each in J]))
    best = drawn[at].reshape(-1, len(problem.points))[int(J[at].argmin())]
    found = improve(problem, best.astype(np.int64), xi)
    final = value(problem, limit, xi)
    if not found.objective < final - EQUAL * abs(final):
        return limit
    labels: IntArray = canonical(found.labels[None])[0].astype(np.int64)
    return labels
