"""RDP-means as released, against a plain reading of its description, and where its outcome is known."""

import numpy as np
import pytest

import bayesclust as bc
from experiments.reproduce.tvclust.released import MAX_PASSES, STILL, ReleasedRDPMeans


def plainly(X, E, k, seed, xi0=1e-3, rate=2.0):
    """The same algorithm, line by line; E is +1, -1 or 0, symmetric."""
    n, rng = len(X), np.random.default_rng(seed)
    penalty = sorted(np.sqrt(((x - X.mean(axis=0)) ** 2).sum()) for x in X)[-k]
    centers = [rng.uniform(X.min(axis=0), X.max(axis=0))]
    z, still = [0] * n, 0
    for number in range(MAX_PASSES):
        xi = 0.0 if number == 0 else xi0 * rate**number
        for i in rng.permutation(n):
            cost = []
            for k_, m in enumerate(centers):
                links = sum(E[i, j] for j in range(n) if j != i and z[j] == k_)
                cost.append(np.sqrt(((X[i] - m) ** 2).sum()) - xi * links)
            best = min(cost)
            if best < penalty:
                z[i] = max(at for at, value in enumerate(cost) if value == best)
            else:
                centers.append(X[i])
                z[i] = len(centers) - 1
        kept = sorted(set(z))
        means = [X[[i for i in range(n) if z[i] == k_]].mean(axis=0) for k_ in kept]
        z = [kept.index(label) for label in z]
        still = (
            still + 1
            if len(means) == len(centers) and np.allclose(means, centers, rtol=0, atol=1e-12)
            else 0
        )
        centers = means
        if still == STILL:
            break
    return np.array(z)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("flip", [0.0, 0.2])
def test_equals_the_plain_reading(seed, flip):
    rng = np.random.default_rng(seed)
    data = bc.datasets.make_mixture(40, 3, 4, separation=5.0, seed=rng)
    links = bc.PairwiseConstraints.sample(data.y, fraction=0.1, error_rate=flip, seed=rng)
    E = np.zeros((40, 40))
    for (i, j), same in zip(links.items, links.answers, strict=True):
        E[i, j] = E[j, i] = 1 if same else -1
    est = ReleasedRDPMeans(4, random_state=seed).fit(data.X, constraints=links)
    np.testing.assert_array_equal(est.labels_, plainly(data.X, E, 4, seed))
    assert est.n_clusters_ == len(set(est.labels_)) == est.labels_.max() + 1


def test_the_penalty_is_the_kth_largest_distance_to_the_mean():
    X = np.array([[0.0], [3.0], [6.0], [31.0]])  # mean 10
    assert [ReleasedRDPMeans(k, random_state=0).fit(X).penalty_ for k in (1, 2, 3, 4)] == [
        21.0,
        10.0,
        7.0,
        4.0,
    ]


def test_right_answers_to_all_pairs_are_obeyed():
    data = bc.datasets.make_mixture(30, 2, 3, separation=1.0, seed=0)
    links = bc.PairwiseConstraints.sample(data.y, fraction=1.0, seed=0)
    est = ReleasedRDPMeans(3, random_state=0).fit(data.X, constraints=links)
    assert bc.metrics.pairwise_f(est.labels_, data.y) == 1.0


def test_a_seed_repeats():
    X = bc.datasets.make_mixture(60, 2, 4, seed=1).X
    first, again = (ReleasedRDPMeans(4, random_state=3).fit(X).labels_ for _ in range(2))
    np.testing.assert_array_equal(first, again)
