"""The parameter xi of `RDPMeans`, how much constraints count.

Read, shown, and taken from a posterior.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesclust.checks import number_between
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.stored import StoredConstraints
from bayesclust.estimators.base import start_labels
from bayesclust.families import FAMILIES, Divergence, Family, as_divergence
from bayesclust.families.gaussian import Mahalanobis
from bayesclust.inference.limits.answers import (
    Graph,
    Xi,
    answer_graph,
    cost_table,
    pose,
    times,
)
from bayesclust.inference.limits.rdp_means import means
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import group, stacked_partitions, stored_constraints
from bayesclust.typing import FloatArray, IntArray

GROWS = "grows"
FORMS = "a number, a pair (xi1, xi2), a dict by the names of the constraints, or None"
RIDGE = 1e-3
"""Share of the total covariance added to the pooled one, so that a direction without scatter within
clusters stays finite."""


# --- read and shown


def check_xi(xi: Any) -> Any:
    """Return xi with its numbers checked, as far as they can be without the answers.

    Infinity becomes `GROWS`.
    """
    if xi is None:
        return None
    if isinstance(xi, Real):
        value = number_between(xi, "xi", "[0, inf]")
        return value if math.isfinite(value) else GROWS
    if isinstance(xi, Mapping):
        return {name: _check_view(value, f"xi[{name!r}]") for name, value in xi.items()}
    return _check_pair(xi, "xi", FORMS)


def _check_pair(value: Any, what: str, forms: str) -> tuple[float, float]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{what} must be {forms}; got {value!r}.")
    may, may_not = (
        number_between(one, f"{what}[{at}]", "[0, inf)") for at, one in enumerate(value)
    )
    return may, may_not


def _check_view(value: Any, what: str) -> Any:
    if isinstance(value, Mapping):
        return {source: _check_source(one, f"{what}[{source!r}]") for source, one in value.items()}
    return _check_source(value, what)


def _check_source(value: Any, what: str) -> Any:
    if isinstance(value, Real):
        return number_between(value, what, "[0, inf)")
    table = np.asarray(value, dtype=object)
    if table.shape == (3, 3):
        costs = [
            [number_between(cost, f"{what}[{t}][{a}]", "[0, inf)") for a, cost in enumerate(row)]
            for t, row in enumerate(table.tolist())
        ]
        return np.array(costs)
    return _check_pair(
        value,
        what,
        "a number, a pair (xi1, xi2), (3, 3) costs of triplet answers, or a dict by source",
    )


def fixed_confidence(xi: Any, constraints: Sequence[Constraints], n_items: int) -> tuple[Graph, Xi]:
    """The constraints as a graph, and what each of them weighs; xi as `check_xi` returns it."""
    if not isinstance(xi, dict):
        graph, unit = pose(constraints, n_items)
        if isinstance(xi, float):
            return graph, times(unit, xi)
        if isinstance(unit, tuple):
            return graph, xi
        names = ", ".join(f"{view.name!r}: ..." for view in constraints)
        raise ValueError(
            f"xi={xi} says nothing about triplets: give a dict by the names of the constraints, "
            f"{{{names}}}."
        )
    for name in xi:
        if name not in {view.name for view in constraints}:
            there = " and ".join(repr(view.name) for view in constraints) or "none"
            raise ValueError(
                f"xi names the constraints {name!r}, but there are {there}: use these names."
            )
    confidence = {}
    for view in constraints:
        if view.name not in xi:
            raise ValueError(
                f"xi has no entry for the constraints {view.name!r}: "
                "give one to each, 0 to leave it aside."
            )
        confidence[view.name] = _of_view(xi[view.name], view)
    return answer_graph(constraints, n_items), cost_table(constraints, confidence)


def _of_view(value: Any, view: Constraints) -> FloatArray:
    by_source = value if isinstance(value, dict) else dict.fromkeys(range(view.n_sources), value)
    if set(by_source) != set(range(view.n_sources)):
        raise ValueError(
            f"xi[{view.name!r}] is for the sources {sorted(by_source)}, but the answers come from "
            f"{view.n_sources} numbered from 0: give each an entry."
        )
    rows = view.unit_confidence()
    for source, one in by_source.items():
        if isinstance(one, float):
            rows[source] *= one
        elif np.shape(one) == rows[source].shape:
            rows[source] = one
        else:
            table = "a pair (xi1, xi2)" if view.is_links else f"{rows[source].shape} costs"
            raise ValueError(
                f"xi[{view.name!r}] must be a number or {table} for each source of {view.kind} "
                f"answers; got {one!r}."
            )
    return rows


def by_view(xi: Xi, constraints: Sequence[Constraints]) -> Any:
    """A confidence as users see it.

    (xi1, xi2) as it is, a table as a dict by the names of the constraints.

    For links an array (S, 2) of xi1 and xi2, for triplets (S, 3, 3), the costs of answers (columns)
    under each truth (rows).
    """
    if isinstance(xi, tuple):
        return xi
    found = {}
    begin = 0
    for view in constraints:
        end = begin + view.n_sources * view.n_answers
        table = xi[begin:end].reshape(view.n_sources, view.n_answers, -1)
        found[view.name] = view.confidence_of(table)
        begin = end
    return found


# --- taken from a posterior; the formulas stand at `RDPMeans.from_posterior`


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
    constraints = stored_constraints(tree) if "constant_data" in tree.children else []
    xi = {view.name: confidence_by_source(draws, view, gamma) for view in constraints}
    return {"penalty": penalty, "divergence": chosen, "xi": xi or None, "init": labels}


def _check_length(found: int, n_items: int) -> None:
    if found != n_items:
        raise ValueError(
            f"X has {found} items, but the posterior is about {n_items}: "
            "pass the data that was clustered."
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
        "the posterior does not say which family it is of: "
        "pass its divergence, or the fitted estimator."
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
    n = len(points)
    count = len(centers)
    f = divergence.n_free(points)
    within = float(divergence.paired(points, centers[numbers]).sum()) / max(n - count, 1)
    total = float(divergence.between(points, points.mean(axis=0, keepdims=True)).sum()) / (n - 1)
    if not within > 1e-12 * total:
        raise ValueError(
            f"the point estimate has {count} clusters of {n} items without scatter within them, "
            "so the scale of the limit "
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
    if view.is_links:
        p = _noise_mean(draws, view, "p")
        q = _noise_mean(draws, view, "q")
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
    """Posterior mean of a noise parameter of a view, the axis of sources first.

    None if the view has none.
    """
    if name not in view.parameters:
        return None
    return np.asarray(draws[view.parameters[name]].mean(("chain", "draw")).values, dtype=np.float64)
