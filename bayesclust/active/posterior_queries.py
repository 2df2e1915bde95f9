"""Queries chosen by a posterior: what the answer is expected to tell, and when to stop asking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.random import Generator

from bayesclust.active.beliefs import VIEWS, Beliefs, check_queries, with_skips
from bayesclust.active.expected_gain import check_target, least_worth
from bayesclust.active.protocol import PAIR, TRIPLET, Query, QueryState
from bayesclust.active.random_queries import RandomQueries
from bayesclust.checks import check_choice, check_int
from bayesclust.constraints._checks import number_between
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.noise import LinkNoise, NoiseModel
from bayesclust.estimators import TVClust
from bayesclust.estimators._particles import averaged_particles, check_estimators_of_particles
from bayesclust.inference.answers_in_turn import extends
from bayesclust.inference.averaged_particles import AveragedParticles
from bayesclust.inference.particles import systematic
from bayesclust.posterior.labels import Labels, canonical
from bayesclust.posterior.losses import Loss
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PosteriorQueries"]

KINDS = {PAIR: (PAIR,), TRIPLET: (TRIPLET,), "either": (PAIR, TRIPLET)}
EXPERT = LinkNoise(p=(18.0, 2.0), q=(18.0, 2.0))
AT_ONCE = 30
"""Further answers beyond which a new run takes less time than hearing them one by one."""
RUNS = 4
"""Searches for the point estimate: a quarter of the usual number, since it is wanted after every answer."""


class PosteriorQueries:
    """Queries whose answers are expected to tell most, by a posterior that hears every answer.

    Keeps weighted draws of the posterior of `TVClust` models between calls; after a call, or
    `update`, they are read by `draws` and `weights`, and `labels` is a point estimate of them.
    Answers that are new in a state change their weights, and now and then the draws
    (`bayesclust.inference.particles`); no fit is repeated. Of several models, each is weighed by
    how well it predicted the answers (`bayesclust.inference.averaged_particles`). Where answers
    were taken back, more than thirty came at once, or the data are others, it starts anew. What is
    said unasked by rules (labels, spans, implications) is not heard, since the model has no place
    for it.

    The gain of a query is the expected fall of an uncertainty U by its answer a,

        U(w) - sum_a p(a) U(w_a),   w_a,s proportional to w_s p(a | z_s),

    with p(a | z_s) under the noise learned so far: see `bayesclust.active.expected_gain` for the
    choices of U and their sources, and `bayesclust.active.proposals` for the queries that are
    compared.

    Parameters
    ----------
    kind : {"pair", "triplet", "either"}, default "pair"
        What to ask; "either" compares both, of which a triplet often tells more and takes the
        expert longer.
    target : "partition", "n_clusters", int, or loss, default "vi"
        What one wants to know: the partition in every detail (BALD), the number of clusters, the
        company of an item, or a partition that is right up to a small loss ("vi", "binder", or a
        value from `bayesclust.losses`).
    estimator : TVClust, sequence of TVClust or None, default None
        The models and their chains: any family, cluster model and power with sampler="collapsed". None is
        ``TVClust(num_warmup=200)`` and ``TVClust(num_warmup=200, cluster_model="mixture")``: whether a class
        is one Gaussian or several is for the answers to say.
    min_gain : float or None, default None
        No query is asked whose expected gain is below it, in the units of the target (nats, or
        those of the loss). None is a tenth of what one misplaced item costs, or 0.01 nats
        (`bayesclust.active.expected_gain.least_worth`); 0 never stops, and asks at random where
        all draws agree.
    patience : int, default 10
        How many queries in a row that are not worth it are asked all the same, before it stops.
        What a query is worth is what the posterior thinks, and it may be wrong: these put it to
        the test. 0 stops at the first.
    noise : NoiseModel or None, default ``LinkNoise(p=(18, 2), q=(18, 2))``
        How answers of its kind go wrong, whatever the views of the state say; other kinds, and
        all with None, keep what these say. The default expects one wrong answer in ten as firmly as
        if twenty had been heard: it takes the posterior long to learn the expert's reliability from
        queries about which it is itself in doubt, and as long as it has not, it would sooner
        dismiss an answer as wrong than change a partition that contradicts it.
    num_draws : int, default 100
        Draws that are kept, of all models together.
    num_candidates : int, default 2000
        Queries of each kind to compare, at most.

    Raises
    ------
    TypeError, ValueError
        If a setting is none of these.

    Notes
    -----
    The defaults of `target` and `noise` were chosen on generated data: 120 items in five
    overlapping Gaussian classes, in three classes of two Gaussian blobs each (under
    ``cluster_model="mixture"``), and in four classes of unequal size with Student tails (3 degrees of
    freedom), four sets of each, 40 queries, one answer in ten wrong. The mean of pairwise F over
    a session was 0.695 ("binder" 0.700, "partition" 0.656, random pairs 0.670; by the weak prior
    Beta(4, 1) 0.675), paired differences with standard errors: 0.039 +- 0.013 over "partition",
    0.025 +- 0.010 over random pairs, 0.019 +- 0.011 over the weak prior, and -0.005 +- 0.018 to
    "binder", which "vi" is preferred to as the loss of the usual point estimate.

    The two models of the default were chosen in the same way: these kinds of data, lognormal
    classes, three classes of four blobs each and two rings, four sets of each, 100 answers about
    random pairs. The mean of pairwise F was 0.592 by the plain model, 0.660 by the mixture and
    0.663 by both (0.071 +- 0.021 over the plain one); powers below 1 put everything into one
    cluster as long as there were few answers.

    How they are weighed was chosen on 240 items of each of these kinds and of points of a grid cut
    by planes, 31 sessions of 80 chosen queries: by leave-one-out scores F lay 0.023 +- 0.010
    above that by Bayes factors estimated on the way.

    References
    ----------
    Lindley (1956), On a measure of the information provided by an experiment. Houlsby, Huszar,
    Ghahramani and Lengyel (2011), Bayesian active learning for classification and preference
    learning, Eq. 2. Kirsch, van Amersfoort and Gal (2019), BatchBALD.

    Examples
    --------
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (10, 2)), rng.normal(2.5, 1, (10, 2))]
    >>> few = bc.TVClust(num_chains=2, num_warmup=50)
    >>> query_strategy = bc.active.PosteriorQueries(estimator=few, num_draws=40)
    >>> session = bc.InteractiveSession(X, [0] * 20, query_strategy=query_strategy, random_state=0)
    >>> (query,) = session.ask()
    >>> session.answer(query, "different")
    >>> query_strategy.update(session.state, rng).labels().shape
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
        noise: NoiseModel | None = EXPERT,
        num_draws: int = 100,
        num_candidates: int = 2000,
    ) -> None:
        self.kind = check_choice(kind, "kind", KINDS)
        self.target = check_target(target)
        self.min_gain = (
            None if min_gain is None else number_between(min_gain, "min_gain", "[0, inf)")
        )
        self.patience = check_int(patience, "patience", least=0)
        given = (
            [TVClust(num_warmup=200, cluster_model=model) for model in ("single", "mixture")]
            if estimator is None
            else estimator
        )
        self.estimators = check_estimators_of_particles(given, num_draws)
        if not (noise is None or isinstance(noise, NoiseModel)):
            raise TypeError(
                f"noise must be a noise model or None; got {type(noise).__name__}: pass say LinkNoise()."
            )
        self.noise = noise
        self.num_draws = num_draws
        self.num_candidates = check_int(num_candidates, "num_candidates")
        self._particles: AveragedParticles | None = None
        self._X: FloatArray | None = None
        self._worth_at: int | None = None  # answers by the last query that was worth it

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return the queries to ask together, the best one first; none where it is time to stop.

        Parameters
        ----------
        state : QueryState
        size : int
            At most so many; each further one is chosen by what it adds to those before.
        rng : Generator

        Returns
        -------
        list of Query
        """
        beliefs, queries = self._weigh(state, rng)
        chosen, gains = beliefs.best(queries, self.target, size, rng)
        # what comes after a query that is not worth it was chosen as an addition to it
        least = least_worth(self.target, beliefs.draws) if self.min_gain is None else self.min_gain
        worth = int(np.append((gains < least) & (least > 0), True).argmax())
        heard = sum(len(view) for view in self.particles.problem.constraints) + len(state.skipped)
        if worth or self._worth_at is None or heard < self._worth_at:
            self._worth_at = heard
        return chosen[: worth or max(0, self.patience - (heard - self._worth_at))]

    def update(self, state: QueryState, rng: Generator) -> Self:
        """Hear the answers that are new in a state; a call does so itself.

        Parameters
        ----------
        state : QueryState
        rng : Generator

        Returns
        -------
        self
        """
        views = self._views(state)
        same = self._X is state.X or np.array_equal(self._X, state.X)  # type: ignore[arg-type]
        heard: Sequence[Constraints] = (
            () if self._particles is None else self._particles.problem.constraints
        )
        further = sum(map(len, views)) - sum(map(len, heard))
        if self._particles is not None and same and extends(heard, views) and further <= AT_ONCE:
            self._particles.hear(views, rng)
        else:
            own = np.random.default_rng(int(rng.integers(2**63)))
            self._particles = averaged_particles(
                self.estimators, state.X, views, self.num_draws, own
            )
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
        """Return the partition of least posterior expected loss, as of the last update.

        Parameters
        ----------
        loss : str or Loss, default "vi"
            As for `bayesclust.point_estimate`.

        Returns
        -------
        (n,) array of int64
        """
        # always the same rounding of the weights, so that the same draws have the same estimate
        rows = self.draws[systematic(self.weights, np.random.default_rng(0))]
        return point_estimate(rows, loss, n_runs=RUNS, n_jobs=1)

    def gains(
        self, state: QueryState, rng: Generator, queries: Sequence[Query] | None = None
    ) -> pd.DataFrame:
        """Return what the answer to each query is expected to tell, each by itself.

        Parameters
        ----------
        state : QueryState
        rng : Generator
        queries : sequence of Query or None, default None
            None takes those that a call would compare.

        Returns
        -------
        DataFrame
            One row a query, the best first: kind, items i, j and for triplets k, gain,
            probability of each answer.
        """
        beliefs, compared = self._weigh(state, rng, queries)
        return beliefs.table(compared, self.target).sort_values(
            "gain", ascending=False, kind="stable", ignore_index=True
        )

    def _weigh(
        self, state: QueryState, rng: Generator, queries: Sequence[Query] | None = None
    ) -> tuple[Beliefs, list[Query]]:
        """What is believed, and the queries to compare."""
        particles, kinds = self.update(state, rng).particles, KINDS[self.kind]
        confusion = {kind: self._confusion(kind, state) for kind in VIEWS}
        beliefs = Beliefs(self.draws, particles.weights, confusion)
        if queries is not None:
            return beliefs, check_queries(queries, len(state.X))
        asked = {kind: state.asked(kind) for kind in kinds}
        found = beliefs.propose(kinds, asked, self.num_candidates, rng)
        return beliefs, found or RandomQueries(kinds[0])(state, self.num_candidates, rng)

    def _confusion(self, kind: str, state: QueryState) -> FloatArray:
        """p(answer | truth) of the first source under each draw, the noise integrated out."""
        particles = self.particles
        views = [view for view in particles.problem.constraints if isinstance(view, VIEWS[kind])]
        if views:
            counts, noise = views[0].counts(particles.draws), views[0].noise
        else:
            own = self.noise is not None and self.noise.kind == VIEWS[kind].kind
            noise = self.noise if self.noise is not None and own else VIEWS[kind].default_noise()
            counts = np.zeros(
                (len(particles.draws), noise.n_answers, len(noise.truth)), dtype=np.int64
            )
        table = noise.predictive(counts)[:, 0]
        if kind == TRIPLET:
            return table
        skipped = sum(query.kind == PAIR for query in state.skipped)
        return with_skips(table, skipped, sum(map(len, views)))

    def _views(self, state: QueryState) -> list[Constraints]:
        views = [view for view in state.constraints if isinstance(view, Constraints)]
        if self.noise is None:
            return views
        return [
            view.with_noise(self.noise) if view.kind == self.noise.kind else view for view in views
        ]
