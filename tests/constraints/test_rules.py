"""Rules: what every kind must do, and what answers say in the language of statements."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.constraints.base import KINDS as CLASSES
from bayesclust.constraints.statements import Apart, Together
from tests.inference.limits.minimal_modification.plain import KINDS

ROWS = {
    "label": [(0, 1), (3, 0), (2, 2)],
    "span": [([0, 1], [0, 2]), ([3], [1]), ([1, 2, 3], [0, 1])],
    "spread": [([0, 1, 2], 2), ([1, 2, 3], 1), ([0, 1, 2, 3], 3)],
    "implication": [
        ([(0, 1, True)], [(2, 3, True)]),
        ([(0, 1, False), (1, 2, True)], [(0, 3, False)]),
        ([(0, 3, True)], [(1, 2, False), (0, 1, True)]),
    ],
}
EVERYTHING = np.array(list(product(range(3), repeat=4)))


def test_every_kind_is_judged():
    assert {kind for kind, one in CLASSES.items() if len(one.members) < 2} == set(ROWS)


@pytest.mark.parametrize("kind", ROWS)
def test_satisfied_is_what_the_words_say(kind):
    rules = CLASSES[kind](ROWS[kind], 4)
    expected = np.array([KINDS[kind](EVERYTHING, *row) for row in ROWS[kind]]).T
    assert (
        np.array([rules.satisfied(labels) for labels in EVERYTHING]).tolist() == expected.tolist()
    )
    assert (
        np.array([rules.satisfied(labels.tolist()) for labels in EVERYTHING[:9]]).tolist()
        == expected[:9].tolist()
    )
    assert 0 < expected.mean() < 1


@pytest.mark.parametrize("kind", ROWS)
def test_rows_outlive_json_and_repr_counts_them(kind):
    rules = CLASSES[kind](ROWS[kind], 4, name="mine")
    word = "group" if kind == "spread" else kind
    again = CLASSES[kind](json.loads(json.dumps(rules.rows)), 4)
    assert again.rows == rules.rows
    assert repr(rules) == f"<{CLASSES[kind].__name__} 'mine': 3 {word}s on 4 items>"
    assert (again.name, len(again)) == (kind, 3)


@pytest.mark.parametrize("kind", ROWS)
def test_a_statement_keeps_its_meaning_under_other_names(kind):
    names = np.array([2, 0, 3, 1])
    for statement in CLASSES[kind](ROWS[kind], 4).statements():
        renamed = statement.renamed(names)
        assert sorted(set(renamed.items)) == sorted({int(names[i]) for i in statement.items})
        for labels in EVERYTHING[::5]:
            elsewhere = np.empty(4, dtype=int)
            elsewhere[names] = labels
            assert renamed.holds(elsewhere) == statement.holds(labels)


def test_arrays_are_rows_too():
    assert bc.LabelConstraints(np.array([[0, 1], [2, 0]]), 4).rows == ((0, 1), (2, 0))
    assert bc.SpanConstraints([(np.array([3, 1]), [2, 0])], 4).rows == (((3, 1), (2, 0)),)


def test_answers_say_what_is_written():
    links = bc.PairwiseConstraints([(0, 1), (2, 1)], [True, False], n_items=4)
    assert links.statements() == [Together(0, 1), Apart(1, 2)]
    words = ("yes", "no", "dnk")
    triplets = bc.RelativeConstraints([(0, 1, 2)] * 3, words, n_items=4)
    assert triplets.unsure.tolist() == [False, False, True]
    assert links.unsure.tolist() == [False, False]
    for statement, answer in zip(triplets.statements(), words, strict=True):
        expected = KINDS["triplets"](EVERYTHING, 0, 1, 2, answer).tolist()
        assert [statement.holds(labels) for labels in EVERYTHING] == expected
    # where a source is right about a triplet, what it says of the partition holds
    for labels in EVERYTHING:
        answer = words[int(triplets.truths(labels)[0])]
        assert triplets.with_answers([answer] * 3).statements()[0].holds(labels)


@pytest.mark.parametrize("kind", ["span", "spread", "implication"])
def test_methods_that_need_a_table_refuse_rules(kind):
    with pytest.raises(TypeError, match=r"^constraints\[0\] is a \w+, but this method uses"):
        bc.RDPMeans().fit(np.arange(8.0).reshape(4, 2), constraints=CLASSES[kind](ROWS[kind], 4))


def test_labels_are_the_pairs_that_they_imply():
    labels = bc.LabelConstraints([(0, 5), (3, 1), (2, 5)], 4, noise=bc.LinkNoise(p=0.9))
    pairs = labels.factors()
    assert pairs.rows == ((0, 3, "different"), (0, 2, "same"), (2, 3, "different"))
    assert (pairs.name, pairs.noise) == ("label", bc.LinkNoise(p=0.9))
    assert len(bc.LabelConstraints([], 4).factors()) == 0


def test_groups_that_hold_in_every_partition_are_left_out():
    table = pd.DataFrame({"group": list("aabcc"), "i": range(5), "most": [1, 1, 1, 2, 2]})
    assert bc.constraints.SpreadConstraints.from_frame(table, n_items=5).rows == (((0, 1), 1),)
