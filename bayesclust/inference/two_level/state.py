"""Chains of a model whose clusters are mixtures: items in components, components in clusters.

Classes are seldom ellipses. Here clusters are sets of components (mixtures of mixtures,
Malsiner-Walli, Fruehwirth-Schnatter and Gruen 2017, with processes on both levels). The likelihood
depends on components alone, the constraints on clusters alone; the prior of both is in
`bayesclust.partition_priors.nested`.

In a scan (`bayesclust.inference.moves.scan`) item i, taken out, joins a component k that exists,
opens one in a cluster g that exists, or opens a cluster. With c(n) = W(n) V'(n, 1),

    log w_k    = log W'(n_k + 1) / W'(n_k) + log c(n_g + 1) / c(n_g) + log p(x_i | k) + sites of g
    log w_g    = log A(m_g + 1) / A(m_g)   + log c(n_g + 1) / c(n_g) + log p(x_i)     + sites of g
    log w_new  = log V(n, K + 1) / V(n, K)                           + log p(x_i)

with all sizes without i (log n_k + log n_g / (n_g + beta) and so on for Dirichlet processes).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, implements
from bayesclust.constraints.factor_graph import UNPLACED, Sites, add_set_logits, add_site_logits
from bayesclust.inference import assignment as partition
from bayesclust.inference.assignment import Assignment, close_slot, open_slot
from bayesclust.inference.chain import State, TwoLevelProblem
from bayesclust.inference.moves.scan import place, take_out, weigh_options
from bayesclust.partition_priors.nested import NestedTables, nested_log_prob, nested_tables
from bayesclust.typing import FloatArray, IntArray, NDArray


class Levels(NamedTuple):
    """The clusters above an assignment to components."""

    clusters: Assignment  # of items; clusters.z is (n,)
    owner: IntArray  # (C,) cluster of each component slot
    size: IntArray  # (C,) items of each cluster slot
    parts: IntArray  # (C,) components of each cluster slot


class TwoLevelTarget(NamedTuple):
    """The target distribution of a chain on two levels, as kernels read it."""

    state: Any  # the family's state of the components
    assignment: Assignment  # of items to components
    levels: Levels
    sites: Sites
    table: FloatArray  # (codes, 5) log p(answer | pattern)
    prior: NestedTables


def new_levels(
    components: NDArray[np.integer], clusters: NDArray[np.integer], capacity: int
) -> Levels:
    """Group components by the clusters of their items; labels without gaps."""
    owner = np.zeros(capacity, np.int64)
    owner[components] = clusters
    number = int(components.max()) + 1
    size = np.bincount(clusters, minlength=capacity).astype(np.int64)
    parts = np.bincount(owner[:number], minlength=capacity).astype(np.int64)
    return Levels(partition.new_assignment(clusters, capacity), owner, size, parts)


class TwoLevelState(State):
    """A state with `clusters` and `assignment` of components, and `levels` of clusters above."""

    problem: TwoLevelProblem

    def __init__(self, problem: TwoLevelProblem, z: NDArray[np.integer], rng: Generator) -> None:
        labels = np.asarray(z)
        self.within: dict[str, float] = problem.within.initial()
        self.levels = new_levels(labels, labels, len(labels))
        super().__init__(problem, labels, rng)

    @property
    def labels(self) -> IntArray:
        return self.levels.clusters.z

    @property
    def n_clusters(self) -> int:
        return int(self.levels.clusters.number[0])

    @property
    def n_components(self) -> int:
        """Number of components in all clusters."""
        return int(self.assignment.number[0])

    def prior_tables(self, capacity: int) -> Any:
        among = super().prior_tables(capacity)
        return nested_tables(among, self.problem.within, capacity, self.within)

    @property
    def target(self) -> TwoLevelTarget:
        return TwoLevelTarget(
            self.clusters, self.assignment, self.levels, self.sites, self.table, self.prior
        )

    def assign(self, z: NDArray[np.integer]) -> None:
        super().assign(z)
        above = self.levels.clusters.place[self.levels.clusters.z]
        self.levels = new_levels(z, above, len(self.assignment.slots))

    def regroup(
        self, components: IntArray, clusters: IntArray, within: Mapping[str, float]
    ) -> None:
        """Set components and clusters (n,), labels without gaps."""
        super().assign(components)
        self.levels = new_levels(components, clusters, len(self.assignment.slots))
        self.within = dict(within)

    def update_partition_prior(self) -> None:
        clusters = self.levels.clusters
        number = self.n_clusters
        sizes = self.levels.size[clusters.slots[:number]]
        values = self.problem.partition_prior.update(self.values, [sizes], self.rng)
        components = self.assignment.slots[: self.n_components]
        above = clusters.place[self.levels.owner[components]]
        count = self.clusters.count[components]
        groups = [count[above == g] for g in range(number)]
        self.within = self.problem.within.update(self.within, groups, self.rng)
        self.values = values  # the tables of both are made again

    def log_partition(self) -> float:
        problem = self.problem
        values = self.values
        within = self.within
        priors = problem.partition_prior, problem.within
        value = nested_log_prob(self.assignment.z, self.labels, *priors, values, within)
        return value + priors[0].log_prior(values) + priors[1].log_prior(within)

    def draw(self) -> dict[str, Any]:
        variables = super().draw()
        variables["component"] = self.assignment.place[self.assignment.z]
        variables["n_components"] = self.n_components
        return variables | {f"within_{name}": value for name, value in self.within.items()}

    def snapshot(self) -> dict[str, Any]:
        levels = self.levels._asdict() | {"clusters": self.levels.clusters._asdict()}
        return super().snapshot() | {"within": dict(self.within), "levels": levels}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        self.within = dict(snapshot["within"])
        super().restore(snapshot)
        levels = snapshot["levels"]
        clusters = partition.restored_assignment(levels["clusters"], self.problem.n_items)
        self.levels = own = Levels(**levels | {"clusters": clusters})
        shapes = [array.shape for array in (clusters.slots, own.size, own.parts)]
        if len(set(shapes)) > 1 or own.owner.shape != self.assignment.slots.shape:
            raise ValueError(partition.OUT_OF_RANGE)
        used, places = clusters.slots[: clusters.number[0]], len(clusters.slots)
        components = own.owner[self.assignment.slots[: self.n_components]]
        right = (
            np.array_equal(own.owner[self.assignment.z], clusters.z)
            and np.array_equal(own.size[used], np.bincount(clusters.z, minlength=places)[used])
            and np.array_equal(own.parts[used], np.bincount(components, minlength=places)[used])
        )
        if not right:  # the contents of free slots do not matter
            raise ValueError(partition.OUT_OF_RANGE)


@implements(take_out, TwoLevelTarget, fastmath=FAST, forceinline=True, no_refcount=True)
def _take_out(target, i, alone):  # type: ignore[no-untyped-def]
    components = target.assignment
    levels = target.levels
    k = components.z[i]
    g = levels.clusters.z[i]
    components.z[i] = UNPLACED
    levels.clusters.z[i] = UNPLACED
    levels.size[g] -= 1
    if alone:
        close_slot(components, k)
        levels.parts[g] -= 1
    if levels.size[g] == 0:
        close_slot(levels.clusters, g)


@implements(weigh_options, TwoLevelTarget, fastmath=FAST, forceinline=True, no_refcount=True)
def _weigh_options(target, i, predictive, site, logits):  # type: ignore[no-untyped-def]
    state, components, levels, sites, table, prior = target
    clusters = levels.clusters
    number = components.number[0]
    alone = predictive[len(predictive) - 1]
    add_site_logits(sites, table, clusters.z, i, site)
    add_set_logits(sites, table, clusters.z, i, site)
    options = number
    for a in range(clusters.number[0]):
        g = clusters.slots[a]
        site[g] += prior.log_grow[levels.size[g]]
        logits[options] = prior.within.log_open[levels.parts[g]] + alone + site[g]
        options += 1
    for a in range(number):
        k = components.slots[a]
        weight = prior.within.log_join[state.count[k]] + site[levels.owner[k]]
        logits[a] = weight + predictive[k]
    for a in range(clusters.number[0]):
        site[clusters.slots[a]] = 0.0
    logits[options] = prior.among.log_open[clusters.number[0]] + alone
    return options + 1


@implements(place, TwoLevelTarget, fastmath=FAST, forceinline=True, no_refcount=True)
def _place(target, i, choice, old, alone):  # type: ignore[no-untyped-def]
    components = target.assignment
    levels = target.levels
    clusters = levels.clusters
    number = components.number[0]
    if choice < number:
        k = components.slots[choice]
        g = levels.owner[k]
    else:
        if choice < number + clusters.number[0]:
            g = clusters.slots[choice - number]
        else:
            g = open_slot(clusters)
            levels.size[g] = 0
            levels.parts[g] = 0
        k = open_slot(components)
        levels.owner[k] = g
        levels.parts[g] += 1
    components.z[i] = k
    clusters.z[i] = g
    levels.size[g] += 1
    return k
