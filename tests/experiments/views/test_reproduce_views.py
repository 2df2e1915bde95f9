"""Views compared: answers, cells, what is written of them."""

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from experiments.reproduce import sources
from experiments.reproduce.cells import load as load_cells
from experiments.reproduce.views import METHODS, Plan, cells, reproduce
from experiments.reproduce.views.methods import Method
from experiments.reproduce.views.reports import table


def cell(method="rdp-means", data="iris", sampling="unordered", amount=0.03, accuracy=0.9, trial=0):
    return cells.Cell(0, method, data, sampling, amount, accuracy, trial)


def test_answers_are_those_of_the_setting_whoever_hears_them():
    y = sources.load("iris").y
    links = cells.answers(cell(), y)
    assert len(links) == round(0.03 * 150 * 149 / 2)
    assert (cells.answers(cell("dcrc"), y).items == links.items).all()
    assert (cells.answers(cell(trial=1), y).items != links.items).any()
    assert 0.05 < np.mean(links.flipped) < 0.15
    assert len(cells.answers(cell(sampling="per item", amount=2.0), y)) == 300
    assert len(cells.answers(cell(sampling="ordered"), y)) > 1.8 * len(links)


def test_plans():
    plan = Plan()
    wanted = plan.cells()
    assert len(wanted) == len(set(wanted))
    usual = [c for c in wanted if c.data in sources.UCI]
    assert {c.method for c in usual} == {"rdp-means", "plain", "auto"}
    assert len(usual) == 3 * 3 * 12 * len(set(sources.UCI) & set(bc.datasets.names(installed=True)))
    assert {c.sampling for c in wanted if c.method == "kmeans"} <= {"none"}
    assert {c.method for c in Plan.of(tables=("usual",), quick=True).cells()} == {
        "kmeans",
        "rdp-means",
        "itml",
        "dcrc",
    }
    assert {c.data for c in Plan.of(data=("wine",)).cells()} == {"wine"}
    with pytest.raises(ValueError, match=r"^tables has '3': choose from usual, others\.$"):
        Plan.of(tables=("3",))
    with pytest.raises(ValueError, match=r"^methods has 'best': choose from kmeans,"):
        Plan.of(methods=("best",))
    with pytest.raises(
        ValueError, match=r"^data has 'nowhere': choose from .*, or name a CSV file\.$"
    ):
        Plan.of(data=("nowhere",))


@pytest.fixture
def short(monkeypatch):
    """The sampler with a few sweeps."""

    def fit(X, links, k, seed):
        few = {"num_chains": 2, "num_warmup": 40, "num_samples": 40}
        return bc.TVClust(random_state=seed, progress=False, **few).fit(X, constraints=links)

    monkeypatch.setattr(
        cells, "METHODS", MappingProxyType({**METHODS, "plain": Method("TVClust", "short", fit)})
    )
    return fit


def test_noise_and_credibility_are_held_against_the_truth(short):
    row = cells.run(cell("plain"))
    assert set(row) == set(cells.KINDS)
    data = sources.load("iris")
    links = cells.answers(cell("plain"), data.y)
    est = short(sources.standardised(data.X), links, 3, 0)
    right, together = ~np.asarray(links.flipped), links.truths(data.y) == 1
    assert row["p_true"] == round(right[together].mean(), 4)
    assert row["q_true"] == round(right[~together].mean(), 4)
    assert row["p_mean"] == round(float(est.posterior_["posterior"]["p"].mean()), 4)
    assert (row["view"], row["power"]) == ("single", 1.0)
    credibility = bc.constraint_credibility(est)["credibility"].to_numpy()
    above = credibility[right][:, None] > credibility[~right]
    ties = credibility[right][:, None] == credibility[~right]
    assert row["area"] == pytest.approx((above + 0.5 * ties).mean(), abs=1e-4)
    assert np.isnan(cells.run(cell())["p_mean"])


def test_what_is_done_is_not_done_again_and_is_written(tmp_path, short):
    plan = Plan.of(
        tables=("others",), data=("ionosphere",), methods=("kmeans", "rdp-means"), trials=2
    )
    if "ionosphere" not in bc.datasets.names(installed=True):
        pytest.skip("the files of ionosphere come with the extra `datasets`")
    written = reproduce(plan, tmp_path, progress=False)
    assert {path.name for path in written} == {
        "cells.csv",
        "tables.csv",
        "tables.md",
        "others.png",
        "others.svg",
    }
    frame = load_cells(tmp_path / "cells.csv", cells.KINDS)
    assert len(frame) == 2 + 2 * 4
    before = (tmp_path / "cells.csv").read_bytes()
    reproduce(plan, tmp_path, progress=False)
    assert (tmp_path / "cells.csv").read_bytes() == before
    entries = table(frame, plan)
    assert len(entries) == 2 * 4
    deaf = entries[entries.method == "kmeans"]
    assert deaf.f.tolist() == pytest.approx([frame[frame.method == "kmeans"].f.mean()] * 4)
    heard = frame[(frame.method == "rdp-means") & (frame.amount == 0.03) & (frame.accuracy == 0.9)]
    mine = entries[
        (entries.method == "rdp-means") & (entries.amount == 0.03) & (entries.accuracy == 0.9)
    ]
    assert mine.f.item() == pytest.approx(heard.f.mean())
    assert f"{mine.f.item():.3f}" in (tmp_path / "tables.md").read_text()


def test_methods_that_answers_pass_by_stand_beside_the_others():
    rows = [
        {**cell("kmeans", sampling="none", amount=0.0, accuracy=1.0)._asdict(), "f": 0.5},
        {**cell("rdp-means", amount=0.01)._asdict(), "f": 0.6},
        {**cell("rdp-means", amount=0.03)._asdict(), "f": 0.8},
    ]
    frame = pd.DataFrame(rows, columns=list(cells.KINDS)).astype({"view": "str"})
    entries = table(
        frame, Plan.of(tables=("usual",), data=("iris",), methods=("kmeans", "rdp-means"))
    )
    assert entries.set_index(["method", "amount"]).f.to_dict() == {
        ("rdp-means", 0.01): 0.6,
        ("rdp-means", 0.03): 0.8,
        ("kmeans", 0.01): 0.5,
        ("kmeans", 0.03): 0.5,
    }
