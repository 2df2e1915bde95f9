"""``bayesclust predict``: the clusters of new items, from a posterior that ``fit`` wrote."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust._io import check_target, replaced
from bayesclust.checks import counted, some_of
from bayesclust.cli.summary import read_posterior
from bayesclust.cli.tables import (
    SCALING,
    add_id,
    as_numbers,
    check_columns,
    read_cells,
    refuse_missing,
)

OTHERS = {"divergence": "rdp-means", "inference": "dcrc"}
"""Models that place nothing, by a parameter that no other has."""

ABOUT = """Place new items in the clusters of a posterior that bayesclust fit wrote with the model
tvclust. Nothing is fitted again. The table has the columns of the data, in the same units; others
are ignored."""

EPILOG = """example:
  bayesclust predict run.nc new.csv --out placed.csv

columns of the result:
  cluster      the most probable cluster, numbered as in bayesclust summary
  p_0, p_1...  probability of each cluster, if the item joins one of them
  novelty      probability that the item opens a cluster of its own"""


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = command("predict", "place new items in the clusters of a posterior", ABOUT, EPILOG)
    parser.add_argument("posterior", type=Path, help="netCDF file that fit wrote")
    parser.add_argument("data", type=Path, help="table of new items")
    target: dict[str, Any] = {"type": Path, "required": True, "metavar": "FILE"}
    parser.add_argument("-o", "--out", help="table to write, comma-separated", **target)
    add_id(parser, "that of the fit, or id")
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Read the posterior and the new items, and write the table."""
    import pandas as pd

    from bayesclust.estimators.cluster_models import CLASSIFIER
    from bayesclust.estimators.saved import restored
    from bayesclust.posterior.tree import feature_names, group, settings_of

    check_target(settings.out, inputs=[settings.posterior, settings.data])
    tree = read_posterior(settings.posterior)
    for parameter, model in OTHERS.items():
        if parameter in settings_of(tree):
            raise ValueError(
                f"{settings.posterior} is a fit of {model}: predict takes fits of --model tvclust."
            )
    try:
        estimator = restored(tree)
    except ValueError as error:
        raise ValueError(f"{settings.posterior}: {error}") from None
    columns = feature_names(tree)
    cells = read_cells(settings.data, settings.id, tree.attrs.get("id"))
    column = tree.attrs.get("batches")
    batches = [] if column is None else [column]
    check_columns(cells, settings.data, [*columns, *batches])
    sites = cells[batches]
    cells = cells[columns]
    worded = {columns[j]: words for j, words in estimator._words.items()}
    for column, words in worded.items():
        for item, word in cells[column][~cells[column].isin(words) & cells[column].notna()].items():
            raise ValueError(
                f"{settings.data}: {column} of item {item} is {word!r}, a word that the data of "
                "the fit do not have: leave the item out, or the cell empty."
            )
    X, _ = as_numbers(cells, settings.data, worded, "{} has numbers alone in the data of the fit")
    takes_missing = estimator.__sklearn_tags__().input_tags.allow_nan
    if not takes_missing or estimator.cluster_model_ == CLASSIFIER:
        refuse_missing(X, settings.data, "leave the item out")
    for column, (mean, sd) in json.loads(tree.attrs.get(SCALING, "{}")).items():
        X[column] = (X[column] - mean) / sd
    X = X.assign(**{column: cells[column] for column in worded}).join(sites)
    if batches:
        _tell_new_batches(sites[batches[0]], group(tree, "observed_data")["batch"].values, X.index)
    shares = estimator.predict_proba(X)
    table = pd.DataFrame({"id": X.index, "cluster": shares.argmax(axis=1)})
    for k in range(shares.shape[1]):
        table[f"p_{k}"] = shares[:, k].round(4)
    table["novelty"] = estimator.predict_novelty(X).round(4)
    with replaced(settings.out) as draft:
        table.to_csv(draft, index=False)
    used, known = table["cluster"].nunique(), counted(estimator.n_clusters_, "cluster")
    where = known if used == estimator.n_clusters_ else f"{used} of the {known}"
    print(f"{settings.out}: {counted(len(X), 'new item')} placed in {where}.")
    return 0


def _tell_new_batches(own: Any, known: Any, items: Any) -> None:
    """Say which items are of batches that the fit has not seen, or of none."""
    from bayesclust.names import plain_names

    new = ~np.isin(np.array(plain_names(own.to_numpy()), dtype=object), list(known))
    if new.any():
        print(
            f"items of no batch of the fit have the weights of all: {some_of(items[new].tolist())}",
            file=sys.stderr,
        )
