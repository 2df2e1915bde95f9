"""What the door of the views says to bad input: the kind of error and its one sentence, word for word."""

import pytest
from scipy import sparse

from bayesclust.constraints import (
    PairwiseConstraints,
    RelativeConstraints,
    UniformNoise,
)

nan = float("nan")
links = PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=4)


def pairs(rows, same=(True,), n_items=4, **more):
    return lambda: PairwiseConstraints(rows, same, n_items, **more)


def triplets(rows, answers=("yes",), n_items=4, **more):
    return lambda: RelativeConstraints(rows, answers, n_items, **more)


def matrix(rows):
    return lambda: PairwiseConstraints.from_matrix(rows)


CASES = [
    # shapes and kinds of the tuples
    (
        pairs([0, 1]),
        ValueError,
        "pairs must have shape (m, 2); got (2,): pass one row of 2 item indices per answer.",
    ),
    (
        pairs([(0, 1, 2)]),
        ValueError,
        "pairs must have shape (m, 2); got (1, 3): pass one row of 2 item indices per answer.",
    ),
    (
        triplets([(0, 1)]),
        ValueError,
        "triplets must have shape (m, 3); got (1, 2): pass one row of 3 item indices per answer.",
    ),
    (
        pairs([(0.0, 1.0)]),
        TypeError,
        "pairs must hold integers; got dtype float64: pass item indices 0 to n_items - 1.",
    ),
    (
        pairs([(True, False)]),
        TypeError,
        "pairs must hold integers; got dtype bool: pass item indices 0 to n_items - 1.",
    ),
    (
        triplets([("a", "b", "c")]),
        TypeError,
        "triplets must hold integers; got dtype <U1: pass item indices 0 to n_items - 1.",
    ),
    (
        pairs([(0, 1), (2,)], [True, True]),
        ValueError,
        "pairs has rows of different lengths: pass one row of 2 item indices per answer.",
    ),
    # items
    (
        pairs([(0, 1), (2, 4)], [True, True]),
        ValueError,
        "pairs[1] names item 4, but with n_items=4 items are numbered 0 to 3: correct the index or n_items.",
    ),
    (
        triplets([(0, -1, 2)]),
        ValueError,
        "triplets[0] names item -1, but with n_items=4 items are numbered 0 to 3: correct the index or n_items.",
    ),
    (
        pairs([(0, 1), (2, 2)], [1, 1]),
        ValueError,
        "pairs[1] links item 2 to itself: remove this row.",
    ),
    (
        triplets([(3, 1, 3)]),
        ValueError,
        "triplets[0] = (3, 1, 3) names item 3 more than once: a triplet needs three different items.",
    ),
    # answers
    (
        pairs([(0, 1), (1, 2)], [True]),
        ValueError,
        "same must have shape (2,), one answer for each row of pairs; got (1,): pass as many answers as rows.",
    ),
    (
        triplets([(0, 1, 2)], ["yes", "no"]),
        ValueError,
        "answers must have shape (1,), one answer for each row of triplets; got (2,): pass as many answers as rows.",
    ),
    (
        triplets([(0, 1, 2)], ["maybe"]),
        ValueError,
        'answers[0] is \'maybe\', which is not in the vocabulary: answers are "yes" (0) or "no" (1) or "dnk" (2).',
    ),
    (
        triplets([(0, 1, 2), (1, 2, 3)], ["yes", None]),
        ValueError,
        'answers[1] is None, which is not in the vocabulary: answers are "yes" (0) or "no" (1) or "dnk" (2).',
    ),
    (
        triplets([(0, 1, 2)], [3]),
        ValueError,
        'answers[0] is 3, which is not in the vocabulary: answers are "yes" (0) or "no" (1) or "dnk" (2).',
    ),
    (
        pairs([(0, 1)], [-1]),
        ValueError,
        'same[0] is -1, which is not in the vocabulary: answers are "different" (0) or "same" (1).',
    ),
    (
        pairs([(0, 1)], [0.5]),
        TypeError,
        'same must hold words or integer codes; got dtype float64: answers are "different" (0) or "same" (1).',
    ),
    (
        triplets([(0, 1, 2)], [True]),
        TypeError,
        'answers must hold words or integer codes; got dtype bool: answers are "yes" (0) or "no" (1) or "dnk" (2).',
    ),
    (
        lambda: links.with_answers([True]),
        ValueError,
        "same must have shape (2,), one answer for each row of pairs; got (1,): pass as many answers as rows.",
    ),
    # n_items, sources, noise, name
    (pairs([(0, 1)], n_items=0), ValueError, "n_items must be a positive integer; got 0."),
    (
        pairs([(0, 1)], n_items=4.0),
        TypeError,
        "n_items must be a positive integer; got 4.0 of type float.",
    ),
    (
        pairs([(0, 1)], n_items=True),
        TypeError,
        "n_items must be a positive integer; got True of type bool.",
    ),
    (
        pairs([(0, 1)], source=[0, 1]),
        ValueError,
        "source must have shape (1,), one number for each row of pairs; got (2,): pass as many sources as rows.",
    ),
    (pairs([(0, 1)], source=[-1]), ValueError, "source[0] is -1: number the sources 0, 1, 2, ..."),
    (
        pairs([(0, 1)], source=["ann"]),
        TypeError,
        "source must hold integers; got dtype <U3: number the sources 0, 1, 2, ...",
    ),
    (
        pairs([(0, 1), (1, 2)], [1, 1], source=[0, 2]),
        ValueError,
        "source skips number 1 (the largest is 2): number the sources 0, 1, 2, ... without gaps.",
    ),
    (
        pairs([(0, 1)], noise=UniformNoise()),
        TypeError,
        "UniformNoise is for relative constraints, but these are pairwise: pass for instance LinkNoise().",
    ),
    (
        triplets([(0, 1, 2)], noise=0.1),
        TypeError,
        "noise must be a noise model; got float: pass for instance UniformNoise().",
    ),
    (
        pairs([(0, 1)], name="my links"),
        ValueError,
        "name must be a word of letters, digits and underscores; got 'my links'.",
    ),
    # lists and matrices
    (
        lambda: PairwiseConstraints.from_lists([(0, 1)], [(2, 2)], n_items=3),
        ValueError,
        "cannot_link[0] links item 2 to itself: remove this row.",
    ),
    (
        matrix([[1, 0]]),
        ValueError,
        "E must have shape (n, n); got (1, 2): pass one row and one column per item.",
    ),
    (
        matrix(sparse.csr_array((2, 3))),
        ValueError,
        "E must have shape (n, n); got (2, 3): pass one row and one column per item.",
    ),
    (
        matrix([[1, 0], [1, 1]]),
        ValueError,
        "E[0, 1] and E[1, 0] contradict each other: make E symmetric, "
        "or pass both answers to PairwiseConstraints(pairs, same, n_items).",
    ),
    (
        matrix([[nan, 2], [nan, nan]]),
        ValueError,
        "E[0, 1] is 2: entries are 1 (same), 0 (different) or NaN (not asked).",
    ),
    (
        matrix(sparse.csr_array(([-1.0], ([1], [0])), shape=(2, 2))),
        ValueError,
        "E[1, 0] is -1: entries are 1 (same), 0 (different) or NaN (not asked).",
    ),
    (
        matrix(sparse.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2))),
        ValueError,
        "E[0, 1] is 2: entries are 1 (same), 0 (different) or NaN (not asked).",
    ),
    (
        matrix([[0, 1], [1, 1]]),
        ValueError,
        "E[0, 0] is 0, but no item differs from itself: put 1 or NaN on the diagonal.",
    ),
    (matrix([["a"]]), TypeError, "E must hold numbers; got dtype <U1: use 1, 0 and NaN."),
]


@pytest.mark.parametrize(
    ("call", "kind", "sentence"), CASES, ids=[sentence[:60] for *_, sentence in CASES]
)
def test_bad_input_is_refused_in_one_sentence(call, kind, sentence):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == sentence
    assert type(caught.value) is kind
    assert sentence.endswith((".", "..."))
