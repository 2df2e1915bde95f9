"""The methods compared with, against scikit-learn and slow reference implementations."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

import bayesclust as bc
from experiments import baselines
from experiments.authors import MAX_PASSES, RATE, STILL, XI0, released_rdp_means
from experiments.baselines import (
    Weighted,
    comparisons,
    cop_k_means,
    descend,
    dp_means,
    gaps,
    k_means,
    lcvqe,
    sssvad,
)
from experiments.learned_metrics import itml, lsml, mmc, rca, sparse_lp

PAIRWISE = {"k-means": k_means, "dp-means": dp_means, "lcvqe": lcvqe, "itml": itml, "mmc": mmc}
PAIRWISE |= {"rca": rca, "cop": cop_k_means}
RELATIVE = {"sssvad": sssvad, "lsml": lsml, "sparse-lp": sparse_lp}


@pytest.mark.parametrize("name", PAIRWISE)
def test_one_call_for_all_that_use_pairs(name, rng):
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 2)) + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[y]
    for given in (bc.PairwiseConstraints.sample(y, size=100, seed=0), None):
        labels = PAIRWISE[name](X, given, 3, 7)
        assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
        assert (labels == PAIRWISE[name](X, given, 3, 7)).all()
        assert bc.metrics.adjusted_rand(labels, y) > 0.9


@pytest.mark.parametrize("name", RELATIVE)
def test_triplets_help_and_dnk_is_not_used(name, rng):
    """Two clusters that one narrow column of four separates."""
    y = np.repeat([0, 1], 50)
    X = rng.normal(scale=[5.0, 1.0, 4.0, 3.0], size=(100, 4))
    X[:, 1] += 5.0 * y
    triplets = bc.RelativeConstraints.sample(y, size=200, error_rate=0.0, seed=0)
    settings = {"weight": 100.0} if name == "lsml" else {}
    labels = RELATIVE[name](X, triplets, 2, 7, **settings)
    assert bc.metrics.adjusted_rand(labels, y) > 0.9
    assert bc.metrics.adjusted_rand(k_means(X, None, 2, 7), y) < 0.3
    told = triplets.answers < 2
    some, rest = (
        bc.RelativeConstraints(triplets.items[kept], triplets.answers[kept], n_items=100)
        for kept in (told, ~told)
    )
    assert (RELATIVE[name](X, some, 2, 7, **settings) == labels).all()
    assert (RELATIVE[name](X, rest, 3, 0) == RELATIVE[name](X, None, 3, 0)).all()


def test_cop_k_means_keeps_every_answer_or_fails(rng):
    y, X = np.repeat([0, 1, 2], 20), rng.normal(size=(60, 2))
    links = bc.PairwiseConstraints.sample(y, size=30, seed=0)
    assert (links.truths(labels := cop_k_means(X, links, 3, 0)) == links.answers).all()
    assert len(set(labels.tolist())) == 3
    against = bc.PairwiseConstraints([(0, 1), (1, 2), (0, 2)], [True, True, False], n_items=60)
    assert not cop_k_means(X, against, 3, 0).any()


def test_k_means_from_one_start_is_scikit_learns(rng, monkeypatch):
    """From the same centres the same partition, on data where many partitions are near the best."""
    X = rng.normal(size=(200, 3))
    for trial in range(10):
        start = X[rng.choice(200, 6, replace=False)]
        monkeypatch.setattr(baselines, "spread_out", lambda *_, start=start: start)
        theirs = KMeans(6, init=start, n_init=1, max_iter=1000, tol=0.0).fit(X).labels_
        ours = k_means(X, None, 6, trial, n_init=1)
        assert ((ours[:, None] == ours) == (theirs[:, None] == theirs)).all()


def test_costs_of_sssvad_are_its_objective_which_never_rises(rng):
    X = rng.normal(size=(80, 5))
    y = rng.integers(3, size=80)
    triplets = bc.RelativeConstraints.sample(y, size=150, error_rate=0.0, seed=0)
    compared = comparisons(triplets)
    near, far = gaps(X, compared)
    problem = Weighted(X, compared[:, 0], near**2 - far**2, 2.0, np.full(5, 0.01))
    powers, labels = rng.dirichlet(np.ones(5), size=4) ** 2, rng.integers(4, size=80)
    expected = sum(
        powers[k] @ (np.square(x - X[k]) + 0.01)
        + sum(2.0 * max(0.0, powers[k] @ e) for e in problem.excess[problem.item == i])
        for i, (x, k) in enumerate(zip(X, labels, strict=True))
    )
    found = problem.costs(X[:4], powers)[np.arange(80), labels].sum()
    assert found == pytest.approx(expected, rel=1e-10)
    for start in range(6):
        _, path = descend(problem, X[10 * start : 10 * start + 4], 2.0, 100)
        assert (np.diff(path) <= 1e-9).all()
        assert path[-1] < path[0]


def plainly(X, E, k, seed):
    """RDP-means as released, line by line; E is +1, -1 or 0, symmetric."""
    n, rng = len(X), np.random.default_rng(seed)
    penalty = sorted(np.sqrt(((x - X.mean(axis=0)) ** 2).sum()) for x in X)[-k]
    centers = [rng.uniform(X.min(axis=0), X.max(axis=0))]
    z, still = [0] * n, 0
    for number in range(MAX_PASSES):
        xi = 0.0 if number == 0 else XI0 * RATE**number
        for i in rng.permutation(n):
            cost = []
            for at, m in enumerate(centers):
                links = sum(E[i, j] for j in range(n) if j != i and z[j] == at)
                cost.append(np.sqrt(((X[i] - m) ** 2).sum()) - xi * links)
            if min(cost) < penalty:
                z[i] = max(at for at, value in enumerate(cost) if value == min(cost))
            else:
                centers.append(X[i])
                z[i] = len(centers) - 1
        kept = sorted(set(z))
        means = [X[[i for i in range(n) if z[i] == at]].mean(axis=0) for at in kept]
        z = [kept.index(label) for label in z]
        alike = len(means) == len(centers) and np.allclose(means, centers, rtol=0, atol=1e-12)
        still, centers = still + 1 if alike else 0, means
        if still == STILL:
            break
    return np.array(z)


@pytest.mark.parametrize("seed", range(4))
def test_released_rdp_means_equals_the_plain_reading(seed):
    rng = np.random.default_rng(seed)
    data = bc.datasets.make_mixture(40, 3, 4, separation=5.0, seed=rng)
    links = bc.PairwiseConstraints.sample(data.y, fraction=0.1, error_rate=0.1, seed=rng)
    E = np.zeros((40, 40))
    for (i, j), same in zip(links.items, links.answers, strict=True):
        E[i, j] = E[j, i] = 1 if same else -1
    found = released_rdp_means(data.X, links, 4, seed)
    np.testing.assert_array_equal(found, plainly(data.X, E, 4, seed))
