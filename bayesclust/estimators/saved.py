"""The fitted TVClust of a posterior that was saved, for predictions."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import numpy as np

from bayesclust.estimators.cluster_models import CLASSIFIER, Candidates, Choice
from bayesclust.estimators.tvclust import MODEL, TVClust
from bayesclust.inference.batches import SHIFTS
from bayesclust.partition_priors import HierarchicalDirichletProcess
from bayesclust.posterior.point_estimate import settled_labels
from bayesclust.posterior.tree import feature_names, group, item_names, settings_of


class SavedTVClust(TVClust):
    """A TVClust of saved draws, without the constraints of its fit and what they cost."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Say that it only predicts."""
        raise ValueError(
            "this TVClust was made from saved draws, without the constraints of its fit, and only "
            "predicts: keep the fitted estimator, or fit a new TVClust."
        )

    fit = extend = log_joint = to_arviz = start_chains = _refuse


def restored(tree: Any) -> tuple[TVClust, dict[int, Any]]:
    """The estimator of a posterior and its words by column, or refuse a model without a name.

    It predicts as the fit did, and does no more: the noise of constraints is not kept.
    """
    settings, known = settings_of(tree), getattr(tree, "attrs", {}).get(MODEL)
    batches = None
    if "batches" in getattr(tree, "attrs", {}):
        settings["partition_prior"] = None
        batches = group(tree, "observed_data")["batch"].values
    choice, words = json.loads(known) if known is not None else ([CLASSIFIER], {})
    objects = any("(" in str(settings.get(name)) for name in ("family", "partition_prior"))
    if choice[0] == CLASSIFIER or objects:
        raise ValueError(
            "the posterior holds draws but no model to predict with: fit TVClust with "
            'cluster_model="single" or "mixture", and family and partition_prior by name, or keep '
            "the fitted estimator."
        )
    estimator = SavedTVClust(**{name: own for name, own in settings.items() if name != "moves"})
    if batches is not None:
        estimator.partition_prior = HierarchicalDirichletProcess(
            tree.attrs["batches"], shifts=SHIFTS in group(tree, "posterior").data_vars
        )
    estimator._words = {int(j): own for j, own in words.items()}
    items = group(tree, "observed_data")["X"].values
    given = estimator.family, estimator.partition_prior, tuple(estimator._words), batches
    estimator._problem, estimator.reduction_ = Candidates(items, *given).problem(
        Choice(*choice), ()
    )
    estimator.cluster_model_, estimator.power_, estimator.family_ = choice[:3]
    columns = feature_names(tree)
    estimator._names = item_names(tree), columns
    if columns != [str(j) for j in range(len(columns))]:
        estimator.feature_names_in_ = np.array(columns, dtype=object)
    estimator.n_features_in_ = len(columns)
    estimator.model_scores_ = None
    estimator.posterior_ = tree
    estimator.labels_ = settled_labels(tree)
    estimator.n_clusters_ = int(estimator.labels_.max()) + 1
    return estimator, estimator._words
