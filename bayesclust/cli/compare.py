"""``bayesclust compare``: several fits, and labels of any origin, side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bayesclust._io import check_target, replaced
from bayesclust.cli.summary import read_posterior
from bayesclust.cli.tables import add_id, read_named

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
    text = "the one of the files with whose posterior all are compared (default: the first)"
    parser.add_argument("--reference", metavar="FILE", help=text)
    add_id(parser, "that of the fit, or id")
    parser.add_argument("--out", help="also write the first table, comma-separated", **file)
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Print the comparison."""
    from bayesclust.comparison import agreement, compare

    if settings.out is not None:
        check_target(settings.out)
    trees = {path: read_posterior(path) for path in settings.fits if path.suffix == ".nc"}
    items = _items(trees)
    usual = next((tree.attrs["id"] for tree in trees.values() if "id" in tree.attrs), None)
    named = {"id_name": settings.id, "usual": usual}
    methods: dict[str, Any] = {}
    for path in settings.fits:
        if path not in trees and items is None:
            items = list(read_named(path, **named).index)
        methods[str(path)] = trees[path] if path in trees else _labels(path, items, **named)
    y = None if settings.truth is None else _labels(settings.truth, items, **named)
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


def _labels(path: Path, items: Sequence[Any] | None, **named: str | None) -> Any:
    """Labels of a table, in the order of the items where it names them."""
    sheet = read_named(path, **named)
    called = [name for name in sheet if name.lower() in ("label", "cluster")] or list(sheet)
    if len(called) != 1:
        raise ValueError(
            f"{path} has the columns {', '.join(sheet)}: rename that of the labels to label "
            "or cluster."
        )
    labels = sheet[called[0]]
    if sheet.index.name is not None and items is not None:
        for item in labels.index.symmetric_difference(items):
            raise ValueError(
                f"{path} names other items than the other fits do, such as {item!r}: pass one "
                "label for each."
            )
        labels = labels[items]
    for item in labels.index[labels == ""]:
        raise ValueError(f"{path} has no label for {item!r}: give every item one.")
    return labels.tolist()
