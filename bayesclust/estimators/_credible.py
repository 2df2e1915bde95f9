"""What a posterior says about the parameters of its own small-variance limit; the formulas stand at `from_posterior`."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesclust.constraints.dataset import StoredConstraints
from bayesclust.estimators._means import start_labels
from bayesclust.families import FAMILIES, Divergence, Family, as_divergence
from bayesclust.families.gaussian import Mahalanobis
from bayesclust.inference.limits.answers import PAIRWISE
from bayesclust.inference.limits.rdp_means import means
from bayesclust.posterior.partition import point_estimate
from bayesclust.posterior.tree import group, stacked_partitions, stored_views
from bayesclust.typing import FloatArray, IntArray

# share of the total covariance added to the pooled one, so that a direction without scatter within
# clusters stays finite
RIDGE = 1e-3


def credible_settings(posterior: Any, X: Any, divergence: Any, loss: Any) -> dict[str, Any]:
    """Divergence, penalty, xi and starting labels for `RDPMeans`."""
    draws = group(posterior, "posterior")
    n_items = stacked_partitions(posterior).shape[1]
    given = posterior if hasattr(posterior, "labels_") else point_estimate(posterior, loss=loss)
    labels = start_labels(given, n_items)
    assert labels is not None
    chosen = as_divergence(_family(posterior) if divergence is None else divergence)
    if divergence is None and isinstance(chosen, Mahalanobis):
        items = chosen.bind(X).points(X)  # X is checked before the covariance is taken
        _check_length(len(items), n_items)
        chosen = Mahalanobis(_pooled_covariance(np.asarray(X, dtype=np.float64), labels))
    bound = chosen.bind(X)
    points = bound.points(X)
    _check_length(len(points), n_items)
    alpha = float(draws["concentration"].mean()) if "concentration" in draws else 1.0
    gamma, penalty = _scale(points, bound, labels, alpha)
    tree = getattr(posterior, "posterior_", posterior)
    views = stored_views(tree) if "constant_data" in tree.children else []
    xi = {view.name: confidence_by_source(draws, view, gamma) for view in views}
    return {"penalty": penalty, "divergence": chosen, "xi": xi or None, "init": labels}


def _check_length(found: int, n_items: int) -> None:
    if found != n_items:
        raise ValueError(
            f"X has {found} items, but the posterior is about {n_items}: pass the data that was clustered."
        )


def _family(posterior: Any) -> str | Family:
    """The likelihood family of a fit."""
    family = getattr(posterior, "family", None)
    if family is None:
        tree = getattr(posterior, "posterior_", posterior)
        family = json.loads(tree.attrs.get("settings", "{}")).get("family")
    if isinstance(family, Family):
        return family
    if family in FAMILIES:
        return str(family)
    raise ValueError(
        "the posterior does not say which family it is of: pass its divergence, or the fitted estimator."
    )


def _pooled_covariance(X: FloatArray, labels: IntArray) -> FloatArray:
    """Covariance within clusters, with a little of the total one."""
    numbers, centers = means(X, labels)
    inside = X - centers[numbers]
    total = np.cov(X, rowvar=False, bias=True).reshape(X.shape[1], -1)
    pooled: FloatArray = inside.T @ inside / max(len(X) - len(centers), 1) + RIDGE * total
    return pooled


def _scale(
    points: FloatArray, divergence: Divergence, labels: IntArray, alpha: float
) -> tuple[float, float]:
    """gamma and the penalty."""
    numbers, centers = means(points, labels)
    n, count, f = len(points), len(centers), divergence.n_free(points)
    within = float(divergence.paired(points, centers[numbers]).sum()) / max(n - count, 1)
    total = float(divergence.between(points, points.mean(axis=0, keepdims=True)).sum()) / (n - 1)
    if not within > 1e-12 * total:
        raise ValueError(
            f"the point estimate has {count} clusters of {n} items without scatter within them, so the scale of the limit "
            "is not known: set penalty and xi yourself."
        )
    gamma = f / (2.0 * within)
    size = np.bincount(numbers)[numbers].astype(np.float64)
    halves = gammaln(size) - 2.0 * gammaln(size / 2.0) - np.log(alpha)
    fit = f / 2.0 * np.log(np.maximum(size * total / (4.0 * within), 1.0))
    # under a large concentration small clusters may cost nothing, but the limit needs a price
    return gamma, max(float((halves + fit).mean()) / gamma, 1e-3 * within)


def confidence_by_source(draws: Any, view: StoredConstraints, gamma: float) -> dict[int, Any]:
    """xi of each source of a view."""
    if view.kind == PAIRWISE:
        p, q = _noise_mean(draws, view, "p"), _noise_mean(draws, view, "q")
        odds = np.log(np.stack([p / (1.0 - q), q / (1.0 - p)], axis=1))
    else:
        confusion = _noise_mean(draws, view, "confusion")
        if confusion is not None:
            return {
                source: -np.log(np.maximum(table, 1e-12)) / gamma
                for source, table in enumerate(confusion)
            }
        eps = _noise_mean(draws, view, "noise")
        odds = np.log((1.0 - eps) / (eps / 2.0))[:, None]
    found: dict[int, Any] = {}
    for source, row in enumerate(odds / gamma):
        if (row <= 0).any():
            warnings.warn(
                f"source {source} of {view.name!r} is as likely wrong as right in this posterior: "
                "it is left aside (xi = 0); correct its answers if they mean their opposite.",
                UserWarning,
                stacklevel=4,
            )
            row = np.zeros_like(row)
        found[source] = tuple(row.tolist()) if len(row) == 2 else float(row[0])
    return found


def _noise_mean(draws: Any, view: StoredConstraints, name: str) -> Any:
    """Posterior mean of a noise parameter of a view, the axis of sources first; None if the view has none."""
    if name not in view.parameters:
        return None
    return np.asarray(draws[view.parameters[name]].mean(("chain", "draw")).values, dtype=np.float64)
