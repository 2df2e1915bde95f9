"""Estimators with the interface of scikit-learn, one file each."""

from bayesclust.estimators.dcrc import DCRC
from bayesclust.estimators.dp_means import DPMeans
from bayesclust.estimators.minimal_modification import MinimalModification
from bayesclust.estimators.paths import limit_path
from bayesclust.estimators.rdp_means import RDPMeans
from bayesclust.estimators.spectral import SpectralRDPMeans
from bayesclust.estimators.tvclust import TVClust

__all__ = ["DCRC", "DPMeans", "MinimalModification", "RDPMeans", "SpectralRDPMeans", "TVClust", "limit_path"]
