"""Prediction of new items from draws of a partition: their clusters, co-clustering, and density.

Given one draw, a new item x is assigned as the last of n + 1 (TVClust Eq. 2 and 7), the cluster
parameters integrated out, with the prior p(z) = V(n, K) prod_k W(n_k):

    p(x, joins cluster k) = V(n + 1, K) / V(n, K)     W(n_k + 1) / W(n_k) p(x | items of k),
    p(x, alone)           = V(n + 1, K + 1) / V(n, K) W(1)                p(x)

The weights before p(x) sum to 1, so that V(n, K) need not be known. Everything here is a ratio of
sums of these terms over the draws, so that draws under which x is more likely count more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from bayesclust._numba import FAST, kernel
from bayesclust.families.base import BoundFamily, hard_statistics, log_predictive
from bayesclust.inference.assignment import Assignment, new_assignment, refresh
from bayesclust.inference.batches import InBatches
from bayesclust.inference.shifts import with_items
from bayesclust.partition_priors import DirichletProcess, PartitionPrior, Tables, Values
from bayesclust.partition_priors.nested import NestedTables, nested_tables
from bayesclust.typing import FloatArray, IntArray

BLOCK = 4_000_000  # terms held at a time: new items x clusters x draws


@kernel(fastmath=FAST)
def prediction_terms(state: Any, assignment: Assignment, prior: Tables, terms: FloatArray) -> None:
    """log W(n_k + 1) / W(n_k) + log p(x | items of k) of new items and clusters; last a new one."""
    # New items are the rows of the state's data beyond those that are assigned.
    n = len(assignment.z)
    number = assignment.number[0]
    empty = len(state.count) - 1
    for row in range(len(terms)):
        for position in range(number):
            k = assignment.slots[position]
            terms[row, position] = log_predictive(state, n + row, k)
            terms[row, position] += prior.log_join[state.count[k]]
        terms[row, number] = prior.log_open[number] + log_predictive(state, n + row, empty)


@dataclass(frozen=True)
class Terms:
    """log p(x, its cluster) for some new items under every draw."""

    rows: slice
    joins: list[FloatArray]  # (m, K_s) per draw
    alone: FloatArray  # (m, S)

    def log_joins(self) -> FloatArray:
        """log of the sum over draws of p(x, joins a cluster that exists), shape (m,)."""
        return np.asarray(logsumexp(np.concatenate(self.joins, axis=1), axis=1))

    def log_total(self) -> FloatArray:
        """log of the sum over draws of p(x), shape (m,)."""
        return np.asarray(np.logaddexp(self.log_joins(), logsumexp(self.alone, axis=1)))


class FromTerms:
    """What follows from the terms of new items under draws of a partition."""

    z: IntArray  # (S, n) labels 0..K_s-1 without gaps

    def terms(self, rows: FloatArray) -> Iterator[Terms]:
        """The terms of some new items at a time, whose number does not change the result."""
        raise NotImplementedError

    def log_density(self, rows: FloatArray) -> FloatArray:
        """Log posterior predictive density of each new item, in the user's units; shape (m,)."""
        raise ValueError(
            "the model of this fit is a classifier, which has no density of items: fit with "
            'cluster_model="single" or "mixture" for score_samples.'
        )

    def novelty(self, rows: FloatArray) -> FloatArray:
        """Probability that each new item opens a cluster of its own; shape (m,)."""
        value = np.empty(len(rows))
        for terms in self.terms(rows):
            value[terms.rows] = np.exp(logsumexp(terms.alone, axis=1) - terms.log_total())
        return value

    def similarity(self, rows: FloatArray) -> FloatArray:
        """Probability that each new item shares a cluster with each item of the data: (m, n)."""
        value = np.zeros((len(rows), self.z.shape[1]))
        for terms in self.terms(rows):
            total = terms.log_total()[:, None]
            for labels, joins in zip(self.z, terms.joins, strict=True):
                value[terms.rows] += np.exp(joins - total)[:, labels]
        return value

    def of_items(self, items: IntArray) -> Self:
        """The same for new items like some of the data."""
        return self

    def memberships(self, rows: FloatArray, labels: IntArray) -> FloatArray:
        """Probability of each cluster 0..C-1 of `labels`, if the new item joins one: (m, C)."""
        # The clusters of a draw stand for those of `labels` in proportion to their members.
        value = np.zeros((len(rows), int(labels.max()) + 1))
        shares = [shares_of_labels(z, labels) for z in self.z]
        for terms in self.terms(rows):
            total = terms.log_joins()[:, None]
            for share, joins in zip(shares, terms.joins, strict=True):
                value[terms.rows] += np.exp(joins - total) @ share
        return value / value.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Prediction(FromTerms):
    """What draws from a posterior predict of rows, new items in the coordinates of the family."""

    family: BoundFamily
    z: IntArray  # (S, n) labels 0..K_s-1 without gaps
    values: Sequence[Values]  # (S,) parameters of the partition prior
    hyper: FloatArray  # (S, hyper-parameters), with what clusters share: `with_shared`
    partition_prior: PartitionPrior = field(default_factory=DirichletProcess)
    components: IntArray | None = None  # (S, n) where clusters are mixtures, without gaps
    within: PartitionPrior | None = None  # prior of the components within a cluster
    within_values: Sequence[Values] | None = None  # (S,)
    batches: InBatches | None = None

    def of_batches(self, new: IntArray) -> Self:
        """The same for new items of these batches."""
        assert self.batches is not None
        return replace(self, batches=self.batches._replace(new=new))

    def of_items(self, items: IntArray) -> Self:
        return self if self.batches is None else self.of_batches(self.batches.batch[items])

    @property
    def rows(self) -> FloatArray:
        """The items of the data, in the coordinates of new ones."""
        return self.family.X

    def log_density(self, rows: FloatArray) -> FloatArray:
        """Log posterior predictive density of each new item, in the user's units; shape (m,)."""
        value = np.empty(len(rows))
        for terms in self.terms(rows):
            value[terms.rows] = terms.log_total() - np.log(len(self.z))
        return value + self.family.row_constants(rows)

    def clusters(self, rows: FloatArray, rng: Generator) -> IntArray:
        """Clusters (S, n + m) of all items: each new one drawn by itself, or in one of its own."""
        # Chains that move all items together start there.
        drawn = np.empty((len(self.z), len(rows)), np.int64)
        for terms in self.terms(rows):
            for s, joins in enumerate(terms.joins):
                options = np.column_stack([joins, terms.alone[:, s]])
                drawn[s, terms.rows] = (options + rng.gumbel(size=options.shape)).argmax(axis=1)
        return _with_own(self.z, drawn)

    def likeliest_components(self, rows: FloatArray, clusters: IntArray) -> IntArray:
        """Components (S, n + m): each new item in the likeliest of its cluster, or in a new one."""
        assert self.components is not None
        assert self.within is not None
        assert self.within_values is not None
        lower = Prediction(
            self.family, self.components, self.within_values, self.hyper, self.within
        )
        found = np.empty((len(self.z), len(rows)), np.int64)
        n = self.z.shape[1]
        for terms in lower.terms(rows):
            for s, joins in enumerate(terms.joins):
                owner = np.empty(joins.shape[1], np.int64)
                owner[self.components[s]] = self.z[s]
                inside = owner == clusters[s, n:][terms.rows, None]
                options = np.where(inside, joins, -np.inf)
                none = ~inside.any(axis=1)
                found[s, terms.rows] = np.where(none, len(owner), options.argmax(axis=1))
        return _with_own(self.components, found)

    @property
    def _lowest(self) -> IntArray:
        """The components of items, or their clusters where these are the same."""
        return self.z if self.components is None else self.components

    def terms(self, rows: FloatArray) -> Iterator[Terms]:
        """The terms of some new items at a time, whose number does not change the result."""
        capacity = int(self._lowest.max()) + 1
        length = max(BLOCK // (len(self.z) * (capacity + 1)), 1)
        for first in range(0, len(rows), length):
            yield self._terms(slice(first, min(first + length, len(rows))), rows, capacity)

    def _terms(self, which: slice, rows: FloatArray, capacity: int) -> Terms:
        n = self.z.shape[1]
        every = np.concatenate([self.family.X, rows[which]])
        family = self.family.with_rows(every).for_prediction()
        state = family.new_state(capacity, self.hyper[0])
        number = which.stop - which.start
        joins = []
        alone = np.empty((number, len(self.z)))
        for s, (labels, hyper) in enumerate(zip(self._lowest, self.hyper, strict=True)):
            if self.batches is not None and self.batches.shift is not None:
                own = self.batches.new[which]
                moved = family.with_rows(self.batches.without_shifts(s, every, own))
                state = with_items(state, moved)
            family.set_hyper(state, hyper)
            assignment = new_assignment(labels, capacity)
            refresh(state, assignment)
            terms = np.empty((number, int(assignment.number[0]) + 1))
            if self.batches is not None:
                nothing = np.zeros(n + 2)
                prediction_terms(state, assignment, Tables(nothing, nothing, nothing), terms)
                own = self.batches.new[which]
                terms += self.batches.log_weights(s, labels, self.values[s], own)
                joins.append(terms[:, :-1])
                alone[:, s] = terms[:, -1]
                continue
            prior = self.partition_prior.tables(n + 1, capacity, self.values[s])
            if self.within is None or self.within_values is None:
                prediction_terms(state, assignment, prior, terms)
                sizes = np.bincount(self.z[s])
                weights = np.append(prior.log_join[sizes], prior.log_open[len(sizes)])
            else:
                nested = nested_tables(prior, self.within, capacity, self.within_values[s])
                prediction_terms(state, assignment, nested.within, terms)
                terms, weights = _cluster_terms(terms, labels, self.z[s], nested)
            terms -= logsumexp(weights)
            joins.append(terms[:, :-1])
            alone[:, s] = terms[:, -1]
        return Terms(which, joins, alone)


def with_shared(family: BoundFamily, labels: IntArray, hyper: FloatArray) -> FloatArray:
    """Hyper-parameters (S, hyper-parameters) of draws, what clusters share drawn given each."""
    # It is large, and not recorded: drawn again, given `labels` (S, n) without gaps, it is as good.
    if not family.n_shared:
        return hyper
    rng = np.random.default_rng(0)
    whole = np.empty((len(hyper), hyper.shape[1] + family.n_shared))
    for s, z in enumerate(labels):
        own = np.append(hyper[s], np.zeros(family.n_shared))
        statistics = hard_statistics(family, z, int(z.max()) + 1)
        whole[s] = family.draw_shared(statistics, own, rng)
    return whole


def _cluster_terms(
    terms: FloatArray, components: IntArray, clusters: IntArray, prior: NestedTables
) -> tuple[FloatArray, FloatArray]:
    """Terms of clusters from those of components (`two_level.state`), and prior weights."""
    log_alone = terms[:, -1] - prior.within.log_open[int(components.max()) + 1]
    sizes = np.bincount(clusters)
    owner = np.zeros(int(components.max()) + 1, np.int64)
    owner[components] = clusters
    value = np.empty((len(terms), len(sizes) + 1))
    weights = np.empty(len(sizes) + 1)
    weights[-1] = prior.among.log_open[len(sizes)]
    value[:, -1] = log_alone + weights[-1]
    for g, size in enumerate(sizes):
        old = logsumexp(terms[:, :-1][:, owner == g], axis=1)
        opened = prior.within.log_open[int((owner == g).sum())]
        value[:, g] = np.logaddexp(old, opened + log_alone) + prior.log_grow[size]
        weights[g] = prior.among.log_join[size]
    return value, weights


def _with_own(old: IntArray, new: IntArray) -> IntArray:
    """Labels (S, n + m) where new items beyond the labels there are get one each of their own."""
    number = old.max(axis=1, keepdims=True) + 1
    opened = new >= number
    own = number + opened.cumsum(axis=1) - 1
    return np.concatenate([old, np.where(opened, own, new)], axis=1)


def shares_of_labels(z: IntArray, labels: IntArray) -> FloatArray:
    """Share of each cluster of `z` that bears each of the labels, shape (K, C)."""
    rows, columns = int(z.max()) + 1, int(labels.max()) + 1
    table = np.bincount(z * columns + labels, minlength=rows * columns).reshape(rows, columns)
    return np.asarray(table / table.sum(axis=1, keepdims=True))
