"""The comparison of DCRC with k-means: restartable, and the same answers for every method."""

import csv

import pytest

from bayesclust.experiments import dcrc_gain
from bayesclust.experiments.dcrc_gain import Cell


def test_cells_are_run_once(tmp_path, capsys, monkeypatch):
    ran = []

    def run(cell, seed):
        ran.append(cell)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return {**cell._asdict(), "answers": 1, "f": 0.5, "rand": 0.0, "clusters": 2, "bound": 0.0, "seconds": 0.0}

    monkeypatch.setattr(dcrc_gain, "run", run)
    command = ["--output", str(tmp_path / "out.csv"), "--data", "pima", "--methods", "kmeans", "dcrc", "--trials", "1"]
    with pytest.raises(KeyboardInterrupt):
        dcrc_gain.main(command)
    dcrc_gain.main(command)
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(set(map(tuple, (row.values() for row in rows)))) == 6
    assert ran.count(ran[2]) == 2  # the interrupted cell, and none other, is run again
    assert len(ran) == 7
    assert "| pima | mean | 0.500 | 0.500 |" in capsys.readouterr().out


def test_answers_help_on_balance():
    rows = {method: dcrc_gain.run(Cell(method, "balance", 0.15, 0), seed=0) for method in dcrc_gain.DEFAULT_METHODS}
    assert rows["dcrc"]["answers"] == 94
    assert 0 < rows["dcrc-yn"]["answers"] < 94
    assert rows["dcrc"]["f"] > rows["kmeans"]["f"] + 0.2
    assert rows["dcrc-yn"]["f"] > rows["kmeans"]["f"] + 0.2
