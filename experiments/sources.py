"""The data of the experiments: of installed packages, of files, and generated stand-ins.

The sets of bird song of the DCRC paper and the ImageNet sample of the TVClust paper are not to be
had, nor is Protein of the MPCK-Means paper, of whose size (116 items, 20 columns, six classes)
"protein" is. "birdsong" has the size of the paper's Birdsong and of its thirteen species;
"syllables" has the numbers of the case study's set, and as many pairs belong together as in Table
IV (b). Clusters are correlated Gaussians that overlap. "fuzzy" and "separate" are the three
clusters in the plane of Figure 5.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments.patterns import PATTERNS, pattern

Dataset = bc.datasets.Dataset
UCI = ("iris", "wine", "ecoli", "glass", "balance")
WITH_ID = "glass_with_id"
SHAPES = tuple(PATTERNS)
COUNTS = ("visual_words", "digits")
SEED = 20_260_101
"""Of generated data: it is the answers that differ from trial to trial."""

SPECIES = (602, 810, 501, 494, 82, 277, 32, 345, 139, 120, 190, 1280, 126)
PROTEIN = (32, 25, 20, 16, 13, 10)
FACTOR, SYLLABLES, SYLLABLE_KINDS = 0.625, 2601, 14
SEPARATION, APART, NEAR = 5.0, {"fuzzy": 1.4, "separate": 5.0}, 0.4
TENTHS = ("digits389", "letters_ijl")
"""Of which the MPCK-Means paper takes a tenth."""


@cache
def load(name: str) -> Dataset:
    """A data set by name, of a CSV file (class in the last column), or an archive of X and y."""
    if name.endswith(".csv"):
        return _from_file(Path(name))
    if name.endswith(".npz"):
        return _from_archive(Path(name))
    if name in STAND_INS:
        return STAND_INS[name](SEED)
    if name in SHAPES:
        return pattern(name, SEED)
    return bc.datasets.load(name)


@cache
def load_tenth(name: str) -> Dataset:
    """The same, of the large sets of the MPCK-Means paper a tenth of each class."""
    data = load(name)
    if name not in TENTHS:
        return data
    rng = np.random.default_rng(SEED)
    members = (np.flatnonzero(data.y == k) for k in np.unique(data.y))
    some = [rng.choice(items, round(len(items) / 10), replace=False) for items in members]
    kept = np.sort(np.concatenate(some))
    return replace(data, X=data.X[kept], y=data.y[kept])


@cache
def load_at_most(name: str, most: int) -> Dataset:
    """The same, of larger sets a fixed draw of so many items."""
    data = load(name)
    if len(data.y) <= most:
        return data
    kept = np.sort(np.random.default_rng(SEED).choice(len(data.y), most, replace=False))
    return replace(data, X=data.X[kept], y=data.y[kept])


def _from_archive(path: Path) -> Dataset:
    with np.load(path, allow_pickle=False) as file:
        if not {"X", "y"} <= set(file):
            names = ", ".join(file)
            raise ValueError(f"{path} holds {names}: items are wanted as X and their classes as y.")
        X, classes = file["X"].astype(np.float64), file["y"]
    if X.ndim != 2 or classes.shape != X.shape[:1] or not np.isfinite(X).all():
        shapes = f"X of shape {X.shape} and y of shape {classes.shape}"
        raise ValueError(
            f"{path} has {shapes}: (n, d) and (n,) are wanted, without missing values."
        )
    return _read(X, classes, [f"column{column}" for column in range(X.shape[1])], path)


def _from_file(path: Path) -> Dataset:
    table = pd.read_csv(path)
    *features, last = table.columns
    try:
        X = table[features].to_numpy(dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"{path} has something else than numbers before its last column, the class: {error}."
        ) from None
    if not features or not np.isfinite(X).all():
        raise ValueError(f"{path} has no features or missing values: leave out what is not there.")
    return _read(X, table[last].astype(str).to_numpy(), features, path)


def _read(X: FloatArray, classes: np.ndarray, features: list[str], path: Path) -> Dataset:
    targets, y = np.unique(classes, return_inverse=True)
    names = tuple(features), tuple(map(str, targets))
    return Dataset(X, y.astype(np.int64), *names, path.stem)


def check(names: tuple[str, ...]) -> None:
    """Raise ValueError where there is no such set or file."""
    known = (*bc.datasets.names(), *STAND_INS)
    for name in names:
        file = name.endswith((".csv", ".npz"))
        if not (Path(name).is_file() if file else name in known):
            raise ValueError(f"data has {name!r}: choose from {', '.join(known)}, or a CSV file.")


def title(name: str) -> str:
    """What figures and tables call a set.

    >>> title("letters_ijlt"), title("birdsong"), title("there/msrcv2.csv")
    ('letters ijlt', 'birdsong, generated', 'msrcv2')
    """
    return Path(name).stem.replace("_", " ") + (", generated" if name in STAND_INS else "")


def code(name: str) -> int:
    """A number for the name of a set or file, wherever it lies, to seed its answers with.

    >>> code("there/mk2.csv") == code("mk2")
    True
    """
    return zlib.crc32(Path(name).stem.encode())


def standardized(X: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1; constant ones are 0."""
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def classes(name: str) -> int:
    """The number of classes of a data set."""
    return len(load(name).target_names)


