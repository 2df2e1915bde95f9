"""What clusters are: the posterior of their parameters, given a partition.

Samplers integrate the parameters theta_k of the clusters out (TVClust Sec. 3.1 to 3.3). Given a
partition and the hyper-parameters of a posterior draw they have the family's conjugate posterior,
from which they are drawn here. The shares of the clusters, given that an item is in one of them,
are Dirichlet with the weights W(n_k + 1) / W(n_k) of the partition prior: n_k for a Dirichlet
process, n_k - discount for Pitman-Yor, n_k + gamma for finite mixtures.

Where clusters are mixtures, a cluster consists of the components that its items have in a draw,
with shares by the prior within; moments are those of the mixture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from bayesclust.checks import check_int, check_memory, check_random_state, number_between
from bayesclust.families.base import Quantity, Terms, hard_statistics
from bayesclust.inference.prediction import Prediction, with_shared
from bayesclust.partition_priors import PartitionPrior, Values
from bayesclust.posterior.tree import as_labels, feature_names, group
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Seed

__all__ = ["cluster_profiles"]

Moments = Callable[[Terms], tuple[FloatArray, FloatArray]]
TINY = 1e-300


def cluster_profiles(
    estimator: Any,
    labels: ArrayLike | None = None,
    *,
    num_draws: int = 200,
    prob: float = 0.9,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Describe each cluster by the posterior of its parameters, given the partition.

    Parameters
    ----------
    estimator : TVClust
        Fitted, with a density for each cluster: not a classifier.
    labels : array-like of int, shape (n,), optional
        The partition; by default `labels_`.
    num_draws : int, default 200
        Draws of the parameters. With 200, an end of an interval has a standard error of a tenth of
        its half width; ask for more where that matters.
    prob : float in (0, 1), default 0.9
        Posterior probability of each interval, which leaves out as much below as above.
    seed : int, Generator or None, default 0

    Returns
    -------
    pandas.DataFrame
        One row for each cluster, numbered as in the labels, and each feature in the order of the
        columns, by their names, in the units of the data:

        - size: number of items;
        - weight, weight_low, weight_high: share of the cluster in the population of these clusters,
          its posterior mean and interval;
        - mean, mean_low, mean_high: the mean of the feature within the cluster;
        - sd, sd_low, sd_high: its standard deviation within the cluster;
        - difference: how far the mean lies above that of all other items, in standard deviations
          within clusters: the largest ones say what tells the cluster from the rest.

        A feature "column=code" of codes or words, or of values behind a hurdle, is whether an item
        shows it, so that its mean is a probability; so are those of columns of zeros and ones. A
        column behind a hurdle has the mean of its other values. The mean of a column of counts is a
        rate, or with family "multinomial" its share. Constant columns are left out.

    Raises
    ------
    TypeError, ValueError
        If the estimator has no densities of clusters, or the labels are not one for each item.

    Notes
    -----
    Hyper-parameters are those of posterior draws, so that their uncertainty is in the intervals;
    that of the partition is not. Where the fit is one of principal components (`reduction_`),
    columns are what these components say of them, and a residual that is the same in all clusters.

    References
    ----------
    Khashabi et al., Sec. 3.1 to 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import bayesclust as bc
    >>> y = np.repeat([0, 1], 30)
    >>> X = np.random.default_rng(0).normal(np.c_[160 + 20 * y, 5 + 0 * y], 4)
    >>> data = pd.DataFrame(X, columns=["height", "noise"])
    >>> est = bc.TVClust("variational", num_samples=50, random_state=0).fit(data)
    >>> table = bc.cluster_profiles(est, labels=y)
    >>> table["mean"].xs("height", level="feature").round(-1)
    cluster
    0    160.0
    1    180.0
    Name: mean, dtype: float64
    >>> table.loc[1, "difference"].idxmax()
    'height'
    """
    number = check_int(num_draws, "num_draws")
    tail = (1.0 - number_between(prob, "prob", "(0, 1)")) / 2
    rng = check_random_state(seed, "seed")
    drawn = _spread_draws(estimator, number)
    given = estimator.labels_ if labels is None else labels
    as_labels(given, "labels", drawn.z.shape[1])
    clusters, z = np.unique(np.asarray(given), return_inverse=True)
    moments, quantities = _moments(estimator, drawn)
    check_memory(
        32 * number * len(clusters) * len(quantities),
        f"{number:,} draws of {len(clusters):,} clusters with {len(quantities):,} features",
        "ask for fewer draws",
    )
    mean, variance, share = _draw(drawn, z, number, moments, rng)
    size = np.bincount(z)
    columns: dict[str, Any] = {"size": np.broadcast_to(size[:, None], mean.shape[1:])}
    columns |= _summary("weight", np.broadcast_to(share[:, :, None], mean.shape), tail)
    columns |= _summary("mean", mean, tail) | _summary("sd", np.sqrt(variance), tail)
    columns["difference"] = _differences(mean, variance, size)
    order = sorted(range(len(quantities)), key=lambda at: quantities[at][0])
    names = _names(estimator, [quantities[at] for at in order])
    index = pd.MultiIndex.from_product([clusters.tolist(), names], names=["cluster", "feature"])
    table = pd.DataFrame({key: own[:, order].ravel() for key, own in columns.items()}, index=index)
    table.attrs["prob"] = prob
    return table


