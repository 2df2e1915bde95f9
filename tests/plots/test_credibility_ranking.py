import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree, with_names


def lines_by_name(ax):
    return {line.get_label(): line for line in ax.lines}


def test_the_list_names_the_least_believed_in_order(posterior, views):
    flipped = np.concatenate([view.flipped for view in views])
    names = [f"item-{i}" for i in range(18)]
    named = with_names(posterior, items=names, sources={"links": ["ann", "bob"]})
    ax = bc.plots.credibility_ranking(named, flipped, max_listed=30)
    table = bc.constraint_credibility(posterior).assign(flipped=flipped)
    rows = table.sort_values("credibility", kind="stable").head(30)
    expected = []
    for row in rows.to_dict("records"):
        members = ", ".join(names[row[which]] for which in "ijk" if not pd.isna(row[which]))
        by = f" ({('ann', 'bob')[row['source']]})" if row["view"] == "links" else ""
        expected.append(f'{members}: "{row["answer"]}"{by}')
    assert [label.get_text() for label in ax.get_yticklabels()] == expected
    lines = lines_by_name(ax)
    np.testing.assert_array_equal(lines["the answer heard"].get_xdata(), rows["credibility"])
    np.testing.assert_array_equal(
        lines["by all the rest alone"].get_xdata(), rows["credibility_loo"]
    )
    crosses = lines["wrong in truth"]
    np.testing.assert_array_equal(crosses.get_ydata(), np.flatnonzero(rows["flipped"]))
    np.testing.assert_array_equal(crosses.get_xdata(), rows["credibility"][rows["flipped"]])
    whiskers = ax.collections[0].get_segments()
    np.testing.assert_allclose([s[1, 0] - s[0, 0] for s in whiskers], 2 * 1.96 * rows["mcse"])
    doubted = table["credibility"] < 0.5
    caught = (doubted & table["flipped"]).sum()
    assert ax.get_title(loc="left") == (
        f"The 30 least believed of 110 answers, {doubted.sum()} doubted,\n"
        f"{caught} of the {flipped.sum()} wrong ones among these"
    )


def test_many_answers_make_a_curve(posterior, views):
    flipped = np.concatenate([view.flipped for view in views])
    ax = bc.plots.credibility_ranking(posterior, flipped)
    credibility = bc.constraint_credibility(posterior)["credibility"].to_numpy()
    order = np.argsort(credibility, kind="stable")
    lines = lines_by_name(ax)
    np.testing.assert_array_equal(lines["the answer heard"].get_xdata(), np.arange(1, 111))
    np.testing.assert_array_equal(lines["the answer heard"].get_ydata(), credibility[order])
    np.testing.assert_array_equal(
        lines["wrong in truth"].get_xdata(), np.flatnonzero(flipped[order]) + 1
    )


def test_noise_that_was_not_kept_leaves_no_diamonds():
    links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, False], n_items=3)
    ax = bc.plots.credibility_ranking(
        to_datatree({"z": [[[0, 0, 1], [0, 1, 0]]]}, constraints=[links])
    )
    assert "by all the rest alone" not in lines_by_name(ax)
    assert ax.get_title(loc="left") == "2 answers, 0 doubted"


def test_long_names_are_cut_in_their_middle():
    links = bc.PairwiseConstraints([(0, 1)], [True], n_items=2)
    tree = with_names(
        to_datatree({"z": [[[0, 0]]]}, constraints=[links]), items=["a" * 30 + "1", "b"]
    )
    (label,) = bc.plots.credibility_ranking(tree).get_yticklabels()
    assert label.get_text() == 'aaaaaaa…aaaaa1, b: "same"'


@pytest.mark.parametrize("number", [None, 60])
def test_nothing_overflows(posterior, number):
    figure = bc.plots.credibility_ranking(posterior, np.arange(110) % 2, max_listed=number).figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()


def test_what_does_not_fit_is_refused(posterior):
    with pytest.raises(ValueError, match="flipped has shape"):
        bc.plots.credibility_ranking(posterior, [True])
    with pytest.raises(ValueError, match="max_listed"):
        bc.plots.credibility_ranking(posterior, max_listed=0)
    assert plt.get_fignums() == []
