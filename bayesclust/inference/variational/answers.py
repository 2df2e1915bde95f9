"""Answers under uncertain labels: the terms of each item's logits, and expected counts.

With responsibilities r, the expected log probability of the answers is linear in each r_i alone.
For a pair (i, j) with table row t it is t_different + (t_same - t_different) r_i . r_j; for a
triplet, item i gets from the others, u and v,

    r_u (t_iu - t_apart) + r_v (t_iv - t_apart) + r_u r_v (t_all - t_iu - t_iv - t_uv + 2 t_apart)

up to a constant, t_iu being the entry of the pattern in which i and u alone are together. Items of
one colour of the constraint graph are named together by no answer, so their updates do not disturb
each other.

Of class labels (`constraints.labels`) the class c_k of each component has a factor q_k(c) of its
own. With t(l, c) the entry of label l (of an annotator) and class c, and n_ik,l the labels of item
i,

    log q_k(c) = log pi_c + sum_i r_ik sum_l n_il t(l, c),
    item i gets sum_l n_il sum_c q_k(c) t(l, c) for component k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax, xlogy

from bayesclust.constraints.base import N_PATTERNS, Constraints, pattern_shares
from bayesclust.constraints.factor_graph import (
    Sites,
    compile_sites,
    greedy_coloring,
    stack_padded,
    stack_tables,
    table_parts,
)
from bayesclust.constraints.noise import TINY, refuse_hard
from bayesclust.typing import Counts, FloatArray, IntArray

# rows: what a pair's entries, a triplet's "i and u alone" for the three pairs of members, and its
# product are multiplied by
PAIR = 0
PRODUCT = 4
KINDS = np.array(
    [[1, -1, 0, 0, 0], [0, 1, 0, 0, -1], [0, 0, 1, 0, -1], [0, 0, 0, 1, -1], [1, -1, -1, -1, 2]],
    np.float64,
)
NO_CLASSES = np.zeros((0, 0))
# target, u, v: columns of a triplet; then the patterns in which target and u, and target and v, are
# alone together
ROLES = ((0, 1, 2, 1, 2), (1, 0, 2, 1, 3), (2, 0, 1, 2, 3))


@dataclass(frozen=True)
class ColorStep:
    """The items of one colour, and the terms of their logits."""

    items: IntArray  # (m,)
    linear: csr_array  # (m, n)
    linear_cell: IntArray
    first: IntArray  # (F,)
    second: IntArray  # (F,)
    product: csr_array  # (m, F)
    product_cell: IntArray  # (F,)

    def messages(self, r: FloatArray) -> FloatArray:
        """Terms that the answers add to the logits of the items, shape (m, K)."""
        logits: FloatArray = self.linear @ r
        if len(self.first):
            logits = logits + self.product @ (r[self.first] * r[self.second])
        return logits


class SoftAnswers:
    """All constraints as one factor graph under uncertain labels."""

    def __init__(self, constraints: Sequence[Constraints], n_items: int) -> None:
        refuse_hard(constraints, "mean field")
        self.constraints = tuple(constraints)
        sites = compile_sites(constraints, n_items)
        colors = greedy_coloring(constraints, n_items) if n_items else np.zeros(0, np.int64)
        self.steps = _steps(sites, colors)
        # labels (n, codes) of each item by code, and where they are in tables
        self.given = csr_array((n_items, 0))
        self.part = slice(0), slice(0)
        self.log_class: FloatArray = np.zeros(0)
        noise: Any
        for one, part in zip(constraints, table_parts(constraints), strict=True):
            if not one.has_table:
                noise, where = one.noise, (one.items[:, 0], one.codes)
                size = n_items, one.n_sources * one.n_answers
                self.given = csr_array((np.ones(len(one)), where), shape=size)
                self.part = part
                self.log_class = np.log(np.maximum(noise.class_weights, TINY))

    @cached_property
    def table_of_means(self) -> FloatArray:
        """The log table with noise at its prior mean, shape (codes, 5)."""
        noises = [one.noise.initial(one.n_sources) for one in self.constraints]
        return stack_tables(self.constraints, noises)

    def expected_table(self, counts: Sequence[Counts]) -> FloatArray:
        """E log p(answer | pattern), noise at its optimum given expected counts, (codes, 5)."""
        each = zip(self.constraints, counts, strict=True)
        return stack_padded([one.noise.expected_log_table(count) for one, count in each])

    def value(
        self, counts: Sequence[Counts], table: FloatArray | None, classes: FloatArray = NO_CLASSES
    ) -> float:
        """Part of the bound: under a known log table, or with noise integrated out."""
        of_classes = float((classes * self.log_class - xlogy(classes, classes)).sum())
        if table is not None:
            return of_classes + float((stack_padded(counts) * table).sum())
        each = zip(self.constraints, counts, strict=True)
        return of_classes + float(sum(one.noise.log_marginal(count) for one, count in each))

    def classes(self, r: FloatArray, table: FloatArray) -> FloatArray:
        """Best distribution of the class of each component, (K, L + 1); (K, 0) without labels."""
        if not len(self.log_class):
            return np.zeros((r.shape[1], 0))
        return softmax(self.log_class + r.T @ (self.given @ table[self.part]), axis=1)

    def label_logits(self, classes: FloatArray, table: FloatArray) -> FloatArray:
        """Terms that labels add to the logits of every item, (n, K)."""
        return self.given @ (table[self.part] @ classes.T)

    def use_table(self, table: FloatArray) -> None:
        """Set the expected log table of all constraints, shape (codes, 5)."""
        coefficients = (table[:, :N_PATTERNS] @ KINDS.T).ravel()
        for step in self.steps:
            step.linear.data[:] = coefficients[step.linear_cell]
            step.product.data[:] = coefficients[step.product_cell]

    def counts(self, r: FloatArray, classes: FloatArray = NO_CLASSES) -> list[Counts]:
        """Expected counts of each one's answers by code and pattern, given r (n, K)."""
        found: list[Counts] = []
        for one, (codes, _) in zip(self.constraints, table_parts(self.constraints), strict=True):
            if not one.has_table:
                found.append((self.given.T @ r) @ classes)
                continue
            shares = pattern_shares(r, one.items)
            number = codes.stop - codes.start
            found.append(np.stack([np.bincount(one.codes, p, number) for p in shares], axis=1))
        return found


