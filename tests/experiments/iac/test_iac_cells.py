"""Answers, sessions and cells of the IAC experiments, each against a plain way of getting it."""

import zlib

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score, fowlkes_mallows_score

import bayesclust as bc
from experiments.reproduce.iac import answers, cells
from experiments.reproduce.iac.methods import METHODS, SOFT
from experiments.reproduce.iac.sessions import converse, scores, single

Y = np.repeat([0, 1, 2, 3], [9, 8, 7, 6])


@pytest.mark.parametrize("kind", answers.KINDS)
def test_right_constraints_hold_of_the_classes_in_the_numbers_of_the_clusters(kind, rng):
    numbers = np.array([2, 0, 3, 1])
    clusters = numbers[Y].copy()
    clusters[[0, 9, 17]] = clusters[[9, 17, 0]]
    given = answers.right(kind, Y, clusters, 60, rng)
    assert len(given) == 60
    if isinstance(given, bc.constraints.Constraints):
        held = given.truths(numbers[Y]) == given.answers
        broken = given.truths(clusters) != given.answers
    else:
        held, broken = given.satisfied(numbers[Y]), ~given.satisfied(clusters)
    assert held.all()
    assert broken.any()
    if kind == "triplets":
        assert (given.answers != 2).all()
        assert len(set(given.answers.tolist())) == 2
    if kind == "implication":
        links = [link for premise, conclusion in given.rows for link in (*premise, *conclusion)]
        assert all((Y[i] == Y[j]) == same for i, j, same in links)
        assert 0.3 < np.mean([same for *_, same in links]) < 0.7
    if kind == "span":
        assert not given.satisfied(Y).all()


def test_an_item_alone_in_its_class_is_in_no_link_of_two_together(rng):
    y = np.array([0, 1, 1, 1, 2, 2])
    triplets = answers.right("triplets", y, y, 40, rng)
    names = bc.RelativeConstraints.vocabulary
    near = [
        row[1] if names[code] == "yes" else row[2]
        for row, code in zip(triplets.items, triplets.answers, strict=True)
    ]
    assert 0 not in near
    assert 0 not in triplets.items[:, 0]


def test_cases_go_wrong_as_they_say(rng):
    links = answers.case("conflicts", Y, 200, rng)
    assert len(links) == 200
    first, again = links.items[:190], links.items[190:]
    assert len(np.unique(first, axis=0)) == 190
    where = [int(np.flatnonzero((first == pair).all(axis=1)).item()) for pair in again]
    assert len(set(where)) == 10
    assert (links.answers[where] != links.answers[190:]).all()
    assert (links.truths(Y)[:190] == links.answers[:190]).all()
    for name, wrong in (("wrong", 10), ("relaxed", 0)):
        links = answers.case(name, Y, 200, rng)
        assert (len(links), (links.truths(Y) != links.answers).sum()) == (200, wrong)


def test_areas_are_means_over_answers(rng):
    partitions = [rng.integers(4, size=30) for _ in range(4)]
    heard = [0, 5, 6, 20]
    areas, qualities, similarities = scores(partitions, heard, Y)
    measures = {
        "ari": bc.metrics.adjusted_rand,
        "ami": adjusted_mutual_info_score,
        "fmi": fowlkes_mallows_score,
    }
    for name, measure in measures.items():
        q = [measure(labels, Y) for labels in partitions]
        s = [1.0, *(measure(partitions[t], partitions[t - 1]) for t in (1, 2, 3))]
        for side, v in (("quality", q), ("similarity", s)):
            by_hand = (5 * (v[0] + v[1]) / 2 + 1 * (v[1] + v[2]) / 2 + 14 * (v[2] + v[3]) / 2) / 20
            assert areas[f"{side}_{name}"] == pytest.approx(by_hand)
        if name == "ari":
            assert qualities.tolist() == pytest.approx(q)
            assert similarities.tolist() == pytest.approx(s)
    assert single(partitions[0], Y, partitions[1])["similarity_ari"] == pytest.approx(
        bc.metrics.adjusted_rand(partitions[0], partitions[1])
    )


