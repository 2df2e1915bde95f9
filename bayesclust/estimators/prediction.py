"""What a fitted posterior says about items that it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesclust.checks import check_int, check_items
from bayesclust.estimators.base import with_names
from bayesclust.inference.prediction import Prediction, with_shared
from bayesclust.inference.problem import TVClustProblem, TwoLevelProblem
from bayesclust.posterior.tree import group, stacked_partitions
from bayesclust.typing import ArrayLike, FloatArray, IntArray

MAX_DRAWS = 200


class PredictsNewItems:
    """Prediction by averaging over posterior draws, for estimators with `posterior_` and `labels_`.

    Every method takes `max_draws`: that many draws, evenly spaced over all chains, are used. With
    200 independent draws the standard error of a probability is at most about 0.035; the time grows
    with their number.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If `fit` was not called.
    ValueError, TypeError
        If the new items have other columns than those that were clustered, or are nothing that the
        family can model.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (20, 2)), rng.normal(8, 1, (20, 2))]
    >>> est = bc.TVClust(num_chains=2, num_warmup=100, num_samples=100, random_state=0).fit(X)
    >>> new = [[0.5, 0.5], [8.0, 7.5], [100.0, -100.0]]
    >>> bool(est.predict(new)[0] == est.labels_[0]), bool(est.predict(new)[1] == est.labels_[-1])
    (True, True)
    >>> (est.predict_novelty(new) > 0.5).tolist()
    [False, False, True]
    """

    posterior_: Any
    labels_: IntArray
    _problem: TVClustProblem

    def predict(self, X: ArrayLike, *, max_draws: int = MAX_DRAWS) -> IntArray:
        """Return the most probable cluster of each new item.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items, with the columns of the data that were clustered and in their units.
        max_draws : int, default 200
            Number of posterior draws to average over, at most.

        Returns
        -------
        ndarray of int, shape (m,)
            Clusters as in `labels_`. Of the data that were clustered too, they may differ from
            `labels_` where answers outweighed the data: nobody has answered questions about new
            items.
        """
        labels: IntArray = self.predict_proba(X, max_draws=max_draws).argmax(axis=1)
        return labels

    def predict_proba(self, X: ArrayLike, *, max_draws: int = MAX_DRAWS) -> FloatArray:
        """Return the probability of each cluster of `labels_`, given that the new item joins a cluster that exists.

        In a draw with clusters of sizes n_k, a new item x joins cluster k with weight n_k p(x |
        items of k) (under a Dirichlet process), and a cluster of a draw stands for those of `labels_` in proportion to its
        members. That x may belong to none of them is left to `predict_novelty`.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items.
        max_draws : int, default 200
            Number of posterior draws to average over, at most.

        Returns
        -------
        ndarray of shape (m, n_clusters_)
            Rows sum to 1.
        """
        prediction, rows = self._prediction(X, max_draws)
        return prediction.memberships(rows, self.labels_)

    def predict_novelty(self, X: ArrayLike, *, max_draws: int = MAX_DRAWS) -> FloatArray:
        """Return the probability that each new item opens a cluster of its own.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items; each is judged by itself.
        max_draws : int, default 200
            Number of posterior draws to average over, at most.

        Returns
        -------
        ndarray of shape (m,)
        """
        prediction, rows = self._prediction(X, max_draws)
        return prediction.novelty(rows)

    def predict_similarity(self, X: ArrayLike, *, max_draws: int = MAX_DRAWS) -> FloatArray:
        """Return the posterior probability that each new item shares a cluster with each item that was clustered.

        What `bayesclust.similarity_matrix` tells of two items of the data.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items.
        max_draws : int, default 200
            Number of posterior draws to average over, at most.

        Returns
        -------
        ndarray of shape (m, n)
        """
        prediction, rows = self._prediction(X, max_draws)
        return prediction.similarity(rows)

    def score_samples(self, X: ArrayLike, *, max_draws: int = MAX_DRAWS) -> FloatArray:
        """Return the log posterior predictive density of each new item.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items.
        max_draws : int, default 200
            Number of posterior draws to average over, at most.

        Returns
        -------
        ndarray of shape (m,)
            In nats and in the units of the data: per unit of every column that the family models
            (columns that were constant are left out), or the log probability of counts, their
            multinomial coefficient included.
        """
        prediction, rows = self._prediction(X, max_draws)
        return prediction.log_density(rows)

    def _prediction(self, X: ArrayLike, max_draws: int) -> tuple[Prediction, FloatArray]:
        """The draws to average over, and the new items in the family's coordinates."""
        check_is_fitted(self)
        number = check_int(max_draws, "max_draws")
        family = self._problem.family
        if _is_table(X):
            check_items(X, least=1, missing=family.takes_missing)
            validate_data(self, with_names(X), skip_check_array=True, reset=False)
        rows = family.transform(X)
        draws = group(self.posterior_, "posterior")
        every = draws["z"].values.reshape(-1, draws.sizes["item"])
        chosen = np.linspace(0, len(every) - 1, min(number, len(every))).round().astype(np.int64)
        z = stacked_partitions(every[chosen]).astype(np.int64)
        hyper = np.empty((len(chosen), len(family.hyper_priors)))
        for j, prior in enumerate(family.hyper_priors):
            hyper[:, j] = (
                draws[prior.name].values.ravel()[chosen] if prior.log_sd > 0 else prior.median
            )
        names = self._problem.partition_prior.parameters
        values = _rows(draws, chosen, {name: name for name in names})
        if not isinstance(self._problem, TwoLevelProblem):
            hyper = with_shared(family, z, hyper)
            return Prediction(family, z, values, hyper, self._problem.partition_prior), rows
        components = draws["component"].values.reshape(every.shape)[chosen].astype(np.int64)
        within = self._problem.within
        within_values = _rows(draws, chosen, {name: f"within_{name}" for name in within.parameters})
        hyper = with_shared(family, components, hyper)
        prior = self._problem.partition_prior
        return Prediction(family, z, values, hyper, prior, components, within, within_values), rows


def _rows(draws: Any, chosen: IntArray, names: dict[str, str]) -> list[dict[str, float]]:
    """Parameters of some draws, each a dict, from the variables named."""
    columns = {name: draws[variable].values.ravel()[chosen] for name, variable in names.items()}
    return [{name: float(column[s]) for name, column in columns.items()} for s in range(len(chosen))]


def _is_table(X: ArrayLike) -> bool:
    """Whether it has rows and columns to count; what has not is refused by the family, in a sentence."""
    try:
        return np.ndim(X) == 2
    except (TypeError, ValueError):
        return False


__all__ = ["PredictsNewItems"]
