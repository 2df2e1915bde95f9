"""Bad input: each case fails before any computing, with one exact sentence."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import bayesclust as bc

GOOD = np.arange(12.0).reshape(6, 2)
LINKS = bc.PairwiseConstraints([(0, 1)], [True], n_items=6)
TRIPLETS = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=6)
NAN, INF = float("nan"), float("inf")


def changed(*entries):
    X = GOOD.copy()
    for row, column, value in entries:
        X[row, column] = value
    return X


RESHAPE = "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one item."
REAL = "every argument must be neither a string nor another object but a real number."
FILL = "remove these items or fill in values."
MASKED = np.ma.masked_array(GOOD, mask=np.isin(np.arange(12), [4, 9]).reshape(6, 2))

# name: (X, sentence); a TypeError where X is no numbers at all
DATA = {
    "nan": (changed((1, 0, NAN)), f"X has NaN in row 1: {FILL}"),
    "all nan": (np.full((8, 2), NAN), f"X has NaN in rows 0, 1, 2, 3, 4 and 3 more: {FILL}"),
    "infinities": (
        changed((2, 1, INF), (3, 0, -INF)),
        f"X has infinity in rows 2 and 3: {FILL}",
    ),
    "overflow": (
        changed((5, 0, -1e200)),
        "X has values beyond 1e+150 in row 5: rescale the features.",
    ),
    "scalar": (3.0, f"X must have shape (items, features); got (). {RESHAPE}"),
    "no items": (np.empty((0, 3)), "X has no items: pass at least two items."),
    "one item": ([[1.0, 2.0]], "X has one item (n_samples=1): pass at least two items."),
    "ragged": (
        [[1.0], [2.0, 3.0]],
        "X has rows of different lengths: pass one value per item and feature.",
    ),
    "complex": (
        GOOD + 1j,
        "Complex data not supported: X has dtype complex128, pass real numbers.",
    ),
    "masked": (MASKED, f"X has masked entries, first in row 2: {FILL}"),
    "frame with gaps": (
        pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
        f"X has NaN in row 1: {FILL}",
    ),
}
KINDS_OF_DATA = {
    "a word": (
        np.array([[1, "2"], [3, 4]], dtype=object),
        f"X must hold numbers, but X[0, 1] is a str: {REAL}",
    ),
    "nothing": (None, f"X must hold numbers, but X is a NoneType: {REAL}"),
    "sparse": (
        csr_array(GOOD),
        "X is a sparse csr_array, but dense data is needed: pass X.toarray().",
    ),
    "frame with words": (
        pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"])}),
        "X must hold numbers, but column b does not: drop it or encode it as numbers.",
    ),
}

HINT = "wrap your pairs or triplets in one of these."
KINDS = "must be PairwiseConstraints or RelativeConstraints, or a list of them"
OTHERS = bc.PairwiseConstraints([(0, 1)], [True], n_items=7)
CONSTRAINTS = {
    "pairs": ([(0, 1)], TypeError, f"constraints[0] {KINDS}; got tuple: {HINT}"),
    "matrix": (np.eye(6), TypeError, f"constraints {KINDS}; got ndarray: {HINT}"),
    "wrong": ([LINKS, None], TypeError, f"constraints[1] {KINDS}; got NoneType: {HINT}"),
    "other items": (
        OTHERS,
        ValueError,
        "the constraints 'links' are on 7 items, but X has 6: pass the X they were made for, "
        "or restrict(items) them.",
    ),
}

# settings of RDPMeans, sentence
SETTINGS = [
    (
        {"penalty": 1.0, "n_clusters": 2},
        "penalty and n_clusters both set what a cluster costs: leave one of them out.",
    ),
    ({"n_clusters": 7}, "n_clusters=7 is more than the 6 items of X: ask for fewer clusters."),
    ({"xi": (1.0, -1.0)}, "xi[1] must lie in [0, inf); got -1.0."),
    (
        {"xi": (1.0, 1.0, 1.0)},
        "xi must be a number, a pair (xi1, xi2), a dict by the names of the constraints, or None; "
        "got (1.0, 1.0, 1.0).",
    ),
]


ESTIMATORS = [
    bc.TVClust(),
    bc.RDPMeans(),
    bc.DPMeans(),
    bc.SpectralRDPMeans(),
    bc.MPCKMeans(2),
    bc.DCRC(2),
    bc.MinimalModification(),
]


def fails(error, sentence, call):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == sentence


@pytest.mark.parametrize("case", DATA | KINDS_OF_DATA)
def test_data(case):
    X, sentence = (DATA | KINDS_OF_DATA)[case]
    fails(ValueError if case in DATA else TypeError, sentence, lambda: bc.DPMeans().fit(X))


@pytest.mark.parametrize("case", CONSTRAINTS)
@pytest.mark.parametrize(
    "estimator", [bc.TVClust(), bc.RDPMeans()], ids=lambda estimator: type(estimator).__name__
)
def test_constraints(estimator, case):
    constraints, error, sentence = CONSTRAINTS[case]
    fails(error, sentence, lambda: estimator.fit(GOOD, constraints=constraints))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_answers_in_the_place_of_labels(estimator):
    sentence = "a {} came as y, which is ignored: pass constraints=... instead.".format
    rule = bc.LabelConstraints([(0, 1)], n_items=6)
    for answers, first in ((LINKS, LINKS), ([TRIPLETS, LINKS], TRIPLETS), (rule, rule)):
        words = sentence(type(first).__name__)
        fails(TypeError, words, lambda answers=answers: estimator.fit(GOOD, answers))
        fails(TypeError, words, lambda answers=answers: estimator.fit(GOOD, y=answers))
        fails(TypeError, words, lambda answers=answers: estimator.fit_predict(GOOD, answers))


@pytest.mark.parametrize(("settings", "sentence"), SETTINGS)
def test_settings(settings, sentence):
    error = TypeError if sentence.startswith("xi must") else ValueError
    fails(error, sentence, lambda: bc.RDPMeans(**settings).fit(GOOD))


def test_answers_that_a_method_cannot_use():
    sentence = "DPMeans takes no constraints: use RDPMeans."
    fails(TypeError, sentence, lambda: bc.DPMeans().fit(GOOD, constraints=LINKS))


def test_predicting_on_other_features():
    fitted = bc.DPMeans(penalty=1.0).fit(GOOD)
    sentence = "X has 3 features, but DPMeans is expecting 2 features as input."
    fails(ValueError, sentence, lambda: fitted.predict(np.zeros((2, 3))))
    fails(
        ValueError,
        "X has NaN in row 0: remove these items or fill in values.",
        lambda: fitted.predict([[NAN, 0.0]]),
    )
    fails(
        ValueError,
        "X has no items: pass at least one item.",
        lambda: fitted.predict(np.empty((0, 2))),
    )
