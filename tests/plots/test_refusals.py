"""Refusals of the plots: the kind of each error and its one sentence; no figure is left open."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree
from tests.refusals import cases, refusal

plots = bc.plots
bare = to_datatree({"z": [[[0, 1]]]})
none = bc.PairwiseConstraints(np.zeros((0, 2), int), [], n_items=2)
silent = to_datatree({"z": [[[0, 1]]]}, constraints=[none])
many = np.zeros((1, 5001), int)
named = pd.DataFrame([[1.0]], ["a"], ["b"])
words = pd.DataFrame([["x"]], ["a"], ["a"])

ROWS = """
plots.credibility(bare)
    ValueError: this posterior has no group 'constant_data', only 'posterior', 'sample_stats':
    pass the posterior_ of a fit with constraints.
plots.credibility(silent)
    ValueError: the constraints of the posterior hold no answers: there is nothing to show.
plots.credibility(posterior, flipped=np.full(110, 2))
    TypeError: flipped must hold truth values; got dtype int64: pass True where an answer is
    wrong.
plots.traces(posterior, [])
    ValueError: names is empty: choose from n_clusters, entropy, largest_cluster,
    rand_to_reference, log_joint, concentration, p[0], p[1], q[0], q[1], noise[0], base_scale.
plots.traces(posterior, 3)
    TypeError: names must be a word or a list of words; got int.
plots.ranks(posterior, "speed")
    ValueError: names: 'speed' is no functional of these draws: choose from n_clusters, entropy,
    largest_cluster, rand_to_reference, log_joint, concentration, p[0], p[1], q[0], q[1],
    noise[0], base_scale.
plots.partitions([[0, 1]])
    ValueError: this posterior has no data to place its items in the plane: pass X, one row an
    item.
plots.partitions(posterior, axes=[None])
    ValueError: axes are 1, but the panels of a credible ball take 4: pass 4 axes, or None.
plots.partitions(posterior, axes=[None] * 4)
    TypeError: each of axes must be Matplotlib axes; got NoneType.
plots.similarity(many, many[0], order="dendrogram")
    ValueError: a dendrogram takes at most 5,000 items; got 5,001: leave order='clusters'.
plots.agreement(named)
    ValueError: matrix has rows ['a'] and columns ['b']: pass a table of partitions by the same
    partitions, at least one.
plots.agreement(words)
    TypeError: matrix has cells that are no numbers: pass a table of agreements or distances.
"""


@pytest.mark.parametrize(("call", "error"), cases(ROWS))
def test_calls_are_refused_in_one_sentence(call, error, posterior):
    assert refusal(call, globals() | {"posterior": posterior}) == error
    assert plt.get_fignums() == []
