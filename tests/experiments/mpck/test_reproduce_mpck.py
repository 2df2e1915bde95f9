"""The learning curves of the MPCK-Means paper: answers, cells, what is written of them."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from experiments.baselines.relevant_components import whitening
from experiments.reproduce.cells import load as load_cells
from experiments.reproduce.mpck import METHODS, Plan, cells, reproduce
from experiments.reproduce.mpck.plans import FIGURES
from experiments.reproduce.mpck.reports import CLAIMS, curves, report, verdicts


def test_answers_are_right_and_leave_the_fold_out():
    y = cells.load("iris").y
    seen = []
    for fold in range(cells.FOLDS):
        few, held_out = cells.answers(cells.Cell(0, "sd", "iris", 20, 3, fold), y)
        many, again = cells.answers(cells.Cell(0, "pck", "iris", 60, 3, fold), y)
        assert (held_out == again).all()
        assert (many.truths(y) == many.answers).all()
        assert not np.isin(many.items, held_out).any()
        assert set(map(tuple, few.items.tolist())) <= set(map(tuple, many.items.tolist()))
        assert (len(few), len(many)) == (20, 60)
        seen.append(held_out)
    assert sorted(np.concatenate(seen).tolist()) == list(range(150))


def test_a_tenth_of_the_large_sets_is_of_the_papers_size():
    for name, n in (("digits389", 318), ("letters_ijl", 227)):
        if name in bc.datasets.names(installed=True):
            assert len(cells.load(name).y) == n


def test_plans():
    plan = Plan.of(figures=(2, 8), numbers=(0, 10), trials=2)
    wanted = plan.cells()
    assert len(wanted) == len(set(wanted))
    names = {cell.method for cell in wanted}
    assert names == set(plan.of_figure(2)) | set(plan.of_figure(8))
    assert {cell.number for cell in wanted if not METHODS[cell.method].answers} == {0}
    assert [cell.trial for cell in wanted] == sorted(cell.trial for cell in wanted)
    assert set(Plan.of(quick=True).cells()) < set(Plan().cells())
    assert Plan.of(methods=("sf",)).of_figure(2) == ()
    with pytest.raises(
        ValueError, match=r"^figures has 4: choose from 2, 3, 5, 6, 7, 8, 9, 11, 12, 13\.$"
    ):
        Plan.of(figures=(4,))
    with pytest.raises(ValueError, match=r"^methods has 'best': choose from sd,"):
        Plan.of(methods=("best",))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_scored_on_all_items_and_on_those_held_out(method):
    cell = cells.Cell(0, method, "iris", 40, 0, 1)
    row = cells.run(cell)
    data = cells.load("iris")
    links, held_out = cells.answers(cell, data.y)
    labels = METHODS[method].fit(data.X, links if METHODS[method].answers else None, 3, 1)
    assert row["f"] == round(bc.metrics.pairwise_f(labels, data.y), 4)
    assert row["held_out_f"] == round(bc.metrics.pairwise_f(labels[held_out], data.y[held_out]), 4)
    assert set(row) == set(cells.KINDS)


def test_what_is_done_is_not_done_again(tmp_path):
    plan = Plan.of(figures=(2,), methods=("pck", "kmeans"), numbers=(0, 20), trials=1)
    written = reproduce(plan, tmp_path, progress=False)
    assert {path.name for path in written} == {
        "cells.csv",
        "tables.csv",
        "tables.md",
        "figure2.png",
        "figure2.svg",
    }
    first = load_cells(tmp_path / "cells.csv", cells.KINDS)
    lines = (tmp_path / "cells.csv").read_text().splitlines(keepends=True)
    (tmp_path / "cells.csv").write_text("".join(lines[:-3]))
    reproduce(plan, tmp_path, progress=False)
    again = load_cells(tmp_path / "cells.csv", cells.KINDS)
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), again.drop(columns="seconds"))
    # those kept were not run again
    assert (first.seconds[:-3] == again.seconds[:-3]).all()
    frame = load_cells(tmp_path / "cells.csv", cells.KINDS)
    entries = curves(frame, plan).set_index(["method", "number", "score"])["mean"]
    mine = frame[(frame.method == "pck") & (frame.number == 20)]
    assert entries["pck", 20, "f"] == pytest.approx(mine.f.mean())
    assert entries["pck", 20, "held_out_f"] == pytest.approx(mine.held_out_f.mean())
    text = (tmp_path / "tables.md").read_text()
    assert f"| PCK-Means | {entries['pck', 0, 'f']:.3f} | {entries['pck', 20, 'f']:.3f} |" in text


def test_claims_are_judged_at_the_largest_number():
    plan = Plan()
    rows = [
        {
            "figure": 9,
            "data": "wine",
            "method": method,
            "number": number,
            "score": "f",
            "mean": f,
            "error": 0.0,
            "runs": 2,
        }
        for method, pair in (("sf", (0.1, 0.9)), ("sd", (0.5, 0.8)), ("pck", (0.9, 0.85)))
        for number, f in zip((0, 100), pair, strict=True)
    ]
    said = list(verdicts(pd.DataFrame(rows)))
    assert said == [
        "full beats diagonal on wine (all items): holds, 0.900 against 0.800",
        "both parts beat answers alone on wine (all items): does not hold, 0.800 against 0.850",
    ]
    assert all(data in FIGURES.values() and set(names) <= set(METHODS) for _, data, names in CLAIMS)
    assert report(pd.DataFrame(columns=["runs"]), plan) == "No cell is done yet.\n"


def test_whitening_is_that_of_chunklets(rng):
    points = rng.normal(size=(9, 2)) @ [[3.0, 1.0], [0.0, 0.2]]
    component = np.array([0, 0, 0, 1, 1, 1, 1, 2, 3])
    W = whitening(points, component)
    inside = np.concatenate(
        [points[:3] - points[:3].mean(axis=0), points[3:7] - points[3:7].mean(axis=0)]
    )
    C = inside.T @ inside / 7
    np.testing.assert_allclose(W @ C @ W, np.eye(2), atol=0.1)
    np.testing.assert_array_equal(whitening(points, np.arange(9)), np.eye(2))
