"""Convergence of label-free functionals and of partitions, and a verdict in words."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesclust.checks import check_int, check_random_state, number_between
from bayesclust.posterior.conflict import violations
from bayesclust.posterior.labels import Labels, partition_sizes
from bayesclust.posterior.losses import VI, Binder, expected_losses
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import chain_partitions, group, is_array, log_joints
from bayesclust.typing import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Diagnosis", "Functionals", "diagnose", "label_free", "partition_distances"]

MAX_RHAT = 1.05
MIN_ESS = 100.0
GOOD_RHAT = 1.01
GOOD_ESS = 400.0
"""Vehtari et al. (2021) recommend these for every quantity that is reported."""
FEWEST_DRAWS = 4
NATS_APART = 10.0
APPROXIMATION = "approximation"
NO_CHAINS = (
    "these draws come from a {}, each independent of the others, and agree however far it is from "
    "the posterior; run a sampler, and see posterior_distance between the two."
)
SAMPLED = 40
"""Draws of each chain that are compared with those of the others."""
MORE = "increase num_warmup and num_samples"


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What `diagnose` found.

    Parameters
    ----------
    ok : bool
        Whether the draws can be used.
    verdict : str
        The reason in one or two sentences, and what to do.
    table : pandas.DataFrame
        One row per functional: mean, sd, rhat, ess (bulk) and state, one of "converged", "constant"
        (the same value in all draws: chains agree, and R-hat is undefined), "slow" (R-hat or
        effective sample size fall short), "frozen" (each chain keeps a value of its own) and
        "unknown" (too few draws or chains to tell).
    distances : pandas.DataFrame
        Mean variation of information, in bits, between draws of each two chains; within chains on
        the diagonal.
    conflict : str, default ""
        Pairwise constraints that the fit violates beyond what was expected, and what to do; empty
        where there are none. Chains can agree on a posterior that has explained its constraints
        away.
    """

    ok: bool
    verdict: str
    table: pd.DataFrame
    distances: pd.DataFrame
    conflict: str = ""

    def __str__(self) -> str:
        return f"{self.verdict} {self.conflict}".rstrip()

    def __repr__(self) -> str:
        return f"Diagnosis(ok={self.ok}, verdict={str(self)!r})"

    def _repr_html_(self) -> str:
        colour = "#0072B2" if self.ok else "#D55E00"
        style = f"border-left: 4px solid {colour}; padding-left: 8px"
        head = f'<p style="{style}"><b>{escape(str(self))}</b></p>'
        return head + self.table.to_html(float_format="{:.4g}".format, na_rep="")


def diagnose(
    posterior: Any,
    *,
    n_pairs: int = 20,
    max_rhat: float = MAX_RHAT,
    min_ess: float = MIN_ESS,
    seed: int = 0,
) -> Diagnosis:
    """Judge whether the chains of a run agree and have moved enough.

    Labels have no meaning across draws, so nothing is computed from them directly. Followed are the
    number of clusters, the entropy of their sizes, the largest of them, the Rand index to a
    reference partition, whether random pairs are together, the log joint, and all continuous
    parameters: rank-normalised split R-hat and bulk effective sample size (Vehtari et al. 2021).
    Partitions are also compared as wholes, by the variation of information between and within
    chains, and chains by how many nats their log joints are apart: chains stuck in different modes
    can agree in all single numbers.

    However well chains agree, the fit may violate pairwise constraints that agree with each other,
    or more of them than the noise's prior expects: then `conflict` says so, and what to do.

    Parameters
    ----------
    posterior : DataTree, fitted estimator, or array of int of shape (chain, draw, n)
        Draws of the partition; an array (draws, n) is one chain.
    n_pairs : int, default 20
        Random pairs of items that are followed, half of them from within the clusters of the
        reference.
    max_rhat : float, default 1.05
        Largest R-hat that passes. With some thirty functionals, 1.01 would be missed by chance in
        good runs; the verdict tells where 1.01 and an effective sample size of 400 are reached
        throughout.
    min_ess : float, default 100
        Least effective sample size that passes, enough for posterior means; tail probabilities need
        more.
    seed : int, default 0
        Of the choice of pairs.

    Returns
    -------
    Diagnosis
        Prints as its verdict, followed by what `conflict` says. Of a single chain, of
        fewer than four draws a chain or of draws from a mean field it is never `ok`.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> rng = np.random.default_rng(0)
    >>> z = np.tile([0, 0, 0, 1, 1, 1], (4, 200, 1))
    >>> z[:, :, 2] = rng.integers(2, size=(4, 200))
    >>> report = bc.diagnose(to_datatree({"z": z}))
    >>> report.ok
    True
    >>> z[3, :, 1] = 1
    >>> print(bc.diagnose(to_datatree({"z": z})))
    Do not trust this run: ...
    """
    import pandas as pd

    check_int(n_pairs, "n_pairs", least=0)
    max_rhat = number_between(max_rhat, "max_rhat", "(1, inf)")
    min_ess = number_between(min_ess, "min_ess", "(0, inf)")
    functionals = label_free(posterior, n_pairs, seed)
    table = _table(functionals, max_rhat, min_ess)
    distances = partition_distances(functionals.z)
    attrs = getattr(getattr(posterior, "posterior_", posterior), "attrs", {})
    ok = False
    verdict = f"Chains tell nothing here: {NO_CHAINS.format(attrs.get(APPROXIMATION))}"
    if not attrs.get(APPROXIMATION):
        ok, verdict = _verdict(functionals, table, distances)
    violated = violations(posterior, seed=seed)
    chains = pd.RangeIndex(len(distances), name="chain")
    between = pd.DataFrame(distances, index=chains, columns=chains)
    return Diagnosis(ok, verdict, table, between, "" if violated is None else str(violated))


