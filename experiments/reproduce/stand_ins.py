"""Generated data in the place of sets of the DCRC paper that are not to be had, and its two sets in the plane.

"birdsong" has as many items, columns and classes as the paper's Birdsong, and the sizes of its
thirteen species. "syllables" has the numbers of the case study's set; its sizes fall by a constant
factor, chosen so that as many pairs belong together as in Table IV (b), 52.2 of 225 (of the
triplets 16% are then "yes", as in Table IV (a), 23.7 of 149.5). Clusters are correlated Gaussians
that overlap: k-means has F = .67 on the one and .44 on the other (.65 on the paper's, says Table
V).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

import bayesclust as bc
from bayesclust.typing import IntArray

__all__ = ["STAND_INS", "near_boundaries"]

SPECIES = (602, 810, 501, 494, 82, 277, 32, 345, 139, 120, 190, 1280, 126)
FACTOR, SYLLABLES, PATTERNS = 0.625, 2601, 14
SEPARATION = 5.0
APART = {"fuzzy": 1.4, "separate": 5.0}
SHARE = 0.4


def uneven(sizes: tuple[int, ...], name: str, seed: int) -> bc.datasets.Dataset:
    """Correlated Gaussian clusters of given sizes in 38 columns.

    Parameters
    ----------
    sizes : tuple of int
    name : str
    seed : int

    Returns
    -------
    Dataset
    """
    k = len(sizes)
    drawn = bc.datasets.make_mixture(
        2 * k * max(sizes), 38, k, separation=SEPARATION, standardize=False, seed=seed
    )
    kept = np.concatenate(
        [np.flatnonzero(drawn.y == cluster)[:size] for cluster, size in enumerate(sizes)]
    )
    kept = np.random.default_rng(seed).permutation(kept)
    text = f"{k} correlated Gaussians of sizes {', '.join(map(str, sizes))}"
    return bc.datasets.Dataset(
        drawn.X[kept], drawn.y[kept], drawn.feature_names, drawn.target_names, name, text
    )


def syllable_sizes() -> tuple[int, ...]:
    """Sizes that fall by a constant factor, at least two items each, 2601 in all.

    Returns
    -------
    tuple of int
    """
    shares = FACTOR ** np.arange(PATTERNS)
    sizes = np.maximum(np.round(SYLLABLES * shares / shares.sum()).astype(int), 2)
    sizes[0] += SYLLABLES - sizes.sum()
    return tuple(sizes.tolist())


def plane(name: str, seed: int) -> bc.datasets.Dataset:
    """Three round clusters of 50 items in the plane, which overlap ("fuzzy") or do not ("separate"): Figure 5.

    Parameters
    ----------
    name : {"fuzzy", "separate"}
    seed : int

    Returns
    -------
    Dataset
    """
    y = np.repeat([0, 1, 2], 50)
    angle = 2 * np.pi * y / 3
    X = APART[name] * np.column_stack([np.cos(angle), np.sin(angle)])
    X += np.random.default_rng(seed).normal(size=X.shape)
    return bc.datasets.Dataset(
        X, y, ("first", "second"), ("0", "1", "2"), name, "three round clusters"
    )


def near_boundaries(data: bc.datasets.Dataset) -> IntArray:
    """The items that are nearest to a boundary between two classes, four in ten.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    array of int
        Items with the least difference between the distances to the two nearest class means.
    """
    means = np.stack([data.X[data.y == k].mean(axis=0) for k in range(len(data.target_names))])
    distances = np.sort(np.linalg.norm(data.X[:, None] - means, axis=2), axis=1)
    margin = distances[:, 1] - distances[:, 0]
    return np.sort(np.argsort(margin, kind="stable")[: round(SHARE * len(margin))])


STAND_INS: Mapping[str, Callable[[int], bc.datasets.Dataset]] = MappingProxyType(
    {
        "birdsong": partial(uneven, SPECIES, "birdsong"),
        "syllables": lambda seed: uneven(syllable_sizes(), "syllables", seed),
        **{name: partial(plane, name) for name in APART},
    }
)
"""By name, what makes them of a seed."""
