"""DCRC as a scikit-learn estimator."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.utils.validation import check_is_fitted

from bayesclust import checks
from bayesclust.constraints import Constraints
from bayesclust.estimators import base
from bayesclust.inference.dcrc import em, gibbs
from bayesclust.inference.dcrc.features import check_kernel, fit_features
from bayesclust.inference.dcrc.weights import log_classes
from bayesclust.inference.runner import Draws, Schedule, check_draws_fit_in_memory, run_chains
from bayesclust.inference.variational.mean_field import draw_labels, draw_noise
from bayesclust.models.dcrc import unnamed
from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.diagnosis import arviz_functions
from bayesclust.posterior.point_estimate import keep_labels
from bayesclust.posterior.tree import WEIGHTS, constraints_if_any
from bayesclust.typing import ArrayLike, FloatArray

LEARN = "learn"
LITERAL = "literal"
GIBBS = "gibbs"
# the entropies weigh as much as all answers: under a prior that does not, a few answers shrink the
# weights until clusters are empty, and are worse than none
PENALTY = 2.0**-6
"""Largest penalty where it is None, and that without answers; of many: `em.PRECISION` / 2M."""
CELLS = 4e6
FEWEST_STARTS, MOST_STARTS = 6, 24
MEAN_FIELD_DRAWS = (4, 250)


@dataclass(eq=False, repr=False)
class DCRC(base.SampledClusterer):
    """Discriminative clustering with noisy constraints on triplets ("dnk" included) and pairs.

    A logistic classifier of the clusters, P(y = k | x; W), is fitted so that the constraints are
    probable, items that no constraint names are told apart clearly, and clusters are balanced (Eq.
    9). Labels of named items get a mean-field distribution; variational EM raises its bound from
    several starts.

    Parameters
    ----------
    n_clusters : int
        K. Clusters may stay empty.
    noise : float, "learn", "confusion", "literal" or None, default 0.05
        How answers go wrong: a known error rate, where 0 makes answers binding, by falling to 0 in
        steps, and "literal" by Eq. 14 from the first sweep; "learn", one rate per source
        (`UniformNoise()`; for pairs `LinkNoise()`); "confusion", a matrix per source
        (`ConfusionNoise()`); None, the noise models that the constraints have.
    balance : bool or "learn", default "learn"
        True prefers clusters of equal size (Eq. 9); False does not (Eq. 8). "learn" begins with
        True, then draws clusters to their sizes among the items that answers name: better where
        clusters are uneven and answers many.
    inference : {"variational_em", "gibbs"}, default "variational_em"
        "gibbs" then runs Markov chains from there: exact uncertainty of labels and noise, given
        the weights. With `bayesclust.models.dcrc` NumPyro draws these too.
    kernel : {"rbf", "polynomial"}, transformer or None, default None
        None: boundaries are linear in the standardised columns. "rbf" and "polynomial" (of degree
        3): in features of that kernel, beyond 500 items by Nystroem's approximation. Or a
        transformer.
    tau : float, default 1.0
        Weight of the entropies in Eq. 9.
    penalty : float or None, default None
        lambda: as a prior of the weights, precision 2 M lambda for M answers. None keeps the
        precision at 4, and lambda at 2^-6 for fewer than 128 answers, which otherwise would
        hardly move the weights.
    temperature : float, default 1.0
        Temperature of the labels' distributions; 0 is the deterministic limit.
    n_init : int or None, default None
        Starts: the paper's, k-means with a classifier of its clusters, then random classifiers.
        None: 6 to 24, fewer for larger data.
    max_iter, tol : int, float, default 100, 1e-4
        Most EM iterations; nats per answer that one must gain to be followed by another.
    num_chains, num_warmup, num_samples, progress
        Only "gibbs", as in `TVClust`.
    n_jobs, random_state
        Threads, by default one per processor, which do not change the result; the seed.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The most probable cluster of each item, given the constraints; 0 is the largest.
    n_clusters_, n_features_in_ : int
    proba_ : ndarray of shape (n, n_clusters)
        Probability of each cluster; empty clusters come last.
    coef_, intercept_ : ndarray of shape (n_clusters, features) and (n_clusters,)
        Weights of the standardised columns or kernel features, and biases.
    bound_ : float
        M times Eq. 10, in nats: a lower bound of the log probability of the answers plus entropies
        and penalty.
    objective_path_ : ndarray
        The bound after every E-step and M-step; it never falls, except under ``noise="literal"``.
    confusion_ : dict
        By name of the constraints, the posterior mean of p(answer | truth), shape (sources,
        answers, answers), rows the truth; `bayesclust.source_reliability` has intervals.
    penalty_, proportions_ : float, ndarray of shape (n_clusters,) or None
        As used; sizes that the clusters were drawn to, where they were learned.
    converged_, n_iter_ : bool, int
        Whether the best start converged within `max_iter`, which is warned of, and its iterations.
    posterior_ : xarray.DataTree
        Draws in ArviZ's groups; for "variational_em" independent draws from the mean field.

    References
    ----------
    Pei, Fern, Rosales, Tjahja: Discriminative Clustering with Relative Constraints. Eq. 6 is the
    classifier, Table I the answers, Eq. 7 their evidence, Eq. 9 the objective, Eq. 13 with Table II
    the E-step, Eq. 14 binding answers.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), np.repeat([0, 1], 30)
    >>> X[:, 0] += 4 * y
    >>> triplets = bc.RelativeConstraints.sample(y, size=30, error_rate=0.05, seed=0)
    >>> est = bc.DCRC(2, random_state=0).fit(X, constraints=triplets)
    >>> bc.metrics.pairwise_f(est.labels_, y) > 0.9
    True
    >>> est.predict_proba([[2.0, 0.0]]).shape
    (1, 2)
    """

    n_clusters: int
    noise: float | str | None = 0.05
    balance: bool | str = "learn"
    inference: str = "variational_em"
    kernel: Any = None
    _: KW_ONLY
    tau: float = 1.0
    penalty: float | None = None
    temperature: float = 1.0
    n_init: int | None = None
    max_iter: int = 100
    tol: float = 1e-4
    num_chains: int = 4
    num_warmup: int = 500
    num_samples: int = 1000
    progress: bool = True
    n_jobs: int | None = None
    random_state: int | Generator | None = None

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Cluster items under side information.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : ignored
        constraints : Constraints, list of Constraints or None, default None
            Answers about triplets and pairs. Without any, clusters are those that a linear
            classifier separates most clearly.
        checkpoint : str, path or None, default None
            Only "gibbs": a zarr directory for draws, as for `TVClust`; the search for the weights
            is repeated, the chains resume.

        Returns
        -------
        self
        """
        clock = perf_counter()
        number = checks.check_int(self.n_clusters, "n_clusters")
        schedule = self._check_settings(checkpoint)
        if schedule is not None:
            arviz_functions()  # here, as other threads may be about to fit
        params = self.get_params(deep=False)
        seed = base.run_seed(self.random_state, checkpoint)
        items, given = base.read_input(self, X, y, constraints)
        checks.check_int(number, "n_clusters", most=len(items))
        constraints = with_noise(given, self.noise)
        store = base.open_checkpoint(checkpoint, params, items, constraints, seed)
        rng = checks.check_random_state(seed)

        self._features = fit_features(items, self.kernel, rng)
        points = self._features(items)
        search = em_settings(params, sum(map(len, constraints)), points.size * number)
        fit = em.fit_em(points, constraints, number, search, rng)
        base.warn_unless(fit.converged, "the bound still rises", self.max_iter, "iterations")
        self.penalty_ = search.penalty
        self.bound_ = float(fit.path[-1])
        self.objective_path_ = fit.path
        self.converged_ = fit.converged
        self.n_iter_ = len(fit.path) // 2
        self._problem = problem = gibbs.DCRCProblem(points, tuple(constraints), fit.W)
        if schedule is None:
            self._name_clusters(fit.q, fit)
            counted = zip(constraints, fit.counts, strict=True)
            self.confusion_ = {one.name: one.noise.predictive(counts) for one, counts in counted}
            # draws are made when first asked for
            self._given = (constraints, fit.counts, items, params, int(rng.integers(2**63)))
            self._tree = None
        else:
            check_draws_fit_in_memory(len(items), self.num_chains, schedule.num_samples)
            draws = run_chains(
                [partial(gibbs.DCRCChain, problem, own) for own in rng.spawn(self.num_chains)],
                schedule,
                progress=self.progress,
                n_jobs=checks.n_threads(self.n_jobs, cells=points.size),
                checkpoint=store,
                spread=True,
            )
            self._tree = base.draws_tree(
                draws, constraints, items, params, names=self._names, moved_by=WEIGHTS
            )
            proba = gibbs.class_shares(draws.posterior["z"], number)
            free = unnamed(constraints, len(items))
            proba[free] = np.exp(log_classes(fit.W, points[free]))
            self._name_clusters(proba, fit)
            posterior = self._tree["posterior"].to_dataset()
            self.confusion_ = {
                view.name: confusions(view, posterior).mean(axis=(0, 1))
                for view in constraints_if_any(self._tree)
            }
            with base.keeping_draws(self._tree):
                base.warn_of_draws(self._tree)
            keep_labels(self._tree, self.labels_)
        self.fit_seconds_ = perf_counter() - clock
        if self._tree is not None:
            self._tree.attrs["fit_seconds"] = self.fit_seconds_
        return self

    @property
    def posterior_(self) -> Any:
        """Draws of the chains, or from the mean field, an `xarray.DataTree`."""
        check_is_fitted(self)
        if self._tree is None:
            constraints, counts, items, params, seed = self._given
            rng = np.random.default_rng(seed)
            labels = draw_labels(self.proba_[:, self._as_fitted], math.prod(MEAN_FIELD_DRAWS), rng)
            variables = {"z": labels.reshape(*MEAN_FIELD_DRAWS, -1)}
            variables |= draw_noise(constraints, counts, MEAN_FIELD_DRAWS, rng)
            draws = Draws(variables, {}, False)
            self._tree = base.draws_tree(
                draws, constraints, items, params, "mean field", self._names, WEIGHTS
            )
            self._tree.attrs["fit_seconds"] = self.fit_seconds_
            keep_labels(self._tree, self.labels_)
        return self._tree

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return P(y = k | x; W) of items; constraints are not used.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m, n_clusters)
            Clusters as in `proba_`.
        """
        check_is_fitted(self)
        items = checks.check_items(X, least=1)
        base.describe_columns_of_new(self, X)
        W = np.column_stack([self.coef_, self.intercept_])
        return np.exp(log_classes(W, self._features(items)))

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return `predict_proba` (m, n_clusters), or what `set_output` asks for."""
        return self.predict_proba(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.intercept_)

    def _check_settings(self, checkpoint: Any) -> Schedule | None:
        """Refuse settings that do not exist or do not go together; None if nothing is sampled."""
        checks.check_choice(self.inference, "inference", ("variational_em", GIBBS))
        check_kernel(self.kernel)
        with_noise([], self.noise)
        em_settings(self.get_params(deep=False), 1, 1)
        checks.check_int(self.num_chains, "num_chains")
        schedule = base.check_schedule(self.num_warmup, self.num_samples)
        if self.inference != GIBBS:
            if checkpoint is not None:
                raise ValueError(
                    "checkpoint keeps the draws of chains, and "
                    f"inference={self.inference!r} has none: leave it out."
                )
            return None
        if self.noise == LITERAL or self.noise == 0:
            raise ValueError(
                f"noise={self.noise!r} makes answers binding, and labels that are tied cannot be "
                'drawn one by one: with inference="gibbs" give a small error rate such as 0.01.'
            )
        if self.temperature != 1:
            raise ValueError(
                f'temperature={self.temperature!r} is of the mean field, and inference="gibbs" '
                "draws from the posterior itself: leave temperature=1.0."
            )
        return schedule

    def _name_clusters(self, proba: FloatArray, fit: em.EMFit) -> None:
        """Set labels and classifier, clusters in the order of their labels."""
        self.labels_, order = base.by_mode(proba)
        self.n_clusters_ = int(self.labels_.max()) + 1
        # draws go by the order of the fit, and do not depend on how clusters are numbered
        used, rest = np.split(np.arange(len(order)), [self.n_clusters_])
        self._as_fitted = np.append(np.argsort(order[used]), rest)
        self.proba_: FloatArray = proba[:, order]
        self.coef_: FloatArray = fit.W[order, :-1]
        self.intercept_: FloatArray = fit.W[order, -1]
        self.proportions_ = None if fit.proportions is None else fit.proportions[order]


