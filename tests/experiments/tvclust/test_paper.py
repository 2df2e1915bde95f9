"""The paper's numbers: some by eye, all by the sums that they must keep."""

import numpy as np
import pytest

from experiments.reproduce.tvclust import paper

ACCURACIES, FRACTIONS = (1.0, 0.95, 0.9, 0.8), (0.01, 0.03, 0.05)
SETS = ("iris", "wine", "ecoli", "glass", "balance")


def test_some_entries_as_they_are_printed():
    assert paper.TABLE_1["RDP-means", "glass"] == (0.82, 0.76, 0.73)
    assert paper.TABLE_1["TVClust (variational)", "balance"] == (0.94, 0.92, 0.91)
    assert paper.TABLE_1["LCVQE", paper.ALL] == (0.64, 0.48, 0.53)
    assert paper.TABLE_2["MPCKMeans", 0.95] == (0.46, 0.14, 0.17)
    assert paper.TABLE_2["RDP-means", 0.8] == (0.75, 0.65, 0.62)
    assert paper.TABLE_3[0.01, "RDP-means", 0.8] == (0.56, 0.39, 0.41)
    assert paper.TABLE_3[0.03, "MPCKMeans", 1.0] == (0.99, 0.99, 0.97)
    assert paper.TABLE_3[0.05, "LCVQE", 0.8] == (0.50, 0.25, 0.34)
    assert paper.TABLE_4["RDP-means", "multinomial"] == 0.44
    assert paper.TABLE_4["DP-means", "Gaussian"] == 0.18


def test_tables_are_whole():
    assert set(paper.TABLE_1) == {(m, d) for m in paper.METHODS for d in (*SETS, paper.ALL)}
    assert set(paper.TABLE_2) == {(m, p) for m in paper.METHODS for p in ACCURACIES}
    assert set(paper.TABLE_3) == {
        (r, m, p) for r in FRACTIONS for m in paper.METHODS for p in ACCURACIES
    }


@pytest.mark.parametrize("method", paper.METHODS)
def test_means_of_one_table_are_entries_of_another(method):
    """To the rounding of the numbers averaged and of their mean."""
    over_sets = np.mean([paper.TABLE_1[method, name] for name in SETS], axis=0)
    np.testing.assert_allclose(over_sets, paper.TABLE_1[method, paper.ALL], atol=0.0101)
    for p in ACCURACIES:
        over_r = np.mean([paper.TABLE_3[r, method, p] for r in FRACTIONS], axis=0)
        np.testing.assert_allclose(over_r, paper.TABLE_2[method, p], atol=0.0101)
    over_p = np.mean([paper.TABLE_2[method, p] for p in ACCURACIES], axis=0)
    np.testing.assert_allclose(over_p, paper.TABLE_1[method, paper.ALL], atol=0.0101)
