"""Summaries of posterior draws, without models and samplers."""

from bayesclust.posterior import losses
from bayesclust.posterior.credibility import (
    constraint_credibility,
    constraint_log_likelihood,
    source_reliability,
    view_conflict,
)
from bayesclust.posterior.credible_ball import CredibleBall, credible_ball
from bayesclust.posterior.diagnosis import Diagnosis, DiagnosisWarning, diagnose
from bayesclust.posterior.distance import PosteriorDistance, posterior_distance
from bayesclust.posterior.n_clusters import n_clusters_posterior
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.posterior_predictive import constraint_ppc
from bayesclust.posterior.similarity import item_entropy, similar_items, similarity_matrix
from bayesclust.posterior.tree import to_datatree

__all__ = [
    "CredibleBall",
    "Diagnosis",
    "DiagnosisWarning",
    "PosteriorDistance",
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
    "to_datatree",
    "view_conflict",
]
