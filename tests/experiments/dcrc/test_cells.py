"""Cells: what a method is given, how its settings are chosen, what is kept, and that a kill loses nothing."""

from types import MappingProxyType

import numpy as np
import pytest

import bayesclust as bc
from experiments.reproduce import sources
from experiments.reproduce.cells import load
from experiments.reproduce.dcrc import Plan, cells, reproduce
from experiments.reproduce.dcrc.answers import ask
from experiments.reproduce.dcrc.cells import Cell
from experiments.reproduce.dcrc.methods import METHODS, Method, choose

CELL = Cell(0, "one", "balance", "right", 0.15, 94, 0)


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
    one, other = Halves(), Halves()
    known = MappingProxyType(
        {"one": Method("One", one), "other": Method("Other", other, "nothing")}
    )
    for module in ("cells", "plans", "reports", "figures"):
        monkeypatch.setattr(f"experiments.reproduce.dcrc.{module}.METHODS", known)
    return one, other


def small(**more):
    settings = {
        "methods": ("one", "other"),
        "data": ("balance", "fuzzy"),
        "fractions": (0.05, 0.1),
        "trials": 2,
    }
    return Plan(**{"figures": (4,), "tables": (), "runtime": False, **settings, **more})


def test_methods_are_given_what_their_entry_says(halves, tmp_path):
    one, other = halves
    reproduce(small(), tmp_path, progress=False)
    # two sets, two shares, two trials; what hears nothing is run once for each set and trial
    assert (len(one.seen), len(other.seen)) == (8, 4)
    for X, view, n_clusters, seed in one.seen:
        np.testing.assert_allclose(X.std(axis=0), 1.0)
        assert view.n_items == len(X)
        assert len(view) in (round(0.05 * len(X)), round(0.1 * len(X)))
        assert (n_clusters, seed in (0, 1)) == (3, True)
    assert all(view is None for _, view, _, _ in other.seen)


def test_a_kill_loses_at_most_the_cell_it_falls_in(halves, tmp_path):
    one, other = halves
    reproduce(small(), tmp_path / "whole", progress=False)
    before = len(one.seen) + len(other.seen)
    path = tmp_path / "cut" / "cells.csv"
    path.parent.mkdir()
    lines = (tmp_path / "whole" / "cells.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-3]) + lines[-3][:30], encoding="utf-8")
    reproduce(small(), path.parent, progress=False)
    assert len(one.seen) + len(other.seen) == before + 3
    whole, cut = (
        load(folder / "cells.csv", cells.KINDS).drop(columns=["seconds", "cpu_seconds"])
        for folder in (tmp_path / "whole", path.parent)
    )
    assert cut.equals(whole)
    reproduce(small(), path.parent, progress=False)
    assert len(one.seen) + len(other.seen) == before + 3


def test_an_interrupt_writes_what_is_done(halves, tmp_path):
    one, _ = halves
    one.stop = 3
    with pytest.raises(KeyboardInterrupt) as interrupt:
        reproduce(small(), tmp_path, progress=False)
    assert interrupt.value.__notes__ == [
        "4 of 12 cells are done and kept: the same command goes on."
    ]
    assert "| balance | 0.05 n |" in (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert (tmp_path / "figure4.png").exists()


def test_scores_are_those_of_the_labels(halves):
    row = cells.run(CELL)
    y, labels = sources.load("balance").y, np.arange(625) >= 312
    assert row["f"] == round(bc.metrics.pairwise_f(labels, y), 4)
    assert row["rand"] == round(bc.metrics.adjusted_rand(labels, y), 4)
    assert row["nmi"] == round(bc.metrics.nmi(labels, y), 4)
    assert (row["heard"], row["clusters"], row["confusion"]) == (94, 2, "")
    assert np.isnan(row["predicted_f"])
    assert set(row) == set(cells.KINDS)
    # by hand: the best match of two clusters with three classes
    table = np.array([[np.sum(labels[y == k] == half) for half in (False, True)] for k in range(3)])
    best = max(table[i, 0] + table[j, 1] for i in range(3) for j in range(3) if i != j)
    assert row["accuracy"] == round(best / 625, 4)


def test_answers_help_on_balance():
    rows = {name: cells.run(CELL._replace(method=name)) for name in ("kmeans", "dcrc", "dcrc-yn")}
    assert rows["dcrc"]["heard"] == 94
    assert 0 < rows["dcrc-yn"]["heard"] < 94
    for name in ("dcrc", "dcrc-yn"):
        assert rows[name]["f"] > rows["kmeans"]["f"] + 0.2
        assert rows[name]["predicted_f"] > rows["kmeans"]["f"] + 0.2


def test_the_confusion_that_was_learned_is_kept():
    cell = Cell(0, "dcrc-confusion", "fuzzy", "people", 0.0, 150, 0)
    learned = np.array(cells.run(cell)["confusion"].split(), dtype=float).reshape(3, 3)
    np.testing.assert_allclose(learned.sum(axis=1), 1.0, atol=1e-3)
    assert (np.diag(learned) > 0.5).all()


def test_settings_are_chosen_by_answers_that_were_held_out():
    """Labels are right under one setting alone; no answer that judges a fit was heard by it."""
    data = sources.load("fuzzy")
    view = ask(data, "right", 120, [5])
    fits = []

    def fit(X, constraints, n_clusters, seed, *, right, n_init):
        fits.append({tuple(row) for row in constraints.items.tolist()})
        return data.y if right else np.random.default_rng(seed).permutation(data.y)

    grid = ({"right": 0}, {"right": 1}, {"right": 0})
    assert choose(Method("", fit, "yes and no", grid), data.X, view, 3, 7) == {"right": 1}
    told = {tuple(row) for row in view.items[view.answers < 2].tolist()}
    assert len(fits) == 15
    held = [told - heard for heard in fits[::3]]
    assert set.union(*held) == told
    assert sum(map(len, held)) == len(told)


def test_too_few_answers_choose_nothing():
    method = Method("", lambda *_: pytest.fail("was run"), "all", ({"a": 1}, {"a": 2}, {"a": 3}))
    view = bc.RelativeConstraints([(0, 1, 2)] * 9, ["yes"] * 9, n_items=3)
    for answers in (view, None):
        assert choose(method, np.eye(3), answers, 2, 0) == {"a": 2}


@pytest.mark.parametrize("name", ["itml", "lsml", "sssvad", "sparse-lp", "mmc"])
def test_every_baseline_takes_its_settings(name):
    method = METHODS[name]
    data = sources.load("separate")
    view = ask(data, "right", 40, [1])
    setting = choose(method, data.X, view, 3, 0)
    assert setting in method.grid
    row = cells.run(Cell(0, name, "separate", "right", 0.0, 40, 0))
    assert row["f"] > 0.9
    assert row["setting"] == " ".join(f"{key}={value:g}" for key, value in setting.items())
