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
group = bc.constraints.SpreadConstraints([([0, 1], 1)], 2)
grouped = to_datatree({"z": [[[0, 1]]]}, X=[[0.0], [1.0]], constraints=[group])
many = np.zeros((1, 901), int)
words = pd.DataFrame({"kind": ["a", "b"] * 9})
named = pd.DataFrame([[1.0]], ["a"], ["b"])

ROWS = """
plots.credibility(bare)
    ValueError: this fit had no constraints: pass a fit with constraints.
plots.credibility(silent)
    ValueError: the constraints of the posterior hold no answers to show.
plots.constraint_graph(grouped)
    ValueError: the constraints of the posterior hold no answers about pairs or triplets to show.
plots.ranks(posterior, "speed")
    ValueError: names must be some of n_clusters, entropy, largest_cluster, rand_to_reference,
    log_joint, concentration, p[0], p[1], q[0], q[1], noise[0], base_scale; got 'speed'.
plots.limit_path({})
    TypeError: path must have gammas of bayesclust.limit_path; got a dict.
plots.partitions([[0, 1]])
    ValueError: this posterior has no data to place its items in the plane: pass X.
plots.partitions(posterior, words)
    TypeError: X must hold numbers: leave X out, and the data of the posterior place its items.
plots.partitions(posterior, axes=[None])
    ValueError: axes are 1, but the panels of a credible ball take 4: pass 4 axes, or None.
plots.similarity(many, many[0], order="dendrogram")
    ValueError: a dendrogram takes 2 to 900 items; got 901: leave order='clusters'.
plots.similarity(np.eye(3))
    TypeError: draws must hold integers; got dtype float64: pass one row of labels per draw, a
    fitted estimator or its posterior_.
plots.n_clusters(bc.RDPMeans())
    TypeError: a posterior is an xarray.DataTree or a fitted estimator with posterior_; got
    RDPMeans, which is not fitted or has no draws.
plots.alluvial({"a": [0, 1]})
    ValueError: methods holds one partition: pass two or more.
plots.agreement(named)
    ValueError: matrix must be a DataFrame of partitions by the same partitions, as from
    bayesclust.agreement; got a DataFrame with columns ['b'].
"""


@pytest.mark.parametrize(("call", "error"), cases(ROWS))
def test_calls_are_refused_in_one_sentence(call, error, posterior):
    assert refusal(call, globals() | {"posterior": posterior}) == error
    assert plt.get_fignums() == []
