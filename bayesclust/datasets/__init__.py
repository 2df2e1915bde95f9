"""Data sets with known classes: those of the papers as installed packages ship them, and generated.

The classes are there to simulate answers and to judge results; no method in this package looks at
them.
"""

from bayesclust.datasets.files import Dataset, load, names
from bayesclust.datasets.generated import SHAPES, make_mixture, make_register, make_shape

__all__ = ["SHAPES", "Dataset", "load", "make_mixture", "make_register", "make_shape", "names"]
