"""DCRC's figures and tables: answers, how settings are chosen, plans, and tables."""

import re

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from experiments import dcrc, figures, frame, sources
from experiments.dcrc import Cell, Method, Plan, ask, choose

EXPERIMENT = frame.Experiment(dcrc)
PLAN = Plan.of(data=("iris",), fractions=(0.1, 0.2), trials=3, asked_regions=60)


@pytest.fixture(scope="module")
def cells(scored):
    """Random scores, and for the confusion matrices learned the paper's, shifted."""

    def shifted(cell):
        shift = 0.01 * (1 + cell.trial) * np.array([[-1, 1, 0], [0, 0, 0], [0, 0, 0]])
        return " ".join(f"{p:.4f}" for p in (dcrc.rates(dcrc.TABLE_IV) + shift).ravel())

    return scored(EXPERIMENT, PLAN.cells(), confusion=shifted)


@pytest.fixture(scope="module")
def entries(cells):
    return dcrc.tables(cells, PLAN)


def test_answers_are_those_of_earlier_releases():
    """The seed of a cell's answers is what it was when the numbers in the results were measured."""
    balance = sources.load("balance")
    rng = np.random.default_rng([0, 3, 2, 150])
    expected = bc.RelativeConstraints.sample(balance.y, size=94, error_rate=0.0, seed=rng)
    cell = Cell(0, "dcrc", "balance", "right", 0.15, 94, 3)
    found = ask(balance, "right", 94, dcrc.words_of(cell))
    np.testing.assert_array_equal(found.items, expected.items)
    np.testing.assert_array_equal(found.answers, found.truths(balance.y))


@pytest.mark.parametrize(
    ("kind", "table"),
    [("people", dcrc.TABLE_IV), ("people-pairs", dcrc.TABLE_IV_PAIRS[::-1, ::-1])],
)
def test_people_err_as_in_table_iv(kind, table):
    """Code 1 of pairs is "together", which the table has first."""
    y = np.random.default_rng(0).integers(3, size=625)
    items = bc.datasets.Dataset(np.zeros((625, 1)), y, ("a",), ("0", "1", "2"), "")
    given = ask(items, kind, 30_000, [1])
    counts = np.zeros(table.shape)
    np.add.at(counts, (given.truths(y).astype(int), given.answers), 1)
    numbers, expected = counts.sum(axis=1, keepdims=True), dcrc.rates(table)
    error = np.sqrt(expected * (1 - expected) / numbers)
    assert (np.abs(counts / numbers - expected) < 4 * error).all()


def test_settings_are_chosen_by_answers_that_were_held_out():
    """Labels are right under one setting alone; no answer that scores a fit was used by it."""
    data = sources.load("fuzzy")
    given = ask(data, "right", 120, [5])
    fits = []

    def fit(X, constraints, n_clusters, seed, *, right, n_init):
        fits.append({tuple(row) for row in constraints.items.tolist()})
        return data.y if right else np.random.default_rng(seed).permutation(data.y)

    grid = {"right": 0}, {"right": 1}, {"right": 0}
    method = Method("", fit, uses="yes and no", grid=grid)
    assert choose(method, data.X, given, 3, 7) == {"right": 1}
    told = {tuple(row) for row in given.items[given.answers < 2].tolist()}
    held = [told - rows for rows in fits[::3]]
    assert (len(fits), set.union(*held)) == (15, told)
    few = bc.RelativeConstraints([(0, 1, 2)] * 9, ["yes"] * 9, n_items=3)
    assert choose(method, np.eye(3), few, 2, 0) == {"right": 1}


@pytest.mark.parametrize("name", ["dcrc", "itml", "lsml", "sssvad", "sparse-lp", "mmc"])
def test_methods_are_scored(name):
    row = dcrc.run(Cell(0, name, "separate", "right", 0.0, 40, 0))
    assert set(row) == set(dcrc.SCORES)
    assert row["f"] > 0.9
    assert np.isnan(row["predicted_f"]) == (name != "dcrc")


def test_entries_are_means_with_intervals_of_students_t(cells, entries):
    assert len(entries) == len({cell[:-1] for cell in PLAN.cells()})
    mine = cells[(cells.method == "itml") & (cells.fraction == 0.2)]
    found = entries[(entries.method == "itml") & (entries.fraction == 0.2)].squeeze()
    assert found.f == pytest.approx(mine.f.mean(), abs=1e-4)
    # the 97.5% point of Student's t with two degrees of freedom
    assert found.f_error == pytest.approx(4.302653 * mine.f.std(ddof=1) / np.sqrt(3), abs=2e-3)
    published = entries.dropna(subset="paper_f")
    assert len(published) == len(dcrc.TABLE_V)
    other = cells.assign(fraction=cells.fraction + 0.5)
    both = pd.concat([cells, other[other.fraction > 0.5]])
    pd.testing.assert_frame_equal(dcrc.tables(both, PLAN), entries)


def test_the_report_and_the_figures_have_every_part(cells, entries, tmp_path, monkeypatch):
    text = "\n".join(dcrc.report(cells, entries, PLAN))
    for part in ("Figure 4", "Figure 5", "Figure 6", "Figure 7", "Table IV", "Table V", "Time"):
        assert f"## {part}" in text
    table = dcrc.by_fraction(entries, ("iris",), PLAN.methods_4, PLAN.fractions)
    line = next(line for line in text.splitlines() if line.startswith("| iris | 0.2 n |"))
    width = dcrc.by_fraction(entries, ("iris",), ("dcrc",), (0.2,), "f_error").dcrc["iris", 0.2]
    assert line.split("|")[4].strip() == f"{table.dcrc['iris', 0.2]:.3f} ± {width:.3f}"
    mean = cells[(cells.method == "kmeans") & cells.data.isin(PLAN.data_4)].nmi.mean()
    (nmi,) = (line for line in text.splitlines() if line.startswith("| all | mean NMI |"))
    assert float(nmi.split("|")[3]) == pytest.approx(mean, abs=1e-3)
    assert re.search(r"\| Xing \| 225 pairs \| 0\.\d{3} ± 0\.\d{3} \| 0\.64 ± 0\.03 \|", text)
    # matrices are shifted by .01, .02 and .03
    ((*_, error, trials), *_) = dcrc.confusions(cells, PLAN)
    assert (error, trials) == (pytest.approx(0.02, abs=1e-3), 3)
    monkeypatch.setattr(dcrc, "regions", lambda plan: None)
    drawn = figures.save(dcrc.draw(cells, entries, PLAN), tmp_path)
    assert {path.stem for path in drawn} == {"figure2", "figure4", "figure6", "figure7"}
