"""A query strategy that keeps a posterior: what it asks, how it updates, when it stops."""

import copy
import itertools
import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import entr

import bayesclust as bc
from bayesclust.active import QUERY_STRATEGIES, PosteriorQueries, Query, QueryState
from bayesclust.active.expected_gain import expected_gains, uncertainty
from bayesclust.active.protocol import ordered
from bayesclust.inference.particles import Particles
from tests.constraints.test_pooled import log_evidence
from tests.exactness.exact import partitions

Y = np.repeat([0, 1, 2], 8)
X = np.random.default_rng(3).normal(size=(24, 2)) + 2.0 * np.array([[0, 0], [1, 1], [2, 0]])[Y]


def few(**settings):
    return bc.TVClust(num_chains=2, num_warmup=20, progress=False, **settings)


def query_strategy(kind="pair", cluster_model="single", **settings):
    return PosteriorQueries(
        kind, estimator=few(cluster_model=cluster_model), **{"num_draws": 20} | settings
    )


def state(pairs=(), same=(), triplets=(), answers=(), skipped=(), points=X):
    n = len(points)
    views = [bc.PairwiseConstraints(list(pairs), list(same), n)] if pairs else []
    views += [bc.RelativeConstraints(list(triplets), list(answers), n)] if triplets else []
    return QueryState(points, np.zeros(n, int), views, [Query("pair", pair) for pair in skipped])


@pytest.mark.parametrize(
    ("kind", "cluster_model"), [("pair", "single"), ("triplet", "single"), ("triplet", "mixture")]
)
def test_queries_are_new_and_answers_update_the_draws(kind, cluster_model):
    choose, rng = query_strategy(kind, cluster_model), np.random.default_rng(0)
    pairs, same, triplets, answers, kept = [], [], [], [], set()
    for _ in range(4):
        now = state(pairs, same, triplets, answers)
        (query,) = choose(now, 1, rng)
        assert ordered(query.kind, query.items) not in now.asked(query.kind)
        kept.add(id(choose.particles))
        if query.kind == "pair":
            pairs.append(query.items)
            same.append(bool(Y[query.items[0]] == Y[query.items[1]]))
        else:
            triplets.append(query.items)
            answers.append(bc.RelativeConstraints([query.items], ["dnk"], 24).truths(Y)[0])
    assert len(kept) == 1
    assert choose.labels().shape == (24,)
    assert choose.weights.sum() == pytest.approx(1)
    assert choose.draws.shape == (20, 24)


def test_the_gain_is_what_each_answer_takes_away(monkeypatch):
    monkeypatch.setattr(
        Particles, "resample", lambda self, rng: pytest.fail("weights alone were to change")
    )
    choose, rng = query_strategy(target="binder", noise=None), np.random.default_rng(0)
    asked = state([(0, 9), (3, 20)], [False, False])
    table = choose.gains(asked, rng, [Query("pair", (2, 12))])
    measure, wanted = uncertainty("binder", choose.draws), 0.0
    before = choose.particles
    for word, p in (("same", table["same"][0]), ("different", table["different"][0])):
        after = copy.deepcopy(before)
        pairs, words = [(0, 9), (3, 20), (2, 12)], ["different", "different", word]
        after.update([bc.PairwiseConstraints(pairs, words, 24)], rng)
        wanted += p * (measure(before.weights) - measure(after.weights))
    assert table["gain"][0] == pytest.approx(wanted)
    assert table[["same", "different", "dnk"]].sum(axis=1)[0] == pytest.approx(1)


def crp(z):
    """The probability of a partition under a Dirichlet process with concentration 1."""
    sizes = np.bincount(z)
    return np.prod([math.factorial(size - 1) for size in sizes]) / math.factorial(len(z))


