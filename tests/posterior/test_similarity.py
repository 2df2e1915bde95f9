import numpy as np
import pytest

from bayesclust.posterior.similarity import similarity_matrix
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
    np.testing.assert_array_equal(similarity_matrix(to_datatree({"z": z.reshape(4, 5, 12)})), similarity_matrix(z))


def test_more_draws_than_sixteen_bits_count():
    z = np.zeros((40_000, 2), int)
    z[:10_000, 1] = 1
    np.testing.assert_array_equal(similarity_matrix(z), [[1, 0.75], [0.75, 1]])
