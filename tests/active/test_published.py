"""Published strategies of pairs: steps by hand, NPU beside a plain reference, whole sessions."""

from itertools import combinations, permutations

import numpy as np
import pytest
import sklearn.ensemble
from scipy.stats import chisquare

import bayesclust as bc
from bayesclust.active import NPU, QUERY_STRATEGIES, Query, QueryState, RandomQueries
from bayesclust.active.neighbourhoods import Neighbourhoods, informativeness
from bayesclust.active.protocol import ordered

LINE = np.array([[0.0], [1.0], [4.0], [10.0], [11.0]])


def state(X, pairs=(), same=(), skipped=(), labels=None):
    n = len(X)
    links = [bc.PairwiseConstraints(list(pairs), list(same), n_items=n)] if len(pairs) else []
    partition = np.zeros(n, dtype=int) if labels is None else np.asarray(labels)
    return QueryState(X, partition, links, [Query("pair", tuple(pair)) for pair in skipped])


def ask(query_strategy, *args, size=1, **settings):
    return [
        q.items for q in query_strategy(state(*args, **settings), size, np.random.default_rng(0))
    ]


def session(query_strategy, X, answer, labels, rng):
    """Ask one by one until nothing is left."""
    asked, same = [], []
    while queries := query_strategy(state(X, asked, same, labels=labels), 1, rng):
        (query,) = queries
        assert query.kind == "pair"
        pair = query.items
        assert len(set(pair)) == 2
        assert ordered("pair", pair) not in asked
        asked.append(ordered("pair", pair))
        same.append(int(answer(*pair)))
    return asked, Neighbourhoods.of(state(X, asked, same, labels=labels), rng)


@pytest.fixture
def blobs():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], [8, 6, 4])
    return rng.normal(size=(18, 2)) + 3 * y[:, None], y


def test_right_answers_find_all_classes(blobs, rng):
    X, y = blobs
    asked, known = session(NPU(), X, lambda i, j: y[i] == y[j], y, rng)
    assert sorted(sorted(members) for members in known.members) == [
        np.flatnonzero(y == k).tolist() for k in range(3)
    ]
    # an item is compared with each neighbourhood at most once
    assert len(asked) <= len(y) * 3
    assert NPU()(state(X, asked, [int(y[i] == y[j]) for i, j in asked]), 4, rng) == []


@pytest.mark.parametrize(
    "now",
    [
        state(LINE, [(0, 1), (1, 2), (2, 3), (3, 4)], [1, 1, 1, 1]),  # one neighbourhood
        state(LINE[:2], [(0, 1)], [0]),
        state(LINE[:2], skipped=[(0, 1)]),
        state(LINE[:1]),
    ],
)
def test_nothing_is_left_to_ask(now, rng):
    assert NPU()(now, 3, rng) == []


def test_an_item_begun_comes_before_a_new_one():
    """Item 2 is not with 0; of 1 and 3, known to be apart, the nearer one is next."""
    labels, pairs = [0, 0, 0, 1, 1], [(0, 1), (0, 3), (1, 3), (0, 2)]
    assert ask(NPU(), LINE, pairs, [0, 0, 0, 0], labels=labels) == [(1, 2)]
    # skipped: the one that is left
    assert ask(NPU(), LINE, pairs, [0, 0, 0, 0], [(1, 2)], labels=labels) == [(2, 3)]


def test_informativeness_by_hand_and_by_all_orders(rng):
    """The expected number of queries is the least over all orders of the neighbourhoods."""
    assert informativeness(np.full((1, 4), 0.25))[0] == pytest.approx(2 / 2.5)
    assert informativeness(np.array([[0.0, 1.0], [0.0, 0.0]])).tolist() == [0.0, 0.0]
    for p in rng.dirichlet(np.ones(4), size=10):
        least = min(
            sum((turn + 1) * p[k] for turn, k in enumerate(order))
            for order in permutations(range(4))
        )
        assert informativeness(p[None])[0] == pytest.approx(-sum(p * np.log2(p)) / least)


def test_npu_against_a_plain_reference(blobs, rng):
    X, y = blobs
    labels = np.where(rng.random(len(y)) < 0.2, rng.integers(3, size=len(y)), y)
    now = state(X, [(0, 1), (0, 8), (0, 14), (8, 14)], [1, 0, 0, 0], labels=labels)
    leaf = sklearn.ensemble.RandomForestClassifier(50, random_state=0).fit(X, labels).apply(X)
    hoods, worth, p = [[0, 1], [8], [14]], {}, {}
    for x in set(range(len(y))) - {0, 1, 8, 14}:
        mean = np.array([np.mean([np.mean(leaf[x] == leaf[j]) for j in hood]) for hood in hoods])
        p[x] = mean / mean.sum() if mean.any() else np.ones(3) / 3
        positive = np.sort(p[x][p[x] > 0])[::-1]
        worth[x] = -(positive @ np.log2(positive)) / (positive @ np.arange(1, len(positive) + 1))
    probability = NPU().probability(now, Neighbourhoods.of(now, rng))
    np.testing.assert_allclose([probability[x] for x in p], list(p.values()), atol=1e-12)
    assert (probability[[0, 1, 8, 14]] == 0).all()
    best = max(worth, key=lambda x: worth[x])
    assert sorted(worth.values())[-2] < worth[best] - 1e-9
    assert [q.items for q in NPU()(now, 1, rng)] == [
        ordered("pair", (best, hoods[int(np.argmax(p[best]))][0]))
    ]


# --- random queries

PAIRS = list(combinations(range(5), 2))
TRIPLETS = [
    (i, j, k) for i in range(5) for j, k in combinations([x for x in range(5) if x != i], 2)
]


def five(constraints=(), skipped=()):
    return QueryState(np.zeros((5, 1)), np.zeros(5, dtype=int), list(constraints), list(skipped))


@pytest.mark.parametrize(("kind", "everything"), [("pair", PAIRS), ("triplet", TRIPLETS)])
def test_random_queries_come_once(kind, everything, rng):
    found = RandomQueries(kind)(five(), 1000, rng)
    assert sorted(ordered(kind, query.items) for query in found) == sorted(everything)
    assert {query.kind for query in found} == {kind}


def test_random_queries_are_uniform_over_new_ones(rng):
    links = bc.PairwiseConstraints([(0, 1), (3, 2)], [True, False], n_items=5)
    triplets = bc.RelativeConstraints([(0, 4, 2)], ["dnk"], n_items=5)
    now = five([links, triplets, bc.LabelConstraints([(0, 1)], 5)], [Query("pair", (4, 0))])
    left = sorted(set(PAIRS) - {(0, 1), (2, 3), (0, 4)})
    counts = dict.fromkeys(left, 0)
    for _ in range(1400):
        for query in QUERY_STRATEGIES["random"](now, 2, rng):
            counts[query.items] += 1
    assert chisquare(list(counts.values())).pvalue > 1e-3
    assert len(QUERY_STRATEGIES["random"](now, 100, rng)) == len(left)
    asked = [
        ordered("triplet", q.items) for q in QUERY_STRATEGIES["random-triplets"](now, 100, rng)
    ]
    assert sorted(asked) == sorted(set(TRIPLETS) - {(0, 2, 4)})
