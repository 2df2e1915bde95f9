"""Tables and figures: what is shown is what the cells say."""

import re

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from experiments.reproduce.dcrc import Plan, figures, paper
from experiments.reproduce.dcrc.cells import KINDS
from experiments.reproduce.dcrc.regions import entropy
from experiments.reproduce.dcrc.reports import claims, report
from experiments.reproduce.dcrc.tables import (
    confusions,
    curve,
    half_width,
    ranks,
    tables,
)

PLAN = Plan.of(data=("balance", "iris"), fractions=(0.1, 0.2), trials=3, asked_regions=60)


def scored(plan):
    """Rows of a file with random scores, and for the confusion matrices learned the paper's, shifted."""
    rng = np.random.default_rng(0)
    rows = []
    for cell in plan.cells():
        row = {**cell._asdict(), **dict.fromkeys(KINDS.keys() - set(cell._fields), 0)}
        row |= {
            name: round(rng.uniform(0.2, 1.0), 4)
            for name in ("f", "rand", "nmi", "accuracy", "predicted_accuracy")
        }
        table = paper.rates(paper.TABLE_IV) + 0.01 * (1 + cell.trial) * np.array(
            [[-1, 1, 0], [0, 0, 0], [0, 0, 0]]
        )
        row |= {
            "setting": "",
            "confusion": " ".join(f"{p:.4f}" for p in table.ravel()),
            "seconds": 1.5,
        }
        rows.append(row)
    return pd.DataFrame(rows, columns=list(KINDS)).astype(dict(KINDS))


@pytest.fixture(scope="module")
def frame():
    return scored(PLAN)


@pytest.fixture(scope="module")
def entries(frame):
    return tables(frame, PLAN)


def test_entries_are_means_with_intervals_of_students_t(frame, entries):
    assert len(entries) == len({cell[:-1] for cell in PLAN.cells()})
    mine = frame[(frame.method == "itml") & (frame.data == "iris") & (frame.fraction == 0.2)]
    (entry,) = entries[
        (entries.method == "itml") & (entries.data == "iris") & (entries.fraction == 0.2)
    ].itertuples()
    assert entry.f == pytest.approx(mine.f.mean(), abs=1e-4)
    assert entry.trials == len(mine) == 3
    # the 97.5% point of Student's t with two degrees of freedom
    assert entry.f_error == pytest.approx(4.302653 * mine.f.std(ddof=1) / np.sqrt(3), abs=2e-3)
    assert np.isnan(half_width(np.array([np.nan]), np.array([1]))).all()


def test_other_cells_of_a_file_are_left_aside(frame, entries):
    more = frame.assign(fraction=frame.fraction + 0.5, f=1.0)
    pd.testing.assert_frame_equal(
        tables(pd.concat([frame, more[more.fraction > 0.5]]), PLAN), entries
    )


def test_the_papers_numbers_stand_beside_answers_of_people(entries):
    printed = entries.dropna(subset="paper_f")
    assert len(printed) == 2 * len(paper.TABLE_V)
    (entry,) = printed[
        (printed.method == "mmc") & (printed.number == 225) & (printed.data == "iris")
    ].itertuples()
    assert (entry.paper_f, entry.paper_std) == (0.6438, 0.0282)


def test_what_hears_nothing_is_level(frame, entries):
    level = curve(entries, "balance", "kmeans", (0.1, 0.2))
    mean = frame[(frame.method == "kmeans") & (frame.data == "balance")].f.mean()
    assert level.fraction.tolist() == [0.1, 0.2]
    np.testing.assert_allclose(level.f, mean, atol=1e-4)
    without = curve(entries, "balance", "dcrc-even", (0.0, 0.1, 0.2))
    assert without.fraction.tolist() == [0.0, 0.1, 0.2]
    assert curve(entries, "balance", "dcrc-even", (0.1, 0.2)).fraction.tolist() == [0.1, 0.2]


def test_claims_are_counted():
    index = pd.MultiIndex.from_product(
        [("balance", "iris"), (0.1, 0.2)], names=["data", "fraction"]
    )
    values = {
        "kmeans": [0.5, 0.5, 0.7, 0.7],
        "dcrc": [0.8, 0.7, 0.6, 0.8],
        "dcrc-yn": [0.7, 0.8, 0.6, 0.6],
    }
    table = pd.DataFrame({**values, "itml": [0.6, 0.9, np.nan, np.nan]}, index=index)
    first, dnk, itml, falls = claims(table)
    assert "above every other method in 1 of 2 settings" in first
    assert "in 2 of 4 settings; mean gain by set balance +0.000, iris +0.100." in dnk
    assert "in 1 of 2 settings; mean gain by set balance +0.000." in itml
    assert falls.endswith("to the next: 1 times.")


