"""The six patterns in the plane of TVClust's Figure 2, as the authors' released code draws them.

The paper shows them and does not define them; the code takes them from a collection of generators
that many use for the same purpose.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray

Drawn = tuple[FloatArray, IntArray]
ITEMS = 500


def around(radius: FloatArray, angle: FloatArray) -> FloatArray:
    """Points (n, 2) at polar coordinates."""
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def two_spirals(n: int, rng: Generator) -> Drawn:
    """Two arms of 570 degrees, each the other one turned by half a circle."""
    y = np.arange(n) % 2
    t = np.deg2rad(90 + 570 * np.sqrt(rng.random(n)))
    return around(t, np.pi * (1 + y) - t) + rng.uniform(0, 0.2, (n, 2)), y


def cluster_in_cluster(n: int, rng: Generator) -> Drawn:
    """Three narrow rings in the middle of 64 spokes."""
    n_outer, spokes = n - n // 2, 64
    rings = around(1 + 0.8 / 3 * rng.integers(3, size=n // 2), 2 * np.pi * rng.random(n // 2))
    of_spoke = max(round(n_outer / spokes), 1)
    spoke, step = np.divmod(np.arange(of_spoke * spokes), of_spoke)
    arms = around(5 * (1 - 1 / 6) + 5 / 3 * step / of_spoke, 2 * np.pi * spoke / spokes)
    return np.concatenate([rings, arms]), np.repeat([0, 1], [len(rings), len(arms)])


def corners(n: int, rng: Generator) -> Drawn:
    """Four right angles around the origin, each of two bars."""
    y = np.arange(n) % 4
    sign = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])[y]
    upright = np.arange(n) // 4 % 2 == 1
    length = np.where(np.column_stack([upright, ~upright]), 2.0, 10.0)
    return sign * (2 + length * rng.random((n, 2))), y


def half_kernel(n: int, rng: Generator) -> Drawn:
    """One half of an ellipse within another."""
    y = np.arange(n) % 2
    half = around(np.where(y == 0, 20.0, 35.0), np.pi * rng.random(n) - np.pi / 2)
    return half * [1, 0.6] + [-20, 0] + rng.uniform(-2, 2, (n, 2)), y


def crescent_and_full_moon(n: int, rng: Generator) -> Drawn:
    """A disc of a quarter of the items over half of a ring."""
    y = (np.arange(n) % 4 > 0).astype(np.int64)
    far = np.sqrt(rng.random(n))
    angle = np.where(y == 0, 2 * np.pi, np.pi) * rng.random(n) + np.pi * y
    return around(np.where(y == 0, 5 * far, 10 + 5 * far), angle), y


def outliers(n: int, rng: Generator) -> Drawn:
    """Two half discs, and above and below them a square of four items in a hundred each."""
    few = round(0.04 * n)
    many = round(0.46 * n)
    y = np.repeat([0, 1, 2, 3], [many, many, few, n - 2 * many - few])
    half = around(20 * np.sqrt(rng.random(n)), np.pi * rng.random(n) - np.pi / 2)
    squares = rng.uniform(0, 5, (n, 2)) + np.where(y == 2, 30, -30)[:, None] * [0, 1]
    side = 2 * y - 1
    X = np.where((y < 2)[:, None], (half - [30, 0]) * np.column_stack([-side, side]), squares)
    return X, y


PATTERNS: dict[str, Callable[[int, Generator], Drawn]] = {
    one.__name__: one
    for one in (
        two_spirals,
        cluster_in_cluster,
        corners,
        half_kernel,
        crescent_and_full_moon,
        outliers,
    )
}


def pattern(name: str, seed: int) -> bc.datasets.Dataset:
    """A pattern by name, of about 500 items, in random order."""
    rng = np.random.default_rng(seed)
    X, y = PATTERNS[name](ITEMS, rng)
    order = rng.permutation(len(y))
    classes = tuple(map(str, range(int(y.max()) + 1)))
    return bc.datasets.Dataset(X[order], y[order], ("first", "second"), classes, name)
