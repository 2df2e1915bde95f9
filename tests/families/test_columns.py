"""Kinds of columns that are known."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.families.columns import describe_column, describe_columns, read_words


def columns(rng, n=400):
    z = rng.integers(3, size=n)
    normal = 5 * z + rng.normal(size=n)
    return {
        "continuous": normal,
        "inflated": np.where(rng.random(n) < 0.3, 0.0, normal),
        "counts": rng.poisson(1 + 4 * z).astype(float),
        "categorical": rng.choice([1.0, 2.5, 7.0, 8.0], size=n),
        "binary": (rng.random(n) < 0.3).astype(float),
        "nearly constant": np.where(np.arange(n) % 25 == 0, normal, 0.5),
        "constant": np.full(n, 3.3),
    }


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_column_is_found(seed):
    made = columns(np.random.default_rng(seed))
    table = describe_columns(pd.DataFrame(made))
    assert table["kind"].to_dict() == {name: name for name in made}
    tied = {"inflated", "binary", "nearly constant"}
    assert set(table.index[table["finding"] != "fine"]) == tied
    moved = describe_columns(pd.DataFrame({name: 1e3 - 7 * x for name, x in made.items()}))
    # of counts, only the numbers themselves tell that they are counts
    assert (moved["kind"] == table["kind"])[[name for name in made if name != "counts"]].all()


def test_atoms_are_values_that_stand_out(rng):
    x = rng.normal(size=300).clip(-1, 1)
    clipped = describe_column(x)
    assert clipped.kind == "inflated"
    assert set(clipped.atoms) == {-1.0, 1.0}
    assert clipped.ties == (np.abs(x) == 1).sum()
    # zeros that mean missing: too few to be the most frequent value, and far from all others
    pressure = np.r_[np.zeros(20), np.round(rng.normal(70, 12, size=700))]
    assert describe_column(pressure).atoms == (0.0,)


def test_rounding_errors_are_no_values():
    x = np.array([0.1, 0.1 + 1e-15, 0.1, 0.1 - 1e-15] * 9)
    assert describe_column(x).kind == "constant"
    assert len(np.unique(x)) > 1


def test_categories_keep_their_order_and_words_may_be_dates():
    days = pd.to_datetime(["2020-01-01", "2021-05-01"] * 4)
    sizes = pd.Categorical(["small", "large"] * 4, ["small", "medium", "large"])
    frame = pd.DataFrame({"day": pd.Categorical(days), "size": sizes, "n": [2, 10] * 4})
    coded, words = read_words(frame.astype({"n": "category"}))
    assert list(words.values())[1:] == [["small", "large"], ["2", "10"]]
    assert (coded.iloc[:, :] == np.tile([0.0, 1.0], 4)[:, None]).all(axis=None)


def test_words_may_all_be_missing_and_are_not_mixed_with_numbers():
    words = pd.DataFrame({"word": pd.array(["a", "b", None], dtype="string")})
    _, known = read_words(words)
    coded, _ = read_words(words[2:], known)
    assert np.isnan(coded.to_numpy(float)).all()
    with pytest.raises(TypeError, match=r"^X mixes words and numbers in column 'c': convert it"):
        read_words(pd.DataFrame({"c": ["a", 1, None]}))


def test_missing_cells_are_left_out():
    x = np.array([0.0, 1.0, np.nan, 0.0])
    assert describe_column(x)[:4] == ("binary", 2, 0.0, pytest.approx(2 / 3))
    assert describe_column(np.full(3, np.nan)).kind == "constant"


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_rounded_measurements_are_fine(name):
    table = describe_columns(bc.datasets.load(name).X)
    assert set(table["kind"]) == {"continuous"}
    assert set(table["finding"]) == {"fine"}
