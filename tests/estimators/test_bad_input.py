"""Bad input: each case fails before any computing, with one exact sentence."""

import numpy as np
import pandas as pd
import pytest
from sklearn.mixture import GaussianMixture

import bayesclust as bc
from tests.refusals import refused

GOOD = np.arange(12.0).reshape(6, 2)
LINKS = bc.PairwiseConstraints([(0, 1)], [True], n_items=6)
TRIPLETS = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=6)
GRADED = bc.PairwiseConstraints.from_scores([(0, 1)], [0.9], n_items=6)
MASKED = np.ma.masked_array(GOOD, mask=np.isin(np.arange(12), [4, 9]).reshape(6, 2))
DENSITY = GaussianMixture(2, random_state=0).fit(GOOD)
WORDS = pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"])})


class Lazy:
    """A table such as those of polars that have not been computed."""

    def collect(self):
        raise NotImplementedError


LAZY = Lazy()


def named(name):
    return bc.PairwiseConstraints([(0, 1)], [True], n_items=6, name=name)


def changed(*entries):
    X = GOOD.copy()
    for row, column, value in entries:
        X[row, column] = value
    return X


def fit(X, constraints=None, **settings):
    return bc.RDPMeans(**settings).fit(X, constraints=constraints)


ROWS = """
fit(changed((1, 0, np.nan)))
    ValueError: X has NaN in row 1: remove these items, fill in values, or use a family that takes
    NaN, such as 'gaussian_diagonal' or 'mixed' of TVClust.
fit(np.full((8, 2), np.nan))
    ValueError: X has NaN in rows 0, 1, 2, 3, 4 and 3 more: remove these items, fill in values, or
    use a family that takes NaN, such as 'gaussian_diagonal' or 'mixed' of TVClust.
fit(3.0)
    ValueError: X must have shape (items, features); got (). Reshape your data: X.reshape(-1, 1)
    for one feature, X.reshape(1, -1) for one item.
fit([[1.0, 2.0]])
    ValueError: X has 1 item (n_samples=1): pass at least 2.
fit(MASKED)
    ValueError: X has masked entries, first in row 2: remove these rows or fill in values.
fit(list(MASKED))
    ValueError: X has masked entries, first in row 2: remove these rows or fill in values.
fit(LAZY)
    TypeError: X is a Lazy, not yet computed: call its collect() first.
fit([np.ma.array([1.0, 2.0]), np.ma.array([1.0, 2.0, 3.0])])
    ValueError: X has rows of different lengths: pass one value per item and feature.
fit([[1.0, 2.0], np.ma.array([1.0, 2.0], mask=[True, False])])
    ValueError: X has masked entries, first in row 1: remove these rows or fill in values.
fit(GOOD, [named("links"), named("links_answer_id")])
    ValueError: constraints are named 'links_answer_id', as results call a part of others: give
    another name.
bc.TVClust().fit(GOOD, constraints=named("concentration"))
    ValueError: constraints are named 'concentration', as results call a parameter of the model:
    give another name.
fit(pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}))
    ValueError: X has NaN in row 1: remove these items, fill in values, or use a family that takes
    NaN, such as 'gaussian_diagonal' or 'mixed' of TVClust.
fit(np.array([[1, "2"], [3, 4]], dtype=object))
    TypeError: X must hold numbers, but X[0, 1] is '2': an argument must be no string or other
    object but a number below 1e+150; family='mixed' of TVClust takes columns of words, in a
    DataFrame of pandas.
fit(WORDS.astype(object))
    TypeError: X must hold numbers, but X[0, 1] in column 'b' is 'x': an argument must be no string
    or other object but a number below 1e+150; family='mixed' of TVClust takes columns of words,
    in a DataFrame of pandas.
fit(WORDS)
    TypeError: X must hold numbers, unlike column b: drop such columns or encode them as numbers;
    family='mixed' of TVClust takes columns of words.
fit(GOOD, bc.PairwiseConstraints([(0, 1)], [True], n_items=7))
    ValueError: the constraints 'links' are on 7 items, but X has 6: pass the X they were made
    for, or restrict(items) them; bayesclust.cross_validate holds answers out in place of items.
fit(GOOD, [LINKS, LINKS])
    ValueError: constraints[1] is an object that stands before it, too: its answers would count
    twice.
fit(GOOD, penalty=1.0, n_clusters=2)
    ValueError: penalty and n_clusters both set what a cluster costs: leave one of them out.
fit(GOOD, n_clusters=7)
    ValueError: n_clusters must be an integer from 1 to 6; got 7.
fit(GOOD, xi=(1.0, 1.0, 1.0))
    TypeError: xi must be a number, a pair (xi1, xi2), a dict by the names of the constraints, or
    None; got (1.0, 1.0, 1.0).
bc.TVClust().fit(GOOD, init=DENSITY)
    TypeError: init is a GaussianMixture, which has no labels_: pass labels, such as those that its
    predict returns.
bc.DPMeans().fit(GOOD, constraints=LINKS)
    TypeError: DPMeans takes no constraints: use RDPMeans.
fit(GOOD, penalty=1.0).predict(np.zeros((2, 3)))
    ValueError: X has 3 features, but RDPMeans is expecting 2 features as input.
bc.MPCKMeans().fit(GOOD, constraints=TRIPLETS)
    TypeError: constraints[0] is a RelativeConstraints, but this method uses constraints about
    pairs or labels alone: leave it out, or use TVClust with sampler='collapsed', which takes all.
bc.MPCKMeans().fit(GOOD, constraints=GRADED)
    TypeError: constraints[0] is a GradedConstraints, but this method uses constraints about pairs
    or labels alone: cut() it, or use TVClust with sampler='collapsed', which takes all.
bc.LabelConstraints([(0, "a"), (1, None)], 4)
    ValueError: rows[1] has no label: leave the row out.
fit(1e-170 * np.array(GOOD))
    ValueError: X has nothing but zeros and values below 1e-150, whose squares are lost: rescale
    the features.
bc.PairwiseConstraints.from_frame({"i": [0], "j": [1], "answer": ["same"]}, n_items=6)
    TypeError: the table is a dict: pass one whose columns have names, such as a pandas.DataFrame.
bc.cross_validate(bc.RDPMeans, GOOD, LINKS)
    TypeError: estimator is the class RDPMeans: pass one that takes constraints, as TVClust().
bc.cross_validate(bc.RDPMeans(), GOOD, LINKS)
    ValueError: constraints hold 1 answer: pass at least two to hold out one.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, globals())


ESTIMATORS = [bc.TVClust(), bc.RDPMeans(), bc.DPMeans(), bc.SpectralRDPMeans(), bc.MPCKMeans(2)]
ESTIMATORS += [bc.DCRC(2), bc.MinimalModification()]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_answers_in_the_place_of_labels(estimator):
    rule = bc.LabelConstraints([(0, 1)], n_items=6)
    for answers, first in ((LINKS, LINKS), ([TRIPLETS, LINKS], TRIPLETS), (rule, rule)):
        name = type(first).__name__
        words = f"^{name} were passed as y, which fit ignores: pass constraints=... instead\\.$"
        for call in (estimator.fit, estimator.fit_predict):
            with pytest.raises(TypeError, match=words):
                call(GOOD, y=answers)


def test_a_number_too_large_for_a_float_is_refused():
    with pytest.raises(TypeError, match=r"X\[0, 1\] is 10+ \.\.\.: .* a number below 1e\+150;"):
        fit([[10**90, 10**400], [2, 3]])
