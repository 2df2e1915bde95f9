"""Chains whose items come in batches: the hierarchical Dirichlet process by direct assignment.

The state has the weights beta beside the labels, and in a scan (`bayesclust.inference.moves.scan`)
item i of batch j, taken out,

    log w_k   = log(alpha beta_k + n_jk) + log p(x_i | cluster k without i) + site logits of k
    log w_new = log(alpha beta_u)        + log p(x_i)

A cluster that opens takes the share v ~ Beta(1, gamma) of beta_u, and one that empties gives its
weight back: beta_1..K, beta_u of K clusters is what is left of K + 1 if one is integrated out.

**Split-merge.** Merged clusters have the sum of their weights, and a split divides a weight by odds
that are drawn: x = log(beta_A / beta_B) is logistic about log(t_A / t_B), t being sum_j log(1 +
n_jk), with density q(x). The Jacobian cancels the 1 / beta of the clusters, so that in r of
`bayesclust.inference.moves.split_merge` the prior's part is

    gamma F(A) F(B) / F(S) / q(x),   F(C) = prod_j Gamma(alpha beta_C + n_jC) / Gamma(alpha beta_C).

Items are allocated in a launch as if they were of one batch, which only proposes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bayesclust._numba import FAST, device, implements, kernel
from bayesclust.checks import rows_in_words
from bayesclust.constraints.factor_graph import (
    UNPLACED,
    Dirichlets,
    Sites,
    add_set_logits,
    add_site_logits,
)
from bayesclust.families import base
from bayesclust.families.base import BoundFamily
from bayesclust.families.squared_distance import LOG_TWO_PI
from bayesclust.inference import assignment as partition
from bayesclust.inference.assignment import Assignment, Target, close_slot, open_slot
from bayesclust.inference.chain import State, TVClustProblem
from bayesclust.inference.moves import link_blocks, split_merge
from bayesclust.inference.moves.scan import place, take_out, weigh_options
from bayesclust.inference.shifts import aligned, check_shifts, log_prior, with_items
from bayesclust.partition_priors import DirichletProcess, Tables, Values
from bayesclust.partition_priors.hierarchical import CONCENTRATIONS, SHIFT_PRECISION, fresh_share
from bayesclust.typing import FloatArray, IntArray, NDArray

LEAST, ROUNDING = 1e-300, 1e-6
SHIFTS = "batch_shifts"
"""Shifts of batches in the posterior, in the user's units."""
WIDER = 1.3
"""Deviation of proposed log odds of weights relative to that of Beta(t_A, t_B), roughly."""
LOGISTIC = math.sqrt(3.0) / math.pi
"""Scale of a logistic distribution of standard deviation 1."""


