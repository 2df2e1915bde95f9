"""Array shapes and kinds, named once.

Throughout the package n counts items, d features, m answers, K clusters and S sources of answers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray as NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int8]
BoolArray = NDArray[np.bool_]

Counts = IntArray | FloatArray
"""Numbers of answers by source, answer and equality pattern: whole, or expected."""

Params = dict[str, FloatArray]
"""Noise parameters by name, each with a leading axis of sources."""

PARTITIONS = ("z", "component")
"""The variables of a posterior that hold labels."""

Seed = int | np.random.Generator | None
"""What `numpy.random.default_rng` turns into a generator."""
