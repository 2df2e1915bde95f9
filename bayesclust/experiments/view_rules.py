"""By which rule is a view chosen from its scores? Rules side by side on generated data that no paper reports on.

Run as ``python -m bayesclust.experiments.view_rules``. Every view that ``TVClust(cluster_model="auto")``
tries is run on classes that are ellipses, have heavy tails, are skew, are two blobs each, are bent,
or have columns in which many items share a value; answers to 1% and 3% of the ordered pairs, all
right or one in five wrong. A rule sees the scores of the answers alone; labels judge what it chose,
the partition of the short run in which a view is tried. Each data set is written to a file as soon
as it is done, and is not run again.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesclust as bc
from bayesclust._files import replaced
from bayesclust.estimators._views import MIXTURE, PILOT, PILOT_CHAINS, POWERS, SINGLE, behind_best
from bayesclust.typing import FloatArray, IntArray

__all__ = ["KINDS", "RULES", "case", "main", "run", "table"]

ITEMS = 200
FRACTIONS, ACCURACIES = (0.01, 0.03), (1.0, 0.8)
KINDS = ("ellipses", "tails", "skew", "blobs", "moons", "spirals", "zeros")
RULES = {"best": 0.0, "half an error": 0.5, "one error": 1.0, "two errors": 2.0}
"""How many standard errors behind the best a view may be."""


def case(kind: str, seed: int) -> tuple[FloatArray, IntArray]:
    """Generate a data set.

    Parameters
    ----------
    kind : str
        Of `KINDS`.
    seed : int

    Returns
    -------
    tuple of (n, d) array and (n,) array of int
        Items, columns standardised, and classes.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    if kind in ("moons", "spirals"):
        shape = bc.datasets.make_shape(kind, ITEMS, noise=0.08, seed=rng)
        return shape.X / shape.X.std(axis=0), shape.y
    k, d = (int(number) for number in rng.integers((2, 2), (6, 7)))
    pieces = 2 if kind == "blobs" else 1
    mixture = bc.datasets.make_mixture(
        ITEMS, d, k * pieces, separation=4.0, elongation=6.0, seed=rng
    )
    X, y = mixture.X.copy(), mixture.y % k
    if kind == "tails":
        X = X + np.column_stack([rng.standard_t(2.5, size=ITEMS) for _ in range(d)]) * 0.3
    if kind == "skew":
        X = np.exp(X)
    if kind == "zeros":
        X[:, ::2] = np.maximum(X[:, ::2], np.quantile(X[:, ::2], 0.6, axis=0))
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def run(kind: str, seed: int, fraction: float, accuracy: float) -> pd.DataFrame:
    """Try every view on one data set.

    Parameters
    ----------
    kind : str
    seed : int
    fraction : float
        Of the ordered pairs.
    accuracy : float
        Probability that an answer is right.

    Returns
    -------
    pandas.DataFrame
        A row for each, in the order in which "auto" prefers them: how far its mean score lies
        behind the best and the standard error of that, and the pairwise F of its partition.
    """
    X, y = case(kind, seed)
    links = bc.PairwiseConstraints.sample(
        y, fraction=fraction, flip=1.0 - accuracy, ordered=True, seed=seed
    )
    pilot = asdict(PILOT) | {"num_chains": PILOT_CHAINS, "random_state": seed, "progress": False}
    scores, rows = [], []
    for power, view in product(POWERS, (SINGLE, MIXTURE)):
        est = bc.TVClust(cluster_model=view, power=power, **pilot).fit(X, constraints=links)
        scores.append(bc.constraint_credibility(est)["elpd_loo"].to_numpy())
        found = {"f": bc.metrics.pairwise_f(est.labels_, y), "clusters": est.n_clusters_}
        rows.append({"view": view, "power": power} | found)
    behind, error = behind_best(np.array(scores))
    setting: dict[str, Any] = {
        "kind": kind,
        "seed": seed,
        "fraction": fraction,
        "accuracy": accuracy,
    }
    return pd.DataFrame(rows).assign(behind=behind, error=error, **setting)


def table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean F by kind of data for each rule, for each single view always, and for the best view each time.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of several `run`.

    Returns
    -------
    pandas.DataFrame
    """
    rows = []
    for (kind, _, fraction, _), tried in runs.groupby(
        ["kind", "seed", "fraction", "accuracy"], sort=False
    ):
        row = {"kind": kind, "fraction": fraction}
        for name, errors in RULES.items():
            row[name] = tried["f"].to_numpy()[
                (tried["behind"] <= errors * tried["error"]).to_numpy().argmax()
            ]
        names = "always " + tried["view"] + ", " + tried["power"].map("{:g}".format)
        rows.append(
            row | dict(zip(names, tried["f"], strict=True)) | {"told the classes": tried["f"].max()}
        )
    scored = pd.DataFrame(rows)
    kinds, amounts = (
        scored.groupby(name, sort=False).mean(numeric_only=True) for name in ("kind", "fraction")
    )
    overall = scored.mean(numeric_only=True).to_frame("mean").T
    return pd.concat([kinds, amounts, overall]).drop(columns="fraction")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is not in the file yet, then print the table.

    Parameters
    ----------
    arguments : sequence of str, optional
        Of the command line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m bayesclust.experiments.view_rules", description=__doc__
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--output", type=Path, default=Path("view_rules.csv"))
    given = parser.parse_args(arguments)
    runs = pd.read_csv(given.output) if given.output.exists() else pd.DataFrame()
    keys = ["kind", "seed", "fraction", "accuracy"]
    done = set(runs[keys].itertuples(index=False, name=None)) if len(runs) else set()
    for setting in product(given.kinds, given.seeds, FRACTIONS, ACCURACIES):
        if setting in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.TiedColumnsWarning)  # "zeros" is made of them
            runs = pd.concat([runs, run(*setting)], ignore_index=True)
        with replaced(given.output) as draft:
            runs.to_csv(draft, index=False)
    print(table(runs).round(3).T.to_string())


if __name__ == "__main__":
    main()