@dataclass(frozen=True)
class BatchProblem(TVClustProblem):
    """A problem with a `HierarchicalDirichletProcess`, `batch` (n,) and the batches' names."""

    partition_prior: Any = None
    batch: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    batch_names: Sequence[str] = ()
    reference: int = 0
    """The batch whose shift is 0, where batches are shifted."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.family.n_shared:
            raise ValueError(
                f"{type(self.family).__name__} has a covariance that all clusters share, which "
                "is not sampled together with batches: choose another family."
            )
        if self.has_shifts:
            check_shifts(self.family)

    @property
    def has_shifts(self) -> bool:
        """Whether batches are shifted."""
        return bool(self.partition_prior.shifts)

    @property
    def shifted(self) -> IntArray:
        """The batches with a shift to be drawn."""
        every = np.arange(len(self.batch_names) if self.has_shifts else 0)
        return every[every != self.reference]

    @cached_property
    def start_shifts(self) -> FloatArray:
        """Shifts (J, d) that bring each batch near the reference."""
        X, found = self.family.X, np.zeros((len(self.batch_names), self.family.X.shape[1]))
        for j in self.shifted:
            found[j] = aligned(X[self.batch == j], X[self.batch == self.reference])
        return found

    def without(self, shift: FloatArray) -> BoundFamily:
        """The family with the items where they would be without shifts."""
        return self.family.with_rows(self.family.X - shift[self.batch])

    def embedding(self) -> FloatArray:
        if not self.has_shifts:
            return super().embedding()
        return self.without(self.start_shifts).embedding()

    @property
    def has_log_joint(self) -> bool:
        return False

    def draw_prior(self, number: int, rng: Generator) -> dict[str, FloatArray]:
        drawn = super().draw_prior(number, rng)
        if not self.has_shifts:
            return drawn
        sd = self._shift_sd(drawn[SHIFT_PRECISION])
        return drawn | {SHIFTS: rng.normal(0.0, sd, (number, len(self.shifted), sd.shape[-1]))}

    def _prior_n_clusters(self, rows: list[dict[str, Any]], rng: Generator) -> IntArray:
        prior, n = self.partition_prior, self.n_items
        return np.array([prior.sample(n, row, rng, batch=self.batch).max() + 1 for row in rows])

    def log_priors(self, draws: Mapping[str, Any]) -> dict[str, FloatArray]:
        found = super().log_priors(draws)
        if SHIFTS not in draws:
            return found
        sd = self._shift_sd(draws[SHIFT_PRECISION])
        squares = np.square(draws[SHIFTS] / sd) + LOG_TWO_PI
        return found | {SHIFTS: -(0.5 * squares + np.log(sd)).sum(axis=(2, 3))}

    def _shift_sd(self, precision: FloatArray) -> FloatArray:
        """Prior standard deviations (..., 1, d) of shifts, in the user's units."""
        family: Any = self.family
        return np.asarray(family.unit / np.sqrt(precision[..., None, None]))

    def _log_partition(self, draw: Mapping[str, Any]) -> float:
        z = draw["z"].astype(np.int64)
        own = InBatches(self.batch, draw["weight"][None], self.batch)
        counts = counts_in_batches(self.batch, z, (len(self.batch_names), int(z.max()) + 1))
        weights = own.cluster_weights(0, z)
        return float(self.partition_prior.log_prob_given(counts, weights, draw))

    def with_more(self, names: Sequence[str | None]) -> dict[str, Any]:
        """The fields with the batches of further items, known and new ones."""
        said = [name for name in names if name is not None]
        if len(said) < len(names):
            where = rows_in_words(np.array([[name is None] for name in names]))
            raise ValueError(f"X has no batch in {where}: say which, to extend.")
        known = list(dict.fromkeys([*self.batch_names, *said]))
        return {"batch": np.append(self.batch, codes_of(names, known)), "batch_names": known}


def codes_of(names: Sequence[str | None], known: Sequence[str]) -> IntArray:
    """Numbers of batches by their names, -1 for those that are not known."""
    number = {name: j for j, name in enumerate(known)}
    return np.array([-1 if name is None else number.get(name, -1) for name in names], np.int64)


def counts_in_batches(batch: IntArray, labels: IntArray, shape: tuple[int, int]) -> IntArray:
    """Items of each batch in each cluster, in a table of a shape that holds them."""
    cells = np.bincount(batch * shape[1] + labels, minlength=math.prod(shape))
    return cells.reshape(shape)


class InBatches(NamedTuple):
    """The batches of items and of new ones, and weights in draws."""

    batch: IntArray  # (n,)
    weight: FloatArray  # (S, n) beta of each item's cluster
    new: IntArray  # (m,) -1 for a batch without items
    shift: FloatArray | None = None  # (S, J + 1, d), last 0, for those without items

    def without_shifts(self, s: int, rows: FloatArray, new: IntArray) -> FloatArray:
        """All items and new ones of these batches where one draw has them without shifts."""
        if self.shift is None:
            return rows
        return rows - self.shift[s][np.append(self.batch, new)]

    def cluster_weights(self, s: int, labels: IntArray) -> FloatArray:
        """Weights (K + 1,) of the clusters of one draw, beta_u last."""
        own = np.zeros(int(labels.max()) + 2)
        own[labels] = self.weight[s]
        own[-1] = max(1.0 - own.sum(), LEAST)
        return own

    def log_weights(self, s: int, labels: IntArray, values: Values, batch: IntArray) -> FloatArray:
        """log probability (m, K + 1) of each cluster, a new one last, of further items."""
        own = values["batch_concentration"] * self.cluster_weights(s, labels)
        shape = int(self.batch.max()) + 2, len(own)  # the last batch without items
        counts = counts_in_batches(self.batch, labels, shape)
        weights = np.log(own + counts[batch])
        return np.asarray(weights - logsumexp(weights, axis=1, keepdims=True))


class Weights(NamedTuple):
    """Weights of clusters, and their items of each batch."""

    batch: IntArray  # (n,)
    count: IntArray  # type: ignore[assignment]  # (J, C) items of each batch in each slot
    beta: FloatArray  # (C,) weight of each slot
    rest: FloatArray  # (1,) beta_u
    uniform: FloatArray  # (n,) numbers for weights of clusters that items open


