"""Random queries: uniform over those not yet asked, and none twice."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

import bayesclust as bc
from bayesclust.active import QUERY_STRATEGIES, Query, QueryState, RandomQueries
from bayesclust.active.protocol import ordered

PAIRS = list(combinations(range(5), 2))
TRIPLETS = [
    (i, j, k) for i in range(5) for j, k in combinations([x for x in range(5) if x != i], 2)
]


def state(constraints=(), skipped=()):
    return QueryState(np.zeros((5, 1)), np.zeros(5, dtype=int), list(constraints), list(skipped))


@pytest.mark.parametrize(("kind", "everything"), [("pair", PAIRS), ("triplet", TRIPLETS)])
def test_all_questions_come_once_and_then_none(kind, everything, rng):
    found = RandomQueries(kind)(state(), 1000, rng)
    assert sorted(ordered(kind, query.items) for query in found) == sorted(everything)
    assert {query.kind for query in found} == {kind}


def test_what_was_asked_is_not_asked_again_and_the_rest_uniformly(rng):
    links = bc.PairwiseConstraints([(0, 1), (3, 2)], [True, False], n_items=5)
    triplets = bc.RelativeConstraints([(0, 4, 2)], ["dnk"], n_items=5)
    now = state([links, triplets, bc.LabelConstraints([(0, 1)], 5)], [Query("pair", (4, 0))])
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


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r'^kind must be "pair" or "triplet"; got \'quartet\'\.$'):
        RandomQueries("quartet")
