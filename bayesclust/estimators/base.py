"""The parts that estimators share: input, settings, the search, the draws as a tree."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import Generator
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.base import ClassNamePrefixFeaturesOutMixin as NamedOutput
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesclust import checks
from bayesclust.checks import check_int, check_items, plain_array, true_labels
from bayesclust.constraints.base import Constraints, Needs, check_constraints
from bayesclust.constraints.stored import noise_dims
from bayesclust.families import Bernoulli
from bayesclust.inference import runner
from bayesclust.inference.batches import SHIFTS
from bayesclust.inference.chain import Moves
from bayesclust.inference.checkpoint import Checkpoint, fingerprint, stored_fingerprint
from bayesclust.inference.dcrc.classifier import ClassifierProblem
from bayesclust.inference.runner import Chain, Draws, Schedule
from bayesclust.inference.samplers import BLOCKED, SAMPLERS, VARIATIONAL
from bayesclust.inference.variational.fit import VariationalSettings
from bayesclust.names import check_same_names
from bayesclust.partition_priors import Nested
from bayesclust.posterior.diagnosis import DiagnosisWarning, diagnose, load_whole_jax, stuck_chains
from bayesclust.posterior.point_estimate import settled_labels
from bayesclust.posterior.tree import (
    MEAN_FIELD,
    MOVED_BY,
    Names,
    by_size,
    canonical,
    names_in,
    names_of,
    to_datatree,
    with_names,
)
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed

SINGLE, MIXTURE, AUTO = "single", "mixture", "auto"
"""What a cluster is: one component, several, or what the constraints choose."""
FEWEST_SWEEPS, LAST_SWEEPS = 50, 20
"""Of half a warm-up that is worth a search, and those that tell what it has found."""
NO_LIKELIHOOD = Bernoulli(strength=1.0)
"""The likelihood where no cell is seen: it is 1 for every partition."""
UNRECORDED = ("init", "random_state", "progress", "n_jobs")
PACKAGE = str(Path(__file__).parents[1])
ONE_PARTITION = "it finds one partition; TVClust and DCRC have draws from a posterior."
NO_DENSITY = "items have a density under TVClust alone; bayesclust.cross_validate compares methods."
OWN_ITEMS = "it partitions its own items alone; a classifier fitted to labels_ places new ones."
PROFILES = "bayesclust.cluster_profiles describes the clusters of a TVClust."
ABSENT = {
    **dict.fromkeys(("posterior_", "predict_proba", "to_arviz"), ONE_PARTITION),
    **dict.fromkeys(("score", "score_samples"), NO_DENSITY),
    **dict.fromkeys(("predict", "transform", "fit_transform", "set_output"), OWN_ITEMS),
    "get_feature_names_out": OWN_ITEMS,
    **dict.fromkeys(("cluster_centers_", "means_", "covariances_"), PROFILES),
    "inertia_": "objective_ is what it lowers.",
}
"""Why an estimator lacks what another has, and what to take instead."""


def in_any_thread[**P, R](fit: Callable[P, R]) -> Callable[P, R]:
    """A `fit` that may run in several threads at once, as far as JAX goes."""

    @wraps(fit)
    def call(*args: P.args, **settings: P.kwargs) -> R:
        load_whole_jax()
        return fit(*args, **settings)

    return call


class ConstrainedClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: `fit` sets `labels_` and `fit_seconds_`."""

    labels_: IntArray
    fit_seconds_: float
    _tree: Any
    """Draws as a tree, None where they are made when first asked for."""
    _names: Names
    """Names of items and features that came with the data."""

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        checks.refuse_unknown(cls, settings)
        return super().__new__(cls)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            cls.fit = checks.explained(checks.all_or_nothing(in_any_thread(cls.fit)))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # scikit-learn asks for the names of features in every fit
            known = name.startswith("_") or name == "feature_names_in_"
            if known or hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises as it did before
            there = [*vars(self), *dir(type(self))]
            near = checks.nearest(name, (own for own in there if not own.startswith("_")))
            why = ABSENT.get(name, f"did you mean {near!r}?" if near else "see dir() of it.")
            if name.endswith("_") and "labels_" not in vars(self):
                why = "call fit first."
            raise AttributeError(f"{type(self).__name__} has no {name!r}: {why}")

    def fit_predict(
        self, X: ArrayLike, y: object = None, *, constraints: Any = None, **others: Any
    ) -> IntArray:
        """Do as `fit` with the same arguments, and return `labels_` (n,)."""
        labels: IntArray = self.fit(X, y, constraints=constraints, **others).labels_
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PlacingClusterer(NamedOutput, TransformerMixin, ConstrainedClusterer):  # type: ignore[misc]
    """Base of those that place new items: `transform` has a column for each cluster."""

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_


