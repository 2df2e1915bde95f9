import csv

import numpy as np
import pytest

from bayesclust import cli


def write(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder with twelve named items in two clusters, and answers of two sources about them."""
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(3)
    names = [f"n{i:02d}" for i in range(12)]
    truth = np.repeat([0, 1], 6)
    X = rng.normal(size=(12, 2)) + 6 * truth[:, None]
    write(
        folder / "data.csv",
        ["id", "width", "height"],
        [[name, *row] for name, row in zip(names, X, strict=True)],
    )
    pairs = [(i, (i + step) % 12) for i in range(12) for step in (1, 4)]
    rows = [
        [
            names[i],
            names[j],
            "same" if truth[i] == truth[j] else "different",
            "ann" if at % 3 else "bob",
        ]
        for at, (i, j) in enumerate(pairs)
    ]
    write(folder / "pairs.csv", ["i", "j", "answer", "source"], rows)
    asked = [(0, 1, 7), (7, 2, 8), (3, 9, 10), (6, 7, 8)]
    answers = ["yes", "no", "dnk", "?"]
    rows = [[*(names[i] for i in items), word] for items, word in zip(asked, answers, strict=True)]
    write(folder / "triplets.csv", ["i", "j", "k", "answer"], rows)
    shuffled = rng.permutation(12)
    write(folder / "truth.csv", ["id", "label"], [[names[i], f"kind {truth[i]}"] for i in shuffled])
    return folder


@pytest.fixture(scope="session")
def run_nc(files):
    """A posterior that the command line wrote."""
    arguments = [
        "fit",
        files / "data.csv",
        "--pairs",
        files / "pairs.csv",
        "--triplets",
        files / "triplets.csv",
    ]
    arguments += [
        "--out",
        files / "run.nc",
        "--chains",
        2,
        "--warmup",
        30,
        "--samples",
        60,
        "--no-progress",
    ]
    assert cli.main([str(argument) for argument in arguments]) == 0
    return files / "run.nc"
