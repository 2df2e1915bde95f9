"""The posterior density of any partition, under the model that an estimator was fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.two_level.chain import TwoLevelProblem
from bayesclust.models.joint import log_marginal_joint
from bayesclust.posterior.labels import as_labels
from bayesclust.posterior.tree import group
from bayesclust.typing import ArrayLike, FloatArray, IntArray


def check_partition(labels: ArrayLike, n_items: int) -> IntArray:
    """Return labels 0 to K - 1 of the items that an estimator was fitted to."""
    z = as_labels(labels, "labels").astype(np.int64)
    if len(z) != n_items:
        raise ValueError(
            f"labels has {len(z)} items, but {n_items} were clustered: pass one label for each of these."
        )
    return z


def _has_plain_clusters(estimator: Any) -> bool:
    return not isinstance(getattr(estimator, "_problem", None), TwoLevelProblem)


class JudgesPartitions:
    """What `TVClust` says of partitions that it did not find itself."""

    posterior_: Any
    _problem: TVClustProblem

    @available_if(_has_plain_clusters)
    def log_joint(self, labels: ArrayLike) -> float:
        """Return log p(labels, data, answers | base measure) of any partition of the items.

        Cluster parameters, the concentration and the noise of every source are integrated out,
        exactly. The learned hyper-parameters of the base measure, which are one for all clusters,
        stay at their posterior geometric means. So differences between partitions are differences
        of log posterior probability under that base measure, whoever found them; a draw's own
        `log_joint` in `sample_stats` is another thing, the density of everything drawn with it.
        Fits with ``cluster_model="mixture"`` have no such method: it would be a sum over all ways to make
        clusters of components.

        Parameters
        ----------
        labels : array-like of int, shape (n,)
            One label for each item that was clustered.

        Returns
        -------
        float
            In nats, and in the units of the data.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` was not called.
        ValueError, TypeError
            If it is not one whole number per item.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesclust as bc
        >>> X = np.r_[np.zeros((10, 1)), np.full((10, 1), 8.0)] + np.random.default_rng(0).normal(size=(20, 1))
        >>> est = bc.TVClust(num_chains=2, num_warmup=100, num_samples=100, random_state=0).fit(X)
        >>> bool(est.log_joint(np.repeat([0, 1], 10)) > est.log_joint(np.tile([0, 1], 10)))
        True
        """
        check_is_fitted(self)
        problem = self._problem
        z = check_partition(labels, problem.n_items)
        return log_marginal_joint(
            z,
            problem.family,
            constraints=problem.constraints,
            concentration=problem.concentration,
            hyper=self._usual_hyper(),
        )

    def _usual_hyper(self) -> FloatArray:
        """Geometric means over the draws; fixed ones as they are."""
        draws, hyper = group(self.posterior_, "posterior"), self._problem.family.initial_hyper()
        for j, prior in enumerate(self._problem.family.hyper_priors):
            if prior.log_sd > 0:
                hyper[j] = np.exp(np.log(draws[prior.name].values).mean())
        return hyper


__all__ = ["JudgesPartitions", "check_partition"]
