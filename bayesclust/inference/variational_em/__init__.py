"""DCRC by variational EM: mean field over the labels that answers name, gradient ascent over the weights."""

from bayesclust.inference.variational_em.fit import EMFit, fit_em
from bayesclust.inference.variational_em.settings import EMSettings

__all__ = ["EMFit", "EMSettings", "fit_em"]
