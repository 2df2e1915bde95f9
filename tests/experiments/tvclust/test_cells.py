"""Cells: answers that belong to the cell, a file that loses nothing, and what a kill leaves behind."""

from types import SimpleNamespace

import numpy as np
import pytest

import bayesclust as bc
from experiments.reproduce import sources
from experiments.reproduce.cells import load, run_all
from experiments.reproduce.tvclust import Plan, cells, plans, reproduce, run
from experiments.reproduce.tvclust.cells import Cell
from experiments.reproduce.tvclust.methods import METHODS, Method

CELL = Cell(3, "one", "iris", "ordered", 0.03, 0.9, 0, 2)


class Halves:
    """A method that puts the first half of the items together, and remembers what it was given."""

    def __init__(self, stop=None):
        self.seen, self.stop = [], stop

    def __call__(self, X, constraints, n_clusters, seed):
        if self.stop is not None and len(self.seen) == self.stop:
            raise KeyboardInterrupt
        self.seen.append((X, constraints, n_clusters, seed))
        return np.arange(len(X)) >= len(X) // 2


@pytest.fixture
def halves(monkeypatch):
    """Two methods, the second of which is told k but heeds no answers, in the place of all."""
    one, other = Halves(), Halves()
    known = {
        "one": Method("One", one),
        "other": Method("Other", other, told=True, answers=False, raw=True),
    }
    for module in (plans, run):
        monkeypatch.setattr(module, "EVERY_METHOD", known)
    monkeypatch.setattr("experiments.reproduce.tvclust.tables.EVERY_METHOD", known)
    monkeypatch.setattr("experiments.reproduce.tvclust.reports.EVERY_METHOD", known)
    monkeypatch.setattr("experiments.reproduce.tvclust.styles.EVERY_METHOD", known)
    return one, other


def small(**more):
    settings = {
        "methods": ("one", "other"),
        "data": ("iris", "wine"),
        "fractions": (0.03,),
        "accuracies": (1.0, 0.8),
    }
    return Plan(**{"tables": (1, 2), "figures": (), "trials": 2, "seed": 3, **settings, **more})


def test_answers_are_those_of_earlier_releases():
    """The seed of a cell's answers is what it was when the numbers in the results were measured."""
    y = sources.load("iris").y
    seed = np.random.default_rng([3, 2, 0, 30, 900])
    expected = bc.PairwiseConstraints.sample(
        y, fraction=0.03, error_rate=0.1, ordered=True, seed=seed
    )
    links = cells.answers(CELL, y)
    np.testing.assert_array_equal(links.items, expected.items)
    np.testing.assert_array_equal(links.answers, expected.answers)


@pytest.mark.parametrize(("sampling", "share"), [("ordered", 1 - 0.97**2), ("unordered", 0.03)])
def test_as_many_answers_as_the_sampling_says(sampling, share):
    y = sources.load("wine").y
    links = cells.answers(CELL._replace(data="wine", sampling=sampling), y)
    assert len(links) == pytest.approx(share * 178 * 177 / 2, rel=0.05)
    assert abs(links.flipped.mean() - 0.1) <= 4 * np.sqrt(0.09 / len(links))


def test_trials_differ_and_the_row_id_of_glass_changes_no_answer():
    y = sources.load("glass").y
    first, second, leaky = (
        cells.answers(cell, y)
        for cell in (
            CELL._replace(data="glass"),
            CELL._replace(data="glass", trial=0),
            CELL._replace(data="glass_with_id"),
        )
    )
    np.testing.assert_array_equal(first.items, leaky.items)
    np.testing.assert_array_equal(first.answers, leaky.answers)
    assert not np.array_equal(first.items, second.items)


def test_methods_are_given_what_their_entry_says(halves, tmp_path):
    one, other = halves
    reproduce(small(), tmp_path, progress=False)
    # two samplings, two sets, two p, two trials; without answers there are only sets and trials
    assert (len(one.seen), len(other.seen)) == (16, 4)
    for X, links, _, seed in one.seen:
        np.testing.assert_allclose(X.std(axis=0), 1.0)
        assert links.n_items == len(X)
        assert seed in (3, 4)
    for X, links, n_clusters, _ in other.seen:
        assert not np.allclose(X.std(axis=0), 1.0)
        assert (links, n_clusters) == (None, 3)


def without_seconds(path):
    return load(path / "cells.csv", cells.KINDS).drop(columns="seconds")