class DistanceClusterer(PlacingClusterer):
    """Base of those that compare items with clusters by distances; constraints are left out."""

    def _distances(self, X: ArrayLike) -> FloatArray:
        """The distance of each item (m, d) from each cluster, (m, n_clusters_)."""
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the nearest cluster of each item; constraints are not used.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of int, shape (m,)
        """
        check_is_fitted(self)
        return self._distances(X).argmin(axis=1)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the distance of each item from each cluster, as the objective counts it.

        Parameters
        ----------
        X : array-like of shape (m, d)

        Returns
        -------
        ndarray of shape (m, n_clusters_), or what `set_output` asks for
            Squared where the objective has squares; from the nearest centre where a cluster has
            several; with a kernel, less what is the same for all clusters.
        """
        check_is_fitted(self)
        return self._distances(X)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return minus the sum of distances of items (m, d) to their clusters; y is ignored."""
        check_is_fitted(self)
        return -float(self._distances(X).min(axis=1).sum())


class SampledClusterer(PlacingClusterer):
    """Base of those that have draws from a posterior."""

    _problem: Any
    """The model and the data."""

    def _every_draw(self) -> Any:
        """All draws as what they say of items, None where items have no density."""
        return None

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the most probable cluster of each new item.

        Parameters
        ----------
        X : array-like of shape (m, d)
            New items, with the columns of the data that were clustered and in their units;
            constraints are not used.

        Returns
        -------
        ndarray of int, shape (m,)
            Clusters as in `labels_`, from which they may differ where constraints outweighed the
            data.
        """
        labels: IntArray = self.predict_proba(X).argmax(axis=1)
        return labels

    @available_if(lambda self: getattr(getattr(self, "_problem", None), "batch_names", ()))
    def batch_weights(self, *, prob: float = 0.9, seed: Seed = 0) -> Any:
        """Return the weight of each cluster in each batch, where the prior has batches.

        Parameters
        ----------
        prob : float in (0, 1), default 0.9
            Probability of the intervals.
        seed : int, Generator or None, default 0
            Seed of the weights of a batch, drawn given each draw of the posterior.

        Returns
        -------
        pandas.DataFrame
            By batch and cluster of `labels_`: items there, posterior mean of the weight and the
            ends of its interval. A cluster of a draw stands for those of `labels_` in proportion to
            its members; what is missing to 1 is the weight of clusters without items.

        Examples
        --------
        See `bayesclust.partition_priors.HierarchicalDirichletProcess`.
        """
        # imported here: few need it
        from bayesclust.estimators.drawn import batch_weights

        prob = checks.number_between(prob, "prob", "(0, 1)")
        rng = checks.check_random_state(seed, "seed")
        return batch_weights(self, prob, rng)

    def to_arviz(self, *, num_prior_draws: int = 1000, seed: Seed = 0) -> Any:
        """Return the posterior with every group that ArviZ's functions ask for.

        Parameters
        ----------
        num_prior_draws : int, default 1000
        seed : int, Generator or None, default 0
            Seed of the draws from the prior and of the replicated answers.

        Returns
        -------
        xarray.DataTree
            A copy of `posterior_` with these groups more:

            - prior: learned parameters, and n_clusters where items have densities, from the prior;
            - log_prior: log densities of each learned parameter, of the noise by the constraints'
              names, and "partition", log p(z | parameters), in nats (chain, draw);
            - log_likelihood and posterior_predictive of constraints, as of
              `constraint_log_likelihood`, and in log_likelihood X (chain, draw, item).

        Notes
        -----
        X is the log density of an item's row given all else but its label, which is summed out.
        Draws weighted by one over it are from the posterior without the row, so that ``arviz.loo(
        tree, var_name="X")`` predicts each row from the others and the constraints, those about it
        too. It is no factor of a joint likelihood: tell ``arviz.psense_summary`` to take
        ``likelihood_var_names`` of constraints. With `power` it has that power. Classifiers and
        "variational", whose draws are not of the posterior, have none, nor has `DCRC`.

        Examples
        --------
        >>> import bayesclust as bc
        >>> X = [[0.0], [0.2], [0.1], [5.0], [5.3], [5.1]]
        >>> short = {"num_chains": 1, "num_warmup": 20, "num_samples": 30, "random_state": 0}
        >>> tree = bc.TVClust(progress=False, **short).fit(X).to_arviz(num_prior_draws=50)
        >>> dict(tree["prior"].sizes), list(tree["log_likelihood"].data_vars)
        ({'chain': 1, 'draw': 50}, ['X'])
        """
        check_is_fitted(self)
        # imported here: its kernel and its groups are for those who ask for them
        from bayesclust.estimators.arviz_groups import with_all_groups

        return with_all_groups(self, self._problem, self._every_draw(), num_prior_draws, seed)


