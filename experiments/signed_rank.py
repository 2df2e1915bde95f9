"""Two methods compared over several data sets: the Bayesian signed-rank test.

Benavoli, Corani, Demsar and Zaffalon (2017), Time for a Change: a Tutorial for Comparing Multiple
Classifiers Through Bayesian Analysis, section 4.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust.typing import ArrayLike, Seed


class SignedRank(NamedTuple):
    """Probabilities that differences are mostly below, in or above a region; they add up to 1."""

    worse: float
    equivalent: float
    better: float


def bayesian_signed_rank(
    differences: ArrayLike,
    *,
    rope: float = 0.01,
    strength: float = 0.5,
    num_samples: int = 20_000,
    seed: Seed = 0,
) -> SignedRank:
    """How the first method does, by its scores less those of the other on q data sets.

    Under a Dirichlet process prior with all its mass, `strength`, at z_0 = 0, the differences z_0,
    ..., z_q have the weights w ~ Dirichlet(strength, 1, ..., 1), by which two of them average above
    r = `rope` with probability sum_{ij} w_i w_j 1[z_i + z_j > 2 r], below -r or between likewise.
    The probability of a hypothesis is the share of draws of w in which it is the largest of three.

    >>> found = bayesian_signed_rank([0.05, 0.08, 0.002, 0.11, -0.03, 0.07, 0.04])
    >>> round(found.better, 1), found.worse < 0.01
    (1.0, True)
    """
    z = np.append(0.0, differences)
    if not np.isfinite(z).all():
        raise ValueError("a difference is not a number: leave such data sets out.")
    parameters = np.ones(len(z))
    parameters[0] = strength
    weights = np.random.default_rng(seed).dirichlet(parameters, num_samples)
    sums = z[:, None] + z
    sides = [side.astype(np.float64) for side in (sums < -2 * rope, sums > 2 * rope)]
    worse, better = (((weights @ side) * weights).sum(axis=1) for side in sides)
    # of equal shares the first wins: no difference, where nothing speaks for one
    winner = np.argmax([1 - worse - better, worse, better], axis=0)
    equivalent, lower, higher = (np.bincount(winner, minlength=3) / num_samples).tolist()
    return SignedRank(lower, equivalent, higher)
