"""TVClust at gamma: the sampler on the way to its small-variance limit."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator
from sklearn.base import clone

from bayesclust.checks import check_items, check_positive
from bayesclust.constraints.base import View
from bayesclust.estimators._means import MeansClusterer
from bayesclust.estimators.base import ConstrainedClusterer
from bayesclust.estimators.rdp_means import RDPMeans
from bayesclust.inference.limits.bridge import PathModel, path_divergence
from bayesclust.typing import ArrayLike, FloatArray

FOLLOWING: dict[str, Any] = {"family": "gaussian", "concentration": (1.0, 1.0)}
"""Settings that follow from the limit at gamma, and their defaults."""


def fitted_limit(
    limit: Any, X: ArrayLike, constraints: Any, items: FloatArray, random_state: int | Generator | None
) -> MeansClusterer:
    """Return the limit fitted: itself if it is, else a copy fitted to the data; None stands for RDPMeans.

    Parameters
    ----------
    limit : RDPMeans, DPMeans or None
    X : array-like of shape (n, d)
        As the user gave them.
    constraints : View, list of View or None
    items : (n, d) array of float
        X, checked.
    random_state : int, Generator or None
        Of the limit where none is given.

    Returns
    -------
    RDPMeans or DPMeans

    Raises
    ------
    TypeError, ValueError
        If it is something else, was fitted to other data, or no model at gamma is known for its divergence.
    """
    if limit is None:
        limit = RDPMeans(random_state=random_state)
    if not isinstance(limit, MeansClusterer):
        raise TypeError(f"limit is a {type(limit).__name__}: pass an RDPMeans, fitted or not, or None for its defaults.")
    path_divergence(limit.divergence)
    if isinstance(getattr(limit, "xi", None), dict):
        raise ValueError(
            "limit has a confidence for each view (xi is a dict), but the model at gamma has one for all links: "
            "give a number or (xi1, xi2)."
        )
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


def model_at(gamma: float, limit: MeansClusterer, items: FloatArray, views: list[View]) -> PathModel:
    """Return the model at gamma whose limit a fitted RDPMeans is."""
    divergence = path_divergence(limit.divergence)
    return PathModel.at(gamma, divergence.points(items), divergence, limit.penalty_, limit.xi_, views)


class PathMixin(ConstrainedClusterer):
    """What TVClust does where `gamma` is given."""

    sampler: str
    gamma: float | None
    limit: MeansClusterer | None
    limit_: MeansClusterer

    def _check_gamma(self, samplers: tuple[str, ...]) -> None:
        """Refuse a gamma that is no positive number, and settings that contradict it."""
        if self.gamma is None:
            if self.limit is not None:
                raise ValueError("limit is given without gamma, and only the model at a gamma has one: give gamma too.")
            return
        check_positive(self.gamma, "gamma")
        if self.sampler not in samplers:
            names = " or ".join(f'"{name}"' for name in samplers)
            raise ValueError(f"sampler={self.sampler!r} does not sample the model at a gamma: choose {names}.")
        for name, default in FOLLOWING.items():
            value = getattr(self, name)
            if not (isinstance(value, type(default)) and value == default):
                raise ValueError(f"{name} and gamma are both given, and at gamma it follows from the limit: leave one out.")

    def _on_path(
        self, X: ArrayLike, constraints: Any, random_state: int | Generator | None
    ) -> tuple[FloatArray, PathModel]:
        """Fit the limit if need be; return the items and the model at gamma."""
        items, views = self._enter(X, constraints, check_items, kinds=("pairwise",))
        self.limit_ = fitted_limit(self.limit, X, constraints, items, random_state)
        return items, model_at(check_positive(self.gamma, "gamma"), self.limit_, items, views)

    def _settings(self) -> dict[str, Any]:
        """Parameters of the estimator, with what the limit has come to."""
        settings: dict[str, Any] = self.get_params(deep=False)
        if self.gamma is not None:
            limit = self.limit_
            settings["limit"] = {
                "divergence": repr(path_divergence(limit.divergence)),
                "penalty": limit.penalty_,
                "xi": limit.xi_,
            }
        return settings