def read_input(
    estimator: ConstrainedClusterer,
    X: ArrayLike,
    y: object,
    constraints: Any,
    *,
    read: Callable[[Any], FloatArray] = check_items,
    needs: Needs = "table",
) -> tuple[FloatArray, list[Constraints]]:
    """Validate data, by `read`, and constraints; remember the names of items and columns."""
    for given in y if isinstance(y, (list, tuple)) else (y,):
        if isinstance(given, Constraints):
            raise TypeError(
                f"{type(given).__name__} were passed as y, which fit ignores: "
                "pass constraints=... instead."
            )
    items = read(X)
    if y is not None:
        warn(f"y is ignored: {checks.INSTEAD['y']}", UserWarning)
    validate_data(estimator, _with_unique_names(X), skip_check_array=True)
    estimator._names = names_in(X)
    if no_data(items):
        listed = constraints if isinstance(constraints, (list, tuple)) else (constraints,)
        named = (own for one in listed if (own := getattr(one, "item_names", None)))
        estimator._names = next(named, estimator._names[0]), estimator._names[1]
    names = estimator._names[0]
    return items, check_constraints(constraints, len(items), needs=needs, names=names)


def given_cells(X: Any, constraints: Any, family: Any) -> tuple[Any, Any]:
    """Data and their likelihood; without data, cells (n, 1) that have no value."""
    if X is not None:
        return X, family
    given = constraints if isinstance(constraints, (list, tuple)) else [constraints]
    if not given or not isinstance(given[0], Constraints):
        raise ValueError(
            "X is None, and no constraints are given: pass the data, constraints or both."
        )
    return np.full((given[0].n_items, 1), np.nan), NO_LIKELIHOOD


def no_data(items: FloatArray) -> bool:
    """Whether data have no value, as those of `given_cells`."""
    return items.shape[1] == 1 and bool(np.isnan(items).all())


def has_densities(problem: Any) -> bool:
    """Whether items have densities, which need clusters that any item could join."""
    return not isinstance(problem, ClassifierProblem) and problem.partition_prior.exchangeable


def describe_columns_of_new(estimator: ConstrainedClusterer, X: ArrayLike) -> None:
    """Refuse new items whose columns are not those of the fit."""
    validate_data(estimator, _with_unique_names(X), skip_check_array=True, reset=False)


def _with_unique_names(X: Any) -> Any:
    """The data without names of columns where one occurs twice, which scikit-learn refuses."""
    columns = getattr(X, "columns", None)
    return X if getattr(columns, "is_unique", True) else X.to_numpy()


def warn(sentence: str, kind: type[Warning] = ConvergenceWarning) -> None:
    """Warn of the line that called the package."""
    warnings.warn(sentence, kind, skip_file_prefixes=(PACKAGE,))


@contextmanager
def keeping_draws(posterior: Any) -> Iterator[None]:
    """An interrupt of what follows the last draw leaves the draws."""
    try:
        yield
    except KeyboardInterrupt:
        posterior.attrs["interrupted"] = 1
        warn(
            "Interrupted after the last draw: the draws are kept, but labels_ may be the last one, "
            "and nothing is diagnosed: call bayesclust.point_estimate and bayesclust.diagnose.",
            runner.InterruptedRunWarning,
        )