def _table(functionals: Functionals, max_rhat: float, min_ess: float) -> pd.DataFrame:
    import pandas as pd

    rows = {}
    for name, values in functionals.values.items():
        rhat, ess = _convergence(values)
        state = _state(values, rhat, ess, max_rhat, min_ess)
        rows[name] = (float(np.mean(values)), float(np.std(values)), rhat, ess, state)
    columns = ["mean", "sd", "rhat", "ess", "state"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _convergence(values: Labels) -> tuple[float, float]:
    """R-hat (of the halves of a single chain) and bulk ESS, nan where they are undefined."""
    # all of arviz takes over a second to import; its array functions do not
    array_stats: Any = import_module("arviz_stats.base").array_stats
    draws = values.shape[1]
    if draws < FEWEST_DRAWS or np.ptp(values, axis=1).max() == 0 or not np.isfinite(values).all():
        return float("nan"), float("nan")
    x = values.astype(np.float64)
    split = len(x) == 1 and draws >= 2 * FEWEST_DRAWS
    halves = x[:, : draws // 2 * 2].reshape(2, -1) if split else x
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(array_stats.rhat(halves)), float(array_stats.ess(x))


def _state(values: Labels, rhat: float, ess: float, max_rhat: float, min_ess: float) -> str:
    if values.shape[1] < FEWEST_DRAWS:
        return "unknown"
    if np.ptp(values, axis=1).max() == 0:
        return "frozen" if np.ptp(values) > 0 else "constant"
    if rhat <= max_rhat and ess >= min_ess:
        return "unknown" if len(values) == 1 else "converged"
    return "slow"


def _verdict(
    functionals: Functionals, table: pd.DataFrame, distances: FloatArray
) -> tuple[bool, str]:
    chains, draws, _ = functionals.z.shape
    if draws < FEWEST_DRAWS:
        return False, (
            f"This run cannot be judged: {draws} draws a chain are too few to see whether it has "
            "converged; increase num_samples."
        )
    reasons = [*_stuck(functionals.log_joint), *_apart(distances), *_unsettled(table)]
    if chains == 1:
        inside = "By itself it looks settled"
        if reasons:
            inside = f"Even by itself it has not settled: {reasons[0]}"
        return False, (
            "This run cannot be judged from one chain: nothing tells whether another would find "
            f"other partitions. {inside}; run four chains, num_chains=4."
        )
    if not reasons:
        return True, _praise(table, distances)
    apart = "; if chains stay apart, trust only what they agree on"
    more = apart if chains > 2 else ", and run four chains"
    return False, f"Do not trust this run: {'; '.join(reasons[:2])}. What to do: {MORE}{more}."


def _stuck(log_joint: FloatArray | None) -> list[str]:
    """Chains whose log joint stays far below that of the best chain."""
    if log_joint is None or not np.isfinite(log_joint).all():
        return []
    level = np.median(log_joint, axis=1)
    spread = float(log_joint.std(axis=1).mean())
    gap = level.max() - level
    low = np.flatnonzero(gap > max(NATS_APART, 3 * spread))
    if not len(low):
        return []
    which = f"chain {low[0]} sits" if len(low) == 1 else f"chains {_listed(low.tolist())} sit"
    return [
        f"{which} up to {gap.max():.0f} nats of log joint below chain {int(gap.argmin())}, stuck "
        "in a local mode"
    ]


def _apart(distances: FloatArray) -> list[str]:
    """The two chains whose partitions are farther apart than draws of one chain are."""
    if len(distances) < 2 or np.isnan(distances).any():
        return []
    within = np.diag(distances)
    usual = (within[:, None] + within) / 2
    excess = distances - 1.25 * usual - 0.05
    c, other = sorted(int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
    if excess[c, other] <= 0:
        return []
    return [
        f"partitions of chains {c} and {other} are {distances[c, other]:.2f} bits apart (VI), "
        f"those within a chain {usual[c, other]:.2f}"
    ]


def _unsettled(table: pd.DataFrame) -> list[str]:
    reasons = []
    frozen = table.index[table["state"] == "frozen"].tolist()
    if frozen:
        reasons.append(f"each chain keeps its own value of {_listed(frozen)}")
    slow = table[table["state"] == "slow"]
    if len(slow):
        fall = "one quantity falls"
        if len(slow) > 1:
            fall = f"{len(slow)} of {len(table)} quantities fall"
        rhat, worst_rhat, ess, worst_ess = _worst(slow)
        worst = f"R-hat up to {rhat:.2f}, {worst_rhat}; ESS down to {ess:.0f}, {worst_ess}"
        reasons.append(f"{fall} short ({worst})")
    return reasons


def _praise(table: pd.DataFrame, distances: FloatArray) -> str:
    moving = table[table["state"] == "converged"]
    off_diagonal = distances[~np.eye(len(distances), dtype=bool)]
    partitions = (
        f"partitions of different chains are {off_diagonal.mean():.2f} bits apart (VI) and those "
        f"of one chain {np.diag(distances).mean():.2f}"
    )
    if moving.empty:
        return f"All {len(distances)} chains hold the same partition throughout: {partitions}."
    rhat, worst_rhat, ess, worst_ess = _worst(moving)
    opening = "This run will do for means; more draws would sharpen tail probabilities"
    if rhat <= GOOD_RHAT and ess >= GOOD_ESS:
        opening = "Trust this run"
    return (
        f"{opening}: R-hat is at most {rhat:.3f} ({worst_rhat}) and the effective sample size at "
        f"least {ess:.0f} ({worst_ess}) over {len(table)} label-free quantities. "
        f"Of {len(distances)} chains, {partitions}."
    )


def _worst(table: pd.DataFrame) -> tuple[float, str, float, str]:
    """Largest R-hat and its quantity, least ESS and its quantity; an undefined one is the worst."""
    rhat = table["rhat"].fillna(np.inf).to_numpy()
    ess = table["ess"].fillna(0).to_numpy()
    r = int(rhat.argmax())
    e = int(ess.argmin())
    return float(rhat[r]), str(table.index[r]), float(ess[e]), str(table.index[e])


def _listed(names: list[Any], shown: int = 3) -> str:
    words = [str(name) for name in names[:shown]]
    if len(names) > shown:
        return f"{', '.join(words)} and {len(names) - shown} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


class Functionals(NamedTuple):
    """Label-free functionals of the draws, and the draws they were computed from."""

    values: dict[str, Labels]  # by name, (chain, draw) each; indicators are int8
    z: Labels  # (chain, draw, n)
    log_joint: FloatArray | None  # (chain, draw)


def label_free(posterior: Any, n_pairs: int, seed: int) -> Functionals:
    """Return everything about the draws that does not depend on how clusters are numbered.

    n_clusters, entropy (bits) of the cluster sizes, largest_cluster (items), rand_to_reference
    (Rand index to the draw of highest log joint or, where that was not kept, to the point
    estimate), together[i, j] of `n_pairs` pairs of items, half of them together in the reference
    where there are as many, log_joint, and every component of every continuous parameter.
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
    """Random pairs of items, half of them together in the reference where it has as many."""
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
    """Return the mean VI (chain, chain), in bits, between draws of each two chains.

    z is (chain, draw, n), of which `sampled` draws of each chain take part, evenly spread. On the
    diagonal between two different draws of one chain, nan where it has only one.
    """
    chains, draws, _ = z.shape
    m = min(sampled, draws)
    at = np.linspace(0, draws - 1, m).round().astype(int)
    out = np.empty((chains, chains))
    for c in range(chains):
        for other in range(c, chains):
            mean = expected_losses(VI(), z[c, at], z[other, at]).mean()
            # a draw is at distance 0 from itself, which carries no information
            out[c, other] = out[other, c] = (
                mean if c != other else (mean * m / (m - 1) if m > 1 else np.nan)
            )
    return out
