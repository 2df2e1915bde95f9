"""Whether chains agree, whether data and constraints do, and a verdict in words."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from importlib import import_module
from itertools import combinations_with_replacement
from threading import RLock
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bayesclust.checks import check_int, check_random_state, some_of
from bayesclust.posterior.losses import VI, Binder, expected_losses, size_entropy
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import (
    Labels,
    chain_partitions,
    constraints_if_any,
    evenly_spread,
    group,
    is_array,
    item_names,
    log_joints,
    partition_sizes,
    settings_of,
    stacked_partitions,
    tree_of,
)
from bayesclust.typing import BoolArray, FloatArray, IntArray

MAX_RHAT, MIN_ESS = 1.05, 100.0
"""Enough for posterior means."""
GOOD_RHAT, GOOD_ESS = 1.01, 400.0
"""Vehtari et al. (2021) recommend these for every quantity that is reported."""
FEWEST_DRAWS = 4
NATS_APART = 10.0
CLUSTERS_APART, BITS_APART, SHARE_APART, RATIO_APART = 0.25, 0.05, 0.02, 0.2
"""Means that differ by less are as good as equal: clusters, bits, shares, shares of other means."""
CLUSTERS_RATIO = 0.005
"""The same of more than fifty clusters, as a share of them."""
SAMPLED = 40
"""Draws of each chain that are compared with those of the others."""
SHUFFLES = 100
STANDARD_ERRORS = 4.0
"""Shuffled answers that tell what merges win by chance, and how far beyond that counts."""
FEWEST_SPLIT = 5
LEAST_SHARE = 0.2
RECONCILED = 0.5
"""Violated must-links worth a word: number, share of all, share that merges right beyond chance."""
MARGIN = 0.1
ERRORS = 3.0
"""Share of constraints, and binomial standard errors, by which more are violated than expected."""


class DiagnosisWarning(UserWarning):
    """A fit has ended with draws that `diagnose` says not to trust."""


class Conflict(NamedTuple):
    """A sentence on violated constraints, and whether the model is at fault."""

    said: str = ""
    misfit: bool = False


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """A verdict on draws: whether they can be used, and why.

    Parameters
    ----------
    ok : bool
        Whether the draws can be used.
    verdict : str
        The reason in one or two sentences, and what to do.
    table : pandas.DataFrame
        One row per functional: mean, sd, rhat, ess (bulk) and state: "converged", "constant" (in
        all draws), "slow" (R-hat or effective sample size fall short), "close" (they do, but what
        half a chain has on the mean differs too little to matter), "frozen" (each chain keeps a
        value of its own) or "unknown" (too few draws or chains).
    distances : pandas.DataFrame
        Mean variation of information, in bits, between draws of each two chains; within chains on
        the diagonal.
    conflict : str, default ""
        Pairwise constraints that the fit violates beyond what was expected, and what to do. Printed
        before the verdict where that is bad.
    """

    ok: bool
    verdict: str
    table: pd.DataFrame
    distances: pd.DataFrame
    conflict: str = ""

    def __str__(self) -> str:
        said = (self.verdict, self.conflict) if self.ok else (self.conflict, self.verdict)
        return " ".join(filter(None, said))

    def __repr__(self) -> str:
        return f"Diagnosis(ok={self.ok}, verdict={str(self)!r})"


def diagnose(posterior: Any, *, n_pairs: int = 20, seed: int = 0) -> Diagnosis:
    """Check whether the chains of a run agree and have moved enough, and say so in words.

    Rank-normalised split R-hat and bulk effective sample size (Vehtari et al. 2021) are computed
    for the number of clusters, the entropy of their sizes, the largest of them, the Rand index to a
    reference partition, whether random pairs are together, the log joint, and all continuous
    parameters. A shortfall does not count against a run where the means of all halves of chains
    are within a quarter of a cluster (of more than 50, half a percent of them), .05 bits, .02
    (shares; sizes by the number of items) or, of other parameters, a fifth of the mean (a fixed
    width: Flegal, Haran and Jones 2008). As chains in different modes can agree in all of these,
    partitions are also compared as wholes, by the variation of information, and chains by the nats
    between their log joints, which count only where a chain is stuck below the others. `conflict`
    says where the fit violates pairwise constraints that agree with each other, or more of them
    than the noise's prior expects; unless the sources contradict themselves, the model is then at
    fault, and the draws are not `ok`.

    Parameters
    ----------
    posterior : DataTree, fitted estimator, or array of int of shape (chain, draw, n)
        Draws of the partition; an array (draws, n) is one chain.
    n_pairs : int, default 20
        Random pairs of items that are followed, half of them from within clusters.
    seed : int, default 0
        Seed of the choice of pairs.

    Returns
    -------
    Diagnosis
        Prints as its verdict and conflict. R-hat of at most 1.05 and an effective sample size of at
        least 100 pass; the verdict tells where 1.01 and 400 are reached. Never `ok` from a single
        chain, fewer than four draws a chain or a mean field.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> z = np.tile([0, 0, 0, 1, 1, 1], (4, 200, 1))
    >>> z[:, :, 2] = np.random.default_rng(0).integers(2, size=(4, 200))
    >>> bc.diagnose(z).ok
    True
    >>> z[3, :, 1] = 1
    >>> print(bc.diagnose(z))
    Do not trust this run: ...
    """
    check_int(n_pairs, "n_pairs", least=0)
    z = chain_partitions(posterior)
    functionals = label_free(posterior, z, n_pairs, seed)
    rows = {name: _row(name, values, z.shape[-1]) for name, values in functionals.items()}
    columns = ["mean", "sd", "rhat", "ess", "state"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    distances = partition_distances(z)
    approximation = getattr(tree_of(posterior), "attrs", {}).get("approximation")
    if approximation:
        ok = False
        verdict = (
            f"Chains say nothing here: these draws come from a {approximation}, each independent "
            "of the others, and agree however far it is from the posterior; run a sampler, and see "
            "posterior_distance between the two."
        )
    else:
        ok, verdict = _verdict(functionals, table, distances)
    chains = pd.RangeIndex(len(distances), name="chain")
    title = chains.rename("distance between draws of two chains (bits)")
    between = pd.DataFrame(distances, index=chains, columns=title)
    conflict = violations(posterior, seed=seed)
    if ok and conflict.misfit:
        ok, verdict = False, "The chains agree, but on a model that the constraints refute."
    return Diagnosis(ok, verdict, table, between, conflict.said)


# ArviZ leaves JAX to be loaded at the first use of it. SciPy and scikit-learn ask in every thread
# whether arrays are JAX's, and a second thread would find half of it.
LOCK = RLock()


@contextmanager
def _loading() -> Iterator[None]:
    """In one thread at a time; JAX draws from the user's NumPy while it is loaded."""
    with LOCK:
        state = None if _jax_is_whole() else np.random.get_state(legacy=False)  # noqa: NPY002
        try:
            yield
        finally:
            if state is not None:
                np.random.set_state(state)  # noqa: NPY002


