"""The way from TVClust to its small-variance limit, over many gammas."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from bayesclust import checks
from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.estimators import base
from bayesclust.estimators.rdp_means import MeansClusterer, RDPMeans
from bayesclust.families import as_divergence
from bayesclust.inference.assignment import dispersed_number, seeded_partition
from bayesclust.inference.chain import Moves
from bayesclust.inference.limits import path_model
from bayesclust.inference.limits.answers import Xi
from bayesclust.inference.limits.rdp_means import Problem, spread
from bayesclust.inference.runner import run_chains
from bayesclust.inference.samplers import SAMPLERS, default_moves
from bayesclust.posterior.diagnosis import partition_distances
from bayesclust.posterior.losses import VI, adjusted_rands, expected_losses, size_entropy
from bayesclust.posterior.tree import canonical, partition_sizes
from bayesclust.typing import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    import xarray as xr

GAMMAS = 13
TAILS = 0.05, 0.95


def or_default(limit: MeansClusterer | None, seed: int | Generator | None) -> MeansClusterer:
    """The limit as given, by default RDP-means; refuses all but one of single clusters."""
    if limit is None:
        return RDPMeans(random_state=seed)
    if not isinstance(limit, MeansClusterer):
        raise TypeError(
            f"limit is a {type(limit).__name__}: pass an RDPMeans, fitted or not, or None for its "
            "defaults."
        )
    if limit.cluster_model == base.MIXTURE:
        raise ValueError(
            'limit has cluster_model="mixture", and the model at a gamma is known for single '
            "clusters: pass another limit."
        )
    return limit


def fitted_limit(
    limit: MeansClusterer, X: ArrayLike, constraints: list[Constraints], items: FloatArray
) -> MeansClusterer:
    """The limit if it is fitted, else a copy fitted to X; `items` is X, checked."""
    path_model.path_divergence(as_divergence(limit.divergence).bind(items))
    if not hasattr(limit, "labels_"):
        return clone(limit).fit(X, constraints=constraints or None)
    seen = len(limit.labels_), limit.n_features_in_
    if seen != items.shape:
        raise ValueError(
            f"limit was fitted to {seen[0]} items with {seen[1]} columns, but X has shape "
            f"{items.shape}: fit it to the same X, or pass it unfitted."
        )
    return limit


def limit_path(
    X: ArrayLike,
    *,
    constraints: Any = None,
    gammas: ArrayLike | None = None,
    limit: MeansClusterer | None = None,
    sampler: str = "collapsed",
    num_chains: int = 4,
    num_warmup: int = 200,
    num_samples: int = 250,
    moves: Moves | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
    random_state: int | Generator | None = None,
) -> xr.Dataset:
    """Sample TVClust at growing gamma, and compare it with the RDP-means that it tends to.

    At gamma an item weighs gamma, answers weigh gamma xi, and a cluster costs gamma lambda, so that
    minus the log joint density over gamma tends to RDP-means' objective J.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : PairwiseConstraints, list of them or None, default None
    gammas : array-like of shape (g,) or None, default None
        In units of 1 / D. None takes 13, in equal ratios, from where one cluster has the spread of
        all items to where differences of J by lambda / (100 n) decide.
    limit : RDPMeans, DPMeans or None, default None
        Gives lambda, xi and D, of single clusters; it is fitted first if it is not yet. None is
        `RDPMeans` with its defaults and the same `random_state`.
    sampler : {"collapsed", "gibbs"}, default "collapsed"
    num_chains, num_warmup, num_samples, moves, n_jobs, progress, random_state
        As for `TVClust`, at each gamma; by default 4 chains of 200 sweeps and 250 draws.

    Returns
    -------
    xarray.Dataset
        Over gamma and statistic ("mean", and "lower" and "upper" of 90% intervals): vi and ari
        (variation of information, in bits, and adjusted Rand index to the limit's partition),
        n_clusters, entropy (of the cluster sizes, bits), objective (J of the draws) and energy
        (minus the log joint over gamma, less the constants that make it tend to J). Over gamma:
        vi_within and vi_between, the mean variation of information between two draws of one chain
        and of different chains, and share_below, the share of draws whose J is below the limit's.
        Over item: limit_labels.
        Attributes: limit_objective, limit_n_clusters, limit_entropy, penalty, divergence, sampler.

    Notes
    -----
    Chains start from dispersed partitions at the first gamma, then where they were at the one
    before: annealed. They are no draws from the posterior where vi_between stays above vi_within.
    Where share_below rises to one, the limit is a local minimum: ask for more starts (n_init).

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information, section 4 (Eq. 16 to 19).

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(size=(10, 2)), rng.normal(5, 1, size=(10, 2))]
    >>> short = {"num_chains": 2, "num_warmup": 50, "num_samples": 50, "random_state": 0}
    >>> path = bc.limit_path(X, limit=bc.DPMeans(penalty=25.0), gammas=[0.1, 1.0, 100.0], **short)
    >>> end = path.sel(statistic="mean").isel(gamma=-1)
    >>> bool(end["vi"] < 1e-9), int(end["n_clusters"])
    (True, 2)
    """
    schedule = base.check_schedule(num_warmup, num_samples)
    checks.check_choice(sampler, "sampler", SAMPLERS)
    checks.check_int(num_chains, "num_chains")
    checks.n_threads(n_jobs)
    base.check_moves(moves)
    given = None if gammas is None else _check_gammas(gammas)
    unfitted = or_default(limit, random_state)
    items = checks.check_items(X)
    n_jobs = checks.n_threads(n_jobs, cells=items.size)
    constraints = check_constraints(constraints, len(items), needs="links")
    base.check_draws_fit_in_memory(len(items), num_chains, num_samples)
    found = fitted_limit(unfitted, X, constraints, items)
    graph, xi = path_model.pose_answers(found.xi_, constraints, len(items))
    divergence = found._problem.divergence
    problem = Problem.of(divergence.points(items), divergence, graph, found.penalty_)
    wanted = default_gammas(problem) if given is None else given

    make = SAMPLERS[sampler]
    chosen = default_moves(make, len(items)) if moves is None else moves
    rngs = checks.check_random_state(random_state).spawn(num_chains)
    last: list[IntArray] | None = None
    drawn: list[Any] = []
    energies: list[FloatArray] = []
    for gamma in wanted:
        model = path_model.PathModel.at(float(gamma), problem, found.xi_, constraints)
        if last is None:
            embedding = model.problem.family.embedding()
            last = [
                seeded_partition(embedding, dispersed_number(chain, len(embedding)), rng)
                for chain, rng in enumerate(rngs)
            ]
        starts = [
            partial(make, model.problem, z, rng, chosen) for z, rng in zip(last, rngs, strict=True)
        ]
        draws = run_chains(starts, schedule, progress=progress, n_jobs=n_jobs)
        if draws.interrupted and drawn:
            break  # chains may be missing: what was complete is returned
        drawn.append(canonical(draws.posterior["z"]))
        last = list(drawn[-1][:, -1].astype(np.int64))
        energies.append(model.energy(draws.sample_stats["log_joint"]))
        if draws.interrupted:
            break
    path = summarise(wanted[: len(drawn)], drawn, energies, problem, xi, found.labels_)
    return path.assign_attrs(sampler=sampler)


def default_gammas(problem: Problem) -> FloatArray:
    """Gammas in equal ratios, from one cluster as wide as the data to far beyond agreement.

    At the first, with f free coordinates of a centre, gamma = f n / (2 sum_i D(x_i, mean)).
    """
    mean = float(spread(problem).mean())
    first = problem.divergence.n_free(problem.points) / (2.0 * mean) if mean > 0 else 1.0
    last = 100.0 * len(problem.points) * max(first, 1.0 / problem.penalty)
    return np.geomspace(first, last, GAMMAS)


def _check_gammas(gammas: ArrayLike) -> FloatArray:
    values = checks.real_array(gammas, "gammas")
    if values.ndim != 1 or not len(values) or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"gammas must be a list of positive numbers; got {checks.shown(gammas)}: "
            "pass at least one, or None."
        )
    return np.unique(values)


# --- the summary of a path


def summarise(
    gammas: FloatArray,
    drawn: Sequence[IntArray],
    energies: Sequence[FloatArray],
    problem: Problem,
    xi: Xi,
    limit: IntArray,
) -> xr.Dataset:
    """Sum up the draws of every gamma: partitions (chain, draw, n) and energies (chain, draw)."""
    import xarray as xr

    stacked = [z.reshape(-1, len(problem.points)) for z in drawn]
    J = []
    for z in stacked:
        distinct, which = np.unique(z, axis=0, return_inverse=True)
        values = [path_model.value(problem, labels.astype(np.int64), xi) for labels in distinct]
        J.append(np.array(values)[which.reshape(energies[0].shape)])
    final = path_model.value(problem, limit, xi)
    distances = [partition_distances(z) for z in drawn]
    apart = ~np.eye(len(drawn[0]), dtype=np.bool_)
    over_draws: dict[str, Sequence[FloatArray]] = {
        "vi": [expected_losses(VI(), z, limit[None]) for z in stacked],
        "ari": [adjusted_rands(limit, z) for z in stacked],
        "n_clusters": [z.max(axis=1).astype(np.float64) + 1 for z in stacked],
        "entropy": [size_entropy(partition_sizes(z)) for z in stacked],
        "objective": J,
        "energy": energies,
    }
    variables: dict[str, Any] = {
        name: (("gamma", "statistic"), [[v.mean(), *np.quantile(v, TAILS)] for v in values])
        for name, values in over_draws.items()
    }
    below = final - path_model.EQUAL * abs(final)
    variables |= {
        "vi_within": ("gamma", [_mean(np.diag(each)) for each in distances]),
        "vi_between": ("gamma", [_mean(each[apart]) for each in distances]),
        "share_below": ("gamma", [(each < below).mean() for each in J]),
        "limit_labels": ("item", limit),
    }
    attrs: dict[str, Any] = {
        "divergence": problem.divergence.name,
        "penalty": problem.penalty,
        "limit_objective": final,
        "limit_n_clusters": int(limit.max()) + 1,
        "limit_entropy": float(size_entropy(partition_sizes(canonical(limit)))),
    }
    coords = {"gamma": gammas, "statistic": ["mean", "lower", "upper"]}
    return xr.Dataset(variables, coords=coords, attrs=attrs)


def _mean(values: FloatArray) -> float:
    """Mean, and not the rounding below zero; nan of nothing."""
    return max(float(values.mean()), 0.0) if values.size else np.nan