def rates(asked, answers, source, z, who, pooled):
    """p(says "same" | together) and p(says "same" | apart) of a source, by its answers."""
    right = []
    for truth, (a, b) in ((True, (4, 2)), (False, (3, 2))):
        hits, misses = [0, 0, 0], [0, 0, 0]
        for (i, j), same, s in zip(asked, answers, source, strict=True):
            if (z[i] == z[j]) == truth:
                (hits if same == truth else misses)[s] += 1
        more = [hit + (s == who) for s, hit in enumerate(hits)]
        p = (a + hits[who]) / (a + b + hits[who] + misses[who])
        if pooled:
            p = np.exp(evidence(*more, *misses, a, b) - evidence(*hits, *misses, a, b))
        right.append(p)
    return right[0], 1 - right[1]


@cache
def evidence(*counts):
    return log_evidence(counts[:3], counts[3:6], *counts[6:])


@pytest.mark.parametrize(
    ("pooled", "cost"),
    [(False, 0.5), (False, 50.0), pytest.param(True, 0.5, marks=pytest.mark.slow)],
)
def test_the_annotator_to_ask_is_that_of_an_enumeration(pooled, cost):
    """Information by its definition, over the 52 partitions of five items."""
    rng = np.random.default_rng(1)
    every = np.array(list(partitions(5)))
    asked = [rng.choice(5, 2, replace=False).tolist() for _ in range(12)]
    answers, source = rng.integers(2, size=12) == 1, np.r_[np.zeros(7, int), np.ones(5, int)]
    noise = bc.LinkNoise(p=(4, 2), q=(3, 2), pooled=pooled)
    names = np.array(["ann", "bob"])[source]
    links = bc.PairwiseConstraints(asked, answers, 5, source=names, noise=noise)
    weights = np.array([crp(z) for z in every]) * np.exp(noise.log_marginal(links.counts(every)))
    weights /= weights.sum()
    costs = {"eve": cost, "ann": 1.0, "bob": 1.0}
    choose = PosteriorQueries(target="partition", costs=costs)
    choose._X = np.zeros((5, 1))
    choose._particles = SimpleNamespace(draws=every, weights=weights)
    choose._particles.problem = SimpleNamespace(constraints=[links])
    items = np.array(list(itertools.combinations(range(5), 2)))
    measure, answered, who, paid = choose._judged(items, QueryState(choose._X, every[0], [], []))
    gains = expected_gains(measure, weights, answered)
    known = 9 + len(links)  # so many of one more are not "don't know"
    told = {
        name: np.array([rates(asked, answers, source, z, s, pooled) for z in every])
        for s, name in enumerate(("ann", "bob", "eve"))
    }
    for at, (i, j) in enumerate(items):
        wanted = {}
        for name, own in told.items():
            same = np.where(every[:, i] == every[:, j], *own.T)
            inside = weights @ entr(np.stack([same, 1 - same])).sum(axis=0)
            mean = weights @ same
            wanted[name] = (entr(mean) + entr(1 - mean) - inside) * known / (known + 1)
        best = max(wanted, key=lambda name: wanted[name] / costs[name])
        assert who[at] == best
        assert paid[at] == costs[best]
        assert gains[at] == pytest.approx(wanted[best], rel=1e-6)
    assert ("eve" in who) == (cost < 1)


def test_sessions_say_whom_to_ask_and_keep_who_answered(tmp_path):
    costs = {"ann": 1.0, "bob": 1.0, "eve": 5.0}
    choose = query_strategy(costs=costs, noise=bc.LinkNoise())
    session = bc.InteractiveSession(X, [0] * 24, query_strategy=choose, random_state=0)
    for i, j in [(0, 1), (0, 9), (1, 2), (8, 9), (2, 17), (3, 4)] * 3:
        for name in ("ann", "bob"):
            same = Y[i] == Y[j] if name == "ann" else i % 2 == 0
            session.answer(Query("pair", (i, j), name), "same" if same else "different")
    session.add(bc.PairwiseConstraints([(5, 6)], [True], n_items=24))
    (query,) = session.ask()
    assert query.source == "ann"
    assert str(query).startswith("ann, are items ")
    assert set(choose.gains(session.state, np.random.default_rng(0))["source"]) == {"ann"}
    (links,) = session.constraints
    assert links.source_names == ("ann", "bob", "unnamed")
    session.query_strategy = query_strategy(noise=bc.LinkNoise())
    assert {one.source for one in session.ask(5)} <= {"ann", "bob"}
    session.query_strategy = choose
    session.save(tmp_path / "session.npz")
    again = bc.InteractiveSession.load(tmp_path / "session.npz", X, query_strategy=choose)
    assert (again.constraints[0].source == links.source).all()
    with pytest.raises(ValueError, match=r"^costs\['ann'\] must lie in \(0, inf\); got 0\."):
        PosteriorQueries(costs={"ann": 0})
    with pytest.raises(TypeError, match=r"^costs must map annotators to numbers; got 3\."):
        PosteriorQueries(costs=3)


