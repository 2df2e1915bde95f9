"""Shared checks: what they let through; sentences are in tests/estimators/test_bad_input.py."""

import numpy as np
import pandas as pd
import pytest

from bayesclust.checks import check_items, check_random_state
from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.base import check_constraints

EXPECTED = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize(
    "X",
    [
        [[1, 2], [3, 4], [5, 6]],
        EXPECTED.astype(np.float32),
        np.asfortranarray(EXPECTED),
        EXPECTED.astype(int).astype(object),
        pd.DataFrame(EXPECTED, columns=["a", "b"]),
        pd.DataFrame({"a": pd.array([1, 3, 5], dtype="Int64"), "b": [2.0, 4.0, 6.0]}),
        np.ma.masked_array(EXPECTED, mask=False),
    ],
    ids=["lists", "float32", "fortran", "object", "frame", "nullable", "masked"],
)
def test_items_become_rows_of_float64(X):
    array = check_items(X)
    np.testing.assert_array_equal(array, EXPECTED)
    assert array.dtype == np.float64
    assert array.flags.c_contiguous
    assert type(array) is np.ndarray


def test_constant_columns_and_single_items_where_allowed():
    assert check_items(np.ones((3, 2))).shape == (3, 2)
    assert check_items([[1.0, 2.0]], least=1).shape == (1, 2)
    assert check_items([[0, 2], [1, 0]], counts=True).shape == (2, 2)


def test_booleans_are_numbers():
    np.testing.assert_array_equal(check_items([[True, False], [False, False]]), [[1, 0], [0, 0]])


def test_views_become_a_list():
    links = PairwiseConstraints([(0, 1)], [True], n_items=3)
    triplets = RelativeConstraints([(0, 1, 2)], ["yes"], n_items=3)
    assert check_constraints(None, 3) == []
    assert check_constraints(links, 3) == [links]
    assert check_constraints((links, triplets), 3) == [links, triplets]


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
