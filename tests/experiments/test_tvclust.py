"""TVClust's tables: answers, plans, means by hand, the paper's numbers, and figures."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from experiments import figures, frame, sources, tvclust
from experiments.tvclust import MEAN, MEAN_WITH_ID, METHODS, Cell, Plan, tables

EXPERIMENT = frame.Experiment(tvclust)
PLAN = Plan(methods=("kmeans", "rdp-means"), figures=(), trials=2)
CELL = Cell(3, "rdp-means", "iris", "ordered", 0.03, 0.9, 0, 2)


@pytest.fixture(scope="module")
def cells(scored):
    return scored(EXPERIMENT, PLAN.cells())


def entry(entries, table, method, column, sampling="ordered", glass="glass"):
    mine = (entries.table == table) & (entries.method == method) & (entries.column == column)
    return entries[mine & (entries.sampling == sampling) & (entries.glass == glass)].squeeze()


def mean(cells, **settings):
    for name, value in settings.items():
        cells = cells[cells[name].isin(value if isinstance(value, list) else [value])]
    return pytest.approx(float(cells.f.mean()), abs=1e-6)


def test_answers_are_those_of_earlier_releases():
    """The seed of a cell's answers is what it was when the numbers in the results were measured."""
    y = sources.load("iris").y
    seed = np.random.default_rng([3, 2, 0, 30, 900])
    settings = {"fraction": 0.03, "error_rate": 0.1, "ordered": True}
    expected = bc.PairwiseConstraints.sample(y, **settings, seed=seed)
    links = tvclust.answers(CELL, y)
    np.testing.assert_array_equal(links.items, expected.items)
    np.testing.assert_array_equal(links.answers, expected.answers)


def test_trials_differ_and_the_row_id_of_glass_changes_no_answer():
    y = sources.load("glass").y
    changes = ({"data": "glass"}, {"data": "glass", "trial": 0}, {"data": "glass_with_id"})
    first, second, leaky = (tvclust.answers(CELL._replace(**change), y) for change in changes)
    np.testing.assert_array_equal(first.items, leaky.items)
    assert not np.array_equal(first.items, second.items)


def test_the_grid_is_the_papers():
    found = Plan(methods=("rdp-means",), tables=(1, 2, 3), figures=()).cells()
    assert len(found) == len(set(found)) == 2 * 6 * 12 * 5
    sets = (*sources.UCI, sources.WITH_ID)
    assert Counter(cell.data for cell in found) == dict.fromkeys(sets, 120)
    rest = Plan(methods=("kmeans",), tables=(4,), figures=(2, 4), trials=2).cells()
    assert {cell.data for cell in rest} == {*sources.SHAPES, *sources.COUNTS}
    assert {cell.method for cell in rest} == {"kmeans", *tvclust.COUNT_METHODS}


def test_deviations_keep_at_least_the_clusters_that_a_method_needs():
    names = ("kmeans", "lcvqe", "rdp-means")
    found = Plan(methods=names, tables=(), figures=(3,), trials=1).cells()

    def told(name):
        mine = [cell for cell in found if (cell.method, cell.data) == (name, "iris")]
        return sorted(3 - cell.deviation for cell in mine)

    assert told("kmeans") == [1, 2, 3, 4, 5, 6]
    assert told("lcvqe") == [2, 3, 4, 5, 6]
    assert told("rdp-means") == [3]


def test_quick_leaves_out_what_is_slow_unless_asked_for():
    assert not any(METHODS[name].slow for name in Plan.of(quick=True).methods)
    plan = Plan.of(quick=True, methods=("collapsed",), trials=4, tables=(2,))
    assert (plan.methods, plan.trials, plan.fractions) == (("collapsed",), 4, (0.03,))
    assert (plan.tables, plan.figures) == ((2,), ())