def warn_of_draws(posterior: Any) -> None:
    """Warn where `diagnose` says not to trust the draws of a fit, and note it with them."""
    found = diagnose(posterior)
    if not found.ok:
        posterior.attrs["diagnosis"] = found.verdict
        warn(f"{found} (From bayesclust.diagnose, which says more.)", DiagnosisWarning)


def warn_unless(converged: bool, what: str, most: int, rounds: str) -> None:
    """Warn where a fit has not converged within so many rounds."""
    if not converged:
        warn(f"{what} after max_iter={most} {rounds}: allow more {rounds}.")


def by_mode(shares: FloatArray) -> tuple[IntArray, IntArray]:
    """Most probable columns, numbered by size, and the columns in this order, empty ones last."""
    used, labels = by_size(shares.argmax(axis=1))
    rest = np.setdiff1d(np.arange(shares.shape[1]), used)
    return labels, np.append(used, rest)


def given_labels(
    value: Any, n_items: int, name: str, names: Sequence[str] | None
) -> np.ndarray[Any, Any]:
    """Labels as given, an estimator's, or a posterior's estimate; `names` are the items'."""
    if isinstance(value, BaseEstimator):
        check_is_fitted(value)
        if not hasattr(value, "labels_"):
            raise TypeError(
                f"{name} is a {type(value).__name__}, which has no labels_: pass labels, such as "
                "those that its predict returns."
            )
        labels = np.asarray(value.labels_)
    elif hasattr(value, "children"):
        labels = settled_labels(value)
    else:
        labels = plain_array(value, name, "pass one label per item")
    if labels.shape != (n_items,):
        raise ValueError(
            f"{name} has shape {labels.shape}, but X has {n_items} items: pass one label per item, "
            "an estimator fitted to these items, or its posterior_."
        )
    check_same_names(names_of(value), names, name, "fit it to this X, or pass labels in its order")
    return labels


def start_labels(init: Any, n_items: int, names: Sequence[str] | None) -> IntArray | None:
    """The partition to start from, if there is one, by first items, however it was numbered."""
    if init is None:
        return None
    labels = true_labels(given_labels(init, n_items, "init", names), 1, "init")
    return canonical(labels).astype(np.int64)


def check_schedule(num_warmup: Any, num_samples: Any) -> Schedule:
    """The sweeps of a chain, from settings of an estimator."""
    return Schedule(
        check_int(num_warmup, "num_warmup", least=0), check_int(num_samples, "num_samples")
    )


def check_moves(moves: object) -> None:
    """Refuse what is neither None nor `Moves`."""
    if not (moves is None or isinstance(moves, Moves)):
        raise TypeError(
            f"moves must be a bayesclust.Moves or None; got {type(moves).__name__}: "
            "pass for instance Moves()."
        )


def check_sampler(sampler: object, moves: object, prior: Nested) -> None:
    """Refuse an unknown sampler, and moves or a partition prior that it does not take."""
    check_moves(moves)
    if callable(sampler) and not isinstance(sampler, type):
        return
    name = VARIATIONAL if isinstance(sampler, VariationalSettings) else sampler
    if not isinstance(name, str):
        raise TypeError(
            f"sampler is {checks.kind_of(sampler)}: pass a name, or a function of (problem, z, "
            "rng, moves) that makes a bayesclust.inference.chain.Chain."
        )
    checks.check_choice(name, "sampler", (*SAMPLERS, BLOCKED, VARIATIONAL))
    if name in SAMPLERS:
        return
    if moves is not None:
        raise ValueError(
            f"moves is given, but sampler={name!r} has no moves to choose from: leave moves=None."
        )
    prior.among.stick_parameters(prior.among.initial())  # refuses priors without sticks


def needs_of(sampler: object) -> Needs:
    """What constraints a sampler takes: one of a user's own has the pairs that labels imply."""
    if sampler in list(SAMPLERS):
        return "evidence"
    return "table" if callable(sampler) else "classes"


