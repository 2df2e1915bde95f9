"""Noise whose prior is made of Dirichlet distributions, in the form that compiled samplers integrate out.

A source's answers to questions of one truth are draws from a row of probabilities with a Dirichlet
prior of weights w. With n_c answers of each kind c of a row, the row integrated out,

    p(answers) = Gamma(sum w) / Gamma(sum w + n) * prod_c Gamma(w_c + n_c) / Gamma(w_c)

(the answers of TVClust, Eq. 8, and of DCRC, Table I, have Beta priors: rows of two), times a known
factor where answers are told apart that share a probability, as the two wrong ones to a triplet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesclust._numba import FAST, device
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.noise_model import DirichletRows, NoiseModel
from bayesclust.constraints.sites import N_PATTERNS, Sites, factor_pattern

GIVEN, PASSED_OVER = -1, -2
"""What `Dirichlets.kind` says of answers with a known probability, and of those whose noise is not learned at all."""


class Dirichlets(NamedTuple):
    """Rows of all sources of all views; C kinds of answers in all, R rows."""

    weight: NDArray[np.float64]  # (C,) prior weight of each kind
    start: NDArray[np.int64]  # (R + 1,) row r has the kinds start[r] : start[r + 1]
    kind: NDArray[
        np.int64
    ]  # (codes, 5) kind of an answer under a pattern, `GIVEN` or `PASSED_OVER`
    factor: NDArray[np.float64]  # (codes, 5) logarithm of its known factor


NONE = Dirichlets(
    np.zeros(0),
    np.zeros(1, np.int64),
    np.full((0, N_PATTERNS), PASSED_OVER),
    np.zeros((0, N_PATTERNS)),
)
"""Those of no views."""


def _has_rows(noise: NoiseModel) -> bool:
    """Whether a model says its rows, and they are those of its marginal likelihood, which a subclass may write anew."""
    says = next(owner for owner in type(noise).__mro__ if "dirichlet_rows" in vars(owner))
    return issubclass(
        says, next(owner for owner in type(noise).__mro__ if "log_marginal" in vars(owner))
    )


def _rows_of(noise: NoiseModel) -> DirichletRows | None:
    """What a model says, once it is sure that compiled code can go by it."""
    rows = noise.dirichlet_rows() if _has_rows(noise) else None
    if rows is None:
        return None
    where, shape = (
        f"{type(noise).__name__}.dirichlet_rows()",
        (max(noise.truth) + 1, noise.n_answers),
    )
    weights = [weight for row in rows.weights for weight in row]
    if not all(math.isfinite(weight) and weight > 0 for weight in weights):
        raise ValueError(f"{where}: weights must be finite and above 0; got {rows.weights}.")
    kind, log_factor = np.asarray(rows.kind), np.asarray(rows.log_factor)
    for name, table in (("kind", kind), ("log_factor", log_factor)):
        if table.ndim != 2 or table.shape[0] < shape[0] or table.shape[1] != shape[1]:
            raise ValueError(
                f"{where}: {name} must have a row for each truth and a column for each of {noise.n_answers} "
                f"answers; got shape {table.shape}."
            )
    if kind.dtype.kind not in "iu" or kind.min() < GIVEN or kind.max() >= len(weights):
        raise ValueError(
            f"{where}: kind must hold integers from {GIVEN} to {len(weights) - 1}, as there are {len(weights)} "
            f"weights; got {kind.tolist()}."
        )
    if not np.isfinite(log_factor).all():
        raise ValueError(f"{where}: log_factor must be finite; got {log_factor.tolist()}.")
    return DirichletRows(rows.weights, kind, log_factor)


def stack_dirichlets(constraints: Sequence[Constraints]) -> Dirichlets | None:
    """The rows of all views whose noise is learned, or None if there is one that has no such form.

    Parameters
    ----------
    constraints : sequence of Constraints

    Returns
    -------
    Dirichlets or None
        Its codes are laid out as by `bayesclust.constraints.sites.stack_tables`.

    Raises
    ------
    ValueError
        If a model says rows that are none: weights that are not positive, tables of another shape,
        kinds that do not exist.
    """
    weights: list[Sequence[float]] = []
    kinds, factors, n_kinds = [NONE.kind], [NONE.factor], 0
    for view in constraints:
        shape = view.n_sources, view.n_answers, N_PATTERNS
        kind, factor, noise = np.full(shape, PASSED_OVER), np.zeros(shape), view.noise
        rows = _rows_of(noise) if noise.free else None
        if noise.free and rows is None:
            return None
        if rows is not None:
            truth, kinds_of_one = list(noise.truth), sum(map(len, rows.weights))
            first = n_kinds + kinds_of_one * np.arange(view.n_sources)[:, None, None]
            own = rows.kind[truth].T
            kind[..., : len(truth)] = np.where(own >= 0, own + first, GIVEN)
            factor[..., : len(truth)] = rows.log_factor[truth].T
            weights.extend(rows.weights * view.n_sources)
            n_kinds += kinds_of_one * view.n_sources
        kinds.append(kind.reshape(-1, N_PATTERNS))
        factors.append(factor.reshape(-1, N_PATTERNS))
    start = np.cumsum([0, *map(len, weights)])
    flat = np.array([weight for row in weights for weight in row], dtype=np.float64)
    return Dirichlets(flat, start, np.concatenate(kinds), np.concatenate(factors))


@device(fastmath=FAST, no_refcount=True)
def unheard_surplus(
    rows: Dirichlets,
    sites: Sites,
    table: NDArray[np.float64],
    z: NDArray[np.int64],
    mass: NDArray[np.float64],
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
