"""Estimators with the interface of scikit-learn, one file each, loaded when one of its names is asked for."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
