"""Data sets and cells that were made up."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from experiments import sources

# items, columns and classes of the sets whose files come with an extra, or with no package
SIZES = {"ecoli": (336, 7, 8), "glass": (214, 9, 6)}
SIZES |= {"glass_with_id": (214, 10, 6), "balance": (625, 4, 3), "segment": (2310, 19, 7)}
SIZES |= {"ionosphere": (351, 33, 2), "pima": (768, 8, 2)}
SIZES |= {"digits389": (3165, 16, 3), "letters_ijlt": (3059, 16, 4)}
SIZES |= {"msrcv2_6.csv": (1046, 48, 6)}


@pytest.fixture(scope="session", autouse=True)
def sources_without_files():
    """Noise of the same size stands in for sets whose files are not installed."""
    absent = SIZES.keys() - set(bc.datasets.names(installed=True))
    load = sources.load

    def load_or_make(name):
        if name not in absent:
            return load(name)
        n, d, k = SIZES[name]
        words = tuple(map(str, range(d))), tuple(map(str, range(k)))
        X = np.random.default_rng(0).normal(size=(n, d))
        return bc.datasets.Dataset(X, np.arange(n) % k, *words, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "load", load_or_make)
        yield


@pytest.fixture
def blobs(tmp_path):
    """A file of 24 items in three classes that k-means gets nearly right."""
    rng = np.random.default_rng(1)
    y = np.arange(24) % 3
    X = rng.normal(size=(24, 2)) + 2.0 * np.column_stack([y == 1, y == 2])
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "class": y})
    table.to_csv(tmp_path / "blobs.csv", index=False)
    return tmp_path / "blobs.csv"


def rows_of(experiment, cells, **scores):
    """Cells as the rows of a file, with scores that are given or random."""
    rng = np.random.default_rng(0)
    blank = {"float": lambda: round(rng.uniform(0.2, 1.0), 4), "int": lambda: 0, "str": lambda: ""}
    made = [
        {
            **{name: blank[kind]() for name, kind in experiment.module.SCORES.items()},
            **cell._asdict(),
            **{name: f(cell) if callable(f) else f for name, f in scores.items()},
        }
        for cell in cells
    ]
    return pd.DataFrame(made, columns=list(experiment.kinds)).astype(experiment.kinds)


@pytest.fixture(scope="session")
def scored():
    """`rows_of`."""
    return rows_of
