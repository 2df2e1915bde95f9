from collections import Counter

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.losses import VI, Binder, expected_losses
from bayesclust.posterior.point_estimate import (
    is_sparse,
    make_problem,
    nearby,
    point_estimate,
    search,
    search_nearby,
)
from bayesclust.posterior.tree import canonical, to_datatree
from tests.exactness.exact import partitions

LOSSES = [VI(), VI(a=0.5), VI(a=1.5), Binder(), Binder(a=0.5), Binder(a=1.5)]


def plain_objective(problem, labels):
    """The fixed-point objective of the items allocated so far, cell by cell."""
    total = 0
    for k in set(labels[labels >= 0].tolist()):
        members = np.flatnonzero(labels == k)
        total += int(problem.size_potential[len(members)])
        _, counts = np.unique(problem.rows[members], return_counts=True)
        total -= 2 * int(problem.potential[counts].sum())
    return total


def plain_visit(problem, labels, i):
    """Put item i where the objective is least; ties keep it, then favour the first cluster."""
    own = labels[i]
    alone = own >= 0 and (labels == own).sum() == 1
    used = labels.max() + 1
    choices = list(range(used)) + ([used] if used < problem.limit and not alone else [])
    values = {}
    for k in choices:
        trial = labels.copy()
        trial[i] = k
        values[k] = plain_objective(problem, trial)
    best = min((k for k in choices if k != own), key=values.__getitem__, default=None)
    if best is None or (own >= 0 and values[own] <= values[best]):
        return False
    labels[i] = best
    if alone and own != labels.max() + 1:  # the last cluster takes the emptied one's number
        last = max(used - 1, labels.max())
        labels[labels == last] = own
    return True


def plain_sweeten(problem, labels, order):
    quiet = 0
    while True:
        for i in order:
            quiet = 0 if plain_visit(problem, labels, i) else quiet + 1
            if quiet == len(order):
                return labels


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("limit", [2, 20])
def test_compiled_search_visits_items_as_a_plain_one(noisy_draws, rng, loss, limit):
    draws = canonical(noisy_draws(24, 4, 30, noise=0.3))
    problem = make_problem(draws, loss, limit)
    for start in (np.full(24, -1, np.int32), (np.arange(24) % limit).astype(np.int32)):
        order = rng.permutation(24)
        labels, objective = search(problem, start, order[None], 0)
        expected = plain_sweeten(problem, start.astype(np.int64), order)
        np.testing.assert_array_equal(labels, expected)
        assert objective == plain_objective(problem, expected)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_search_finds_the_best_of_all_partitions(noisy_draws, loss):
    found = 0
    for seed in range(20):
        draws = 5 - 2 * noisy_draws(7, 3, 12, noise=0.4, uncertain=0.4)
        exact = expected_losses(loss, partitions(7), draws).min()
        labels = point_estimate(draws, loss, max_clusters=7, seed=seed, n_jobs=1)
        value = loss.expected(labels, draws)
        assert value >= exact - 1e-9
        found += value <= exact + 1e-9
    assert found >= 19


def test_two_clusters_become_one_where_that_is_best():
    loss = VI(a=1.6)  # under which no single item would change its cluster
    draws = np.array([[2, 0, 1, 2], [0, 2, 2, 1], [2, 1, 0, 0], [1, 1, 2, 0]])
    np.testing.assert_array_equal(point_estimate(draws, loss), np.zeros(4))
    found = 0
    for seed in range(30):
        draws = np.random.default_rng(seed).integers(3, size=(6, 6))
        labels = partitions(6)
        allowed = labels[labels.max(axis=1) <= canonical(draws).max()]
        exact = expected_losses(loss, allowed, canonical(draws)).min()
        found += loss.expected(point_estimate(draws, loss, n_jobs=1), draws) <= exact + 1e-9
    assert found == 30


def test_one_cluster_is_no_better_than_the_estimate(noisy_draws):
    draws = noisy_draws(80, 6, 40, noise=0.5, uncertain=0.6)
    one = VI().expected(np.zeros(80, np.int64), draws)
    assert VI().expected(point_estimate(draws), draws) <= one


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(("n", "clusters"), [(60, 3), (150, 8)])
def test_no_draw_is_better_than_the_estimate(noisy_draws, loss, n, clusters):
    draws = noisy_draws(n, clusters, 200)
    labels = point_estimate(draws, loss)
    assert loss.expected(labels, draws) <= expected_losses(loss, draws, draws).min() + 1e-12


def renumbered(z):
    """By size, ties by first item."""
    by_size = [label for label, _ in Counter(z.tolist()).most_common()]
    return np.array([by_size.index(label) for label in z.tolist()])


