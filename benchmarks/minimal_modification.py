"""Minimal modification under a thousand constraints: 20,000 letters, and 10,000 images.

The yardstick is the fit of k-means whose partition is modified.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import bayesclust as bc
from benchmarks.records import Race, Target
from benchmarks.timing import Entry, Run, Scale, race

CONSTRAINTS, WRONG, SHARE = 1000, 0.1, 0.85
SETTINGS = {"0 / 1": (0.0, 1.0), ".2 / .3": (0.2, 0.3)}
"""alpha / beta: as published (every item by itself), and the defaults."""
PUBLISHED = (
    "Published for letters and alpha / beta = 0 / 1, elsewhere: 201 to 302 s for pairs, 132 to "
    "617 s for triplets."
)
MOST_SECONDS = {"pairs, 0 / 1": 10, "triplets, 0 / 1": 20}
YARDSTICK = "k-means"

Data = tuple[NDArray[np.float64], NDArray[np.int64]]


def letters(rng: Generator) -> Data:
    """The letter set, or classes like it where the package that ships it is not installed."""
    if "letter" in bc.datasets.names(installed=True):
        letter = bc.datasets.load("letter")
        return letter.X, letter.y
    y = rng.integers(26, size=20_000)
    return rng.normal(size=(26, 16))[y] * 1.5 + rng.normal(size=(len(y), 16)), y


def images(rng: Generator) -> Data:
    """Scikit-learn's digits as 28 x 28 pixels, shifted and with noise: 10,000 of them."""
    digits = load_digits()
    chosen = rng.integers(len(digits.data), size=10_000)
    blown = np.kron(digits.images[chosen] * 16.0, np.ones((3, 3)))
    X = np.zeros((len(chosen), 28, 28))
    for image, small, (down, right) in zip(
        X, blown, rng.integers(5, size=(len(chosen), 2)), strict=True
    ):
        image[down : down + 24, right : right + 24] = small
    return (X + rng.normal(scale=8.0, size=X.shape)).reshape(len(X), -1), digits.target[
        chosen
    ].astype(np.int64)


def few_items(rng: Generator) -> Data:
    """Three clusters, for a look."""
    y = rng.integers(3, size=60)
    return rng.normal(size=(3, 4))[y] * 3 + rng.normal(size=(60, 4)), y


def informative_triplets(
    y: NDArray[np.int64], rng: Generator, wrong: float, number: int
) -> bc.RelativeConstraints:
    """Triplets answered yes or no: two items of one class and one of another, in either order."""
    rows: list[tuple[int, int, int]] = []
    answers: list[bool] = []
    while len(rows) < number:
        i, j, k = rng.choice(len(y), 3, replace=False).tolist()
        if (y[i] == y[j]) != (y[i] == y[k]):
            rows.append((i, j, k))
            answers.append((y[i] == y[j]) ^ (rng.random() < wrong))
    return bc.RelativeConstraints(rows, np.where(answers, "yes", "no"), len(y))


def constraints(y: NDArray[np.int64], wrong: float, number: int) -> dict[str, Any]:
    """As many of each kind."""
    few = np.random.default_rng(3).choice(len(y), min(250, len(y) // 2), replace=False)
    among = bc.PairwiseConstraints.sample(y[few], size=number, error_rate=wrong, seed=1)
    pairs = bc.PairwiseConstraints.sample(y, size=number, error_rate=wrong, seed=1)
    return {
        "pairs": pairs,
        "triplets": informative_triplets(y, np.random.default_rng(2), wrong, number),
        f"pairs among {len(few)} items": bc.PairwiseConstraints(
            few[among.items], among.answers, len(y)
        ),
    }


def entries(
    X: Any, y: NDArray[np.int64], wrong: float, share: float, number: int, once: bool
) -> dict[str, Entry | Run]:
    """One fit of every kind under every setting."""
    k_means = KMeans(int(y.max()) + 1, n_init=1, random_state=0)
    seen = k_means.fit(X).labels_
    raced: dict[str, Entry | Run] = {YARDSTICK: lambda: k_means.fit(X)}
    for kind, given in constraints(y, wrong, number).items():
        for setting, (alpha, beta) in SETTINGS.items():
            fit = bc.MinimalModification(alpha, beta, min_satisfied=share).fit
            raced[f"{kind}, {setting}"] = Entry(
                partial(fit, X, partition=seen, constraints=given), once=once
            )
    return raced


def run(scale: Scale) -> Iterator[Race]:
    """Time all, one solver thread; what takes many seconds only once."""
    number = scale.pick(CONSTRAINTS, 20)
    for name, make in (
        (("letters", letters), ("images", images)) if not scale.quick else (("few", few_items),)
    ):
        X, y = make(np.random.default_rng(0))
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9) if name == "letters" else X
        for wrong, share in ((0.0, 1.0), (WRONG, SHARE)):
            published = name == "letters" and not wrong
            yield race(
                f"Minimal modification, {name}, {number} constraints, {wrong:.0%} wrong, "
                f"at least {share:.0%} satisfied",
                "CPU time of a fit",
                entries(X, y, wrong, share, number, once=not published),
                scale,
                reference=YARDSTICK,
                targets=[Target(each, most=most, unit="s") for each, most in MOST_SECONDS.items()]
                if published
                else [],
                note=PUBLISHED if published else "",
            )
