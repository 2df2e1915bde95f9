"""Estimators with the interface of scikit-learn, one file each, which is read when one of its names is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesclust.estimators.dcrc import DCRC
    from bayesclust.estimators.dp_means import DPMeans
    from bayesclust.estimators.minimal_modification import MinimalModification
    from bayesclust.estimators.mpck_means import MPCKMeans
    from bayesclust.estimators.paths import limit_path
    from bayesclust.estimators.rdp_means import RDPMeans
    from bayesclust.estimators.spectral import SpectralRDPMeans
    from bayesclust.estimators.tvclust import TVClust

__all__ = [
    "DCRC",
    "DPMeans",
    "MPCKMeans",
    "MinimalModification",
    "RDPMeans",
    "SpectralRDPMeans",
    "TVClust",
    "limit_path",
]

_HOME = {
    "DCRC": "dcrc",
    "DPMeans": "dp_means",
    "MPCKMeans": "mpck_means",
    "MinimalModification": "minimal_modification",
    "RDPMeans": "rdp_means",
    "SpectralRDPMeans": "spectral",
    "TVClust": "tvclust",
    "limit_path": "paths",
}


def __getattr__(name: str) -> object:
    if name in _HOME.values():
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
