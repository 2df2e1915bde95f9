"""Agreement between partitions: by hand, by counting every pair, and by invariances."""

from collections import Counter
from itertools import combinations
from math import log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesclust import metrics

SYMMETRIC = [
    metrics.pairwise_f,
    metrics.adjusted_rand,
    metrics.ami,
    metrics.fmi,
    metrics.nmi,
    metrics.variation_of_information,
]
partitions = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)))
)


def pairs_together(labels):
    return {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]}


def f_by_counting(labels, truth):
    together, meant = pairs_together(labels), pairs_together(truth)
    if not together or not meant:
        return float(together == meant)
    precision = len(together & meant) / len(together)
    recall = len(together & meant) / len(meant)
    return 2 * precision * recall / (precision + recall) if together & meant else 0.0


def entropy(values):
    return -sum(c / len(values) * log2(c / len(values)) for c in Counter(values).values())


@given(partitions)
def test_pairwise_f_is_of_counts_of_pairs(pair):
    assert metrics.pairwise_f(*pair) == pytest.approx(f_by_counting(*pair))


@given(partitions)
def test_fmi_is_the_geometric_mean_of_precision_and_recall(pair):
    together, meant = map(pairs_together, pair)
    both, either = len(together & meant), sqrt(len(together) * len(meant))
    assert metrics.fmi(*pair) == pytest.approx(both / either if either else 0.0)


@given(partitions)
def test_variation_of_information_is_two_conditional_entropies(pair):
    labels, truth = pair
    joint = entropy(list(zip(labels, truth, strict=True)))
    expected = (joint - entropy(truth)) + (joint - entropy(labels))
    assert metrics.variation_of_information(labels, truth) == pytest.approx(expected, abs=1e-12)


@given(partitions)
def test_adjusted_rand_is_the_rand_index_above_chance(pair):
    labels, truth = pair
    pairs = list(combinations(range(len(labels)), 2))
    a = [labels[i] == labels[j] for i, j in pairs]
    b = [truth[i] == truth[j] for i, j in pairs]
    both, first, second = sum(map(lambda x, y: x and y, a, b)), sum(a), sum(b)
    chance = first * second / len(pairs) if pairs else 0.0
    top = (first + second) / 2 - chance
    expected = (both - chance) / top if top else 1.0
    assert metrics.adjusted_rand(labels, truth) == pytest.approx(expected)


@pytest.mark.parametrize("metric", SYMMETRIC, ids=lambda metric: metric.__name__)
@given(pair=partitions)
def test_symmetric_and_blind_to_names(metric, pair):
    labels, truth = pair
    renamed = [f"cluster {9 - label}" for label in labels]
    assert metric(labels, truth) == pytest.approx(metric(truth, renamed), abs=1e-12)


@pytest.mark.parametrize("metric", SYMMETRIC, ids=lambda metric: metric.__name__)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_equal_partitions_agree_exactly(metric, labels):
    same = 0.0 if metric is metrics.variation_of_information else 1.0
    if metric is metrics.fmi:  # of pairs, of which there may be none
        same = float(len(set(labels)) < len(labels))
    assert metric(labels, labels) == pytest.approx(same, abs=1e-15)


def test_many_clusters_take_memory_for_their_items_only():
    n = 200_000
    assert metrics.variation_of_information(np.arange(n), np.arange(n)) == 0.0
    assert metrics.pairwise_f(np.arange(n), np.arange(n) // 2) == 0.0
