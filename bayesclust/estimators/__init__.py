"""Estimators with the interface of scikit-learn, one file each, loaded when first asked for."""

from bayesclust._lazy import attach

NAMES = {
    "dcrc": "DCRC",
    "gamma_path": "limit_path",
    "minimal_modification": "MinimalModification",
    "mpck_means": "MPCKMeans",
    "rdp_means": "DPMeans RDPMeans",
    "saved": "restored",
    "spectral": "SpectralRDPMeans",
    "tvclust": "TVClust",
}
__getattr__, __dir__, __all__ = attach(__name__, NAMES)
