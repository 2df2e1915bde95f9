"""Data sets drawn from models whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_choice, check_int, check_random_state, number_between
from bayesclust.datasets.files import Dataset, numbered
from bayesclust.typing import FloatArray, IntArray, Seed

ELONGATION = 4.0
"""Largest ratio between two variances of one cluster of a mixture."""


def make_mixture(
    n: int = 500,
    d: int = 2,
    k: int = 5,
    *,
    separation: float = 4.0,
    standardize: bool = True,
    seed: Seed,
) -> Dataset:
    r"""Draw from a mixture of k correlated Gaussians with equal weights.

    Centres are :math:`N(0, s^2 I / 2d)` with s the separation, and each covariance is
    :math:`Q \Lambda Q^T` with Q a random rotation and :math:`\Lambda` log-uniform over a ratio of
    at most 4, scaled to a mean of 1.

    Parameters
    ----------
    n, d, k : int, default 500, 2, 5
        Items, features and clusters.
    separation : float, default 4.0
        Root mean square distance between two centres, in units of the standard deviation inside a
        cluster. At the default clusters overlap; 10 sets most of them apart.
    standardize : bool, default True
        Give each feature mean 0 and variance 1.
    seed : int or numpy.random.Generator

    Returns
    -------
    Dataset
        X (n, d) and the component of each item as y (n,).

    Examples
    --------
    >>> from bayesclust.datasets import make_mixture
    >>> data = make_mixture(200, 3, 4, separation=8.0, seed=0)
    >>> data
    Dataset('mixture': 200 items, 3 features, 4 classes)
    >>> bool(abs(data.X.mean()) < 1e-12)
    True
    """
    n, d, k = (check_int(count, name) for count, name in ((n, "n"), (d, "d"), (k, "k")))
    separation = number_between(separation, "separation", "[0, inf)")
    rng = check_random_state(seed, "seed")
    centres = rng.normal(scale=separation / np.sqrt(2 * d), size=(k, d))
    y = rng.integers(k, size=n)
    X = np.empty((n, d))
    for component in range(k):
        rows = np.flatnonzero(y == component)
        noise = rng.standard_normal((rows.size, d))
        X[rows] = centres[component] + noise @ _covariance_root(d, rng).T
    if standardize:
        X -= X.mean(axis=0)
        X /= np.maximum(X.std(axis=0), np.finfo(float).tiny)
    return _generated(X, y, k, "mixture")


def make_shape(kind: str = "moons", n: int = 300, *, noise: float = 0.05, seed: Seed) -> Dataset:
    """Draw points in the plane along shapes that no mixture of a few Gaussians follows.

    The six kinds, `SHAPES`, are in the manner of TVClust's Figure 2.

    Parameters
    ----------
    kind : {"moons", "circles", "spirals", "stripes", "cross", "checkers"}, default "moons"
        Two interleaved half circles; two concentric circles; three spiral arms; three parallel
        segments; two segments that cross, where nothing but answers tells them apart; four squares
        around the origin, those opposite of each other one class.
    n : int, default 300
        Items, shared evenly between the classes.
    noise : float, default 0.05
        Standard deviation of the Gaussian noise added to each coordinate.
    seed : int or numpy.random.Generator

    Returns
    -------
    Dataset
        X (n, 2) and the shape of each item as y (n,).

    Examples
    --------
    >>> from bayesclust.datasets import make_shape
    >>> make_shape("spirals", 90, seed=0)
    Dataset('spirals': 90 items, 2 features, 3 classes)
    """
    kind, n = check_choice(kind, "kind", SHAPES), check_int(n, "n")
    noise = number_between(noise, "noise", "[0, inf)")
    rng = check_random_state(seed, "seed")
    k = 3 if kind in ("spirals", "stripes") else 2
    y = np.arange(n) % k
    s = rng.uniform(size=n)
    t = rng.uniform(size=n) if kind == "checkers" else s
    X = _shape(kind, s, t, y) + noise * rng.standard_normal((n, 2))
    return _generated(X, y, k, kind)


SHAPES = ("moons", "circles", "spirals", "stripes", "cross", "checkers")
"""The kinds that `make_shape` draws."""


def _shape(kind: str, s: FloatArray, t: FloatArray, y: IntArray) -> FloatArray:
    """Points (n, 2) of the classes y at parameters in [0, 1]."""
    match kind:
        case "moons":
            sign = 1 - 2 * y
            x = [y + sign * np.cos(np.pi * t), 0.5 * y + sign * np.sin(np.pi * t)]
        case "circles":
            x = [(1 - 0.5 * y) * wave(2 * np.pi * t) for wave in (np.cos, np.sin)]
        case "spirals":
            x = [(0.2 + t) * wave(2 * np.pi * (t + y / 3)) for wave in (np.cos, np.sin)]
        case "stripes":
            x = [2 * t - 1, 0.4 * (y - 1)]
        case "cross":
            along = (2 * t - 1) / np.sqrt(2)
            x = [along, (1 - 2 * y) * along]
        case _:
            right = s < 0.5
            across = 0.1 + 0.8 * (2 * s % 1)
            up = 0.1 + 0.8 * t
            x = [np.where(right, across, -across), np.where(right ^ (y == 1), up, -up)]
    return np.column_stack(x)


NAMES = """Anna Anne Bernd Carla Carola Clara David Daniel Elena Elisa Emil Emma Erik Erika Felix
Georg Greta Hanna Hannes Helena Helga Ida Ines Jakob Jan Jana Johann Johanna Jonas Julia Karl Karla
Lars Laura Lea Lena Leonie Lisa Lukas Maria Marie Marina Mark Markus Martin Martina Max Michael
Nina Nora Otto Paul Paula Peter Petra Rosa Sara Simon Sofia Stefan Theo Thomas Tim Vera"""
STEMS = "Acker Baum Berg Birk Brand Busch Eich Feld Gold Hart Hof Kirch Lang Neu Rosen Stein"
ENDS = "er", "mann", "bach", "berg", "ing", "hoff"
FIRST = NAMES.split()
SURNAMES = [stem + end for stem in STEMS.split() for end in ENDS]
TOWNS = [a + b for a in ("Alten", "Bad", "Frei", "Hoch", "Neu") for b in ("au", "burg", "dorf")]


def make_register(n: int = 1000, *, seed: Seed) -> tuple[Any, IntArray]:
    """Draw a register of people, most of whom are in it more than once, with errors.

    A person has a geometric number of records, 1.8 on average. Names are swapped, days and months
    too, years are wrong, people move, 12% of the words have a typing error, and 5% of the cells are
    None.

    Parameters
    ----------
    n : int, default 1000
        Records.
    seed : int or numpy.random.Generator

    Returns
    -------
    table : pandas.DataFrame of shape (n, 4)
        Columns first, last, born and town.
    person : ndarray of shape (n,)
        Who each record is of.

    Examples
    --------
    >>> from bayesclust.datasets import make_register
    >>> table, person = make_register(1500, seed=0)
    >>> table.shape, int(person.max()) + 1
    ((1500, 4), 830)
    """
    import pandas as pd

    n, rng = check_int(n, "n"), check_random_state(seed, "seed")
    rows: list[list[str | None]] = []
    who: list[int] = []
    while len(rows) < n:
        born = rng.integers(1950, 2005), rng.integers(1, 13), rng.integers(1, 29)
        person = rng.choice(FIRST), rng.choice(SURNAMES), born, rng.choice(TOWNS)
        number = who[-1] + 1 if who else 0
        for _ in range(min(rng.geometric(0.55), n - len(rows))):
            rows.append(_record(person, rng))
            who.append(number)
    order = rng.permutation(n)
    table = pd.DataFrame(rows, columns=["first", "last", "born", "town"], dtype=object)
    return table.iloc[order].reset_index(drop=True), np.array(who)[order]


def _record(person: Any, rng: Generator) -> list[str | None]:
    first, last, (year, month, day), town = person
    if rng.random() < 0.05:
        first, last = last, first
    if rng.random() < 0.05:
        month, day = day, month
    if rng.random() < 0.08:
        year += rng.choice([-10, -1, 1, 10])
    if rng.random() < 0.1:  # moved
        town = rng.choice(TOWNS)
    cells = [first, last, f"{year}-{month:02}-{day:02}", town]
    words = [
        _misspelt(c, rng) if at != 2 and rng.random() < 0.12 else c for at, c in enumerate(cells)
    ]
    return [None if rng.random() < 0.05 else word for word in words]


def _misspelt(word: str, rng: Generator) -> str:
    """Leave a letter out, put another in its place or behind it, or swap two."""
    at = rng.integers(len(word))
    other = "abcdefghijklmnopqrstuvwxyz"[rng.integers(26)]
    kind = rng.integers(4)
    middle = ["", other, word[at] + other, word[at : at + 2][::-1]][kind]
    return word[:at] + middle + word[at + 1 + (kind == 3) :]


def _covariance_root(d: int, rng: Generator) -> FloatArray:
    """Draw A so that A A' has mean variance 1 and ratios of variances up to `ELONGATION`."""
    rotation, triangle = np.linalg.qr(rng.standard_normal((d, d)))
    rotation = rotation * np.sign(np.diag(triangle))
    variances = np.exp(rng.uniform(0.0, np.log(ELONGATION), size=d))
    return np.asarray(rotation * np.sqrt(variances / variances.mean()))


def _generated(X: FloatArray, y: IntArray, k: int, name: str) -> Dataset:
    """A data set of rows that were drawn, with made-up names of features and classes."""
    classes = tuple(str(component) for component in range(k))
    return Dataset(X, y.astype(np.int64), numbered(X.shape[1]), classes, name)
