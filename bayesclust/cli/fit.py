"""``bayesclust fit``: data and answers from text files, the posterior to a netCDF file."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust._io import check_target, write_netcdf
from bayesclust.cli import _models
from bayesclust.cli._codes import INTERRUPTED
from bayesclust.cli._describe import describe
from bayesclust.cli._inputs import Answers, Items, read_answers, read_items

__all__ = ["add", "run"]

ABOUT = """Cluster the rows of a table, heeding doubtful answers about pairs and triplets of them, and write the posterior.

models:
  tvclust    Dirichlet-process mixture: the posterior over partitions, and how reliable each source is
  dcrc       discriminative clustering, told the number of clusters; hears "do not know" about triplets
  rdp-means  the fast limit of tvclust: one partition, no posterior"""

EPILOG = """files (comma-separated, the first line names the columns; .tsv has tabs):
  data.csv       one item a line; a column called id, or that of --id, names the items; all others are features
  pairs.csv      i, j, answer: are items i and j of one cluster? same or different (also yes/no, true/false, 1/0)
  triplets.csv   i, j, k, answer: is i more like j than like k? yes, no, or dnk for "do not know"
  A column called source says who answered; each source gets a reliability of its own. Of several files without it, each
  is a source. Items are named as in data.csv or, if it names none, by row numbers from 0. Further columns are ignored.

worked example:
  $ cat data.csv              $ cat pairs.csv
  id,height,weight            i,j,answer,source
  ant,0.1,0.2                 ant,bee,same,ann
  bee,0.2,0.1                 ant,cow,different,ann
  cow,9.0,8.8                 bee,cow,same,bob
  dog,8.7,9.1                 cow,dog,same,bob
  $ bayesclust fit data.csv --pairs pairs.csv --out run.nc
  $ bayesclust summary run.nc
  $ bayesclust report run.nc --out run.html

In Python, arviz.from_netcdf("run.nc") reads what is written. Ctrl-C ends a run early and keeps the draws so far; the exit
code is then 130. The file is written whole or not at all."""


def add(commands: Any) -> None:
    """Describe the command.

    Parameters
    ----------
    commands : argparse subparsers
    """
    text = "cluster a table with answers about pairs and triplets; write the posterior"
    parser = describe(commands, "fit", text, ABOUT, EPILOG)
    parser.add_argument("data", type=Path, help="table of items")
    parser.add_argument(
        "--pairs", type=Path, nargs="+", default=[], metavar="FILE", help="answers about pairs"
    )
    parser.add_argument(
        "--triplets",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="answers about triplets",
    )
    parser.add_argument(
        "--model", choices=_models.MODELS, default="tvclust", help="default: %(default)s"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="netCDF file to write"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="of everything random (default: %(default)s)",
    )
    parser.add_argument("--no-progress", action="store_true", help="say nothing while fitting")
    table = parser.add_argument_group("how data.csv is read")
    table.add_argument(
        "--id",
        metavar="COLUMN",
        help="the column that names the items (default: id, if there is one)",
    )
    table.add_argument(
        "--features",
        nargs="+",
        metavar="COLUMN",
        help="columns to cluster by (default: all others)",
    )
    table.add_argument(
        "--drop",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="columns to leave out, such as known classes",
    )
    table.add_argument(
        "--standardize",
        action="store_true",
        help="bring columns to mean 0 and standard deviation 1",
    )
    table.add_argument(
        "--delimiter", metavar="CHAR", help="of all files (default: a comma; a tab in .tsv)"
    )
    table.add_argument(
        "--no-header",
        action="store_true",
        help="the first line holds an item; columns are 0, 1, 2, ...",
    )
    _models.add_options(parser)
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Read, fit and write.

    Parameters
    ----------
    settings : argparse.Namespace
        Parsed.

    Returns
    -------
    int
        Exit code: 130 if the run was interrupted after its first draw, and its draws are kept.
    """
    parameters = _models.given_options(settings)
    check_target(settings.out)
    estimator = _models.make_estimator(
        settings.model, parameters, settings.seed, not settings.no_progress
    )
    items = read_items(
        settings.data,
        id_column=settings.id,
        features=settings.features,
        drop=settings.drop,
        delimiter=settings.delimiter,
        header=not settings.no_header,
        missing=estimator.__sklearn_tags__().input_tags.allow_nan,
    )
    answers = {
        name: read_answers(paths, size, items, settings.delimiter)
        for name, paths, size in (("links", settings.pairs, 2), ("triplets", settings.triplets, 3))
        if paths
    }
    _say(
        settings,
        f"{len(items.names)} items, {len(items.features)} features, {_number(answers)} answers; fitting.",
    )
    for note in (note for own in answers.values() for note in own.notes):
        _say(settings, note)
    views = [
        _models.with_noise(own.view(len(items.names)), settings.triplet_noise)
        for own in answers.values()
    ]
    X = _standardized(items.X) if settings.standardize else items.X
    keep = {} if settings.checkpoint is None else {"checkpoint": settings.checkpoint}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, constraints=views or None, **keep)
        tree = _tree(settings, estimator, X, views)
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            print(f"bayesclust: {warning.message}", file=sys.stderr)
    if getattr(estimator, "model_scores_", None) is not None:
        chosen = f"cluster model {estimator.cluster_model_}, {estimator.family_}, power {estimator.power_:g}"
        _say(settings, f"Predicts the answers best: {chosen}.")
    tree = _named(tree, items, answers)
    write_netcdf(tree, settings.out)
    print(f"{settings.out}: {_shape(tree)}, {_counted(estimator.n_clusters_, 'cluster')}.")
    _say(settings, f"To read it: bayesclust summary {settings.out}")
    return INTERRUPTED if tree.attrs.get("interrupted") else 0


