import numpy as np
import pytest

from bayesclust.posterior.similarity import item_entropy, similar_items, similarity_matrix
from bayesclust.posterior.tree import to_datatree


@pytest.mark.parametrize(("n", "draws"), [(1, 1), (7, 3), (33, 50), (70, 1100), (100, 2049)])
def test_the_share_of_draws_that_put_two_items_together(noisy_draws, n, draws):
    z = noisy_draws(n, 4, draws)
    plain = (z[:, :, None] == z[:, None, :]).mean(axis=0)
    result = similarity_matrix(z)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, plain, rtol=0, atol=1e-15)


def test_chains_are_pooled(noisy_draws):
    z = noisy_draws(12, 3, 20)
    np.testing.assert_array_equal(
        similarity_matrix(to_datatree({"z": z.reshape(4, 5, 12)})), similarity_matrix(z)
    )


def test_more_draws_than_sixteen_bits_count():
    z = np.zeros((40_000, 2), int)
    z[:10_000, 1] = 1
    np.testing.assert_array_equal(similarity_matrix(z), [[1, 0.75], [0.75, 1]])


@pytest.mark.parametrize(
    ("n", "draws", "number"), [(1, 1, 3), (7, 3, 2), (33, 50, 40), (600, 130, 5)]
)
def test_most_similar_items_are_those_of_the_matrix(noisy_draws, n, draws, number):
    z = noisy_draws(n, 4, draws)
    matrix = similarity_matrix(z)
    np.fill_diagonal(matrix, 0.0)
    expected = np.zeros_like(matrix)
    for i, row in enumerate(matrix):
        best = sorted(range(n), key=lambda j: (-row[j], j))[:number]
        expected[i, best] = row[best]
    np.testing.assert_array_equal(similar_items(z, number).toarray(), expected)


@pytest.mark.parametrize(("n", "draws"), [(1, 4), (9, 20), (300, 7)])
def test_entropy_of_an_item_is_the_mean_over_its_pairs(noisy_draws, n, draws):
    z = noisy_draws(n, 3, draws)
    matrix = similarity_matrix(z)
    expected = [
        sum(-p * np.log2(p) - (1 - p) * np.log2(1 - p) for p in row if 0 < p < 1) / max(n - 1, 1)
        for row in matrix
    ]
    np.testing.assert_allclose(item_entropy(z), expected, atol=1e-12)


def test_number_of_similar_items_is_positive():
    with pytest.raises(ValueError, match="number"):
        similar_items([[0, 0]], n_neighbors=0)