def _jax_is_whole() -> bool:
    return type(sys.modules.get("jax")) is ModuleType


def arviz_functions() -> Any:
    """ArviZ's functions of arrays; all of ArviZ takes over a second to import."""
    with _loading():
        found = import_module("arviz_stats.base").array_stats
        load_whole_jax()
    return found


def load_whole_jax() -> None:
    """Load JAX to its end where it is left to the first use."""
    with _loading():
        if "jax" in sys.modules and not _jax_is_whole():
            dir(sys.modules["jax"])


def _row(name: str, values: Labels, n_items: int) -> tuple[float, float, float, float, str]:
    """Mean, sd, R-hat (of the halves of a single chain), bulk ESS (nan if undefined) and state."""
    array_stats = arviz_functions()
    chains, draws = values.shape
    rhat = ess = float("nan")
    still = np.ptp(values, axis=1).max() == 0
    if draws >= FEWEST_DRAWS and not still and np.isfinite(values).all():
        x = values.astype(np.float64)
        split = chains == 1 and draws >= 2 * FEWEST_DRAWS
        halves = x[:, : draws // 2 * 2].reshape(2, -1) if split else x
        with np.errstate(divide="ignore", invalid="ignore"):
            rhat = float(array_stats.rhat(halves))
            ess = float(array_stats.ess(x))
    if draws < FEWEST_DRAWS:
        state = "unknown"
    elif still:
        state = "frozen" if np.ptp(values) > 0 else "constant"
    elif rhat <= MAX_RHAT and ess >= MIN_ESS:
        state = "unknown" if chains == 1 else "converged"
    else:
        state = "close" if _close(name, values, n_items) else "slow"
    return float(np.mean(values)), float(np.std(values)), rhat, ess, state


def _close(name: str, values: Labels, n_items: int) -> bool:
    """Whether the means of halves of chains differ too little to matter."""
    chains, draws = values.shape
    if chains == 1 or name == "log_joint":
        return chains > 1 and not len(stuck_chains(values)[0])
    halves = values[:, : draws // 2 * 2].reshape(2 * chains, -1).mean(axis=1, dtype=np.float64)
    many = CLUSTERS_RATIO * float(halves.mean())
    wide = {"n_clusters": max(CLUSTERS_APART, many), "entropy": BITS_APART}
    wide["largest_cluster"] = SHARE_APART * n_items
    within = RATIO_APART * abs(float(halves.mean()))
    if not name.startswith("base_") and values.min() >= 0 and values.max() <= 1:
        within = SHARE_APART
    return bool(np.ptp(halves) <= wide.get(name, within))


def _verdict(
    functionals: dict[str, Labels], table: pd.DataFrame, distances: FloatArray
) -> tuple[bool, str]:
    chains, draws = functionals["n_clusters"].shape
    if draws < FEWEST_DRAWS:
        return False, (
            f"This run cannot be judged: {draws} draws a chain are too few to see whether it has "
            "converged; increase num_samples."
        )
    reasons = _reasons(functionals.get("log_joint"), table, distances)
    if chains == 1:
        inside = "By itself it looks settled"
        if reasons:
            inside = f"Even by itself it has not settled: {reasons[0]}"
        return False, (
            "This run cannot be judged from one chain: nothing tells whether another would find "
            f"other partitions. {inside}; run four chains, num_chains=4."
        )
    if reasons:
        return False, (
            f"Do not trust this run: {'; '.join(reasons[:2])}. What to do: increase num_warmup and "
            "num_samples; if chains stay apart, trust only what they agree on."
        )
    off_diagonal = distances[~np.eye(chains, dtype=bool)]
    partitions = (
        f"partitions of different chains are {off_diagonal.mean():.2f} bits apart (VI) and those "
        f"of one chain {np.diag(distances).mean():.2f}"
    )
    moving = table[table["state"].isin(["converged", "close"])]
    if moving.empty:
        return True, f"All {chains} chains hold the same partition throughout: {partitions}."
    opening = "This run will do for means; more draws would sharpen tail probabilities"
    if moving["rhat"].max() <= GOOD_RHAT and moving["ess"].min() >= GOOD_ESS:
        opening = "Trust this run"
    return True, (
        f"{opening}: {_worst(moving)} over {len(table)} label-free quantities. Of {chains} chains, "
        f"{partitions}."
    )


def stuck_chains(log_joint: FloatArray) -> tuple[IntArray, FloatArray]:
    """Chains whose log joint (chain, draw) is hopelessly low, and by how much each is lower."""
    level = np.median(log_joint, axis=1)
    gap = level.max() - level
    return np.flatnonzero(gap > max(NATS_APART, 3 * float(log_joint.std(axis=1).mean()))), gap


def _reasons(log_joint: FloatArray | None, table: pd.DataFrame, distances: FloatArray) -> list[str]:
    """What speaks against a run, the gravest first."""
    reasons = []
    if log_joint is not None and np.isfinite(log_joint).all():
        low, gap = stuck_chains(log_joint)
        if len(low):
            sits = "chain {} sits" if len(low) == 1 else "chains {} sit"
            reasons.append(
                f"{sits.format(some_of(low.tolist(), 3))} up to {gap.max():.0f} nats of log joint "
                f"below chain {int(gap.argmin())}, stuck in a local mode"
            )
    within = np.diag(distances)
    usual = (within[:, None] + within) / 2
    excess = distances - 1.25 * usual - 0.05
    c, other = sorted(int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
    if excess[c, other] > 0:
        reasons.append(
            f"partitions of chains {c} and {other} are {distances[c, other]:.2f} bits apart (VI), "
            f"those within a chain {usual[c, other]:.2f}"
        )
    frozen = table.index[table["state"] == "frozen"].tolist()
    if frozen:
        reasons.append(f"each chain keeps its own value of {some_of(frozen, 3)}")
    slow = table[table["state"] == "slow"]
    if len(slow):
        reasons.append(f"{len(slow)} of {len(table)} quantities fall short ({_worst(slow)})")
    return reasons


def _worst(table: pd.DataFrame) -> str:
    """Largest R-hat and least ESS, and their quantities; an undefined one is the worst."""
    rhat = table["rhat"].fillna(np.inf)
    ess = table["ess"].fillna(0)
    return (
        f"R-hat up to {rhat.max():.3f}, {rhat.idxmax()}; effective sample size down to "
        f"{ess.min():.0f}, {ess.idxmin()}"
    )


def label_free(posterior: Any, z: Labels, n_pairs: int, seed: int) -> dict[str, Labels]:
    """Return quantities (chain, draw) of the draws z that do not depend on cluster numbers."""
    log_joint = log_joints(posterior)
    chains, draws, n = z.shape
    stacked = z.reshape(-1, n)
    if log_joint is None:
        reference = point_estimate(stacked, n_runs=4, seed=seed)
    else:
        reference = stacked[int(np.argmax(log_joint))].astype(np.int64)
    sizes = [partition_sizes(chain) for chain in z]
    values: dict[str, Labels] = {
        "n_clusters": z.max(axis=2).astype(np.int64) + 1,
        "entropy": np.array([size_entropy(s) for s in sizes]),
        "largest_cluster": np.array([s.max(axis=1) for s in sizes]),
    }
    rand = 1 - expected_losses(Binder(), stacked, reference[None]) * n / max(n - 1, 1)
    values["rand_to_reference"] = rand.reshape(chains, draws)
    names = range(n) if is_array(posterior) else item_names(posterior)
    for i, j in _pairs(reference, n_pairs, check_random_state(seed, "seed")):
        values[f"together[{names[i]}, {names[j]}]"] = (z[:, :, i] == z[:, :, j]).astype(np.int8)
    if log_joint is not None:
        values["log_joint"] = log_joint
    others = {} if is_array(posterior) else _continuous(group(posterior, "posterior"))
    return values | others


def _pairs(reference: Labels, n_pairs: int, rng: np.random.Generator) -> list[list[int]]:
    """Random pairs of items, half of them together in the reference where it has as many."""
    pairs = np.sort(rng.integers(len(reference), size=(100 * n_pairs, 2)), axis=1)
    pairs = rng.permutation(np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0))
    together = reference[pairs[:, 0]] == reference[pairs[:, 1]]
    half = np.flatnonzero(together)[: n_pairs // 2]
    if len(half) < n_pairs // 2:  # clusters are many and small: neighbours within them
        order = np.lexsort((rng.random(len(reference)), reference))
        mates = np.sort(np.column_stack([order[:-1], order[1:]]), axis=1)
        mates = rng.permutation(mates[np.diff(reference[order]) == 0])[: n_pairs // 2]
        pairs = np.concatenate([mates, pairs[~together]])
        half = np.arange(len(mates))
    rest = np.delete(np.arange(len(pairs)), half)[: n_pairs - len(half)]
    return sorted(pairs[np.append(half, rest)].tolist())


def _continuous(draws: xr.Dataset) -> dict[str, Labels]:
    values: dict[str, Labels] = {}
    for name, variable in draws.data_vars.items():
        if variable.dtype.kind != "f":
            continue
        by_component = variable.transpose(..., "chain", "draw")
        along = [by_component[dim].values for dim in by_component.dims[:-2]]
        for index in np.ndindex(by_component.shape[:-2]):
            own = [str(names[at]) for names, at in zip(along, index, strict=True)]
            values[f"{name}[{', '.join(own)}]" if own else str(name)] = by_component.values[index]
    return values


def partition_distances(z: Labels) -> FloatArray:
    """Return the mean VI (chain, chain), in bits, between draws of each two chains, or nan."""
    chains, draws, _ = z.shape
    m = min(SAMPLED, draws)
    at = evenly_spread(m, draws)
    out = np.empty((chains, chains))
    for c, other in combinations_with_replacement(range(chains), 2):
        mean = float(expected_losses(VI(), z[c, at], z[other, at]).mean())
        if c == other:  # a draw is at distance 0 from itself, which carries no information
            mean = mean * m / (m - 1) if m > 1 else np.nan
        out[c, other] = out[other, c] = mean
    return out


def violations(posterior: Any, *, seed: int = 0) -> Conflict:
    """Say why the fit violates more pairwise constraints than expected, if it does."""
    # A model whose clusters have the wrong shape splits classes, and violates the must-links that
    # hold them together, between the same few pairs of clusters: merging clusters would make more
    # of them right than of shuffled ones. Sources that are bad contradict themselves under every
    # partition. The partition is the draw of largest log joint, or the last; merges contract the
    # pair of clusters with the most must-links beyond cannot-links, again and again (greedy
    # correlation clustering).
    views = [view for view in constraints_if_any(posterior) if view.is_links and len(view)]
    if not views:
        return Conflict()
    log_joint = log_joints(posterior)
    z = stacked_partitions(posterior)[-1 if log_joint is None else int(np.nanargmax(log_joint))]
    items = np.concatenate([view.items for view in views])
    same = np.concatenate([view.answers for view in views]) == 1
    together = z[items[:, 0]] == z[items[:, 1]]
    won, chance, spread = _won_by_clusters(
        z[items[~together]], same[~together], np.random.default_rng(seed)
    )
    wrong = int((same != together).sum())
    split = int((same & ~together).sum())
    opening = f"the fit violates {wrong} of {len(same)} pairwise constraints"
    if (
        split >= max(FEWEST_SPLIT, LEAST_SHARE * same.sum())
        and won - chance >= RECONCILED * split
        and won - chance >= STANDARD_ERRORS * spread
    ):
        return Conflict(
            f"Data and constraints conflict: {opening}, and with clusters merged {won:.0f} more of "
            f"them would be right, where {chance:.0f} would by chance. The constraints agree with "
            "each other; what does not fit is the shape that clusters are given. What to do: "
            f"{_remedies(posterior)}.",
            misfit=True,
        )
    expected = 0.0  # by the means of the noise's prior; nan where it was not kept
    for view in views:
        n_same = (view.truths(z) == 1).sum()
        p, q = (view.prior.get(name, np.nan) for name in ("p", "q"))
        expected += float(n_same * (1 - p) + (len(view) - n_same) * (1 - q))
    error = np.sqrt(max(expected * (1 - expected / len(same)), 0.0))
    if not wrong - expected > max(MARGIN * len(same), ERRORS * error):
        return Conflict()
    alone = float(same.sum()) - won_by_merging(items, 2.0 * same - 1)
    opening += (
        f", where {expected:.0f} were expected, and even a partition made for the constraints "
        f"alone leaves {alone:.0f} of them wrong"
    )
    if 2 * alone >= wrong:
        return Conflict(
            f"The constraints contradict each other: {opening}. The sources are at fault rather "
            "than the model; source_reliability tells which."
        )
    return Conflict(
        f"Violated constraints: {opening}: too few are about the same items to tell whether the "
        "sources are at fault or the shape that clusters are given. What to do: "
        f"{_remedies(posterior)}.",
        misfit=True,
    )


def won_by_merging(pairs: IntArray, weight: FloatArray) -> float:
    """Sum the weights (m,) of the pairs (m, 2) of nodes that greedy contraction brings together."""
    near: dict[int, dict[int, float]] = defaultdict(dict)
    for (a, b), w in zip(pairs.tolist(), weight.tolist(), strict=True):
        if a != b:
            near[a][b] = near[b][a] = near[a].get(b, 0.0) + w
    heap = [(-w, a, b) for a, others in near.items() for b, w in others.items() if a < b and w > 0]
    heapify(heap)
    won = 0.0
    while heap:
        loss, a, b = heappop(heap)
        if near.get(a, {}).get(b) != -loss:
            continue  # one of the two was merged since, or their weight has changed
        won -= loss
        if len(near[a]) < len(near[b]):
            a, b = b, a
        moved = near.pop(b)
        del moved[a], near[a][b]
        for c, w in moved.items():
            del near[c][b]
            near[a][c] = near[c][a] = near[a].get(c, 0.0) + w
            if near[a][c] > 0:
                heappush(heap, (-near[a][c], min(a, c), max(a, c)))
    return won


def _won_by_clusters(
    clusters: IntArray, same: BoolArray, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Won by merging clusters; its mean and standard deviation over shuffled answers."""
    if not len(same):
        return 0.0, 0.0, 0.0
    kinds, kind = np.unique(np.sort(clusters, axis=1), axis=0, return_inverse=True)

    def won(answers: Any) -> float:
        return won_by_merging(kinds, np.bincount(kind.ravel(), weights=2.0 * answers - 1))

    shuffled = np.array([won(rng.permutation(same)) for _ in range(SHUFFLES)])
    return won(same), float(shuffled.mean()), float(shuffled.std())


def _remedies(posterior: Any) -> str:
    """What the fit has not tried yet, by its settings."""
    # no word of power: weaker data can leave one cluster, which is not seen before a fit
    if settings_of(posterior).get("cluster_model") in ("single", "mixture"):
        return 'try cluster_model="auto", which compares models by the constraints'
    return "leave_view_out tells what each side supports without the other"