def test_confusions_are_compared_with_the_papers(frame):
    table = confusions(frame, PLAN)
    assert table[["data", "number"]].values.tolist() == [
        [d, m] for d in ("balance", "iris") for m in (150, 900)
    ]
    # shifted by .01, .02 and .03
    np.testing.assert_allclose(table.error, 0.02, atol=1e-3)
    np.testing.assert_allclose(table.learned[0][1:], paper.rates(paper.TABLE_IV)[1:], atol=1e-3)


def test_the_report_has_every_part(frame, entries):
    text = report(frame, tables(frame, PLAN), PLAN)
    for part in ("Figure 4", "Figure 5", "Figure 6", "Figure 7", "Table IV", "Table V", "Time"):
        assert f"## {part}" in text
    mean = ranks(entries, PLAN).loc[("iris", 0.2), "dcrc"]
    line = next(line for line in text.splitlines() if line.startswith("| iris | 0.2 n |"))
    assert line.split("|")[4].strip() == f"{mean:.3f}"
    assert re.search(
        r"\| Xing \| 225 pairs \| 0\.\d{3} ± 0\.\d\d \| 0\.\d{3} ± 0\.\d\d \| 0\.64 ± 0\.03 \|",
        text,
    )
    assert report(frame.iloc[:0], tables(frame.iloc[:0], PLAN), PLAN) == "No cell is done yet.\n"


def lines_of(ax):
    return [tuple(np.asarray(line.get_ydata(), dtype=float).round(4)) for line in ax.get_lines()]


def test_figure_4_goes_through_the_means(entries):
    figure = figures.curves(entries, PLAN.data, PLAN.methods_4, PLAN.fractions, "Heading", {})
    assert [ax.get_title() for ax in figure.axes] == [
        "balance: 625 items, K = 3",
        "iris: 150 items, K = 3",
    ]
    drawn = lines_of(figure.axes[1])
    for method in PLAN.methods_4:
        assert tuple(curve(entries, "iris", method, PLAN.fractions).f.round(4)) in drawn
    assert "mean of 3 draws, 95% intervals from 4 draws on" in figure.get_suptitle()
    more = entries.assign(trials=4)
    figure = figures.curves(more, PLAN.data, ("dcrc",), PLAN.fractions, "Heading", {})
    bars = figure.axes[1].collections[0].get_segments()
    mine = curve(more, "iris", "dcrc", PLAN.fractions)
    np.testing.assert_allclose([np.ptp(bar[:, 1]) for bar in bars], 2 * mine.f_error)
    assert figure.get_suptitle().endswith("mean of 4 draws, with 95% intervals")
    assert figures.curves(entries, ("wine",), ("dcrc",), (0.1,), "Heading", {}) is None


def test_table_v_is_drawn_with_the_papers_numbers(entries):
    figure = figures.people(entries, PLAN)
    *ours, theirs = figure.axes
    assert [ax.get_title() for ax in figure.axes] == ["balance", "iris", "paper: syllables"]
    marked = [line.get_xdata()[0] for line in theirs.get_lines() if line.get_marker() == "x"]
    assert sorted(marked) == sorted(mean for mean, _ in paper.TABLE_V.values())
    assert len([line for line in ours[0].get_lines() if line.get_marker() == "o"]) == 13


def test_figure_2_is_what_an_answer_tells():
    (ax,) = figures.information().axes
    drawn = lines_of(ax)
    K = np.arange(2, 21)
    assert tuple(np.round(np.log(K) - (1 - 1 / K) * np.log(K - 1), 4)) in drawn
    assert tuple(np.round(2 * bc.information.triplet(K), 4)) in drawn


def test_entropy_is_scipys():
    from scipy.stats import entropy as reference

    p = np.random.default_rng(0).dirichlet(np.ones(4), size=5)
    np.testing.assert_allclose(entropy(p), reference(p, axis=1))


def test_the_papers_tables_as_printed():
    np.testing.assert_allclose(paper.TABLE_IV.sum(axis=1), [23.66, 21.33, 105.0])
    assert paper.TABLE_V["dcrc-yn-15", "people", 150] == (0.7635, 0.1067)
    np.testing.assert_allclose(
        paper.rates(paper.TABLE_IV_PAIRS), [[0.8146, 0.1854], [0.0627, 0.9373]], atol=1e-4
    )
