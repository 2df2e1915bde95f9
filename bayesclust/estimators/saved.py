"""The fitted TVClust of a posterior that was saved, for predictions."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from bayesclust.estimators.cluster_models import CLASSIFIER, MODEL, Candidates, Choice
from bayesclust.estimators.tvclust import MAX_DRAWS, TVClust
from bayesclust.inference.batches import SHIFTS
from bayesclust.partition_priors import HierarchicalDirichletProcess
from bayesclust.posterior.point_estimate import settled_labels
from bayesclust.posterior.tree import (
    constraints_if_any,
    evenly_spread,
    feature_names,
    group,
    item_names,
    json_attribute,
    settings_of,
    tree_of,
)


class SavedTVClust(TVClust):
    """A TVClust of saved draws, which cannot go on."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Say that it only predicts."""
        raise AttributeError(
            "this TVClust was made from saved draws, and only predicts: keep the fitted estimator, "
            "or fit a new TVClust."
        )

    fit = _refuse
    extend = log_joint = to_arviz = start_chains = property(_refuse)


def restored(posterior: Any) -> TVClust:
    """Return the `TVClust` of saved draws, which predicts as the fit did and does no more.

    Parameters
    ----------
    posterior : DataTree
        The `posterior_` of a `TVClust`, as it comes back from its file.

    Returns
    -------
    TVClust
        It does not go on: `fit`, `extend`, `log_joint` and `to_arviz` refuse.

    Raises
    ------
    ValueError
        If `family` or `partition_prior` was an object without a name.

    Examples
    --------
    >>> import bayesclust as bc
    >>> short = {"num_chains": 2, "num_warmup": 50, "num_samples": 50, "random_state": 0}
    >>> est = bc.TVClust(cluster_model="single", **short).fit([[0.0], [0.2], [9.0], [9.3]] * 4)
    >>> bc.estimators.restored(est.posterior_).predict([[0.1], [9.1]])
    array([0, 1])
    """
    group(posterior, "posterior")
    tree = tree_of(posterior)
    settings = settings_of(tree)
    batches = None
    if "batches" in tree.attrs:
        settings["partition_prior"] = None
        batches = group(tree, "observed_data")["batch"].values
    known = json_attribute(tree, MODEL, "null")
    objects = any("(" in str(settings.get(name)) for name in ("family", "partition_prior"))
    # files of earlier versions have no weights
    choice, words, kept = [*(known or [[CLASSIFIER], {}]), None][:3]
    if objects or (choice[0] == CLASSIFIER and kept is None):
        raise ValueError(
            "the posterior holds draws but no model to predict with: fit again by TVClust, with "
            "family and partition_prior by name, or keep the fitted estimator."
        )
    estimator = SavedTVClust(**{name: own for name, own in settings.items() if name != "moves"})
    if batches is not None:
        estimator.partition_prior = HierarchicalDirichletProcess(
            tree.attrs["batches"], shifts=SHIFTS in group(tree, "posterior").data_vars
        )
    estimator._words = {int(j): own for j, own in words.items()}
    items = group(tree, "observed_data")["X"].values
    given = estimator.family, estimator.partition_prior, tuple(estimator._words), batches
    weights: dict[str, Any] = {}
    if choice[0] == CLASSIFIER:
        # with weights that are known nothing is drawn
        weights = {"W": np.array(kept["W"]), "rng": np.random.default_rng(0)}
        z = group(tree, "posterior")["z"].values.reshape(-1, len(items))
        some = z[evenly_spread(MAX_DRAWS, len(z))]
        drawn = [np.array(own)[row] for own, row in zip(kept["classes"], some, strict=True)]
        estimator._classes_drawn = np.array(drawn)
    constraints: Any = constraints_if_any(tree) if weights else ()
    made = Candidates(items, *given).problem(Choice(*choice), constraints, **weights)
    estimator._problem, estimator.reduction_ = made
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
    return estimator
