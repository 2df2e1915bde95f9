"""Estimators with the interface of scikit-learn, one file each."""

from bayesclust.estimators.dcrc import DCRC
from bayesclust.estimators.dp_means import DPMeans
from bayesclust.estimators.hmrf_means import HMRFMeans
from bayesclust.estimators.minimal_modification import MinimalModification
from bayesclust.estimators.mpck_means import MPCKMeans
from bayesclust.estimators.paths import limit_path
from bayesclust.estimators.pck_means import MKMeans, PCKMeans, SupervisedMeans
from bayesclust.estimators.rdp_means import RDPMeans
from bayesclust.estimators.spectral import SpectralRDPMeans
from bayesclust.estimators.tvclust import TVClust

__all__ = [
    "DCRC",
    "DPMeans",
    "HMRFMeans",
    "MKMeans",
    "MPCKMeans",
    "MinimalModification",
    "PCKMeans",
    "RDPMeans",
    "SpectralRDPMeans",
    "SupervisedMeans",
    "TVClust",
    "limit_path",
]
