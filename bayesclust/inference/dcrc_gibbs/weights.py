"""The draw of the weights given the labels: Hamiltonian Monte Carlo on the very function that the M-step climbs.

Given the labels z_i of the items that answers name, the others' summed out,

    log p(W | z, X) = log N(W) + sum_i log P(z_i | x_i; W) + the entropies + const.

Polya-gamma variables would make this Gaussian without the entropies, but not with them.
Trajectories along the gradient, which the M-step has, accepted or refused by Metropolis' rule,
leave the density exactly in place whatever its terms are. The metric is fixed in advance from a
bound on the curvature, which is the same for all classes (Bohning 1992): nothing is left to adapt
but the length of a step, and that stays as it is after the warm-up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.inference.variational_em.weights import WeightObjective
from bayesclust.typing import FloatArray

LONGEST = 12
"""Most leapfrog steps of a trajectory. Their number and their length are drawn anew each time, so that no period matches."""
TARGET = 0.8
"""Acceptance rate that the length of a step is adapted to."""
JITTER = 0.2
SHRINK, OFFSET, DECAY = 0.05, 10.0, 0.75
"""Dual averaging, with the constants of Hoffman and Gelman (2014)."""


class WeightSampler:
    """Draws of W, one trajectory at a time.

    Parameters
    ----------
    objective : WeightObjective
        With a proper prior: positive ridge and bias_ridge.
    """

    def __init__(self, objective: WeightObjective) -> None:
        self.objective = objective
        X, named = objective.features, objective.features[: objective.n_named]
        # the curvature of log P(k | x) is at most x x' / 4 in the weights of class k, and that of
        # the entropies is like it
        spread = (objective.separation + objective.balance) / len(X)
        metric = (named.T @ named + spread * (X.T @ X)) / 4
        metric[np.diag_indices(len(metric))] += 2 * objective.ridge
        metric[-1, -1] += 2 * (objective.bias_ridge - objective.ridge)
        self._root: FloatArray = np.linalg.cholesky(metric)
        self._inverse: FloatArray = np.linalg.inv(metric)
        self.log_step = self.mean_log_step = 0.0
        self.error, self.tuned = 0.0, 0

    def density(self, W: FloatArray, q: FloatArray) -> float:
        """log p(W, z | X) up to a constant, for labels in one-hot form q (n_named, K)."""
        return self.objective.value_and_gradient(W, q)[0]

    def draw(
        self, W: FloatArray, q: FloatArray, rng: Generator, *, adapt: bool
    ) -> tuple[FloatArray, float]:
        """Move on from W (K, D).

        Parameters
        ----------
        W : ndarray of shape (K, D)
        q : ndarray of shape (n_named, K)
            The labels in one-hot form.
        rng : Generator
        adapt : bool
            Tune the length of a step.

        Returns
        -------
        ndarray of shape (K, D)
        float
            Probability with which the trajectory was accepted.
        """
        step = np.exp(self.log_step if adapt else self.mean_log_step) * rng.uniform(
            1 - JITTER, 1 + JITTER
        )
        momentum = rng.standard_normal(W.shape) @ self._root.T
        value, slope = self.objective.value_and_gradient(W, q)
        before, end = value - self._kinetic(momentum), W
        for _ in range(int(rng.integers(1, LONGEST + 1))):
            momentum = momentum + 0.5 * step * slope
            end = end + step * (momentum @ self._inverse)
            value, slope = self.objective.value_and_gradient(end, q)
            momentum = momentum + 0.5 * step * slope
        gain = value - self._kinetic(momentum) - before
        chance = float(np.exp(min(gain, 0.0))) if np.isfinite(gain) else 0.0
        if adapt:
            self._tune(chance)
        return (end if rng.random() < chance else W), chance

    def _kinetic(self, momentum: FloatArray) -> float:
        return float(0.5 * (momentum * (momentum @ self._inverse)).sum())

    def _tune(self, chance: float) -> None:
        self.tuned += 1
        self.error += (TARGET - chance - self.error) / (self.tuned + OFFSET)
        self.log_step = np.log(10.0) - np.sqrt(self.tuned) / SHRINK * self.error
        weight = self.tuned**-DECAY
        self.mean_log_step += weight * (self.log_step - self.mean_log_step)

    def snapshot(self) -> dict[str, Any]:
        """What was learned."""
        return {
            name: float(getattr(self, name))
            for name in ("log_step", "mean_log_step", "error", "tuned")
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take it up again."""
        for name, value in snapshot.items():
            setattr(self, name, value)


__all__ = ["WeightSampler"]
