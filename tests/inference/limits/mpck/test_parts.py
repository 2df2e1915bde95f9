"""The parts of MPCK-Means: links and what they entail, starts, the farthest pair, the pass."""

import itertools

import numpy as np
import pytest

from bayesclust.inference.limits.mpck import links as links_module
from bayesclust.inference.limits.mpck.assign import (
    EVERYWHERE,
    Sizes,
    assign,
    cheapest_within,
    exchange,
    total_cost,
)
from bayesclust.inference.limits.mpck.links import (
    WeightedLinks,
    closure,
    contradictions,
    neighbourhoods,
    starting_centers,
    weighted_farthest_first,
)
from bayesclust.inference.limits.mpck.metric import farthest_pair
from tests.inference.limits.mpck.plain import random_problem


@pytest.mark.parametrize("kind", ["normal", "sphere", "grid", "equal", "line", "outliers"])
def test_farthest_pair_is_that_of_all_pairs(rng, kind):
    for d in (1, 2, 7):
        for n in (2, 3, 100):
            X = rng.normal(size=(n, d))
            if kind == "sphere":
                X /= np.linalg.norm(X, axis=1, keepdims=True)
            elif kind == "grid":
                X = rng.integers(0, 2, size=(n, d)).astype(float)
            elif kind == "equal":
                X[:] = 3.0
            elif kind == "line":
                X[:, 1:] = X[:, :1]
            elif kind == "outliers":
                X[: n // 3] *= 1e6
            i, j, squared = farthest_pair(np.ascontiguousarray(X))
            slow = max(np.square(X[a] - X[b]).sum() for a, b in itertools.combinations(range(n), 2))
            assert squared == pytest.approx(slow, rel=1e-12)
            assert np.square(X[i] - X[j]).sum() == pytest.approx(squared)


def test_closure_is_the_fixed_point_of_the_rules(rng):
    for _ in range(30):
        n = 9
        _, pairs, must, weight = random_problem(rng, n, 2, 6, consistent=True)
        same, apart = np.eye(n, dtype=bool), np.zeros((n, n), dtype=bool)
        for (i, j), answer in zip(pairs, must, strict=True):
            (same if answer else apart)[[i, j], [j, i]] = True
        for _ in range(n):
            same = (same.astype(int) @ same) > 0
            apart = (same.astype(int) @ apart @ same) > 0
        found = closure(WeightedLinks.of(pairs, must, weight, n))
        for kind, matrix in ((True, same), (False, apart)):
            wanted = {(i, j) for i, j in itertools.combinations(range(n), 2) if matrix[i, j]}
            assert set(map(tuple, found.pairs[found.must == kind].tolist())) == wanted
        assert (found.weight[: len(weight)] == weight).all()
        new = found.must[len(weight) :]
        for kind in (True, False):
            if (new == kind).any():
                mean = weight[must == kind].mean() if (must == kind).any() else 1.0
                assert found.weight[len(weight) :][new == kind] == pytest.approx(mean)


def test_contradictions_entail_nothing():
    pairs = np.array([[0, 1], [1, 2], [0, 2], [2, 3]])
    links = WeightedLinks.of(pairs, np.array([True, True, False, False]), np.ones(4), 4)
    assert contradictions(links.pairs, links.must, 4).tolist() == [False, False, True, False]
    found = closure(links)
    entailed = found.pairs[4:].tolist(), found.must[4:].tolist()
    assert entailed == ([[0, 2], [0, 3], [1, 3]], [True, False, False])


def test_closure_refuses_more_pairs_than_can_be_kept(monkeypatch):
    monkeypatch.setattr(links_module, "MOST_ENTAILED", 5)
    chain = np.column_stack([np.arange(4), np.arange(1, 5)])
    with pytest.raises(ValueError, match=r"^the constraints entail 10 pairs, more than the"):
        closure(WeightedLinks.of(chain, np.ones(4, dtype=bool), np.ones(4), 5))


def test_starts_follow_the_traversal_of_the_paper(rng):
    X = rng.normal(size=(12, 2))
    pairs = np.array([[0, 1], [1, 2], [3, 4], [5, 6], [6, 7], [7, 8], [9, 10]])
    links = WeightedLinks.of(pairs, np.array([True] * 6 + [False]), np.ones(7), 12)
    centers, sizes = neighbourhoods(X, links)
    assert sizes.tolist() == [4, 3, 2]
    for center, members in zip(centers, ([5, 6, 7, 8], [0, 1, 2], [3, 4]), strict=True):
        np.testing.assert_allclose(center, X[members].mean(axis=0))
    chosen = [0]
    while len(chosen) < 2:
        score = [
            sizes[c] * min(np.linalg.norm(centers[c] - centers[s]) for s in chosen)
            for c in range(3)
        ]
        chosen.append(int(np.argmax(score)))
    assert weighted_farthest_first(centers, sizes, 2).tolist() == chosen
    start = starting_centers(X, links, 5, rng, "greedy")
    np.testing.assert_allclose(start[:3], centers)
    assert all(any(np.array_equal(row, x) for x in X) for row in start[3:])


def energy(z, distance, links, cost):
    """What the items that have a place, and the links between them, cost."""
    total = sum(distance[i, z[i]] for i in np.flatnonzero(z >= 0))
    for (i, j), same, c in zip(links.pairs, links.must, cost, strict=True):
        c = np.broadcast_to(c, distance.shape[1])
        if z[i] >= 0 and z[j] >= 0 and (z[i] == z[j]) != same:
            total += c[z[i]] + c[z[j]] if same else c[z[i]]
    return total


@pytest.mark.parametrize("n_metrics", [1, 3])
def test_assignment_is_that_of_a_plain_loop(rng, n_metrics):
    for _ in range(50):
        n, K = 15, 3
        _, pairs, must, weight = random_problem(rng, n, 2, 14)
        links = WeightedLinks.of(pairs, must, weight, n)
        distance, cost = rng.uniform(0, 3, (n, K)), rng.uniform(0, 2, (len(pairs), n_metrics))
        z = rng.integers(-1, K, n)
        before, fast, order = z.copy(), z.copy(), rng.permutation(n)
        moved = assign(order, distance, links, cost, fast, EVERYWHERE)
        for i in order:
            options = [
                energy(np.concatenate([z[:i], [k], z[i + 1 :]]), distance, links, cost)
                for k in range(K)
            ]
            z[i] = int(np.argmin(options))
        assert (fast == z).all()
        assert moved == (before != z).sum()
        assert total_cost(distance, links, cost, fast) == pytest.approx(
            energy(z, distance, links, cost)
        )


@pytest.mark.parametrize(("least", "most"), [(2, 3), (0, 3), (1, 7)])
def test_flow_is_the_cheapest_of_all_labels_within_sizes(rng, least, most):
    n, K = 7, 3
    every = np.array(list(itertools.product(range(K), repeat=n)))
    number = (every[:, :, None] == np.arange(K)).sum(axis=1)
    every = every[((number >= least) & (number <= most)).all(axis=1)]
    for _ in range(20):
        costs = rng.normal(size=(n, K)) * rng.uniform(0.1, 1e3)
        found = cheapest_within(costs, Sizes(least, most))
        best = every[costs[np.arange(n), every].sum(axis=1).argmin()]
        assert (found == best).all()


@pytest.mark.parametrize("n_metrics", [1, 3])
def test_exchanges_are_those_of_a_plain_loop(rng, n_metrics):
    n, K, least, most = 12, 3, 3, 5
    swaps = 0
    for _ in range(40):
        _, pairs, must, weight = random_problem(rng, n, 2, 20)
        links = WeightedLinks.of(pairs, must, weight, n)
        distance, cost = rng.uniform(0, 3, (n, K)), rng.uniform(0, 2, (len(pairs), n_metrics))
        z = rng.permutation(np.r_[[0] * 5, [1] * 4, [2] * 3])
        fast, order, total = z.copy(), rng.permutation(n), np.empty((n, K))
        moved = exchange(order, distance, links, cost, fast, Sizes(least, most), total)
        for i in order:
            options = [z]
            for k in range(K):
                one = z.copy()
                one[i] = k
                number = np.bincount(one, minlength=K)
                options += [one] if number.min() >= least and number.max() <= most else []
            for j in range(n):
                two = z.copy()
                two[[i, j]] = z[[j, i]]
                options.append(two)
            best = min(options, key=lambda z: energy(z, distance, links, cost))
            moved -= int((best != z).any())
            swaps += (best != z).sum() == 2
            z = best
        assert (fast == z).all()
        assert moved == 0
        for i, k in itertools.product(range(n), range(K)):
            one = z.copy()
            one[i] = k
            rise = energy(one, distance, links, cost) - energy(z, distance, links, cost)
            assert total[i, k] - total[i, z[i]] == pytest.approx(rise, abs=1e-9)
    assert swaps > 40
