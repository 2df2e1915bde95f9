"""Sessions: each step against modifications by hand, undone, saved and loaded, and refusals."""

import io
import json

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import bayesclust as bc
from bayesclust.active import Query
from bayesclust.estimators.minimal_modification import ConflictError

ALONE = bc.MinimalModification(super_instances=1.0, new_clusters=1)


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 20)
    return rng.normal(size=(60, 2)) + 2.5 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


def test_steps_are_modifications_of_modifications(blobs):
    X, y = blobs
    start = KMeans(3, n_init=1, random_state=0)
    session = bc.InteractiveSession(X, start, y=y, random_state=0)
    labels, pairs, answers = KMeans(3, n_init=1, random_state=0).fit(X).labels_, [], []
    expected = [(0, 0, 0.0, 0, 1.0, adjusted_rand_score(y, labels))]
    for _ in range(4):
        for query in session.ask(5):
            i, j = query.items
            session.answer(query, "same" if y[i] == y[j] else "different")
            pairs.append((i, j))
            answers.append(bool(y[i] == y[j]))
        assert session.n_pending == 5
        session.modify()
        links = bc.PairwiseConstraints(pairs, answers, n_items=60)
        est = bc.MinimalModification().fit(X, partition=labels, constraints=links)
        scores = adjusted_rand_score(labels, est.labels_), adjusted_rand_score(y, est.labels_)
        expected.append((len(pairs), len(est.moved_), est.cost_, 0, *scores))
        labels = est.labels_
    columns = ["answers", "moved", "cost", "violated", "similarity", "quality"]
    assert session.history[columns].to_numpy() == pytest.approx(np.array(expected))
    assert session.labels.tolist() == labels.tolist()
    assert session.history.moved.sum() > 0
    budget, quality = np.array(expected)[:, 0], np.array(expected)[:, 5]
    by_hand = sum((quality[t] + quality[t + 1]) / 2 * 5 for t in range(4)) / budget[-1]
    assert session.area_under_budget_curve() == pytest.approx(by_hand)
    assert session.area_under_budget_curve("similarity") < 1


def shown(session):
    rows = [repr(list(vars(one).values())) for one in session.constraints]
    return session.labels.tolist(), session.n_pending, session.n_answers, rows


def test_undo_takes_back_every_event(blobs):
    session = bc.InteractiveSession(blobs[0], np.zeros(60, dtype=int), modification=ALONE)
    states = [shown(session)]
    labels = bc.LabelConstraints([(1, 0)], 60)
    spread = bc.constraints.SpreadConstraints([([0, 1, 2], 1)], 60)
    for event in (
        lambda: session.answer(Query("pair", (0, 40)), "different"),
        lambda: session.add([labels, spread]),
        session.modify,
        lambda: session.answer(Query("triplet", (0, 1, 40)), "yes"),
    ):
        event()
        states.append(shown(session))
    for state in reversed(states):
        assert shown(session) == state
        if state is not states[0]:
            session.undo()
    sentence = r"^there is nothing to undo: no answer was added and no partition modified\.$"
    with pytest.raises(ValueError, match=sentence):
        session.undo()


def test_a_conflict_changes_nothing(blobs):
    session = bc.InteractiveSession(blobs[0], np.zeros(60, dtype=int), modification=ALONE)
    session.add(bc.PairwiseConstraints.from_lists([(0, 1), (1, 2)], [(0, 2)], 60))
    with pytest.raises(ConflictError):
        session.modify()
    assert (len(session.history), session.n_pending, session.labels.max()) == (1, 3, 0)
    session.undo()
    assert session.n_pending == 0


def test_skipped_pairs_are_not_asked_again():
    session = bc.InteractiveSession(np.arange(4.0)[:, None], [0, 0, 1, 1], random_state=0)
    seen = []
    while asked := session.ask():
        seen.append(asked[0].items)
        session.answer(asked[0], "dnk")
    assert sorted(seen) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert session.constraints == []
    assert session.modify().moved_.size == 0


# --- files

DATA = np.random.default_rng(0).normal(size=(30, 3))
Y = np.repeat([0, 1, 2], 10)


