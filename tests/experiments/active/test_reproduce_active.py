"""Sessions of questions: the expert, curves and their scores, what is written of them."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.active import PosteriorQueries, Query
from experiments.reproduce.active import (
    METHODS,
    Plan,
    cells,
    methods,
    reports,
    reproduce,
)
from experiments.reproduce.cells import load as load_cells
from experiments.reproduce.cells import numbers


@pytest.fixture
def small(monkeypatch):
    """Sixteen of iris, and a posterior of few draws."""
    data = bc.datasets.load("iris")
    some = np.r_[:8, 50:58]
    monkeypatch.setattr(cells, "load", lambda name: (data.X[some], data.y[some]))

    def few(target="vi"):
        short = bc.TVClust(num_chains=2, num_warmup=20)
        return PosteriorQueries(target=target, estimator=short, num_draws=20, min_gain=0.0)

    monkeypatch.setattr(cells, "posterior", few)
    monkeypatch.setattr(methods, "posterior", few)
    return data.y[some]


def test_the_expert_is_wrong_once_in_ten_and_the_same_for_all_methods():
    y = np.repeat(np.arange(2), 20)
    pairs = [(i, j) for i in range(40) for j in range(i)]
    said = {
        (method, trial): [
            cells.expert(cells.Cell(0, method, "iris", trial, 5), y, Query("pair", p))
            for p in pairs
        ]
        for method in ("npu", "random")
        for trial in range(2)
    }
    wrong = [a != (y[i] == y[j]) for a, (i, j) in zip(said["npu", 0], pairs, strict=True)]
    assert abs(np.mean(wrong) - 0.1) < 4 * np.sqrt(0.09 / len(pairs))
    assert said["npu", 0] == said["random", 0] != said["npu", 1]
    turned = [
        cells.expert(cells.Cell(0, "npu", "iris", 0, 9), y, Query("pair", (j, i))) for i, j in pairs
    ]
    assert turned == said["npu", 0]


def test_area():
    assert cells.area([0.2, 0.6, 1.0]) == pytest.approx((0.4 + 0.8) / 2)
    assert cells.area([0.5] * 101) == pytest.approx(0.5)


@pytest.mark.parametrize("method", METHODS)
def test_a_session(small, method):
    row = cells.run(cells.Cell(3, method, "iris", 0, 4))
    assert set(row) == set(cells.KINDS)
    curve, gains = numbers(row["curve"]), numbers(row["gains"])
    assert (len(curve), len(gains)) == (5, 4)
    assert row["area"] == pytest.approx(cells.area(curve), abs=1e-4)
    assert row["rand"] == pytest.approx(cells.area(numbers(row["rand_curve"])), abs=1e-4)
    assert 0 <= row["wrong"] <= 4
    assert 0 <= row["stop"] <= 4


def test_scores_are_of_the_partition_that_the_answers_make(small, monkeypatch):
    """What the chooser is shown, question by question."""
    asked = []
    chooser = METHODS["random"].make(None)

    def recorded(situation, size, rng):
        asked.append(situation)
        return chooser(situation, size, rng)

    entry = methods.Method("recorded", "", lambda heard: recorded)
    monkeypatch.setattr(cells, "METHODS", {**METHODS, "random": entry})
    row = cells.run(cells.Cell(0, "random", "iris", 0, 6))
    curve, rands = numbers(row["curve"]), numbers(row["rand_curve"])
    for turn, situation in enumerate(asked):
        assert curve[turn] == pytest.approx(
            bc.metrics.pairwise_f(situation.labels, small), abs=1e-4
        )
        assert rands[turn] == pytest.approx(
            bc.metrics.adjusted_rand(situation.labels, small), abs=1e-4
        )
        assert sum(map(len, situation.constraints)) == turn


def test_where_nothing_is_left_the_curve_goes_on_as_it_is(small, monkeypatch):
    monkeypatch.setattr(
        cells, "METHODS", {"none": methods.Method("none", "", lambda heard: lambda *_: [])}
    )
    row = cells.run(cells.Cell(0, "none", "iris", 0, 3))
    for name in ("curve", "rand_curve"):
        assert len(set(row[name].split())) == 1
        assert len(row[name].split()) == 4
    assert numbers(row["gains"]).tolist() == [0.0, 0.0, 0.0]


def test_plans():
    plan = Plan.of(methods=("npu", "random"), data=("iris", "wine"), trials=2)
    wanted = plan.cells()
    assert len(wanted) == len(set(wanted)) == 8
    assert [cell.trial for cell in wanted] == sorted(cell.trial for cell in wanted)
    assert len(Plan().data) == 6
    assert {cell.data for cell in Plan.of(quick=True).cells()} == {"iris"}
    with pytest.raises(
        ValueError, match=r"^methods has 'best': choose from posterior, information, npu,"
    ):
        Plan.of(methods=("best",))
    with pytest.raises(ValueError, match=r"^data has 'roses': choose from balance,"):
        Plan.of(data=("roses",))


def test_what_is_done_is_not_done_again(small, tmp_path):
    plan = Plan(methods=("posterior", "npu", "random"), data=("iris",), questions=3, trials=2)
    written = reproduce(plan, tmp_path, progress=False)
    assert {path.name for path in written} == {
        "cells.csv",
        "tables.csv",
        "tables.md",
        "curves.png",
        "curves.svg",
    }
    first = load_cells(tmp_path / "cells.csv", cells.KINDS)
    # all begin with the same posterior
    assert (
        first.assign(start=first.curve.str.split().str[0]).groupby("trial").start.nunique() == 1
    ).all()
    lines = (tmp_path / "cells.csv").read_text().splitlines(keepends=True)
    (tmp_path / "cells.csv").write_text("".join(lines[:-2]))
    reproduce(plan, tmp_path, progress=False)
    again = load_cells(tmp_path / "cells.csv", cells.KINDS)
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), again.drop(columns="seconds"))
    assert (first.seconds[:-2] == again.seconds[:-2]).all()
    text = (tmp_path / "tables.md").read_text()
    mean = first[first.method == "npu"].area.mean()
    assert f" {mean:.3f} ± " in text


def frame_of(rows):
    """Sessions of two questions: method, data, trial, curve and gains."""
    columns = ["method", "data", "trial", "curve", "gains", "stop"]
    frame = pd.DataFrame(rows, columns=columns).assign(seed=0, questions=2, wrong=0, seconds=0.0)
    area = np.array([cells.area(numbers(curve)) for curve in frame.curve])
    return frame.assign(area=area, rand=2 * area)


def test_differences_are_paired_by_expert_and_stops_counted_by_hand():
    plan = Plan(methods=("posterior", "random"), data=("iris", "wine"), questions=2, trials=2)
    flat = {"iris": (0.4, 0.7), "wine": (0.5, 0.9)}
    rows = [
        ("random", data, trial, f"{f} {f} {f}", "0 0", 0)
        for data in flat
        for trial, f in enumerate(flat[data])
    ]
    rows += [
        ("posterior", "iris", 0, "0.4 0.6 0.8", "0.03 0.001", 2),  # area 0.6, 0.2 more
        ("posterior", "iris", 1, "0.7 0.7 0.9", "0.03 0.03", 1),  # 0.75, 0.05 more
        ("posterior", "wine", 0, "0.5 0.5 0.5", "0 0", 0),  # none
        ("posterior", "wine", 1, "0.9 1 1", "0.1 0", 2),  # 0.975, 0.075 more
    ]
    found = reports.entries(frame_of(rows), plan)
    more = found[found.table == "difference"].set_index("data")
    assert more["mean"].to_dict() == pytest.approx(
        {"iris": 0.125, "wine": 0.0375, reports.ALL: 0.08125}
    )
    # over two experts: half the distance of the two; of all, (0.2 + 0) / 2 and (0.05 + 0.075) / 2
    assert more["error"].to_dict() == pytest.approx(
        {"iris": 0.075, "wine": 0.0375, reports.ALL: 0.01875}
    )
    twice = found[found.table == "rand_difference"].set_index("data")
    assert twice["mean"].to_dict() == pytest.approx((2 * more["mean"]).to_dict())
    stops = found[(found["at"] == 0.01) & (found.patience == 0)].set_index(["data", "table"])[
        "mean"
    ]
    # on iris after 1 and after all 2 questions, on wine after 0 and 1
    expected = {"asked": (1.5, 0.5), "f": (0.75, 0.75), "to_come": (0.1, 0.0)}
    for what, (iris, wine) in expected.items():
        assert stops["iris", what] == pytest.approx(iris)
        assert stops["wine", what] == pytest.approx(wine)
    own = found[found["at"].isna() & (found.table == "to_come")].set_index("data")["mean"]
    assert own.to_dict() == pytest.approx({"iris": 0.1, "wine": 0.0})
    text = reports.report(found, plan)
    assert "| iris | default | 0 | 1.5 ± 0.5 | 0.750 ± 0.050 | 0.100 ± 0.100 |" in text
    assert "| iris | 0.125 ± 0.075 |" in text
    assert "| iris | 0.250 ± 0.150 |" in text
    assert "| all | 0.081 ± 0.019 |" in text
    assert "| iris | 0.01 | 0 | 1.5 ± 0.5 | 0.750 ± 0.150 | 0.100 ± 0.100 |" in text
    curve = found[(found.table == "curve") & (found.data == "iris") & (found.method == "posterior")]
    assert curve["mean"].tolist() == pytest.approx([0.55, 0.65, 0.85])


def test_patience_by_hand():
    low = np.array([[1, 0, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=bool)
    assert reports._stop(low, 0).tolist() == [0, 5, 0]
    assert reports._stop(low, 1).tolist() == [3, 5, 1]
    assert reports._stop(low, 3).tolist() == [5, 5, 3]


def test_nothing_done_yet():
    plan = Plan(questions=2)
    assert reports.report(reports.entries(frame_of([]), plan), plan) == "No session is done yet.\n"
