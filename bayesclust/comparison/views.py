"""Fits without each view in turn: what each of them does to the posterior, and whether the others foresaw it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln
from sklearn.base import clone

from bayesclust.checks import check_constraints
from bayesclust.constraints.base import Constraints
from bayesclust.posterior.distances import posterior_distance
from bayesclust.posterior.labels import Labels
from bayesclust.posterior.losses import Loss
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import ArrayLike

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["leave_view_out"]

NOTHING = "categorical"
"""A family under which columns that are constant have probability one whatever the partition is."""


def leave_view_out(
    estimator: Any, X: ArrayLike, constraints: Any, *, loss: str | Loss = "vi"
) -> pd.DataFrame:
    """Fit again without each view in turn, the data being one of them, and tell whether they agree.

    Parameters
    ----------
    estimator : estimator with draws
        `TVClust` or `DCRC`, fitted to the data and the answers; copies with its settings are fitted
        without each view.
    X : array-like of shape (n, d)
        The data that it was fitted to.
    constraints : Constraints or list of Constraints
        The answers that it was fitted to.
    loss : str or Loss, default "vi"
        The distance between partitions, a metric.

    Returns
    -------
    pandas.DataFrame
        One row per view of answers, by the name of what is left out, and, for `TVClust`, a last row
        "data", of the answers alone under the prior of partitions:

        - n_clusters: of the point estimate without it;
        - distance: from the posterior with everything to that without it (`posterior_distance`:
          wasserstein, bits for VI);
        - self_distance: what that distance would be between equal posteriors;
        - right_with, right_without: share of the view's answers that partitions of the posterior
          agree with, if they have seen them and if not;
        - gain_over_marginal: log probability of all the view's answers by the posterior that has not seen them,
          the noise integrated out, less that under sources whose answers have nothing to do with
          the items, in nats per answer. Above 0, the others foresaw the answers; below 0, the
          answers are about something else;
        - finding: "agrees with the rest" where the gain is above 0, else "conflicts with the rest". For
          the data, of which no such gain can be told, missing.

    Raises
    ------
    TypeError, ValueError
        If the estimator has no draws or there are no answers to leave out.

    Notes
    -----
    The gain is an average over draws of p(answers | partition), to which a few draws may contribute
    most: with hundreds of answers of a view and a wide posterior without them it comes out too low.
    It is a lower bound in expectation, since the logarithm is concave; where it is above 0 the
    finding stands.

    Examples
    --------
    Answers that follow the clusters, and answers that cut across them:

    >>> import numpy as np
    >>> import bayesclust as bc
    >>> y, other = np.repeat([0, 1], 30), np.tile([0, 1], 30)
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + 5.0 * y[:, None]
    >>> along = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.05, seed=0, name="along")
    >>> across = bc.PairwiseConstraints.sample(other, size=40, error_rate=0.05, seed=0, name="across")
    >>> est = bc.TVClust(num_chains=2, num_warmup=100, num_samples=100, random_state=0)
    >>> est = est.fit(X, constraints=[along, across])
    >>> bc.leave_view_out(est, X, [along, across])["finding"].dropna().to_dict()
    {'along': 'agrees with the rest', 'across': 'conflicts with the rest'}
    """
    import pandas as pd

    if not hasattr(estimator, "posterior_"):
        raise TypeError(
            f"the estimator must have draws, and a {type(estimator).__name__} has none: fit a TVClust or a DCRC."
        )
    whole = stacked_partitions(estimator)
    views = check_constraints(constraints, whole.shape[1])
    if not views:
        raise ValueError(
            "there are no constraints to leave out: pass those that the estimator was fitted to."
        )
    rows = {}
    for view in views:
        fit = _again(estimator, X, [other for other in views if other is not view])
        rows[view.name] = _against(fit, whole, loss) | _foreseen(
            view, whole, stacked_partitions(fit)
        )
    if "family" in estimator.get_params(deep=False) and getattr(estimator, "gamma", None) is None:
        alone = clone(estimator).set_params(family=NOTHING)
        rows["data"] = _against(_again(alone, np.zeros((whole.shape[1], 1)), views), whole, loss)
    return pd.DataFrame.from_dict(rows, orient="index")


def _again(estimator: Any, X: ArrayLike, views: list[Constraints]) -> Any:
    return clone(estimator).fit(X, constraints=views or None)


def _against(fit: Any, whole: Labels, loss: str | Loss) -> dict[str, Any]:
    """How the posterior without a view differs from that with everything."""
    apart = posterior_distance(whole, fit, loss=loss)
    return {
        "n_clusters": fit.n_clusters_,
        "distance": apart.wasserstein,
        "self_distance": apart.self_distance,
    }


def _foreseen(view: Constraints, whole: Labels, rest: Labels) -> dict[str, Any]:
    """What partitions that have not seen the answers say of them."""
    with_it, without = (float((view.truths(z) == view.answers).mean()) for z in (whole, rest))
    log_p = np.array([view.noise.log_marginal(view.counts(z)) for z in rest])
    gain = (np.logaddexp.reduce(log_p) - np.log(len(rest)) - _by_habit(view)) / max(len(view), 1)
    finding = "agrees with the rest" if gain > 0 else "conflicts with the rest"
    return {
        "right_with": with_it,
        "right_without": without,
        "gain_over_marginal": float(gain),
        "finding": finding,
    }


def _by_habit(view: Constraints) -> float:
    """Log probability of the answers where each source gives each with an unknown probability, uniform beforehand."""
    times = (
        np.bincount(view.codes, minlength=view.n_sources * view.n_answers).reshape(
            view.n_sources, -1
        )
        + 1.0
    )
    return float(
        (gammaln(times).sum(axis=1) - gammaln(times.sum(axis=1)) + gammaln(view.n_answers)).sum()
    )
