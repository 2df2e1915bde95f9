"""What the draws say: similarity, point estimates, credibility of answers, diagnosis."""

from bayesclust.posterior.credibility import constraint_credibility
from bayesclust.posterior.similarity import similarity_matrix
from bayesclust.posterior.tree import to_datatree

__all__ = ["constraint_credibility", "similarity_matrix", "to_datatree"]
