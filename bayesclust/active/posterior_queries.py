"""Queries chosen by a posterior: those whose answers are expected to tell most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from bayesclust.active.expected_gain import (
    WeightedDraws,
    check_target,
    default_min_gain,
    with_skips,
)
from bayesclust.active.protocol import (
    ASKED,
    PAIR,
    TRIPLET,
    Query,
    QueryState,
    RandomQueries,
    check_queries,
    ordered,
)
from bayesclust.checks import check_choice, check_int, check_random_state, number_between
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.noise import LinkNoise, NoiseModel
from bayesclust.estimators import TVClust
from bayesclust.inference.particles import (
    THINNING,
    AveragedParticles,
    Particles,
    extends,
    systematic,
)
from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.losses import Loss
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import (
    Labels,
    canonical,
    constraints_if_any,
    evenly_spread,
    group,
    stacked_partitions,
)
from bayesclust.typing import FloatArray, IntArray, Seed

if TYPE_CHECKING:
    import pandas as pd

    from bayesclust.constraints.stored import StoredConstraints

KINDS = {PAIR: (PAIR,), TRIPLET: (TRIPLET,), "either": (PAIR, TRIPLET)}
ANNOTATOR = LinkNoise(p=(18.0, 2.0), q=(18.0, 2.0))
AT_ONCE = 30
"""Further answers beyond which a new run takes less time than conditioning on them one by one."""
RUNS = 4
"""Searches for the point estimate: a quarter of the usual number, since it is needed so often."""


class PosteriorQueries:
    """Ask the queries whose answers are expected to tell most, by a posterior that is updated.

    Keeps weighted draws of the posterior of `TVClust` models between calls. New answers change
    their weights, and now and then the draws (`bayesclust.inference.particles`); no fit is
    repeated, unless answers were taken back, more than thirty came at once, or the data are others.
    Several models are weighted by how well each predicted the answers. Constraints beside answers
    are not used.

    The gain of a query is the expected fall of an uncertainty U by its answer a,

        U(w) - sum_a p(a) U(w_a),   w_a,s proportional to w_s p(a | z_s),

    with p(a | z_s) under the noise learned so far: see `bayesclust.active.expected_gain`.

    Parameters
    ----------
    kind : {"pair", "triplet", "either"}, default "pair"
        What to ask; a triplet often tells more, and takes the annotator longer.
    target : "partition", "n_clusters", int, or loss, default "vi"
        What one wants to know: the partition in every detail (BALD), the number of clusters, which
        items are with a given one, or a partition that is right up to a small loss.
    estimator : TVClust, sequence of TVClust or None, default None
        The models and their chains, with sampler="collapsed". None is ``TVClust(num_warmup=200)``
        with ``cluster_model`` "single" and "mixture".
    min_gain : float or None, default None
        No query is asked whose expected gain is below it, in nats or the units of the loss. None is
        0.01 nats or a tenth of the cost of one misplaced item; 0 never stops, and asks at random
        where all draws agree.
    patience : int, default 10
        How many queries in a row below `min_gain` are asked all the same, since the posterior may
        be wrong.
    noise : NoiseModel or None, default ``LinkNoise(p=(18, 2), q=(18, 2))``
        Noise of answers of its kind, whatever the constraints of the state say; other kinds, and
        all with None, keep their own. Under a weaker prior the posterior would sooner call an
        answer wrong than change a partition that contradicts it.
    num_draws : int, default 100
        Draws that are kept, of all models together.
    num_candidates : int, default 2000
        Queries of each kind to compare, at most.

    Notes
    -----
    On generated data, 120 items of three kinds, 40 queries with one answer in ten wrong, the mean
    pairwise F over a session was 0.695 by "vi" (0.700 "binder", 0.656 "partition", 0.670 random
    pairs; 0.675 under the prior Beta(4, 1)), with standard errors of 0.010 to 0.018; one model lost
    0.071.

    References
    ----------
    Houlsby, Huszar, Ghahramani and Lengyel (2011), Bayesian active learning for classification and
    preference learning, Eq. 2. Kirsch, van Amersfoort and Gal (2019), BatchBALD.

    Examples
    --------
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (10, 2)), rng.normal(2.5, 1, (10, 2))]
    >>> few = bc.TVClust(num_chains=2, num_warmup=50)
    >>> strategy = bc.active.PosteriorQueries(estimator=few, num_draws=40)
    >>> session = bc.InteractiveSession(X, [0] * 20, query_strategy=strategy, random_state=0)
    >>> (query,) = session.ask()
    >>> session.answer(query, "different")
    >>> strategy.update(session.state, rng).labels().shape
    (20,)
    """

    def __init__(
        self,
        kind: str = PAIR,
        *,
        target: str | int | Loss = "vi",
        estimator: TVClust | Sequence[TVClust] | None = None,
        min_gain: float | None = None,
        patience: int = 10,
        noise: NoiseModel | None = ANNOTATOR,
        num_draws: int = 100,
        num_candidates: int = 2000,
    ) -> None:
        self.kind = check_choice(kind, "kind", KINDS)
        self.target = check_target(target)
        self.min_gain = (
            None if min_gain is None else number_between(min_gain, "min_gain", "[0, inf)")
        )
        self.patience = check_int(patience, "patience", least=0)
        if estimator is None:
            estimator = [
                TVClust(num_warmup=200, cluster_model=model) for model in ("single", "mixture")
            ]
        self.estimators = _check_estimators(estimator, num_draws)
        if not (noise is None or isinstance(noise, NoiseModel)):
            raise TypeError(
                f"noise must be a noise model or None; got {type(noise).__name__}: "
                "pass say LinkNoise()."
            )
        self.noise = noise
        self.num_draws = num_draws
        self.num_candidates = check_int(num_candidates, "num_candidates")
        self._particles: AveragedParticles | None = None
        self._X: FloatArray | None = None
        self._gained_at: int | None = None  # number of answers at the last query above min_gain

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return at most `size` queries to ask together, best first; none if it is time to stop."""
        draws, queries = self._weigh(state, rng)
        chosen, gains = draws.best(queries, self.target, size, rng)
        # a query after one that is not worth asking was chosen as an addition to it
        least = self.min_gain
        if least is None:
            least = default_min_gain(self.target, draws.draws)
        kept = int(np.append((gains < least) & (least > 0), True).argmax())
        n_answers = sum(map(len, self.particles.problem.constraints)) + len(state.skipped)
        if kept or self._gained_at is None or n_answers < self._gained_at:
            self._gained_at = n_answers
        return chosen[: kept or max(0, self.patience - (n_answers - self._gained_at))]

    def update(self, state: QueryState, rng: Generator) -> Self:
        """Condition on the answers that are new in a state; a call does so itself."""
        constraints = self._constraints(state)
        same = self._X is state.X or np.array_equal(self._X, state.X)  # type: ignore[arg-type]
        known: Sequence[Constraints] = (
            () if self._particles is None else self._particles.problem.constraints
        )
        further = sum(map(len, constraints)) - sum(map(len, known))
        continues = same and extends(known, constraints) and further <= AT_ONCE
        if self._particles is not None and continues:
            self._particles.update(constraints, rng)
        else:
            own = np.random.default_rng(int(rng.integers(2**63)))
            self._particles = _start(self.estimators, state.X, constraints, self.num_draws, own)
            self._X = state.X
        return self

    @property
    def particles(self) -> AveragedParticles:
        """The weighted draws, as the last update left them."""
        if self._particles is None:
            raise ValueError(
                "there are no draws yet: call the query strategy, or update(state, rng)."
            )
        return self._particles

    @property
    def draws(self) -> Labels:
        """Partitions drawn from the posterior, shape (S, n); their weights are `weights`."""
        return canonical(self.particles.draws)

    @property
    def weights(self) -> FloatArray:
        """Weights of the draws, of sum 1, shape (S,)."""
        return self.particles.weights

    def labels(self, loss: str | Loss = "vi") -> IntArray:
        """Return the partition of least posterior expected loss at the last update, shape (n,)."""
        # always the same rounding of the weights, so that the same draws have the same estimate
        rows = self.draws[systematic(self.weights, np.random.default_rng(0))]
        return point_estimate(rows, loss, n_runs=RUNS, n_jobs=1)

    def gains(
        self, state: QueryState, rng: Generator, queries: Sequence[Query] | None = None
    ) -> pd.DataFrame:
        """Return a table of queries, by default those a call would compare, the best first.

        Its columns are kind, items i, j and for triplets k, gain by itself, and the probability of
        each answer.
        """
        draws, compared = self._weigh(state, rng, queries)
        return draws.table(compared, self.target).sort_values(
            "gain", ascending=False, kind="stable", ignore_index=True
        )

    def _weigh(
        self, state: QueryState, rng: Generator, queries: Sequence[Query] | None = None
    ) -> tuple[WeightedDraws, list[Query]]:
        """The updated draws, and the queries to compare."""
        particles = self.update(state, rng).particles
        kinds = KINDS[self.kind]
        confusion = {kind: self._confusion(kind, state) for kind in ASKED}
        draws = WeightedDraws(self.draws, particles.weights, confusion)
        if queries is not None:
            return draws, check_queries(queries, len(state.X))
        asked = {kind: state.asked(kind) for kind in kinds}
        found = draws.candidates(kinds, asked, self.num_candidates, rng)
        return draws, found or RandomQueries(kinds[0])(state, self.num_candidates, rng)

    def _confusion(self, kind: str, state: QueryState) -> FloatArray:
        """p(answer | truth) of the first source under each draw, the noise integrated out."""
        particles = self.particles
        own = [one for one in particles.problem.constraints if isinstance(one, ASKED[kind])]
        if own:
            noise = own[0].noise
            counts = own[0].counts(particles.draws)
        else:
            given = self.noise is not None and self.noise.kind == ASKED[kind].kind
            noise = self.noise if self.noise is not None and given else ASKED[kind].default_noise()
            shape = (len(particles.draws), noise.n_answers, len(noise.truth))
            counts = np.zeros(shape, dtype=np.int64)
        table = noise.predictive(counts)[:, 0]
        if kind == TRIPLET:
            return table
        skipped = sum(query.kind == PAIR for query in state.skipped)
        return with_skips(table, skipped, sum(map(len, own)))

    def _constraints(self, state: QueryState) -> list[Constraints]:
        """The answers of a state, under the noise of this strategy."""
        found = [one for one in state.constraints if len(one.truth) > 0]
        if self.noise is None:
            return found
        return [one.with_noise(self.noise) if one.kind == self.noise.kind else one for one in found]