def test_means_are_over_what_the_table_says(cells):
    entries = tables(cells, PLAN)
    mine = {"method": "rdp-means", "sampling": "unordered", "deviation": 0}
    leaky = ["iris", "wine", "ecoli", sources.WITH_ID, "balance"]
    where = ("rdp-means", "unordered", sources.WITH_ID)

    def found(table, column, glass="glass"):
        return entry(entries, table, "rdp-means", column, "unordered", glass)

    assert found(1, "wine").f == mean(cells, **mine, data="wine")
    assert found(1, MEAN).f == mean(cells, **mine, data=list(sources.UCI))
    assert found(1, MEAN_WITH_ID, where[2]).f == mean(cells, **mine, data=leaky)
    settings = {**mine, "data": leaky, "accuracy": 0.8, "fraction": 0.03}
    third = found(3, "r = 0.03, p = 0.8", where[2])
    assert third.f == mean(cells, **settings)
    a, b = (mean(cells, **settings, trial=trial).expected for trial in (0, 1))
    assert third.f_error == pytest.approx(abs(a - b) / 2, abs=1e-6)


def test_methods_without_answers_are_the_same_everywhere(cells):
    entries = tables(cells, PLAN)
    expected = mean(cells, method="kmeans", data=list(sources.UCI), sampling="none")
    for sampling in PLAN.samplings:
        assert entry(entries, 1, "kmeans", MEAN, sampling).f == expected
        assert entry(entries, 3, "kmeans", "r = 0.05, p = 1", sampling).f == expected


def test_the_papers_numbers_stand_where_its_data_and_draws_are_ours(cells):
    entries = tables(cells, PLAN)
    leaky = {"glass": sources.WITH_ID}
    assert entry(entries, 1, "rdp-means", "iris").paper_f == 0.86
    assert entry(entries, 1, "rdp-means", sources.WITH_ID, **leaky).paper_f == 0.82
    assert entry(entries, 1, "rdp-means", MEAN_WITH_ID, **leaky).paper_f == 0.87
    assert entry(entries, 3, "rdp-means", "r = 0.01, p = 0.8", **leaky).paper_f == 0.56
    fewer = tables(cells, Plan(methods=PLAN.methods, fractions=(0.01, 0.03), trials=2))
    assert np.isnan(entry(fewer, 1, "rdp-means", "iris").paper_f)
    for table, column in ((1, "glass"), (1, MEAN), (2, "p = 0.9")):
        assert np.isnan(entry(entries, table, "rdp-means", column).paper_f)


def test_what_is_partly_done_is_left_out(cells):
    gone = (cells.method == "rdp-means") & (cells.data == "wine") & (cells.fraction == 0.05)
    entries = tables(cells[~gone], PLAN)
    assert entry(entries, 1, "rdp-means", "wine").empty
    assert entry(entries, 3, "rdp-means", "r = 0.05, p = 1").empty
    assert not entry(entries, 3, "rdp-means", "r = 0.03, p = 1").empty


def test_settings_weigh_the_same_however_many_trials_are_done(cells):
    gone = (cells.method == "rdp-means") & (cells.accuracy == 0.8) & (cells.trial == 1)
    entries = tables(cells[~gone], PLAN)
    found = entry(entries, 1, "rdp-means", "wine")
    mine = {"method": "rdp-means", "sampling": "ordered", "deviation": 0, "data": "wine"}
    rest = [mean(cells, **mine, accuracy=p).expected for p in (1.0, 0.95, 0.9)]
    last = mean(cells, **mine, accuracy=0.8, trial=0).expected
    assert found.f == pytest.approx(np.mean([*rest, last]), abs=1e-6)
    assert "| RDP-means (1 draw) |" in "\n".join(tvclust.report(cells, entries, PLAN))


