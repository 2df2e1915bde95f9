"""Estimators with the interface of scikit-learn, one file each, loaded when one of its names is asked for."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesclust.estimators.dcrc import DCRC as DCRC
    from bayesclust.estimators.gamma_path import AtGamma as AtGamma
    from bayesclust.estimators.gamma_path import limit_path as limit_path
    from bayesclust.estimators.minimal_modification import (
        MinimalModification as MinimalModification,
    )
    from bayesclust.estimators.mpck_means import MPCKMeans as MPCKMeans
    from bayesclust.estimators.pck_means import (
        MKMeans as MKMeans,
    )
    from bayesclust.estimators.pck_means import (
        PCKMeans as PCKMeans,
    )
    from bayesclust.estimators.pck_means import (
        SupervisedMeans as SupervisedMeans,
    )
    from bayesclust.estimators.rdp_means import DPMeans as DPMeans
    from bayesclust.estimators.rdp_means import RDPMeans as RDPMeans
    from bayesclust.estimators.spectral import SpectralRDPMeans as SpectralRDPMeans
    from bayesclust.estimators.tvclust import TVClust as TVClust

_MODULES = {
    "dcrc": ("DCRC",),
    "gamma_path": ("AtGamma", "limit_path"),
    "minimal_modification": ("MinimalModification",),
    "mpck_means": ("MPCKMeans",),
    "pck_means": ("MKMeans", "PCKMeans", "SupervisedMeans"),
    "rdp_means": ("DPMeans", "RDPMeans"),
    "spectral": ("SpectralRDPMeans",),
    "tvclust": ("TVClust",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