def _check_estimators(estimators: Any, num_draws: Any) -> tuple[TVClust, ...]:
    """Return the estimators, all TVClust with the collapsed sampler, or refuse them."""
    found = tuple(estimators) if isinstance(estimators, Sequence) else (estimators,)
    for estimator in found:
        if not isinstance(estimator, TVClust):
            raise TypeError(
                f"estimator must be a TVClust, or several; got {type(estimator).__name__}: "
                "pass TVClust(...)."
            )
        if estimator.sampler != "collapsed":
            raise ValueError(
                "only sampler='collapsed' conditions on answers one by one; "
                f"got {estimator.sampler!r}: choose that one."
            )
    if not found:
        raise ValueError("estimator is empty: pass TVClust(...), or several.")
    check_int(num_draws, "num_draws", least=2 * len(found))
    return found


def _start(
    estimators: Sequence[TVClust],
    X: FloatArray,
    constraints: Sequence[Constraints],
    number: int,
    rng: Generator,
) -> AveragedParticles:
    """Weighted draws from short runs of the chains of each estimator, an equal part of each."""
    ends = [m * number // len(estimators) for m in range(len(estimators) + 1)]
    parts = []
    for m, (estimator, own) in enumerate(zip(estimators, rng.spawn(len(estimators)), strict=True)):
        chains: list[Any] = clone(estimator).start_chains(X, constraints, own)
        thinning = max(THINNING, estimator.thinning)
        size = ends[m + 1] - ends[m]
        parts.append(Particles(chains, size, estimator.num_warmup, thinning=thinning))
    return AveragedParticles(parts)


def suggest_queries(
    posterior: Any,
    kind: str = PAIR,
    size: int = 10,
    *,
    target: str | int | Loss = "vi",
    num_draws: int = 200,
    num_candidates: int = 2000,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Return the queries whose answers would tell a sampled posterior most.

    Parameters
    ----------
    posterior : DataTree, fitted estimator or (draws, n) array of int
        Posterior draws. The noise is that of the first source, or the default of the kind.
    kind : {"pair", "triplet"}, default "pair"
    size : int, default 10
        How many to ask together, at most.
    target : "partition", "n_clusters", int, or loss, default "vi"
        What one wants to know, as for `PosteriorQueries`.
    num_draws : int, default 200
        Draws that are used: time grows with their square.
    num_candidates : int, default 2000
        Most queries that are compared, of those on which the draws disagree.
    seed : int, Generator or None, default 0

    Returns
    -------
    DataFrame
        One row a query: kind, the items i, j and for triplets k, gain (of its answer by itself),
        the probability of each answer, and adds (to the rows above).

    Examples
    --------
    >>> import bayesclust as bc
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 1, 2]]
    >>> bc.active.suggest_queries(draws, size=2)[["i", "j", "gain", "adds"]].round(3)
       i  j   gain   adds
    0  1  2  0.106  0.106
    1  1  3  0.106  0.074
    """
    check_choice(kind, "kind", ASKED)
    check_int(size, "size")
    check_int(num_candidates, "num_candidates")
    z = stacked_partitions(posterior)
    rng = check_random_state(seed)
    rows = evenly_spread(check_int(num_draws, "num_draws"), len(z))
    stored = [one for one in constraints_if_any(posterior) if one.kind == ASKED[kind].kind]
    confusion = {kind: _stored_confusion(kind, stored, posterior, rows)}
    draws = WeightedDraws(z[rows], np.full(len(rows), 1 / len(rows)), confusion)
    asked = {ordered(kind, row) for own in stored for row in own.items.tolist()}
    candidates = draws.candidates([kind], {kind: asked}, num_candidates, rng)
    chosen, adds = draws.best(candidates, target, size, rng)
    return draws.table(chosen, target).assign(adds=adds)


def _stored_confusion(
    kind: str, stored: list[StoredConstraints], posterior: Any, rows: IntArray
) -> FloatArray:
    """p(answer | truth) of the first source in each draw, or at the prior mean."""
    draws = group(posterior, "posterior") if stored else None
    if draws is not None and all(name in draws for name in stored[0].parameters.values()):
        by_chain = confusions(stored[0], draws)[:, :, 0]
        table = by_chain.reshape(-1, *by_chain.shape[2:])[rows]
    else:
        noise = ASKED[kind].default_noise()
        table = np.repeat(noise.confusion(noise.initial(1)), len(rows), axis=0)
    return with_skips(table, 0, sum(map(len, stored))) if kind == PAIR else table
