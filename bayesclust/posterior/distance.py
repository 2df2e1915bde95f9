"""How far two posteriors over partitions of the same items are apart."""

from __future__ import annotations

from typing import Any, NamedTuple

from scipy.optimize import linear_sum_assignment

from bayesclust.checks import check_int
from bayesclust.posterior.losses import Loss, check_metric, pairwise_losses
from bayesclust.posterior.tree import Labels, evenly_spread, stacked_partitions


class PosteriorDistance(NamedTuple):
    """How far two posteriors are apart, in units of the loss (bits for VI).

    Parameters
    ----------
    wasserstein, self_distance : float
        Mean loss between draws of the two under their best matching, and the same between the two
        halves of the draws (or chains) of one posterior, the larger of the two. Where the first is
        not above the second, the posteriors cannot be distinguished.
    """

    wasserstein: float
    self_distance: float


def posterior_distance(
    first: Any, second: Any, *, loss: str | Loss = "vi", num_draws: int = 200
) -> PosteriorDistance:
    """Return how far two posteriors over partitions of the same items are apart.

    The main number is the Wasserstein distance with a loss between partitions as ground metric
    (Balocchi and Wade 2025, arXiv 2506.16295): the least mean loss at which draws of one can be
    turned into draws of the other.

    Parameters
    ----------
    first, second : DataTree, estimator or array of int of shape (draws, n) or (chain, draw, n)
        Posterior draws of the partition, at least four of each.
    loss : str or Loss, default "vi"
        The distance between two partitions, a metric.
    num_draws : int, default 200
        Draws of each that take part, evenly spread, at most. Time grows with its square times n.

    Returns
    -------
    PosteriorDistance

    Examples
    --------
    >>> import bayesclust as bc
    >>> sure = [[0, 0, 1, 1]] * 8
    >>> torn = [[0, 0, 1, 1], [0, 0, 0, 0]] * 4
    >>> bc.posterior.posterior_distance(sure, torn)
    PosteriorDistance(wasserstein=0.5, self_distance=0.0)
    """
    metric = check_metric(loss, "a distance of posteriors")
    most = check_int(num_draws, "num_draws", least=2)
    pair = (stacked_partitions(first), stacked_partitions(second))
    if pair[0].shape[1] != pair[1].shape[1]:
        raise ValueError(
            f"the first posterior is about {pair[0].shape[1]} items and the second about "
            f"{pair[1].shape[1]}: compare posteriors over the same items."
        )
    fewest = min(map(len, pair))
    if fewest < 4:
        raise ValueError(
            f"{fewest} draws are too few to know how they vary: pass at least four of each."
        )
    m = min(most, fewest // 2)

    def matched(one: Labels, other: Labels) -> float:
        """Mean loss of draws under their best matching."""
        chosen = (z[evenly_spread(m, len(z))] for z in (one, other))
        losses = pairwise_losses(metric, *chosen)
        return float(losses[linear_sum_assignment(losses)].mean())

    # the first and the last chains, or the first and the last draws of a single one
    own = [matched(z[: len(z) // 2], z[len(z) // 2 :]) for z in pair]
    return PosteriorDistance(matched(*pair), max(own))
