"""A TVClust posterior as weighted draws that hear further answers without a new fit."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator
from sklearn.base import clone

from bayesclust.estimators._samplers import chain_starts
from bayesclust.estimators.tvclust import TVClust
from bayesclust.inference.particles import THINNING, Particles
from bayesclust.typing import ArrayLike


def check_estimator_of_particles(estimator: Any) -> TVClust:
    """Refuse what has no chains whose draws can go on one by one."""
    if not isinstance(estimator, TVClust):
        raise TypeError(f"estimator must be a TVClust; got {type(estimator).__name__}: pass TVClust(...).")
    if estimator.sampler != "collapsed":
        raise ValueError(f"only sampler='collapsed' hears answers one by one; got {estimator.sampler!r}: choose that one.")
    return estimator


def particles_of(estimator: TVClust, X: ArrayLike, constraints: Any, number: int, rng: Generator) -> Particles:
    """Return draws of the posterior that the estimator would sample, from short runs of its chains.

    Parameters
    ----------
    estimator : TVClust
        Not changed. Its model, moves, chains and warm-up are used.
    X : array-like of shape (n, d)
    constraints : View, list of View or None
    number : int
        Draws, over all chains.
    rng : Generator

    Returns
    -------
    Particles
    """
    own: Any = clone(check_estimator_of_particles(estimator))
    schedule = own._check_settings()
    _, problem = own._pose(X, constraints, rng)
    starts = chain_starts(own.sampler, problem, own._start(problem.n_items), own.moves, rng.spawn(own.num_chains))
    chains: list[Any] = [start() for start in starts]
    return Particles(chains, number, schedule.num_warmup, thinning=max(THINNING, schedule.thinning))


__all__ = ["check_estimator_of_particles", "particles_of"]
