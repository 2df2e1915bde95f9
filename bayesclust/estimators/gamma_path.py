"""The way from TVClust and DCRC to their deterministic limits, over many gammas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from bayesclust import checks
from bayesclust.constraints.base import Constraints, Needs, check_constraints
from bayesclust.estimators import base
from bayesclust.estimators.dcrc import DCRC, GIBBS
from bayesclust.estimators.rdp_means import MeansClusterer, RDPMeans
from bayesclust.inference.assignment import dispersed_number, seeded_partition
from bayesclust.inference.chain import Moves
from bayesclust.inference.dcrc import gibbs, tempered
from bayesclust.inference.limits import path_model
from bayesclust.inference.limits.rdp_means import Problem, spread
from bayesclust.inference.runner import Draws, check_draws_fit_in_memory, run_chains
from bayesclust.inference.samplers import SAMPLERS, default_moves
from bayesclust.inference.variational.mean_field import draw_labels
from bayesclust.names import check_same_names
from bayesclust.posterior.diagnosis import partition_distances
from bayesclust.posterior.losses import VI, adjusted_rands, expected_losses, size_entropy
from bayesclust.posterior.tree import by_size, canonical, names_in, names_of, partition_sizes
from bayesclust.typing import ArrayLike, FloatArray, IntArray

if TYPE_CHECKING:
    import xarray as xr

GAMMAS = 13
TEMPERED = 1e-2, 1e4
"""The first and the last gamma of DCRC, whose J is in nats."""
MEAN_FIELD = "variational_em"
LEAST_RATE = 1e-100
TAILS = 0.05, 0.95
LEAST, ROUNDING = 0.01, 1e-6
"""Share of J by which chains that stand still are above the limit, and that is no difference."""
Run = Callable[..., Draws]


def or_default(limit: Any, seed: int | Generator | None) -> MeansClusterer | DCRC:
    """The limit as given, by default RDP-means; refuses all but one of single clusters."""
    if limit is None:
        return RDPMeans(random_state=seed)
    if isinstance(limit, DCRC):
        return limit
    if not isinstance(limit, MeansClusterer):
        raise TypeError(
            f"limit is a {type(limit).__name__}: pass an RDPMeans or a DCRC, fitted or not, or "
            "None for RDPMeans with its defaults."
        )
    if limit.cluster_model == base.MIXTURE:
        raise ValueError(
            'limit has cluster_model="mixture", and the model at a gamma is known for single '
            "clusters: pass another limit."
        )
    return limit


def fitted_limit[Limit: (MeansClusterer, DCRC)](
    limit: Limit, X: ArrayLike, constraints: list[Constraints], items: FloatArray
) -> Limit:
    """The limit if it is fitted, else a copy fitted to X; `items` is X, checked."""
    if not hasattr(limit, "labels_"):
        return clone(limit).fit(X, constraints=constraints or None)
    seen = len(limit.labels_), limit.n_features_in_
    if seen != items.shape:
        raise ValueError(
            f"limit was fitted to {seen[0]} items with {seen[1]} columns, but X has shape "
            f"{items.shape}: fit it to the same X, or pass it unfitted."
        )
    remedy = "fit it to this X, or pass it unfitted"
    check_same_names(names_of(limit), names_in(X)[0], "limit", remedy)
    return limit


class Sampled(NamedTuple):
    """Draws at one gamma."""

    z: IntArray  # (chain, draw, n)
    energies: FloatArray | None  # (chain, draw)
    interrupted: bool


class TVClustWay:
    """TVClust at growing gamma: its posterior concentrates on the partition of RDP-means."""

    def __init__(
        self,
        limit: MeansClusterer,
        constraints: list[Constraints],
        items: FloatArray,
        sampler: str,
        moves: Moves | None,
    ) -> None:
        graph, self.xi = path_model.pose_answers(limit.xi_, constraints, len(items))
        divergence = limit._problem.divergence
        self.problem = Problem.of(divergence.points(items), divergence, graph, limit.penalty_)
        self.limit = limit
        self.labels = limit.labels_
        self.final = path_model.value(self.problem, limit.labels_, self.xi)
        # few answers say the same of all of these partitions
        digits = [np.arange(len(items)) >> at & 1 for at in range(len(items).bit_length())]
        for z in (limit.labels_, *digits):
            here, there = path_model.value(self.problem, z, self.xi), limit.objective(z)
            if abs(here - there) > ROUNDING * (abs(there) + limit.penalty_):
                raise ValueError(
                    "the limit was fitted to other data or constraints than these, since its J "
                    f"differs ({there:.6g} there, {here:.6g} here): fit it with the same, or pass "
                    "it unfitted."
                )
        self.constraints = constraints
        self.make = SAMPLERS[sampler]
        self.moves = default_moves(self.make, len(items)) if moves is None else moves
        self.attrs = {
            "limit": "RDP-means",
            "divergence": divergence.name,
            "penalty": self.problem.penalty,
        }

    def default_gammas(self) -> FloatArray:
        """Gammas from far away to beyond the limit."""
        return default_gammas(self.problem)

    def values(self, z: IntArray) -> FloatArray:
        """J of labels (..., n)."""
        rows = z.reshape(-1, z.shape[-1])
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        own = [path_model.value(self.problem, row.astype(np.int64), self.xi) for row in distinct]
        return np.array(own)[which.reshape(z.shape[:-1])]

    def sample(
        self, gamma: float, last: list[IntArray] | None, rngs: list[Generator], run: Run
    ) -> Sampled:
        """Draw at gamma, chains being where they were at the gamma before."""
        model = path_model.PathModel.at(gamma, self.problem, self.limit.xi_, self.constraints)
        if last is None:
            embedding = model.problem.family.embedding()
            last = [
                seeded_partition(embedding, dispersed_number(chain, len(embedding)), rng)
                for chain, rng in enumerate(rngs)
            ]
        chains = zip(last, rngs, strict=True)
        draws = run([partial(self.make, model.problem, z, rng, self.moves) for z, rng in chains])
        z = canonical(draws.posterior["z"])
        return Sampled(z, model.energy(draws.sample_stats["log_joint"]), draws.interrupted)


class DCRCWay:
    """DCRC at falling temperature, its weights and noise held."""

    def __init__(
        self,
        limit: DCRC,
        constraints: list[Constraints],
        items: FloatArray,
        sampler: str,
        draws: int,
    ) -> None:
        shapes = {one.name: (one.n_sources, one.n_answers, one.n_answers) for one in constraints}
        if shapes != {name: own.shape for name, own in limit.confusion_.items()}:
            raise ValueError(
                "the limit was fitted to other constraints than these: fit it with the same, or "
                "pass it unfitted."
            )
        if any((own < LEAST_RATE).any() for own in limit.confusion_.values()):
            raise ValueError(
                "the limit has answers that are never wrong, and no temperature makes them weigh "
                "less: give noise a small error rate such as 0.01."
            )
        order = limit._as_fitted
        W = np.column_stack([limit.coef_, limit.intercept_])[order]
        problem = gibbs.DCRCProblem(limit._features(items), tuple(constraints), W)
        self.model = tempered.TemperedLabels(problem, limit.confusion_)
        self.every = np.eye(len(W))
        own = np.argsort(order)[limit.labels_]
        hard = self.model.settle(self.every[own], np.inf).argmax(axis=1)
        self.labels = by_size(hard)[1]
        self.final = float(self.model.values(hard))
        self.draws = draws if sampler == MEAN_FIELD else 0
        self.q: list[FloatArray] = []
        self.attrs = {"limit": "hard DCRC", "divergence": "none"}

    def default_gammas(self) -> FloatArray:
        """Gammas from far away to beyond the limit."""
        return np.geomspace(*TEMPERED, GAMMAS)

    def values(self, z: IntArray) -> FloatArray:
        """J of labels (..., n)."""
        return self.model.values(z)

    def sample(
        self, gamma: float, last: list[IntArray] | None, rngs: list[Generator], run: Run
    ) -> Sampled:
        """Draw at gamma, chains being where they were at the gamma before."""
        n = len(self.labels)
        if last is None:
            last = [rng.integers(len(self.every), size=n) for rng in rngs]
            self.q = [self.every[z] for z in last]
        if not self.draws:
            chains = zip(last, rngs, strict=True)
            starts = [partial(tempered.TemperedChain, self.model, gamma, *own) for own in chains]
            drawn = run(starts)
            return Sampled(drawn.posterior["z"], None, drawn.interrupted)
        self.q = [self.model.settle(q, gamma) for q in self.q]
        z = [draw_labels(q, self.draws, rng) for q, rng in zip(self.q, rngs, strict=True)]
        free = [np.full(self.draws, self.model.free_energy(q, gamma)) for q in self.q]
        return Sampled(np.array(z), np.array(free), False)


def limit_path(
    X: ArrayLike,
    *,
    constraints: Any = None,
    gammas: ArrayLike | None = None,
    limit: MeansClusterer | DCRC | None = None,
    sampler: str | None = None,
    num_chains: int = 4,
    num_warmup: int = 200,
    num_samples: int = 250,
    moves: Moves | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
    random_state: int | Generator | None = None,
) -> xr.Dataset:
    """Sample TVClust or DCRC at growing gamma, and compare it with the limit that it tends to.

    TVClust tends to RDP-means: at gamma an item weighs gamma, answers weigh gamma xi, and a cluster
    costs gamma lambda, so that minus the log joint density over gamma tends to RDP-means' objective
    J. DCRC tends to itself at temperature 0: with the weights and the noise (`confusion_`) of
    `limit`, labels have the law exp(-gamma J), J being minus their log probability given the
    answers, so that gamma is 1 / temperature, 1 is DCRC's own posterior, and the error rate falls
    to zero with the temperature.

    Parameters
    ----------
    X : array-like of shape (n, d)
    constraints : PairwiseConstraints, list of them or None, default None
        With DCRC constraints of any kind that it takes.
    gammas : array-like of shape (g,) or None, default None
        In units of 1 / D. None takes 13, in equal ratios, from where one cluster has the spread of
        all items to where differences of J by lambda / (100 n) decide; of DCRC from 0.01 to 10,000.
    limit : RDPMeans, DPMeans, DCRC or None, default None
        Gives lambda, xi and D, of single clusters, or DCRC's weights and noise; it is fitted first
        if it is not yet. None is `RDPMeans` with its defaults and the same `random_state`. DCRC's
        limit is where its labels come to rest at temperature 0; ``DCRC(temperature=0)``, by hard
        EM, has weights fitted to such labels too.
    sampler : {"collapsed", "gibbs", "variational_em"} or None, default None
        None is "collapsed" for TVClust and "gibbs" for DCRC, which has no "collapsed";
        "variational_em" is DCRC's mean field at each temperature, and draws from it.
    num_chains, num_warmup, num_samples, moves, n_jobs, progress, random_state
        As for `TVClust`, at each gamma; by default 4 chains of 200 sweeps and 250 draws. `moves` of
        TVClust only; of mean field a chain is a start.

    Returns
    -------
    xarray.Dataset
        Over gamma and statistic ("mean", and "lower" and "upper" of 90% intervals): vi and ari
        (variation of information, in bits, and adjusted Rand index to the limit's partition),
        n_clusters, entropy (of the cluster sizes, bits), objective (J of the draws) and energy
        (minus the log joint over gamma, less the constants that make it tend to J; of mean field
        its free energy, E J - H / gamma; DCRC's sampler has none). Over gamma:
        vi_within and vi_between, the mean variation of information between two draws of one chain
        and of different chains, and share_below, the share of draws whose J is below the limit's.
        Over item: limit_labels.
        Attributes: limit, limit_objective, limit_n_clusters, limit_entropy, divergence, sampler,
        and of TVClust penalty.

    Notes
    -----
    Chains start from dispersed partitions at the first gamma, then where they were at the one
    before: annealed. They are no draws from the posterior where vi_between stays above vi_within.
    Where share_below rises to one, the limit is a local minimum: ask for more starts (n_init).

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information, section 4 (Eq. 16 to 19). Pei,
    Fern, Rosales, Tjahja: Discriminative Clustering with Relative Constraints, Eq. 6 and 13 with
    Table I; `bayesclust.inference.dcrc.tempered` has the formulas.

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
    checks.check_int(num_chains, "num_chains")
    checks.n_threads(n_jobs)
    base.check_moves(moves)
    given = None if gammas is None else _check_gammas(gammas)
    unfitted = or_default(limit, random_state)
    known = (GIBBS, MEAN_FIELD) if isinstance(unfitted, DCRC) else tuple(SAMPLERS)
    sampler = checks.check_choice(known[0] if sampler is None else sampler, "sampler", known)
    items = checks.check_items(X)
    n_jobs = checks.n_threads(n_jobs, cells=items.size)
    needs: Needs = "table" if isinstance(unfitted, DCRC) else "links"
    names = names_in(X)[0]
    constraints = check_constraints(constraints, len(items), needs=needs, names=names)
    check_draws_fit_in_memory(len(items), num_chains, num_samples)
    way: TVClustWay | DCRCWay
    if isinstance(unfitted, DCRC):
        classifier = fitted_limit(unfitted, X, constraints, items)
        way = DCRCWay(classifier, constraints, items, sampler, num_samples)
    else:
        path_model.path_divergence(unfitted._distance().bind(X))
        found = fitted_limit(unfitted, X, constraints, items)
        way = TVClustWay(found, constraints, items, sampler, moves)
    wanted = way.default_gammas() if given is None else given

    rngs = checks.check_random_state(random_state).spawn(num_chains)
    run = partial(run_chains, schedule=schedule, progress=progress, n_jobs=n_jobs)
    last: list[IntArray] | None = None
    drawn: list[Sampled] = []
    for gamma in wanted:
        sampled = way.sample(float(gamma), last, rngs, run)
        if sampled.interrupted and drawn:
            break  # chains may be missing: what was complete is returned
        drawn.append(sampled)
        last = list(sampled.z[:, -1].astype(np.int64))
        if sampled.interrupted:
            break
    path = summarise(wanted[: len(drawn)], drawn, way).assign_attrs(sampler=sampler)
    if path["share_below"][-1] > 0.5:
        base.warn(
            f"the limit's partition is a local minimum: its J is {way.final:.5g}, and draws reach "
            f"{float(path['objective'][-1, 0]):.5g}. Fit it with more starts (n_init) or, if it "
            "then has too many clusters, a larger penalty, such as RDPMeans.from_posterior gives."
        )
    low, high = path["objective"].sel(statistic=["lower", "upper"])[-1].values
    if high - low <= path_model.EQUAL * abs(high) and low > way.final + LEAST * abs(way.final):
        base.warn(
            f"all chains stand still at a partition whose J is {low:.5g}, above {way.final:.5g} of "
            "the limit, which they have missed: begin at a smaller gamma, or take more sweeps and "
            "chains."
        )
    return path


def default_gammas(problem: Problem) -> FloatArray:
    """Gammas in equal ratios, from one cluster as wide as the data to far beyond agreement."""
    # At the first, with f free coordinates of a centre, gamma = f n / (2 sum_i D(x_i, mean)).
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


def summarise(
    gammas: FloatArray, drawn: Sequence[Sampled], way: TVClustWay | DCRCWay
) -> xr.Dataset:
    """Sum up the draws of every gamma."""
    import xarray as xr

    limit = way.labels
    partitions = [canonical(each.z) for each in drawn]
    stacked = [z.reshape(-1, len(limit)) for z in partitions]
    J = [way.values(each.z) for each in drawn]
    distances = [partition_distances(z) for z in partitions]
    apart = ~np.eye(len(drawn[0].z), dtype=np.bool_)
    over_draws: dict[str, Sequence[FloatArray]] = {
        "vi": [expected_losses(VI(), z, limit[None]) for z in stacked],
        "ari": [adjusted_rands(limit, z) for z in stacked],
        "n_clusters": [z.max(axis=1).astype(np.float64) + 1 for z in stacked],
        "entropy": [size_entropy(partition_sizes(z)) for z in stacked],
        "objective": J,
    }
    energies = [each.energies for each in drawn if each.energies is not None]
    if energies:
        over_draws["energy"] = energies
    variables: dict[str, Any] = {
        name: (("gamma", "statistic"), [[v.mean(), *np.quantile(v, TAILS)] for v in values])
        for name, values in over_draws.items()
    }
    below = way.final - path_model.EQUAL * abs(way.final)
    variables |= {
        "vi_within": ("gamma", [_mean(np.diag(each)) for each in distances]),
        "vi_between": ("gamma", [_mean(each[apart]) for each in distances]),
        "share_below": ("gamma", [(each < below).mean() for each in J]),
        "limit_labels": ("item", limit),
    }
    attrs = {
        **way.attrs,
        "limit_objective": way.final,
        "limit_n_clusters": int(limit.max()) + 1,
        "limit_entropy": float(size_entropy(partition_sizes(canonical(limit)))),
    }
    coords = {"gamma": gammas, "statistic": ["mean", "lower", "upper"]}
    return xr.Dataset(variables, coords=coords, attrs=attrs)


def _mean(values: FloatArray) -> float:
    """Mean, and not the rounding below zero; nan of nothing."""
    return max(float(values.mean()), 0.0) if values.size else np.nan
