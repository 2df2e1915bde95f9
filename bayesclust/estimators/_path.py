"""TVClust at gamma: the sampler on the way to its small-variance limit."""

from __future__ import annotations

from functools import partial
from typing import Any

from numpy.random import Generator
from sklearn.base import clone

from bayesclust.checks import check_items, check_positive
from bayesclust.constraints.base import Constraints
from bayesclust.estimators._means import MeansClusterer
from bayesclust.estimators._samplers import sampler_name
from bayesclust.estimators._views import MIXTURE, SINGLE
from bayesclust.estimators.base import ConstrainedClusterer
from bayesclust.estimators.rdp_means import RDPMeans
from bayesclust.families import as_divergence
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.limits.bridge import PathModel, path_divergence, pose_answers
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.typing import ArrayLike, FloatArray

FOLLOWING: dict[str, Any] = {
    "family": "gaussian",
    "concentration": (1.0, 1.0),
    "within_concentration": (1.0, 10.0),
}
"""Settings that follow from the limit at gamma, and their defaults."""


def checked_limit(
    limit: Any, random_state: int | Generator | None, cluster_model: str = SINGLE
) -> MeansClusterer:
    """Return the limit, RDPMeans for None, or refuse what is none, or of another view."""
    if limit is None:
        return RDPMeans(cluster_model=cluster_model, random_state=random_state)
    if not isinstance(limit, MeansClusterer):
        raise TypeError(
            f"limit is a {type(limit).__name__}: pass an RDPMeans, fitted or not, or None for its defaults."
        )
    if (found := getattr(limit, "cluster_model", SINGLE)) != cluster_model:
        raise ValueError(
            f"the limit has cluster_model={found!r}, and the model that leads to it {cluster_model!r}: use one of them."
        )
    return limit


def fitted_limit(
    limit: MeansClusterer, X: ArrayLike, constraints: Any, items: FloatArray
) -> MeansClusterer:
    """Return the limit if it is fitted, else a copy fitted to the data.

    Parameters
    ----------
    limit : RDPMeans or DPMeans
    X : array-like of shape (n, d)
        As the user gave them.
    constraints : Constraints, list of Constraints or None
    items : (n, d) array of float
        X, checked.

    Returns
    -------
    RDPMeans or DPMeans

    Raises
    ------
    TypeError, ValueError
        If it was fitted to other data, or no model at gamma is known for its divergence.
    """
    path_divergence(as_divergence(limit.divergence).bind(items))
    if not hasattr(limit, "labels_"):
        fresh: MeansClusterer = clone(limit)
        return fresh.fit(X, constraints=constraints)  # type: ignore[no-any-return]
    seen = len(limit.labels_), limit.n_features_in_
    if seen != items.shape:
        raise ValueError(
            f"limit was fitted to {seen[0]} items with {seen[1]} columns, but X has shape {items.shape}: "
            "fit it to the same X, or pass it unfitted."
        )
    return limit


def limit_problem(
    limit: MeansClusterer, items: FloatArray, constraints: list[Constraints]
) -> tuple[Problem, Any]:
    """Return what J depends on, and xi as the problem's graph reads it."""
    graph, xi = pose_answers(limit.xi_, constraints, len(items))
    points = limit._divergence.points(items)
    return Problem.of(points, limit._divergence, graph, limit.penalty_), xi


def model_at(
    gamma: float, limit: MeansClusterer, problem: Problem, constraints: list[Constraints]
) -> PathModel:
    """Return the model at gamma whose limit a fitted RDPMeans is."""
    within = (
        limit.within_penalty_
        if isinstance(limit, RDPMeans) and limit.cluster_model == MIXTURE
        else None
    )
    return PathModel.at(
        gamma, problem.points, problem.divergence, problem.penalty, limit.xi_, constraints, within
    )


class PathMixin(ConstrainedClusterer):
    """What TVClust does where `gamma` is given."""

    sampler: str | type[CollapsedChain]
    cluster_model: str
    gamma: float | None
    limit: MeansClusterer | None
    limit_: MeansClusterer

    def _check_gamma(self, samplers: tuple[str, ...]) -> None:
        """Refuse a gamma that is no positive number, and settings that contradict it."""
        if self.gamma is None:
            if self.limit is not None:
                raise ValueError(
                    "limit is given without gamma, and only the model at a gamma has one: give gamma too."
                )
            return
        check_positive(self.gamma, "gamma")
        if self.sampler not in samplers:
            names = " or ".join(f'"{name}"' for name in samplers)
            raise ValueError(
                f"sampler={self.sampler!r} does not sample the model at a gamma: choose {names}."
            )
        for name, default in FOLLOWING.items():
            value = getattr(self, name)
            if not (isinstance(value, type(default)) and value == default):
                raise ValueError(
                    f"{name} and gamma are both given, and at gamma it follows from the limit: leave one out."
                )

    def _on_path(
        self, X: ArrayLike, constraints: Any, random_state: int | Generator | None
    ) -> tuple[FloatArray, PathModel]:
        """Fit the limit if need be; return the items and the model at gamma."""
        limit = checked_limit(self.limit, random_state, self.cluster_model)
        missing = as_divergence(limit.divergence).takes_missing
        items, views = self._enter(X, constraints, partial(check_items, missing=missing))
        self.limit_ = fitted_limit(limit, X, constraints, items)
        problem, _ = limit_problem(self.limit_, items, views)
        return items, model_at(check_positive(self.gamma, "gamma"), self.limit_, problem, views)

    def _settings(self) -> dict[str, Any]:
        """Parameters of the estimator, with what the limit has come to."""
        settings: dict[str, Any] = {
            **self.get_params(deep=False),
            "sampler": sampler_name(self.sampler),
        }
        if self.gamma is not None:
            limit = self.limit_
            settings["limit"] = {
                "divergence": repr(limit.divergence),
                "penalty": limit.penalty_,
                "xi": {name: own.tolist() for name, own in limit.xi_.items()}
                if isinstance(limit.xi_, dict)
                else limit.xi_,
            }
            if isinstance(limit, RDPMeans) and limit.cluster_model == MIXTURE:
                settings["limit"]["within_penalty"] = limit.within_penalty_
        return settings