def with_noise(constraints: Sequence[Constraints], noise: Any) -> list[Constraints]:
    """The constraints with the noise models that `noise` asks for."""
    if noise is None:
        return list(constraints)
    if isinstance(noise, str):
        checks.check_choice(noise, "noise", (LEARN, "confusion", LITERAL))
        noise = 0.0 if noise == LITERAL else noise
    if isinstance(noise, str):
        confusion = noise != LEARN
        return [one.with_noise(one.learned_noise(confusion=confusion)) for one in constraints]
    if isinstance(noise, bool) or not isinstance(noise, Real):
        raise TypeError(
            'noise must be a number in [0, 1), "learn", "confusion", "literal" or None; '
            f"got {checks.shown(noise)}. A noise model goes to the constraints, by with_noise, and "
            "None here uses it."
        )
    eps = checks.number_between(noise, "noise", "[0, 1)")
    return [one.with_noise(one.known_noise(eps)) for one in constraints]


def em_settings(params: dict[str, Any], n_answers: int, n_cells: int) -> em.EMSettings:
    """The settings of the search, checked."""
    penalty = params["penalty"]
    if penalty is None:
        penalty = min(em.PRECISION / (2 * n_answers), PENALTY) if n_answers else PENALTY
    starts = params["n_init"]
    if starts is None:
        starts = int(np.clip(CELLS / max(n_cells, 1), FEWEST_STARTS, MOST_STARTS))
    balance = params["balance"]
    if isinstance(balance, str):
        checks.check_choice(balance, "balance", (LEARN,))
    elif not isinstance(balance, (bool, np.bool_)):
        raise TypeError(f'balance must be True, False or "learn"; got {balance!r}.')
    return em.EMSettings(
        tau=checks.number_between(params["tau"], "tau", "[0, inf)"),
        penalty=checks.number_between(penalty, "penalty", "[0, inf)"),
        balance=bool(balance),
        proportions=isinstance(balance, str),
        temperature=checks.number_between(params["temperature"], "temperature", "[0, inf)"),
        literal=params["noise"] == LITERAL,
        binding=params["noise"] == LITERAL or params["noise"] == 0,
        starts=checks.check_int(starts, "n_init"),
        max_iter=checks.check_int(params["max_iter"], "max_iter"),
        tolerance=checks.check_positive(params["tol"], "tol"),
        n_jobs=min(checks.n_threads(params["n_jobs"]), MOST_STARTS),
    )
