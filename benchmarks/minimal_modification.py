"""Minimal modification under a thousand constraints: letters (20,000 items) and images like MNIST's (10,000 items).

Wall and CPU time of one fit, data and k-means aside. Published for letters with 1000 constraints and alpha = 0, beta = 1:
201 to 302 s for pairs, 132 to 617 s for triplets.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import bayesclust as bc

CONSTRAINTS, WRONG, SHARE = 1000, 0.1, 0.85
SETTINGS = {"alpha 0, beta 1": (0.0, 1.0), "alpha 0.2, beta 0.3": (0.2, 0.3)}

Data = tuple[NDArray[np.float64], NDArray[np.int64]]


def letters(rng: Generator) -> Data:
    """The letter set, or classes like it where the package that ships it is not installed."""
    if "letter" in bc.datasets.names(installed=True):
        letter = bc.datasets.load("letter")
        return letter.X, letter.y
    y = rng.integers(26, size=20_000)
    return rng.normal(size=(26, 16))[y] * 1.5 + rng.normal(size=(len(y), 16)), y


def images(rng: Generator) -> Data:
    """Scikit-learn's digits blown up from 8 x 8 to 28 x 28, shifted and with noise: 10,000 of 784 pixels."""
    digits = load_digits()
    chosen = rng.integers(len(digits.data), size=10_000)
    blown = np.kron(digits.images[chosen] * 16.0, np.ones((3, 3)))
    X = np.zeros((len(chosen), 28, 28))
    for image, small, (down, right) in zip(X, blown, rng.integers(5, size=(len(chosen), 2)), strict=True):
        image[down : down + 24, right : right + 24] = small
    return (X + rng.normal(scale=8.0, size=X.shape)).reshape(len(X), -1), digits.target[chosen].astype(np.int64)


def informative_triplets(y: NDArray[np.int64], rng: Generator, wrong: float) -> bc.RelativeConstraints:
    """Triplets answered yes or no: two items of one class and one of another, in either order."""
    rows, answers = [], []
    while len(rows) < CONSTRAINTS:
        i, j, k = rng.choice(len(y), 3, replace=False).tolist()
        if (y[i] == y[j]) != (y[i] == y[k]):
            rows.append((i, j, k))
            answers.append((y[i] == y[j]) ^ (rng.random() < wrong))
    return bc.RelativeConstraints(rows, np.where(answers, "yes", "no"), len(y))


def constraints(y: NDArray[np.int64], wrong: float) -> dict[str, Any]:
    """A thousand of each kind."""
    few = np.random.default_rng(3).choice(len(y), 250, replace=False)
    among = bc.PairwiseConstraints.sample(y[few], size=CONSTRAINTS, flip=wrong, seed=1)
    pairs = bc.PairwiseConstraints.sample(y, size=CONSTRAINTS, flip=wrong, seed=1)
    return {
        "pairs": pairs,
        "triplets": informative_triplets(y, np.random.default_rng(2), wrong),
        "pairs among 250 items": bc.PairwiseConstraints(few[among.items], among.answers, len(y)),
    }


def timed(X: Any, seen: Any, given: Any, alpha: float, beta: float, share: float) -> dict[str, Any]:
    """Fit once."""
    est = bc.MinimalModification(alpha, beta, satisfied=share)
    start, busy = time.perf_counter(), time.process_time()
    est.fit(X, partition=seen, constraints=given)
    spent = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - busy}
    return {**spent, "objective": est.objective_, "gap": est.gap_, "given_up": len(est.given_up_)}


def run() -> list[dict[str, Any]]:
    """Time all; returns rows for the record."""
    rows = []
    for name, make in (("letters", letters), ("images", images)):
        X, y = make(np.random.default_rng(0))
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9) if name == "letters" else X
        seen = KMeans(int(y.max()) + 1, n_init=1, random_state=0).fit(X).labels_
        for wrong, share in ((0.0, 1.0), (WRONG, SHARE)):
            for kind, given in constraints(y, wrong).items():
                for setting, (alpha, beta) in SETTINGS.items():
                    row = timed(X, seen, given, alpha, beta, share)
                    what = f"{name}, {CONSTRAINTS} {kind}, {wrong:.0%} wrong, satisfied {share:.0%}, {setting}"
                    spent = f"{row['seconds']:6.2f} s, of CPU {row['cpu_seconds']:6.2f} s"
                    print(f"{what:<86} {spent}, gap {row['gap']:.3g}, {row['given_up']} given up")
                    rows.append({"what": what, **row})
    return rows
