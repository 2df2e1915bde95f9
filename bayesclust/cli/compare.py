"""``bayesclust compare``: several fits, and labels of any origin, side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bayesclust._io import check_target, replaced
from bayesclust.cli.summary import read_posterior
from bayesclust.cli.tables import Sheet, add_id, read_labels, read_named

ABOUT = """Put fits side by side: how many clusters each has, how far it lies from the first
posterior and whether inside its credible ball, and how much each two agree. Files ending in .nc
are posteriors; all others are tables of labels, one item a line: a column called id (or that of
--id), if items have names, and one of labels, which may be words."""

EPILOG = """examples:
  bayesclust compare sampler.nc limit.nc
  bayesclust compare sampler.nc limit.nc kmeans.csv --truth classes.csv --out table.csv

columns:
  n_clusters     of the partition: for a posterior, that which stands best for all its draws
  distance       from the reference's partition, in bits (variation of information)
  ball_level     share of the reference's draws that are no farther away; near 1 is far out
  inside         whether the reference's 95% credible ball holds it
  expected_loss  mean distance from the reference's draws, in bits
  f, ari, nmi    pairwise F, adjusted Rand index, normalised mutual information with --truth"""


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    text = "several fits, and labels of any origin, side by side"
    parser = command("compare", text, ABOUT, EPILOG)
    file: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    parser.add_argument("fits", type=Path, nargs="+", help="posteriors (.nc) and tables of labels")
    parser.add_argument("--truth", help="table of true labels", **file)
    text = (
        "the one of the files with whose posterior all are compared (default: the first with draws)"
    )
    parser.add_argument("--reference", metavar="FILE", help=text)
    add_id(parser, "that of the fit, or id")
    parser.add_argument("--out", help="also write the first table, comma-separated", **file)
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Print the comparison."""
    from bayesclust.comparison import agreement, compare

    truth = [] if settings.truth is None else [settings.truth]
    if settings.out is not None:
        check_target(settings.out, inputs=[*settings.fits, *truth])
    trees = {path: read_posterior(path) for path in settings.fits if path.suffix == ".nc"}
    items = _items(trees)
    usual = next((tree.attrs["id"] for tree in trees.values() if "id" in tree.attrs), None)
    tables = [path for path in settings.fits if path not in trees] + truth
    sheets = {path: read_named(path, settings.id, usual) for path in tables}
    _check_named(sheets)
    if items is None:
        items = list(sheets[settings.fits[0]].index)
    labels = {path: read_labels(path, sheet, items) for path, sheet in sheets.items()}
    methods = {
        str(path): _method(trees[path]) if path in trees else labels[path] for path in settings.fits
    }
    y = labels.get(settings.truth)
    table = compare(methods, y, reference=settings.reference)
    matrix = agreement(methods)
    print(table.to_string(float_format="{:.3f}".format, na_rep=""))
    if "reference" in table.attrs:
        reference, radius = table.attrs["reference"], table.attrs["radius"]
        print(
            f"\nThe reference is {reference}: its 95% credible ball has radius {radius:.3f} bits."
        )
    print(f"\nagreement: {matrix.columns.name}")
    print(matrix.rename_axis(columns=None).to_string(float_format="{:.3f}".format))
    if settings.out is not None:
        with replaced(settings.out) as draft:
            table.to_csv(draft, index_label="fit")
        print(f"Written: {settings.out}", file=sys.stderr)
    return 0


def _items(trees: dict[Path, Any]) -> list[str] | None:
    """The names of the items in the order of the posteriors, if any of these has names."""
    from bayesclust.posterior.tree import item_names

    orders = {tuple(item_names(tree)) for tree in trees.values()}
    named = [own for own in orders if own != tuple(map(str, range(len(own))))]
    if len(named) > 1:
        raise ValueError(
            "the posteriors are about other items, or in another order: compare fits of the same "
            "data."
        )
    return list((named or list(orders))[0]) if orders else None


def _method(tree: Any) -> Any:
    """A posterior, or the one partition of a limit, by whose draws nothing can be rated."""
    from bayesclust.posterior.point_estimate import settled_labels

    sizes = tree["posterior"].sizes
    if sizes["chain"] * sizes["draw"] > 1:
        return tree
    seconds = tree.attrs.get("fit_seconds", float("nan"))
    return SimpleNamespace(labels_=settled_labels(tree), fit_seconds_=seconds)


def _check_named(sheets: Mapping[Path, Sheet]) -> None:
    """Refuse to match some tables by the names of items and others by their rows."""
    named = [path for path, sheet in sheets.items() if sheet.index.name is not None]
    unnamed = [path for path in sheets if path not in named]
    if named and unnamed:
        raise ValueError(
            f"{named[0]} names its items and {unnamed[0]} does not: name them in both, by a column "
            "called id or that of --id."
        )
