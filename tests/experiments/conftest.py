"""Cells with scores that were made up."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from experiments.reproduce import sources
from experiments.reproduce.tvclust.cells import KINDS

# items, columns and classes of the sets whose files come with an extra
SIZES = {"ecoli": (336, 7, 8), "glass": (214, 9, 6), "glass_with_id": (214, 10, 6)}


@pytest.fixture(scope="session", autouse=True)
def sources_without_files():
    """Noise of the same size stands in for sets whose files are not installed: no test here depends on their values."""
    absent = SIZES.keys() - set(bc.datasets.names(installed=True))
    load = sources.load

    def load_or_make(name):
        if name not in absent:
            return load(name)
        n, d, k = SIZES[name]
        words = [
            tuple(f"{word} {number}" for number in range(size))
            for word, size in (("column", d), ("class", k))
        ]
        return bc.datasets.Dataset(
            np.random.default_rng(0).normal(size=(n, d)), np.arange(n) % k, *words, name, "noise"
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "load", load_or_make)
        yield


@pytest.fixture(scope="session")
def scored():
    """What turns cells into the rows of a file: random F, and for data in the plane the classes with one item moved."""

    def labels_of(cell):
        if cell.data not in sources.SHAPES:
            return ""
        y = sources.load(cell.data).y.copy()
        y[cell.trial] = (y[cell.trial] + 1) % (y.max() + 1)
        return " ".join(map(str, y))

    def rows(cells):
        scores = np.random.default_rng(0).uniform(0.2, 1.0, len(cells)).round(4)
        return pd.DataFrame(
            [
                {
                    **cell._asdict(),
                    "f": f,
                    "rand": f / 2,
                    "nmi": f / 4,
                    "clusters": 3,
                    "seconds": 1.0,
                    "labels": labels_of(cell),
                }
                for cell, f in zip(cells, scores, strict=True)
            ],
            columns=list(KINDS),
        )

    return rows
