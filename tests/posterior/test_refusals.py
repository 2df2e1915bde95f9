"""Refusals of draws, losses and summaries: the kind of each error and its one sentence."""

import numpy as np

import bayesclust as bc
from bayesclust.posterior import losses, tree
from tests.refusals import refused

Z = {"z": np.zeros((2, 3, 4), int)}
z = np.zeros((3, 12), int)
links = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=4, source=[0, 1])
noise = {"p": np.zeros((2, 3, 2))}
drawn = tree.to_datatree(Z | noise, constraints=[links], dims={"p": ("links_source",)})
without_z = drawn.copy()
without_z["posterior"] = drawn["posterior"].to_dataset().drop_vars("z")
NAMES = {**vars(tree), **vars(losses), **globals()}

ROWS = """
as_labels([0, 1], "init", 3)
    ValueError: init must have shape (3,); got (2,): pass one label per item.
to_datatree({"p": np.zeros((1, 2))})
    ValueError: z must have shape (chain, draw, item); got (0,): pass all three axes.
to_datatree({**Z, "p": np.zeros((2, 4))})
    ValueError: p has shape (2, 4), but z has 2 chains of 3 draws.
stacked_partitions(without_z)
    ValueError: the group posterior has no variable z (chain, draw, item): pass the posterior_
    of a sampler's fit.
stored_constraints(to_datatree(Z))
    ValueError: this fit had no constraints: pass a fit with constraints.
with_names(to_datatree(Z), items=["a"])
    ValueError: there are 1 names for 4 items: pass one for each.
with_names(to_datatree(Z), items=list("abad"))
    ValueError: two items are called 'a': give each a name of its own.
with_names(drawn, sources={"links": ["ann"]})
    ValueError: there are 1 names for 2 links_sources: pass one for each.
expected_losses(VI(), [[0, 0, 1]], [[0, 1]])
    ValueError: the estimate is of 3 items and the draws of the truth of 2: pass partitions of
    the same items.
bc.credible_ball(z, loss=bc.losses.VI(a=0.5))
    ValueError: a credible ball needs a distance between partitions, and VI(a=0.5) is none: take
    VI() or another loss with a=1.
bc.posterior.posterior_distance(z, z[:, :3])
    ValueError: the first posterior is about 12 items and the second about 3: compare posteriors
    over the same items.
bc.posterior.posterior_distance(z, z)
    ValueError: 3 draws are too few to know how they vary: pass at least four of each.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, NAMES)
