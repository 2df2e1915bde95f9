"""Split-merge moves for clusters that share a covariance, which is integrated out of the move.

Given the covariance W of a partition in which two clusters are one, W holds the distance between
them too, and in its metric two halves are never more than two standard deviations apart: no split
of the two looks worth it. So a proposal is about the partition alone, and W is drawn given the new
one (a joint proposal of both, in which W's densities cancel):

1. launch: anchors i and j, the items S of their one or two clusters joined to either one by one,
   and `scans` restricted scans, all as in `bayesclust.inference.split_merge`; the W of each scan is
   the mean of W given the partition that the last one left, at first given S as one cluster, and
   never the W of the chain;
2. one more scan, by the last such W, makes the split with probability q, or is forced to the state
   that exists;
3. with p(x | z) in which W is integrated out, a split of S into A and B is accepted with
   probability min(1, r), where

    r = alpha Gamma(n_A) Gamma(n_B) / Gamma(n_S)  *  p(x | split) / p(x | merged)  *  p(s | split) /
    p(s | merged)  /  q,

   its undoing with min(1, 1 / r), for which nothing is launched where it is refused even with
   q = 1. The launch is the same random function of the other clusters, the anchors and S from
   either side, which makes the move reversible (Jain and Neal 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, kernel
from bayesclust.constraints.factor_graph import UNPLACED, Sites, log_prob_touching
from bayesclust.families.base import BoundFamily, Components, hard_statistics
from bayesclust.inference.proposals import Gain, Proposal, decide, hopeless
from bayesclust.inference.seating import Seating, members, refresh
from bayesclust.inference.split_merge import _restricted_scan, order_by_answers
from bayesclust.typing import FloatArray, IntArray


@kernel(fastmath=FAST)
def restricted_scan(
    state: Any,
    sites: Sites,
    table: FloatArray,
    z: IntArray,
    items: IntArray,
    a: int,
    b: int,
    site: FloatArray,
    target: IntArray,
    rng: Generator,
) -> float:
    """Call from Python what is compiled for kernels alone."""
    log_prob: float = _restricted_scan(state, sites, table, z, items, a, b, site, target, rng)
    return log_prob


@dataclass(frozen=True)
class SharedMove:
    """What proposals of a chain depend on, between which nothing else changes.

    Attributes
    ----------
    family : BoundFamily
    seating : Seating
        Changed by proposals that are accepted; the chain's cluster state must then be made anew.
    sites : Sites
    table : ndarray
        log p(answer | pattern) of all answers.
    log_alpha : float
        Logarithm of the concentration of what is split: of clusters, or of components within a
        cluster.
    hyper : ndarray
        What clusters share stands behind the hyper-parameters, and is not looked at.
    """

    family: BoundFamily
    seating: Seating
    sites: Sites
    table: FloatArray
    log_alpha: float
    hyper: FloatArray

    def propose(
        self, anchor: int, other: int, scans: int, rng: Generator, gain: Gain | None = None
    ) -> bool:
        """Propose to part the two anchors or to bring them together, and decide; needs three free slots."""
        seating, z, components = self.seating, self.seating.z, self.family.components()
        first, second = z[anchor], z[other]
        free = seating.slots[seating.number[0] : seating.number[0] + 3].copy()
        items, log_uniform, bound = members(seating, first, second), log(rng.random()), 0.0
        if first != second:
            bound = -self._log_ratio(components, items, first, free[2])
            if hopeless(seating, bound, items, log_uniform, gain):
                return False
        order_by_answers(self.sites, items, anchor, other, rng)
        before = z[items].copy()
        forced = (
            np.where(before == first, free[0], free[1])
            if first != second
            else np.full(len(items), UNPLACED)
        )
        log_q = self._split(components, items, free, forced, scans, rng)
        if first != second:
            z[items] = free[2]
            ratio = bound + log_q
        else:
            ratio = self._log_ratio(components, items, free[0], free[2]) - log_q
        return decide(seating, Proposal(ratio, items, before), log_uniform, gain)

    def _split(
        self,
        components: Components,
        items: IntArray,
        free: IntArray,
        forced: IntArray,
        scans: int,
        rng: Generator,
    ) -> float:
        """Leave the items split between two free slots; returns log q."""
        z, (a, b, merged) = self.seating.z, free
        drawn, site = np.full(len(items), UNPLACED), np.zeros(len(self.seating.slots) + 1)
        z[items] = merged
        state = self.family.new_state(len(self.seating.slots), self._mean(components))
        z[items] = UNPLACED
        z[items[0]], z[items[1]] = a, b
        log_q = 0.0
        for scan in range(scans + 2):
            # items that are not placed yet count as in a slot that is not in use
            refresh(
                state,
                Seating(np.where(z == UNPLACED, merged, z), free[:2], free[:2], np.array([2])),
            )
            last = scan == scans + 1
            log_q = restricted_scan(
                state, self.sites, self.table, z, items, a, b, site, forced if last else drawn, rng
            )
            if not last:
                self.family.set_hyper(state, self._mean(components))
        return float(log_q)

    def _mean(self, components: Components) -> FloatArray:
        """The hyper-parameters with the mean of W given the partition."""
        return components.likeliest_shared(self._statistics(components), self.hyper)

    def _statistics(self, components: Components) -> Any:
        labels = np.unique(self.seating.z, return_inverse=True)[1]
        return hard_statistics(components, labels, int(labels.max()) + 1)

    def _log_ratio(self, components: Components, items: IntArray, a: int, merged: int) -> float:
        """log of r above, less q, the items being split between slot a and another; they stay so."""
        z, mark = self.seating.z, np.zeros(len(self.seating.z), np.int64)
        split, n_a = z[items].copy(), int((z[items] == a).sum())
        value = self.log_alpha + lgamma(n_a) + lgamma(len(items) - n_a) - lgamma(len(items))
        value += components.log_total(self._statistics(components), self.hyper)
        value += log_prob_touching(self.sites, self.table, z, items, mark)
        z[items] = merged
        value -= components.log_total(self._statistics(components), self.hyper)
        value -= log_prob_touching(self.sites, self.table, z, items, mark)
        z[items] = split
        return float(value)


__all__ = ["SharedMove"]
