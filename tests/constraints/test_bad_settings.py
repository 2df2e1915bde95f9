"""What sampling, noise models and methods of views say to bad settings: the kind of error and its one sentence."""

import numpy as np
import pytest

from bayesclust.constraints import (
    ConfusionNoise,
    LinkNoise,
    PairwiseConstraints,
    RelativeConstraints,
    UniformNoise,
    greedy_coloring,
    to_dataset,
)

nan = float("nan")
labels = [0, 0, 1, 1, 2]
links = PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=4)


def sampled(kind, values=labels, **settings):
    return lambda: kind.sample(values, seed=0, **settings)


CASES = [
    # sampling
    (
        sampled(PairwiseConstraints),
        TypeError,
        "pass fraction or size to say how many pairs to draw; got neither.",
    ),
    (
        sampled(RelativeConstraints, size=2, fraction=0.5),
        TypeError,
        "pass fraction or size to say how many triplets to draw; got both.",
    ),
    (sampled(PairwiseConstraints, fraction=0), ValueError, "fraction must lie in (0, 1]; got 0."),
    (
        sampled(PairwiseConstraints, fraction=1.5),
        ValueError,
        "fraction must lie in (0, 1]; got 1.5.",
    ),
    (
        sampled(PairwiseConstraints, fraction="3%"),
        TypeError,
        "fraction must be a number in (0, 1]; got '3%' of type str.",
    ),
    (
        sampled(PairwiseConstraints, size=11),
        ValueError,
        "size is 11, but there are only 10 pairs: draw fewer.",
    ),
    (
        sampled(PairwiseConstraints, size=26, ordered=True),
        ValueError,
        "size is 26, but there are only 25 ordered pairs: draw fewer.",
    ),
    (
        sampled(RelativeConstraints, size=31),
        ValueError,
        "size is 31, but there are only 30 triplets: draw fewer.",
    ),
    (sampled(RelativeConstraints, size=0), ValueError, "size must be a positive integer; got 0."),
    (
        sampled(PairwiseConstraints, size=2, error_rate=1.1),
        ValueError,
        "error_rate must lie in [0, 1]; got 1.1.",
    ),
    (
        sampled(PairwiseConstraints, size=2, error_rate=nan),
        ValueError,
        "error_rate must lie in [0, 1]; got nan.",
    ),
    (
        sampled(PairwiseConstraints, size=2, error_rate="often"),
        TypeError,
        "error_rate must be a number in [0, 1], or one per source; got 'often'.",
    ),
    (
        sampled(PairwiseConstraints, size=2, error_rate=[0.1, 0.2]),
        ValueError,
        "error_rate must be one number or one per source (1); got shape (2,): set n_sources to the number of rates.",
    ),
    (
        sampled(RelativeConstraints, size=2, error_rate=-0.1),
        ValueError,
        "error_rate must lie in [0, 1]; got -0.1.",
    ),
    (
        sampled(RelativeConstraints, size=2, confusion=np.eye(2)),
        ValueError,
        "confusion must have shape (3, 3); got (2, 2): pass one row of probabilities per true answer.",
    ),
    (
        sampled(RelativeConstraints, size=4, n_sources=2, confusion=[np.eye(3)] * 3),
        ValueError,
        "confusion must be one matrix or one per source (2); got 3: set n_sources to the number of matrices.",
    ),
    (
        sampled(PairwiseConstraints, size=2, n_sources=3),
        ValueError,
        "n_sources is 3, but only 2 questions are asked: ask more or use fewer sources.",
    ),
    (
        sampled(PairwiseConstraints, [[0, 1]], size=1),
        ValueError,
        "labels must have shape (n,); got (1, 2): pass one label per item.",
    ),
    (
        sampled(RelativeConstraints, [0, 1], size=1),
        ValueError,
        "labels must name at least 3 items; got 2.",
    ),
    (
        sampled(PairwiseConstraints, [0, 1, nan], size=1),
        ValueError,
        "labels[2] is nan: pass a label for every item.",
    ),
    (
        sampled(PairwiseConstraints, ["a", None, "b"], size=1),
        ValueError,
        "labels[1] is None: pass a label for every item.",
    ),
    (
        sampled(PairwiseConstraints, np.array([1, "a"], dtype=object), size=1),
        TypeError,
        "labels must be of one kind that can be sorted: pass numbers or words, not a mix.",
    ),
    # noise models
    (lambda: LinkNoise(p=1.0), ValueError, "p must lie in (0, 1); got 1.0."),
    (lambda: LinkNoise(q=0), ValueError, "q must lie in (0, 1); got 0."),
    (
        lambda: LinkNoise(p=(0, 1)),
        ValueError,
        "both numbers of the Beta prior p must be positive and finite; got (0, 1).",
    ),
    (
        lambda: LinkNoise(q=(1, 2, 3)),
        TypeError,
        "q must be a Beta prior (a, b) or a known number in (0, 1); got (1, 2, 3).",
    ),
    (
        lambda: LinkNoise(p="0.9"),
        TypeError,
        "p must be a Beta prior (a, b) or a known number in (0, 1); got '0.9'.",
    ),
    (lambda: LinkNoise(p=True), TypeError, "p must be a number in (0, 1); got True of type bool."),
    (lambda: UniformNoise(eps=1.0), ValueError, "eps must lie in [0, 1); got 1.0."),
    (lambda: UniformNoise(eps=-0.1), ValueError, "eps must lie in [0, 1); got -0.1."),
    (
        lambda: UniformNoise(eps=(1, -9)),
        ValueError,
        "both numbers of the Beta prior eps must be positive and finite; got (1, -9).",
    ),
    (
        lambda: ConfusionNoise(prior=[1, 2, 3]),
        ValueError,
        "prior must have shape (3, 3); got (3,): pass one row of Dirichlet weights per true answer.",
    ),
    (
        lambda: ConfusionNoise(prior=np.eye(3)),
        ValueError,
        "prior[0, 1] is 0: weights must be positive and finite.",
    ),
    (
        lambda: ConfusionNoise(matrix=np.full((3, 3), 0.3)),
        ValueError,
        "row 0 of matrix sums to 0.9: each row must sum to one.",
    ),
    (
        lambda: ConfusionNoise(matrix=[[1.5, -0.5, 0], [0, 1, 0], [0, 0, 1]]),
        ValueError,
        "matrix[0, 0] is 1.5: probabilities lie in [0, 1].",
    ),
    (
        lambda: ConfusionNoise(prior=np.ones((3, 3)), matrix=np.eye(3)),
        TypeError,
        "ConfusionNoise takes a prior or a known matrix, not both: leave one out.",
    ),
    # what is asked of a view
    (
        lambda: links.restrict([0, 4]),
        ValueError,
        "items names 4, but items are numbered 0 to 3: correct the index.",
    ),
    (
        lambda: links.restrict([1, 1]),
        ValueError,
        "items names 1 more than once: pass each item once.",
    ),
    (
        lambda: links.restrict([True, False]),
        ValueError,
        "a mask of items must have shape (4,); got (2,): pass one value per item.",
    ),
    (lambda: links.restrict([False] * 4), ValueError, "items is empty: keep at least one item."),
    (lambda: links.restrict([]), ValueError, "items is empty: keep at least one item."),
    (
        lambda: links.restrict([0.5]),
        TypeError,
        "items must be a list of indices or a mask; got shape (1,), dtype float64.",
    ),
    (
        lambda: PairwiseConstraints([(0, 1), (1, 2), (2, 0)], [1, 1, 0], n_items=3).closure(),
        ValueError,
        "pairs[2] says that items 0 and 2 are different, but other answers make them the same: "
        "remove one of the answers that conflicts() lists.",
    ),
    (
        lambda: greedy_coloring([links], n_items=5),
        ValueError,
        "the constraints 'links' are on 4 items, but n_items is 5: pass the n_items they were made for.",
    ),
    (
        lambda: to_dataset([links, links]),
        ValueError,
        'two views are named "links": give each a name of its own, name="...".',
    ),
]


@pytest.mark.parametrize(
    ("call", "kind", "sentence"), CASES, ids=[sentence[:60] for *_, sentence in CASES]
)
def test_bad_settings_are_refused_in_one_sentence(call, kind, sentence):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == sentence
    assert type(caught.value) is kind
    assert sentence.endswith((".", "..."))
