"""The weights of DCRC's classifier: the M-step's objective and its ascent.

Plain NumPy with the gradient written out. Items are columns, so that sums over classes run along
contiguous memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import log_softmax

from bayesclust.typing import FloatArray

MEMORY = 10
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class WeightObjective:
    """The part of the bound (Eq. 10, multiplied by M) that depends on W."""

    features: FloatArray  # (n, D)
    n_named: int
    ridge: float
    separation: float
    balance: float
    proportions: FloatArray | None = None  # (K,)

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
        return value - self.ridge * float((W[:, :-1] ** 2).sum()), gradient

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


def with_ones(points: FloatArray) -> FloatArray:
    """Rows of features and a one for the intercept, (m, d + 1)."""
    return np.column_stack([points, np.ones(len(points))])


def log_classes(W: FloatArray, points: FloatArray) -> FloatArray:
    """log P(y = k | x; W) of rows of features, (m, K); the last of the weights (K, d + 1) is b."""
    return np.asarray(log_softmax(W[:, :-1] @ points.T + W[:, -1:], axis=0).T)


def weight_roots(W: FloatArray, points: FloatArray, precision: float) -> FloatArray:
    """Cholesky factors (K, d + 1, d + 1) of the precision of the weights of each class."""
    # Laplace's approximation at W, other classes fixed: sum_i p_ik (1 - p_ik) x_i x_i' plus the
    # precision, of the intercept too: a class seen to its end would have no finite variance.
    X, p = with_ones(points), np.exp(log_classes(W, points))
    seen = np.stack([(X.T * own) @ X for own in (p * (1 - p)).T])
    return np.linalg.cholesky(seen + precision * np.eye(X.shape[1]))


def log_moderated_classes(W: FloatArray, roots: FloatArray, points: FloatArray) -> FloatArray:
    """log P(y = k | x) over the uncertainty of the weights, (m, K) (Bishop 2006, Eq. 4.154)."""
    # Each logit of variance s^2 is divided by sqrt(1 + pi s^2 / 8), which MacKay (The evidence
    # framework applied to classification networks, 1992) calls moderation.
    X = with_ones(points)
    logits = (W - W.mean(axis=0)) @ X.T
    for own, root in zip(logits, roots, strict=True):
        variance = np.square(solve_triangular(root, X.T, lower=True)).sum(axis=0)
        own /= np.sqrt(1 + np.pi / 8 * variance)
    return np.asarray(log_softmax(logits, axis=0).T)
