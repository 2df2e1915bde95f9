"""Evidence beside links: votes, thresholds, what each part measures, and its tables."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import cophenet
from scipy.cluster.hierarchy import linkage as tree_of
from scipy.spatial.distance import squareform

import bayesclust as bc
from experiments import baselines, evidence, frame, sources
from experiments.evidence import Cell, Plan


def test_dawid_and_skene_find_whom_to_believe(rng):
    y = np.arange(600) % 3
    rates = [0.02, 0.45, 0.45]
    labels = bc.LabelConstraints.sample(
        y, fraction=1.0, n_sources=3, per_item=3, error_rate=rates, seed=rng
    )
    some, votes, accuracy = baselines.voted(labels, "ds", rng)
    np.testing.assert_allclose(accuracy, 1 - np.array(rates), atol=4 * np.sqrt(0.25 / 600))
    again, majority, none = baselines.voted(labels, "majority", rng)
    assert np.array_equal(some, np.arange(600))
    assert np.array_equal(some, again)
    assert len(none) == 0
    # where the other two agree with each other, they outvote the best one
    assert (votes == y).mean() > 0.96 > (majority == y).mean()


def test_a_majority_wins_and_ties_are_broken_at_random(rng):
    rows = [(4, 1), (4, 2), (4, 1), (2, 0), (2, 1), (2, 2)]
    labels = bc.LabelConstraints(rows, n_items=6, source=[0, 1, 2, 0, 1, 2], classes=range(3))
    seen = [baselines.voted(labels, "majority", rng)[:2] for _ in range(60)]
    assert all(some.tolist() == [2, 4] and votes[1] == 1 for some, votes in seen)
    assert {int(votes[0]) for _, votes in seen} == {0, 1, 2}


@pytest.mark.parametrize("name", evidence.CLASSIFIERS)
def test_classifiers_use_items_without_a_vote(name, rng):
    y = np.repeat([0, 1], 40)
    X = 6.0 * y[:, None] + rng.normal(size=(80, 2))
    some = np.r_[0:6, 40:46]
    found = baselines.classified(name, sources.standardized(X), some, y[some], 0)
    assert (found == y).mean() > 0.97
    assert baselines.classified(name, X, some, np.full(12, 2), 0).tolist() == [2] * 80


def test_thresholds_cut_what_the_mean_scores_say(rng):
    n = 14
    every = np.column_stack(np.triu_indices(n, 1))
    pairs = every[np.sort(rng.choice(len(every), 60, replace=False))]
    mean = rng.random(60)
    apart = np.ones((n, n))
    apart[tuple(pairs.T)] = apart[tuple(pairs.T[::-1])] = 1 - mean
    np.fill_diagonal(apart, 0)
    joined = {
        evidence.linkage: squareform(cophenet(tree_of(squareform(apart), "average"))),
        evidence.components: squareform(cophenet(tree_of(squareform(apart), "single"))),
    }
    for way, height in joined.items():
        for labels, threshold in zip(way(n, pairs, mean), evidence.THRESHOLDS, strict=True):
            assert np.array_equal(labels[:, None] == labels, height <= 1 - threshold)


def test_candidates_agree_on_a_key_and_are_alike_where_they_do():
    who, pairs, alike = evidence.register(300, (0, 300))
    people, same = bc.datasets.make_register(300, seed=np.random.default_rng((0, 300)))
    assert np.array_equal(who, same)
    keyed = people.assign(year=people.born.str[:4])
    # an empty cell, as NaN, equals none
    agree = {c: (own := keyed[c].fillna(np.nan).to_numpy())[:, None] == own for c in keyed}
    found = np.any([agree[a] & agree[b] for a, b in evidence.KEYS], axis=0)
    assert pairs.tolist() == np.argwhere(np.triu(found, 1)).tolist()
    cells = people.to_numpy()
    equal = cells[pairs[:, 0]] == cells[pairs[:, 1]]
    empty = pd.isna(cells[pairs]).any(axis=1)
    assert np.array_equal(alike == 1, equal & ~empty)
    assert np.array_equal(np.isnan(alike), empty)


def test_digits_are_turned_back_by_the_same_angle(monkeypatch, rng):
    X, y, site = evidence._turned(rng)
    assert 300 < len(X) == len(y) == len(site) <= 400
    assert X.shape[1] == evidence.COMPONENTS
    assert np.array_equal(np.unique(site), np.arange(evidence.SITES))
    shares = pd.crosstab(site, y, normalize="index").max(axis=1)
    assert shares.mean() > 0.25


SHORT = {"num_chains": 2, "num_warmup": 20, "num_samples": 20}
QUICK = Plan.of(quick=True)


@pytest.fixture
def few_draws(monkeypatch):
    """Chains that are long enough to be scored."""
    fit = evidence.fitted
    monkeypatch.setattr(
        evidence, "fitted", lambda *given, **settings: fit(*given, **settings | SHORT)
    )


@pytest.mark.parametrize("cell", QUICK.cells(), ids=lambda cell: f"{cell.part}-{cell.method}")
def test_every_method_is_scored(few_draws, cell):
    row = evidence.run(cell)
    assert set(row) == set(evidence.SCORES)
    shown = set(evidence.PARTS[cell.part].shown)
    absent = {name for name in shown if row[name] != row[name]}
    assert absent <= {"ranked", "trusted"}
    score = "right" if cell.part == "labels" else "f"
    assert 0 < row[score] <= 1
    assert row["memory_mb"] > 50
    assert (row["took"] == "") == (cell.method in (*evidence.RIVALS, "components", "linkage"))


def test_methods_of_a_part_have_the_same_answers(monkeypatch):
    seen = []

    def fitted(cell, X, constraints, **settings):
        seen.append((X, constraints))
        raise InterruptedError

    monkeypatch.setattr(evidence, "fitted", fitted)
    for part, methods in (("crowd", ("alone-flat", "pooled-flat")), ("graded", ("graded", "cut"))):
        seen.clear()
        data = evidence.PARTS[part].cases[0][2][0]
        for method, trial in ((methods[0], 0), (methods[1], 0), (methods[1], 1)):
            with pytest.raises(InterruptedError):
                evidence.run(Cell(0, part, method, data, trial))
        (X, one), (same, other), (third, _) = seen
        assert np.array_equal(X, same)
        assert not np.array_equal(X, third)
        assert np.array_equal(one.items, other.items)
        sides = getattr(one, "cut", lambda own=one: own)().answers
        assert np.array_equal(sides, other.answers)
    assert one.n_answers > 2 == other.n_answers


def test_tables_are_means_over_draws(scored):
    plan = Plan.of(parts=("labels", "crowd"), data=("iris", "wine", "alike"), trials=2)
    assert len(plan.cells()) == 2 * (2 * 9 + 4)
    right = {"auto": 0.9, "training-svc-ds": 0.95}
    cells = scored(
        frame.Experiment(evidence),
        plan.cells(),
        right=lambda cell: right.get(cell.method, 0.5) - 0.2 * (cell.data == "wine") * cell.trial,
        ranked=lambda cell: np.nan if cell.method.endswith("majority") else float(cell.trial),
        error=lambda cell: 0.1 + 0.2 * cell.trial,
        took="classifier",
    )
    cells.loc[(cells.method == "training-svc-ds") & (cells.data == "wine"), "right"] = 0.6
    entries = evidence.tables(cells, plan)
    text = "\n".join(evidence.report(cells, entries, plan))
    assert "| wine | classifier; classifier | 0.800 |" in text
    assert "TVClust is above all others on 1 set of 2." in text
    assert "| TVClust | 0.850 | 0.500 |" in text
    # the 97.5% point of Student's t with one degree of freedom
    assert f"| alike | pooled, Beta(1, 1) | 0.200 ± {12.7062 * 0.1:.3f} |" in text
    with pytest.raises(ValueError, match="data has 'vine': choose from"):
        Plan.of(data=("vine",))


def test_tables_have_what_their_names_say():
    """Two annotators of whom one is better, two columns more, and images where a file has them."""
    seen = {}

    def fitted(cell, X, links, **settings):
        seen[cell.data] = X, links
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "fitted", fitted)
        for data in (evidence.TWO, evidence.TWO_MORE):
            with pytest.raises(InterruptedError):
                evidence.run(Cell(3, "tables", "default", data, 0))
    X, links = seen[evidence.TWO]
    wrong = [links.flipped[links.source == who].mean() for who in (0, 1)]
    assert (X.shape, len(links)) == ((1797, 64), 600)
    np.testing.assert_allclose(wrong, [0.05, 0.3], atol=4 * np.sqrt(0.21 / 300))
    X, links = seen[evidence.TWO_MORE]
    whole = bc.datasets.load("breast_cancer")
    assert np.array_equal(X[:, :30], whole.X)
    assert bc.describe_columns(X).kind.tolist()[30:] == ["binary", "counts"]
    assert len(links) == 40
    assert not evidence.here("nowhere.npz")
    assert evidence.here(evidence.TWO)


@pytest.mark.parametrize("method", ["mpck", "dcrc"])
def test_methods_told_the_number_of_classes_are_scored(method):
    row = evidence.run(Cell(3, "tables", method, evidence.TWO_MORE, 0))
    assert row["clusters"] == 2
    assert 0.3 < row["rand"] <= 1
    assert set(row) == set(evidence.SCORES)
