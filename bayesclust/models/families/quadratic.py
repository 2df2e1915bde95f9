"""Quadratic forms of an item about the mean of a cluster that keeps an inverse: d = x_i - m_k, P_k = Psi_k^(-1)."""

from __future__ import annotations

from typing import Any

from bayesclust._numba import FAST, device


@device(fastmath=FAST, forceinline=True, no_refcount=True)
def quadratic_form(state: Any, i: int, k: int) -> float:
    """Return d' P_k d."""
    d, q = state.X.shape[1], 0.0
    for a in range(d):
        row, difference = 0.0, state.X[i, a] - state.mean[k, a]
        for b in range(a):
            row += state.precision[k, a, b] * (state.X[i, b] - state.mean[k, b])
        q += difference * (2.0 * row + state.precision[k, a, a] * difference)
    return q


@device(fastmath=FAST, forceinline=True, no_refcount=True)
def write_direction(state: Any, i: int, k: int) -> float:
    """Write u = P_k d into the state's scratch; returns d' u."""
    d, u, q = state.X.shape[1], state.work, 0.0
    for b in range(d):
        u[b] = 0.0
    for a in range(d):
        difference = state.X[i, a] - state.mean[k, a]
        for b in range(d):
            u[b] += difference * state.precision[k, a, b]
    for a in range(d):
        q += u[a] * (state.X[i, a] - state.mean[k, a])
    return q
