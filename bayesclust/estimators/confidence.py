"""What constraints and clusters cost in the limits: xi and penalty, given, chosen, or derived."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesclust import checks
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import compile_sites
from bayesclust.constraints.stored import StoredConstraints, StoredLabels
from bayesclust.estimators.base import start_labels, warn
from bayesclust.families import FAMILIES, Divergence, Family, as_divergence
from bayesclust.families.gaussian import Mahalanobis
from bayesclust.inference.limits import tuning
from bayesclust.inference.limits.answers import Graph, Xi, cost_table, link_graph, pose, times
from bayesclust.inference.limits.rdp_means import MANY_ITEMS, Problem, Schedule, means
from bayesclust.names import check_same_names
from bayesclust.posterior import tree
from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.point_estimate import settled_labels
from bayesclust.typing import FloatArray, IntArray

GROWS = "grows"
FORMS = "a number, a pair (xi1, xi2), a dict by the names of the constraints, or None"
RIDGE = 1e-3
"""Share of total covariance added to the pooled one: directions without scatter stay finite."""
BALLS = 0.8
"""Share of items nearest to their own centres, from which on one centre describes a cluster."""


def check_confidence(xi: Any, xi0: Any, rate: Any) -> Any:
    """The parameter xi, its numbers checked; infinity becomes `GROWS`."""
    if xi0 is not None:
        checks.check_positive(xi0, "xi0")
    checks.number_between(rate, "xi_rate", "[1, inf)")
    if xi is None or isinstance(xi, Mapping):
        return xi
    if isinstance(xi, Real):
        value = checks.number_between(xi, "xi", "[0, inf]")
        return value if math.isfinite(value) else GROWS
    return check_costs(xi, "xi", FORMS)


def check_costs(value: Any, what: str, forms: str) -> Any:
    """A number or a pair."""
    if isinstance(value, Real):
        return checks.number_between(value, what, "[0, inf)")
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{what} must be {forms}; got {value!r}.")
    return tuple(
        checks.number_between(one, f"{what}[{at}]", "[0, inf)") for at, one in enumerate(value)
    )


def fixed_confidence(xi: Any, constraints: Sequence[Constraints], n_items: int) -> tuple[Graph, Xi]:
    """The constraints as a graph, and their costs; xi as `check_confidence` returns it."""
    if isinstance(xi, Mapping):
        confidence = cost_rows(xi, constraints)
        return compile_sites(constraints, n_items), cost_table(constraints, confidence)
    graph, unit = pose(constraints, n_items)
    if isinstance(xi, float):
        return graph, times(unit, xi)
    if isinstance(unit, tuple):
        return graph, xi
    names = ", ".join(f"{one.name!r}: ..." for one in constraints)
    other = next(one for one in constraints if not one.is_links)
    raise ValueError(
        f"xi={xi} says nothing about {other.name!r}, which are no links: give a dict by the names "
        f"of the constraints, {{{names}}}."
    )


def cost_rows(xi: Mapping[str, Any], constraints: Sequence[Constraints]) -> dict[str, FloatArray]:
    """What constraints cost, by name: a row or table for each source."""
    names = [one.name for one in constraints]
    if set(xi) != set(names):
        there = " and ".join(map(repr, names)) or "none"
        raise ValueError(
            f"xi names the constraints {' and '.join(map(repr, xi))}, but there are {there}: give "
            "one entry to each, 0 to leave it aside."
        )
    return {one.name: _rows(xi[one.name], one, f"xi[{one.name!r}]") for one in constraints}


def _rows(value: Any, given: Constraints, what: str) -> FloatArray:
    """A row or table for each source, from a number, from one for all, or from one for each."""
    unit = given.unit_confidence()
    own = checks.real_array(value, what)
    if own.shape not in ((), unit.shape[1:], unit.shape):
        raise ValueError(
            f"{what} has shape {own.shape}: pass a number, or shape {unit.shape[1:]} for all "
            f"sources or {unit.shape} for each."
        )
    # tables of triplets may have any costs, such as those of `xi_`
    least = 0.0 if given.is_links or own.ndim == 0 else -np.inf
    if not (np.isfinite(own) & (own >= least)).all():
        raise ValueError(f"{what} must hold numbers from 0 on; got {checks.shown(value)}.")
    return unit * own if own.ndim == 0 else np.broadcast_to(own, unit.shape)


def shown_confidence(xi: Xi, constraints: Sequence[Constraints]) -> Any:
    """A confidence as users see it: (xi1, xi2), or a table as a dict by name."""
    if isinstance(xi, tuple):
        return xi
    found = {}
    begin = 0
    for one in constraints:
        end = begin + one.n_sources * one.n_answers
        table = xi[begin:end].reshape(one.n_sources, one.n_answers, -1)
        found[one.name] = one.confidence_of(table)
        begin = end
    return found


def cost_of_centre(
    given: float | None,
    n_clusters: int | None,
    points: FloatArray,
    divergence: Divergence,
    name: str = "penalty",
    what: str = "cluster",
    n_init: int = 1,
) -> float | None:
    """The cost of a centre: given, or from a guess of the number; None where it is to be chosen."""
    if given is not None and n_clusters is not None:
        raise ValueError(
            f"{name} and n_clusters both set what a {what} costs: leave one of them out."
        )
    if given is not None:
        return checks.check_positive(given, name)
    if n_clusters is None:
        return None
    number = checks.check_int(n_clusters, "n_clusters", most=len(points))
    return tuning.penalty_of(points, divergence, number, n_init)


def plan(
    points: FloatArray,
    divergence: Divergence,
    constraints: list[Constraints],
    cost: float | None,
    xi: Any,
    xi0: float | None,
    rate: float,
    rng: Generator,
    n_init: int,
    *model: Any,
) -> tuple[Problem, Schedule, IntArray | None]:
    """The problem ending in `model`, growth of xi, and of many items a start; None is chosen."""
    n = len(points)
    rate = float(rate)
    start = None
    if xi is None and rate > 1 and tuning.enough(constraints):
        graph, unit = pose(constraints, n)
        problem = Problem.of(points, divergence, graph, cost or 0.0, *model)
        if n > MANY_ITEMS:
            return tuning.choose_on_sample(constraints, problem, unit, cost, xi0, rate, rng)
        if cost is None and tuning.one_sided(constraints, n):
            cost = tuning.penalty_from_data(points, divergence, n_init)
        tried = tuning.candidates(points, divergence, n_init) if cost is None else np.array([cost])
        found = tuning.choose(constraints, problem, unit, tried, xi0, rate, rng, n_init=n_init)
        return *found, start
    fixed = None if xi is None or xi == GROWS else fixed_confidence(xi, constraints, n)
    if cost is None and n > MANY_ITEMS:
        cost, start = tuning.penalty_on_sample(points, divergence)
    elif cost is None:
        cost = tuning.penalty_from_data(points, divergence, n_init)
    if not any(map(len, constraints)):
        problem = Problem.of(points, divergence, link_graph([], n), cost, *model)
        return problem, tuning.NO_ANSWERS, start
    graph, unit = pose(constraints, n) if fixed is None else fixed
    problem = Problem.of(points, divergence, graph, cost, *model)
    if fixed is not None:
        return problem, Schedule(unit), start
    first = tuning.first_xi(problem) if xi0 is None else float(xi0)
    return problem, Schedule(times(unit, first), rate), start


# --- taken from a posterior; the formulas stand at `RDPMeans.from_posterior`


def credible_settings(posterior: Any, X: Any, divergence: Any) -> dict[str, Any]:
    """Divergence, penalty, xi and starting labels for `RDPMeans`."""
    draws = tree.group(posterior, "posterior")
    n_items = tree.stacked_partitions(posterior).shape[1]
    given = posterior if hasattr(posterior, "labels_") else settled_labels(posterior)
    names = tree.names_in(X)[0]
    check_same_names(
        tree.names_of(posterior), names, "the posterior", "pass the data that was clustered"
    )
    labels = start_labels(given, n_items, names)
    assert labels is not None
    family = getattr(posterior, "family", None) or tree.settings_of(posterior).get("family")
    follows = isinstance(family, Family) or getattr(FAMILIES.get(str(family)), "divergence", None)
    if divergence is None and not follows:
        what = "does not say which family it is of" if family is None else f"has {family=}"
        raise ValueError(
            f"the posterior {what}, and no divergence follows from that: pass divergence=, such "
            'as "standardized", and an X of numbers.'
        )
    chosen = as_divergence(family if divergence is None else divergence)
    items = checks.check_items(X)
    if len(items) != n_items:
        raise ValueError(
            f"X has {len(items)} items, but the posterior is about {n_items}: "
            "pass the data that was clustered."
        )
    if divergence is None and isinstance(chosen, Mahalanobis):
        numbers, centers = means(items, labels)
        inside = items - centers[numbers]
        pooled = inside.T @ inside / max(n_items - len(centers), 1)
        total = np.cov(items, rowvar=False, bias=True).reshape(pooled.shape)
        chosen = Mahalanobis(pooled + RIDGE * total)
    bound = chosen.bind(X)
    drawn = tree.process_draws(posterior)
    discount, concentration = (0.0, 1.0) if drawn is None else map(np.mean, drawn)
    gamma, penalty = _scale(bound.points(X), bound, labels, float(discount), float(concentration))
    stored = tree.constraints_if_any(posterior)
    usable = (one for one in stored if one.items.shape[1])  # the limit takes no rules
    xi = {one.name: _confidence_by_source(draws, one, gamma) for one in usable}
    return {"penalty": penalty, "divergence": chosen, "xi": xi or None, "init": labels}


def _scale(
    points: FloatArray,
    divergence: Divergence,
    labels: IntArray,
    discount: float,
    concentration: float,
) -> tuple[float, float]:
    """gamma and the penalty, under a Pitman-Yor process (Dirichlet at discount 0)."""
    numbers, centers = means(points, labels)
    n = len(points)
    count = len(centers)
    f = divergence.n_free(points)
    within = float(divergence.paired(points, centers[numbers]).sum()) / max(n - count, 1)
    total = float(divergence.between(points, points.mean(axis=0, keepdims=True)).sum()) / (n - 1)
    if not within > 1e-12 * total:
        raise ValueError(
            f"the point estimate has {count} clusters of {n} items without scatter within them, "
            "so the scale of the limit is not known: set penalty and xi yourself."
        )
    own = float((divergence.between(points, centers).argmin(axis=1) == numbers).mean())
    if own < BALLS:
        warn(
            f"{own:.0%} of the items are nearest to the centre of their own cluster: one centre "
            'each does not describe these clusters; cluster_model="mixture" has several.'
        )
    gamma = f / (2.0 * within)
    size = np.bincount(numbers)[numbers].astype(np.float64)
    # W(m) = Gamma(m - s) / Gamma(1 - s); a cluster beside K others has the weight t + s K
    half = np.maximum(size / 2.0 - discount, (1.0 - discount) / 2.0)
    halves = gammaln(size - discount) - 2.0 * gammaln(half)
    halves += gammaln(1.0 - discount) - np.log(concentration + discount * count)
    fit = f / 2.0 * np.log(np.maximum(size * total / (4.0 * within), 1.0))
    # under a large concentration small clusters may cost nothing, but the limit needs a penalty
    return gamma, max(float((halves + fit).mean()) / gamma, 1e-3 * within)


def _confidence_by_source(draws: Any, given: StoredConstraints, gamma: float) -> FloatArray:
    """xi of each source of constraints, (S, 2) of links, else (S, truth, answer)."""
    means_of = {
        name: draws[stored].mean(("chain", "draw")).to_numpy().astype(np.float64)
        for name, stored in given.parameters.items()
    }
    if isinstance(given, StoredLabels):  # of the pairs that they imply, right where both are
        right = float(np.clip(means_of["accuracy"].mean() ** 2, 0.5, 1 - 1e-9))
        return np.full((1, 2), np.log(right / (1.0 - right)) / gamma)
    if not means_of.keys() & {"p", "noise"}:
        mean = confusions(given, draws).mean(axis=(0, 1))
        return np.asarray(-np.log(np.maximum(mean, 1e-12)) / gamma)
    if given.is_links:
        p, q = means_of["p"], means_of["q"]
        odds = np.log(np.stack([p / (1.0 - q), q / (1.0 - p)], axis=1))
    else:
        eps = means_of["noise"]
        odds = np.log((1.0 - eps) / (eps / 2.0))[:, None]
    useless = (odds <= 0).any(axis=1)
    for source in np.flatnonzero(useless):
        warn(
            f"source {source} of {given.name!r} is as likely wrong as right in this posterior: it "
            "is left aside (xi = 0); correct its answers if they mean their opposite.",
            UserWarning,
        )
    odds[useless] = 0.0
    return np.asarray((odds if given.is_links else -odds[..., None] * np.eye(3)) / gamma)
