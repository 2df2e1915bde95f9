"""TVClust's tables: answers, plans, means by hand, the paper's numbers, and figures."""

import numpy as np
import pytest

from experiments import figures, frame, sources, tvclust
from experiments.tvclust import MEAN, MEAN_WITH_ID, Cell, Plan, tables

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
    links = tvclust.answers(CELL, sources.load("iris").y)
    assert links.items[:4].tolist() == [[15, 26], [24, 87], [31, 116], [83, 103]]
    assert links.answers[:12].tolist() == [1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1]
    assert (len(links), links.answers.sum()) == (659, 229)


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
    panel = axes[4 * plan.shapes.index("two_spirals") + 2]
    best = cells[(cells.method == "rdp-means") & (cells.data == "two_spirals")]
    assert panel.get_xlabel() == f"F {best.f.max():.2f} (mean {best.f.mean():.2f})"
    drawn = figures.save(tvclust.draw(cells, tables(cells, plan), plan), tmp_path)
    assert len(drawn) == 6
    lines = list(tvclust.report(cells, tables(cells, plan), plan))
    heads, *rows = (
        [cell.strip() for cell in line.split("|")]
        for line in lines[lines.index(f"## {tvclust.FIGURES[2]}\n") + 1 :]
    )
    means = next(row for row in rows if row[1] == "RDP-means")
    assert means[heads.index("two spirals")] == f"{best.f.mean():.3f}"
    at = lines.index(f"## {tvclust.FIGURES[3]}\n")
    assert lines[at + 1].startswith("| iris, k = 3 | -3 | -2 |"), lines[at + 1]
