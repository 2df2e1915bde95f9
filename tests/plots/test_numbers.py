import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesclust as bc


def test_bars_are_shares_of_all_draws_and_marks_those_of_chains(posterior):
    ax = bc.plots.n_clusters(posterior)
    numbers = posterior["posterior"]["n_clusters"].values
    values = np.arange(numbers.min(), numbers.max() + 1)
    middles = [bar.get_x() + bar.get_width() / 2 for bar in ax.patches]
    np.testing.assert_allclose(middles, values)
    np.testing.assert_allclose(
        [bar.get_height() for bar in ax.patches], [(numbers == k).mean() for k in values]
    )
    marks = {line.get_label(): line for line in ax.lines}
    for chain, own in enumerate(numbers):
        line = marks[f"chain {chain}"]
        np.testing.assert_allclose(line.get_ydata(), [(own == k).mean() for k in values])
        np.testing.assert_array_equal(np.round(line.get_xdata()), values)
    estimate = bc.point_estimate(posterior).max() + 1
    assert marks[f"point estimate: {estimate}"].get_xdata()[0] == estimate


def test_a_partition_given_is_counted():
    ax = bc.plots.n_clusters([[0, 1, 2], [0, 0, 1]], labels=[4, 4, 4])
    assert ax.lines[-1].get_label() == "partition given: 1"
    low, high = ax.get_xlim()
    assert low < 1 < 3 < high


def test_one_draw_and_axes_given():
    figure, (first, second) = plt.subplots(1, 2)
    assert bc.plots.n_clusters([[0, 0, 1]], ax=first) is first
    assert [bar.get_height() for bar in first.patches] == [1]
    assert plt.get_fignums() == [figure.number]
    assert not second.patches


def test_labels_of_other_items_are_refused():
    with pytest.raises(ValueError, match="labels has 2 items, but the posterior has 3"):
        bc.plots.n_clusters([[0, 0, 1]], labels=[0, 1])
