"""Information of one answer, by enumeration of all labels."""

from itertools import product

import numpy as np
import pytest

from bayesclust import information


def mutual_information(K, size, answer):
    """H(labels) - H(labels | answer), labels independent and even, by counting."""
    groups = {}
    for labels in product(range(K), repeat=size):
        groups[answer(*labels)] = groups.get(answer(*labels), 0) + 1
    total = K**size
    return {word: np.log(total) - np.log(count) for word, count in groups.items()}, {
        word: count / total for word, count in groups.items()
    }


def reply(i, j, k):
    return "yes" if i == j != k else "no" if i == k != j else "dnk"


@pytest.mark.parametrize("K", [1, 2, 3, 5, 8])
def test_triplet_and_pair(K):
    gain, share = mutual_information(K, 3, reply)
    assert information.triplet(K) == pytest.approx(sum(share[word] * gain[word] for word in gain))
    told = sum(share[word] * gain[word] for word in gain if word != "dnk")
    assert information.triplet(K, dnk=False) == pytest.approx(told)
    gain, share = mutual_information(K, 2, lambda i, j: i == j)
    assert information.pair(K) == pytest.approx(sum(share[word] * gain[word] for word in gain))


def test_many_numbers_at_once():
    np.testing.assert_allclose(
        information.triplet([2, 7]), [information.triplet(2), information.triplet(7)]
    )
    assert isinstance(information.pair(3), float)
