"""The M-step: weights of the classes given the distributions of the labels.

Plain NumPy with the gradient written out: two matrix products and a few passes over a K x n array,
nothing to compile. The same function with its gradient by automatic differentiation is
`bayesclust.models.PaperObjective`, to which a test holds this one. Items are columns here, so that
sums over classes run along contiguous memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from bayesclust.models.dcrc_weights import TINY
from bayesclust.typing import FloatArray

MEMORY = 10


@dataclass(frozen=True)
class WeightObjective:
    """The part of the bound (Eq. 10, multiplied by M) that depends on W.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        Items, those that answers name first; the last column is 1.
    n_named : int
        How many items answers name.
    ridge : float
        M lambda.
    separation : float
        M tau.
    balance : float
        M tau, or 0 without balance.
    proportions : ndarray of shape (K,), optional
        Sizes of the clusters that the mean class probabilities are drawn to, -KL(y^ || proportions)
        taking the place of H(y^); by default even ones, to which H(y^) differs by a constant.
    bias_ridge : float, default 0.0
        What the squares of the biases are multiplied by; the paper leaves them free.
    """

    features: FloatArray
    n_named: int
    ridge: float
    separation: float
    balance: float
    proportions: FloatArray | None = None
    bias_ridge: float = 0.0

    def log_p(self, W: FloatArray) -> FloatArray:
        """Log class probabilities of the named items, shape (n_named, K)."""
        return log_softmax(W @ self.features[: self.n_named].T).T

    def regulariser(self, W: FloatArray) -> float:
        """The terms of the bound in which no label occurs, in nats."""
        q = np.zeros((self.n_named, len(W)))
        return self.value_and_gradient(W, q)[0]

    def value_and_gradient(self, W: FloatArray, q: FloatArray) -> tuple[float, FloatArray]:
        """Value in nats and gradient (K, D) at W (K, D), given q (n_named, K), whose rows sum to one or zero."""
        X, m = self.features, self.n_named
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
            free, weight = p[:, m:], self.separation / (len(X) - m)
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
        return value - self.ridge * float((W[:, :-1] ** 2).sum()) - self.bias_ridge * float(
            (W[:, -1] ** 2).sum()
        ), gradient

    def climb(self, W: FloatArray, q: FloatArray, steps: int) -> tuple[FloatArray, float]:
        """Raise the objective by at most so many iterations of L-BFGS from W; returns the weights and by how much."""
        scale = max(self.n_named, 1)
        values: list[float] = []

        def descend(flat: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.value_and_gradient(flat.reshape(W.shape), q)
            values.append(-value / scale)
            return values[-1], -gradient.ravel() / scale

        found = minimize(
            descend,
            W.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": steps, "maxcor": MEMORY, "ftol": 1e-9},
        )
        # the first evaluation is the start's
        raised = scale * (values[0] - float(found.fun))
        return (found.x.reshape(W.shape), raised) if raised > 0 else (W, 0.0)


def log_softmax(logits: FloatArray) -> FloatArray:
    """Return the logarithms of the softmax of columns.

    Parameters
    ----------
    logits : ndarray of shape (K, m)

    Returns
    -------
    ndarray of shape (K, m)
    """
    shifted = logits - logits.max(axis=0)
    shifted -= np.log(np.exp(shifted).sum(axis=0))
    return shifted


def fit_logistic(
    features: FloatArray, labels: np.ndarray, number: int, steps: int = 12
) -> FloatArray:
    """Return weights (number, D) of a logistic classifier of the labels, slightly penalised.

    Parameters
    ----------
    features : ndarray of shape (n, D)
        The last column is 1.
    labels : ndarray of int, shape (n,)
    number : int
        Classes, of which some may have no item.
    steps : int, default 12
        Most iterations of L-BFGS: a start need not be a classifier to the last digit.

    Returns
    -------
    ndarray of shape (number, D)
    """
    objective = WeightObjective(features, len(features), 1e-3 * len(features), 0.0, 0.0)
    return objective.climb(np.zeros((number, features.shape[1])), np.eye(number)[labels], steps)[0]


__all__ = ["WeightObjective", "fit_logistic", "log_softmax"]
