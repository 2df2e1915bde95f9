"""A query strategy that keeps a posterior: what it asks, how it updates, when it stops."""

import copy

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.active import QUERY_STRATEGIES, PosteriorQueries, Query, QueryState
from bayesclust.active.expected_gain import uncertainty
from bayesclust.active.protocol import ordered
from bayesclust.inference.particles import Particles

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
