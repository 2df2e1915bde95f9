"""Two methods over many data sets: the posterior probability that one is better, worse or practically the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesclust.checks import check_int, check_positive, check_random_state
from bayesclust.constraints._checks import number_between, real_array
from bayesclust.typing import ArrayLike, Seed

__all__ = ["SignedRank", "bayesian_signed_rank"]


class SignedRank(NamedTuple):
    """Probabilities of three hypotheses, which add up to 1.

    Parameters
    ----------
    worse : float
        That differences are mostly below the region of practical equivalence.
    equivalent : float
        That they are mostly in it.
    better : float
        That they are mostly above it.
    """

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
    """Compare two methods by their scores on several data sets: the Bayesian signed-rank test.

    Differences come from an unknown distribution, whose prior is a Dirichlet process of a given
    strength with all its mass at 0. With z_0 = 0 for the prior, its posterior gives the differences
    z_0, ..., z_q the weights

        w ~ Dirichlet(strength, 1, ..., 1),

    under which two differences drawn from it average above r, the half width of the region of
    practical equivalence, with probability sum_{ij} w_i w_j 1[z_i + z_j > 2 r], and likewise below
    -r or between. The hypothesis that is the largest of the three wins a draw of w; its posterior
    probability is the share of draws that it wins.

    Parameters
    ----------
    differences : array-like of shape (q,)
        On each data set the score of one method less that of the other, means over runs.
    rope : float, default 0.01
        r, in units of the scores: differences of less are of no consequence. 0.01 is usual for
        scores up to 1.
    strength : float, default 0.5
        Of the prior, in data sets.
    num_samples : int, default 20000
        Draws of w. The Monte Carlo error of a probability is at most 0.5 / sqrt(num_samples).
    seed : int, Generator or None, default 0
        The default gives equal answers to equal questions.

    Returns
    -------
    SignedRank
        Of the first method: worse, equivalent, better.

    Raises
    ------
    TypeError, ValueError
        If there are no differences, one is not a number, or a setting is out of range.

    References
    ----------
    Benavoli, Corani, Demsar and Zaffalon (2017): Time for a Change: a Tutorial for Comparing
    Multiple Classifiers Through Bayesian Analysis, section 4.2.

    Examples
    --------
    >>> import bayesclust as bc
    >>> found = bc.bayesian_signed_rank([0.05, 0.08, 0.002, 0.11, -0.03, 0.07, 0.04])
    >>> round(found.better, 1), found.worse < 0.01
    (1.0, True)
    """
    z = real_array(differences, "differences")
    if z.ndim != 1 or not len(z):
        raise ValueError(f"differences have shape {z.shape}: pass one for each data set.")
    if not np.isfinite(z).all():
        raise ValueError(
            f"differences[{int(np.argmin(np.isfinite(z)))}] is not a number: leave such data sets out."
        )
    half = number_between(rope, "rope", "[0, inf)")
    parameters = np.ones(len(z) + 1)
    parameters[0] = check_positive(strength, "strength")
    weights = check_random_state(seed, "seed").dirichlet(
        parameters, check_int(num_samples, "num_samples")
    )
    z = np.concatenate([[0.0], z])
    sums = z[:, None] + z
    sides = [side.astype(np.float64) for side in (sums < -2 * half, sums > 2 * half)]
    worse, better = (((weights @ side) * weights).sum(axis=1) for side in sides)
    # of equal shares the first wins: no difference, where nothing speaks for one
    wins = np.bincount(np.argmax([1 - worse - better, worse, better], axis=0), minlength=3) / len(
        weights
    )
    return SignedRank(worse=float(wins[1]), equivalent=float(wins[0]), better=float(wins[2]))