def test_a_kill_loses_at_most_the_cell_it_falls_in(halves, tmp_path):
    one, other = halves
    reproduce(small(), tmp_path / "whole", progress=False)
    before = len(one.seen), len(other.seen)
    path = tmp_path / "cut" / "cells.csv"
    path.parent.mkdir()
    text = (tmp_path / "whole" / "cells.csv").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    path.write_text("".join(lines[:-3]) + lines[-3][:20], encoding="utf-8")
    assert len(load(path, cells.KINDS)) == 17
    reproduce(small(), path.parent, progress=False)
    assert (len(one.seen), len(other.seen)) == (before[0], before[1] + 3)
    assert without_seconds(path.parent).equals(without_seconds(tmp_path / "whole"))
    reproduce(small(), path.parent, progress=False)
    assert len(other.seen) == before[1] + 3


def test_an_interrupt_writes_the_tables_and_the_same_call_goes_on(halves, tmp_path):
    one, _ = halves
    reproduce(small(), tmp_path / "whole", progress=False)
    one.seen.clear()
    one.stop = 5
    with pytest.raises(KeyboardInterrupt) as interrupt:
        reproduce(small(), tmp_path / "cut", progress=False)
    assert interrupt.value.__notes__ == [
        "5 of 20 cells are done and kept: the same command goes on."
    ]
    assert len(load(tmp_path / "cut" / "cells.csv", cells.KINDS)) == 5
    assert (tmp_path / "cut" / "tables.md").exists()
    one.stop = None
    reproduce(small(), tmp_path / "cut", progress=False)
    assert without_seconds(tmp_path / "cut").equals(without_seconds(tmp_path / "whole"))
    for name in ("tables.csv", "tables.md"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_another_seed_is_another_run_in_the_same_file(halves, tmp_path):
    one, _ = halves
    reproduce(small(), tmp_path, progress=False)
    mean = (tmp_path / "tables.csv").read_bytes()
    reproduce(small(seed=8), tmp_path, progress=False)
    assert len(one.seen) == 32
    reproduce(small(), tmp_path, progress=False)
    assert (tmp_path / "tables.csv").read_bytes() == mean


def test_fewer_trials_are_means_of_fewer(halves, tmp_path):
    one, _ = halves
    reproduce(small(trials=1), tmp_path, progress=False)
    table = (tmp_path / "tables.csv").read_bytes()
    reproduce(small(), tmp_path, progress=False)
    assert (tmp_path / "tables.csv").read_bytes() != table
    reproduce(small(trials=1), tmp_path, progress=False)
    assert len(one.seen) == 16
    assert (tmp_path / "tables.csv").read_bytes() == table


@pytest.mark.parametrize("name", ["collapsed", "mixture"])
def test_a_sampler_that_was_interrupted_makes_no_cell(name, monkeypatch):
    """It returns the draws so far, and they are not what the cell stands for."""
    tree = SimpleNamespace(attrs={"interrupted": 1})
    est = SimpleNamespace(posterior_=tree, labels_=np.zeros(150))
    monkeypatch.setattr(bc.TVClust, "fit", lambda self, X, constraints=None: est)
    with pytest.raises(KeyboardInterrupt):
        cells.run(CELL, METHODS[name])
    tree.attrs["interrupted"] = 0
    assert cells.run(CELL, METHODS[name])["clusters"] == 1


def test_an_error_names_its_cell(tmp_path):
    def fails(X, constraints, n_clusters, seed):
        raise ValueError("no.")

    with pytest.raises(ValueError, match=r"^no\.") as error:
        list(
            run_all(
                [CELL],
                lambda cell: cells.run(cell, Method("One", fails)),
                tmp_path / "cells.csv",
                cells.KINDS,
            )
        )
    assert "data='iris'" in error.value.__notes__[0]
    assert "the same command goes on" in error.value.__notes__[0]


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(
        ValueError,
        match=r"cells\.csv is no file of cells: its columns are a, b; name another folder\.$",
    ):
        load(path, cells.KINDS)


def test_scores_are_those_of_the_labels():
    row = cells.run(CELL, Method("One", Halves()))
    y, labels = sources.load("iris").y, np.repeat([0, 1], 75)
    assert (row["f"], row["clusters"], row["labels"]) == (
        round(bc.metrics.pairwise_f(labels, y), 4),
        2,
        "",
    )
    assert (row["rand"], row["nmi"]) == (
        round(bc.metrics.adjusted_rand(labels, y), 4),
        round(bc.metrics.nmi(labels, y), 4),
    )
    shape = cells.run(CELL._replace(data="moons"), Method("One", Halves()))
    assert shape["labels"].split() == ["0"] * 150 + ["1"] * 150
