"""Kinds and steps of columns that are known, and recorded values moved within their steps."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesclust as bc
from bayesclust.families import dequantize
from bayesclust.families.columns import describe_column, describe_columns, recording_step


@pytest.mark.parametrize(("unit", "shift"), [(1.0, -3.7), (0.01, 0.0), (1 / 3, 1e4), (2.54e5, 1e4)])
def test_step_is_that_of_recording(rng, unit, shift):
    x = np.unique((rng.integers(0, 5000, size=200) + shift / unit) * unit)
    assert recording_step(x) == pytest.approx(unit, rel=1e-4)


def test_step_is_found_where_no_gap_shows_it(rng):
    # gaps of 2 and 3 steps
    assert recording_step(np.cumsum([0.0, 0.2, 0.3, 0.2, 0.3, 0.3])) == pytest.approx(0.1)
    single = np.unique(np.float32(rng.integers(0, 3000, size=150) / 100 + 70).astype(np.float64))
    assert recording_step(single) == pytest.approx(0.01, rel=1e-3)


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


def test_missing_cells_are_left_out():
    x = np.array([0.0, 1.0, np.nan, 0.0])
    assert describe_column(x)[:4] == ("binary", 2, 0.0, pytest.approx(2 / 3))
    assert describe_column(np.full(3, np.nan)).kind == "constant"


def test_values_apart_by_floating_error_are_one():
    x = np.r_[np.full(20, 0.3), np.full(10, 0.1 + 0.2), np.full(5, 0.9)]
    assert describe_column(x)[:2] == ("binary", 2)


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_rounded_measurements_are_fine(name):
    table = describe_columns(bc.datasets.load(name).X)
    assert set(table["kind"]) == {"continuous"}
    assert set(table["finding"]) == {"fine"}


def test_values_are_uniform_within_their_steps(rng):
    X = np.round(rng.normal(size=(3000, 1)) * 3) * 0.2
    moved = (dequantize(X, seed=1) - X)[:, 0] / 0.2
    assert stats.kstest(moved, stats.uniform(-0.5, 1).cdf).pvalue > 0.01
    # nor do they depend on the value
    ties = [moved[X[:, 0] == value] for value in np.unique(X) if (X[:, 0] == value).sum() >= 100]
    assert len(ties) > 5
    np.testing.assert_allclose([own.var() * 12 for own in ties], 1.0, atol=0.03)


def test_values_that_are_no_measurements_stay(rng):
    n = 300
    table = np.column_stack(
        [
            np.round(rng.normal(size=n), 1),
            np.where(rng.random(n) < 0.4, 0.0, np.round(rng.normal(9, 1, size=n), 1)),
            rng.poisson(5, size=n),
            rng.random(n) < 0.5,
            rng.normal(size=n),
        ]
    )
    table[3] = np.nan
    moved = dequantize(table)
    assert np.array_equal(np.isnan(moved), np.isnan(table))
    changed = (moved != table) & ~np.isnan(table)
    assert changed.sum(axis=0).tolist() == [n - 1, (table[:, 1] > 0).sum(), 0, 0, 0]
    np.testing.assert_array_equal(moved, dequantize(table))
    assert (dequantize(table, seed=1)[:, 0] != moved[:, 0])[np.arange(n) != 3].all()