def test_with_all_pairs_answered_a_session_ends_at_the_classes(rng):
    """From a partition that lacks a class, which must come back as a new cluster."""
    pytest.importorskip("ortools")
    y = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    X = rng.normal(size=(10, 2))
    session = bc.InteractiveSession(X, np.minimum(y, 1), y=y, random_state=0)
    row = converse(session, y, 45)
    assert row["qualities"].split()[-1] == "1.0000"
    assert len(row["qualities"].split()) == len(row["similarities"].split()) == 11
    assert (row["given_up"], row["unsolved"], row["gap"]) == (0, 0, 0.0)
    assert session.n_answers == 45
    assert row["quality_ari"] == pytest.approx(session.area_under_budget_curve("quality"))
    assert row["similarity_ari"] == pytest.approx(session.area_under_budget_curve("similarity"))


def test_answers_do_not_depend_on_the_method(blobs, monkeypatch):
    seen = []
    monkeypatch.setattr(
        cells, "converse", lambda session, y, number: seen.append(session.ask(8)) or {}
    )
    for method in ("iac-0-10", "iac-20-100"):
        cells.run(cells.Cell(0, "session", method, str(blobs), "random", 20, 3))
    assert seen[0] == seen[1]
    cells.run(cells.Cell(0, "session", "iac-0-10", str(blobs), "random", 20, 4))
    assert seen[2] != seen[0]


def test_a_session_is_scored(blobs):
    pytest.importorskip("ortools")
    row = cells.run(cells.Cell(0, "session", "iac-20-30", str(blobs), "random", 20, 0))
    assert list(row) == list(cells.KINDS)
    q, s = (np.array(row[name].split(), dtype=float) for name in ("qualities", "similarities"))
    for area, curve in ((row["quality_ari"], q), (row["similarity_ari"], s)):
        assert area == pytest.approx((curve[1:] + curve[:-1]).mean() / 2, abs=1e-3)
    _, y = cells.prepared(str(blobs))
    assert q[0] == pytest.approx(bc.metrics.adjusted_rand(cells.start(str(blobs), 0), y), abs=1e-4)


@pytest.mark.parametrize("kind", answers.KINDS)
def test_timed_fits_hold_all_constraints(kind, blobs):
    pytest.importorskip("ortools")
    row = cells.run(cells.Cell(0, "runtime", "iac-0-100", str(blobs), kind, 15, 0))
    assert (row["given_up"], row["unsolved"], row["gap"]) == (0, 0, 0.0)
    assert 0 < row["seconds"] < 60
    assert np.isnan(row["quality_ari"])


@pytest.mark.parametrize("method", SOFT)
def test_soft_constraints_are_counted(method, blobs):
    pytest.importorskip("ortools")
    row = cells.run(cells.Cell(0, "soft", method, str(blobs), "wrong", 60, 2))
    X, y = cells.prepared(str(blobs))
    seen = cells.start(str(blobs), 2)
    words = [0, 2, zlib.crc32(b"blobs")]
    links = answers.case("wrong", y, 60, np.random.default_rng(words))
    if method.startswith("iac"):
        assert row["given_up"] <= 3
        est = bc.MinimalModification(0.2, METHODS[method].beta, satisfied=0.95)
        labels = est.fit(X, partition=seen, constraints=links).labels_
    else:
        own = {"pck": {"metric": "euclidean", "growth": 1}, "mpck": {}}[method]
        est = bc.MPCKMeans(3, random_state=2, **own)
        labels = est.fit(X, constraints=links).labels_
    together = labels[links.items[:, 0]] == labels[links.items[:, 1]]
    assert row["given_up"] == (together != (links.answers == 1)).sum()
    assert row["quality_ari"] == round(bc.metrics.adjusted_rand(labels, y), 4)
    assert row["similarity_ami"] == round(adjusted_mutual_info_score(labels, seen), 4)
    assert row["seconds"] > 0


def test_time_that_is_too_short_is_told(blobs, monkeypatch):
    def late(self, *arguments, **settings):
        raise TimeoutError

    monkeypatch.setattr(bc.MinimalModification, "fit", late)
    for part, kind, unsolved in (
        ("runtime", "pairs", 1),
        ("soft", "wrong", 1),
        ("session", "random", 10),
    ):
        row = cells.run(cells.Cell(0, part, "iac-20-30", str(blobs), kind, 20, 0))
        assert row["unsolved"] == unsolved
        assert np.isnan(row["quality_ari"]) == (part != "session")


def test_methods_say_what_they_are():
    assert METHODS["iac-5-30"].title == "IAC (5, 30)"
    assert (METHODS["iac-0-10"].alpha, METHODS["iac-0-10"].beta) == (0.0, 0.1)
