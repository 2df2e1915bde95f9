"""Features: inner products are kernels."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from bayesclust.inference.variational_em.features import SPREAD, feature_map


def centred(gram):
    center = np.eye(len(gram)) - 1 / len(gram)
    return center @ gram @ center


def test_standardised_columns(rng):
    X = np.column_stack([rng.normal(5.0, 3.0, 50), np.full(50, 0.1), rng.normal(size=50)])
    to_features = feature_map(X, None, {}, True, None, rng)
    Z = to_features(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), [1.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(to_features(X[:1]), Z[:1])
    np.testing.assert_array_equal(feature_map(X, None, {}, False, None, rng)(X), X)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "precomputed"])
def test_inner_products_are_kernel_values(rng, kernel):
    X = rng.normal(size=(40, 3))
    options = {
        "rbf": {"gamma": 0.3},
        "polynomial": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
        "precomputed": {},
    }[kernel]
    gram = {
        "rbf": rbf_kernel(X, gamma=0.3),
        "polynomial": (0.5 * X @ X.T + 1) ** 2,
        "precomputed": X @ X.T,
    }[kernel]
    data = gram if kernel == "precomputed" else X
    to_features = feature_map(data, kernel, options, False, None, rng)
    Z = to_features(data)
    wanted = centred(gram)
    np.testing.assert_allclose(Z @ Z.T, SPREAD * len(X) / np.trace(wanted) * wanted, atol=1e-6)
    np.testing.assert_allclose(to_features(data[3:5]), Z[3:5])


def test_landmarks_come_near_the_kernel(rng):
    X = rng.normal(size=(300, 2))
    wanted = centred(rbf_kernel(X, gamma=0.5))
    wanted *= SPREAD * len(X) / np.trace(wanted)
    errors = []
    for number in (10, 100):
        Z = feature_map(X, "rbf", {"gamma": 0.5}, False, number, np.random.default_rng(0))(X)
        assert Z.shape[1] <= number
        errors.append(np.abs(Z @ Z.T - wanted).mean())
    assert errors[1] < 0.05 < 0.3 < errors[0]  # of values up to ten


def test_bad_kernels(rng):
    with pytest.raises(
        ValueError, match=r"^a precomputed kernel must have shape \(n, n\); got \(4, 3\)"
    ):
        feature_map(np.ones((4, 3)), "precomputed", {}, True, None, rng)
    with pytest.raises(
        ValueError,
        match=r"^the precomputed kernel is not symmetric: X and its transpose differ by up to 1",
    ):
        feature_map(np.array([[1.0, 1.0], [0.0, 1.0]]), "precomputed", {}, True, None, rng)
    with pytest.raises(ValueError, match=r"^the kernel 'precomputed' has no positive eigenvalue"):
        feature_map(-np.eye(3), "precomputed", {}, True, None, rng)
