"""TVClust posteriors as weighted draws that hear further answers without a new fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.random import Generator
from sklearn.base import clone

from bayesclust.checks import check_int
from bayesclust.estimators._samplers import chain_starts
from bayesclust.estimators.tvclust import TVClust
from bayesclust.inference.averaged_particles import AveragedParticles
from bayesclust.inference.particles import THINNING, Particles
from bayesclust.typing import ArrayLike


def check_estimators_of_particles(estimators: Any, number: Any) -> tuple[TVClust, ...]:
    """Return estimators, refusing what has no chains whose draws can go on one by one, and too few draws for them."""
    found = tuple(estimators) if isinstance(estimators, Sequence) else (estimators,)
    for estimator in found:
        if not isinstance(estimator, TVClust):
            raise TypeError(
                f"estimator must be a TVClust, or several; got {type(estimator).__name__}: pass TVClust(...)."
            )
        if estimator.sampler != "collapsed":
            got = repr(estimator.sampler)
            raise ValueError(
                f"only sampler='collapsed' hears answers one by one; got {got}: choose that one."
            )
    if not found:
        raise ValueError("estimator is empty: pass TVClust(...), or several.")
    check_int(number, "num_draws", least=2 * len(found))
    return found


def averaged_particles(
    estimators: Sequence[TVClust], X: ArrayLike, constraints: Any, number: int, rng: Generator
) -> AveragedParticles:
    """Return draws of the posteriors that the estimators would sample, from short runs of their chains.

    Parameters
    ----------
    estimators : sequence of TVClust
        Not changed. Their models, moves, chains and warm-up are used.
    X : array-like of shape (n, d)
    constraints : Constraints, list of Constraints or None
    number : int
        Draws over all estimators, of which each begins with an equal part.
    rng : Generator

    Returns
    -------
    AveragedParticles
    """
    ends = [m * number // len(estimators) for m in range(len(estimators) + 1)]
    parts = zip(estimators, ends[:-1], ends[1:], rng.spawn(len(estimators)), strict=True)
    return AveragedParticles(
        [
            _particles(estimator, X, constraints, to - begin, own)
            for estimator, begin, to, own in parts
        ]
    )


def _particles(
    estimator: TVClust, X: ArrayLike, constraints: Any, number: int, rng: Generator
) -> Particles:
    own: Any = clone(estimator)
    schedule = own._check_settings()
    _, problem = own._pose(X, constraints, rng)
    starts = chain_starts(
        own.sampler, problem, own._start(problem.n_items), own.moves, rng.spawn(own.num_chains)
    )
    chains: list[Any] = [start() for start in starts]
    return Particles(chains, number, schedule.num_warmup, thinning=max(THINNING, schedule.thinning))


__all__ = ["averaged_particles", "check_estimators_of_particles"]
