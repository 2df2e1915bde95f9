"""The text loop of `bayesclust ask`: what is read and printed, and the session after it."""

import io

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.active import Query
from bayesclust.cli import ask

X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])


def in_turn(*queries):
    """A query strategy that asks what was planned, as far as it has not been asked."""

    def choose(state, size, rng):
        return [q for q in queries if q.items not in state.asked(q.kind)][:size]

    return choose


PLAN = [
    Query("pair", (2, 3)),
    Query("pair", (0, 5)),
    Query("triplet", (1, 2, 4)),
    Query("pair", (0, 1)),
]


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Answer with these lines; the session, what was printed, and the answers at each save."""

    def answered(lines, *, partition=(0, 0, 0, 1, 1, 1), most=None):
        session = bc.InteractiveSession(
            X,
            list(partition),
            query_strategy=in_turn(*PLAN),
            modification=bc.MinimalModification(super_instances=1.0),
        )
        saved = []
        monkeypatch.setattr(session, "save", lambda path: saved.append(session.n_answers))
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        ask._answer(session, tmp_path / "session.npz", most, pd.DataFrame(X, columns=["x"]))
        return session, capsys.readouterr().out, saved

    return answered


def test_answers_become_constraints(run):
    session, said, saved = run(["y", "N", " y "])
    assert session.n_answers == 3
    links, triplets = session.constraints
    assert (links.items.tolist(), links.answers.tolist()) == ([[2, 3], [0, 5]], [1, 0])
    assert (triplets.items.tolist(), triplets.answers.tolist()) == ([[1, 2, 4]], [0])
    assert session.labels.tolist() in ([0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1])
    assert session.history.answers.tolist() == [0, 1, 2, 3]
    assert "is item 1 more similar to 2 than to 4?" in said
    assert "2 clusters after 1 answer: 1 item moved, 0 constraints violated\n" in said
    assert said.count("are items 0 and 1 in one cluster?") == 1  # asked when the input ends
    assert saved[-1] == 3


def test_it_stops_after_a_number_of_answers(run):
    session, _, saved = run(["y", "n", "y", "y"], most=3)
    assert session.n_answers == 3
    assert session.history.answers.tolist() == [0, 1, 2, 3]
    assert session.n_pending == 0
    assert saved == [1, 1, 2, 2, 3, 3]


def test_undo_takes_the_answer_and_what_followed_from_it(run):
    session, said, _ = run(["y", "u", "u", "n", "q"])
    assert session.n_answers == 1
    assert session.constraints[0].may_not_links.tolist() == [[2, 3]]
    assert said.count("are items 2 and 3 in one cluster?") == 3
    assert said.count("taken back\n") == 1
    assert said.count("there is nothing to undo") == 1


def test_dnk_and_what_is_not_understood(run):
    session, said, _ = run(["what?", "?", "y"])
    assert session.n_answers == 2
    assert "'what?' is not understood\n" in said
    assert [one.items.tolist() for one in session.constraints] == [[[0, 5]]]


def test_a_conflict_is_reported(run):
    session, said, _ = run(["y", "n", "y", "y"], partition=[0] * 6)
    assert session.n_answers == 4
    sentence = (
        "the partition does not change: these constraints cannot all hold: links[1] (items 0 and 5"
    )
    assert sentence in said
    assert session.history.answers.tolist() == [0, 1]
    assert session.n_pending == 3


def test_nothing_left_to_ask_ends_it(run):
    session, said, _ = run(["?", "?", "?", "?", "?"])
    assert said.endswith("nothing is left to ask\n")
    assert session.n_answers == 4