def _spread_draws(estimator: Any, number: int) -> Prediction:
    """Draws of a fit with densities of its clusters, or a refusal."""
    spread_draws = getattr(estimator, "spread_draws", None)
    if spread_draws is None or isinstance(estimator, type):
        raise TypeError(
            f"the estimator must be a fitted TVClust, whose clusters have densities; got "
            f"{type(estimator).__name__}: pass one, or describe the items of each label."
        )
    drawn = spread_draws(number)
    if not isinstance(drawn, Prediction):
        raise ValueError(
            "the clusters of a classifier have no parameters in the units of the data: fit with "
            'cluster_model="single" or "mixture", or describe the items of each label.'
        )
    return drawn


def _moments(estimator: Any, drawn: Prediction) -> tuple[Moments, list[Quantity]]:
    """Means and variances of the user's columns from drawn terms, and what these columns are."""
    family: Any = drawn.family
    reduction = getattr(estimator, "reduction_", None)
    if reduction is None:
        return family.moments, family.quantities
    items = group(estimator, "observed_data")["X"].values
    residual = items - reduction.inverse_transform(reduction.transform(items))
    rest = np.square(residual).mean(axis=0)
    d = reduction.transform(items[:1]).shape[1]
    origin = reduction.inverse_transform(np.zeros((1, d)))
    turned = (reduction.inverse_transform(np.eye(d)) - origin)[family.kept]

    def moments(terms: Terms) -> tuple[FloatArray, FloatArray]:
        mean, covariance = family.covariances(terms)
        return origin + mean @ turned, ((covariance @ turned) * turned).sum(axis=1) + rest

    return moments, [(j, None) for j in range(items.shape[1])]


def _draw(
    drawn: Prediction, z: IntArray, number: int, moments: Moments, rng: Generator
) -> list[FloatArray]:
    """Draw means and variances (S, K, f) and shares (S, K), from the posterior's draws in turn."""
    which = np.arange(number) % len(drawn.z)
    sizes = np.bincount(z)
    parts = np.tile(z, (number, 1))
    if drawn.components is not None:
        pairs = z * (int(drawn.components.max()) + 1) + drawn.components[which]
        parts = np.stack([np.unique(row, return_inverse=True)[1] for row in pairs])
    family = drawn.family
    hyper = drawn.hyper[which, : len(family.hyper_priors)]
    hyper = with_shared(family, parts, hyper)
    means, variances, shares = [], [], []
    statistics: Terms = ()
    for s, at in enumerate(which.tolist()):
        if drawn.batches is not None and drawn.batches.shift is not None:
            none = np.zeros(0, np.int64)
            moved = drawn.family.with_rows(drawn.batches.without_shifts(at, drawn.rows, none))
            statistics = hard_statistics(moved, parts[s], int(parts[s].max()) + 1)
        elif s == 0 or drawn.components is not None:
            statistics = hard_statistics(family, parts[s], int(parts[s].max()) + 1)
        mean, variance = moments(family.terms(statistics, hyper[s], rng))
        if drawn.within is not None and drawn.within_values is not None:
            owner = np.zeros(len(mean), np.int64)
            owner[parts[s]] = z
            own = _shares(drawn.within, np.bincount(parts[s]), drawn.within_values[at], owner, rng)
            # of mixtures of components, by their shares
            weight = (owner == np.arange(owner.max() + 1)[:, None]) * own
            whole = weight @ mean
            variance = weight @ (variance + np.square(mean - whole[owner]))
            mean = whole
        means.append(mean)
        variances.append(variance)
        one = np.zeros(len(sizes), np.int64)
        shares.append(_shares(drawn.partition_prior, sizes, drawn.values[at], one, rng))
    return [np.stack(draws) for draws in (means, variances, shares)]


def _shares(
    prior: PartitionPrior, sizes: IntArray, values: Values, owner: IntArray, rng: Generator
) -> FloatArray:
    """Draw the shares of parts within their owners."""
    growth = sizes.astype(np.float64)
    if prior.exchangeable:
        growth = np.exp(prior.log_w(sizes + 1, values) - prior.log_w(sizes, values))
    gammas = np.maximum(rng.standard_gamma(growth), TINY)
    return gammas / np.bincount(owner, gammas)[owner]


def _summary(name: str, draws: FloatArray, tail: float) -> dict[str, FloatArray]:
    """Posterior mean and interval (K, f) of draws (S, K, f)."""
    low, high = np.quantile(draws, (tail, 1.0 - tail), axis=0)
    return {name: draws.mean(axis=0), f"{name}_low": low, f"{name}_high": high}


def _differences(mean: FloatArray, variance: FloatArray, size: IntArray) -> FloatArray:
    """Means less those of all other items, in standard deviations within clusters: (K, f)."""
    if len(size) == 1:
        return np.full(mean.shape[1:], np.nan)
    own = size[:, None] * mean
    rest = (own.sum(axis=1, keepdims=True) - own) / (size.sum() - size)[:, None]
    within = (size[:, None] * variance).sum(axis=1, keepdims=True) / size.sum()
    return np.asarray(((mean - rest) / np.sqrt(within)).mean(axis=0))


def _names(estimator: Any, quantities: list[Quantity]) -> list[str]:
    """Columns by their names, with the code or the word behind "=" where there is one."""
    columns = feature_names(estimator)
    words = getattr(estimator, "_words", {})
    names = []
    for column, value in quantities:
        name = columns[column]
        if value is not None:
            name += f"={words[column][int(value)] if words.get(column) else format(value, 'g')}"
        names.append(name)
    return names
