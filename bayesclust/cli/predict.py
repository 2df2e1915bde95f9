"""``bayesclust predict``: the clusters of new items, from a posterior that ``fit`` wrote."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust._io import check_target, replaced
from bayesclust.checks import counted
from bayesclust.cli.summary import read_posterior
from bayesclust.cli.tables import add_id, as_numbers, check_columns, read_cells

KEPT = "prediction"
"""The attribute of a tree for what prediction needs besides draws, data and settings."""

ABOUT = """Place new items in the clusters of a posterior that bayesclust fit wrote with the model
tvclust. Nothing is fitted again. The table has the columns of the data, in the same units; others
are ignored."""

EPILOG = """example:
  bayesclust predict run.nc new.csv --out labels.csv

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


def keep_for_prediction(tree: Any, estimator: Any, scaling: dict[str, Any]) -> None:
    """Note with the draws of TVClust what `restored` needs; classifiers cannot be restored."""
    from bayesclust.estimators import TVClust
    from bayesclust.estimators.cluster_models import CLASSIFIER

    if not isinstance(estimator, TVClust) or estimator.cluster_model_ == CLASSIFIER:
        return
    reduction = estimator.reduction_
    choice: dict[str, Any] = {
        "cluster_model": estimator.cluster_model_,
        "power": estimator.power_,
        "family": estimator.family_,
        "n_dimensions": estimator.n_features_in_,
    }
    if reduction is not None:
        choice["n_dimensions"] = int(reduction[-1].n_components_)
        choice["scaled"] = len(reduction) > 1
    kept = {"choice": choice, "words": estimator._words, "scaling": scaling}
    tree.attrs[KEPT] = json.dumps(kept)


def restored(tree: Any, path: Path) -> tuple[Any, dict[str, Any]]:
    """The fitted estimator of a tree, and the scaling of its columns, or refuse the tree."""
    from bayesclust.estimators import TVClust
    from bayesclust.estimators.cluster_models import Candidates, Choice
    from bayesclust.posterior.point_estimate import point_estimate
    from bayesclust.posterior.tree import feature_names

    if KEPT not in tree.attrs:
        raise ValueError(
            f"{path} holds draws but no model to predict with: fit again by bayesclust fit with "
            "--model tvclust and --cluster-model single or mixture, or predict in Python."
        )
    kept = json.loads(tree.attrs[KEPT])
    estimator = TVClust(**json.loads(tree.attrs["settings"]))
    estimator._words = {int(j): words for j, words in kept["words"].items()}
    items = tree["observed_data"]["X"].values
    candidates = Candidates(
        items, estimator.family, estimator.partition_prior, tuple(estimator._words)
    )
    estimator._problem, estimator.reduction_ = candidates.problem(Choice(**kept["choice"]), ())
    estimator.feature_names_in_ = np.array(feature_names(tree), dtype=object)
    estimator.n_features_in_ = items.shape[1]
    estimator.posterior_ = tree
    estimator.labels_ = point_estimate(tree)
    estimator.n_clusters_ = int(estimator.labels_.max()) + 1
    return estimator, kept["scaling"]


def run(settings: argparse.Namespace) -> int:
    """Read the posterior and the new items, and write the table."""
    import pandas as pd

    check_target(settings.out)
    tree = read_posterior(settings.posterior)
    estimator, scaling = restored(tree, settings.posterior)
    columns = list(estimator.feature_names_in_)
    cells = read_cells(settings.data, settings.id, tree.attrs.get("id"))
    check_columns(cells, settings.data, columns)
    cells = cells[columns]
    worded = {columns[j]: words for j, words in estimator._words.items()}
    for column, words in worded.items():
        for item, word in cells[column][~cells[column].isin(words) & cells[column].notna()].items():
            raise ValueError(
                f"{settings.data}: {column} of item {item} is {word!r}, a word that the data of "
                "the fit do not have: leave the item out, or the cell empty."
            )
    X, _ = as_numbers(cells, settings.data, worded, "{} has numbers alone in the data of the fit")
    for column, (mean, sd) in scaling.items():
        X[column] = (X[column] - mean) / sd
    X = X.assign(**{column: cells[column] for column in worded})
    shares = estimator.predict_proba(X)
    table = pd.DataFrame({"id": X.index, "cluster": shares.argmax(axis=1)})
    for k in range(shares.shape[1]):
        table[f"p_{k}"] = shares[:, k].round(4)
    table["novelty"] = estimator.predict_novelty(X).round(4)
    with replaced(settings.out) as draft:
        table.to_csv(draft, index=False)
    clusters = counted(estimator.n_clusters_, "cluster")
    print(f"{settings.out}: {counted(len(X), 'new item')} in {clusters}.")
    return 0