def uneven(sizes: tuple[int, ...], name: str, seed: int, columns: int = 38) -> Dataset:
    """Correlated Gaussian clusters of given sizes."""
    k = len(sizes)
    drawn = bc.datasets.make_mixture(
        2 * k * max(sizes), columns, k, separation=SEPARATION, standardize=False, seed=seed
    )
    members = [np.flatnonzero(drawn.y == cluster)[:size] for cluster, size in enumerate(sizes)]
    kept = np.random.default_rng(seed).permutation(np.concatenate(members))
    return Dataset(drawn.X[kept], drawn.y[kept], drawn.feature_names, drawn.target_names, name)


def syllable_sizes() -> tuple[int, ...]:
    """Sizes that fall by a constant factor, at least two items each, 2601 in all."""
    shares = FACTOR ** np.arange(SYLLABLE_KINDS)
    sizes = np.maximum(np.round(SYLLABLES * shares / shares.sum()).astype(int), 2)
    sizes[0] += SYLLABLES - sizes.sum()
    return tuple(sizes.tolist())


def plane(name: str, seed: int) -> Dataset:
    """Three round clusters in the plane, which overlap ("fuzzy") or do not ("separate")."""
    y = np.repeat([0, 1, 2], 50)
    angle = 2 * np.pi * y / 3
    X = APART[name] * np.column_stack([np.cos(angle), np.sin(angle)])
    X += np.random.default_rng(seed).normal(size=X.shape)
    return Dataset(X, y, ("first", "second"), ("0", "1", "2"), name)


def near_boundaries(data: Dataset) -> IntArray:
    """The four items in ten whose distances to the two nearest class means differ least."""
    means = np.stack([data.X[data.y == k].mean(axis=0) for k in range(len(data.target_names))])
    distances = np.sort(np.linalg.norm(data.X[:, None] - means, axis=2), axis=1)
    margin = distances[:, 1] - distances[:, 0]
    return np.sort(np.argsort(margin, kind="stable")[: round(NEAR * len(margin))])


def visual_words(seed: int, n: int = 1000, d: int = 1000, k: int = 10) -> Dataset:
    r"""Bags of visual words: categories that differ little, images that differ much.

    All categories share word frequencies b, uniform on the simplex; category c has :math:`m_{cj}
    \propto b_j \exp(.47 N(0, 1))`, an image of it :math:`p \sim \mathrm{Dirichlet}(100 m_c)`, for
    words come in bursts, and 1 + Poisson counts whose mean is log-normal. It is as hard as
    TVClust's Table 4: multinomial k-means told the 10 clusters has F = 0.26 (there 0.25),
    Gaussian k-means 0.17 and DP-means 0.18 (0.18 both), which is what one single cluster has.
    """
    length, spread, contrast, concentration = 500.0, 0.5, 0.47, 100.0
    rng = np.random.default_rng(seed)
    logits = np.log(rng.dirichlet(np.ones(d))) + contrast * rng.standard_normal((k, d))
    categories = np.exp(logits - logits.max(axis=1, keepdims=True))
    categories /= categories.sum(axis=1, keepdims=True)
    y = np.arange(n) % k
    images = rng.standard_gamma(concentration * categories[y])
    # gammas of tiny shapes round to zero; an image of nothing else keeps its category's frequencies
    images = np.where(images.any(axis=1, keepdims=True), images, categories[y])
    sizes = np.exp(spread * rng.standard_normal(n) - spread**2 / 2) * (length - 1)
    counts = rng.multinomial(1 + rng.poisson(sizes), images / images.sum(axis=1, keepdims=True))
    names = tuple(f"word{j}" for j in range(d)), tuple(map(str, range(k)))
    return Dataset(counts.astype(float), y, *names, "visual words")


def tree_cut(seed: int) -> Dataset:
    """Vegetation indices of 724 x 337 pixels at 11 dates; of 637 the trees are cut halfway."""
    rng, n, dates = np.random.default_rng(seed), 724 * 337, np.arange(11)
    y = rng.binomial(1, 0.3, n)
    y[rng.choice(n, 637, replace=False)] = 2
    green = 0.7 + 0.1 * np.sin(np.pi * dates / 5)
    series = np.stack([green, np.full(11, 0.2), np.where(dates < 6, green, 0.4)])
    X = series[y] + rng.normal(0, 0.1, (n, 11)) + rng.normal(0, 0.1, (n, 1))
    names = tuple(f"date{date}" for date in dates), ("vegetation", "artificial", "cut")
    return Dataset(X, y, *names, "tree cut")


STAND_INS: Mapping[str, Callable[[int], Dataset]] = {
    "birdsong": partial(uneven, SPECIES, "birdsong"),
    "protein": partial(uneven, PROTEIN, "protein", columns=20),
    "syllables": lambda seed: uneven(syllable_sizes(), "syllables", seed),
    **{name: partial(plane, name) for name in APART},
    "visual_words": visual_words,
    "tree_cut": tree_cut,
}