def long_session():
    settings = bc.MinimalModification(
        0.1, np.float64(0.5), min_satisfied=0.9, new_clusters=2, time_limit=None
    )
    made = bc.InteractiveSession(
        DATA, Y, y=np.array(list("aabbc") * 6), modification=settings, random_state=3
    )
    made.add(
        [
            bc.LabelConstraints([(0, 4)], 30),
            bc.SpanConstraints([([1, 2], [0, 3])], 30),
            bc.constraints.SpreadConstraints([([3, 13, 23], 2)], 30),
            bc.ImplicationConstraints([([(0, 1, True)], [(4, 5, False)])], 30),
            bc.RelativeConstraints([(0, 1, 2), (3, 4, 5)], ["no", "dnk"], 30),
        ]
    )
    for number, query in enumerate(made.ask(12)):
        made.answer(query, ("same", "different", "dnk")[number % 3])
        if number % 4 == 3:
            made.modify()
    made.answer(Query("pair", (0, 29)), "same")
    return made


def test_a_loaded_session_continues_identically(tmp_path):
    one, path = long_session(), tmp_path / "s.npz"
    one.save(path)
    other = bc.InteractiveSession.load(path, DATA)
    assert [child.name for child in tmp_path.iterdir()] == ["s.npz"]
    for _ in range(2):
        assert other.history.equals(one.history)
        assert (other.n_pending, repr(other.constraints)) == (one.n_pending, repr(one.constraints))
        assert other.modification.get_params() == one.modification.get_params()
        queries = one.ask(4)
        assert other.ask(4) == queries
        for made in (one, other):
            for query in queries:
                made.answer(query, "different")
            made.modify()
    for _ in range(20):
        one.undo()
        other.undo()
        assert other.labels.tolist() == one.labels.tolist()
        assert repr(other) == repr(one)


def test_a_strategy_without_a_name_is_passed_again(tmp_path):
    def none_left(state, size, rng):
        return []

    path = tmp_path / "s.npz"
    bc.InteractiveSession(DATA, Y, query_strategy=none_left).save(path)
    with pytest.raises(ValueError, match=r"^the query strategy of this session had no name and"):
        bc.InteractiveSession.load(path, DATA)
    assert bc.InteractiveSession.load(path, DATA, query_strategy=none_left).ask() == []


def archive_of(about):
    stream = io.BytesIO()
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez_compressed(stream, about=text, labels=Y[None])
    return stream.getvalue()


def test_other_files_and_other_data_are_refused(tmp_path):
    path = tmp_path / "s.npz"
    with pytest.raises(FileNotFoundError):
        bc.InteractiveSession.load(path, DATA)
    other = {"format": 1, "modification": {"satisfied": 1.0}, "steps": [[0, 0]]}
    for content in (archive_of([]), archive_of({}), archive_of(other)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"s.npz' is not a bayesclust session, or of another"):
            bc.InteractiveSession.load(path, DATA)
    long_session().save(path)
    with pytest.raises(ValueError, match=r"s.npz' is on other data: pass the X that it was made"):
        bc.InteractiveSession.load(path, DATA + 1)


def test_who_answered_is_kept(tmp_path, blobs):
    X, y = blobs
    session = bc.InteractiveSession(X, y, random_state=0)
    session.add(bc.PairwiseConstraints([(0, 1), (0, 30)], [True, False], 60, source=["zoe", "bob"]))
    session.answer(Query("pair", (2, 3), 7), "same")
    session.answer(Query("pair", (4, 5)), "same")
    session.save(tmp_path / "s.npz")
    for own in (session, bc.InteractiveSession.load(tmp_path / "s.npz", X)):
        (links,) = own.constraints
        names = [links.source_names[at] for at in links.source]
        assert names == ["zoe", "bob", "7", "unnamed"]


def test_a_new_cluster_is_a_start_like_others():
    X = np.arange(3.0)[:, None]
    session = bc.InteractiveSession(X, [0, 1, 2], modification=ALONE)
    session.add(bc.SpanConstraints([([0], [3])], n_items=3))
    session.modify()
    assert session.labels.tolist() == [3, 1, 2]
    session.modify()
    assert session.labels.tolist() == [3, 1, 2]


def test_a_strategy_that_asks_too_much_is_cut_short(blobs):
    def eager(state, size, rng):
        return [Query("pair", (0, at)) for at in range(1, 6)]

    session = bc.InteractiveSession(*blobs, query_strategy=eager)
    assert session.ask(2) == [Query("pair", (0, 1)), Query("pair", (0, 2))]
