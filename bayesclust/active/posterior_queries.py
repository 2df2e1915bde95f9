"""Queries chosen by a posterior: those whose answers are expected to tell most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from bayesclust import checks as check
from bayesclust.active import expected_gain
from bayesclust.active.expected_gain import WeightedDraws, propose, with_skips
from bayesclust.active.protocol import (
    ASKED,
    PAIR,
    Query,
    QueryState,
    RandomQueries,
    check_queries,
    ordered,
)
from bayesclust.constraints.noise import LinkNoise, NoiseModel
from bayesclust.estimators import TVClust
from bayesclust.inference.particles import (
    THINNING,
    AveragedParticles,
    Particles,
    extends,
    systematic,
)
from bayesclust.posterior import tree
from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.losses import Loss
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.typing import FloatArray, IntArray, Seed

if TYPE_CHECKING:
    import pandas as pd

    from bayesclust.constraints.stored import StoredConstraints

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
    kind : {"pair", "triplet"}, default "pair"
        What to ask; a triplet often tells more, and takes the annotator longer.
    target : "partition", "n_clusters", int, or loss, default "vi"
        What one wants to know: the partition in every detail (BALD), the number of clusters, which
        items are with a given one, or a partition that is right up to a small loss.
    estimator : TVClust, sequence of TVClust or None, default None
        The models and their chains, with sampler="collapsed". None is ``TVClust(num_warmup=200)``
        with ``cluster_model`` "single" and "mixture".
    min_gain : float or None, default None
        Least expected gain of a query, in nats or the units of the loss. None is 0.01 nats or a
        tenth of the cost of one misplaced item; 0 never stops.
    patience : int, default 10
        How many queries in a row below `min_gain` are asked all the same.
    noise : NoiseModel or None, default ``LinkNoise(p=(18, 2), q=(18, 2))``
        Noise of answers of its kind, whatever the constraints of the state say; None keeps theirs.
        Under a weaker prior the posterior would sooner call an answer wrong than change a
        partition.
    num_draws : int, default 100
        Draws that are kept, of all models together.
    num_candidates : int, default 2000
        Queries of each kind to compare, at most.

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
        self.kind = check.check_choice(kind, "kind", ASKED)
        self.target = expected_gain.check_target(target)
        self.min_gain = (
            None if min_gain is None else check.number_between(min_gain, "min_gain", "[0, inf)")
        )
        self.patience = check.check_int(patience, "patience", least=0)
        if estimator is None:
            estimator = [
                TVClust(num_warmup=200, cluster_model=model) for model in ("single", "mixture")
            ]
        given = estimator if isinstance(estimator, Sequence) else [estimator]
        self.estimators = check.each_is(given, (TVClust,), "estimator")
        samplers = [one.sampler for one in self.estimators]
        if set(samplers) != {"collapsed"}:
            raise ValueError(
                "estimator must be TVClust, one or several, with sampler='collapsed', which "
                f"conditions on answers one by one; got samplers {samplers}."
            )
        if not (noise is None or isinstance(noise, NoiseModel)):
            raise TypeError(
                f"noise must be a noise model or None; got {type(noise).__name__}: "
                "pass say LinkNoise()."
            )
        self.noise = noise
        self.num_draws = check.check_int(num_draws, "num_draws", least=2 * len(self.estimators))
        self.num_candidates = check.check_int(num_candidates, "num_candidates")
        self._particles: AveragedParticles | None = None
        self._X: Any = None
        self._gained_at: int | None = None  # number of answers at the last query above min_gain

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return at most `size` queries to ask together, best first; none if it is time to stop."""
        draws = self._weighted_draws(state, rng)
        chosen, gains = draws.best(self._candidates(draws, state, rng), self.target, size, rng)
        least = self.min_gain
        if least is None:
            least = expected_gain.default_min_gain(self.target, draws.draws)
        # a query after one that is not worth asking was chosen as an addition to it
        kept = int(np.append((gains < least) & (least > 0), True).argmax())
        n_answers = sum(map(len, self.particles.problem.constraints)) + len(state.skipped)
        if kept or self._gained_at is None or n_answers < self._gained_at:
            self._gained_at = n_answers
        most = kept or max(0, self.patience - (n_answers - self._gained_at))
        return [Query(self.kind, tuple(row)) for row in chosen[:most].tolist()]

    def update(self, state: QueryState, rng: Generator) -> Self:
        """Condition on the answers that are new in a state; a call does so itself."""
        constraints = [one for one in state.constraints if len(one.truth) > 0]
        if self.noise is not None:
            kind = self.noise.kind
            constraints = [c.with_noise(self.noise) if c.kind == kind else c for c in constraints]
        if self._particles is not None and np.array_equal(self._X, state.X):
            known = self._particles.problem.constraints
            further = sum(map(len, constraints)) - sum(map(len, known))
            if extends(known, constraints) and further <= AT_ONCE:
                self._particles.update(constraints, rng)
                return self
        own = np.random.default_rng(int(rng.integers(2**63)))
        count = len(self.estimators)
        ends = [m * self.num_draws // count for m in range(count + 1)]
        parts = []
        for estimator, size, seed in zip(
            self.estimators, np.diff(ends), own.spawn(count), strict=True
        ):
            chains: list[Any] = clone(estimator).start_chains(state.X, constraints, seed)
            thinning = max(THINNING, estimator.thinning)
            parts.append(Particles(chains, int(size), estimator.num_warmup, thinning=thinning))
        self._particles = AveragedParticles(parts)
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
    def draws(self) -> tree.Labels:
        """Partitions drawn from the posterior, shape (S, n); their weights are `weights`."""
        return tree.canonical(self.particles.draws)

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
        known = None if queries is None else check_queries(queries, len(state.X), [self.kind])
        draws = self._weighted_draws(state, rng)
        compared = (
            self._candidates(draws, state, rng) if known is None else _items(known, self.kind)
        )
        return draws.table(compared, self.target).sort_values(
            "gain", ascending=False, kind="stable", ignore_index=True
        )

    def _candidates(self, draws: WeightedDraws, state: QueryState, rng: Generator) -> IntArray:
        """The items of the queries to compare, (C, 2) or (C, 3)."""
        asked = state.asked(self.kind)
        number = self.num_candidates
        found = propose(self.kind, draws.draws, draws.weights, asked, number, rng)
        return (
            found if len(found) else _items(RandomQueries(self.kind)(state, number, rng), self.kind)
        )

    def _weighted_draws(self, state: QueryState, rng: Generator) -> WeightedDraws:
        """The updated draws, and p(answer | truth) of the first source under each of them."""
        particles = self.update(state, rng).particles
        asked = ASKED[self.kind]
        own = [one for one in particles.problem.constraints if isinstance(one, asked)]
        if own:
            noise = own[0].noise
            counts = own[0].counts(particles.draws)
        else:
            given = self.noise is not None and self.noise.kind == asked.kind
            noise = self.noise if self.noise is not None and given else asked.default_noise()
            shape = (len(particles.draws), noise.n_answers, len(noise.truth))
            counts = np.zeros(shape, dtype=np.int64)
        table = noise.predictive(counts)[:, 0]
        if self.kind == PAIR:
            skipped = sum(query.kind == PAIR for query in state.skipped)
            table = with_skips(table, skipped, sum(map(len, own)))
        return WeightedDraws(self.draws, particles.weights, self.kind, table)


def _items(queries: Sequence[Query], kind: str) -> IntArray:
    rows = np.array([query.items for query in queries], dtype=np.int64)
    return rows.reshape(-1, len(ASKED[kind].members))


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
    check.check_choice(kind, "kind", ASKED)
    check.check_int(size, "size")
    check.check_int(num_candidates, "num_candidates")
    z = tree.stacked_partitions(posterior)
    rng = check.check_random_state(seed)
    rows = tree.evenly_spread(check.check_int(num_draws, "num_draws"), len(z))
    weights = np.full(len(rows), 1 / len(rows))
    stored = [one for one in tree.constraints_if_any(posterior) if one.kind == ASKED[kind].kind]
    table = _stored_confusion(kind, stored, posterior, rows)
    draws = WeightedDraws(z[rows], weights, kind, table)
    asked = {ordered(kind, row) for own in stored for row in own.items.tolist()}
    candidates = propose(kind, draws.draws, weights, asked, num_candidates, rng)
    chosen, adds = draws.best(candidates, target, size, rng)
    return draws.table(chosen, target).assign(adds=adds)


def _stored_confusion(
    kind: str, stored: list[StoredConstraints], posterior: Any, rows: IntArray
) -> FloatArray:
    """p(answer | truth) of the first source in each draw, or at the prior mean."""
    draws = tree.group(posterior, "posterior") if stored else None
    if draws is not None and all(name in draws for name in stored[0].parameters.values()):
        by_chain = confusions(stored[0], draws)[:, :, 0]
        table = by_chain.reshape(-1, *by_chain.shape[2:])[rows]
    else:
        noise = ASKED[kind].default_noise()
        table = np.repeat(noise.confusion(noise.initial(1)), len(rows), axis=0)
    return with_skips(table, 0, sum(map(len, stored))) if kind == PAIR else table
