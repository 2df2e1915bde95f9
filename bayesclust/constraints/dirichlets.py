"""Noise whose prior is made of Dirichlet distributions, in the form that compiled samplers integrate out.

A source's answers to questions of one truth are draws from a row of probabilities with a Dirichlet prior of weights w. With
n_c answers of each kind c of a row, the row integrated out,

    p(answers) = Gamma(sum w) / Gamma(sum w + n) * prod_c Gamma(w_c + n_c) / Gamma(w_c)

(the answers of TVClust, Eq. 8, and of DCRC, Table I, have Beta priors: rows of two), times a known factor where answers are
told apart that share a probability, as the two wrong ones to a triplet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust._jit import FAST, inner
from bayesclust.constraints.base import View
from bayesclust.constraints.noise_model import NoiseModel
from bayesclust.constraints.sites import N_PATTERNS, Sites, factor_pattern

GIVEN, PASSED_OVER = -1, -2
"""What `Dirichlets.kind` says of answers with a known probability, and of those whose noise is not learned at all."""


class Dirichlets(NamedTuple):
    """Rows of all sources of all views; C kinds of answers in all, R rows."""

    weight: NDArray[np.float64]  # (C,) prior weight of each kind
    start: NDArray[np.int64]  # (R + 1,) row r has the kinds start[r] : start[r + 1]
    kind: NDArray[np.int64]  # (codes, 5) kind of an answer under a pattern, `GIVEN` or `PASSED_OVER`
    factor: NDArray[np.float64]  # (codes, 5) logarithm of its known factor


NONE = Dirichlets(
    np.zeros(0), np.zeros(1, np.int64), np.full((0, N_PATTERNS), PASSED_OVER), np.zeros((0, N_PATTERNS))
)  # fmt: skip
"""Those of no views."""


def _has_rows(noise: NoiseModel) -> bool:
    """Whether a model says its rows, and they are those of its marginal likelihood, which a subclass may write anew."""
    says = next(owner for owner in type(noise).__mro__ if "dirichlet_rows" in vars(owner))
    return issubclass(says, next(owner for owner in type(noise).__mro__ if "log_marginal" in vars(owner)))


def stack_dirichlets(views: Sequence[View]) -> Dirichlets | None:
    """The rows of all views whose noise is learned, or None if there is one that has no such form.

    Parameters
    ----------
    views : sequence of View

    Returns
    -------
    Dirichlets or None
        Its codes are laid out as by `bayesclust.constraints.sites.stack_tables`.
    """
    weights: list[Sequence[float]] = []
    kinds, factors = [NONE.kind], [NONE.factor]
    for view in views:
        shape = view.n_sources, view.n_answers, N_PATTERNS
        kind, factor, noise = np.full(shape, PASSED_OVER), np.zeros(shape), view.noise
        rows = noise.dirichlet_rows() if noise.free and _has_rows(noise) else None
        if noise.free and rows is None:
            return None
        if rows is not None:
            truth = list(noise.truth)
            for source in range(view.n_sources):
                own, first = rows.kind[truth].T, sum(map(len, weights))
                kind[source, :, : len(truth)] = np.where(own >= 0, own + first, GIVEN)
                factor[source, :, : len(truth)] = rows.log_factor[truth].T
                weights.extend(rows.weights)
        kinds.append(kind.reshape(-1, N_PATTERNS))
        factors.append(factor.reshape(-1, N_PATTERNS))
    start = np.cumsum([0, *map(len, weights)])
    flat = np.array([weight for row in weights for weight in row], dtype=np.float64)
    return Dirichlets(flat, start, np.concatenate(kinds), np.concatenate(factors))


@inner(fastmath=FAST, lean=True)
def unheard_surplus(
    rows: Dirichlets, sites: Sites, table: NDArray[np.float64], z: NDArray[np.int64], mass: NDArray[np.float64]
) -> float:
    """log p(answers | z) - log p(answers | z, noise of `table`), but for what z does not change; `mass` is scratch."""
    for c in range(len(rows.weight)):
        mass[c] = rows.weight[c]
    value = 0.0
    for f in range(len(sites.code)):
        code, pattern = sites.code[f], factor_pattern(sites, z, f)
        kind = rows.kind[code, pattern]
        if kind != PASSED_OVER:
            value += rows.factor[code, pattern] - table[code, pattern]
        if kind >= 0:
            mass[kind] += 1.0
    for r in range(len(rows.start) - 1):
        total = 0.0
        for c in range(rows.start[r], rows.start[r + 1]):
            total += mass[c]
            value += math.lgamma(mass[c])
        value -= math.lgamma(total)
    return value


__all__ = ["Dirichlets", "stack_dirichlets"]
