"""The grid: answers that belong to the cell, a file that is not run twice, and means that are means."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.experiments import grid


class Counting:
    """A method that puts the first half of the items together, and remembers what it was given."""

    seen: list

    def __init__(self, seen):
        self.seen = seen

    def fit(self, X, constraints):
        self.seen.append((X, constraints))
        self.labels_ = (np.arange(len(X)) >= len(X) // 2).astype(int)
        self.n_clusters_ = 2
        return self


@pytest.fixture
def seen(monkeypatch):
    calls = []
    monkeypatch.setattr(grid, "METHODS", {name: lambda seed: Counting(calls) for name in ("one", "other")})
    return calls


def run(path, *more):
    grid.main(["--output", str(path), "--methods", "one", "other", "--data", "iris", "--trials", "1", *more])


def test_finished_cells_are_not_run_again(seen, tmp_path, capsys):
    path = tmp_path / "grid.csv"
    run(path)
    assert len(seen) == 12
    assert "12 of 12" in capsys.readouterr().out
    first = path.read_text(encoding="utf-8")
    run(path)
    assert len(seen) == 12
    assert path.read_text(encoding="utf-8") == first
    lines = first.splitlines()
    path.write_text("\n".join(lines[:-3]) + "\n", encoding="utf-8")
    run(path)
    assert len(seen) == 15
    drop_seconds = [line.rsplit(",", 1)[0] for line in path.read_text(encoding="utf-8").splitlines()]
    assert drop_seconds == [line.rsplit(",", 1)[0] for line in lines]


def test_methods_are_given_the_same_answers(seen, tmp_path):
    run(tmp_path / "grid.csv")
    for (X, links), (other_X, other_links) in zip(seen[:6], seen[6:], strict=True):
        assert np.array_equal(X, other_X)
        assert np.array_equal(links.items, other_links.items)
        assert np.array_equal(links.answers, other_links.answers)
    np.testing.assert_allclose(seen[0][0].std(axis=0), 1.0)
    # r n^2 cells, drawn and symmetrised, cover 1 - (1 - r)^2 of the pairs; wrong answers are 1 - p of them
    for (_, links), (r, p) in zip(seen[:6], [(r, p) for r in (0.01, 0.03) for p in (1.0, 0.9, 0.8)], strict=True):
        pairs = 150 * 149 / 2
        assert len(links) == pytest.approx(pairs * (1 - (1 - r) ** 2), rel=0.1)
        error = np.sqrt(p * (1 - p) / len(links))
        assert abs(links.flipped.mean() - (1 - p)) <= 4.5 * error


def test_scores_and_means(seen, tmp_path, capsys):
    path = tmp_path / "grid.csv"
    run(path)
    expected = bc.metrics.pairwise_f(np.repeat([0, 1], 75), bc.datasets.load("iris").y)
    rows = grid.read(path)
    assert {row["f"] for row in rows} == {f"{expected:.4f}"}
    rows[0]["f"], rows[1]["f"] = "0.1", "0.4"
    lines = list(grid.table(rows))
    assert lines[0] == "| | one | other |"
    half = (0.1 + 0.4 + 4 * round(expected, 4)) / 6
    assert lines[-1] == f"| all | {half:.3f} | {expected:.3f} |"
    assert lines[2] == f"| iris | {half:.3f} | {expected:.3f} |"
    assert lines[3] == "| wine |  |  |"
    assert f"| all | {expected:.3f} | {expected:.3f} |" in capsys.readouterr().out
