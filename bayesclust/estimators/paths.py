"""From the sampler to its small-variance limit, gamma by gamma."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from bayesclust.checks import (
    check_choice,
    check_constraints,
    check_int,
    check_items,
    check_random_state,
    check_threads,
)
from bayesclust.constraints._checks import number_between, real_array, shown
from bayesclust.estimators._draws import check_room
from bayesclust.estimators._means import MeansClusterer
from bayesclust.estimators._path import checked_limit, fitted_limit, limit_problem, model_at
from bayesclust.estimators._path_functionals import summarise
from bayesclust.estimators._samplers import ONE_BY_ONE, check_moves
from bayesclust.families import as_divergence
from bayesclust.inference.limits.bridge import PathModel, first_gamma
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.inference.runner import Chain, Schedule, run_chains
from bayesclust.inference.schedule import Moves
from bayesclust.inference.starts import dispersed_number, seeded_partition
from bayesclust.posterior.labels import canonical
from bayesclust.typing import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    import xarray as xr

GAMMAS = 13
PREVIOUS, DISPERSED = "previous", "dispersed"


def limit_path(
    X: ArrayLike,
    *,
    constraints: Any = None,
    gammas: ArrayLike | None = None,
    limit: MeansClusterer | None = None,
    sampler: str = "collapsed",
    start: str = PREVIOUS,
    num_chains: int = 4,
    num_warmup: int = 200,
    num_samples: int = 250,
    level: float = 0.9,
    moves: Moves | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
    random_state: int | Generator | None = None,
) -> xr.Dataset:
    """Sample TVClust at growing gamma, and compare the posterior with the RDP-means that it tends to.

    At gamma an item weighs gamma, answers weigh gamma xi, and a cluster costs gamma lambda, so that
    minus the log joint density over gamma tends to RDP-means' objective J. What is compared is the
    partition of `limit`, as it stands, with the draws at each gamma.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : Constraints, list of Constraints or None, default None
        Answers about the items, of any kinds.
    gammas : array-like of shape (g,) or None, default None
        In units of 1 / D, visited in growing order. None takes 13, in equal ratios: from where one
        cluster has the spread of all items, to where differences of J by a hundredth of lambda / n
        and of D / n decide.
    limit : RDPMeans, DPMeans or None, default None
        Gives lambda, xi and D; it is fitted first if it is not yet. None is `RDPMeans` with its
        defaults.
    sampler : {"collapsed", "gibbs"}, default "collapsed"
    start : {"previous", "dispersed"}, default "previous"
        Where the chains of a gamma start: where they were at the gamma before (at the first, from
        dispersed partitions), or from dispersed partitions every time.
    num_chains : int, default 4
    num_warmup : int, default 200
        Sweeps at each gamma before the first draw.
    num_samples : int, default 250
        Draws per chain at each gamma.
    level : float in (0, 1), default 0.9
        Of the intervals.
    moves : Moves or None, default None
        What a sweep consists of; None takes the sampler's default.
    n_jobs : int or None, default None
        Threads; None takes one per chain, at most one per processor.
    progress : bool, default True
        Show a progress bar at each gamma.
    random_state : int, Generator or None, default None

    Returns
    -------
    xarray.Dataset
        Over gamma and statistic ("mean", "lower", "upper"): vi (variation of information to the
        limit's partition, bits), ari (adjusted Rand index with it), vi_best and ari_best (the
        same to the partition of least J that is known: the limit's, or where RDP-means' descent
        leads from the best draw, if that is better), n_clusters, entropy (of the cluster sizes,
        bits), objective (J of the draws) and energy (minus the log joint over gamma, less the
        constants that make it tend to J). Over gamma: vi_within and vi_between, the mean variation
        of information between two draws of one chain and of different chains, and share_below, the
        share of draws whose J is below the limit's. Over gamma and chain: chain_objective, the mean
        J of each chain. Over item: limit_labels and best_labels. Attributes: J, number of clusters
        and entropy of these two, penalty, divergence, level, sampler and start.

    Raises
    ------
    ValueError, TypeError
        Before any computing, in one sentence: what was got, where, and what to do.

    Notes
    -----
    At the end of the path all posterior mass sits on the least J, but no sampler crosses from one
    local minimum of J to another there. Chains that come from smaller gammas have been annealed,
    and end in good minima; chains that start dispersed end in minima near their starts. Neither are
    draws from the posterior once chains no longer agree, that is where vi_between stays above
    vi_within. Where share_below rises to one, the limit's own partition is a local minimum only:
    the sampler tends to RDP-means' objective, and so away from that partition; ask `RDPMeans` for
    more starts (n_init).

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information, section 4 (Eq. 16 to 19).

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> X = np.r_[np.random.default_rng(0).normal(size=(10, 2)), np.random.default_rng(1).normal(5, 1, size=(10, 2))]
    >>> short = {"num_chains": 2, "num_warmup": 50, "num_samples": 50, "random_state": 0}
    >>> path = bc.limit_path(X, limit=bc.DPMeans(penalty=25.0), gammas=[0.1, 1.0, 100.0], **short)
    >>> bool(path["vi"].sel(statistic="mean")[-1] < 1e-9), int(path["n_clusters"].sel(statistic="mean")[-1])
    (True, 2)
    """
    schedule = Schedule(
        check_int(num_warmup, "num_warmup", least=0), check_int(num_samples, "num_samples")
    )
    check_choice(sampler, "sampler", ONE_BY_ONE)
    check_choice(start, "start", (PREVIOUS, DISPERSED))
    check_int(num_chains, "num_chains")
    check_threads(n_jobs)
    check_moves(moves)
    level = number_between(level, "level", "(0, 1)")
    wanted = None if gammas is None else _check_gammas(gammas)
    chosen = checked_limit(limit, random_state)
    items = check_items(X, missing=as_divergence(chosen.divergence).takes_missing)
    views = check_constraints(constraints, len(items))
    check_room(len(items), num_chains, num_samples)
    found = fitted_limit(chosen, X, constraints, items)
    problem, xi = limit_problem(found, items, views)
    wanted = default_gammas(problem) if wanted is None else wanted
    rngs = check_random_state(random_state).spawn(num_chains)
    walk = _Walk(sampler, start, moves, rngs)
    drawn: list[Any] = []
    energies: list[FloatArray] = []
    for gamma in wanted:
        model = model_at(float(gamma), found, problem, views)
        draws = run_chains(walk.starts(model), schedule, progress=progress, n_jobs=n_jobs)
        if draws.interrupted and drawn:
            break  # chains may be missing: what was complete is returned
        drawn.append(canonical(draws.posterior["z"]))
        walk.last = list(drawn[-1][:, -1].astype(np.int64))
        energies.append(model.energy(draws.sample_stats["log_joint"]))
        if draws.interrupted:
            break
    path = summarise(wanted[: len(drawn)], drawn, energies, problem, xi, found.labels_, level)
    return path.assign_attrs(sampler=sampler, start=start)


def default_gammas(problem: Problem) -> FloatArray:
    """Return gammas in equal ratios, from one cluster as wide as the data to far beyond agreement."""
    first, n = first_gamma(problem), len(problem.points)
    last = 100.0 * n * max(first, 1.0 / problem.penalty)
    gammas: FloatArray = np.geomspace(first, last, GAMMAS)
    return gammas


def _check_gammas(gammas: ArrayLike) -> FloatArray:
    values = real_array(gammas, "gammas")
    if values.ndim != 1 or not len(values) or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"gammas must be a list of positive numbers; got {shown(gammas)}: pass at least one, or None."
        )
    distinct: FloatArray = np.unique(values)
    return distinct


class _Walk:
    """Chains that go from gamma to gamma."""

    def __init__(
        self, sampler: str, start: str, moves: Moves | None, rngs: list[Generator]
    ) -> None:
        self.chain_type, self.start, self.moves, self.rngs = ONE_BY_ONE[sampler], start, moves, rngs
        self.last: list[IntArray] | None = None

    def starts(self, model: PathModel) -> list[Callable[[], Chain]]:
        """One callable per chain."""
        n = model.problem.n_items
        moves = self.chain_type.default_moves(n) if self.moves is None else self.moves
        return [
            partial(self.chain_type, model.problem, self._partition(c, model), rng, moves)
            for c, rng in enumerate(self.rngs)
        ]

    def _partition(self, chain: int, model: PathModel) -> IntArray:
        if self.start == PREVIOUS and self.last is not None:
            return self.last[chain]
        embedding = model.problem.family.embedding()
        return seeded_partition(
            embedding, dispersed_number(chain, len(embedding)), self.rngs[chain]
        )


__all__ = ["limit_path"]
