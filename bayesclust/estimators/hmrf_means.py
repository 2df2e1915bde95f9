"""The posterior behind MPCK-Means, sampled, as a scikit-learn estimator."""

from __future__ import annotations

import dataclasses
import os
from functools import partial
from importlib.metadata import version
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from bayesclust.checks import check_int, check_n_clusters, check_random_state, check_threads
from bayesclust.estimators._checkpoint import open_store, run_seed
from bayesclust.estimators._draws import check_room
from bayesclust.estimators.base import ConstrainedClusterer
from bayesclust.inference.hmrf import FieldProblem, HMRFChain
from bayesclust.inference.runner import Schedule, run_chains
from bayesclust.inference.starts import seeded_partition
from bayesclust.models.hmrf import Field, check_field_data
from bayesclust.posterior.losses import as_loss
from bayesclust.posterior.partition import point_estimate
from bayesclust.posterior.tree import to_datatree
from bayesclust.typing import ArrayLike, IntArray


class HMRFMeans(ConstrainedClusterer):
    """MPCK-Means with its uncertainty: Gibbs sampling of the hidden Markov random field whose energy is its objective.

    The posterior of labels z, centres m and metrics A is proportional to exp(-J / T) times a wide
    prior of the centres, J being the objective of `MPCKMeans` (Bilenko et al. 2004, Eq. 6). At T =
    2 clusters are Gaussians with covariance A^(-1); as T goes to 0 the sweeps turn into MPCK-Means.

    Parameters
    ----------
    n_clusters : int, default 3
        K. Draws may leave clusters without items.
    metric : {"diagonal", "full"} or None, default "diagonal"
        None is the field of `PCKMeans`: Euclidean distance in the units of X.
    per_cluster : bool, default False
    temperature : float, default 2.0
    cost : float or (float, float), default 1.0
        w, what breaking an answer costs in J; or (of answers "same", of answers "different").
    prior_items : float, default 1.0
        How many items' worth of the prior each metric is the inverse covariance of all items.
    center_scale : float, default 3.0
        Standard deviation of the prior of a centre, in those of the items.
    num_chains : int, default 4
    num_warmup : int, default 500
        Sweeps of each chain that are not kept.
    num_samples : int, default 1000
        Draws kept of each chain.
    loss : str or loss, default "vi"
        Of the point estimate.
    progress : bool, default True
    n_jobs : int or None, default None
        Threads; None takes as many as there are chains, at most the number of processors.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    posterior_ : xarray.DataTree
        In ArviZ's groups: z, n_clusters, center and metric, clusters numbered in the order in which
        items show them; statistics log_joint, energy (J), moved (items) and kept (metrics that
        rejection left where they were).
    labels_ : (n,) array of int
        The partition of least expected loss.
    n_clusters_ : int
        Of `labels_`.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> y = np.repeat([0, 1], 15)
    >>> X = np.random.default_rng(0).normal(size=(30, 2)) + 5.0 * y[:, None]
    >>> links = bc.PairwiseConstraints.sample(y, size=20, seed=0)
    >>> est = bc.HMRFMeans(2, num_chains=2, num_warmup=50, num_samples=50, random_state=0).fit(X, constraints=links)
    >>> bc.metrics.pairwise_f(est.labels_, y), bc.similarity_matrix(est).shape
    (1.0, (30, 30))
    """

    def __init__(
        self,
        n_clusters: int = 3,
        metric: str | None = "diagonal",
        per_cluster: bool = False,
        *,
        temperature: float = 2.0,
        cost: float | tuple[float, float] = 1.0,
        prior_items: float = 1.0,
        center_scale: float = 3.0,
        num_chains: int = 4,
        num_warmup: int = 500,
        num_samples: int = 1000,
        loss: Any = "vi",
        progress: bool = True,
        n_jobs: int | None = None,
        random_state: int | Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.temperature = temperature
        self.cost = cost
        self.prior_items = prior_items
        self.center_scale = center_scale
        self.num_chains = num_chains
        self.num_warmup = num_warmup
        self.num_samples = num_samples
        self.loss = loss
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Sample, and estimate a partition.

        Parameters
        ----------
        X : array-like of shape (n, d)
            No column may be constant; under a full metric none may follow from the others.
        y : ignored
        constraints : PairwiseConstraints, list of them or None, default None
        checkpoint : str, path or None, default None
            A zarr directory to which draws go as they come: after a kill the same call goes on from
            there, as for `TVClust`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Also if the checkpoint is damaged or of another run, naming what differs.
        """
        field, k, chains = (
            self._field(),
            check_int(self.n_clusters, "n_clusters"),
            check_int(self.num_chains, "num_chains"),
        )
        schedule = Schedule(
            check_int(self.num_warmup, "num_warmup", least=0),
            check_int(self.num_samples, "num_samples"),
        )
        check_threads(self.n_jobs)
        loss = as_loss(self.loss)
        random_state = (
            self.random_state if checkpoint is None else run_seed(self.random_state, checkpoint)
        )
        rng = check_random_state(random_state)
        items, views = self._enter(
            X, constraints, partial(check_field_data, field=field), kinds=("pairwise",)
        )
        check_n_clusters(k, len(items))
        check_room(len(items), chains, schedule.num_samples)
        dims = _dims(field)
        store = open_store(
            checkpoint, self.get_params(deep=False), items, views, random_state, dims
        )
        posed = FieldProblem.of(items, tuple(views), k, field)
        starts = [
            partial(HMRFChain, posed, seeded_partition(posed.problem.points, k, own), own)
            for own in rng.spawn(chains)
        ]
        draws = run_chains(
            starts, schedule, progress=self.progress, n_jobs=self.n_jobs, checkpoint=store
        )
        attrs = {
            "sampler": "hmrf",
            "settings": dataclasses.asdict(field) | {"n_clusters": k},
            "bayesclust_version": version("bayesclust"),
            "interrupted": int(draws.interrupted),
        }
        self.posterior_ = to_datatree(
            draws.posterior, draws.sample_stats, X=items, views=views, dims=dims, attrs=attrs
        )
        self.labels_: IntArray = point_estimate(self.posterior_, loss=loss)
        self.n_clusters_ = len(np.unique(self.labels_))
        return self

    def _field(self) -> Field:
        """The settings of the energy, checked."""
        if not isinstance(self.per_cluster, (bool, np.bool_)):
            raise TypeError(f"per_cluster must be True or False; got {self.per_cluster!r}.")
        pair = self.cost if isinstance(self.cost, (tuple, list)) else (self.cost, self.cost)
        if len(pair) != 2:
            raise TypeError(
                f"cost must be a number or a pair (same, different); got {self.cost!r}."
            )
        return Field(
            metric=self.metric,
            per_cluster=bool(self.per_cluster),
            temperature=self.temperature,
            same=pair[0],
            different=pair[1],
            prior_items=self.prior_items,
            center_scale=self.center_scale,
        )


def _dims(field: Field) -> dict[str, tuple[str, ...]]:
    """What the dimensions of centres and metrics are called."""
    dims: dict[str, tuple[str, ...]] = {"center": ("cluster", "feature")}
    if field.metric is not None:
        width = ("feature",) if field.metric == "diagonal" else ("feature", "other_feature")
        dims["metric"] = ("cluster", *width) if field.per_cluster else width
    return dims
