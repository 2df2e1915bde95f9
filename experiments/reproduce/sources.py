"""The data of the experiments, by name."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path

import numpy as np

import bayesclust as bc
from bayesclust.typing import FloatArray
from experiments.reproduce import stand_ins

__all__ = [
    "COUNTS",
    "SHAPES",
    "UCI",
    "WITH_ID",
    "classes",
    "code",
    "known",
    "load",
    "names",
    "number",
    "standardised",
    "title",
]

UCI = ("iris", "wine", "ecoli", "glass", "balance")
WITH_ID = "glass_with_id"
SHAPES = bc.datasets.SHAPES
COUNTS = ("visual_words", "digits")
SEED = 20_260_101
"""Of generated data: it is the answers that differ from trial to trial."""


@cache
def load(name: str) -> bc.datasets.Dataset:
    """A data set, real or generated, or from a file of the user's.

    Parameters
    ----------
    name : str
        Of a set; or of a CSV file with a line of names, numbers in all columns but the last, and
        classes in the last; or of a NumPy archive (.npz) with items X (n, d) and classes y (n,).

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If a file is something else.
    """
    if name.endswith(".csv"):
        return _from_file(Path(name))
    if name.endswith(".npz"):
        return _from_archive(Path(name))
    if name in stand_ins.STAND_INS:
        return stand_ins.STAND_INS[name](SEED)
    if name in SHAPES:
        return bc.datasets.make_shape(name, 300, seed=SEED)
    if name == "visual_words":
        return bc.datasets.make_visual_words(seed=SEED)
    return bc.datasets.load(name)


def _from_archive(path: Path) -> bc.datasets.Dataset:
    with np.load(path, allow_pickle=False) as file:
        if not {"X", "y"} <= set(file):
            raise ValueError(
                f"{path} holds {', '.join(file)}: items are wanted as X and their classes as y."
            )
        X, classes = file["X"].astype(np.float64), file["y"]
    if X.ndim != 2 or classes.shape != X.shape[:1] or not np.isfinite(X).all():
        shapes = f"X of shape {X.shape} and y of shape {classes.shape}"
        raise ValueError(
            f"{path} has {shapes}: (n, d) and (n,) are wanted, without missing values."
        )
    targets, y = np.unique(classes, return_inverse=True)
    words = tuple(f"column{column}" for column in range(X.shape[1])), tuple(map(str, targets))
    return bc.datasets.Dataset(X, y.astype(np.int64), *words, path.stem, f"read from {path}")


def _from_file(path: Path) -> bc.datasets.Dataset:
    import pandas as pd

    table = pd.read_csv(path)
    *features, last = table.columns
    try:
        X = table[features].to_numpy(dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"{path} has something else than numbers before its last column, the class: {error}."
        ) from None
    if not features or not np.isfinite(X).all():
        raise ValueError(f"{path} has no features or missing values: leave out what is not there.")
    targets, y = np.unique(table[last].astype(str), return_inverse=True)
    words = tuple(features), tuple(map(str, targets))
    return bc.datasets.Dataset(X, y.astype(np.int64), *words, path.stem, f"read from {path}")


def names() -> tuple[str, ...]:
    """What `load` knows besides files and the sets of the TVClust paper that are generated.

    Returns
    -------
    tuple of str
    """
    return (*bc.datasets.names(), *stand_ins.STAND_INS)


def known(name: str) -> bool:
    """Whether there is such a set, or a file of that name.

    Parameters
    ----------
    name : str

    Returns
    -------
    bool
    """
    return Path(name).is_file() if name.endswith((".csv", ".npz")) else name in names()


def title(name: str) -> str:
    """What figures and tables call a set.

    Parameters
    ----------
    name : str

    Returns
    -------
    str

    Examples
    --------
    >>> title("letters_ijlt"), title("birdsong"), title("there/msrcv2.csv")
    ('letters ijlt', 'birdsong, generated', 'msrcv2')
    """
    return Path(name).stem.replace("_", " ") + (
        ", generated" if name in stand_ins.STAND_INS else ""
    )


def code(name: str) -> int:
    """A number for the name of any set or file, the same wherever the file lies, to seed its answers with.

    Parameters
    ----------
    name : str

    Returns
    -------
    int

    Examples
    --------
    >>> code("there/mk2.csv") == code("mk2")
    True
    """
    return zlib.crc32(Path(name).stem.encode())


def number(name: str) -> int:
    """What the name contributes to the seed of answers: the row id of glass changes nothing about them.

    Parameters
    ----------
    name : str

    Returns
    -------
    int
    """
    name = "glass" if name == WITH_ID else name
    first, names = next(
        (100 * at, names) for at, names in enumerate((UCI, SHAPES, COUNTS)) if name in names
    )
    return first + names.index(name)


def standardised(X: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1; constant ones are 0.

    Parameters
    ----------
    X : (n, d) array

    Returns
    -------
    (n, d) array
    """
    spread = X.std(axis=0)
    scaled: FloatArray = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def classes(name: str) -> int:
    """The number of classes of a data set.

    Parameters
    ----------
    name : str

    Returns
    -------
    int
    """
    return len(load(name).target_names)
