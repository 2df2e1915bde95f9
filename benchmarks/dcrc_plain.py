"""An iteration of DCRC's variational EM as one would write it first: items and triplets in loops, by Eq. 9 to 13."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayesclust.constraints.base import equality_patterns

Array = NDArray[np.float64]
TINY = 1e-300


def softmax(logits: Array) -> Array:
    """Of rows."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def tables(table: Array, K: int) -> Array:
    """log p(answer | labels of the three items), shape (answers, K, K, K), from a table by answer and pattern."""
    labels = np.array(list(itertools.product(range(K), repeat=3)))
    return np.asarray(table[:, equality_patterns(labels)].reshape(-1, K, K, K))


def expect(
    log_p: Array,
    q: Array,
    triplets: NDArray[np.int64],
    answers: Sequence[int],
    table: Array,
    order: Sequence[int],
    sweeps: int,
    settled: float,
) -> Array:
    """Mean-field sweeps over the items in some order (Table II, Eq. 13), until every probability is settled."""
    cubes, q = tables(table, q.shape[1]), q.copy()
    of_item: list[list[tuple[int, int]]] = [[] for _ in q]
    for t, members in enumerate(triplets):
        for place, i in enumerate(members):
            of_item[i].append((t, place))
    for _ in range(sweeps):
        before = q.copy()
        for i in order:
            logits = log_p[i].copy()
            for t, place in of_item[i]:
                first, second = np.delete(triplets[t], place)
                cube = np.moveaxis(cubes[answers[t]], place, 0)
                logits += np.einsum("abc,b,c->a", cube, q[first], q[second])
            q[i] = softmax(logits)
        if np.abs(q - before).max() < settled:
            break
    return q


def maximise(
    X: Array, named: int, W: Array, q: Array, penalty: float, tau: float, steps: int
) -> Array:
    """L-BFGS on the bound, multiplied by the number of answers, given q of the items that answers name; biases are free."""

    def descend(flat: Array) -> tuple[float, Any]:
        V = flat.reshape(W.shape)
        p = softmax(X @ V.T)
        log_p = np.log(np.maximum(p, TINY))
        mean, free = p.mean(axis=0), len(X) - named
        value = (
            (q * log_p[:named]).sum() - penalty * (V[:, :-1] ** 2).sum() - tau * mean @ np.log(mean)
        )
        # derivative by log p, then by the logits
        slope = -tau / len(X) * (np.log(mean) + 1) * p
        slope[:named] += q
        if free:
            value += tau / free * (p[named:] * log_p[named:]).sum()
            slope[named:] += tau / free * p[named:] * (log_p[named:] + 1)
        gradient = (slope - p * slope.sum(axis=1, keepdims=True)).T @ X
        gradient[:, :-1] -= 2 * penalty * V[:, :-1]
        return -float(value) / max(named, 1), -gradient.ravel() / max(named, 1)

    options: Any = {"maxiter": steps, "maxcor": 10, "ftol": 1e-9}
    return np.asarray(
        minimize(descend, W.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(
            W.shape
        )
    )