def test_tables_grow_where_there_are_many_clusters(rng):
    z = renumbered(rng.integers(50, size=300))
    for loss in LOSSES:
        np.testing.assert_array_equal(point_estimate(np.tile(z, (5, 1)), loss, n_runs=2), z)
    draws = np.where(rng.random((30, 300)) < 0.05, rng.integers(50, size=(30, 300)), z)
    labels = point_estimate(draws, n_runs=4)
    assert len(np.unique(labels)) > 16
    assert bc.metrics.adjusted_rand(labels, z) > 0.99


def test_max_clusters_bounds_the_estimate(noisy_draws):
    draws = noisy_draws(50, 5, 60)
    for limit in (1, 2, 3):
        assert point_estimate(draws, max_clusters=limit).max() + 1 == limit
    draws = np.array([[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1]])
    # by default no more clusters than some draw has
    assert point_estimate(draws, Binder(a=0.02)).max() == 1
    assert point_estimate(draws, Binder(a=0.02), max_clusters=8).max() > 1


def test_the_seed_decides_and_threads_do_not(noisy_draws):
    draws = noisy_draws(120, 10, 30, noise=0.4, uncertain=0.6)
    first = point_estimate(draws, n_runs=2, seed=3, n_jobs=1)
    np.testing.assert_array_equal(first, point_estimate(draws, n_runs=2, seed=3, n_jobs=2))
    runs = [point_estimate(draws, n_runs=1, seed=s) for s in range(20)]
    values = expected_losses(VI(), runs, draws)
    assert len(set(values)) > 1
    assert VI().expected(point_estimate(draws, n_runs=16), draws) < np.quantile(values, 0.3)


def test_relabelled_draws_and_chains_give_the_same_estimate(noisy_draws, rng):
    draws = noisy_draws(40, 4, 50)
    expected = point_estimate(draws)
    assert expected.dtype == np.int64
    np.testing.assert_array_equal(expected, renumbered(expected))
    names = np.array([rng.permutation(4) for _ in range(50)])
    renamed = np.take_along_axis(names, draws, axis=1)
    np.testing.assert_array_equal(point_estimate(renamed), expected)
    tree = to_datatree({"z": draws.reshape(2, 25, 40)})
    np.testing.assert_array_equal(point_estimate(tree), expected)
    assert point_estimate([[3]]).tolist() == [0]
    assert point_estimate([[3, 1, 3] * 4]).tolist() == [0, 1, 0] * 4


def small_clusters(rng, n=60, number=30, mean=25):
    """Draws of many small clusters, between some of which items move."""
    usual = rng.integers(mean, size=n)
    z = np.tile(usual, (number, 1))
    moved = rng.random(z.shape) < 0.2
    z[moved] = (z[moved] + rng.integers(1, 3, size=moved.sum())) % mean
    return canonical(z)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_search_among_near_items_finds_what_the_dense_one_does(rng, loss):
    draws = small_clusters(rng)
    problem = make_problem(draws, loss, 60)
    best = min(
        search(problem, np.full(60, -1, np.int32), np.array([rng.permutation(60)] * 4), 60)[1]
        for _ in range(16)
    )
    found = []
    for _ in range(4):
        state = nearby(problem, draws)
        found.append(int(search_nearby(problem, state, rng.permutation(60))))
        assert found[-1] == plain_objective(problem, state.labels)
        np.testing.assert_array_equal(state.sizes, np.bincount(state.labels, minlength=60))
    assert min(found) <= best


def test_items_near_each_other_are_those_together_in_some_draw(rng):
    draws = small_clusters(rng)
    state = nearby(make_problem(draws, VI(), 60), draws)
    together = (draws[:, :, None] == draws[:, None]).any(axis=0) & ~np.eye(60, dtype=bool)
    for i in range(60):
        np.testing.assert_array_equal(
            state.near[state.start[i] : state.start[i + 1]], np.flatnonzero(together[i])
        )


def test_thousands_of_small_clusters_take_little_memory():
    # the dense search would take 1 TB
    rng = np.random.default_rng(3)
    draws = np.tile(np.arange(6000) // 2, (40, 1))
    moved = rng.random(draws.shape) < 0.1
    draws[moved] = 3000 + np.flatnonzero(moved) % 3000
    assert is_sparse(canonical(draws))
    np.testing.assert_array_equal(canonical(point_estimate(draws)), np.arange(6000) // 2)
    assert not is_sparse(canonical(np.tile(np.arange(6000) % 20, (40, 1))))