def test_the_report_sets_ours_beside_the_papers(cells):
    entries = tables(cells, PLAN)
    text = "\n".join(tvclust.report(cells, entries, PLAN))
    f = entry(entries, 1, "rdp-means", "iris").f
    assert f"| RDP-means | {f:.3f} (0.86) | " in text
    third = entry(entries, 3, "rdp-means", "r = 0.05, p = 0.9").f
    row = rf"^r = 0\.05:\n\n.*p = 0\.9.*\n.*\n.*\n\| RDP-means (?:\| \S+ ){{2}}\| {third:.3f} \| "
    assert re.search(row, text, re.M)


@pytest.mark.parametrize("method", tvclust.ROWS)
def test_means_of_one_printed_table_are_entries_of_another(method):
    """To the rounding of the numbers averaged and of their mean."""
    by_set = [tvclust.TABLE_1[method, name] for name in sources.UCI]
    whole = tvclust.TABLE_1[method, MEAN_WITH_ID]
    assert np.mean(by_set) == pytest.approx(whole, abs=0.0101)
    for p in tvclust.ACCURACIES:
        over_r = np.mean([tvclust.TABLE_3[r][method, p] for r in tvclust.FRACTIONS])
        assert over_r == pytest.approx(tvclust.TABLE_2[method, p], abs=0.0101)
    over_p = np.mean([tvclust.TABLE_2[method, p] for p in tvclust.ACCURACIES])
    assert over_p == pytest.approx(whole, abs=0.0101)


def test_figures_go_through_the_means(scored, tmp_path):
    plan = Plan(methods=("kmeans", "rdp-means", "rdp-means-k"), data=("iris",), trials=2)

    def moved(cell):
        y = sources.load(cell.data).y.copy()
        y[cell.trial] = (y[cell.trial] + 1) % (y.max() + 1)
        return " ".join(map(str, y)) if cell.data in sources.SHAPES else ""

    cells = scored(EXPERIMENT, plan.cells(), labels=moved)
    told = tvclust._told_wrong(cells, plan)
    mine = cells[(cells.method == "rdp-means-k") & (cells.data == "iris")]
    mine = mine[(mine.fraction == 0.03) & (mine.sampling == "ordered") & (mine.accuracy == 1)]
    drawn = told[told.line == "RDP-means [k]"]
    assert drawn["mean"].tolist() == pytest.approx(mine.groupby("deviation").f.mean().tolist())
    assert told[told.line == "RDP-means"].x.isna().all()
    more = tvclust._more_answers(cells, plan)
    kl = more[(more.line == "RDP-means, multinomial") & (more.panel == "digits")]
    assert kl.x.tolist() == pytest.approx([100 * r for r in plan.rates])
    (axes,) = (tvclust.shapes(cells, plan).axes,)
    panel = axes[4 * plan.shapes.index("spirals") + 2]
    best = cells[(cells.method == "rdp-means") & (cells.data == "spirals")]
    assert panel.get_xlabel() == f"F {best.f.max():.2f} (mean {best.f.mean():.2f})"
    drawn = figures.save(tvclust.draw(cells, tables(cells, plan), plan), tmp_path)
    assert len(drawn) == 6


def test_curves_are_drawn_as_the_table_says():
    rows = [("a", "one", 1.0, 0.5, 0.1), ("a", "one", 2.0, 0.7, np.nan)]
    rows += [("a", "two", np.nan, 0.4, 0)]
    table = pd.DataFrame(rows, columns=["panel", "line", "x", "mean", "error"])
    (ax,) = figures.curves(table, "title", "x").axes
    lines = [np.asarray(line.get_ydata(), float).tolist() for line in ax.get_lines()]
    assert [0.5, 0.7] in lines
    assert [0.4, 0.4] in lines
    assert figures.curves(table.iloc[:0], "title", "x") is None


def test_clusters_take_the_colour_of_the_class_they_share_most_with():
    y = np.repeat([0, 1, 2], 10)
    labels = np.repeat([1, 2, 3, 0], [10, 6, 4, 10])
    expected = np.repeat([0, 1, 3, 2], [10, 6, 4, 10])
    np.testing.assert_array_equal(figures.in_colours_of(labels, y), expected)
