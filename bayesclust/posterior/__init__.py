"""What the draws say: similarity, point estimates, credibility of answers, diagnosis. Knows no model and no sampler."""

from bayesclust.posterior import losses
from bayesclust.posterior.answers import constraint_log_likelihood, source_reliability
from bayesclust.posterior.conflict import view_conflict
from bayesclust.posterior.counts import n_clusters_posterior
from bayesclust.posterior.credibility import constraint_credibility
from bayesclust.posterior.credible_ball import CredibleBall, credible_ball
from bayesclust.posterior.diagnostics import Diagnosis, diagnose
from bayesclust.posterior.distances import PosteriorDistance, posterior_distance
from bayesclust.posterior.partition import point_estimate
from bayesclust.posterior.replicates import constraint_ppc
from bayesclust.posterior.similarity import item_entropy, similar_items, similarity_matrix
from bayesclust.posterior.tree import canonical, stacked_partitions, to_datatree

__all__ = [
    "CredibleBall",
    "Diagnosis",
    "PosteriorDistance",
    "canonical",
    "constraint_credibility",
    "constraint_log_likelihood",
    "constraint_ppc",
    "credible_ball",
    "diagnose",
    "item_entropy",
    "losses",
    "n_clusters_posterior",
    "point_estimate",
    "posterior_distance",
    "similar_items",
    "similarity_matrix",
    "source_reliability",
    "stacked_partitions",
    "to_datatree",
    "view_conflict",
]
