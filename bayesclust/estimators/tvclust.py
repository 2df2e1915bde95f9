"""TVClust as a scikit-learn estimator."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import Any, Self

from numpy.random import Generator

from bayesclust.checks import (
    check_choice,
    check_int,
    check_items,
    check_random_state,
    check_threads,
)
from bayesclust.constraints._checks import plain_array, true_labels
from bayesclust.estimators._checkpoint import open_store, run_seed
from bayesclust.estimators._draws import check_room, draw_dims, draws_tree
from bayesclust.estimators._joint import JudgesPartitions
from bayesclust.estimators._means import MeansClusterer
from bayesclust.estimators._path import PathMixin
from bayesclust.estimators._samplers import ONE_BY_ONE, VARIATIONAL, chain_starts, check_sampler
from bayesclust.estimators._variational import VariationalMixin, check_variational
from bayesclust.estimators._views import AUTO, Pieces, bind_families, check_cluster_model, settle
from bayesclust.estimators.prediction import PredictsNewItems
from bayesclust.families import Family, get_family
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.runner import Draws, Schedule, run_chains
from bayesclust.inference.schedule import Moves
from bayesclust.inference.variational.settings import VariationalSettings
from bayesclust.models.priors import Concentration
from bayesclust.posterior.losses import as_loss
from bayesclust.posterior.partition import point_estimate
from bayesclust.typing import ArrayLike, FloatArray, IntArray


class TVClust(PredictsNewItems, JudgesPartitions, VariationalMixin, PathMixin):
    """Dirichlet-process mixture with side information: the posterior over partitions given data and doubtful answers.

    Parameters
    ----------
    sampler : {"collapsed", "gibbs", "blocked", "variational"} or class, default "collapsed"
        "collapsed": Neal's (2000) Algorithm 3 with side information and split-merge moves; cluster
        parameters are integrated out. "gibbs": the paper's own sampler (Neal's Algorithm 2), which
        draws the parameters in every sweep; cheap sweeps, but it moves single items alone, and so
        can sit in a bad start unless `moves` gives it the moves of the collapsed sampler.
        "variational": no sampler but mean field (Blei and Jordan 2006), much faster; it finds one
        mode, and understates what else is possible. Or one's own, a subclass of
        `inference.collapsed.CollapsedChain`.
    family : str or Family, default "gaussian"
        Likelihood of a cluster: "gaussian" (full covariance), "gaussian_tied" (one for all
        clusters: for many columns), "gaussian_diagonal", "gaussian_spherical", "multinomial",
        "bernoulli", "poisson", "categorical", "mixed" (columns in families of their kinds, which
        `describe_columns` tells), or an object of `bayesclust.families`. Its base measure is learned
        unless fixed there, in units of the data: shifts and changes of unit of columns change no
        Gaussian fit.
    cluster_model : {"single", "mixture", "auto"}, default "single"
        What a cluster is: one component of the family, or ("mixture", for "collapsed") a
        Dirichlet-process mixture of them. Classes are seldom ellipses. Where they are not, a single
        component splits, and the answers that hold the class together are dismissed as noise; in a
        mixture answers group components instead of fighting them. "auto" tries models and powers in
        short runs, beside "gaussian" also "mixed" where many items share a value, and
        "gaussian_tied" and "gaussian_diagonal" of more than 20 columns, and takes what predicts
        each answer best from the others; labels have no part in it.
    power : float in (0, 1] or None, default None
        What an item weighs in the likelihood: below 1, the data are asked to fit the model only
        roughly (Miller and Dunson 2019), so that wrong tails and shapes do not outweigh the
        answers. The posterior is then that of a model of fewer items, and its uncertainty is wider.
        None is 1, or what "auto" finds.
    within_concentration : float or (shape, rate), default (1.0, 10.0)
        Only "mixture": concentration of the components within a cluster, or its Gamma prior.
    concentration : float or (shape, rate), default (1.0, 1.0)
        alpha, or the Gamma prior under which it is sampled (Escobar and West 1995). The default has
        mean 1; answers and data soon outweigh it.
    num_chains : int, default 4
        Chains, from dispersed starts. Fewer than two make `bayesclust.diagnose` blind.
    num_warmup : int, default 500
        Sweeps before the first draw, during which proposals adapt.
    num_samples : int, default 1000
        Draws per chain.
    thinning : int, default 1
        Sweeps from one draw to the next.
    loss : str or loss, default "vi"
        Loss whose posterior expectation `labels_` minimises: "vi", "binder" or a value from
        `bayesclust.losses`.
    init : "dispersed" or array of shape (n,), default "dispersed"
        Starting partitions: k-means++ partitions into 3, 6, 12, 24 clusters, or one partition for
        all chains.
    moves : Moves or None, default None
        What a sweep consists of; None chooses by the number of items.
    variational : VariationalSettings or None, default None
        How "variational" searches; None takes the defaults.
    gamma : float or None, default None
        Put the model on the way to its small-variance limit, for "collapsed" and "gibbs": an item
        weighs gamma, in units of one over the limit's divergence (Gaussian clusters of variance 1 /
        (2 gamma)), and family, concentration and noise are what the limit says; nothing but the
        partition is learned. `bayesclust.limit_path` follows many gammas.
    limit : RDPMeans or None, default None
        The limit that gamma leads to, which gives lambda, xi and the divergence; it is fitted first
        if it is not yet. None is `RDPMeans` with its defaults and the same `random_state`.
    n_jobs : int or None, default None
        Threads; None takes one per chain, at most one per processor. It does not change the draws.
    progress : bool, default True
        Show a progress bar in terminals and notebooks.
    random_state : int, Generator or None, default None
        The same integer gives the same draws.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        Draws in ArviZ's groups: z, n_clusters, concentration, base-measure and noise parameters in
        `posterior`; log_joint, moved and split_merge_accept in `sample_stats`; `observed_data`; the
        answers in `constant_data`.
    labels_ : ndarray of shape (n,)
        The partition of least expected loss, labels 0..K-1.
    n_clusters_ : int
        Number of clusters in `labels_`.
    n_features_in_ : int
        Number of columns of the data.
    cluster_model_, power_, family_ : str, float, str
        As used.
    model_scores_ : pandas.DataFrame
        With ``cluster_model="auto"`` how well each cluster model predicted the answers, else None.
    limit_ : RDPMeans
        Only with `gamma`: the limit, fitted.
    responsibilities_ : ndarray of shape (n, K)
        Only "variational": probability of each component for each item, the first columns being the
        clusters of `labels_`, which are the items' most probable components (`loss` is not used).
    bound_ : float
        Only "variational": lower bound on the log evidence of data and answers, in the user's
        units. Learned hyper-parameters of the base measure are point values, and their log prior is
        part of it.
    bound_path_ : ndarray
        Only "variational": the bound after each sweep and accepted move; it never falls.
    converged_ : bool
        Only "variational".

    Warns
    -----
    ConvergenceWarning, TiedColumnsWarning
        If "variational" ends before its bound settles; if Gaussian clusters meet columns in which
        many items share a value.

    Raises
    ------
    ValueError, TypeError
        From `fit`, before any computing, in one sentence: what was got, where, and what to do.

    References
    ----------
    Khashabi, Wieting, Liu, Liang: Clustering With Side Information. Eq. 8 is the model; Eq. 13,
    with the parameters integrated out, is the site update.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (20, 2)), rng.normal(8, 1, (20, 2))]
    >>> links = bc.PairwiseConstraints.from_lists(must_link=[(0, 1)], cannot_link=[(0, 39)], n_items=40)
    >>> est = bc.TVClust(num_chains=2, num_warmup=100, num_samples=100, random_state=0).fit(X, constraints=links)
    >>> est.n_clusters_
    2
    """

    def __init__(
        self,
        sampler: str | type[CollapsedChain] = "collapsed",
        *,
        family: str | Family = "gaussian",
        cluster_model: str = "single",
        power: float | None = None,
        concentration: float | tuple[float, float] = (1.0, 1.0),
        within_concentration: float | tuple[float, float] = (1.0, 10.0),
        num_chains: int = 4,
        num_warmup: int = 500,
        num_samples: int = 1000,
        thinning: int = 1,
        loss: Any = "vi",
        init: str | ArrayLike = "dispersed",
        moves: Moves | None = None,
        variational: VariationalSettings | str | None = None,
        gamma: float | None = None,
        limit: MeansClusterer | None = None,
        n_jobs: int | None = None,
        progress: bool = True,
        random_state: int | Generator | None = None,
    ) -> None:
        self.sampler = sampler
        self.family = family
        self.cluster_model = cluster_model
        self.power = power
        self.concentration = concentration
        self.within_concentration = within_concentration
        self.num_chains = num_chains
        self.num_warmup = num_warmup
        self.num_samples = num_samples
        self.thinning = thinning
        self.loss = loss
        self.init = init
        self.moves = moves
        self.variational = variational
        self.gamma = gamma
        self.limit = limit
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Sample the posterior, or fit the mean field.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The items. Missing cells (NaN) are left out of the likelihood by the families that can
            do so.
        y : ignored
        constraints : Constraints, list of Constraints or None
            Answers about the items, of any kinds.
        checkpoint : str, path or None, default None
            A zarr directory to which draws go as they come. After a kill or an interrupt the same
            call goes on from there, and its result is bit for bit that of a run never stopped; with
            a larger `num_samples` it goes on to the longer run. With ``random_state=None`` the seed
            that was drawn is kept there too; a Generator must be in the state that it was in at the
            first call. A kill costs a few seconds of work. `xarray.open_datatree` reads the
            directory, also while the run goes on.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Also if the checkpoint is damaged or of another run (data, answers, version, any setting
            but `num_samples`, `loss`, `n_jobs` and `progress`), naming what differs.
        """
        schedule, settings = self._check_settings(), check_variational(self.variational)
        loss = as_loss(self.loss)
        if checkpoint is not None and self.sampler == VARIATIONAL:
            raise ValueError(
                "checkpoint keeps the draws of chains, and sampler='variational' has none: leave it out."
            )
        random_state = (
            self.random_state if checkpoint is None else run_seed(self.random_state, checkpoint)
        )
        items, problem = self._pose(X, constraints, random_state)
        check_room(problem.n_items, self.num_chains, schedule.num_samples)
        store = open_store(
            checkpoint,
            self._settings(),
            items,
            problem.constraints,
            random_state,
            draw_dims(problem.constraints),
        )
        seed = check_random_state(random_state)
        if self.sampler == VARIATIONAL:
            shape = (self.num_chains, schedule.num_samples)
            drawn = self._maximise(problem, settings, self._start(problem.n_items), shape, seed)
            self._problem = problem
            self.posterior_ = draws_tree(
                Draws(drawn, {}, False), problem.constraints, items, self._settings()
            )
            return self
        given, rngs = self._start(problem.n_items), seed.spawn(self.num_chains)
        starts = chain_starts(self.sampler, problem, given, self.moves, rngs)
        draws = run_chains(
            starts,
            schedule,
            progress=self.progress,
            n_jobs=self.n_jobs,
            checkpoint=store,
            spread=True,
        )
        self._problem = problem
        self.posterior_ = draws_tree(draws, problem.constraints, items, self._settings())
        self.labels_: IntArray = point_estimate(
            self.posterior_, loss=loss, seed=int(seed.integers(2**31))
        )
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with suppress(TypeError, ValueError):  # a family that is none is refused by fit
            tags.input_tags.allow_nan = get_family(self.family).takes_missing
        return tags

    def _pose(
        self, X: ArrayLike, constraints: Any, random_state: int | Generator | None
    ) -> tuple[FloatArray, TVClustProblem]:
        """Check the data, and say what is to be sampled."""
        if self.gamma is not None:
            items, model = self._on_path(X, constraints, random_state)
            return items, model.problem
        family, concentration = get_family(self.family), Concentration.parse(self.concentration)
        within = Concentration.parse(self.within_concentration, "within_concentration")
        items, views = self._enter(
            X, constraints, partial(check_items, missing=family.takes_missing), kinds=None
        )
        several = self.cluster_model == AUTO and any(map(len, views))
        pieces = Pieces(
            bind_families(self.family, items, several=several), tuple(views), concentration, within
        )
        choice, self.model_scores_ = settle(pieces, items, self._settings(), random_state)
        self.cluster_model_, self.power_, self.family_ = choice
        return items, pieces.problem(choice)

    def _check_settings(self) -> Schedule:
        check_sampler(self.sampler, self.moves)
        check_cluster_model(self.cluster_model, self.power, self.sampler, self.gamma)
        self._check_gamma(tuple(ONE_BY_ONE))
        check_int(self.num_chains, "num_chains")
        check_threads(self.n_jobs)
        return Schedule(
            check_int(self.num_warmup, "num_warmup", least=0),
            check_int(self.num_samples, "num_samples"),
            check_int(self.thinning, "thinning"),
        )

    def _start(self, n_items: int) -> IntArray | None:
        """The partition given to start from; None for dispersed ones."""
        if isinstance(self.init, str):
            check_choice(self.init, "init", ("dispersed",))
            return None
        labels = plain_array(self.init, "init", "pass one label per item")
        if labels.shape != (n_items,):
            raise ValueError(
                f"init has shape {labels.shape}, but X has {n_items} items: pass one label per item, or 'dispersed'."
            )
        return true_labels(labels, least=1, what="init")
