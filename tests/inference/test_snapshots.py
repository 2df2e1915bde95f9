"""Snapshots as text lose no bit."""

import numpy as np
import pytest

from bayesclust.inference.snapshots import from_text, to_text


@pytest.mark.parametrize(
    "value", [0.1, 2**127 + 1, np.float64(1e-300), np.int64(3), "word", None, [1, 2.5]]
)
def test_snapshots_keep_every_bit(value):
    assert from_text(to_text({"value": value})) == {"value": value}


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 2)),
        np.array(np.pi),
        np.array([[1, -2]], np.int8),
        np.array([np.nan, -0.0, np.inf]),
    ],
)
def test_snapshots_keep_arrays(array):
    found = from_text(to_text([array]))[0]
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()
    found[...] = 0  # may be written to


def test_snapshots_refuse_what_they_cannot_keep():
    with pytest.raises(TypeError, match=r"cannot hold a set"):
        to_text({"a": {1, 2}})
