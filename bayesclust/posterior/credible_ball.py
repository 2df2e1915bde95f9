"""Credible balls around a partition, and their bounds (Wade and Ghahramani 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesclust.checks import number_between
from bayesclust.posterior.losses import Loss, check_metric, expected_losses
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.tree import Labels, as_labels, by_size, stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray, IntArray

SAME = 1e-9
"""Distances that differ by no more than this are equal: they are sums of logarithms."""


@dataclass(frozen=True, eq=False)
class CredibleBall:
    """The partitions within a radius of a centre that hold a given share of the posterior.

    Parameters
    ----------
    labels : (n,) array of int64
        The centre.
    level, radius, probability : float
        The share asked for; the distance of the farthest partition in the ball, in units of the
        loss (bits for VI); the share of the draws in the ball, at least `level`.
    upper, lower, horizontal : (m, n) arrays of int64
        Vertical bounds: of the draws in the ball with the fewest (upper) and the most (lower)
        clusters, the ones farthest from the centre; and the farthest of all.
    distances : (draws,) array of float
        Distance of every draw from the centre.
    loss : Loss
    """

    labels: IntArray
    level: float
    radius: float
    probability: float
    upper: IntArray
    lower: IntArray
    horizontal: IntArray
    distances: FloatArray
    loss: Loss

    def __contains__(self, labels: ArrayLike) -> bool:
        return self.distance(labels) <= self.radius + SAME

    def distance(self, labels: ArrayLike) -> float:
        """Return how far a partition (n,) is from the centre, in units of the loss."""
        return self.loss.loss(self.labels, as_labels(labels, "labels", len(self.labels)))

    def __repr__(self) -> str:
        bounds = (self.labels, self.upper[0], self.lower[0])
        clusters, upper, lower = (int(labels.max()) + 1 for labels in bounds)
        return (
            f"<CredibleBall of {self.level:.0%}: radius {self.radius:.4g} around {clusters} "
            f"clusters; clusters of the bounds: upper {upper}, lower {lower}>"
        )


def credible_ball(
    posterior: Any, labels: ArrayLike | None = None, *, level: float = 0.95, loss: str | Loss = "vi"
) -> CredibleBall:
    """Return the smallest ball around a partition that holds a given share of the posterior.

    The ball is B = {c : d(c, labels) <= r} with the smallest r for which P(B | data) >= level (Wade
    and Ghahramani 2018, section 4), d being the loss. Its bounds show what the uncertainty is
    about; they are looked for among the draws, and of equally extreme ones all are given.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition; chains are pooled.
    labels : (n,) array of int, optional
        The centre. By default the point estimate under the loss.
    level : float in (0, 1), default 0.95
        Share of the posterior that the ball holds.
    loss : str or Loss, default "vi"
        The distance: a metric, so not 1 - ARI, and with equal costs (a = 1).

    Returns
    -------
    CredibleBall

    Examples
    --------
    >>> import bayesclust as bc
    >>> draws = [[0, 0, 1, 1]] * 16 + [[0, 0, 0, 0]] * 3 + [[0, 1, 2, 3]]
    >>> ball = bc.credible_ball(draws)
    >>> ball
    <CredibleBall of 95%: radius 1 around 2 clusters; clusters of the bounds: upper 1, lower 4>
    >>> ball.upper
    array([[0, 0, 0, 0]])
    >>> [0, 0, 1, 2] in ball
    True
    """
    metric = check_metric(loss, "a credible ball")
    number_between(level, "level", "(0, 1)")
    draws = stacked_partitions(posterior)
    chosen = point_estimate(draws, metric) if labels is None else labels
    centre = as_labels(chosen, "labels", draws.shape[1])
    distances = expected_losses(metric, draws, centre[None])
    radius = float(np.sort(distances)[int(np.ceil(level * len(draws) - SAME)) - 1])
    inside = distances <= radius + SAME
    members = draws[inside]
    away = distances[inside]
    clusters = members.max(axis=1)
    return CredibleBall(
        labels=by_size(centre)[1],
        level=float(level),
        radius=radius,
        probability=float(inside.mean()),
        upper=_farthest(members, away, clusters == clusters.min()),
        lower=_farthest(members, away, clusters == clusters.max()),
        horizontal=_farthest(members, away, np.ones(len(members), np.bool_)),
        distances=distances,
        loss=metric,
    )


def _farthest(members: Labels, away: FloatArray, among: Labels) -> IntArray:
    """Different partitions of greatest distance among those marked."""
    chosen = members[among & (away >= away[among].max() - SAME)]
    return np.unique(chosen, axis=0).astype(np.int64)
