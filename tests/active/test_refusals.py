"""Refusals of sessions and query strategies: the kind and the sentence of each error."""

import pytest

import bayesclust as bc
from bayesclust import active
from tests.refusals import cases, refusal

X4 = [[0.0], [1.0], [2.0], [3.0]]
session = bc.InteractiveSession(X4, [0, 0, 1, 1])
NAMES = {**vars(active), **globals()}

ROWS = """
bc.InteractiveSession(X4, [0] * 4, y=[1])
    ValueError: y has 1 entries, but X has 4 items: pass one class for each.
bc.InteractiveSession(X4, [0] * 4, query_strategy="oracle")
    ValueError: query_strategy must be "random" or "random-triplets" or "npu" or "posterior" or
    "posterior-triplets"; got 'oracle'.
PosteriorQueries(estimator=bc.TVClust("gibbs"))
    ValueError: estimator must be a TVClust with sampler='collapsed', which conditions on answers
    one by one; got sampler='gibbs'.
PosteriorQueries(estimator=[])
    TypeError: estimator must be a TVClust; got a list.
PosteriorQueries().gains(session.state, None, [Query("triplet", (0, 1, 2))])
    ValueError: the kind of a query must be "pair"; got 'triplet'.
PosteriorQueries().labels()
    ValueError: there are no draws yet: call the query strategy, or update(state, rng).
"""


@pytest.mark.parametrize(("call", "error"), cases(ROWS))
def test_bad_input_is_refused_in_a_sentence(call, error):
    assert refusal(call, NAMES) == error
    assert session.n_answers == 0
