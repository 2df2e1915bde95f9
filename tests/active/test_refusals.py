"""Refusals of sessions and query strategies: the kind and the sentence of each error."""

import pytest

import bayesclust as bc
from bayesclust import active
from tests.refusals import cases, refusal

X4 = [[0.0], [1.0], [2.0], [3.0]]
session = bc.InteractiveSession(X4, [0, 0, 1, 1])
NAMES = {**vars(active), **globals()}

ROWS = """
bc.InteractiveSession([[1.0]], [0])
    ValueError: X has one item (n_samples=1): pass at least two items.
bc.InteractiveSession(X4, [0] * 4, y=[1])
    ValueError: y has 1 entries, but X has 4 items: pass one class for each.
bc.InteractiveSession(X4, [0] * 4, modification=bc.DPMeans())
    TypeError: modification must be a MinimalModification; got DPMeans.
bc.InteractiveSession(X4, [0] * 4, modification=bc.MinimalModification(2.0))
    ValueError: anchors must lie in [0, 1]; got 2.0.
bc.InteractiveSession(X4, [0] * 4, query_strategy=3)
    TypeError: query_strategy must be a name or a callable; got int.
bc.InteractiveSession(X4, [0] * 4, query_strategy="oracle")
    ValueError: query_strategy must be "random" or "random-triplets" or "npu" or
    "explore-consolidate" or "min-max" or "posterior" or "posterior-triplets"; got 'oracle'.
session.ask(0)
    ValueError: size must be an integer of at least 1; got 0.
session.answer(Query("pair", (0, 1)), "yes")
    ValueError: answer must be "same" or "different" or "dnk"; got 'yes'.
session.answer(Query("quartet", (0, 1)), "yes")
    ValueError: the kind of a query must be "pair" or "triplet"; got 'quartet'.
session.answer(Query("pair", (0, 4)), "dnk")
    ValueError: pairs[0] names item 4, but with n_items=4 items are numbered 0 to 3: correct the
    index or n_items.
session.add(bc.LabelConstraints([(0, 1)], 5))
    ValueError: the constraints 'label' are on 5 items, but X has 4: pass the X they were made
    for, or restrict(items) them.
session.area_under_budget_curve()
    ValueError: the quality is not known: pass the true classes y to the session.
PosteriorQueries("two")
    ValueError: kind must be "pair" or "triplet" or "either"; got 'two'.
PosteriorQueries(estimator=bc.TVClust("gibbs"))
    ValueError: only sampler='collapsed' conditions on answers one by one; got 'gibbs': choose
    that one.
PosteriorQueries(estimator=bc.DPMeans())
    TypeError: estimator must be a TVClust, or several; got DPMeans: pass TVClust(...).
PosteriorQueries(estimator=[])
    ValueError: estimator is empty: pass TVClust(...), or several.
PosteriorQueries(patience=-1)
    ValueError: patience must be an integer of at least 0; got -1.
PosteriorQueries(num_draws=3)
    ValueError: num_draws must be an integer of at least 4; got 3.
PosteriorQueries().labels()
    ValueError: there are no draws yet: call the query strategy, or update(state, rng).
NPU(n_trees=0)
    ValueError: n_trees must be an integer of at least 1; got 0.
NPU(seed=-1)
    ValueError: seed must be an integer of at least 0; got -1.
NPU(n_jobs=0)
    ValueError: n_jobs must be an integer of at least 1; got 0.
ExploreConsolidate(0)
    ValueError: n_clusters must be an integer of at least 1; got 0.
suggest_queries([[0, 1, 1]], queries=[(0, 5)])
    ValueError: pairs[0] names item 5, but with n_items=3 items are numbered 0 to 2: correct the
    index or n_items.
suggest_queries([[0, 1, 1]], "quartet")
    ValueError: kind must be "pair" or "triplet"; got 'quartet'.
RandomQueries("quartet")
    ValueError: kind must be "pair" or "triplet"; got 'quartet'.
"""


@pytest.mark.parametrize(("call", "error"), cases(ROWS))
def test_bad_input_is_refused_in_a_sentence(call, error):
    assert refusal(call, NAMES) == error
    assert session.n_answers == 0
