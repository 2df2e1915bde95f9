"""Several fits side by side, and fits without each view or a part of the constraints in turn.

Partitions of any origin are compared by one posterior, one density and one objective.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaln
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayesclust import checks
from bayesclust.checks import check_choice, check_items, plain_array, some_of, true_labels
from bayesclust.constraints.base import Constraints, Needs, check_constraints
from bayesclust.constraints.noise import refuse_hard
from bayesclust.constraints.stored import prior_means
from bayesclust.inference.limits.tuning import folds
from bayesclust.inference.variational.answers import SoftAnswers
from bayesclust.inference.variational.mean_field import one_hot
from bayesclust.metrics import adjusted_rand, nmi, pairwise_f, variation_of_information
from bayesclust.names import check_same_names
from bayesclust.posterior.credibility import answer_tables
from bayesclust.posterior.credible_ball import SAME, credible_ball
from bayesclust.posterior.distance import posterior_distance
from bayesclust.posterior.losses import Loss, as_loss, expected_losses
from bayesclust.posterior.point_estimate import SETTLED, point_estimate, settled_labels
from bayesclust.posterior.tree import (
    Labels,
    as_labels,
    constraints_if_any,
    data_if_any,
    evenly_spread,
    names_of,
    stacked_partitions,
)
from bayesclust.typing import ArrayLike, IntArray, Seed

__all__ = ["agreement", "compare", "cross_validate", "leave_view_out"]

KINDS = "a fitted estimator, a DataTree of draws, an array (draws, n) or labels (n,)"
CLASS_DRAWS, CLASS_SWEEPS = 200, 20
"""Draws, at most, given which labels are predicted, and updates of classes and noise in each."""
MEASURES: dict[str, tuple[Callable[[ArrayLike, ArrayLike], float], str]] = {
    "vi": (variation_of_information, "variation of information (bits)"),
    "ari": (adjusted_rand, "adjusted Rand index"),
    "nmi": (nmi, "normalized mutual information"),
    "f": (pairwise_f, "pairwise F"),
}


@checks.explained
def compare(
    methods: Any,
    y: ArrayLike | None = None,
    *,
    reference: str | None = None,
    level: float = 0.95,
    loss: str | Loss = "vi",
) -> pd.DataFrame:
    """Put several fits side by side: what each found, and how one posterior and one model rate it.

    Parameters
    ----------
    methods : dict of str to fit
        Fitted estimators, also of scikit-learn (noise labelled -1 is one cluster), trees or arrays
        of draws (draws, n) or (chain, draw, n), or labels (n,), which may be words.
    y : array-like of shape (n,), optional
        True labels.
    reference : str, optional
        Name of the fit whose posterior is the reference, better a sampler's than a mean field's; by
        default the first that has draws.
    level : float in (0, 1), default 0.95
        Probability of the credible ball.
    loss : "vi", "binder" or Loss, default "vi"
        The distance of the ball, and the loss that is expected; equal costs (a = 1) only.

    Returns
    -------
    pandas.DataFrame
        One row per method, without columns that are undefined for all:

        - n_clusters; seconds, wall-clock time of the fit;
        - distance from the reference's own partition, in units of the loss (bits for VI);
          ball_level, the share of the posterior that is no farther away; inside, whether the ball
          of `level` holds the partition; expected_loss, the posterior mean of the loss;
        - log_joint: log p(labels, data, answers) in nats by the reference's `TVClust.log_joint`, or
          that of the first fit that has one; objective: that of the first `RDPMeans`;
        - f, ari, nmi: pairwise F, adjusted Rand index and normalized mutual information with `y`.

        ``attrs`` names the fits that rate the others ("reference", "log_joint_of",
        "objective_of"), and has "loss", "level" and the "radius" of the ball.

    Examples
    --------
    >>> import bayesclust as bc
    >>> draws = [[0, 0, 1, 1]] * 19 + [[0, 0, 0, 1]]
    >>> table = bc.compare({"draws": draws, "one cluster": [0, 0, 0, 0]}, y=[0, 0, 1, 1])
    >>> table[["n_clusters", "inside", "ari"]]
                 n_clusters  inside  ari
    draws                 2    True  1.0
    one cluster           1   False  0.0
    """
    metric = as_loss(loss)
    fits = _read_methods(methods, metric)
    classes = None if y is None else true_labels(y, 1, "y")
    n = len(next(iter(fits.values())).labels)
    if classes is not None and len(classes) != n:
        raise ValueError(
            f"y has {len(classes)} labels, but methods are about {n} items: pass one each."
        )
    drawn = [name for name, fit in fits.items() if fit.draws is not None]
    dense, limits = (
        [name for name, fit in fits.items() if callable(getattr(fit.source, method, None))]
        for method in ("log_joint", "objective")
    )
    if reference is not None and str(reference) not in drawn:
        raise ValueError(
            f"reference={reference!r} is not one of the methods with draws, "
            + (f"{some_of(drawn)}: name one of these." if drawn else "of which there are none.")
        )
    rater = next(iter(drawn), None) if reference is None else str(reference)
    names = {
        "reference": rater,
        "log_joint_of": rater if rater in dense else next(iter(dense), None),
        "objective_of": next(iter(limits), None),
    }
    partitions = np.stack([fit.labels for fit in fits.values()])
    columns: dict[str, Any] = {
        "n_clusters": partitions.max(axis=1) + 1,
        "seconds": [fit.seconds for fit in fits.values()],
    }
    attrs: dict[str, Any] = {"loss": repr(metric), "level": level}
    if rater is not None:
        rating = fits[rater]
        ball = credible_ball(rating.draws, rating.labels, level=level, loss=metric)
        distance = np.array([ball.distance(labels) for labels in partitions])
        columns["distance"] = distance
        columns["ball_level"] = [(ball.distances <= away + SAME).mean() for away in distance]
        columns["inside"] = distance <= ball.radius + SAME
        columns["expected_loss"] = expected_losses(metric, partitions, rating.draws)
        attrs["radius"] = ball.radius
    attrs |= {key: name for key, name in names.items() if name is not None}
    for column in ("log_joint", "objective"):
        name = names[f"{column}_of"]
        if name is not None:
            value = getattr(fits[name].source, column)
            columns[column] = [value(labels) for labels in partitions]
    if classes is not None:
        for name in ("f", "ari", "nmi"):
            columns[name] = [MEASURES[name][0](labels, classes) for labels in partitions]
    table = pd.DataFrame(columns, index=list(fits))
    table.attrs.update(attrs)
    return table.dropna(axis="columns", how="all")


def agreement(methods: Any, measure: str = "vi") -> pd.DataFrame:
    """Return how much each two methods agree.

    Parameters
    ----------
    methods : dict of str to fit
        As in `compare`.
    measure : {"vi", "ari", "nmi", "f"}, default "vi"
        Variation of information in bits, adjusted Rand index, normalized mutual information or
        pairwise F.

    Returns
    -------
    pandas.DataFrame
        One row and one column per method; ``attrs["measure"]`` names the measure.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.agreement({"a": [0, 0, 1, 1], "b": [0, 0, 0, 0], "c": ["x", "x", "y", "y"]})
    variation of information (bits)    a    b    c
    a  0.0  1.0  0.0
    b  1.0  0.0  1.0
    c  0.0  1.0  0.0
    """
    check_choice(measure, "measure", MEASURES)
    fits = _read_methods(methods, as_loss("vi"))
    agree, title = MEASURES[measure]
    partitions = [fit.labels for fit in fits.values()]
    values = np.array([[agree(one, other) for other in partitions] for one in partitions])
    table = pd.DataFrame(values, index=list(fits), columns=pd.Index(fits, name=title))
    table.attrs["measure"] = measure
    return table


class _Method(NamedTuple):
    """One of the things compared."""

    labels: IntArray  # (n,): its partition
    draws: Any  # (draws, n) array of its posterior, or None
    seconds: float  # how long the fit took, nan where unknown
    source: Any  # what was passed


def _read_methods(methods: Any, loss: Loss) -> dict[str, _Method]:
    """Return partitions and draws of what is to be compared, by name."""
    if not isinstance(methods, Mapping):
        raise TypeError(
            f'methods is a {type(methods).__name__}: pass a dict of names, {{"sampler": est, ...}}.'
        )
    if not methods:
        raise ValueError("methods is empty: pass at least one fit under a name of its own.")
    found = {str(name): _read(f"methods[{str(name)!r}]", methods[name], loss) for name in methods}
    if len(found) < len(methods):
        raise ValueError(
            f"methods has the names {some_of(list(map(repr, methods)))}, which are the same word: "
            "give each fit a name of its own."
        )
    first = next(iter(found))
    n = len(found[first].labels)
    for name, method in found.items():
        if len(method.labels) != n:
            raise ValueError(
                f"methods[{first!r}] is about {n} items and methods[{name!r}] about "
                f"{len(method.labels)}: compare partitions of the same items."
            )
    names = {name: names_of(method.source) for name, method in found.items()}
    named = next((name for name in names if names[name]), first)
    for name, own in names.items():
        one, other = (f"methods[{at!r}]" for at in (name, named))
        check_same_names(own, names[named], one, "fit both to one X", other)
    return found


def read_partitions(methods: Any) -> dict[str, tuple[IntArray, list[str]]]:
    """Return labels and names of clusters by method: labels that are given, or `labels_`."""
    found = {}
    for name, method in _read_methods(methods, as_loss("vi")).items():
        _, first = np.unique(method.labels, return_index=True)
        source = method.source
        words = getattr(source, "labels_", method.labels)
        if words is method.labels and not hasattr(source, "children") and np.ndim(source) == 1:
            words = np.asarray(source)
        found[name] = (method.labels, [str(word) for word in words[first]])
    return found


def _read(name: str, value: Any, loss: Loss) -> _Method:
    draws = None
    seconds = float(getattr(value, "fit_seconds_", np.nan))
    if hasattr(value, "labels_"):
        if hasattr(value, "posterior_"):  # an estimator that is no sampler has no draws
            draws = stacked_partitions(value)
        return _Method(_labels(np.asarray(value.labels_), name), draws, seconds, value)
    if hasattr(value, "children"):
        draws = stacked_partitions(value)
        seconds = float(value.attrs.get("fit_seconds", np.nan))
        if SETTLED in value.children:
            return _Method(settled_labels(value), draws, seconds, value)
    elif hasattr(value, "fit"):
        raise TypeError(f"{name} is a {type(value).__name__} without labels_: fit it first.")
    else:
        array = plain_array(value, name, "pass one label per item")
        if array.dtype == object and array.ndim == 0:
            raise TypeError(f"{name} is a {type(value).__name__}: pass {KINDS}.")
        if array.ndim not in (1, 2, 3) or array.size == 0:
            raise ValueError(f"{name} has shape {array.shape}: pass {KINDS}.")
        if array.ndim == 1:
            return _Method(_labels(array, name), draws, seconds, value)
        draws = stacked_partitions(array)
    return _Method(point_estimate(draws, loss), draws, seconds, value)


def _labels(array: Labels, name: str) -> IntArray:
    """Number labels of any sortable kind; those of other packages may be words."""
    if array.dtype.kind in "fc":
        raise TypeError(
            f"{name} holds numbers of dtype {array.dtype}: number the clusters 0, 1, 2, ..."
        )
    return as_labels(true_labels(array, 1, name), name).astype(np.int64)


def leave_view_out(estimator: Any, X: ArrayLike | None, constraints: Any) -> pd.DataFrame:
    """Fit again without each view in turn, the data being one of them, and tell whether they agree.

    Parameters
    ----------
    estimator : estimator with draws
        `TVClust` or `DCRC`, fitted to the data and the answers.
    X : array-like of shape (n, d), or None
    constraints : Constraints or list of Constraints
        What it was fitted to.

    Returns
    -------
    pandas.DataFrame
        One row per view of answers, by the name of what is left out, and, for `TVClust` without
        batches, a last row "data", of the answers alone under the prior of partitions:

        - n_clusters of the point estimate without it;
        - distance between the posteriors with and without it, in bits, and self_distance, what it
          would be between equal ones (`bayesclust.posterior.posterior_distance`);
        - right_with, right_without: share of the view's answers that partitions agree with;
        - gain_over_marginal: log probability of the view's answers by the posterior without them,
          the noise integrated out (a lower bound for labels), less that under sources that ignore
          the items, in nats each;
        - finding: "agrees with the rest" where the gain is above 0, else "conflicts with the rest".

    Notes
    -----
    The gain averages p(answers | partition) over draws, and a few of them may contribute most: with
    hundreds of answers and a wide posterior it comes out too low.

    Examples
    --------
    Answers that follow the clusters, and answers that cut across them:

    >>> import numpy as np
    >>> import bayesclust as bc
    >>> y, other = np.repeat([0, 1], 30), np.tile([0, 1], 30)
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + 5.0 * y[:, None]
    >>> along = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.05, seed=0, name="along")
    >>> across = bc.PairwiseConstraints.sample(
    ...     other, size=40, error_rate=0.05, seed=0, name="across"
    ... )
    >>> short = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "random_state": 0}
    >>> est = bc.TVClust(cluster_model="single", **short).fit(X, constraints=[along, across])
    >>> bc.leave_view_out(est, X, [along, across])["finding"].dropna().to_dict()
    {'along': 'agrees with the rest', 'across': 'conflicts with the rest'}
    """
    if hasattr(type(estimator), "to_arviz"):
        check_is_fitted(estimator)
    if not hasattr(estimator, "posterior_"):
        raise TypeError(
            f"the estimator must have draws, and a {type(estimator).__name__} has none: fit a "
            "TVClust or a DCRC."
        )
    whole = stacked_partitions(estimator)
    views = check_constraints(constraints, whole.shape[1], needs=_needs(estimator))
    refuse_hard(views, "leave_view_out")
    if not views:
        raise ValueError(
            "there are no constraints to leave out: pass those that the estimator was fitted to."
        )
    _check_fitted_to(estimator, X, views)
    if X is None and len(views) == 1:
        raise ValueError(
            "nothing is left without these constraints: pass the data, or two sets of constraints."
        )
    rows = {}
    for view in views:
        others = [other for other in views if other is not view]
        fit = clone(estimator).fit(X, constraints=others or None)
        without = _without(fit, whole)
        rows[view.name] = without | _predicted(view, whole, stacked_partitions(fit))
    samples_z = isinstance(getattr(estimator, "cluster_model", None), str)
    if X is not None and samples_z and getattr(estimator, "_batches", None) is None:
        rows["data"] = _without(clone(estimator).fit(None, constraints=views), whole)
    return pd.DataFrame.from_dict(rows, orient="index")


def _check_fitted_to(estimator: Any, X: Any, views: Sequence[Constraints]) -> None:
    """Refuse other data and other constraints than those of a fit, as far as it has kept them."""
    known = {own.name: own for own in constraints_if_any(estimator)}
    own_noise = hasattr(estimator, "cluster_model")  # DCRC has one noise for all
    for view in views:
        own, given = known.pop(view.name, None), view.given
        if (
            own is None
            or any(
                not np.array_equal(getattr(own, part), getattr(given, part))
                for part in ("items", "answers", "source")
            )
            or (own_noise and own.prior != prior_means(view))
        ):
            raise ValueError(
                f"the estimator was not fitted to the constraints {view.name!r} as they are here: "
                "pass those that it was fitted to."
            )
    if known:
        raise ValueError(
            f"the estimator was fitted to the constraints {some_of(list(map(repr, known)))}, too: "
            "pass all of them."
        )
    data = data_if_any(estimator)
    if data is None or X is None or data.shape != np.shape(X):
        return  # words and batches have no numbers to compare
    try:
        same = np.array_equal(check_items(X, missing=True), data, equal_nan=True)
    except (TypeError, ValueError):  # words
        return
    if not same:
        raise ValueError("X is not the data that the estimator was fitted to: pass these.")


def _without(fit: Any, whole: Labels) -> dict[str, Any]:
    """How the posterior without a view differs from that with everything."""
    apart = posterior_distance(whole, fit)
    distances = {"distance": apart.wasserstein, "self_distance": apart.self_distance}
    return {"n_clusters": fit.n_clusters_} | distances


def _predicted(view: Constraints, whole: Labels, rest: Labels) -> dict[str, Any]:
    """How partitions of a posterior without the view predict it."""
    if view.has_table:
        shares = [float((view.truths(z) == view.said).mean()) for z in (whole, rest)]
        log_p = np.array([view.noise.log_marginal(view.counts(z)) for z in rest])
    else:
        spread = [z[evenly_spread(CLASS_DRAWS, len(z))].astype(np.int64) for z in (whole, rest)]
        found = [np.array([_labels_given(view, one) for one in z]) for z in spread]
        shares, log_p = [float(own[:, 0].mean()) for own in found], found[1][:, 1]
    # of sources that give each answer regardless of the items
    codes = np.bincount(view.codes, minlength=view.n_sources * view.n_answers)
    times = codes.reshape(view.n_sources, -1) + 1.0
    log_marginal = (gammaln(times).sum(axis=1) - gammaln(times.sum(axis=1))).sum()
    log_marginal += view.n_sources * gammaln(view.n_answers)
    gain = float(np.logaddexp.reduce(log_p) - np.log(len(log_p)) - log_marginal)
    return {
        "right_with": shares[0],
        "right_without": shares[1],
        "gain_over_marginal": gain / max(len(view), 1),
        "finding": "agrees with the rest" if gain > 0 else "conflicts with the rest",
    }


def _needs(estimator: Any) -> Needs:
    """Labels stay labels where the estimator takes them as evidence; else they become pairs."""
    own = not callable(getattr(estimator, "sampler", None))
    return "classes" if own and hasattr(estimator, "predict_label_proba") else "table"


def _labels_given(view: Constraints, z: IntArray) -> tuple[float, float]:
    """Share of labels that are the class of their cluster, and the bound on log p(labels | z)."""
    named, row = np.unique(view.items[:, 0], return_inverse=True)
    soft, r = SoftAnswers([view.restrict(named)], len(named)), one_hot(z[named])
    table = soft.table_of_means
    for _ in range(CLASS_SWEEPS):
        classes = soft.classes(r, table)
        counts = soft.counts(r, classes)
        table = soft.expected_table(counts)
    right = classes[z[named][row], view.answers].mean()
    return float(right), soft.value(counts, None, classes)


def cross_validate(
    estimator: Any, X: ArrayLike, constraints: Any, *, n_folds: int = 5, random_state: Seed = None
) -> pd.DataFrame:
    """Fit without each part of the answers in turn, and score how well that part is predicted.

    Parameters
    ----------
    estimator : estimator
        Any that takes constraints; it is cloned.
    X, constraints
        As of its `fit`. All labels of an item are held out together; for estimators that take
        labels as pairs, the pairs that they imply.
    n_folds : int, default 5
        Parts into which the answers of each kind are divided at random.
    random_state : int, Generator or None, default None
        Seed of the parts; fits have the estimator's own.

    Returns
    -------
    pandas.DataFrame
        By fold: answers held out, n_clusters, satisfied (the share of these answers that `labels_`
        agree with; of labels, that are the item's likeliest class), log_score (their mean log
        probability given the others, in nats; nan for estimators without draws) and seconds.

    Warns
    -----
    Warning
        Once, with the first of the warnings of the fits and their number.

    Examples
    --------
    >>> import bayesclust as bc
    >>> X, y = [[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]], [0, 0, 0, 1, 1, 1]
    >>> links = bc.PairwiseConstraints.sample(y, size=12, seed=0)
    >>> bc.cross_validate(bc.RDPMeans(penalty=20), X, links, n_folds=3)["satisfied"].tolist()
    [1.0, 1.0, 1.0]
    """
    if isinstance(estimator, type) or not has_fit_parameter(estimator, "constraints"):
        kind = checks.kind_of(estimator)
        raise TypeError(f"estimator is {kind}: pass one that takes constraints, as TVClust().")
    first = constraints[0] if isinstance(constraints, list) and constraints else constraints
    given = check_constraints(constraints, getattr(first, "n_items", 0), needs=_needs(estimator))
    given = [one.given for one in given]
    most = max((len(np.unique(one.units)) for one in given), default=0)
    if most < 2:
        raise ValueError(
            f"constraints hold {checks.counted(most, 'answer')}: pass at least two to hold out one."
        )
    number = checks.check_int(n_folds, "n_folds", least=2, most=most)
    rng = checks.check_random_state(random_state)
    rows = []
    warned: list[warnings.WarningMessage] = []
    for kept, held in folds(given, rng, number, enough=np.inf):
        with warnings.catch_warnings(record=True) as caught:
            fit = clone(estimator).fit(X, constraints=kept)
        warned += caught
        agree = []
        for one in held:
            if one.has_table:
                truths = one.truths(fit.labels_)
            else:
                classes = fit.predict_label_proba().to_numpy()
                truths = classes.argmax(axis=1)[one.items[:, 0]]
            agree.append(truths == one.said)
        row = {"answers": sum(map(len, held)), "n_clusters": fit.n_clusters_}
        row |= {"satisfied": np.concatenate(agree).mean(), "log_score": np.nan}
        if hasattr(fit, "posterior_"):
            pairs = zip(answer_tables(fit, held), held, strict=True)
            p = [t[..., np.arange(len(own)), own.answers].mean(axis=(0, 1)) for t, own in pairs]
            row["log_score"] = np.log(np.concatenate(p)).mean()
        rows.append(row | {"seconds": fit.fit_seconds_})
    if warned:
        first, times = warned[0], checks.counted(len(warned), "warning")
        warnings.warn(f"{times} of {number} fits, the first: {first.message}", first.category, 2)
    return pd.DataFrame(rows).rename_axis("fold")