def _steps(sites: Sites, color: IntArray) -> list[ColorStep]:
    """The terms of all items, colour by colour."""
    cells = len(KINDS) * sites.code[:, None] + np.arange(len(KINDS))
    pair = sites.member[:, 2] < 0
    i, j = sites.member[pair, :2].T
    own = cells[pair, PAIR]
    linear = [(i, j, own), (j, i, own)]  # item, other, cell
    products = []  # item, two others, cell
    member = sites.member[~pair].T
    cell = cells[~pair].T
    for at, u, v, with_u, with_v in ROLES:
        linear.append((member[at], member[u], cell[with_u]))
        linear.append((member[at], member[v], cell[with_v]))
        products.append((member[at], member[u], member[v], cell[PRODUCT]))
    target, other, linear_cell = map(np.concatenate, zip(*linear, strict=True))
    goal, first, second, product_cell = map(np.concatenate, zip(*products, strict=True))
    steps = []
    for c in range(int(color.max(initial=-1)) + 1):
        items = np.flatnonzero(color == c)
        row = np.full(len(color), -1)
        row[items] = np.arange(len(items))
        mine = color[target] == c
        ours = color[goal] == c
        near, order = _matrix(row[target[mine]], other[mine], (len(items), len(color)))
        every = np.arange(np.count_nonzero(ours))
        product, product_order = _matrix(row[goal[ours]], every, (len(items), len(every)))
        of_near = near, linear_cell[mine][order]
        of_product = product, product_cell[ours][product_order]
        steps.append(ColorStep(items, *of_near, first[ours], second[ours], *of_product))
    return steps


def _matrix(row: IntArray, column: IntArray, shape: tuple[int, int]) -> tuple[csr_array, IntArray]:
    """A matrix of zeros stored at these places, repeated ones apart, and the order of storage."""
    order = np.argsort(row, kind="stable")
    start = np.searchsorted(row[order], np.arange(shape[0] + 1))
    return csr_array((np.zeros(len(order)), column[order], start), shape=shape), order