def test_skips_are_learned_and_lower_the_gain():
    choose, rng = query_strategy(), np.random.default_rng(0)
    (first,) = choose(state(), 1, rng)
    plain = choose.gains(state(), rng, [first])
    skipped = choose.gains(state(skipped=[(0, 1), (4, 5), (7, 9)]), rng, [first])
    assert plain["dnk"][0] == pytest.approx(1 / 10)
    assert skipped["dnk"][0] == pytest.approx(4 / 13)
    assert skipped["gain"][0] == pytest.approx(plain["gain"][0] * (9 / 13) / (9 / 10))


def test_it_starts_again_where_the_state_does_not_continue():
    choose, rng = query_strategy(), np.random.default_rng(0)
    pairs, same = [(0, 1), (0, 9)], [True, False]

    def particles(*args, **settings):
        return choose.update(state(*args, **settings), rng).particles

    kept = particles(pairs, same)
    assert particles([*pairs, (2, 3)], [*same, True]) is kept
    assert particles([*pairs, *[(2, 3)] * 32], [*same, *[True] * 32]) is not kept  # many at once
    kept = choose.particles
    assert particles([(0, 1)], [True]) is not kept  # answers taken back
    kept = choose.particles
    assert particles([(0, 1)], [True], points=X.copy()) is kept
    assert particles([(0, 1)], [True], points=X + 1e-3) is not kept


def test_clusters_of_any_shape_are_found():
    rng = np.random.default_rng(1)
    angle, ring = rng.uniform(0, 2 * np.pi, 60), np.repeat([0, 1], 30)
    circle = np.c_[np.cos(angle), np.sin(angle)]
    points = np.where(ring, 5.0, 0.5)[:, None] * circle + 0.3 * rng.normal(size=(60, 2))
    choose = PosteriorQueries(estimator=few(cluster_model="mixture"), num_draws=40)
    pairs = [tuple(rng.choice(60, 2, replace=False).tolist()) for _ in range(80)]
    for number in range(0, 81, 20):
        same = [bool(ring[i] == ring[j]) for i, j in pairs[:number]]
        choose.update(state(pairs[:number], same, points=points), rng)
    assert bc.metrics.pairwise_f(choose.labels(), ring) > 0.9


def test_it_stops_where_the_posterior_is_sure(rng):
    noise = bc.LinkNoise(p=0.99, q=0.99)
    choose = query_strategy(target="partition", min_gain=0.01, noise=noise, num_draws=30)
    pairs = [(i, j) for i in range(24) for j in range(i)]
    assert choose(state(), 1, rng)
    assert choose(state(pairs, [bool(Y[i] == Y[j]) for i, j in pairs]), 1, rng) == []
    assert choose.particles.problem.constraints[0].noise == noise
    assert bc.metrics.pairwise_f(choose.labels(), Y) == 1


def test_sessions_have_strategies_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setitem(QUERY_STRATEGIES, "posterior", query_strategy())
    one, other = (
        bc.InteractiveSession(X, [0] * 24, query_strategy="posterior", random_state=0)
        for _ in range(2)
    )
    (query,) = one.ask()
    one.answer(query, "different")
    assert one.ask() != [query]
    assert other.ask() == [query]
    one.save(tmp_path / "session.npz")
    again = bc.InteractiveSession.load(tmp_path / "session.npz", X)
    (further,) = again.ask()
    assert further != query
    assert QUERY_STRATEGIES["posterior"]._particles is None
