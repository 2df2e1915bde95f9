"""Losses between partitions, as values: what an estimate costs when the truth is another partition."""

from bayesclust.posterior.losses.additive import VI, AdditiveLoss, Binder
from bayesclust.posterior.losses.base import Loss, expected_losses, pairwise_losses
from bayesclust.posterior.losses.named import as_loss
from bayesclust.posterior.losses.ratios import ID, NID, NVI, OneMinusARI, RatioForm, RatioLoss

__all__ = [
    "ID",
    "NID",
    "NVI",
    "VI",
    "AdditiveLoss",
    "Binder",
    "Loss",
    "OneMinusARI",
    "RatioForm",
    "RatioLoss",
    "as_loss",
    "expected_losses",
    "pairwise_losses",
]
