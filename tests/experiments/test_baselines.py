"""The methods compared with: one way of calling, Lloyd's k-means, and LCVQE's rules, against slow twins."""

import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans

import bayesclust as bc
from bayesclust.families.multinomial import KullbackLeibler
from bayesclust.families.squared_distance import SquaredEuclidean
from experiments.baselines import BASELINES, k_means, lcvqe, mixture
from experiments.baselines.bregman_k_means import nearest, partition, spread_out
from experiments.baselines.vector_quantization import error, follow_links

FAST = sorted(set(BASELINES) - {"mixture"})


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 2)) + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[y], y


def groups(labels):
    return (np.asarray(labels)[:, None] == labels).tolist()


@pytest.mark.parametrize("name", FAST)
def test_one_call_for_all(name, blobs):
    X, y = blobs
    links = bc.PairwiseConstraints.sample(y, size=100, seed=0)
    for answers in (links, [links, links], None):
        labels = BASELINES[name](X, answers, 3, 7)
        assert labels.shape == (120,)
        assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
        assert (labels == BASELINES[name](X, answers, 3, 7)).all()
        assert bc.metrics.adjusted_rand(labels, y) > 0.9


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"n_clusters": 5},
            "ValueError: n_clusters=5 is more than the 4 items of X: ask for fewer clusters.",
        ),
        ({"n_clusters": 0}, "ValueError: n_clusters must be an integer of at least 1; got 0."),
        (
            {"X": [[0.0], [np.nan]]},
            "ValueError: X has NaN in row 1: remove these items or fill in values.",
        ),
    ],
)
def test_bad_input_is_named(name, wrong, sentence):
    given = {
        "X": [[0.0], [1.0], [5.0], [6.0]],
        "constraints": None,
        "n_clusters": 2,
        "seed": 0,
        **wrong,
    }
    with pytest.raises((ValueError, TypeError)) as error:
        BASELINES[name](**given)
    assert f"{error.typename}: {error.value}" == sentence


def test_the_mixture_takes_no_notice_of_answers(blobs):
    X, y = blobs
    nonsense = bc.PairwiseConstraints.sample(y, size=100, error_rate=1.0, seed=0)
    settings = {
        "family": "gaussian_spherical",
        "num_chains": 1,
        "num_warmup": 100,
        "num_samples": 100,
    }
    labels = mixture(X[::2], nonsense.restrict(np.arange(0, 120, 2)), 3, 0, **settings)
    assert (
        labels == bc.TVClust(random_state=0, progress=False, **settings).fit(X[::2]).labels_
    ).all()
    assert bc.metrics.adjusted_rand(labels, y[::2]) > 0.9


def test_k_means_from_one_start_is_scikit_learns(rng, monkeypatch):
    """From the same centres the same partition, on data without structure, where many partitions are near the best."""
    X = rng.normal(size=(200, 3))
    for trial in range(20):
        start = X[rng.choice(200, 6, replace=False)]
        monkeypatch.setattr(
            sys.modules[k_means.__module__], "spread_out", lambda *_, start=start: start
        )
        theirs = KMeans(6, init=start, n_init=1, max_iter=1000, tol=0.0).fit(X)
        assert groups(k_means(X, None, 6, trial, n_init=1)) == groups(theirs.labels_)


def test_k_means_plus_plus_draws_by_squared_distance(rng):
    """With two centres, how often each item is the second, given the first, over many draws."""
    points = np.array([[0.0], [1.0], [3.0]])
    draws = [spread_out(points, SquaredEuclidean(), 2, rng)[:, 0] for _ in range(6000)]
    second = np.array([b for a, b in draws if a == 0.0])
    assert (second == 3.0).mean() == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / len(second)))
    assert len(second) == pytest.approx(2000, abs=4 * np.sqrt(6000 * 2 / 9))


def test_a_divergence_is_lowered_at_every_visit(rng):
    X = rng.poisson(3.0, size=(60, 5)) + 1
    kl = KullbackLeibler()
    points, seen = kl.points(X), []

    def visit(distances):
        labels, total = nearest(distances)
        seen.append(total)
        return labels, total

    partition(points, kl, 4, visit, 0, 1, 300)
    assert len(seen) > 3
    assert (np.diff(seen) < 0).sum() >= len(seen) - 2
    assert (np.diff(seen) <= 1e-12).all()


@pytest.mark.parametrize("divergence", ["gaussian_diagonal", bc.families.DiagonalGaussian()])
def test_a_divergence_may_take_its_units_from_the_data(divergence, rng):
    X = rng.normal(size=(80, 3)) * [1.0, 100.0, 0.01]
    labels = k_means(X, None, 4, 0, divergence=divergence)
    assert (labels == k_means(X / X.std(axis=0), None, 4, 0)).all()
    assert (labels != k_means(X, None, 4, 0)).any()


def test_fewer_different_items_than_clusters():
    labels = k_means([[0.0], [0.0], [7.0], [7.0]], None, 3, 0)
    assert labels.tolist() == [0, 0, 1, 1]
    assert k_means(np.ones((5, 2)), None, 3, 0).tolist() == [0] * 5


