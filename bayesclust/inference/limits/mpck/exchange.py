"""Compiled exchanges of weight between farthest pairs, each taken to where log det B is largest; for `metric`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesclust._numba import device, kernel


@device
def ends(lengths: Any, shares: Any) -> Any:
    """Return the longest pair, the shortest of those with a share, and the mean length under the shares."""
    high, low, mean = int(np.argmax(lengths)), -1, 0.0
    for k in range(len(shares)):
        if shares[k] > 0.0:
            mean += shares[k] * lengths[k]
            if low < 0 or lengths[k] < lengths[low]:
                low = k
    return high, low, mean


@kernel
def exchange_full(
    inverse: Any, rows: Any, shares: Any, c: float, tolerance: float, most: int
) -> None:
    """Move shares between the rows d of B = ... + c sum_k u_k d_k d_k' until none can gain; B's inverse follows, in place.

    Along t, det(B + t c (d d' - e e')) / det B = 1 + t c (a - b) - t^2 c^2 (a b - m^2), with a, b
    and m the products of d and e under B^(-1).
    """
    lengths, total = np.empty(len(rows)), shares.sum()
    for k in range(len(rows)):
        lengths[k] = rows[k] @ (inverse @ rows[k])
    for _ in range(most):
        high, low, mean = ends(lengths, shares)
        if low < 0 or high == low or c * (lengths[high] * total - mean) <= tolerance:
            return
        toward = inverse @ rows[high]
        a, b, m = lengths[high], lengths[low], rows[low] @ toward
        step, curve = shares[low], a * b - m * m
        if 2.0 * c * curve * step > a - b:
            step = (a - b) / (2.0 * c * curve)
        shares[low] -= step
        shares[high] += step
        for k, weight in ((high, step * c), (low, -step * c)):
            image = inverse @ rows[k]
            scale = weight / (1.0 + weight * (rows[k] @ image))
            for i in range(len(image)):
                for j in range(len(image)):
                    inverse[i, j] -= scale * image[i] * image[j]
            for other in range(len(rows)):
                lengths[other] -= scale * (rows[other] @ image) ** 2


@device
def step_on(B: Any, change: Any, step: float) -> Any:
    """Return the slope of log det B after a step, and its smallest entry; no slope counts where that is not positive."""
    slope, least = 0.0, np.inf
    for f in range(len(B)):
        moved = B[f] + step * change[f]
        least = min(least, moved)
        if moved > 0.0:
            slope += change[f] / moved
    return slope, least


@kernel
def exchange_diagonal(
    B: Any, squares: Any, shares: Any, c: float, tolerance: float, most: int
) -> None:
    """Move shares between the squared rows of a diagonal B until none can gain; B changes in place."""
    total = shares.sum()
    for _ in range(most):
        high, low, mean = ends(squares @ (1.0 / B), shares)
        value = 0.0
        for f in range(len(B)):
            value += squares[high, f] / B[f]
        if low < 0 or high == low or c * (value * total - mean) <= tolerance:
            return
        change = c * (squares[high] - squares[low])
        step = shares[low]
        slope, least = step_on(B, change, step)
        if slope < 0.0 or least <= 0.0:
            first, last = 0.0, step
            for _ in range(60):
                step = (first + last) / 2.0
                slope, least = step_on(B, change, step)
                if least > 0.0 and slope > 0.0:
                    first = step
                else:
                    last = step
            step = first
        shares[low] -= step
        shares[high] += step
        B += step * change
