"""DCRC as a scikit-learn estimator."""

from __future__ import annotations

import os
import warnings
from typing import Any, Self

from numpy.random import Generator
from sklearn.exceptions import ConvergenceWarning

from bayesclust.checks import check_choice, check_int, check_n_clusters, check_random_state
from bayesclust.constraints.dataset import noise_dims
from bayesclust.estimators import _dcrc_settings as settings
from bayesclust.estimators._checkpoint import open_store, run_seed
from bayesclust.estimators._dcrc_classifier import ClassifiesNewItems
from bayesclust.estimators._dcrc_gibbs import SampledLabels
from bayesclust.estimators._dcrc_posterior import MeanFieldLabels
from bayesclust.estimators.base import ConstrainedClusterer
from bayesclust.inference.variational_em.features import FeatureMap, feature_map
from bayesclust.inference.variational_em.fit import fit_em
from bayesclust.inference.variational_em.held_out import choose
from bayesclust.typing import ArrayLike


class DCRC(SampledLabels, MeanFieldLabels, ClassifiesNewItems, ConstrainedClusterer):
    """Discriminative clustering with doubtful answers about triplets, "do not know" among them, and about pairs.

    A logistic classifier of the clusters, P(y = k | x; W), is fitted so that the answers are
    probable, items that no answer names are told apart clearly, and clusters are balanced (Eq. 9).
    Labels of named items get a mean-field distribution; its bound is raised by variational EM from
    several starts, of which the one with the highest bound is kept.

    Parameters
    ----------
    n_clusters : int
        K. Clusters may stay empty.
    noise : float, "learn", "confusion" or None, default 0.05
        How answers go wrong. A number is the known probability of a wrong answer, the paper's being
        0.05; 0 makes answers binding (see `hard`). "learn": one error rate per source under the
        prior of `UniformNoise()` (for pairs `LinkNoise()`). "confusion": a 3 x 3 matrix per source,
        `ConfusionNoise()`. None: what each view was given.
    balance : bool, "learn" or "cv", default "learn"
        True prefers clusters of equal size (Eq. 9), which keeps clusters from being lost, above all
        where most answers are "dnk": one single cluster explains these too. "learn" starts so, and
        then draws clusters to the sizes that they had among the items that answers name, if these
        are a fair sample: better where clusters are uneven and answers many, worse where few
        answers meet overlapping clusters, of which the small then fade. False has no preference
        (Eq. 8). "cv" chooses among the three by answers held out in five parts.
    inference : {"variational_em", "gibbs"}, default "variational_em"
        "gibbs" goes on from there with Markov chains: exact uncertainty of labels and noise in
        place of mean field's.
    kernel : {"rbf", "polynomial", "precomputed"} or None, default None
        None: boundaries are linear. With "precomputed", X is the matrix k(x_i, x_j), and new items
        are rows of their kernel values with all training items.
    gamma : float or None, default None
        Of "rbf" and "polynomial"; None is 1 / d.
    degree : int, default 3
        Of (gamma x'y + 1)^degree.
    n_landmarks : int or None, default None
        Items from which the kernel is approximated (Nystroem). None: all up to 2000 items, which is
        exact; 500 beyond.
    tau : float or "cv", default 1.0
        Weight of the entropies in Eq. 9. "cv" chooses from 0.5, 1, 1.5 by answers held out in five
        parts; so does ``penalty="cv"``, and together they search the paper's grid.
    penalty : float, "cv" or None, default None
        lambda. As a prior of the weights it has precision 2 M lambda, which grows with the number M
        of answers; None keeps the precision at 4 instead, so that more answers can move the weights
        further (and is 2^-6 without answers). "cv" chooses from 2^-10 to 2^-2.
    temperature : float, default 1.0
        Of the labels' distributions. 0 is the deterministic limit: every named item is in one
        cluster.
    hard : {"annealed", "literal"}, default "annealed"
        How binding answers (``noise=0``) are reached. "annealed" lets eps fall to 0 in steps, so
        that the data have a say before answers are settled. "literal" applies Eq. 14 from the first
        sweep, by which labels become certain at once and P(y | x) is hardly heard.
    standardize : bool, default True
        Bring columns to mean 0 and standard deviation 1 first, as in the paper.
    n_init : int or None, default None
        Starts: the paper's, k-means with a logistic classifier of its clusters, then classifiers of
        random seeds. After nine iterations the two highest bounds go on to the end. None: 6 to 24,
        fewer for larger data.
    max_iter : int, default 100
        Most EM iterations.
    tol : float, default 1e-4
        Nats per answer by which an iteration must raise the bound to be followed by another.
    weights : {"mode", "sample"}, default "mode"
        Only "gibbs": whether the weights W are held at the mode that EM found, or drawn too, from
        the density that EM climbed (`bayesclust.models.dcrc`), made proper by a normal prior of the
        biases. With ``penalty=None`` the precision of the other weights is learned then, which
        gains accuracy where answers are many, and may lose some where they are few (0.05 n); under
        a fixed one, draws of the weights tell clusters apart less well than their mode.
    num_chains, num_warmup, num_samples : int, default 4, 500, 1000
        Only "gibbs": chains, sweeps of each before its first draw, and draws of each.
    loss : str, loss or None, default None
        Only "gibbs": the loss whose posterior expectation `labels_` minimises, as for
        `point_estimate`. None: each item's most probable class; losses between partitions merge
        classes of which answers say little.
    progress : bool, default True
        Only "gibbs": show a progress bar in terminals and notebooks.
    n_jobs : int or None, default None
        Threads; None takes one per processor. It does not change the result.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The most probable cluster of each item, the answers heard.
    n_clusters_ : int
        Number of different labels, at most `n_clusters`.
    proba_ : ndarray of shape (n, n_clusters)
        Probability of each cluster; empty clusters come last.
    coef_ : ndarray of shape (n_clusters, features)
        Weights of the standardised columns or kernel features.
    intercept_ : ndarray of shape (n_clusters,)
    bound_ : float
        M times Eq. 10, in nats: a lower bound of the log probability of the answers plus entropies
        and penalty.
    objective_path_ : ndarray
        The bound after every E-step and M-step under the final noise model; it never falls (with
        ``hard="literal"`` it may, Eq. 14 being a limit).
    confusion_ : dict
        By name of view, the posterior mean of p(answer | truth), shape (sources, answers, answers),
        rows the truth. The error rate of ``noise="learn"`` is 1 minus any of its diagonal.
    confusion_intervals_ : dict
        Only "gibbs": the ends of the central 90% intervals of `confusion_`, (2, sources, answers,
        answers).
    tau_, penalty_, balance_ : float, float, bool
        As used.
    proportions_ : ndarray of shape (n_clusters,), or None
        Sizes that the clusters were drawn to, where they were learned.
    converged_ : bool
    n_iter_ : int
        EM iterations of the best start under the final noise model.
    n_features_in_ : int
    posterior_ : xarray.DataTree
        Draws in ArviZ's groups, as other estimators have them; for "variational_em" independent
        draws from the mean field, made when first asked for. Mean field understates what else is
        possible, noise with it: error rates come out too small where many items have few answers.
        Drawn weights are in a group of their own, `classifier`: W of shape (chain, draw, cluster,
        coefficient), biases last, clusters as in `proba_`.

    Warns
    -----
    ConvergenceWarning
        If the bound still rises after `max_iter` iterations.

    Raises
    ------
    ValueError, TypeError
        From `fit`, before any computing, in one sentence: what was got, where, and what to do.

    References
    ----------
    Pei, Fern, Rosales, Tjahja: Discriminative Clustering with Relative Constraints. Eq. 6 is the
    classifier, Table I the answers, Eq. 9 the objective, Eq. 13 with Table II the E-step, Eq. 14
    binding answers.

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

    def __init__(
        self,
        n_clusters: int,
        noise: float | str | None = 0.05,
        balance: bool | str = "learn",
        inference: str = "variational_em",
        kernel: str | None = None,
        *,
        gamma: float | None = None,
        degree: int = 3,
        n_landmarks: int | None = None,
        tau: float | str = 1.0,
        penalty: float | str | None = None,
        temperature: float = 1.0,
        hard: str = "annealed",
        standardize: bool = True,
        n_init: int | None = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        weights: str = "mode",
        num_chains: int = 4,
        num_warmup: int = 500,
        num_samples: int = 1000,
        loss: Any = None,
        progress: bool = True,
        n_jobs: int | None = None,
        random_state: int | Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.noise = noise
        self.balance = balance
        self.inference = inference
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.n_landmarks = n_landmarks
        self.tau = tau
        self.penalty = penalty
        self.temperature = temperature
        self.hard = hard
        self.standardize = standardize
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.weights = weights
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
        """Cluster items under side information.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) for a precomputed kernel
        y : ignored
        constraints : Constraints, list of Constraints or None, default None
            Answers about triplets and pairs. Without any, clusters are those that a linear
            classifier separates most clearly (Eq. 9 without its first term).
        checkpoint : str, path or None, default None
            Only "gibbs": a zarr directory to which draws go as they come, as for `TVClust`; the
            search for the weights is repeated, the chains go on.

        Returns
        -------
        self
        """
        number = check_int(self.n_clusters, "n_clusters")
        check_choice(self.inference, "inference", ("variational_em", "gibbs"))
        options = settings.check_kernel(self.kernel, self.gamma, self.degree, self.n_landmarks)
        params, schedule = self.get_params(deep=False), self._check_sampling(checkpoint)
        settings.candidates(params, 1, 1)
        settings.with_noise([], self.noise)
        random_state = (
            self.random_state if checkpoint is None else run_seed(self.random_state, checkpoint)
        )
        items, views = self._enter(X, constraints)
        check_n_clusters(number, len(items))
        views = settings.with_noise(views, self.noise)
        store = open_store(checkpoint, params, items, views, random_state, noise_dims(views))
        rng = check_random_state(random_state)
        settings.check_room_for_kernel(len(items), self.kernel, self.n_landmarks)
        self._map: FeatureMap = feature_map(
            items, self.kernel, options, self.standardize, self.n_landmarks, rng
        )
        points = self._map(items)
        tried = settings.candidates(params, sum(map(len, views)), points.size * number)
        binding = self.noise is not None and self.noise == 0
        chosen = choose(points, views, number, tried, rng, binding=binding)
        fit = fit_em(points, views, number, chosen, rng, binding=binding)
        if not fit.converged:
            warnings.warn(
                f"the bound still rises after max_iter={self.max_iter} iterations: allow more iterations.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.tau_, self.penalty_, self.balance_ = chosen.tau, chosen.penalty, chosen.balance
        self.bound_, self.objective_path_ = float(fit.path[-1]), fit.path
        self.converged_, self.n_iter_ = fit.converged, len(fit.path) // 2
        if schedule is not None:
            self._sample(points, items, views, fit, chosen, schedule, store, rng)
            return self
        self._take_mean_field(fit, items, views, int(rng.integers(2**63)))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