def search(
    starts: list[Callable[[], Chain]], schedule: Schedule, store: Checkpoint | None, **settings: Any
) -> tuple[list[Callable[[], Chain]], Schedule]:
    """Make half of the warm-up, restart hopeless chains from the best; chains, schedule left."""
    # What a chain finds depends on its start, and a mode so many nats below another has next to no
    # mass. For chains that resume the schedule alone is cut; every process does all.
    sweeps = schedule.num_warmup // 2
    if sweeps < FEWEST_SWEEPS or len(starts) < 2:
        return starts, schedule
    left = replace(schedule, num_warmup=schedule.num_warmup - sweeps)
    if store is not None and store.has_begun(len(starts)):
        return starts, left
    chains: list[Any] = [start() for start in starts]
    again: list[Any] = [lambda own=own: own for own in chains]
    seen = Schedule(sweeps - LAST_SWEEPS, LAST_SWEEPS)
    kept = None if store is None else store.of_search
    draws = runner.run_chains(again, seen, title="{}, search", checkpoint=kept, **settings)
    if draws.interrupted:
        raise KeyboardInterrupt
    stuck, gap = stuck_chains(draws.sample_stats["log_joint"])
    best = chains[int(gap.argmin())]
    for c in stuck:
        taken = deepcopy(best.snapshot())
        taken["state"]["generator"] = chains[c].snapshot()["state"]["generator"]
        chains[c].restore(taken)
    return again, left


def draw_dims(constraints: Sequence[Constraints]) -> dict[str, tuple[str, ...]]:
    """Names of the dimensions of what is drawn, after chain and draw."""
    own = {SHIFTS: ("batch", "shifted_feature")}
    return {"component": ("item",), "weight": ("item",), **own, **noise_dims(constraints)}


def draws_tree(
    draws: Draws,
    constraints: Sequence[Constraints],
    items: FloatArray,
    settings: Mapping[str, Any],
    approximation: str | None = None,
    names: Names = (None, None),
    moved_by: str | None = None,
) -> Any:
    """Draws, data, constraints and settings as an `xarray.DataTree` in ArviZ's groups."""
    # `moved_by` is what constraints moved besides the factors of their answers.
    attrs = {
        "created_by": "bayesclust",
        "version": version("bayesclust"),
        "seed": settings["random_state"],
        "interrupted": int(draws.interrupted),
        "settings": {name: value for name, value in settings.items() if name not in UNRECORDED},
    }
    if approximation is not None:
        attrs["approximation"] = approximation
        attrs[MOVED_BY] = MEAN_FIELD
    if moved_by is not None:
        attrs[MOVED_BY] = moved_by
    tree = to_datatree(
        draws.posterior,
        draws.sample_stats,
        X=None if no_data(items) else items,
        constraints=constraints,
        dims=draw_dims(constraints),
        attrs=attrs,
    )
    return with_names(tree, items=names[0], features=names[1])


# --- checkpoints: what makes a run the one it is, so that only the same call resumes it


def run_seed(
    random_state: int | Generator | None, path: str | os.PathLike[str] | None
) -> int | Generator | None:
    """The seed of a run: with a checkpoint and no seed given, one is drawn and kept there."""
    if path is None:
        return random_state
    if random_state is not None:
        whole = isinstance(random_state, (int, np.integer))
        return random_state if whole else checks.check_random_state(random_state)
    found = stored_fingerprint(path) or {}
    if "drawn seed" in found:
        return int(found["drawn seed"])
    _check_seed(None)
    return int(np.random.SeedSequence().generate_state(1)[0])


def open_checkpoint(
    path: str | os.PathLike[str] | None,
    settings: Mapping[str, Any],
    items: FloatArray,
    constraints: Sequence[Constraints],
    seed: int | Generator | None,
) -> Checkpoint | None:
    """The checkpoint of a run, if it has one; several processes must run the same either way."""
    if path is None and runner.n_processes() == 1:
        return None
    _check_seed(seed)
    words = fingerprint(settings, items, constraints, seed) if seed is not None else {}
    if path is not None:
        return Checkpoint(path, words, settings["num_chains"], draw_dims(constraints))
    runner.check_same_in_all(words)
    return None


def _check_seed(random_state: int | Generator | None) -> None:
    if random_state is None and runner.n_processes() > 1:
        raise ValueError(
            "random_state=None draws another seed in each process: "
            "give the same number in all of them."
        )
