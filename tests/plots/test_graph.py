import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree

SOLID = (0.0, None)


def lines_of(ax):
    """Every line drawn: its ends, its credibility, and whether it is solid, dashed or dotted."""
    found = []
    for part in ax.collections:
        if isinstance(part, LineCollection):
            _, dashes = part.get_linestyle()[0]
            style = (
                "solid"
                if dashes is None
                else "dashed"
                if dashes[0] > 2 * dashes[1] / 1.2
                else "dotted"
            )
            for segment, value in zip(part.get_segments(), part.get_array(), strict=True):
                found.append(
                    (
                        tuple(map(tuple, np.round(segment, 9).tolist())),
                        round(float(value), 9),
                        style,
                    )
                )
    return sorted(found)


def expected_lines(posterior, X, table):
    styles = {
        "same": [("j", "solid")],
        "different": [("j", "dashed")],
        "yes": [("j", "solid"), ("k", "dashed")],
        "no": [("k", "solid"), ("j", "dashed")],
        "dnk": [("j", "dotted"), ("k", "dotted")],
    }
    found = []
    for row in table.to_dict("records"):
        for other, style in styles[row["answer"]]:
            ends = (
                tuple(np.round(X[row["i"]], 9).tolist()),
                tuple(np.round(X[row[other]], 9).tolist()),
            )
            found.append((ends, round(row["credibility"], 9), style))
    return sorted(found)


def test_every_answer_is_drawn_between_its_items(posterior):
    X = posterior["observed_data"]["X"].values
    ax = bc.plots.constraint_graph(posterior)
    table = bc.constraint_credibility(posterior)
    assert set(table["answer"]) == {"same", "different", "yes", "no", "dnk"}
    assert lines_of(ax) == expected_lines(posterior, X, table)
    np.testing.assert_array_equal(ax.collections[-1].get_offsets(), X)
    doubted = (table["credibility"] < 0.5).sum()
    assert ax.get_title(loc="left") == f"110 answers, {doubted} doubted"


def test_doubted_answers_lie_on_top(posterior):
    ax = bc.plots.constraint_graph(posterior)
    values = [part.get_array() for part in ax.collections if isinstance(part, LineCollection)]
    halves = ["doubted" if (value < 0.5).all() else "believed" for value in values]
    assert all(
        (value >= 0.5).all()
        for value, half in zip(values, halves, strict=True)
        if half == "believed"
    )
    assert halves == sorted(halves)
    assert set(halves) == {"believed", "doubted"}


def test_some_answers_can_be_left_out(posterior):
    table = bc.constraint_credibility(posterior)
    shown = table[table["credibility"] <= 0.4]
    ax = bc.plots.constraint_graph(posterior, below=0.4)
    assert lines_of(ax) == expected_lines(posterior, posterior["observed_data"]["X"].values, shown)
    assert f"shown: {len(shown)} of at most 0.4" in ax.get_title(loc="left")


def test_colours_run_from_vermilion_to_blue():
    links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    tree = to_datatree({"z": [[[0, 0, 1]]]}, X=[[0, 0], [1, 0], [2, 0]], constraints=[links])
    ax = bc.plots.constraint_graph(tree)
    ax.figure.canvas.draw()
    believed, doubted = ax.collections[:2]
    np.testing.assert_allclose(believed.get_edgecolor()[0][:3], to_rgb("#0072B2"), atol=0.01)
    np.testing.assert_allclose(doubted.get_edgecolor()[0][:3], to_rgb("#D55E00"), atol=0.01)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["said to be together"]


def test_many_lines_are_thin_and_pale():
    z = np.repeat(np.arange(5), 40)
    links = bc.PairwiseConstraints.sample(z, size=3000, seed=0)
    tree = to_datatree(
        {"z": z[None, None]}, X=np.random.default_rng(0).normal(size=(200, 2)), constraints=[links]
    )
    lines = [
        part
        for part in bc.plots.constraint_graph(tree).collections
        if isinstance(part, LineCollection)
    ]
    assert all(part.get_linewidth()[0] < 0.6 and part.get_alpha() < 0.3 for part in lines)


def test_what_does_not_fit_is_refused(posterior):
    with pytest.raises(ValueError, match="below"):
        bc.plots.constraint_graph(posterior, below=0)
    with pytest.raises(ValueError, match="constant_data"):
        bc.plots.constraint_graph(to_datatree({"z": [[[0, 1]]]}, X=[[0, 0], [1, 1]]))
    assert plt.get_fignums() == []
