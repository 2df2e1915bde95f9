"""Beta distributions cut so that answers inform: X < x, or P + Q > 1 for two of them.

Everything is computed on the log odds t = log(x / (1 - x)), where a Beta density is log-concave,
and so are its distribution function and products of both: normalisers come from the trapezoidal
rule, which converges exponentially there, and draws from Devroye's rejection for log-concave
densities (1986, Non-Uniform Random Variate Generation, Sec. VII.2). All of it holds however small
the probability of what is left: answers that mean their opposite leave next to nothing.

The pair: with U = 1 - Q ~ Beta(d, c), P + Q > 1 is U < P, so that the density of P alone is that of
Beta(a, b) times the distribution function of U.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import betainc, betaln, expit, logit, logsumexp

from bayesclust.constraints._conjugate import ALMOST_ONE
from bayesclust.typing import BoolArray, FloatArray

# log odds s = +-REACH after the stretch t = mode + width sinh(s): 30,000 widths
REACH, NODES = 11.0, 301
TRIES = 20


def log_parts(t: Any) -> tuple[FloatArray, FloatArray]:
    """Return log x and log(1 - x) at log odds t."""
    return -np.logaddexp(0.0, -t), -np.logaddexp(0.0, t)


def log_density(a: Any, b: Any, t: Any) -> FloatArray:
    """Return the log density of the log odds of Beta(a, b)."""
    log_x, log_rest = log_parts(t)
    return np.asarray(a * log_x + b * log_rest - betaln(a, b))


def log_below(a: Any, b: Any, t: Any) -> FloatArray:
    """Return log P(X < x) for X ~ Beta(a, b), x the number with log odds t; finite where the probability underflows."""
    a, b, t = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (a, b, t)))
    below, above = _log_betainc(a, b, t), _log_betainc(b, a, -t)
    # the smaller of the two has all its digits, unless it is of a number so near 1 that this has
    # lost its own
    complement = np.where(np.abs(t) < 8, below >= above, np.where(t > 0, below > -14, above < -14))
    return np.asarray(
        np.where(complement, np.log1p(-np.exp(np.where(complement, above, -1.0))), below)
    )


def _log_betainc(a: FloatArray, b: FloatArray, t: FloatArray) -> FloatArray:
    ratio = betainc(a, b, expit(t))
    tiny = (ratio < 1e-280) | (t < -650)
    value: FloatArray = np.asarray(np.log(np.where(tiny, 1.0, ratio)))
    if tiny.any():
        value[tiny] = _log_tail(a[tiny], b[tiny], t[tiny])
    return value


def _log_tail(a: FloatArray, b: FloatArray, t: FloatArray) -> FloatArray:
    """The same far below the mean, by Lentz's method for the continued fraction (DLMF 8.17.22)."""
    x = expit(t)
    d = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    c, fraction = np.ones_like(d), d.copy()
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        fraction *= c * d
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        fraction *= c * d
        if (np.abs(c * d - 1.0) < 1e-14).all():
            break
    log_x, log_rest = log_parts(t)
    return np.asarray(a * log_x + b * log_rest - np.log(a) - betaln(a, b) + np.log(fraction))


def log_order(a: Any, b: Any, c: Any, d: Any) -> FloatArray:
    """Return log P(P + Q > 1) for independent P ~ Beta(a, b) and Q ~ Beta(c, d)."""
    weights = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (a, b, c, d)))
    value, doubtful = np.zeros(weights[0].shape), ~_certain(*weights)
    if doubtful.any():
        value[doubtful] = _integral(*(weight[doubtful] for weight in weights))
    return value


