"""The figures: what is drawn is what the cells say."""

import numpy as np
import pandas as pd
import pytest

from experiments.reproduce import sources
from experiments.reproduce.drawing import in_colours_of
from experiments.reproduce.tvclust import Plan, figures, paper
from experiments.reproduce.tvclust.cells import KINDS
from experiments.reproduce.tvclust.drawn_tables import by_data, by_noise
from experiments.reproduce.tvclust.methods import METHODS
from experiments.reproduce.tvclust.styles import styles, title
from experiments.reproduce.tvclust.tables import tables

PLAN = Plan(
    methods=("kmeans", "rdp-means", "rdp-means-k"),
    data=("iris", "glass", "glass_with_id"),
    trials=2,
)


@pytest.fixture(scope="module")
def frame(scored):
    return scored(PLAN.cells())


def lines_of(ax):
    return {tuple(np.round(line.get_ydata(), 6)) for line in ax.get_lines()}


def mean_f(frame, by, **settings):
    for name, value in settings.items():
        frame = frame[frame[name] == value]
    return tuple(frame.groupby(by).f.mean().round(6))


def test_figure_2_shows_the_best_trial_of_each_method(frame):
    figure = figures.shapes(frame, PLAN)
    panels = np.reshape(figure.axes, (len(PLAN.shapes), 4))
    assert [ax.get_title() for ax in panels[0]] == [
        "classes",
        "k-means [k]",
        "RDP-means",
        "RDP-means [k]",
    ]
    mine = frame[(frame.method == "rdp-means") & (frame.data == "spirals")]
    ax = panels[PLAN.shapes.index("spirals"), 2]
    assert ax.get_xlabel() == f"F {mine.f.max():.2f}  (mean {mine.f.mean():.2f})"
    colours = [
        panels[PLAN.shapes.index("spirals"), column].collections[0].get_facecolors()
        for column in (0, 2)
    ]
    # all items but the one that was moved have the colour of their class
    differs = np.flatnonzero((colours[0] != colours[1]).any(axis=1))
    assert differs.tolist() == [mine.trial[mine.f.idxmax()]]


def test_clusters_take_the_colour_of_the_class_they_share_most_with():
    y = np.repeat([0, 1, 2], 10)
    labels = np.concatenate([np.full(10, 1), np.full(6, 2), np.full(4, 3), np.full(10, 0)])
    np.testing.assert_array_equal(in_colours_of(labels, y), [0] * 10 + [1] * 6 + [3] * 4 + [2] * 10)
    np.testing.assert_array_equal(in_colours_of(np.zeros(30, dtype=int), y)[:1], [0])


def test_figure_3_has_a_curve_where_k_is_told_and_a_level_where_not(frame):
    figure = figures.deviations(frame, PLAN)
    assert [ax.get_title() for ax in figure.axes] == ["iris, k = 3", "glass, k = 6"]
    clean = {"sampling": "ordered", "fraction": 0.03, "accuracy": 1.0, "data": "glass"}
    drawn = lines_of(figure.axes[1])
    assert mean_f(frame, "deviation", method="rdp-means-k", **clean) in drawn
    assert mean_f(frame, "deviation", method="kmeans", data="glass") in drawn
    (level,) = mean_f(frame, "deviation", method="rdp-means", **clean)
    assert (level, level) in drawn


def test_figure_4_goes_through_the_rates(frame):
    figure = figures.rates(frame, PLAN)
    for ax, data in zip(figure.axes, sources.COUNTS, strict=True):
        expected = mean_f(frame, "fraction", method="rdp-means-multinomial", data=data)
        assert len(expected) == len(PLAN.rates)
        assert expected in lines_of(ax)
        (level,) = mean_f(frame, "fraction", method="kmeans-multinomial", data=data)
        assert (level, level) in lines_of(ax)


def test_tables_are_drawn_with_the_papers_numbers():
    plan = Plan(methods=("kmeans", "rdp-means"), tables=(1, 3), figures=(), trials=1)
    entries = tables(_all_one_half(plan), plan)
    figure = by_data(entries, plan)
    by_title = {ax.get_title(): ax for ax in figure.axes}
    assert len(by_title) == 8
    crosses = [
        line.get_xdata()[0] for line in by_title["iris"].get_lines() if line.get_marker() == "x"
    ]
    assert [x for x in crosses if not np.isnan(x)] == [0.81, 0.86]
    assert all(
        np.isnan(line.get_xdata()[0])
        for line in by_title["glass"].get_lines()
        if line.get_marker() == "x"
    )
    figure = by_noise(entries, plan)
    ours, theirs = figure.axes[0], figure.axes[3]
    assert lines_of(ours) == {(0.5, 0.5, 0.5, 0.5)}
    assert tuple(paper.TABLE_3[0.01, "RDP-means", p].f for p in plan.accuracies) in lines_of(theirs)


def _all_one_half(plan):
    scores = {"f": 0.5, "rand": 0.5, "nmi": 0.5, "clusters": 3, "seconds": 1.0, "labels": ""}
    return pd.DataFrame(
        [{**cell._asdict(), **scores} for cell in plan.cells()], columns=list(KINDS)
    )


def test_nothing_done_is_nothing_drawn(frame, tmp_path):
    empty = frame.iloc[:0]
    assert figures.draw(empty, tables(empty, PLAN), PLAN, tmp_path) == []


def test_no_two_methods_look_or_are_called_alike():
    looks = [
        (look["color"], str(look["linestyle"]), look["marker"]) for look in styles(METHODS).values()
    ]
    assert len(set(looks)) == len(METHODS)
    assert len({title(method) for method in METHODS}) == len(METHODS)
