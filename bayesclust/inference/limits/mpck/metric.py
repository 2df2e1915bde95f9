"""The metric that costs least, labels and centres given: Eq. 7 and 8, and what is to be done where they break down.

Up to constants, the metric A of a cluster (or of all) with n members enters the objective by

    f(A) = <A, S> - n log det A + sum_broken cannot-links w (diam^2(A) - |x_i - x_j|_A^2),

S being the scatter of the members about their centre plus, for each broken must-link, w / 2 times
that of its two items (w for one metric, as both halves of it fall to that), and diam^2(A) the
largest squared distance of two items under A. Eq. 7 is the minimum as if the farthest pair d stayed
the same: A = n B^(-1), B = S + sum w (d d' - g g'). It breaks down where another pair becomes the
farthest, and where B is not positive definite. There the paper projects A on the positive
semi-definite matrices, which takes all weight from the directions that should have most of it.

f is convex, and needs no such mending. diam^2 is the largest of linear functions of A, so that with
c the sum of the w,

    min_A f(A) = n r - n log n + max_B n log det B,    B = S + sum w (-g g') + c sum_k u_k d_k d_k',

over weights u >= 0 with sum 1 on all pairs k of items, and A = n B^(-1) again. u on the broken
pairs themselves gives B = S, a start; a step moves weight to the farthest pair under the present A
from the pair that is least far, and the gap c (diam^2(A) - sum_k u_k |d_k|_A^2) bounds how far f(A)
is from its minimum. Where Eq. 7 is right it is the first step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from bayesclust.inference.limits.mpck.diameter import farthest_pair
from bayesclust.inference.limits.mpck.forms import Form
from bayesclust.typing import FloatArray

MOST_STEPS = 200
MOST_KNOWN = 100
# of the minimum, for each member
GAP = 1e-6


class Pull(NamedTuple):
    """What asks for a metric: everything f depends on."""

    n: float  # members
    scatter: FloatArray  # S, positive definite
    gaps: FloatArray  # (b, r) x_i - x_j of the broken cannot-links
    weights: FloatArray  # (b,) w of the broken cannot-links


class Found(NamedTuple):
    """A metric with the farthest pair under it."""

    metric: FloatArray
    diameter: float  # squared
    pair: FloatArray  # (r,) difference of the farthest pair
    support: FloatArray | None  # B, or None where the metric is not n B^(-1) for an optimal B
    mended: bool


class FarPairs:
    """The items, and the pairs that were the farthest so far, among which to look first."""

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self.pool = np.empty((0, points.shape[1]))

    def forget(self) -> None:
        """Keep the pairs found last only, so that looking there stays cheap."""
        self.pool = self.pool[-MOST_KNOWN:]

    def beside(self, own: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return pairs of one's own with those seen, and shares of them, 0 for those seen since."""
        rows = np.concatenate([own, self.pool])
        return rows, np.pad(shares, (0, len(rows) - len(shares)))

    def known(self, form: Form, A: FloatArray) -> tuple[float, FloatArray]:
        """Return the largest squared distance among the pairs seen, and the pair's difference."""
        if not len(self.pool):
            return self.search(form, A)
        lengths = form.lengths(self.pool, A)
        best = int(np.argmax(lengths))
        return float(lengths[best]), self.pool[best]

    def search(self, form: Form, A: FloatArray) -> tuple[float, FloatArray]:
        """Return the squared diameter of all items, and the farthest pair's difference."""
        i, j, squared = farthest_pair(form.stretched(self.points, A))
        gap = self.points[i] - self.points[j]
        if not (self.pool == gap).all(axis=1).any():
            self.pool = np.concatenate([self.pool, gap[None]])
        return squared, gap


def value(form: Form, pull: Pull, A: FloatArray, diameter: float) -> float:
    """Return f(A)."""
    away = diameter - form.lengths(pull.gaps, A)
    return float((A * pull.scatter).sum() + pull.weights @ away) - pull.n * form.log_det(A)


def paper_step(form: Form, pull: Pull, pair: FloatArray, far: FarPairs, eps: float) -> Found:
    """Eq. 7 and 8 as they stand, with the farthest pair of before, conditioned and projected where they break down.

    A singular B gets eps x trace added to its diagonal; negative eigenvalues of A, or negative
    weights, become eps x the largest one (at 0, as in the paper, log det A would be minus
    infinity).
    """
    B = (
        pull.scatter
        + form.scatter(pair[None], pull.weights.sum(keepdims=True))
        - form.scatter(pull.gaps, pull.weights)
    )
    inverse, mended = form.mended(B, eps)
    A = pull.n * inverse
    return Found(A, *far.search(form, A), support=None, mended=mended)


def exact_step(form: Form, pull: Pull, far: FarPairs, gap: float = GAP) -> Found:
    """Return the metric at which f is least, up to `gap` for each member."""
    c = float(pull.weights.sum())
    B = pull.scatter
    A = pull.n * form.inverse(B)
    if c == 0:
        return Found(A, *far.search(form, A), support=B, mended=False)
    broken = form.scatter(pull.gaps, pull.weights) / c
    far.forget()
    broken = form.scatter(pull.gaps, pull.weights) / c
    # u on each broken pair while these are few, else on all of them together
    few = len(pull.gaps) <= MOST_KNOWN
    own, left = (pull.gaps, 0.0) if few else (pull.gaps[:0], 1.0)
    shares = pull.weights / c if few else np.empty(0)
    tolerance = gap * pull.n
    for _ in range(MOST_STEPS):
        squared, pair = far.known(form, A)
        rows, shares = far.beside(own, shares)
        mean = left * float((A * broken).sum()) + float(form.lengths(rows, A) @ shares)
        if c * (squared - mean) <= tolerance:
            squared, pair = far.search(form, A)
            if c * (squared - mean) <= tolerance:
                break
            rows, shares = far.beside(own, shares)
        if left > 0:
            # to the farthest pairs as they share by now, which moves farther than to one of them
            target = (
                shares / shares.sum()
                if shares.any()
                else (rows == pair).all(axis=1).astype(np.float64)
            )
            change = c * (form.scatter(rows, target) - broken)
            step = longest(form.values(change, B), left)
            left = left - step if step < left else 0.0
            shares = shares + step * target
            B = B + step * change
        form.exchange(B, rows, shares, c, tolerance / (2.0 * pull.n))
        B = pull.scatter + c * ((left - 1.0) * broken + form.scatter(rows, shares))
        A = pull.n * form.inverse(B)
    else:
        squared, pair = far.search(form, A)
    return Found(A, squared, pair, support=B, mended=False)


def longest(values: FloatArray, most: float) -> float:
    """Return t in [0, most] at which sum log(1 + t value) is largest."""

    def slope(t: float) -> float:
        return float((values / (1.0 + t * values)).sum())

    lowest = float(values.min())
    end = most if lowest >= 0 else min(most, (1.0 - 1e-9) / -lowest)
    if slope(end) >= 0 or slope(0.0) <= 0:
        return end if slope(end) >= 0 else 0.0
    return float(brentq(slope, 0.0, end, xtol=1e-14, rtol=1e-12))
