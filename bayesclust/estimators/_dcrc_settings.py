"""Settings of DCRC: checked, and brought into the form that the search takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from numbers import Real
from typing import Any

import numpy as np

from bayesclust._memory import check_memory
from bayesclust.checks import check_choice, check_int, check_positive
from bayesclust.constraints import ConfusionNoise, Constraints, LinkNoise, UniformNoise
from bayesclust.constraints._checks import number_between
from bayesclust.inference.variational_em.features import EXACT_UP_TO, KERNELS, LANDMARKS
from bayesclust.inference.variational_em.held_out import PENALTIES, TAUS
from bayesclust.inference.variational_em.settings import EMSettings

CV, LEARN = "cv", "learn"
PRECISION = 4.0
"""Of the Gaussian prior of weights where `penalty` is None and there are answers."""
PENALTY = 2.0**-6
"""Where there are none."""
ALMOST_ONE = float(np.nextafter(1.0, 0.0))
CELLS, FEWEST_STARTS, MOST_STARTS = 4e6, 6, 24


def with_noise(constraints: Sequence[Constraints], noise: Any) -> list[Constraints]:
    """Return views whose noise models are what `noise` asks for.

    Parameters
    ----------
    constraints : sequence of Constraints
    noise : float, "learn", "confusion" or None

    Returns
    -------
    list of Constraints

    Raises
    ------
    TypeError, ValueError
        If `noise` is something else.
    """
    if noise is None:
        return list(constraints)
    if type(noise) is not bool and isinstance(noise, Real):
        eps = number_between(noise, "noise", "[0, 1)")
        right = min(max(1.0 - eps, 1.0 - ALMOST_ONE), ALMOST_ONE)
        models: dict[str, Any] = {
            "relative": UniformNoise(eps),
            "pairwise": LinkNoise(p=right, q=right),
        }
    elif isinstance(noise, str):
        check_choice(noise, "noise", (LEARN, "confusion"))
        models = {
            "relative": UniformNoise() if noise == LEARN else ConfusionNoise(),
            "pairwise": LinkNoise(),
        }
    else:
        raise TypeError(
            f'noise must be a number in [0, 1), "learn", "confusion" or None; got {noise!r}.'
        )
    return [view.with_noise(models[view.kind]) for view in constraints]


def check_balance(value: Any) -> tuple[dict[str, bool], ...]:
    """Return the settings of balance to choose among, the first being taken without answers."""
    learned, even, none = (
        {"balance": b, "proportions": p} for b, p in ((True, True), (True, False), (False, False))
    )
    if isinstance(value, (bool, np.bool_)):
        return (even,) if value else (none,)
    if isinstance(value, str):
        return (
            (learned,)
            if check_choice(value, "balance", (LEARN, CV)) == LEARN
            else (learned, even, none)
        )
    raise TypeError(f'balance must be True, False, "learn" or "cv"; got {value!r}.')


def check_kernel(kernel: Any, gamma: Any, degree: Any, n_landmarks: Any) -> dict[str, Any]:
    """Return the options of a kernel."""
    if kernel is not None:
        check_choice(kernel, "kernel", KERNELS)
    if gamma is not None:
        check_positive(gamma, "gamma")
    check_int(degree, "degree")
    if n_landmarks is not None:
        check_int(n_landmarks, "n_landmarks")
    if kernel == "rbf":
        return {"gamma": gamma}
    return {"gamma": gamma, "degree": degree, "coef0": 1.0} if kernel == "polynomial" else {}


def candidates(params: dict[str, Any], n_answers: int, n_cells: int) -> list[EMSettings]:
    """Return the settings to choose among by answers held out; one where nothing is to be chosen.

    Parameters
    ----------
    params : dict
        Of the estimator.
    n_answers : int
    n_cells : int
        Items times features times clusters, by which the number of starts is set where it is None.

    Returns
    -------
    list of EMSettings
        The first is what is taken where there are too few answers to choose by.
    """
    default = PRECISION / (2 * n_answers) if n_answers else PENALTY
    taus = _grid(params["tau"], "tau", TAUS, 1.0)
    penalties = (
        (default,)
        if params["penalty"] is None
        else _grid(params["penalty"], "penalty", PENALTIES, default)
    )
    starts = params["n_init"]
    if starts is None:
        starts = int(np.clip(CELLS / max(n_cells, 1), FEWEST_STARTS, MOST_STARTS))
    n_jobs = params["n_jobs"]
    base = EMSettings(
        temperature=number_between(params["temperature"], "temperature", "[0, inf)"),
        literal=check_choice(params["hard"], "hard", ("annealed", "literal")) == "literal",
        starts=check_int(starts, "n_init"),
        max_iter=check_int(params["max_iter"], "max_iter"),
        tolerance=check_positive(params["tol"], "tol"),
        n_jobs=_processors() if n_jobs is None else check_int(n_jobs, "n_jobs"),
    )
    if base.literal and params["noise"] != 0:
        raise ValueError(
            f'hard="literal" is Eq. 14, for answers that are never wrong, but noise={params["noise"]!r}: set noise=0.0.'
        )
    return [
        replace(base, tau=tau, penalty=penalty, **balance)
        for balance, tau, penalty in product(check_balance(params["balance"]), taus, penalties)
    ]


def _grid(value: Any, name: str, grid: tuple[float, ...], default: float) -> tuple[float, ...]:
    if isinstance(value, str):
        check_choice(value, name, (CV,))
        return (default, *(other for other in grid if other != default))
    return (number_between(value, name, "[0, inf)"),)


def _processors() -> int:
    import os

    return min(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        MOST_STARTS,
    )


def check_room_for_kernel(n_items: int, kernel: str | None, n_landmarks: int | None) -> None:
    """Refuse landmarks whose kernel matrices, two with the items and three with each other, would not fit into memory."""
    if kernel is not None:
        chosen = min(n_items, n_landmarks or (n_items if n_items <= EXACT_UP_TO else LANDMARKS))
        what = f"a kernel of {chosen:,} landmarks for {n_items:,} items"
        check_memory(16 * n_items * chosen + 24 * chosen**2, what, "lower n_landmarks")


__all__ = ["candidates", "check_balance", "check_kernel", "check_room_for_kernel", "with_noise"]