def plain_error(distances, z, pairs, same):
    """Pelleg and Baras's error, term by term."""
    total = sum(0.5 * distances[i, k] for i, k in enumerate(z))
    for (x, y), may in zip(pairs, same, strict=True):
        if may and z[x] != z[y]:
            total += 0.25 * (distances[x, z[y]] + distances[y, z[x]])
        if not may and z[x] == z[y]:
            far = max((x, y), key=lambda i: distances[i, z[x]])
            total += 0.5 * min(d for k, d in enumerate(distances[far]) if k != z[x])
    return total


def plain_pass(distances, pairs, same):
    """Their assignment with all of its cases; those that keep a violation are never the cheapest."""
    z = [int(np.argmin(row)) for row in distances]
    mended = 0
    for (x, y), may in zip(pairs, same, strict=True):
        if may and z[x] != z[y]:
            j, n = z[x], z[y]
            keep = 0.5 * (distances[x, j] + distances[y, n]) + 0.25 * (
                distances[x, n] + distances[y, j]
            )
            both_j = 0.5 * distances[x, j] + 0.5 * distances[y, j]
            both_n = 0.5 * distances[x, n] + 0.5 * distances[y, n]
            case = int(np.argmin([keep, both_j, both_n]))
            assert case > 0
            z[x] = z[y] = [j, n][case - 1]
            mended += 1
    for (x, y), may in zip(pairs, same, strict=True):
        if not may and z[x] == z[y]:
            j = z[x]
            far, near = (y, x) if distances[y, j] > distances[x, j] else (x, y)
            other = min(
                (k for k in range(distances.shape[1]) if k != j), key=lambda k: distances[far, k]
            )
            stay = 0.5 * (distances[x, j] + distances[y, j] + distances[far, other])
            assert 0.5 * (distances[near, j] + distances[far, other]) < stay
            z[far] = other
            mended += 1
    return z, mended


def random_links(seed):
    rng = np.random.default_rng(seed)
    n, k, m = 12, int(rng.integers(2, 5)), int(rng.integers(1, 25))
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)])
    return rng.exponential(size=(n, k)), pairs, rng.random(m) < 0.5, rng


def test_lcvqe_assigns_as_written():
    total = 0
    for seed in range(200):
        distances, pairs, same, _ = random_links(seed)
        labels = distances.argmin(axis=1)
        follow_links(distances, pairs[same], pairs[~same], labels)
        expected, mended = plain_pass(distances, pairs.tolist(), same)
        assert labels.tolist() == expected
        total += mended
    assert total > 400


def test_lcvqe_error_is_as_written():
    for seed in range(100):
        distances, pairs, same, rng = random_links(seed)
        labels = rng.integers(distances.shape[1], size=12)
        found = error(distances, labels, pairs[same], pairs[~same])
        assert found == pytest.approx(plain_error(distances, labels.tolist(), pairs.tolist(), same))


def test_of_several_starts_the_one_of_least_error_is_kept(rng):
    X = rng.normal(size=(60, 2))
    links = bc.PairwiseConstraints.sample(rng.integers(4, size=60), size=60, seed=0)

    def error_of(labels):
        centers = np.array([X[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
        distances = np.square(X[:, None] - centers).sum(axis=2)
        return error(distances, labels, links.may_links, links.may_not_links)

    starts = np.random.default_rng(5)
    single = [error_of(lcvqe(X, links, 4, starts, n_init=1)) for _ in range(8)]
    assert error_of(lcvqe(X, links, 4, np.random.default_rng(5), n_init=8)) == pytest.approx(
        min(single), rel=0.02
    )
    assert max(single) > 1.05 * min(single)


def test_lcvqe_without_answers_is_k_means(rng):
    X = rng.normal(size=(150, 3))
    nothing = bc.PairwiseConstraints(np.empty((0, 2), dtype=int), [], n_items=150)
    for seed in range(5):
        expected = k_means(X, None, 5, seed)
        assert (lcvqe(X, None, 5, seed) == expected).all()
        assert (lcvqe(X, nothing, 5, seed) == expected).all()


def test_right_answers_help_and_wrong_ones_harm_as_in_the_paper(blobs):
    """Tables 2 and 3 of TVClust: LCVQE gains from right answers and falls below k-means where one in five is wrong."""
    X, y = blobs
    X = X + np.random.default_rng(1).normal(scale=1.5, size=X.shape)
    scores = {"none": [], "right": [], "wrong": []}
    for seed in range(4):
        right = bc.PairwiseConstraints.sample(y, fraction=0.05, seed=seed)
        wrong = bc.PairwiseConstraints.sample(y, fraction=0.05, error_rate=0.2, seed=seed)
        for name, links in (("none", None), ("right", right), ("wrong", wrong)):
            scores[name].append(bc.metrics.pairwise_f(lcvqe(X, links, 3, seed), y))
    none, right, wrong = (np.mean(values) for values in scores.values())
    assert right > none + 0.1
    assert wrong < none


def test_one_cluster_has_nowhere_to_send_a_cannot_link():
    links = bc.PairwiseConstraints.from_lists(must_link=[], cannot_link=[(0, 1)], n_items=3)
    assert lcvqe([[0.0], [1.0], [2.0]], links, 1, 0).tolist() == [0, 0, 0]
