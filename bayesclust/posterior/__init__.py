"""What the draws say: similarity, point estimates, credibility of answers, diagnosis. Knows no model and no sampler."""

from bayesclust.posterior import losses
from bayesclust.posterior.credibility import constraint_credibility
from bayesclust.posterior.credible_ball import CredibleBall, credible_ball
from bayesclust.posterior.diagnostics import Report, diagnose
from bayesclust.posterior.partition import point_estimate
from bayesclust.posterior.similarity import item_entropy, similar_items, similarity_matrix
from bayesclust.posterior.tree import canonical, stacked_partitions, to_datatree

__all__ = [
    "CredibleBall",
    "Report",
    "canonical",
    "constraint_credibility",
    "credible_ball",
    "diagnose",
    "item_entropy",
    "losses",
    "point_estimate",
    "similar_items",
    "similarity_matrix",
    "stacked_partitions",
    "to_datatree",
]
