"""Anchors and super-instances against plain agglomeration; large clusters are cut in parts."""

import numpy as np
import pytest

from bayesclust.inference.limits.minimal_modification import modify
from bayesclust.inference.limits.minimal_modification.modify import (
    count_of,
    find_anchors,
    find_super_instances,
)


def agglomerated(points, number, linkage, apart=()):
    """Join the two nearest groups until so many are left; never pairs of `apart`."""
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    for i in apart:
        for j in apart:
            distance[i, j] = np.inf if i != j else 0
    parts = [[i] for i in range(len(points))]
    extreme = np.min if linkage == "single" else np.max
    while len(parts) > number:
        pairs = [
            (extreme(distance[np.ix_(a, b)]), x, y)
            for x, a in enumerate(parts)
            for y, b in enumerate(parts[:x])
        ]
        _, x, y = min(pairs)
        parts[y] = sorted(parts[y] + parts[x])
        del parts[x]
    return parts


@pytest.mark.parametrize(
    ("number", "share", "expected"), [(10, 0.3, 3), (10, 0.31, 4), (7, 0.0, 1), (5, 1.0, 5)]
)
def test_a_share_is_rounded_up_and_at_least_one(number, share, expected):
    assert count_of(number, share) == expected


def test_anchors_are_nearest_the_means_of_single_link_parts(rng):
    X, labels = rng.normal(size=(30, 3)), np.r_[np.zeros(20, int), np.full(10, 2)]
    expected = []
    for cluster in (0, 2):
        members = np.flatnonzero(labels == cluster)
        for part in agglomerated(X[members], count_of(len(members), 0.25), "single"):
            mean = X[members[part]].mean(axis=0)
            expected.append(
                (members[part][np.linalg.norm(X[members[part]] - mean, axis=1).argmin()], cluster)
            )
    anchors, owners = find_anchors(X, labels, 0.25)
    assert sorted(zip(anchors.tolist(), owners.tolist(), strict=True)) == sorted(expected)


def test_one_anchor_a_cluster_and_all_items():
    X, labels = np.array([[0.0], [2.0], [2.5], [9.0]]), np.array([1, 1, 1, 0])
    assert find_anchors(X, labels, 0.0)[0].tolist() == [3, 1]
    assert sorted(find_anchors(X, labels, 1.0)[0].tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_super_instances_are_complete_link_groups(rng, share):
    X, labels = rng.normal(size=(24, 2)), np.repeat([0, 1], 12)
    named = np.array([0, 1, 2, 7, 20])
    found = find_super_instances(X, labels, named, share)
    every = find_super_instances(X, labels, named, share, every=True)
    assert [group.tolist() for group in every[:5]] == [group.tolist() for group in found]
    for cluster in (0, 1):
        members = np.flatnonzero(labels == cluster)
        own = [i for i in named if labels[i] == cluster]
        number = max(count_of(12, share), len(own))
        parts = agglomerated(X[members], number, "complete", np.flatnonzero(np.isin(members, own)))
        parts = {tuple(members[part].tolist()) for part in parts}
        groups_of_cluster = [
            tuple(g.tolist()) for i, g in zip(named, found, strict=True) if i in own
        ]
        assert set(groups_of_cluster) <= parts
        assert {tuple(g.tolist()) for g in every if labels[g[0]] == cluster} == parts
        assert all(sum(i in group for i in own) == 1 for group in groups_of_cluster)


def test_large_clusters_are_halved_and_the_groups_stay_apart(rng, monkeypatch):
    monkeypatch.setattr(modify, "DENSE", 50)
    X, labels = rng.normal(size=(300, 2)), np.zeros(300, dtype=int)
    named = rng.choice(300, 60, replace=False)
    found = find_super_instances(X, labels, named, 0.3)
    together = np.concatenate(found)
    assert len(np.unique(together)) == len(together)
    assert all(
        np.isin(named, group).sum() == 1 and item in group
        for item, group in zip(named, found, strict=True)
    )
    assert np.mean([len(group) for group in found]) > 1.5


def test_equal_items_can_be_cut_anywhere_but_between_named_ones():
    found = find_super_instances(np.zeros((6, 2)), np.zeros(6, dtype=int), np.array([0, 3]), 0.0)
    assert [np.isin([0, 3], group).tolist() for group in found] == [[True, False], [False, True]]
    assert sum(map(len, found)) == 6
