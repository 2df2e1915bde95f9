"""The metric that fits best, labels and centres given: Eq. 7 and 8, and an exact step.

Up to constants, the metric A of a cluster (or of all) with n members enters the objective by

    f(A) = <A, S> - n log det A + sum_violated cannot-links w (diam^2(A) - |x_i - x_j|_A^2),

S being the scatter of the members about their centre plus, for each violated must-link, w / 2 times
that of its two items (w for one metric, as both halves of it fall to that), and diam^2(A) the
largest squared distance of two items under A. Eq. 7 is the minimum as if the farthest pair d stayed
the same: A = n B^(-1), B = S + sum w (d d' - g g'). It fails where another pair becomes the
farthest, and where B is not positive definite, where the paper projects A.

f is convex. diam^2 is the largest of linear functions of A, so that with c the sum of the w,

    min_A f(A) = n r - n log n + max_B n log det B,    B = S + sum w (-g g') + c sum_k u_k d_k d_k',

over weights u >= 0 with sum 1 on all pairs k of items, and A = n B^(-1) again. u on the violated
pairs gives B = S, a start; a step moves weight to the farthest pair under the present A from the
one least far, and the gap c (diam^2(A) - sum_k u_k |d_k|_A^2) bounds how far f(A) is from its
minimum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvalsh, solve_triangular
from scipy.optimize import brentq

from bayesclust._numba import device, kernel
from bayesclust.typing import FloatArray

MOST_STEPS = 200
MOST_KNOWN = 100
MOST_EXCHANGES = 200
"""Rounding adds up in an inverse that follows more exchanges than this."""
GAP = 1e-6
"""How far from the minimum the exact step may end, for each member."""
EPS = 1e-3
"""Share of the eigenvalues by which the paper's step regularises a metric."""
NO_SPREAD = 1e-10
"""Directions in which data spread less than this share of the widest are left out."""


@device
def ends(lengths: Any, shares: Any) -> Any:
    """The longest pair, the shortest of those with a share, and the mean length."""
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
    """Move shares between rows d of B = ... + c sum_k u_k d_k d_k' until log det B is largest."""
    # `inverse` is that of B and follows in place. Along t, det(B + t c (d d' - e e')) / det B = 1 +
    # t c (a - b) - t^2 c^2 (a b - m^2), a, b and m the products of d and e under B^(-1).
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
    """The slope of log det B after a step, and the smallest entry of B there."""
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
    """Do as `exchange_full` for a diagonal B, in place, and squared rows; steps by bisection."""
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


