"""Queries chosen by a posterior: those whose answers are expected to be most informative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from bayesclust import checks as check
from bayesclust.active import expected_gain
from bayesclust.active.expected_gain import Uncertainty
from bayesclust.active.protocol import (
    ASKED,
    DONT_KNOW,
    PAIR,
    UNNAMED,
    VOCABULARY,
    Query,
    QueryState,
    RandomQueries,
    check_queries,
    ordered,
)
from bayesclust.constraints.base import equality_patterns
from bayesclust.constraints.noise import LinkNoise, NoiseModel, refuse_hard
from bayesclust.constraints.queries import asked_alone
from bayesclust.estimators import TVClust
from bayesclust.inference.particles import THINNING, Particles, extends, systematic
from bayesclust.posterior import tree
from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.losses import Loss
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.typing import FloatArray, IntArray, Seed

if TYPE_CHECKING:
    import pandas as pd

ANNOTATOR = LinkNoise(p=(18.0, 2.0), q=(18.0, 2.0))
Assigned = tuple[FloatArray, Sequence[Any], FloatArray]
"""p(answer | draw) of queries (C, S, A), the source that each goes to, and what it costs."""
AT_ONCE = 30
"""More new answers than this are conditioned on by a new run, which is then faster."""
RUNS = 4
"""Searches for the point estimate: a quarter of the usual number, since it is needed so often."""
CANDIDATES = 2000
"""Queries to compare, at most."""
SKIPPED = 1.0
ANSWERED = 9.0
"""Beta prior of the share of pairs that are answered by "don't know"."""


class PosteriorQueries:
    """Ask the queries with the most informative expected answers, by a posterior kept up to date.

    Keeps weighted draws of the posterior of a `TVClust` between calls. New answers change their
    weights, and now and then the draws (`bayesclust.inference.particles`); no fit is repeated,
    unless answers were taken back, more than thirty came at once, or the data changed.
    Constraints other than answers are not used.

    The gain of a query is the expected fall of an uncertainty U by its answer a,

        U(w) - sum_a p(a) U(w_a),   w_a,s proportional to w_s p(a | z_s),

    with p(a | z_s) under the noise learned so far (Houlsby, Huszar, Ghahramani and Lengyel 2011,
    Bayesian active learning for classification and preference learning, Eq. 2; of several queries
    at a time, Kirsch, van Amersfoort and Gal 2019, BatchBALD).

    Parameters
    ----------
    kind : {"pair", "triplet"}, default "pair"
        What to ask; a triplet is often more informative, and takes the annotator longer.
    target : "partition" or loss, default "vi"
        What one wants to know: the partition in every detail (BALD), or one that is right up to a
        small loss.
    estimator : TVClust or None, default None
        The model and its chains, with sampler="collapsed". None is ``TVClust(num_warmup=200,
        cluster_model="mixture")``, whose clusters may have any shape.
    min_gain : float, default 0
        Queries of less expected gain, in nats or the units of the loss, are not asked.
    noise : NoiseModel or None, default ``LinkNoise(p=(18, 2), q=(18, 2))``
        Noise of answers of its kind, whatever the constraints of the state say; None keeps theirs.
        Under a weaker prior the posterior would sooner call an answer wrong than change a
        partition.
    num_draws : int, default 100
        Draws that are kept.
    costs : mapping of str or int to float or None, default None
        The annotators who can be asked, and what an answer of each costs: a query goes to the one,
        whose expected gain by the cost is largest under the p and q learned of each, pooled or not.
        None asks those who answered before, at equal costs.

    Examples
    --------
    >>> import numpy as np
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
        target: str | Loss = "vi",
        estimator: TVClust | None = None,
        min_gain: float = 0.0,
        noise: NoiseModel | None = ANNOTATOR,
        num_draws: int = 100,
        costs: Mapping[str, float] | None = None,
    ) -> None:
        priced: Any = {} if costs is None else costs
        if not isinstance(priced, Mapping):
            raise TypeError(f"costs must map annotators to numbers; got {check.shown(priced)}.")
        for name, cost in priced.items():
            check.number_between(cost, f"costs[{name!r}]", "(0, inf)")
        self.costs = costs
        self.kind = check.check_choice(kind, "kind", ASKED)
        self.target = expected_gain.check_target(target)
        self.min_gain = check.number_between(min_gain, "min_gain", "[0, inf)")
        if estimator is None:
            estimator = TVClust(num_warmup=200, cluster_model="mixture")
        if not isinstance(estimator, TVClust):
            raise TypeError(f"estimator must be a TVClust; got {check.kind_of(estimator)}.")
        self.estimator = estimator
        if estimator.sampler != "collapsed":
            raise ValueError(
                "estimator must be a TVClust with sampler='collapsed', which conditions on answers "
                f"one by one; got sampler={estimator.sampler!r}."
            )
        self.noise = noise if noise is None else check.each_is([noise], (NoiseModel,), "noise")[0]
        self.num_draws = check.check_int(num_draws, "num_draws", least=2)
        self._particles: Particles | None = None
        self._X: Any = None

    def __call__(self, state: QueryState, size: int, rng: Generator) -> list[Query]:
        """Return at most `size` queries to ask together, best first; none if none is worth it."""
        items = self.update(state, rng)._candidates(state, rng)
        measure, answers, who, costs = self._judged(items, state)
        given = self.weights, answers, size, rng, costs
        chosen, gains = expected_gain.choose_jointly(measure, *given)
        worth = chosen[gains >= self.min_gain] if self.min_gain else chosen
        return [Query(self.kind, tuple(items[at].tolist()), who[at]) for at in worth]

    def update(self, state: QueryState, rng: Generator) -> Self:
        """Condition on the answers that are new in a state; a call does so itself."""
        constraints = [one for one in state.constraints if one.has_table]
        if self.noise is not None:
            kind = self.noise.kind
            constraints = [c.with_noise(self.noise) if c.kind == kind else c for c in constraints]
        refuse_hard(constraints, "PosteriorQueries")
        if self._particles is not None and np.array_equal(self._X, state.X):
            known = self._particles.problem.constraints
            further = sum(map(len, constraints)) - sum(map(len, known))
            if extends(known, constraints) and further <= AT_ONCE:
                self._particles.update(constraints, rng)
                return self
        own = np.random.default_rng(int(rng.integers(2**63)))
        chains: list[Any] = clone(self.estimator).start_chains(state.X, constraints, own)
        thinning = max(THINNING, self.estimator.thinning)
        warmup = self.estimator.num_warmup
        self._particles = Particles(chains, self.num_draws, warmup, thinning=thinning)
        self._X = state.X
        return self

    @property
    def particles(self) -> Particles:
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

        Its columns are kind, items i, j and for triplets k, source (whom to ask, where there are
        several), gain by itself, and the probability of each answer.
        """
        known = None if queries is None else check_queries(queries, len(state.X), [self.kind])
        self.update(state, rng)
        items = self._candidates(state, rng) if known is None else self._items(known)
        measure, answers, who, _ = self._judged(items, state)
        table = _table(self.kind, items, self.weights, measure, answers, who)
        return table.sort_values("gain", ascending=False, kind="stable", ignore_index=True)

    def _candidates(self, state: QueryState, rng: Generator) -> IntArray:
        """The items of the queries to compare, (C, 2) or (C, 3)."""
        asked = state.asked(self.kind)
        found = expected_gain.propose(self.kind, self.draws, self.weights, asked, CANDIDATES, rng)
        if len(found):
            return found
        return self._items(RandomQueries(self.kind)(state, CANDIDATES, rng))

    def _items(self, queries: Sequence[Query]) -> IntArray:
        rows = np.array([query.items for query in queries], dtype=np.int64)
        return rows.reshape(-1, len(ASKED[self.kind].members))

    def _judged(self, items: IntArray, state: QueryState) -> tuple[Uncertainty, *Assigned]:
        """The uncertainty, and whom to ask what."""
        asked = ASKED[self.kind]
        draws = self.draws
        own = [one for one in self.particles.problem.constraints if isinstance(one, asked)]
        if not own:
            given = self.noise is not None and self.noise.kind == asked.kind
            own = [asked([], [], len(state.X), noise=self.noise if given else None)]
        known = _names(own[0])
        asked_before = [name for name in known if name != UNNAMED]
        costs = self.costs or dict.fromkeys(asked_before or known, 1.0)
        counts = own[0].counts(draws)
        place = {str(name): at for at, name in enumerate(known)}
        places = [place.get(str(name), len(known)) for name in costs]
        if max(places) == len(known):  # one more, who has not answered yet
            counts = np.pad(counts, ((0, 0), (0, own[0].n_answers), (0, 0)))
        tables = own[0].noise.predictive(counts)[:, places]
        measure = expected_gain.uncertainty(self.target, draws)
        skipped = sum(query.kind == self.kind for query in state.skipped)
        given = [
            _answers(self.kind, items, draws, table, skipped, sum(map(len, own)))
            for table in tables.swapaxes(0, 1)
        ]
        return measure, *_assigned(measure, self.weights, given, costs)


def _names(constraints: Any) -> list[Any]:
    """The sources of constraints, by name or number; None is the only one."""
    number = constraints.n_sources
    return list(constraints.source_names or (range(number) if number > 1 else [None]))


def _assigned(
    measure: Uncertainty,
    weights: FloatArray,
    answers: Sequence[FloatArray],
    costs: Mapping[Any, float],
) -> Assigned:
    """Give each query to the source whose answer is expected to tell most by its cost."""
    prices = np.array(list(costs.values()))
    which = np.zeros(len(answers[0]), np.int64)
    if len(prices) > 1:
        gains = [expected_gain.expected_gains(measure, weights, own) for own in answers]
        which = (np.stack(gains) / prices[:, None]).argmax(axis=0)
    chosen = np.stack(answers)[which, np.arange(len(which))]
    return chosen, [list(costs)[at] for at in which], prices[which]


def _answers(
    kind: str, items: IntArray, draws: tree.Labels, table: FloatArray, skipped: int, answered: int
) -> FloatArray:
    """p(answer | draw) of queries, (C, S, A), given p(answer | truth) in each draw."""
    if kind == PAIR:  # "don't know" is as likely whatever the truth is
        share = (SKIPPED + skipped) / (SKIPPED + skipped + ANSWERED + answered)
        last = np.full((*table.shape[:-1], 1), share)
        table = np.concatenate([(1 - share) * table, last], axis=-1)
    truths = ASKED[kind].truth[equality_patterns(draws[:, items])]
    return np.swapaxes(table[np.arange(len(draws))[:, None], truths], 0, 1)


def _table(
    kind: str,
    items: IntArray,
    weights: FloatArray,
    measure: Uncertainty,
    answers: FloatArray,
    who: Sequence[Any],
) -> pd.DataFrame:
    """Queries with the gain of each by itself, and the probability of its answers."""
    import pandas as pd

    asked = ASKED[kind]
    table = pd.DataFrame(items, columns=list(asked.members))
    table.insert(0, "kind", kind)
    if any(name is not None for name in who):
        table["source"] = who
    table["gain"] = expected_gain.expected_gains(measure, weights, answers)
    words = dict.fromkeys((*asked.vocabulary, DONT_KNOW))
    mean = dict(zip(words, weights @ answers.transpose(2, 1, 0), strict=True))
    return table.assign(**{word: mean[word] for word in VOCABULARY[kind]})


def suggest_queries(
    posterior: Any,
    kind: str = PAIR,
    size: int = 10,
    *,
    target: str | Loss = "vi",
    num_draws: int = 200,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Return the queries whose answers would tell a sampled posterior most.

    Parameters
    ----------
    posterior : DataTree, fitted estimator or (draws, n) array of int
        Posterior draws. The noise of each source is as drawn, or else the default of the kind.
    kind : {"pair", "triplet"}, default "pair"
    size : int, default 10
        How many to ask together, at most.
    target : "partition" or loss, default "vi"
        What one wants to know, as for `PosteriorQueries`.
    num_draws : int, default 200
        Draws that are used: time grows with their square.
    seed : int, Generator or None, default 0

    Returns
    -------
    DataFrame
        One row a query: kind, the items i, j and for triplets k, source (whom to ask, of several),
        gain (of its answer by itself), the probability of each answer, and adds (to the rows
        above).

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
    z = tree.stacked_partitions(posterior)
    rng = check.check_random_state(seed)
    rows = tree.evenly_spread(check.check_int(num_draws, "num_draws"), len(z))
    draws, weights = z[rows], np.full(len(rows), 1 / len(rows))
    measure = expected_gain.uncertainty(target, draws)
    stored = [one for one in tree.constraints_if_any(posterior) if one.kind == ASKED[kind].kind]
    noise = ASKED[kind].default_noise()
    tables = np.repeat(noise.confusion(noise.initial(1))[None], len(rows), axis=0)
    known: list[Any] = [None]
    kept: Any = tree.group(posterior, "posterior") if stored else {}
    if stored and all(name in kept for name in stored[0].parameters.values()):
        by_chain = confusions(stored[0], kept)
        tables = by_chain.reshape(-1, *by_chain.shape[2:])[rows]
        tables = asked_alone(tables, stored[0].n_sources)
        known = _names(stored[0])
    asked = {ordered(kind, row) for own in stored for row in own.items.tolist()}
    items = expected_gain.propose(kind, draws, weights, asked, CANDIDATES, rng)
    number = sum(map(len, stored))
    each = [_answers(kind, items, draws, own, 0, number) for own in tables.swapaxes(0, 1)]
    answers, who, _ = _assigned(measure, weights, each, dict.fromkeys(known, 1.0))
    chosen, adds = expected_gain.choose_jointly(measure, weights, answers, size, rng)
    whom = [who[at] for at in chosen]
    found = _table(kind, items[chosen], weights, measure, answers[chosen], whom)
    return found.assign(adds=adds)
