"""TVClust as a scikit-learn estimator."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesclust import checks
from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.estimators import base, cluster_models, extension
from bayesclust.estimators.base import AUTO, SINGLE
from bayesclust.estimators.drawn import in_new_batches, some_draws, with_batches
from bayesclust.families import Family, Mixed, get_family
from bayesclust.families.columns import Words, read_words, refuse_names
from bayesclust.inference import runner
from bayesclust.inference.batches import BatchProblem
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.checkpoint import Checkpoint
from bayesclust.inference.dcrc.classifier import ClassifierPrediction, ClassifierProblem
from bayesclust.inference.limits.tuning import enough
from bayesclust.inference.prediction import FromTerms, Prediction
from bayesclust.inference.runner import Chain, Draws, Schedule, run_chains, tell
from bayesclust.inference.samplers import COLLAPSED, SAMPLERS, VARIATIONAL, Sampler, chain_starts
from bayesclust.inference.variational.fit import VariationalSettings, fit_variational
from bayesclust.inference.variational.mean_field import draw_mean_field
from bayesclust.models.joint import log_data
from bayesclust.partition_priors import Nested, PartitionPrior, as_nested
from bayesclust.posterior.diagnosis import arviz_functions
from bayesclust.posterior.labels import ItemClasses
from bayesclust.posterior.losses import as_loss
from bayesclust.posterior.point_estimate import keep_labels, point_estimate
from bayesclust.posterior.tree import WEIGHTS, as_labels, by_size, data_if_any, evenly_spread, group
from bayesclust.typing import ArrayLike, FloatArray, IntArray

LARGE = 5_000_000  # labels in all draws from which a point estimate takes a while
MAX_DRAWS = 200
"""Draws that predictions average over, at most."""


@dataclass(eq=False, repr=False)
class TVClust(base.SampledClusterer):
    """Dirichlet-process mixture with side information.

    The posterior over partitions given data and noisy constraints.

    Parameters
    ----------
    sampler : str, VariationalSettings or function, default "collapsed"
        "collapsed": Neal's (2000) Algorithm 3 with side information and split-merge moves; cluster
        parameters are integrated out. "gibbs": the paper's own sampler (Neal's Algorithm 2), with
        cheap sweeps that move single items alone unless `moves` gives it more. "blocked": all items
        at once, on all devices, for very many items (Walker's slices). "variational", or a
        `VariationalSettings`: mean field (Blei and Jordan 2006), much faster, but of one mode. Or a
        function like `inference.samplers.collapsed_chain`.
    family : str or Family, default "gaussian"
        Likelihood of a cluster: "gaussian" (full covariance), "gaussian_tied" (one for all
        clusters: for many columns), "gaussian_diagonal", "gaussian_spherical", "multinomial",
        "bernoulli", "poisson", "categorical", "von_mises_fisher" (directions, such as embeddings),
        "mixed" (columns in families of their kinds, which `describe_columns` tells, words of a
        DataFrame among them), or an object of `bayesclust.families`. The width of its base measure
        is learned, in units of the data, unless fixed there.
    cluster_model : {"auto", "single", "mixture"}, default "auto"
        What a cluster is: "single", one component of the family, or "mixture", a mixture of them,
        which constraints group, for classes that are not elliptical. "auto" compares both in short
        runs, as `model_scores_` shows, by how well four fifths of the constraints predict the rest,
        and those that come close by other fifths too: of more than 20 columns mixtures of principal
        components, of 20 also with power .7; where many items share a value, or rows have length
        one, family "mixed" or "von_mises_fisher" too; then classifiers (DCRC's data term), which
        have no density. With labels one of radial basis functions is tried, from five items a class
        on, and taken within a standard error of the best. A family but "gaussian" is kept. With
        fewer than 10 constraints, and for other samplers than "collapsed", "auto" is "single".
    power : float in (0, 1] or None, default None
        What an item weighs in the likelihood: below 1, the data need fit the model only roughly
        (Miller and Dunson 2019), so that wrong shapes do not outweigh the constraints. None is 1,
        or .7 where "auto" chooses it. Classifiers have none.
    partition_prior : PartitionPrior, Nested, str or None, default None
        Prior over partitions, of `bayesclust.partition_priors`, by value or by name:
        "dirichlet_process", "pitman_yor", "finite_mixtures", "microclustering". None is the
        Dirichlet process with a Gamma(1, 1) prior of its concentration, and for mixtures
        `Nested()`, under which outlying items do not form clusters. `Nested` gives the prior of the
        components within a cluster too. "blocked" and "variational" need sticks: they take neither
        `MixtureOfFiniteMixtures` nor `Microclustering`. Under a `HierarchicalDirichletProcess` a
        column of `X` tells the batch of each item, and "auto" is "single".
    num_chains : int, default 4
        Chains, from dispersed starts. `bayesclust.diagnose` needs at least two.
    num_warmup, thinning : int, default 500 and 1
        Sweeps before the first draw, during which proposals adapt, and from one draw to the next.
    num_samples : int or None, default None
        Draws per chain; None is 1000 up to 1000 items and then fewer, 500 of 2000 items and 250 of
        4000 or more, for which a sweep takes longer.
    loss : str or loss, default "vi"
        Loss whose posterior expectation `labels_` minimises.
    moves : Moves or None, default None
        What a sweep consists of; None chooses by the number of items.
    n_jobs : int or None, default None
        Threads, which do not change the draws; None takes one per chain, at most one per processor,
        and a single one for a small table.
    progress, random_state : bool, default True, and int, Generator or None
        Show a progress bar; the same integer gives the same draws.

    Attributes
    ----------
    posterior_ : xarray.DataTree
        Draws in ArviZ's groups: z, n_clusters, concentration, base-measure and noise parameters in
        `posterior`; log_joint, moved and split_merge_accept in `sample_stats`; `observed_data`; the
        constraints in `constant_data`.
    labels_ : ndarray of shape (n,)
        The partition of least expected loss: 0 is the largest cluster, ties go by first item.
    n_clusters_, n_features_in_ : int
    cluster_model_, power_, family_ : str, float, str
        As used; "classifier", 1 and "logistic" or, of labels, "radial" where "auto" took one.
    reduction_ : scikit-learn transformer or None
        What maps the columns to the principal components that "auto" took, if it did: densities are
        of these.
    model_scores_ : pandas.DataFrame
        With ``cluster_model="auto"`` and 10 constraints or more, else None: for each model that was
        tried, of d columns or components of them, how many constraints, or items with labels, were
        held out (held), their mean log probability (score), how far the best is ahead on these and
        the standard error of that, clusters found, processor seconds, and which was chosen.
    responsibilities_ : ndarray of shape (n, K)
        Only "variational": probability of each component for each item, first those of the clusters
        of `labels_`, which are the items' most probable components (`loss` is not used).
    bound_, bound_path_, converged_ : float, ndarray, bool
        Only "variational": lower bound on the log evidence of data and constraints, in the user's
        units, and the log prior of learned hyper-parameters, which are point values; the bound
        after each sweep and accepted move, which never falls; whether it settled.

    Notes
    -----
    Predictions average over at most 200 posterior draws, evenly spaced over all chains: if these
    are independent, the standard error of a probability is at most about 0.035.

    Warns
    -----
    DiagnosisWarning, ConvergenceWarning, TiedColumnsWarning
        If `diagnose` says not to trust the draws; if "variational" ends before its bound settles;
        if Gaussian clusters meet columns in which many items share a value.

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
    >>> links = bc.PairwiseConstraints.from_lists([(0, 1)], [(0, 39)], n_items=40)
    >>> short = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "random_state": 0}
    >>> est = bc.TVClust(**short).fit(X, constraints=links)
    >>> est.n_clusters_
    2
    >>> new = [[0.5, 0.5], [8.0, 7.5], [100.0, -100.0]]
    >>> bool(est.predict(new)[0] == est.labels_[0]), bool(est.predict(new)[1] == est.labels_[-1])
    (True, True)
    >>> (est.predict_novelty(new) > 0.5).tolist()
    [False, False, True]
    """

    sampler: str | Sampler | VariationalSettings = COLLAPSED
    _: KW_ONLY
    family: str | Family = "gaussian"
    cluster_model: str = AUTO
    power: float | None = None
    partition_prior: PartitionPrior | Nested | str | None = None
    num_chains: int = 4
    num_warmup: int = 500
    num_samples: int | None = None
    thinning: int = 1
    loss: Any = "vi"
    moves: Moves | None = None
    n_jobs: int | None = None
    progress: bool = True
    random_state: int | Generator | None = None

    def fit(
        self,
        X: ArrayLike | None,
        y: object = None,
        *,
        constraints: Any = None,
        init: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Sample the posterior, or fit the mean field.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The items; a sparse matrix is made dense. Missing cells (NaN) are left out of the
            likelihood by the families that can do so. None: constraints are all that is known.
        y : ignored
        constraints : Constraints, list of Constraints or None
            Side information about the items, of any kinds.
        init : labels of shape (n,), fitted estimator, posterior or None, default None
            One starting partition for all chains: labels, those of a fitted estimator, or the point
            estimate of a posterior. None: dispersed ones, by k-means++ into 3, 6, 12 and 24
            clusters, or up to four times as many where "auto" takes principal components; under
            `CandidateLinks` parts that the best answers connect.
        checkpoint : str, path or None, default None
            A zarr directory to which draws go as they come, readable by `xarray.open_datatree`.
            After a kill or an interrupt the same call resumes there, bitwise identical to a run
            never stopped, with a larger `num_samples` to the longer run. A Generator as
            `random_state` must be in the state of the first call.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Also if the checkpoint is damaged or of another run (data, constraints, version, any
            setting but `num_samples`, `loss`, `n_jobs` and `progress`), naming what differs.
        """
        clock = perf_counter()
        arviz_functions()  # here, as other threads may be about to fit
        schedule = self._check_settings()
        if checkpoint is not None and self._is_variational:
            raise ValueError(
                "checkpoint keeps the draws of chains, and sampler='variational' has none: "
                "leave it out."
            )
        if checkpoint is not None and re.search("<lambda>| at 0x", self._settings()["sampler"]):
            raise ValueError(
                "a checkpoint knows a sampler by its name, and this one has none: define it by def."
            )
        seed = base.run_seed(self.random_state, checkpoint)
        items, given = self._read(X, y, constraints)
        as_nested(self.partition_prior).among.check_use(
            len(items),
            collapsed=self.sampler == COLLAPSED,
            mixture=self.cluster_model == base.MIXTURE,
            moves=self.moves is not None,
        )
        if self.num_samples is None:
            schedule = replace(schedule, num_samples=runner.usual_draws(len(items)))
        settings = self._settings()
        if self._batches is not None:
            settings["batches"] = self._batches.astype(str)
        amount = len(items), self.num_chains, schedule.num_samples
        runner.check_draws_fit_in_memory(*amount, weights=self._batches is not None)
        start = base.start_labels(init, len(items), self._names[0])
        store = base.open_checkpoint(checkpoint, settings | {"init": start}, items, given, seed)
        problem = self._pose(items, given, seed, store=store)
        rng = checks.check_random_state(seed)
        if self._is_variational:
            draws = self._maximise_bound(problem, start, schedule.num_samples, rng)
        else:
            sampler: Any = self.sampler
            rngs = rng.spawn(self.num_chains)
            finer = self.reduction_ is not None
            chains = chain_starts(sampler, problem, start, self.moves, rngs, finer=finer)
            how = self._how(items)
            if sampler in list(SAMPLERS) and not isinstance(problem, ClassifierProblem):
                chains, schedule = base.search(chains, schedule, store, **how)
            draws = run_chains(chains, schedule, checkpoint=store, spread=True, **how)
        self._conclude(draws, problem, items, clock)
        return self

    def extend(
        self,
        X: ArrayLike | None = None,
        *,
        constraints: Any = None,
        num_warmup: int | None = None,
        num_samples: int | None = None,
    ) -> Self:
        """Continue the chains with more items, more answers or both, at a tenth of a fit's cost.

        Each chain continues from its last draw, new items where this predicts them; model, family,
        principal components and base measure stay as the fit chose them, and settings of the
        estimator as they are. `posterior_` and what follows from it are then of all items.

        Parameters
        ----------
        X : array-like of shape (m, d) or None, default None
            New items, numbered from n, with the columns of the data.
        constraints : Constraints, list of Constraints or None
            Further ones, on all n + m items. Those of the kind and name of earlier ones add to
            these, with the same sources by name or number.
        num_warmup, num_samples : int or None, default None
            Sweeps before the first draw, and draws of each chain; None is a fortieth of the fit's
            and a sixteenth, at least 50. Items or answers that overthrow the partition need more.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If nothing is new, for "variational", and if added constraints change a noise model.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesclust as bc
        >>> rng = np.random.default_rng(0)
        >>> X = np.r_[rng.normal(0, 1, (20, 2)), rng.normal(8, 1, (20, 2))]
        >>> short = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "random_state": 0}
        >>> est = bc.TVClust(**short).fit(X)
        >>> links = bc.PairwiseConstraints.from_lists([(0, 40)], [(1, 41)], n_items=42)
        >>> est = est.extend([[0.2, 0.1], [7.9, 8.3]], constraints=links, num_samples=50)
        >>> bool(est.labels_[40] == est.labels_[0]), bool(est.labels_[41] == est.labels_[0])
        (True, False)
        """
        clock = perf_counter()
        check_is_fitted(self)
        usual = self._check_settings()
        if self.num_samples is None:
            usual = replace(usual, num_samples=runner.usual_draws(self._problem.n_items))
        schedule = extension.shorter(usual, num_warmup, num_samples)
        extension.check_chains(self._problem, variational=self._is_variational)
        if X is None and constraints is None:
            raise ValueError("there is nothing new: pass X, constraints or both.")
        items = data_if_any(self.posterior_)
        if items is None:
            items = np.full((self._problem.n_items, 1), np.nan)
        rows = batches = None
        names = self._names
        if X is not None:
            new, rows, batches = self._read_new(X)
            names = extension.longer_names(names, X, len(items), len(new))
            items = np.concatenate([items, new])
        needs = base.needs_of(self.sampler)
        extension.refuse_labels_as_pairs(constraints, needs)
        given = check_constraints(constraints, len(items), needs=needs, names=names[0])
        seed = int(checks.check_random_state(self.random_state).integers(2**31))
        rng = np.random.default_rng([seed, len(items), sum(map(len, given))])
        problem = extension.extended(self._problem, items, rows, given, rng, batches)
        draws = group(self.posterior_, "posterior")
        last = np.arange(1, draws.sizes["chain"] + 1) * draws.sizes["draw"] - 1
        ends = in_new_batches(self._draws_at(last), self._problem, batches, extends=True)
        chains = extension.chains(self.sampler, problem, ends, draws, self.moves, rng)
        how = self._how(items)
        found = run_chains(chains, schedule, spread=True, title="{}, going on", **how)
        self._names = names
        self._conclude(found, problem, items, clock)
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of each cluster of `labels_`, if the new item joins one of them.

        In a draw with clusters of sizes n_k, a new item x joins cluster k with weight n_k p(x |
        items of k), and a cluster of a draw stands for those of `labels_` in proportion to its
        members.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m, n_clusters_)
            Rows sum to 1.
        """
        prediction, rows = self._prediction(X)
        return prediction.memberships(rows, self.labels_)

    def predict_label_proba(self, X: ArrayLike | None = None, *, none: bool = False) -> Any:
        """Return the probability of each class of items, given `LabelConstraints` of some of them.

        An item has the class of its cluster, about which the labels in the cluster are evidence. A
        cluster without labels, a new one too, mostly has the class of those with labels that its
        items would join otherwise.

        Parameters
        ----------
        X : array-like of shape (m, d) or None, default None
            New items; None is those of the fit.
        none : bool, default False
            Add a column "none", for clusters without a class. Otherwise items have one.

        Returns
        -------
        pandas.DataFrame of shape (m, n_classes)
            Columns are the classes in words; rows sum to 1.

        Examples
        --------
        >>> import bayesclust as bc
        >>> X = [[9.0 * (i > 8) + i / 18] for i in range(18)]
        >>> labels = bc.LabelConstraints([(0, "cat"), (1, "cat"), (9, "dog"), (12, "dog")], 18)
        >>> short = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "random_state": 0}
        >>> est = bc.TVClust(**short).fit(X, constraints=labels)
        >>> est.predict_label_proba().idxmax(axis=1).tolist() == ["cat"] * 9 + ["dog"] * 9
        True
        """
        check_is_fitted(self)
        checks.check_flag(none, "none")
        if X is None:
            classes = ItemClasses(self.posterior_, self.spread_draws(MAX_DRAWS))
            return classes.table(classes.of_items(), none, self._names[0])
        drawn, rows = self._prediction(X)
        return (classes := ItemClasses(self.posterior_, drawn)).table(classes.of_new(rows), none)

    def predict_novelty(self, X: ArrayLike) -> FloatArray:
        """Return the probability that each new item opens a cluster of its own.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items, each by itself.

        Returns
        -------
        ndarray of shape (m,)
        """
        prediction, rows = self._prediction(X)
        return prediction.novelty(rows)

    def predict_similarity(self, X: ArrayLike) -> FloatArray:
        """Return the probability that each new item shares a cluster with each clustered item.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m, n)
        """
        prediction, rows = self._prediction(X)
        return prediction.similarity(rows)

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Return the log posterior predictive density of each new item.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m,)
            In nats and in the units of the data, without constant columns; the log probability of
            counts includes their multinomial coefficient.
        """
        prediction, rows = self._prediction(X)
        return prediction.log_density(rows)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return the mean of `score_samples` over items (m, d); y is ignored."""
        return float(self.score_samples(X).mean())

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return how probably each item shares a cluster with the items of each of `labels_`.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m, n_clusters_), or what `set_output` asks for
            Means of `predict_similarity` over the items of a cluster. Rows need not sum to 1.
        """
        members = np.eye(self.n_clusters_)[self.labels_]
        return self.predict_similarity(X) @ (members / members.sum(axis=0))

    @available_if(
        lambda self: (
            getattr(self, "cluster_model_", SINGLE) == SINGLE
            and getattr(getattr(self, "_problem", None), "has_log_joint", True)
        )
    )
    def log_joint(self, labels: ArrayLike) -> float:
        """Return log p(labels, data, constraints | base measure) of any partition of the items.

        Cluster parameters, those of the partition prior and the noise of every source are
        integrated out; learned hyper-parameters of the base measure stay at their posterior
        geometric means. Only ``cluster_model="single"`` without class labels, batches or hard
        queries has it.

        Parameters
        ----------
        labels : array-like of int, shape (n,)

        Returns
        -------
        float
            In nats, and in the units of the data.
        """
        check_is_fitted(self)
        problem = self._problem
        draws, hyper = group(self.posterior_, "posterior"), problem.family.initial_hyper()
        for j, prior in enumerate(problem.family.hyper_priors):
            if prior.log_sd > 0:
                hyper[j] = np.exp(np.log(draws[prior.name].values).mean())
        z = as_labels(labels, "labels", problem.n_items).astype(np.int64)
        value = problem.partition_prior.log_marginal(np.unique(z, return_counts=True)[1])
        value += sum(one.noise.log_marginal(one.counts(z)) for one in problem.constraints)
        return float(value + log_data(z, problem.family, hyper))

    def start_chains(self, X: ArrayLike, constraints: Any, rng: Generator) -> list[Chain]:
        """Return the chains of a fit at their starts, for the caller to advance."""
        self._check_settings()
        items, given = self._read(X, None, constraints)
        problem = self._pose(items, given, rng, densities=True)
        rngs = rng.spawn(self.num_chains)
        sampler: Any = self.sampler
        starts = chain_starts(sampler, problem, None, self.moves, rngs)
        return [start() for start in starts]

    @property
    def _is_variational(self) -> bool:
        return self.sampler == VARIATIONAL or isinstance(self.sampler, VariationalSettings)

    def _check_settings(self) -> Schedule:
        """Refuse settings that do not exist or do not go together."""
        prior = as_nested(self.partition_prior)
        base.check_sampler(self.sampler, self.moves, prior)
        cluster_models.check_cluster_model(self.cluster_model, self.power, self.sampler)
        as_loss(self.loss)
        checks.check_int(self.num_chains, "num_chains")
        checks.n_threads(self.n_jobs)
        number = runner.MOST_DRAWS if self.num_samples is None else self.num_samples
        schedule = base.check_schedule(self.num_warmup, number)
        return replace(schedule, thinning=checks.check_int(self.thinning, "thinning"))

    def _read(
        self, X: ArrayLike | None, y: object, constraints: Any
    ) -> tuple[FloatArray, list[Constraints]]:
        """Validate the data."""
        X, self._likelihood = base.given_cells(X, constraints, self.family)
        family = get_family(self._likelihood)
        X, self._batches = as_nested(self.partition_prior).among.take_batches(X)
        self._words: Words = {}
        if isinstance(family, Mixed):
            X, self._words = read_words(X)
            refuse_names(X, self._words)
        read = partial(checks.check_items, missing=family.takes_missing)
        return base.read_input(
            self, X, y, constraints, read=read, needs=base.needs_of(self.sampler)
        )

    def _pose(
        self,
        items: FloatArray,
        constraints: list[Constraints],
        seed: int | Generator | None,
        *,
        densities: bool = False,
        store: Checkpoint | None = None,
    ) -> TVClustProblem:
        """The model and the data, chosen where asked for; `densities`: of models that have them."""
        model = self.cluster_model
        candidates = cluster_models.Candidates(
            items, self._likelihood, self.partition_prior, tuple(self._words), self._batches
        )
        self.model_scores_ = None
        rng = None
        compares = self.sampler == COLLAPSED and not candidates.one_model
        if model == AUTO and compares and enough(constraints):
            scoring, rng = checks.check_random_state(seed).spawn(2)
            densities = densities or any(not one.members for one in constraints)
            labels = [one for one in constraints if not one.has_table]
            tried = candidates.to_try(self.power, densities=densities, labels=labels)
            given = candidates, constraints, tried, self.moves, self._how(items), scoring
            compare = partial(cluster_models.choose, *given)
            choice, self.model_scores_ = cluster_models.chosen_once(compare, store)
            if self.progress:
                tell(f"Predicts the constraints best: {choice.words}")
        else:
            own = SINGLE if model == AUTO else model
            power = float(self.power or 1.0)
            choice = cluster_models.Choice(own, power, candidates.name, items.shape[1])
            cluster_models.warn_of_columns(candidates.bound, items)
        self.cluster_model_, self.power_, self.family_, *_ = self._choice = choice
        problem, self.reduction_ = candidates.problem(choice, constraints, rng)
        return problem

    def _how(self, items: FloatArray) -> dict[str, Any]:
        """How chains on these items run."""
        threads = checks.n_threads(self.n_jobs, cells=items.size)
        return {"progress": self.progress, "n_jobs": threads}

    def _settings(self) -> dict[str, Any]:
        """The parameters as they are recorded with the draws."""
        settings: dict[str, Any] = self.get_params(deep=False)
        if self._is_variational:
            settings["sampler"] = VARIATIONAL
        elif callable(self.sampler):
            name = getattr(self.sampler, "__qualname__", None)
            settings["sampler"] = (
                f"{self.sampler.__module__}.{name}" if name else repr(self.sampler)
            )
        return settings

    def _maximise_bound(
        self, problem: TVClustProblem, start: IntArray | None, num_samples: int, rng: Generator
    ) -> Draws:
        """Fit the mean field, set what follows from it, and draw from it."""
        given = self.sampler
        settings = given if isinstance(given, VariationalSettings) else VariationalSettings()
        n_components = min(settings.truncation, problem.n_items)
        checks.check_memory(
            16 * problem.n_items * n_components * settings.n_init,
            f"{settings.n_init} starts of {n_components} components for {problem.n_items:,} items",
            "lower n_init or truncation of VariationalSettings",
        )
        fit = fit_variational(problem, settings, rng, start)
        base.warn_unless(fit.converged, "the bound still rises", settings.max_iter, "sweeps")
        self.labels_, order = base.by_mode(fit.state.r)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.responsibilities_ = fit.state.r[:, order]
        self.bound_ = fit.state.bound
        self.bound_path_ = np.array(fit.path)
        self.converged_ = fit.converged
        drawn = draw_mean_field(fit.state, (self.num_chains, num_samples), rng)
        return Draws(drawn, {}, False)

    def _conclude(self, draws: Draws, problem: Any, items: FloatArray, since: float) -> None:
        """Set what follows from the draws, and the seconds that all has taken."""
        kind = "mean field" if self._is_variational else None
        moved_by = WEIGHTS if isinstance(problem, ClassifierProblem) else None
        about = items, self._settings(), kind, self._names, moved_by
        tree = base.draws_tree(draws, problem.constraints, *about)
        self.posterior_ = with_batches(tree, problem) if isinstance(problem, BatchProblem) else tree
        self._problem = problem
        kept = None
        if isinstance(problem, ClassifierProblem):
            z = draws.posterior["z"].reshape(-1, len(items))
            self._classes_drawn = z[evenly_spread(MAX_DRAWS, len(z))]
            kept = problem.to_keep(self._classes_drawn)
        if not self._is_variational:
            if self.progress and draws.posterior["z"].size > LARGE:
                tell(f"Point estimate of {draws.posterior['z'][..., 0].size:,} draws")
            self.labels_: IntArray = by_size(draws.posterior["z"][-1, -1])[1]
            with base.keeping_draws(self.posterior_):
                self.labels_ = point_estimate(self.posterior_, as_loss(self.loss))
                base.warn_of_draws(self.posterior_)
            self.n_clusters_ = int(self.labels_.max()) + 1
        keep_labels(self.posterior_, self.labels_)
        self.posterior_.attrs[cluster_models.MODEL] = json.dumps([self._choice, self._words, kept])
        self.fit_seconds_ = perf_counter() - since
        self.posterior_.attrs["fit_seconds"] = self.fit_seconds_

    def _prediction(self, X: ArrayLike) -> tuple[FromTerms, FloatArray]:
        """The draws to average over, and the new items in the family's coordinates."""
        check_is_fitted(self)
        _, rows, batches = self._read_new(X)
        return in_new_batches(self.spread_draws(MAX_DRAWS), self._problem, batches), rows

    def _read_new(self, X: ArrayLike) -> tuple[FloatArray, FloatArray, Any]:
        """New items as they are and in the family's coordinates, and their batches."""
        problem = self._problem
        classifier = isinstance(problem, ClassifierProblem)
        if not classifier and base.no_data(problem.family.X):
            raise ValueError("the fit had no data: it takes no new items, only constraints.")
        X, batches = as_nested(self.partition_prior).among.take_batches(X, new=True)
        if self._words:
            if hasattr(X, "columns"):
                base.describe_columns_of_new(self, X)
            X, _ = read_words(X, self._words)
        missing = not classifier and problem.family.takes_missing
        items = checks.check_items(X, least=1, missing=missing)
        base.describe_columns_of_new(self, X)
        rows = items if self.reduction_ is None else self.reduction_.transform(items)
        rows = problem.features(rows) if classifier else problem.family.transform(rows)
        return items, rows, batches

    def _every_draw(self) -> Prediction | None:
        if self._is_variational or not base.has_densities(self._problem):
            return None
        number = self.posterior_["posterior"]["z"][..., 0].size
        return self._draws_at(np.arange(number))  # type: ignore[return-value]

    def spread_draws(self, number: int) -> FromTerms:
        """Return at most `number` evenly spaced draws in the form that prediction uses."""
        check_is_fitted(self)
        draws = group(self.posterior_, "posterior")
        return self._draws_at(evenly_spread(number, draws.sizes["chain"] * draws.sizes["draw"]))

    def _draws_at(self, chosen: IntArray) -> FromTerms:
        """Some draws, numbered chain by chain, in the form that prediction uses."""
        problem = self._problem
        if isinstance(problem, ClassifierProblem):
            return ClassifierPrediction(problem, self._classes_drawn)
        return some_draws(problem, group(self.posterior_, "posterior"), chosen)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with suppress(TypeError, ValueError):  # an unknown family is refused by fit
            tags.input_tags.allow_nan = get_family(self.family).takes_missing
        return tags
