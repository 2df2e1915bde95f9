"""Cells with scores that were made up, and a small file."""

import numpy as np
import pandas as pd
import pytest

from experiments.reproduce.iac.cells import KINDS


@pytest.fixture
def blobs(tmp_path):
    """A file of 24 items in three classes that k-means gets nearly right."""
    rng = np.random.default_rng(1)
    y = np.arange(24) % 3
    X = rng.normal(size=(24, 2)) + 2.0 * np.column_stack([y == 1, y == 2])
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "class": y})
    table.to_csv(tmp_path / "blobs.csv", index=False)
    return tmp_path / "blobs.csv"


@pytest.fixture(scope="session")
def scored():
    """What turns cells into the rows of a file: scores that follow from method, data and trial, or as given."""

    def rows(cells, score=lambda cell: 0.5, **columns):
        made = [
            {
                **{
                    name: {"float64": np.nan, "int64": 0, "str": ""}[kind]
                    for name, kind in KINDS.items()
                },
                **cell._asdict(),
                **dict.fromkeys(
                    (name for name in KINDS if name.startswith(("quality", "similarity"))),
                    score(cell),
                ),
                "gap": 0.0,
                "seconds": 9.0,
                "cpu_seconds": 2.0 + cell.trial,
                "choosing": 0.1,
                "qualities": " ".join(
                    f"{0.1 * step + 0.01 * cell.trial:.4f}" for step in range(11)
                ),
                "similarities": " ".join(["1.0"] + ["0.9"] * 10),
                **columns,
            }
            for cell in cells
        ]
        return pd.DataFrame(made, columns=list(KINDS)).astype(dict(KINDS))

    return rows
