"""``bayesclust compare``: several fits, and labels of any origin, side by side."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust._io import check_target, replaced
from bayesclust.cli.summary import read_posterior
from bayesclust.cli.tables import hint, id_column, read_sheet, wrong
from bayesclust.typing import NDArray

ABOUT = """Put fits side by side: how many clusters each has, how far it lies from the first
posterior and whether inside its credible ball, and how much each two agree. Files ending in .nc
are posteriors; all others are tables of labels, one item a line: a column called id (or that of
--id), if items have names, and one of labels, which may be words."""

EPILOG = """examples:
  bayesclust compare sampler.nc limit.nc
  bayesclust compare sampler.nc limit.nc kmeans.csv --truth classes.csv
  bayesclust compare a.nc b.nc --measure ari --out table.csv

columns:
  n_clusters     of the partition: for a posterior, that which stands best for all its draws
  distance       from the reference's partition, in bits (variation of information)
  ball_level     share of the reference's draws that are no farther away; near 1 is far out
  inside         whether the reference's credible ball of --level holds it
  expected_loss  mean distance from the reference's draws, in bits
  f, ari, nmi    pairwise F, adjusted Rand index, normalised mutual information with --truth"""


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    text = "several fits, and labels of any origin, side by side"
    parser = command("compare", text, ABOUT, EPILOG)
    file: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    parser.add_argument("fits", type=Path, nargs="+", help="posteriors (.nc) and tables of labels")
    parser.add_argument("--truth", help="table of true labels", **file)
    text = "with whose posterior all are compared: a name as printed (default: the first)"
    parser.add_argument("--reference", metavar="NAME", help=text)
    measures: dict[str, Any] = {"choices": ("vi", "ari", "nmi", "f"), "default": "vi"}
    parser.add_argument("--measure", help="of agreement (%(default)s)", **measures)
    text = "of the credible ball (%(default)s)"
    parser.add_argument("--level", type=float, default=0.95, metavar="P", help=text)
    text = "the column that names the items in tables (default: id)"
    parser.add_argument("--id", metavar="COLUMN", help=text)
    parser.add_argument("--out", help="also write the first table, comma-separated", **file)
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Print the comparison."""
    from bayesclust.comparison import agreement, compare

    if settings.out is not None:
        check_target(settings.out)
    methods, items = _read(settings.fits, settings.id)
    y = None if settings.truth is None else _labels(settings.truth, settings.id, items)
    table = compare(methods, y, reference=settings.reference, level=settings.level)
    matrix = agreement(methods, settings.measure)
    print(table.to_string(float_format="{:.3f}".format, na_rep=""))
    if "reference" in table.attrs:
        radius = f"{table.attrs['radius']:.3f} bits"
        print(
            f"\nThe reference is {table.attrs['reference']}: its {settings.level:.0%} credible "
            f"ball has radius {radius}."
        )
    print(f"\nagreement: {matrix.columns.name}")
    print(matrix.rename_axis(columns=None).to_string(float_format="{:.3f}".format))
    if settings.out is not None:
        with replaced(settings.out) as draft:
            table.to_csv(draft, index_label="fit")
        print(f"Written: {settings.out}", file=sys.stderr)
    return 0


def _read(paths: Sequence[Path], id_name: str | None) -> tuple[dict[str, Any], list[str] | None]:
    """The fits by name and the names of the items; tables are put in the order of posteriors."""
    from bayesclust.posterior.tree import item_names

    names = _short(paths)
    trees = {path: read_posterior(path) for path in paths if path.suffix == ".nc"}
    items: list[str] | None = None
    first: Path | None = None
    for path, tree in trees.items():
        if "item" not in tree["posterior"].coords or tree["posterior"]["item"].dtype.kind in "iu":
            continue
        own = item_names(tree)
        if items is not None and own != items:
            raise ValueError(
                f"{path} has other items than {first}, or in another order: compare fits of the "
                "same data."
            )
        items, first = own, path
    methods: dict[str, Any] = {}
    for name, path in zip(names, paths, strict=True):
        if path in trees:
            methods[name] = trees[path]
            continue
        if items is None and not trees:
            sheet = read_sheet(path)
            named = id_column(sheet, id_name)
            items = None if named is None else sheet[named].tolist()
        methods[name] = _labels(path, id_name, items)
    return methods, items


def _short(paths: Sequence[Path]) -> list[str]:
    """File names without their endings; whole paths where these would be the same."""
    times = Counter(path.stem for path in paths)
    names = [path.stem if times[path.stem] == 1 else str(path) for path in paths]
    for name, given in Counter(names).items():
        if given > 1:
            raise ValueError(f"{name} is given twice: name each file once.")
    return names


def _labels(path: Path, id_name: str | None, items: list[str] | None) -> NDArray[np.str_]:
    """Labels of a table, in the order of the items."""
    sheet = read_sheet(path)
    own = id_column(sheet, id_name)
    others = [name for name in sheet if name != own]
    called = [name for name in others if name.lower() in ("label", "cluster")]
    if not called and len(others) != 1:
        fault = f"the columns are {', '.join(sheet)}: call the one of labels label or cluster"
        raise wrong(sheet, 1, fault)
    column = (called or others)[0]
    for line in sheet.index[sheet[column] == ""]:
        raise wrong(sheet, line, f"{column} is empty: give every item a label")
    if own is None:
        return sheet[column].to_numpy(dtype=np.str_)
    if items is None:
        items = [str(row) for row in range(len(sheet))]
    for line, name in sheet[own][~sheet[own].isin(items)].items():
        other = f"in the other fits{hint(str(name), items)}"
        raise wrong(sheet, line, f"no item is called {name!r} {other}")
    for line, name in sheet[own][sheet[own].duplicated()].items():
        raise wrong(sheet, line, f"{name!r} has a label already: name each item once")
    labels = dict(zip(sheet[own], sheet[column], strict=True))
    missing = [name for name in items if name not in labels]
    if missing:
        number = f"{len(missing)} are missing in all"
        raise ValueError(f"{path} has no label for {missing[0]!r}, and {number}: add them.")
    return np.array([labels[name] for name in items])
