"""The prior over partitions on two levels: items in components, components in clusters.

Clusters follow a Gibbs-type prior with V and W, and the items of each cluster are divided into
components by another, with V' and W'. For clusters of n_g items with m_g components of n_gk items,

    p = V(n, K) prod_g [ W(n_g) V'(n_g, m_g) prod_k W'(n_gk) ].

Components are of a process with V'(n, m) = V'(n, 1) A(m) (`PartitionPrior.separable`). A cluster
that gains s items in c components then gains the weight

    c(n_g + s) / c(n_g) A(m_g + c) / A(m_g),    c(n) = W(n) V'(n, 1) (`NestedTables.log_cluster`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesclust.checks import check_choice
from bayesclust.partition_priors.base import DirichletProcess, PartitionPrior, Tables, Values
from bayesclust.partition_priors.finite_mixtures import MixtureOfFiniteMixtures
from bayesclust.partition_priors.microclustering import Microclustering
from bayesclust.partition_priors.pitman_yor import PitmanYor
from bayesclust.typing import ArrayLike, FloatArray

# under a Dirichlet process outlying items would make clusters, the more the more data there are
AMONG = MixtureOfFiniteMixtures(n_components=("geometric", 0.2))
"""Prior of clusters that are mixtures: outlying items sooner become components than clusters."""
WITHIN = DirichletProcess((1.0, 10.0))
"""Prior of components: two of fifty items each are seven times as probable as two clusters."""


@dataclass(frozen=True)
class Nested:
    """Priors on two levels, for clusters that are mixtures of components.

    Parameters
    ----------
    among : PartitionPrior, default MixtureOfFiniteMixtures with ("geometric", 0.2) components
        Prior of the clusters.
    within : DirichletProcess or PitmanYor, default DirichletProcess((1.0, 10.0))
        Prior of each cluster's partition into components.

    Examples
    --------
    >>> from bayesclust.partition_priors import KnownK, Nested
    >>> Nested(KnownK(3)).within.concentration
    (1.0, 10.0)
    """

    among: PartitionPrior = AMONG
    within: PartitionPrior = WITHIN

    def __post_init__(self) -> None:
        check_prior(self.among)
        check_prior(self.within)
        if not self.within.separable:
            raise ValueError(
                f"{type(self.within).__name__} cannot be the prior of components within a cluster: "
                "pass a DirichletProcess or PitmanYor."
            )


WORDS: dict[str, Callable[[], PartitionPrior]] = {
    "dirichlet_process": DirichletProcess,
    "pitman_yor": PitmanYor,
    "microclustering": Microclustering,
    "finite_mixtures": MixtureOfFiniteMixtures,
}
"""Priors with their defaults, by name."""


def as_nested(
    prior: PartitionPrior | Nested | str | None,
    *,
    mixture: bool = False,
    name: str = "partition_prior",
) -> Nested:
    """A prior of clusters, or its name, with the default within."""
    # None is a Dirichlet process, the model of the paper, and for mixtures the default of `Nested`.
    if prior is None:
        return Nested() if mixture else Nested(DirichletProcess())
    if isinstance(prior, str):
        check_choice(prior, name, WORDS)
        return Nested(WORDS[prior]())
    return prior if isinstance(prior, Nested) else Nested(prior)


def check_prior(prior: Any) -> PartitionPrior:
    """The prior, if it is one."""
    if not isinstance(prior, PartitionPrior):
        raise TypeError(
            f"a {type(prior).__name__} is not a prior over partitions: pass bc.partition_priors."
            "DirichletProcess() or another."
        )
    return prior


def as_prior(prior: PartitionPrior | None) -> PartitionPrior:
    """The prior itself, or a Dirichlet process where there is none; refuses anything else."""
    return DirichletProcess() if prior is None else check_prior(prior)


class NestedTables(NamedTuple):
    """The prior on two levels as samplers read it."""

    among: Tables
    within: Tables
    log_cluster: FloatArray  # (n + 1,) log W(n) + log V'(n, 1); 0 at n = 0
    log_grow: FloatArray  # (n + 1,) its differences


def nested_tables(among: Tables, within: PartitionPrior, most: int, values: Values) -> NestedTables:
    """Tables of both levels, from those of the clusters."""
    n = len(among.log_w) - 1
    log_one = within.log_v(np.arange(n + 1), 1, values) + within.log_w(np.ones(1, np.int64), values)
    log_cluster = np.append(0.0, among.log_w[1:] + log_one[1:])
    log_grow = np.append(among.log_join[:-1] + np.diff(log_one), 0.0)
    log_grow[0] = 0.0
    return NestedTables(among, within.tables(n, most, values), log_cluster, log_grow)


def nested_log_prob(
    components: ArrayLike,
    clusters: ArrayLike,
    prior: PartitionPrior,
    within: PartitionPrior,
    values: Values,
    within_values: Values,
) -> float:
    """log p(components, clusters) by the formula above; -inf if a component is in two clusters."""
    upper, size = np.unique(np.asarray(clusters), return_inverse=True, return_counts=True)[1:]
    first, lower, part = np.unique(
        np.asarray(components), return_index=True, return_inverse=True, return_counts=True
    )[1:]
    owner = upper[first]
    value = prior.log_prob(size, values)
    n, number = np.bincount(owner, part).astype(np.int64), np.bincount(owner)
    value += within.log_v(n, number, within_values).sum()
    value += within.log_w(part, within_values).sum()
    torn = (owner[lower] != upper).any()
    return -np.inf if torn else float(value)
