"""Sessions: every step against a plain retelling of it, and taken back, kept and judged."""

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


def replies(session, y, number):
    """Answer queries rightly."""
    for query in session.ask(number):
        i, j = query.items
        session.answer(query, "same" if y[i] == y[j] else "different")


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
        assert (links.truths(labels) == links.answers).all()
    columns = ["answers", "moved", "cost", "violated", "similarity", "quality"]
    assert session.history[columns].to_numpy() == pytest.approx(np.array(expected))
    assert session.labels.tolist() == labels.tolist()
    assert session.history.moved.sum() > 0
    budget, quality = np.array(expected)[:, 0], np.array(expected)[:, 5]
    by_hand = sum((quality[t] + quality[t + 1]) / 2 * 5 for t in range(4)) / budget[-1]
    assert session.area_under_budget_curve() == pytest.approx(by_hand)
    assert session.area_under_budget_curve("similarity") < 1


def test_everything_can_be_taken_back(blobs):
    X, _ = blobs
    session = bc.InteractiveSession(X, np.zeros(60, dtype=int), modification=ALONE)
    states = []

    def keep():
        shown = [
            repr(one.rows if isinstance(one, bc.constraints.Rules) else one.items)
            for one in session.constraints
        ]
        states.append((session.labels.tolist(), session.n_pending, session.n_answers, shown))

    keep()
    session.answer(Query("pair", (0, 40)), "different")
    keep()
    session.add(
        [bc.LabelConstraints([(1, 0)], 60), bc.constraints.SpreadConstraints([([0, 1, 2], 1)], 60)]
    )
    keep()
    session.modify()
    keep()
    session.answer(Query("triplet", (0, 1, 40)), "yes")
    session.undo()
    for state in reversed(states):
        found = session.labels.tolist(), session.n_pending, session.n_answers
        assert found == state[:3]
        assert [
            repr(o.rows if isinstance(o, bc.constraints.Rules) else o.items)
            for o in session.constraints
        ] == state[3]
        if state is not states[0]:
            session.undo()
    with pytest.raises(
        ValueError,
        match=r"^there is nothing to undo: no answer was added and no partition modified\.$",
    ):
        session.undo()


def test_a_conflict_changes_nothing(blobs):
    X, _ = blobs
    session = bc.InteractiveSession(X, np.zeros(60, dtype=int), modification=ALONE)
    session.add(bc.PairwiseConstraints.from_lists([(0, 1), (1, 2)], [(0, 2)], 60))
    with pytest.raises(ConflictError):
        session.modify()
    assert (len(session.history), session.n_pending, session.labels.max()) == (1, 3, 0)
    session.undo()
    assert session.n_pending == 0


def test_pairs_that_nobody_knows_are_not_asked_again():
    session = bc.InteractiveSession(np.arange(4.0)[:, None], [0, 0, 1, 1], random_state=0)
    seen = []
    while asked := session.ask():
        seen.append(asked[0].items)
        session.answer(asked[0], "dnk")
    assert sorted(seen) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert session.constraints == []
    assert session.modify().moved_.size == 0


def test_a_query_strategy_is_any_callable(blobs):
    X, y = blobs

    def nearest_to_the_middle(state, size, rng):
        order = np.argsort(((state.X - state.X.mean(axis=0)) ** 2).sum(axis=1))
        heard = state.asked("pair")
        return [Query("pair", (0, int(i))) for i in order if i and (0, int(i)) not in heard][:size]

    session = bc.InteractiveSession(X, np.zeros(60, int), y=y, query_strategy=nearest_to_the_middle)
    first = session.ask()
    replies(session, y, 1)
    assert session.ask() != first
    assert session.ask(3)[0] == session.ask()[0]


def test_an_unknown_query_strategy_is_refused():
    with pytest.raises(
        ValueError, match=r'^query_strategy must be "random" or .*; got \'oracle\'\.$'
    ):
        bc.InteractiveSession(X4, [0] * 4, query_strategy="oracle")


def test_it_shows_itself_in_a_notebook(blobs):
    X, y = blobs
    session = bc.InteractiveSession(X, y, y=y, random_state=0)
    replies(session, y, 3)
    assert (
        repr(session)
        == "<InteractiveSession: 60 items in 3 clusters after 3 answers, 3 not yet used>"
    )
    session.modify()
    shown = session._repr_html_()
    assert "60 items in 3 clusters after 3 answers</p>" in shown
    assert "<td>1.000</td>" in shown
    assert len(shown) < 3000


X4 = [[0.0], [1.0], [2.0], [3.0]]


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda s: bc.InteractiveSession([[1.0]], [0]),
            ValueError,
            "X has one item (n_samples=1): pass at least two items.",
        ),
        (
            lambda s: bc.InteractiveSession(X4, [0] * 4, y=[1]),
            ValueError,
            "y has 1 entries, but X has 4 items: pass one class for each.",
        ),
        (
            lambda s: bc.InteractiveSession(X4, [0] * 4, modification=bc.DPMeans()),
            TypeError,
            "modification must be a MinimalModification; got DPMeans.",
        ),
        (
            lambda s: bc.InteractiveSession(X4, [0] * 4, modification=bc.MinimalModification(2.0)),
            ValueError,
            "anchors must lie in [0, 1]; got 2.0.",
        ),
        (
            lambda s: bc.InteractiveSession(X4, [0] * 4, query_strategy=3),
            TypeError,
            "query_strategy must be a name or a callable; got int.",
        ),
        (lambda s: s.ask(0), ValueError, "size must be an integer of at least 1; got 0."),
        (
            lambda s: s.answer(Query("pair", (0, 1)), "yes"),
            ValueError,
            'answer must be "same" or "different" or "dnk"; got \'yes\'.',
        ),
        (
            lambda s: s.answer(Query("quartet", (0, 1)), "yes"),
            ValueError,
            'the kind of a query must be "pair" or "triplet"; got \'quartet\'.',
        ),
        (
            lambda s: s.answer(Query("pair", (0, 4)), "same"),
            ValueError,
            "pairs[0] names item 4, but with n_items=4 items are numbered 0 to 3: correct the index or n_items.",
        ),
        (
            lambda s: s.answer(Query("pair", (0, 4)), "dnk"),
            ValueError,
            "pairs[0] names item 4, but with n_items=4 items are numbered 0 to 3: correct the index or n_items.",
        ),
        (
            lambda s: s.add(bc.LabelConstraints([(0, 1)], 5)),
            ValueError,
            "the constraints 'label' are on 5 items, but X has 4: pass the X they were made for, or restrict(items) them.",
        ),
        (
            lambda s: s.area_under_budget_curve(),
            ValueError,
            "the quality is not known: pass the true classes y to the session.",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, error, sentence):
    session = bc.InteractiveSession(X4, [0, 0, 1, 1])
    with pytest.raises(error) as caught:
        call(session)
    assert str(caught.value) == sentence
    assert session.n_answers == 0