class BatchTarget(NamedTuple):
    """The target distribution of a chain of items in batches, as kernels read it."""

    state: Any
    assignment: Assignment
    sites: Sites
    table: FloatArray
    prior: Tables  # of a launch
    weights: Weights
    gamma: float
    alpha: float


@implements(take_out, BatchTarget, fastmath=FAST, forceinline=True, no_refcount=True)
def _take_out(target, i, alone):  # type: ignore[no-untyped-def]
    weights = target.weights
    k = target.assignment.z[i]
    target.assignment.z[i] = UNPLACED
    weights.count[weights.batch[i], k] -= 1


@implements(weigh_options, BatchTarget, fastmath=FAST, forceinline=True, no_refcount=True)
def _weigh_options(target, i, predictive, site, logits):  # type: ignore[no-untyped-def]
    state, assignment, sites, table, _, weights, _, alpha = target
    number = assignment.number[0]
    j = weights.batch[i]
    rest = weights.rest[0]
    add_site_logits(sites, table, assignment.z, i, site)
    add_set_logits(sites, table, assignment.z, i, site)
    for a in range(number):
        k = assignment.slots[a]
        if state.count[k] == 0:
            rest += weights.beta[k]
            logits[a] = -math.inf
        else:
            weight = alpha * weights.beta[k] + weights.count[j, k]
            logits[a] = math.log(max(weight, LEAST)) + predictive[k] + site[k]
        site[k] = 0.0
    logits[number] = math.log(max(alpha * rest, LEAST)) + predictive[len(predictive) - 1]
    return number + 1


@implements(place, BatchTarget, fastmath=FAST, forceinline=True, no_refcount=True)
def _place(target, i, choice, old, alone):  # type: ignore[no-untyped-def]
    assignment = target.assignment
    weights = target.weights
    if choice < assignment.number[0]:
        k = assignment.slots[choice]
        if alone:
            close_slot(assignment, old)
            weights.rest[0] += weights.beta[old]
    elif alone:
        k = old  # its weight is as good as a new one
    else:
        k = open_slot(assignment)
        for j in range(len(weights.count)):
            weights.count[j, k] = 0
        weights.beta[k] = weights.rest[0] * fresh_share(weights.uniform[i], target.gamma)
        weights.rest[0] -= weights.beta[k]
    assignment.z[i] = k
    weights.count[weights.batch[i], k] += 1
    return k