def _certain(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> BoolArray:
    """Where P + Q > 1 fails with a probability that rounds to nothing, by P(P + Q < 1) < P(P < x) + P(Q < 1 - x)."""
    p, q = a / (a + b), c / (c + d)
    spread_p, spread_q = np.sqrt(p * (1 - p) / (a + b + 1)), np.sqrt(q * (1 - q) / (c + d + 1))
    x = np.clip(p - (p + q - 1) * spread_p / (spread_p + spread_q), 1e-300, ALMOST_ONE)
    certain: BoolArray = (p + q > 1) & (betainc(a, b, x) + betainc(c, d, 1 - x) < 1e-15)
    return certain


def _integral(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    # over the sharper of the two: the other's distribution function is smooth on that scale
    swap = c * d / (c + d) > a * b / (a + b)
    a, c = np.where(swap, c, a), np.where(swap, a, c)
    b, d = np.where(swap, d, b), np.where(swap, b, d)
    mode, width = _mode(a, b, c, d)
    stretch = np.linspace(-REACH, REACH, NODES)[:, None]
    t = mode + width * np.sinh(stretch)
    terms = log_density(a, b, t) + log_below(d, c, t) + np.log(width * np.cosh(stretch))
    value: FloatArray = logsumexp(terms, axis=0) + np.log(2 * REACH / (NODES - 1))
    return value


def _mode(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mode of the density of P's log odds given P + Q > 1, and a width from its curvature there, at most 1."""
    low, high = np.full(a.shape, -700.0), np.full(a.shape, 700.0)
    for _ in range(45):
        t = 0.5 * (low + high)
        rising = a * expit(-t) - b * expit(t) + _hazard(d, c, t) > 0
        low, high = np.where(rising, t, low), np.where(rising, high, t)
    x, rest, hazard = expit(t), expit(-t), _hazard(d, c, t)
    curvature = (a + b) * x * rest - hazard * (d * rest - c * x - hazard)
    return t, 1.0 / np.sqrt(np.maximum(curvature, 1.0))


def _hazard(a: FloatArray, b: FloatArray, t: FloatArray) -> FloatArray:
    """Derivative of log P(X < x) by the log odds of x."""
    return np.exp(log_density(a, b, t) - log_below(a, b, t))


def log_pair(p: Any, q: Any) -> Any:
    """Return log P(p + q > 1), p and q each a pair of Beta weights or a known value; 0 or -inf where both are known."""
    if isinstance(p, tuple):
        return log_order(*p, *q) if isinstance(q, tuple) else log_below(p[1], p[0], logit(q))
    if isinstance(q, tuple):
        return log_below(q[1], q[0], logit(p))
    return 0.0 if p + q > 1 else -np.inf


@lru_cache
def log_pair_prior(p: Any, q: Any) -> float:
    """The same for the numbers of a prior, which are asked for at every draw."""
    return float(log_pair(p, q))


def pair_gradient(p: Any, q: Any) -> list[list[Any]]:
    """Return the derivatives of `log_pair` by the weights of p and by those of q, zeros where one is known."""
    free = [weights for weights in (p, q) if isinstance(weights, tuple)]

    def mass(*flat: FloatArray) -> FloatArray:
        pairs = iter([flat[:2], flat[2:]])
        return np.asarray(
            log_pair(
                *(next(pairs) if isinstance(weights, tuple) else weights for weights in (p, q))
            )
        )

    slopes = iter(gradient(mass, [weight for weights in free for weight in weights]))
    return [
        [next(slopes), next(slopes)] if isinstance(weights, tuple) else [0.0, 0.0]
        for weights in (p, q)
    ]


def draw_pair(p: Any, q: Any, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw p and q given p + q > 1, at least one of them not known; the known one is repeated to the shape of the other."""
    if isinstance(p, tuple) and isinstance(q, tuple):
        return draw_order(p[0], p[1], q[0], q[1], rng)
    if isinstance(p, tuple):
        a, b = p
        return expit(-draw_below(b, a, np.full(a.shape, logit(q)), rng)), np.full(a.shape, q)
    c, d = q
    return np.full(c.shape, p), expit(-draw_below(d, c, np.full(c.shape, logit(p)), rng))


def gradient(function: Callable[..., FloatArray], weights: Sequence[Any]) -> list[FloatArray]:
    """Derivatives of a log probability by the weights of its Beta distributions, by differences of fourth order.

    What expectations of log x and log(1 - x) gain by the cut, as in any exponential family.
    """
    # on this scale the functions of this file vary slowly
    weights = np.broadcast_arrays(*weights)
    steps = [0.02 * np.minimum(weight, np.sqrt(weight)) for weight in weights]
    stencil = np.array([1.0, -1.0, 2.0, -2.0])
    shifted = [np.tile(weight, (len(weights), 4) + (1,) * weight.ndim) for weight in weights]
    for j, step in enumerate(steps):
        shifted[j][j] += np.multiply.outer(stencil, step)
    up, down, far_up, far_down = np.moveaxis(function(*shifted), 1, 0)
    return list((8 * (up - down) - (far_up - far_down)) / (12 * np.stack(steps)))


def draw_below(a: FloatArray, b: FloatArray, t: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the log odds of X ~ Beta(a, b) given that they are less than t; arrays of one shape."""
    drawn, left = _draw_log_odds(a, b, rng), np.ones(a.shape, dtype=np.bool_)
    for _ in range(TRIES):
        left = drawn >= t
        if not left.any():
            return drawn
        drawn[left] = _draw_log_odds(a[left], b[left], rng)
    left = drawn >= t
    a, b, t = a[left], b[left], t[left]
    # the density of what is left, normalised; it ends at t
    total, mode = log_below(a, b, t), np.minimum(np.log(a) - np.log(b), t)
    drawn[left] = _draw_log_concave(
        lambda v, at: np.where(v < t[at], log_density(a[at], b[at], v) - total[at], -np.inf),
        mode,
        rng,
    )
    return drawn


def draw_order(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw P ~ Beta(a, b) and Q ~ Beta(c, d) given P + Q > 1: independent draws, arrays of one shape.

    A few tries without regard to the condition; whoever still breaks it is drawn from the marginal
    of P and then from that of Q given P, so that the result does not depend on how likely the
    condition is.
    """
    p, u = _draw_log_odds(a, b, rng), _draw_log_odds(d, c, rng)
    for _ in range(TRIES):
        left = u >= p
        if not left.any():
            return expit(p), expit(-u)
        p[left], u[left] = (
            _draw_log_odds(a[left], b[left], rng),
            _draw_log_odds(d[left], c[left], rng),
        )
    left = u >= p
    a, b, c, d = a[left], b[left], c[left], d[left]
    total, (mode, _) = log_order(a, b, c, d), _mode(a, b, c, d)
    p[left] = _draw_log_concave(
        lambda t, at: log_density(a[at], b[at], t) + log_below(d[at], c[at], t) - total[at],
        mode,
        rng,
    )
    u[left] = draw_below(d, c, p[left], rng)
    return expit(p), expit(-u)


def _draw_log_odds(a: FloatArray, b: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the log odds of Beta variables, finite where the variable rounds to 0 or 1."""
    return np.asarray(_log_gamma(a, rng) - _log_gamma(b, rng))


def _log_gamma(a: FloatArray, rng: np.random.Generator) -> FloatArray:
    # Gamma(a) = Gamma(a + 1) U^(1 / a) does not underflow in logarithms
    return np.asarray(
        np.log(rng.standard_gamma(a + 1.0)) - rng.standard_exponential(np.shape(a)) / a
    )


def _draw_log_concave(
    log_f: Callable[[FloatArray, np.ndarray[tuple[int], np.dtype[np.intp]]], FloatArray],
    mode: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw from normalised log-concave densities with these modes, one each; `log_f(t, at)` is the density number `at`.

    f(t) <= f(mode) min(1, exp(1 - f(mode) |t - mode|)); one proposal in four is accepted (Devroye,
    Sec. VII.2, Theorem 2.2).
    """
    drawn, waiting = np.empty_like(mode), np.arange(len(mode))
    # the mode may be an open end of the support
    peak = log_f(np.nextafter(mode, -np.inf), waiting)
    # a height slightly too low keeps the envelope above f where the normaliser has rounding errors
    height = np.exp(peak) * (1 - 1e-6)
    while len(waiting):
        uniform, tail = rng.random(len(waiting)), rng.standard_exponential(len(waiting))
        inside = rng.random(len(waiting)) < 0.5
        distance = np.where(inside, uniform, 1.0 + tail)
        side = np.where(rng.random(len(waiting)) < 0.5, -1.0, 1.0)
        t = mode[waiting] + side * distance / height[waiting]
        envelope = peak[waiting] - np.where(inside, 0.0, tail)
        accepted = np.log(rng.random(len(waiting))) < log_f(t, waiting) - envelope
        drawn[waiting[accepted]] = t[accepted]
        waiting = waiting[~accepted]
    return drawn
