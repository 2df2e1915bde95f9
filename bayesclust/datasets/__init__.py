"""Data sets with known classes: those of the papers as installed packages ship them, and generated.

>>> from bayesclust import datasets
>>> wine = datasets.load("wine")
>>> wine.X.shape, wine.target_names
((178, 13), ('class_0', 'class_1', 'class_2'))

The classes are there to simulate answers and to judge results; no method in this package looks at
them.
"""

from bayesclust.datasets.files import Dataset, load, names
from bayesclust.datasets.generated import SHAPES, make_mixture, make_shape

__all__ = ["SHAPES", "Dataset", "load", "make_mixture", "make_shape", "names"]
