"""The weights of DCRC's classifier: the M-step's objective, and Hamiltonian draws under it.

Plain NumPy with the gradient written out. Items are columns, so that sums over classes run along
contiguous memory.

Given the labels z_i of the items that constraints name, the others' summed out,

    log p(W | z, X) = log N(W) + sum_i log P(z_i | x_i; W) + the entropies + const.

The metric of the trajectories is fixed in advance from a bound on the curvature, which is the same
for all classes (Bohning 1992): only the length of a step is adapted, in the warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import log_softmax

from bayesclust.models.dcrc import TINY
from bayesclust.typing import FloatArray

MEMORY = 10
LONGEST = 12
"""Most leapfrog steps of a trajectory. Their number and their length are drawn anew each time, so
that no period matches."""
TARGET = 0.8
"""Acceptance rate that the length of a step is adapted to."""
JITTER = 0.2
SHRINK = 0.05
OFFSET = 10.0
DECAY = 0.75
"""Dual averaging, with the constants of Hoffman and Gelman (2014)."""


@dataclass(frozen=True)
class WeightObjective:
    """The part of the bound (Eq. 10, multiplied by M) that depends on W."""

    features: FloatArray  # (n, D)
    n_named: int
    ridge: float
    separation: float
    balance: float
    proportions: FloatArray | None = None  # (K,)
    bias_ridge: float = 0.0

    def log_p(self, W: FloatArray) -> FloatArray:
        """Log class probabilities of the named items, shape (n_named, K)."""
        return np.asarray(log_softmax(W @ self.features[: self.n_named].T, axis=0).T)

    def value_and_gradient(self, W: FloatArray, q: FloatArray) -> tuple[float, FloatArray]:
        """Value in nats and gradient (K, D) at W (K, D), given q (n_named, K)."""
        X = self.features
        m = self.n_named
        log_p = W @ X.T
        log_p -= log_p.max(axis=0)
        p = np.exp(log_p)
        total = p.sum(axis=0)
        p /= total
        log_p -= np.log(total)
        slope = np.empty_like(p)
        value = float((q.T * log_p[:, :m]).sum())
        slope[:, :m] = q.T - q.sum(axis=1) * p[:, :m]
        if m < len(X):
            free = p[:, m:]
            weight = self.separation / (len(X) - m)
            terms = free * log_p[:, m:]
            entropy = -terms.sum(axis=0)
            value -= weight * float(entropy.sum())
            slope[:, m:] = weight * (terms + free * entropy)
        if self.balance:
            mean = p.mean(axis=1)
            log_mean = np.log(np.maximum(mean, TINY))
            if self.proportions is not None:
                log_mean -= np.log(self.proportions)
            value -= self.balance * float(mean @ log_mean)
            # ERRATUM: the paper prints log p^_nk here; it is the marginal log p^_k
            slope -= self.balance / len(X) * p * (log_mean[:, None] - log_mean @ p)
        gradient = slope @ X
        gradient[:, :-1] -= 2 * self.ridge * W[:, :-1]
        gradient[:, -1] -= 2 * self.bias_ridge * W[:, -1]
        value -= self.ridge * float((W[:, :-1] ** 2).sum())
        return value - self.bias_ridge * float((W[:, -1] ** 2).sum()), gradient

    def climb(self, W: FloatArray, q: FloatArray, steps: int) -> tuple[FloatArray, float]:
        """Raise the objective by at most so many iterations of L-BFGS; the weights and the rise."""
        scale = max(self.n_named, 1)
        values: list[float] = []

        def descend(flat: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.value_and_gradient(flat.reshape(W.shape), q)
            values.append(-value / scale)
            return values[-1], -gradient.ravel() / scale

        options: Any = {"maxiter": steps, "maxcor": MEMORY, "ftol": 1e-9}
        found = minimize(descend, W.ravel(), jac=True, method="L-BFGS-B", options=options)
        # the first evaluation is the start's
        raised = scale * (values[0] - float(found.fun))
        return (found.x.reshape(W.shape), raised) if raised > 0 else (W, 0.0)


def log_classes(W: FloatArray, points: FloatArray) -> FloatArray:
    """log P(y = k | x; W) of rows of features, (m, K); the last of the weights (K, d + 1) is b."""
    return np.asarray(log_softmax(W[:, :-1] @ points.T + W[:, -1:], axis=0).T)


class WeightSampler:
    """Draws of W, one trajectory at a time."""

    def __init__(self, objective: WeightObjective) -> None:
        self.objective = objective
        X = objective.features
        named = objective.features[: objective.n_named]
        # the curvature of log P(k | x) is at most x x' / 4 in the weights of class k, and that of
        # the entropies is like it
        spread = (objective.separation + objective.balance) / len(X)
        metric = (named.T @ named + spread * (X.T @ X)) / 4
        metric[np.diag_indices(len(metric))] += 2 * objective.ridge
        metric[-1, -1] += 2 * (objective.bias_ridge - objective.ridge)
        self._root: FloatArray = np.linalg.cholesky(metric)
        self._inverse: FloatArray = np.linalg.inv(metric)
        self.log_step = self.mean_log_step = 0.0
        self.error = 0.0
        self.tuned = 0

    def draw(
        self, W: FloatArray, q: FloatArray, rng: Generator, *, adapt: bool
    ) -> tuple[FloatArray, float]:
        """Move on from W (K, D)."""
        log_step = self.log_step if adapt else self.mean_log_step
        step = np.exp(log_step) * rng.uniform(1 - JITTER, 1 + JITTER)
        momentum = rng.standard_normal(W.shape) @ self._root.T
        value, slope = self.objective.value_and_gradient(W, q)
        before = value - self._kinetic(momentum)
        end = W
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
        """The step and its adaptation."""
        names = "log_step", "mean_log_step", "error", "tuned"
        return {name: float(getattr(self, name)) for name in names}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot."""
        vars(self).update(snapshot)
