"""What the draws say: similarity, point estimates, credibility of answers, diagnosis. Knows no model and no sampler."""

from bayesclust.posterior import losses
from bayesclust.posterior.answers import answer_log_likelihood, source_reliability
from bayesclust.posterior.conflict import view_conflict
from bayesclust.posterior.counts import cluster_counts
from bayesclust.posterior.credibility import constraint_credibility
from bayesclust.posterior.credible_ball import CredibleBall, credible_ball
from bayesclust.posterior.diagnostics import Report, diagnose
from bayesclust.posterior.distances import PosteriorDistance, posterior_distance
from bayesclust.posterior.partition import point_estimate
from bayesclust.posterior.replicates import check_answers
from bayesclust.posterior.similarity import item_entropy, similar_items, similarity_matrix
from bayesclust.posterior.tree import canonical, stacked_partitions, to_datatree

__all__ = [
    "CredibleBall",
    "PosteriorDistance",
    "Report",
    "answer_log_likelihood",
    "canonical",
    "check_answers",
    "cluster_counts",
    "constraint_credibility",
    "credible_ball",
    "diagnose",
    "item_entropy",
    "losses",
    "point_estimate",
    "posterior_distance",
    "similar_items",
    "similarity_matrix",
    "source_reliability",
    "stacked_partitions",
    "to_datatree",
    "view_conflict",
]
