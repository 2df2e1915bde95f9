"""Shared checks: what they let through; sentences are in tests/estimators/test_bad_input.py."""

import numpy as np
import pytest
from scipy import sparse

import bayesclust as bc
from bayesclust import checks
from bayesclust.checks import check_items, check_random_state
from bayesclust.constraints import PairwiseConstraints
from bayesclust.constraints.base import check_constraints


def test_views_of_one_name_get_numbers_and_stay_as_they_were():
    views = [
        PairwiseConstraints([(0, 1)], [True], n_items=3, name=name)
        for name in ("links", "links", "links_2", "links")
    ]
    checked = check_constraints(views, 3)
    assert [view.name for view in checked] == ["links", "links_2", "links_2_2", "links_3"]
    assert [view.name for view in views] == ["links", "links", "links_2", "links"]
    assert checked[1].items is views[1].items


def test_random_state():
    generator = np.random.default_rng(3)
    assert check_random_state(generator) is generator
    assert check_random_state(3).integers(1000) == np.random.default_rng(3).integers(1000)
    assert check_random_state(np.int64(3)).integers(1000) == np.random.default_rng(3).integers(1000)
    legacy = [check_random_state(np.random.RandomState(0)).integers(2**40) for _ in range(2)]
    assert legacy[0] == legacy[1]
    assert isinstance(check_random_state(None), np.random.Generator)


def test_sparse_matrices_are_read_as_dense_ones(rng, monkeypatch):
    X = rng.poisson(0.4, size=(30, 5)) + np.eye(30, 5)
    for kind in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        np.testing.assert_array_equal(check_items(kind(X)), X)
    dense, other = (bc.RDPMeans(random_state=0).fit(data) for data in (X, sparse.csr_array(X)))
    np.testing.assert_array_equal(dense.labels_, other.labels_)
    monkeypatch.setattr(checks, "available_memory", lambda: 2**30)
    huge = sparse.csr_array((10**5, 10**6))
    with pytest.raises(MemoryError, match=r"^the sparse X of shape .* reduce its columns first"):
        check_items(huge)