class BatchState(State):
    """A state with the weights of clusters."""

    problem: BatchProblem
    weights: Weights | None = None
    shift: FloatArray | None = None  # (J, d) in units of the columns, where batches are shifted

    def use(self, problem: TVClustProblem) -> None:
        super().use(problem)
        if self.problem.has_shifts:
            self._place(self.problem.start_shifts if self.shift is None else self.shift)

    def _place(self, shift: FloatArray) -> None:
        """Take the items for where they would be without these shifts."""
        self.shift = shift
        self.family = self.problem.without(shift)
        self.embedding = self.family.embedding()

    def set_shift(self, shift: FloatArray) -> None:
        """Set the shifts, and derive the clusters again."""
        self._place(shift)
        self.clusters = with_items(self.clusters, self.family)
        self.refresh()

    @property
    def target(self) -> BatchTarget:
        weights = self.weights
        assert weights is not None
        weights.uniform[:] = self.rng.random(self.n_items)
        concentrations = (self.values[name] for name in CONCENTRATIONS)
        return BatchTarget(
            self.clusters,
            self.assignment,
            self.sites,
            self.table,
            self.prior,
            weights,
            *concentrations,
        )

    def prior_tables(self, capacity: int) -> Tables:
        return DirichletProcess(1.0).tables(self.n_items, capacity, {"concentration": 1.0})

    def assign(self, z: NDArray[np.integer]) -> None:
        own = np.append(np.bincount(z), 1.0) / (self.n_items + 1.0)
        if self.weights is not None:  # clusters that are the same keep their weights
            kept = np.append(np.zeros(len(own) - 1), self.weights.rest)
            kept[z] = self.weights.beta[self.assignment.z]
            own = kept if abs(kept.sum() - 1.0) < ROUNDING else own
        super().assign(z)
        self.set_weights(own)

    def set_weights(self, own: FloatArray) -> None:
        """Set the weights of clusters, in the order of their slots, and beta_u."""
        slots = self.assignment.slots
        beta = np.zeros(len(slots))
        beta[slots[: self.n_clusters]] = own[:-1]
        batch = self.problem.batch
        shape = len(self.problem.batch_names), len(slots)
        count = counts_in_batches(batch, self.assignment.z, shape)
        self.weights = Weights(batch, count, beta, own[-1:].copy(), np.zeros(self.n_items))

    def take_up(
        self, values: dict[str, float], hyper: FloatArray, noise: list[dict[str, Any]]
    ) -> None:
        super().take_up(values, hyper, noise)
        given = self._counts(), self.cluster_weights(), values
        self.set_weights(self.problem.partition_prior.update_given(*given, self.rng)[0])

    def cluster_weights(self) -> FloatArray:
        """Weights of clusters, in the order of their slots, and beta_u."""
        assert self.weights is not None
        beta = self.weights.beta[self.assignment.slots[: self.n_clusters]]
        return np.maximum(np.append(beta, self.weights.rest), LEAST)

    def _counts(self) -> IntArray:
        assert self.weights is not None
        return self.weights.count[:, self.assignment.slots[: self.n_clusters]]

    def update_partition_prior(self) -> None:
        given = self._counts(), self.cluster_weights(), self.values
        weights, self.values = self.problem.partition_prior.update_given(*given, self.rng)
        self.set_weights(weights)

    def log_partition(self) -> float:
        prior = self.problem.partition_prior
        value = prior.log_prob_given(self._counts(), self.cluster_weights(), self.values)
        return value + prior.log_prior(self.values)

    def log_joint(self) -> float:
        value = super().log_joint()
        if self.shift is None:
            return value
        return value + log_prior(self.shift[self.problem.shifted], self.values[SHIFT_PRECISION])

    def draw(self) -> dict[str, Any]:
        assert self.weights is not None
        drawn = super().draw() | {"weight": self.weights.beta[self.assignment.z]}
        if self.shift is None:
            return drawn
        unit: FloatArray = self.family.unit  # type: ignore[attr-defined]
        return drawn | {SHIFTS: self.shift[self.problem.shifted] * unit}

    def snapshot(self) -> dict[str, Any]:
        own = {} if self.shift is None else {"shift": self.shift}
        return super().snapshot() | {"weights": self.cluster_weights()} | own

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        if self.shift is not None:
            shift = np.asarray(snapshot["shift"], np.float64)
            if shift.shape != self.shift.shape or not np.isfinite(shift).all():
                raise ValueError("a snapshot has no shifts: remove the checkpoint that it is from.")
            self._place(shift)
        super().restore(snapshot)
        own = snapshot["weights"]
        if (
            own.shape != (self.n_clusters + 1,)
            or not (own > 0).all()
            or abs(own.sum() - 1) > ROUNDING
        ):
            raise ValueError(partition.OUT_OF_RANGE)
        self.set_weights(own)


# --- groups that links hold together


@implements(link_blocks.lift_block, BatchTarget, fastmath=FAST, no_refcount=True)
def _lift_block(target, items, old, block, alone):  # type: ignore[no-untyped-def]
    """A block that is not alone brings a weight with which it could open a cluster."""
    weights = target.weights
    if alone:
        weights.rest[0] += weights.beta[block]
        return
    for j in range(len(weights.count)):
        weights.count[j, block] = 0
    for i in items:
        weights.count[weights.batch[i], block] += 1
        weights.count[weights.batch[i], old] -= 1
    weights.beta[block] = weights.rest[0] * fresh_share(weights.uniform[items[0]], target.gamma)


@implements(link_blocks.weigh_block, BatchTarget, fastmath=FAST, no_refcount=True)
def _weigh_block(target, k, block, number):  # type: ignore[no-untyped-def]
    weights = target.weights
    a = max(target.alpha * weights.beta[k], LEAST)
    # one auxiliary weight in place of an integral (Neal 2000, Algorithm 8), drawn for one item
    value = (
        math.log(max(weights.rest[0], LEAST) / max(weights.beta[k], LEAST)) if k == block else 0.0
    )
    for j in range(len(weights.count)):
        c = weights.count[j, block]
        if c > 0:
            there = a if k == block else a + weights.count[j, k]
            value += math.lgamma(there + c) - math.lgamma(there)
    return value


@implements(link_blocks.put_block, BatchTarget, fastmath=FAST, no_refcount=True)
def _put_block(target, k, block):  # type: ignore[no-untyped-def]
    weights = target.weights
    if k == block:
        weights.rest[0] -= weights.beta[block]
        return
    for j in range(len(weights.count)):
        weights.count[j, k] += weights.count[j, block]


# --- split-merge