def _say(settings: argparse.Namespace, text: str) -> None:
    if not settings.no_progress:
        print(text, file=sys.stderr)


def _number(answers: dict[str, Answers]) -> int:
    return sum(len(own.answers) for own in answers.values())


def _standardized(
    X: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Columns of mean 0 and standard deviation 1, over the cells seen; constant columns become 0."""
    mean, deviation = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    return (X - mean) / np.where(deviation > 0, deviation, 1.0)


def _tree(settings: argparse.Namespace, estimator: Any, X: Any, constraints: list[Any]) -> Any:
    """The posterior or, of the limit, its one partition in the same form."""
    if hasattr(estimator, "posterior_"):
        return estimator.posterior_
    from bayesclust.posterior.tree import to_datatree

    attrs = {
        "created_by": "bayesclust",
        "version": version("bayesclust"),
        "seed": settings.seed,
        "settings": estimator.get_params(deep=False),
        "fit_seconds": estimator.fit_seconds_,
        "penalty": float(estimator.penalty_),
    }
    stats = {"objective": [[estimator.objective_]]}
    return to_datatree(
        {"z": estimator.labels_[None, None]}, stats, X=X, constraints=constraints, attrs=attrs
    )


def _named(tree: Any, items: Items, answers: dict[str, Answers]) -> Any:
    """The posterior with the names of items, features and sources, and what it was made from."""
    from bayesclust.posterior.tree import with_names

    sources = {name: own.sources for name, own in answers.items() if own.sources is not None}
    named = with_names(
        tree,
        items=None if items.named is None else items.names,
        features=items.features,
        sources=sources,
    )
    named.attrs |= {
        "data": items.path.name,
        "named_by": items.named or "",
        "sources": json.dumps(sources),
    }
    return named


def _shape(tree: Any) -> str:
    sizes = tree["posterior"].sizes
    if sizes["chain"] * sizes["draw"] == 1:
        return f"one partition of {sizes['item']} items"
    return f"{_counted(sizes['chain'], 'chain')} of {_counted(sizes['draw'], 'draw')} of {sizes['item']} items"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
