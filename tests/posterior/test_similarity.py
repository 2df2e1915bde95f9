"""Similarity of items, and the number of clusters, against plain formulas."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.similarity import cluster_confidence, cluster_similarity
from bayesclust.posterior.tree import to_datatree


@pytest.mark.parametrize(("n", "draws"), [(1, 1), (7, 3), (33, 50), (70, 1100), (100, 2049)])
def test_similarity_is_the_share_of_draws_together(noisy_draws, n, draws):
    z = noisy_draws(n, 4, draws)
    plain = (z[:, :, None] == z[:, None, :]).mean(axis=0)
    result = bc.similarity_matrix(z)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, plain, rtol=0, atol=1e-15)
    one_chain = bc.similarity_matrix(to_datatree({"z": z[None]}))
    np.testing.assert_array_equal(one_chain, result)


def test_similarity_counts_more_draws_than_sixteen_bits():
    z = np.zeros((40_000, 2), int)
    z[:10_000, 1] = 1
    np.testing.assert_array_equal(bc.similarity_matrix(z), [[1, 0.75], [0.75, 1]])


@pytest.mark.parametrize(
    ("n", "draws", "number"), [(1, 1, 3), (7, 3, 2), (33, 50, 40), (600, 130, 5)]
)
def test_similar_items_are_those_of_the_matrix(noisy_draws, n, draws, number):
    z = noisy_draws(n, 4, draws)
    matrix = bc.similarity_matrix(z)
    np.fill_diagonal(matrix, 0.0)
    expected = np.zeros_like(matrix)
    for i, row in enumerate(matrix):
        best = sorted(range(n), key=lambda j: (-row[j], j))[:number]
        expected[i, best] = row[best]
    np.testing.assert_array_equal(bc.similar_items(z, number).toarray(), expected)


@pytest.mark.parametrize(("n", "draws"), [(1, 4), (9, 20), (300, 7)])
def test_item_entropy_is_the_mean_over_its_pairs(noisy_draws, n, draws):
    z = noisy_draws(n, 3, draws)
    p = bc.similarity_matrix(z)
    bits = -p * np.log2(np.maximum(p, 1e-300)) - (1 - p) * np.log2(np.maximum(1 - p, 1e-300))
    expected = bits.sum(axis=1) / max(n - 1, 1)
    np.testing.assert_allclose(bc.posterior.item_entropy(z), expected, atol=1e-12)


def test_cluster_similarity_is_a_mean_of_the_matrix(rng):
    draws, labels = rng.integers(0, 4, (30, 15)), np.r_[np.repeat([0, 1], 7), 9]
    matrix = bc.similarity_matrix(draws)
    expected = [matrix[labels == k].mean(axis=0) for k in dict.fromkeys(labels)]
    np.testing.assert_allclose(cluster_similarity(draws, labels), expected)
    others = [matrix[i, (labels == labels[i]) & (np.arange(15) != i)].mean() for i in range(14)]
    np.testing.assert_allclose(cluster_confidence(draws, labels), [*others, 1.0])


def test_n_clusters_posterior_by_hand():
    draws = [[[0, 0, 0, 1], [0, 1, 2, 2]], [[0, 0, 0, 0], [0, 1, 2, 3]]]
    table = bc.n_clusters_posterior(np.array(draws))
    assert table.index.tolist() == [1, 2, 3, 4]
    assert table["probability"].tolist() == [0.25] * 4
    assert table["lowest"].tolist() == [0.0] * 4
    assert table["highest"].tolist() == [0.5] * 4
    # four batches of one draw, 0 0 0 1: their standard deviation is 1 / 2
    np.testing.assert_allclose(table["mcse"], 0.25)
    assert bc.n_clusters_posterior([[0, 1]])["mcse"].isna().all()


def test_n_clusters_posterior_counts_clusters_of_a_size():
    draws = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 2], [0, 1, 2, 3, 4]]
    table = bc.n_clusters_posterior(draws, min_size=2)
    assert table.index.tolist() == [0, 1, 2]
    assert table["probability"].tolist() == [1 / 3, 0, 2 / 3]
    assert bc.n_clusters_posterior(draws, min_size=3)["probability"].tolist() == [2 / 3, 1 / 3]


def test_monte_carlo_error_is_that_of_repetitions(rng):
    """A two-state chain that stays with probability 0.8; sqrt((1 + r) / (1 - r)) = 2, r = 0.6."""
    shares, errors = [], []
    for _ in range(200):
        state = np.cumsum(rng.random((4, 1000)) > 0.8, axis=1) % 2
        z = np.stack([np.zeros_like(state), np.zeros_like(state), state], axis=-1)
        table = bc.n_clusters_posterior(z)
        shares.append(table["probability"].iloc[-1])
        errors.append(table["mcse"].iloc[-1])
    assert np.std(shares) == pytest.approx(2 * 0.5 / np.sqrt(4000), rel=0.15)
    assert np.mean(errors) == pytest.approx(np.std(shares), rel=0.2)
