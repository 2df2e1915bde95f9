"""Cells with scores that were made up."""

import numpy as np
import pandas as pd
import pytest

from bayesclust.experiments.reproduce import sources
from bayesclust.experiments.reproduce.cells import COLUMNS


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
            columns=list(COLUMNS),
        )

    return rows
