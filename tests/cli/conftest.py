import csv

import numpy as np
import pytest

from bayesclust import cli


def write(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder with twelve named items in two clusters, and answers of two sources about them."""
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(3)
    names = [f"n{i:02d}" for i in range(12)]
    truth = np.repeat([0, 1], 6)
    X = rng.normal(size=(12, 2)) + 6 * truth[:, None]
    items = [[name, *row] for name, row in zip(names, X, strict=True)]
    write(folder / "data.csv", ["id", "width", "height"], items)
    words = ("different", "same")
    pairs = [(i, (i + step) % 12) for i in range(12) for step in (1, 4)]
    rows = [
        [names[i], names[j], words[int(truth[i] == truth[j])], "ann" if at % 3 else "bob"]
        for at, (i, j) in enumerate(pairs)
    ]
    write(folder / "pairs.csv", ["i", "j", "answer", "source"], rows)
    asked = {(0, 1, 7): "yes", (7, 2, 8): "no", (3, 9, 10): "dnk", (6, 7, 8): "?"}
    rows = [[*(names[i] for i in members), word] for members, word in asked.items()]
    write(folder / "triplets.csv", ["i", "j", "k", "answer"], rows)
    shuffled = rng.permutation(12)
    write(folder / "truth.csv", ["id", "label"], [[names[i], f"kind {truth[i]}"] for i in shuffled])
    return folder


@pytest.fixture(scope="session")
def fit(files):
    """Run `bayesclust fit` on the table of items; {pairs} and {triplets} are the other files."""

    def run(out, options=""):
        given = {name: str(files / f"{name}.csv") for name in ("pairs", "triplets")}
        words = [word.format(**given) for word in options.split()]
        return cli.main(["fit", str(files / "data.csv"), "--out", str(out), *words])

    return run


@pytest.fixture(scope="session")
def run_nc(files, fit):
    """A posterior that the command line wrote."""
    answers = "--pairs {pairs} --triplets {triplets}"
    short = "--cluster-model single --chains 2 --warmup 30 --samples 60 --no-progress"
    assert fit(files / "run.nc", f"{answers} {short}") == 0
    return files / "run.nc"
