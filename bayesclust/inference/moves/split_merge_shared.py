"""Split-merge moves for clusters that share a covariance, which is integrated out of the move.

Given the covariance W of a partition in which two clusters are one, W holds the distance between
them too, and in its metric two halves are never more than two standard deviations apart: no split
of the two looks worth it. So a proposal is about the partition alone, and W is drawn given the new
one (a joint proposal of both, in which W's densities cancel):

1. launch: anchors i and j, the items S of their one or two clusters joined to either one by one,
   and `scans` restricted scans, all as in `bayesclust.inference.moves.split_merge`; the W of each
   scan is the mean of W given the partition that the last one left, at first given S as one
   cluster, and never the W of the chain;
2. one more scan, by the last such W, makes the split with probability q, or is forced to the state
   that exists;
3. with p(x | z) in which W is integrated out, a split of S into A and B is accepted with
   probability min(1, r), where, K being the number of clusters after the merge,

    r = V(n, K + 1) / V(n, K) W(n_A) W(n_B) / W(n_S)  *  p(x | split) / p(x | merged)
        *  p(s | split) / p(s | merged)  /  q,

   its undoing with min(1, 1 / r), for which nothing is launched where it is refused even with
   q = 1. The launch is the same random function of the other clusters, the anchors and S from
   either side, which makes the move reversible (Jain and Neal 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.constraints.factor_graph import UNPLACED, Dirichlets
from bayesclust.families.base import BoundFamily, hard_statistics
from bayesclust.inference.assignment import Assignment, Target, members, refresh
from bayesclust.inference.moves.split_merge import (
    log_ratio_of_constraints,
    order_by_constraints,
    restricted_scan,
    settle,
)
from bayesclust.inference.noise import gain_of_split
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class SharedMove:
    """Proposals for clusters of a family with `n_shared`, by the model that `target` is (its cluster state is not read).

    The chain's cluster state must be made again after a proposal that is accepted. With `rows`, the
    noise of the constraints is integrated out.
    """

    family: BoundFamily
    target: Target
    hyper: FloatArray
    rows: Dirichlets | None = None

    def propose(self, anchor: int, other: int, scans: int, outside: int, rng: Generator) -> bool:
        """Propose to part the two anchors or to bring them together, and decide; needs three free slots."""
        assignment, sites = self.target.assignment, self.target.sites
        z, used = assignment.z, int(assignment.number[0])
        number = used - outside
        first, second = z[anchor], z[other]
        free = assignment.slots[used : used + 3].copy()
        items, log_uniform, ratio = members(assignment, first, second), log(rng.random()), 0.0
        if first != second:
            ratio = -self._log_ratio(items, first, free[2], number - 1)
            if log_uniform >= ratio:
                return False
        order_by_constraints(sites, items, anchor, other, rng)
        before = z[items].copy()
        forced = np.full(len(items), UNPLACED)
        if first != second:
            forced = np.where(before == first, free[0], free[1])
        log_q = self._split(items, free, forced, scans, rng)
        if first != second:
            z[items] = free[2]
            ratio += log_q
        else:
            ratio = self._log_ratio(items, free[0], free[2], number) - log_q
        if log_uniform < ratio:
            settle(assignment, items, before)
            return True
        z[items] = before
        return False

    def _split(
        self, items: IntArray, free: IntArray, forced: IntArray, scans: int, rng: Generator
    ) -> float:
        """Leave the items split between two free slots; returns log q."""
        assignment = self.target.assignment
        z, (a, b, merged) = assignment.z, free
        drawn, site = np.full(len(items), UNPLACED), np.zeros(len(assignment.slots) + 1)
        z[items] = merged
        state = self.family.new_state(len(assignment.slots), self._mean())
        target = self.target._replace(state=state)
        z[items] = UNPLACED
        z[items[0]], z[items[1]] = a, b
        log_q = 0.0
        for scan in range(scans + 2):
            # items that are not placed yet count as in a slot that is not in use
            placed = np.where(z == UNPLACED, merged, z)
            refresh(state, Assignment(placed, free[:2], free[:2], np.array([2])))
            last = scan == scans + 1
            log_q = restricted_scan(target, items, a, b, forced if last else drawn, site, rng)
            if not last:
                self.family.set_hyper(state, self._mean())
        return float(log_q)

    def _mean(self) -> FloatArray:
        """The hyper-parameters with the mean of W given the partition."""
        components = self.family.components()
        return components.likeliest_shared(self._statistics(), self.hyper)

    def _statistics(self) -> Any:
        labels = np.unique(self.target.assignment.z, return_inverse=True)[1]
        return hard_statistics(self.family.components(), labels, int(labels.max()) + 1)

    def _log_ratio(self, items: IntArray, a: int, merged: int, number: int) -> float:
        """log of r above, less q, the items being split between slot a and another; they stay so."""
        components, prior = self.family.components(), self.target.prior
        sites, table, z = self.target.sites, self.target.table, self.target.assignment.z
        split, n_a, n = z[items].copy(), int((z[items] == a).sum()), len(items)
        value = prior.log_open[number] + prior.log_w[n_a] + prior.log_w[n - n_a] - prior.log_w[n]
        value += log_ratio_of_constraints(sites, table, z, items, merged)
        if self.rows is not None:
            value += gain_of_split(self.rows, sites, table, z, items, merged)
        value += components.log_total(self._statistics(), self.hyper)
        z[items] = merged
        value -= components.log_total(self._statistics(), self.hyper)
        z[items] = split
        return float(value)


__all__ = ["SharedMove"]
