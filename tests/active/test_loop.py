"""The text loop of `bayesclust ask`: what is read and printed, and the session after it."""

import io

import numpy as np

import bayesclust as bc
from bayesclust.active import Query
from bayesclust.cli.ask import answer_queries

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


def run(lines, *, partition=(0, 0, 0, 1, 1, 1), **settings):
    session = bc.InteractiveSession(
        X,
        list(partition),
        query_strategy=in_turn(*PLAN),
        modification=bc.MinimalModification(super_instances=1.0),
    )
    out, saved = io.StringIO(), []
    source = io.StringIO("".join(f"{line}\n" for line in lines))
    taken = answer_queries(
        session, source, out, save=lambda: saved.append(session.n_answers), **settings
    )
    return session, taken, out.getvalue(), saved


def test_answers_become_constraints():
    session, taken, said, saved = run(["y", "N", " y "])
    assert taken == session.n_answers == 3
    links, triplets = session.constraints
    assert (links.items.tolist(), links.answers.tolist()) == ([[2, 3], [0, 5]], [1, 0])
    assert (triplets.items.tolist(), triplets.answers.tolist()) == ([[1, 2, 4]], [0])
    assert session.labels.tolist() in ([0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1])
    assert session.history.answers.tolist() == [0, 1, 2, 3]
    assert "is item 1 more similar to 2 than to 4?" in said
    assert "2 clusters after 1 answers: 1 items moved, 0 constraints violated\n" in said
    assert said.count("are items 0 and 1 in one cluster?") == 1  # asked when the input ends
    assert saved[-1] == 3


def test_it_stops_after_a_number_of_answers():
    session, taken, _, saved = run(["y", "n", "y", "y"], n_answers=3, every=2)
    assert taken == 3
    assert session.history.answers.tolist() == [0, 2, 3]
    assert session.n_pending == 0
    assert saved == [1, 1, 2, 2, 3, 3, 3]


def test_undo_takes_the_answer_and_what_followed_from_it():
    session, taken, said, _ = run(["y", "u", "u", "n", "q"])
    assert taken == session.n_answers == 1
    assert session.constraints[0].may_not_links.tolist() == [[2, 3]]
    assert said.count("are items 2 and 3 in one cluster?") == 3
    assert said.count("taken back\n") == 1
    assert said.count("there is nothing to undo") == 1


def test_modify_now_dnk_and_what_is_not_understood():
    session, taken, said, _ = run(["what?", "?", "y", "m"], every=5)
    assert taken == 2
    assert "'what?' is not understood\n" in said
    assert [one.items.tolist() for one in session.constraints] == [[[0, 5]]]
    assert len(session.history) == 2


def test_a_conflict_is_reported():
    session, taken, said, _ = run(["y", "n", "y", "y"], partition=[0] * 6)
    assert taken == 4
    sentence = "the partition stays as it is: this constraint cannot hold: links[1] (items 0 and 5"
    assert sentence in said
    assert session.history.answers.tolist() == [0, 1]
    assert session.n_pending == 3


def test_nothing_left_to_ask_ends_it():
    session, taken, said, _ = run(["?", "?", "?", "?", "?"])
    assert taken == 4
    assert said.endswith("nothing is left to ask\n")
    assert session.n_answers == 4
