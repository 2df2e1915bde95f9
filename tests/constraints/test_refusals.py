"""Refusals of constraints and noise models: the kind of each error and its one sentence."""

import numpy as np
import pandas as pd
import pytest

from bayesclust import constraints
from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.base import KINDS
from bayesclust.constraints.stored import to_dataset
from tests.refusals import refused


def pairs(rows, same=(True,), n_items=4, **more):
    return PairwiseConstraints(rows, same, n_items, **more)


def triplets(rows, answers=("yes",), n_items=4, **more):
    return RelativeConstraints(rows, answers, n_items, **more)


def asked(answers):
    return pd.DataFrame([(0, 1, 2), (1, 2, 3)], columns=list("ijk")).assign(answer=answers)


def sampled(kind, values=(0, 0, 1, 1, 2), **settings):
    return kind.sample(values, seed=0, **settings)


def rule(kind, row):
    return KINDS[kind]([row], 4)


nan = np.nan
matrix = PairwiseConstraints.from_matrix
links = PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=4)
NAMES = {**vars(constraints), **globals(), "to_dataset": to_dataset}

ROWS = """
pairs([(0, 1), (2, 4)], [True, True])
    ValueError: pairs[1] names item 4, but with n_items=4 items are numbered 0 to 3: correct the
    index or n_items.
pairs([(0, 1), (2, 2)], [1, 1])
    ValueError: pairs[1] links item 2 to itself: remove this row.
triplets([(3, 1, 3)])
    ValueError: triplets[0] = (3, 1, 3) names item 3 more than once: a triplet needs three
    different items.
pairs([(0, 1), (1, 2)], [True])
    ValueError: same must have shape (2,); got (1,): pass for each row of pairs "different" (0) or
    "same" (1).
pairs([(0, 1), (1, 2)], [1.0, nan])
    ValueError: same[1] is nan, not an answer: pass for each row of pairs "different" (0) or "same"
    (1); leave out rows without one.
pairs([(0, 1), (1, 2)], [0, -1])
    ValueError: same[0] is 0, not an answer: pass for each row of pairs "different" (0) or "same"
    (1); leave out rows without one.
triplets([(0, 1, 2)], [-1])
    ValueError: answers[0] is -1, not an answer: pass for each row of triplets "yes" (0) or "no" (1)
    or "dnk" (2); leave out rows without one.
pairs([("ann", "bob")])
    TypeError: pairs must hold integers; got dtype <U3: pass one row of 2 item indices per answer,
    or names of items by from_frame.
RelativeConstraints.from_frame(asked([1, 0]), n_items=4)
    ValueError: answer has nothing but 0 and 1, which may be codes (0 yes, 1 no, 2 dnk) or no and
    yes: write words, or True and False.
PairwiseConstraints.from_frame(pd.DataFrame(), n_items=4)
    ValueError: the table has no column 'i' and no other: name its columns i, j, answer and, if
    there are several, source.
pairs([(0, 1), (1, 2)], np.ma.masked_array([1, 0], [False, True]))
    ValueError: same has masked entries, first in row 1: remove these rows or fill in values.
pairs([(0, 1), (1, 2)], [1, 0], source=["ann", None])
    ValueError: source[1] is None: name the sources of all rows of pairs, or number them 0, 1, 2,
    ... without gaps.
pairs([(0, 1), (1, 2)], [1, 0], source=["ann", " "])
    ValueError: source[1] is ' ': name the sources of all rows of pairs, or number them 0, 1, 2, ...
    without gaps.
triplets([(0, 1, 2)], ['maybe'])
    ValueError: answers[0] is 'maybe', not an answer: pass for each row of triplets "yes" (0) or
    "no" (1) or "dnk" (2); leave out rows without one.
pairs([(0, 1), (1, 2)], [1, 1], source=[0, 2])
    ValueError: source has the numbers 0 and 2: name the sources of all rows of pairs, or
    number them 0, 1, 2, ... without gaps.
pairs([(0, 1)], noise=UniformNoise())
    TypeError: noise must be a noise model of 'pairwise' constraints; got UniformNoise: pass for
    instance LinkNoise().
PairwiseConstraints.from_lists([(0, 1)], [(2, 2)], n_items=3)
    ValueError: cannot_link[0] links item 2 to itself: remove this row.
matrix([[1, 0], [1, 1]])
    ValueError: E[0, 1] and E[1, 0] contradict each other: make E symmetric, or pass both answers
    to PairwiseConstraints(pairs, same, n_items).
matrix([[nan, 2], [nan, nan]])
    ValueError: E[0, 1] is 2: entries are 1 (same), 0 (different) or NaN (not asked).
matrix([[0, 1], [1, 1]])
    ValueError: E[0, 0] is 0, but no item differs from itself: put 1 or NaN on the diagonal.
"""
SETTINGS = """
sampled(PairwiseConstraints)
    TypeError: pass fraction or size to say how many to draw; got neither.
sampled(RelativeConstraints, size=2, fraction=0.5)
    TypeError: pass fraction or size to say how many to draw; got both.
sampled(PairwiseConstraints, size=11)
    ValueError: size must be an integer from 1 to 10; got 11.
sampled(PairwiseConstraints, size=2, error_rate=[0.1, 0.2])
    ValueError: error_rate has shape (2,): pass a number in [0, 1], or one for each of 1 sources.
sampled(RelativeConstraints, size=2, confusion=np.eye(2))
    ValueError: confusion must have shape (3, 3); got (2, 2): pass one row of probabilities that
    sum to one per true answer.
sampled(RelativeConstraints, size=4, n_sources=2, confusion=[np.eye(3)] * 3)
    ValueError: confusion must be one matrix or one per source (2); got 3: set n_sources to the
    number of matrices.
sampled(PairwiseConstraints, size=2, n_sources=3)
    ValueError: n_sources must be an integer from 1 to 2; got 3.
sampled(RelativeConstraints, [0, 1], size=1)
    ValueError: labels must name at least 3 items; got 2.
sampled(PairwiseConstraints, np.array([1, 'a'], dtype=object), size=1)
    TypeError: labels must be of one kind that can be sorted: pass numbers or words, not a mix.
LinkNoise(p=(0, 1))
    ValueError: p is (0, 1): pass a Beta prior (a, b), both positive and finite, or a known number
    in (0, 1).
ConfusionNoise(matrix=np.full((3, 3), 0.3))
    ValueError: matrix is [[0.3, 0.3, 0.3], [0.3, 0.3, 0.3], [0.3, 0.3, 0.3]]: pass one row of
    probabilities that sum to one per true answer.
ConfusionNoise(matrix=[[1.5, -0.5, 0], [0, 1, 0], [0, 0, 1]])
    ValueError: matrix is [[1.5, -0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]: pass one row of
    probabilities that sum to one per true answer.
ConfusionNoise(prior=np.ones((3, 3)), matrix=np.eye(3))
    TypeError: ConfusionNoise takes a prior or a known matrix, not both: leave one out.
links.restrict([True, False])
    ValueError: items must have shape (4,); got (2,): pass a list of indices, or a mask with one
    value per item.
to_dataset([links, links])
    ValueError: two constraints are named "links": give each a name of its own, name="...".
"""
RULES = """
rule('label', (4, 1))
    ValueError: an item in rows[0] must be an integer from 0 to 3; got 4.
rule('span', ([], [1]))
    ValueError: rows[0] has no items: name at least one, or leave the row out.
rule('span', ([0], []))
    ValueError: rows[0] has no clusters: name at least one, or leave the row out.
rule('span', (0, [1]))
    TypeError: rows[0] has 0 where a list of items is wanted.
rule('span', ([0, 0], [1]))
    ValueError: rows[0] names item 0 more than once: name each once.
rule('spread', ([0, 1], 0))
    ValueError: the number of clusters in rows[0] must be an integer of at least 1; got 0.
rule('implication', ([(0, 1, True)], []))
    ValueError: rows[0] has no links: name at least one, or leave the row out.
rule('implication', ([(1, 1, True)], [(0, 1, True)]))
    ValueError: rows[0] links item 1 to itself: remove this link.
rule('implication', ([(0, 1, 1)], [(0, 1, True)]))
    TypeError: rows[0] has (0, 1, 1) where a link (i, j, True or False for together or apart) is
    wanted.
LabelConstraints([(0, 1)], 4).satisfied([0, 1, 2])
    ValueError: labels must have shape (4,); got (3,): pass for each item the number of its
    cluster.
"""
test_bad_input_is_refused_in_one_sentence = refused(ROWS + SETTINGS + RULES, NAMES)


@pytest.mark.parametrize("params", [None, {}, [0.5], {"p": [0.5]}, {"p": 0.5, "q": 0.5}])
def test_parameters_of_the_noise_are_told_by_name_and_shape(params):
    sentence = (
        r"^noise_params must be a dict of 'p' of shape \(1,\) and 'q' of shape \(1,\), behind"
    )
    with pytest.raises(ValueError, match=sentence):
        links.log_prob([0, 0, 1, 1], params)
    with pytest.raises(TypeError, match="q must hold numbers"):
        links.log_prob([0, 0, 1, 1], {"p": [0.5], "q": ["a"]})
