import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.membership import belonging, cluster_similarity


def test_means_of_the_similarity_matrix(rng):
    draws, labels = rng.integers(0, 4, (30, 15)), rng.integers(0, 3, 15)
    matrix = bc.similarity_matrix(draws)
    expected = [matrix[labels == k].mean(axis=0) for k in dict.fromkeys(labels)]
    np.testing.assert_allclose(cluster_similarity(draws, labels), expected)


def test_belonging_leaves_the_item_itself_out(rng):
    draws, labels = rng.integers(0, 4, (30, 15)), np.r_[np.repeat([0, 1], 7), 9]
    matrix = bc.similarity_matrix(draws)
    expected = [matrix[i, (labels == labels[i]) & (np.arange(15) != i)].mean() for i in range(14)]
    np.testing.assert_allclose(belonging(draws, labels), [*expected, 1.0])


def test_labels_of_other_items_are_refused():
    with pytest.raises(ValueError, match="labels has 2 items, but the posterior has 3"):
        belonging([[0, 0, 1]], [0, 1])