class Diagonal:
    """Operations on metrics that are weights of features, (r,), and on scatters of that shape."""

    def coordinates(self, X: FloatArray) -> FloatArray:
        """Return T (d, r): (X - mean) T has unit spread; directions without spread are left out."""
        spread = X.std(axis=0)
        kept = np.flatnonzero(spread > NO_SPREAD * spread.max())
        T = np.zeros((X.shape[1], max(len(kept), 1)))
        T[kept, np.arange(len(kept))] = 1.0 / spread[kept]
        return T

    def unit(self, T: FloatArray) -> FloatArray:
        """The metric that is Euclidean distance in the units of X."""
        scale = T.sum(axis=0)
        return np.where(scale > 0, scale, 1.0) ** -2.0

    def in_units(self, A: FloatArray, T: FloatArray) -> FloatArray:
        """The metric on X of a metric on the coordinates."""
        return np.asarray(np.square(T) @ A)

    def one(self, r: int) -> FloatArray:
        """The identity."""
        return np.ones(r)

    def scatter(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """The sum of weight x row row'."""
        return np.asarray(weights @ np.square(rows))

    def lengths(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        """row' A row of each row."""
        return np.asarray(np.square(rows) @ A)

    def stretched(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        """Rows whose Euclidean distances are those under A."""
        return rows * np.sqrt(A)

    def inverse(self, B: FloatArray) -> FloatArray:
        """The inverse of a positive definite scatter."""
        return 1.0 / B

    def log_det(self, A: FloatArray) -> float:
        """log det A; minus infinity if A is not positive definite."""
        return float(np.log(A).sum()) if A.min() > 0 else -np.inf

    def values(self, change: FloatArray, B: FloatArray) -> FloatArray:
        """The eigenvalues of B^(-1) change, for a positive definite B."""
        return change / B

    def exchange(
        self, B: FloatArray, rows: FloatArray, shares: FloatArray, c: float, tolerance: float
    ) -> None:
        """Move shares, in place, between the rows in B to where log det B is largest."""
        exchange_diagonal(B.copy(), np.square(rows), shares, c, tolerance, MOST_EXCHANGES)

    def mended(self, B: FloatArray) -> FloatArray:
        """The inverse of B made positive definite."""
        return _clipped(B)


class Full(Diagonal):
    """The same operations on symmetric positive definite matrices, (r, r)."""

    def coordinates(self, X: FloatArray) -> FloatArray:
        _, spread, axes = np.linalg.svd((X - X.mean(axis=0)) / np.sqrt(len(X)), full_matrices=False)
        kept = spread > NO_SPREAD**0.75 * spread.max()
        if not kept.any():
            return np.zeros((X.shape[1], 1))
        T: FloatArray = axes[kept].T / spread[kept]
        return T

    def unit(self, T: FloatArray) -> FloatArray:
        scale = np.square(T).sum(axis=0)
        return np.diag(1.0 / np.where(scale > 0, scale, 1.0))

    def in_units(self, A: FloatArray, T: FloatArray) -> FloatArray:
        return np.asarray(T @ A @ T.T)

    def one(self, r: int) -> FloatArray:
        return np.eye(r)

    def scatter(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        return np.asarray(rows.T @ (rows * weights[:, None]))

    def lengths(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        return np.asarray(np.square(self.stretched(rows, A)).sum(axis=1))

    def stretched(self, rows: FloatArray, A: FloatArray) -> FloatArray:
        return np.ascontiguousarray(rows @ np.linalg.cholesky(A))

    def inverse(self, B: FloatArray) -> FloatArray:
        half = solve_triangular(np.linalg.cholesky(B), np.eye(len(B)), lower=True)
        return np.asarray(half.T @ half)

    def log_det(self, A: FloatArray) -> float:
        sign, value = np.linalg.slogdet(A)
        return float(value) if sign > 0 and np.linalg.eigvalsh(A)[0] > 0 else -np.inf

    def values(self, change: FloatArray, B: FloatArray) -> FloatArray:
        return np.asarray(eigvalsh(change, B))

    def exchange(
        self, B: FloatArray, rows: FloatArray, shares: FloatArray, c: float, tolerance: float
    ) -> None:
        exchange_full(self.inverse(B), rows, shares, c, tolerance, MOST_EXCHANGES)

    def mended(self, B: FloatArray) -> FloatArray:
        values, axes = np.linalg.eigh(B)
        return np.asarray((axes * _clipped(values)) @ axes.T)


def _clipped(values: FloatArray) -> FloatArray:
    """1 / values: if singular, EPS x their sum is added; negative ones become EPS x the largest."""
    largest = float(np.abs(values).max())
    if (np.abs(values) <= 1e-12 * largest).any() or largest == 0:
        values = values + EPS * max(abs(float(values.sum())), np.finfo(float).tiny)
    weights: Any = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
    floor = EPS * (float(weights.max()) if weights.any() else 1.0)
    return np.where(values > 0, weights, floor)


FORMS: dict[str, Diagonal] = {"diagonal": Diagonal(), "full": Full()}


@kernel
def farthest_in_order(points: Any, radius: Any) -> Any:
    """The farthest pair, and its squared distance."""
    # Points come in falling order of their distance `radius` from some centre: no pair is farther
    # than the sum of the two, so that most pairs are not looked at.
    i, j, best = 0, 0, 0.0
    for p in range(1, len(points)):
        for q in range(p):
            if (radius[p] + radius[q]) ** 2 <= best * (1.0 - 1e-12):
                break
            gap = 0.0
            for f in range(points.shape[1]):
                gap += (points[p, f] - points[q, f]) ** 2
            if gap > best:
                best, i, j = gap, p, q
    return i, j, best


def farthest_pair(points: FloatArray) -> tuple[int, int, float]:
    """The two points that are farthest apart, exactly, and their squared distance."""
    radius = np.sqrt(np.square(points - points.mean(axis=0)).sum(axis=1))
    order = np.argsort(-radius, kind="stable")
    p, q, best = farthest_in_order(points[order], radius[order])
    first, second = np.sort(order[[p, q]]).tolist()
    return first, second, float(best)


class FarPairs:
    """The items, and the pairs that were the farthest so far, among which to look first."""

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self.pool = np.empty((0, points.shape[1]))

    def beside(self, own: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Given pairs with those seen, and shares of them, 0 for those seen since."""
        rows = np.concatenate([own, self.pool])
        return rows, np.pad(shares, (0, len(rows) - len(shares)))

    def known(self, form: Diagonal, A: FloatArray) -> tuple[float, FloatArray]:
        """The largest squared distance among the pairs seen, and the pair's difference."""
        if not len(self.pool):
            return self.search(form, A)
        lengths = form.lengths(self.pool, A)
        best = int(np.argmax(lengths))
        return float(lengths[best]), self.pool[best]

    def search(self, form: Diagonal, A: FloatArray) -> tuple[float, FloatArray]:
        """The squared diameter of all items, and the farthest pair's difference."""
        i, j, squared = farthest_pair(form.stretched(self.points, A))
        gap = self.points[i] - self.points[j]
        if not (self.pool == gap).all(axis=1).any():
            self.pool = np.concatenate([self.pool, gap[None]])
        return squared, gap


class Terms(NamedTuple):
    """Everything f depends on but A."""

    n: float  # members
    scatter: FloatArray  # S, positive definite
    gaps: FloatArray  # (b, r) x_i - x_j of the violated cannot-links
    weights: FloatArray  # (b,) their w

    def value(self, form: Diagonal, A: FloatArray, diameter: float) -> float:
        """f(A)."""
        away = diameter - form.lengths(self.gaps, A)
        return float((A * self.scatter).sum() + self.weights @ away) - self.n * form.log_det(A)


Found = tuple[FloatArray, float, FloatArray]
"""A metric, the squared diameter under it, and the difference (r,) of the farthest pair."""


def paper_step(form: Diagonal, terms: Terms, pair: FloatArray, far: FarPairs) -> Found:
    """Eq. 7 and 8 as they stand, with the farthest pair of before; B is mended by `_clipped`."""
    B = (
        terms.scatter
        + form.scatter(pair[None], terms.weights.sum(keepdims=True))
        - form.scatter(terms.gaps, terms.weights)
    )
    A = terms.n * form.mended(B)
    return A, *far.search(form, A)


def exact_step(form: Diagonal, terms: Terms, far: FarPairs, gap: float = GAP) -> Found:
    """The metric at which f is least, up to `gap` for each member."""
    c = float(terms.weights.sum())
    B = terms.scatter
    A = terms.n * form.inverse(B)
    if c == 0:
        return A, *far.search(form, A)
    violated = form.scatter(terms.gaps, terms.weights) / c
    far.pool = far.pool[-MOST_KNOWN:]  # so that looking there stays cheap
    # u on each violated pair while these are few, else on all of them together
    few = len(terms.gaps) <= MOST_KNOWN
    own, left = (terms.gaps, 0.0) if few else (terms.gaps[:0], 1.0)
    shares = terms.weights / c if few else np.empty(0)
    tolerance = gap * terms.n
    for _ in range(MOST_STEPS):
        squared, pair = far.known(form, A)
        rows, shares = far.beside(own, shares)
        mean = left * float((A * violated).sum()) + float(form.lengths(rows, A) @ shares)
        if c * (squared - mean) <= tolerance:
            squared, pair = far.search(form, A)
            if c * (squared - mean) <= tolerance:
                break
            rows, shares = far.beside(own, shares)
        if left > 0:
            # to the farthest pairs as they share by now, which moves farther than to one of them
            newest = (rows == pair).all(axis=1).astype(np.float64)
            target = shares / shares.sum() if shares.any() else newest
            change = c * (form.scatter(rows, target) - violated)
            step = longest(form.values(change, B), left)
            left = left - step if step < left else 0.0
            shares = shares + step * target
            B = B + step * change
        form.exchange(B, rows, shares, c, tolerance / (2.0 * terms.n))
        B = terms.scatter + c * ((left - 1.0) * violated + form.scatter(rows, shares))
        A = terms.n * form.inverse(B)
    else:
        squared, pair = far.search(form, A)
    return A, squared, pair


def longest(values: FloatArray, most: float) -> float:
    """The t in [0, most] at which sum log(1 + t value) is largest."""

    def slope(t: float) -> float:
        return float((values / (1.0 + t * values)).sum())

    lowest = float(values.min())
    end = most if lowest >= 0 else min(most, (1.0 - 1e-9) / -lowest)
    if slope(end) >= 0 or slope(0.0) <= 0:
        return end if slope(end) >= 0 else 0.0
    return float(brentq(slope, 0.0, end, xtol=1e-14, rtol=1e-12))