@device(fastmath=FAST, no_refcount=True)
def _count_items(weights: Weights, items: IntArray, z: IntArray, k: int) -> None:
    """Count those of the items that are in slot k, which has no others."""
    for j in range(len(weights.count)):
        weights.count[j, k] = 0
    for i in items:
        if z[i] == k:
            weights.count[weights.batch[i], k] += 1


@device(fastmath=FAST, no_refcount=True)
def _log_rising(weights: Weights, alpha: float, k: int) -> float:
    """log F of slot k."""
    a = max(alpha * weights.beta[k], LEAST)
    value = 0.0
    for j in range(len(weights.count)):
        if weights.count[j, k] > 0:
            value += math.lgamma(a + weights.count[j, k]) - math.lgamma(a)
    return value


@device(fastmath=FAST, no_refcount=True)
def _tables(weights: Weights, k: int) -> float:
    """t of slot k, about as many as tables in a Chinese restaurant franchise."""
    value = 0.0
    for j in range(len(weights.count)):
        value += math.log1p(weights.count[j, k])
    return value


@implements(split_merge.unite, BatchTarget, fastmath=FAST)
def _unite(target, items, merged):  # type: ignore[no-untyped-def]
    split_merge.unite(Target(*target[:5]), items, merged)
    weights = target.weights
    z = target.assignment.z
    for j in range(len(weights.count)):
        weights.count[j, merged] = 0
    first = z[items[0]]
    weights.beta[merged] = weights.beta[first]
    other = first
    for i in items:
        weights.count[weights.batch[i], merged] += 1
        if z[i] != first and other == first:
            other = z[i]
            weights.beta[merged] += weights.beta[other]


@implements(split_merge.log_split, BatchTarget, fastmath=FAST)
def _log_split(target, items, a, b, merged, number):  # type: ignore[no-untyped-def]
    weights = target.weights
    assignment = target.assignment
    beta = weights.beta
    proposed = assignment.place[a] >= assignment.number[0]
    if proposed:
        _count_items(weights, items, assignment.z, a)
        _count_items(weights, items, assignment.z, b)
    t_a = _tables(weights, a)
    t_b = _tables(weights, b)
    scale = WIDER * LOGISTIC * math.sqrt(1.0 / max(t_a, 1.0) + 1.0 / max(t_b, 1.0))
    middle = math.log(t_a / t_b)
    if proposed:
        uniform = min(max(weights.uniform[0], 1e-15), 1.0 - 1e-15)
        x = middle + scale * math.log(uniform / (1.0 - uniform))
        beta[a] = beta[merged] / (1.0 + math.exp(-x))
        beta[b] = beta[merged] / (1.0 + math.exp(x))
    else:
        x = math.log(max(beta[a], LEAST) / max(beta[b], LEAST))
    y = abs(x - middle) / scale
    log_q = -y - 2.0 * math.log1p(math.exp(-y)) - math.log(scale)
    ratio = math.log(target.gamma) - log_q - _log_rising(weights, target.alpha, merged)
    ratio += _log_rising(weights, target.alpha, a) + _log_rising(weights, target.alpha, b)
    state = target.state
    ratio += base.log_marginal(state, a) + base.log_marginal(state, b)
    return ratio - base.log_marginal(state, merged)


@implements(split_merge.launch, BatchTarget, fastmath=FAST)
def _launch(target, items, before, slots, scans, rng):  # type: ignore[no-untyped-def]
    return split_merge.launch(Target(*target[:5]), items, before, slots, scans, rng)


@kernel(fastmath=FAST)
def attempt_batches(
    target: BatchTarget, rows: Dirichlets, integrated: bool, pair: IntArray, scans: int, rng: Any
) -> tuple[bool, float]:
    """One proposal by `split_merge.attempt`."""
    number = target.assignment.number[0]
    return split_merge.attempt(
        target, target.assignment, rows, integrated, pair, scans, number, rng
    )


class BatchSplitMerge(split_merge.SplitMerge):
    """Split-merge proposals, one at a time."""

    def attempt(  # type: ignore[override]
        self,
        state: BatchState,
        target: BatchTarget,
        pairs: IntArray,
        drawn: split_merge.DrawnNoise,
        chance: FloatArray,
        outside: int = 0,
    ) -> tuple[int, int]:
        split_merge.draw_pairs(pairs[:1], self.places(state), state.uniforms)
        own = len(drawn.table) - len(pairs)
        if own >= 0:
            target = target._replace(table=drawn.table[own])
        given = target, drawn.rows, own >= 0, pairs[0], self.moves.restricted_scans
        accepted, chance[0] = attempt_batches(*given, state.uniforms)
        return 1, int(accepted)
