"""The paper's own Gibbs sampler: cluster parameters drawn, items seated given them (TVClust Eq. 13; Neal 2000, Algorithm 2).

A sweep draws theta_k of every cluster from its conjugate posterior and seats the items one by one
given the parameters. The parameters are then forgotten: what follows in the sweep (moves of whole
groups if asked for, the base measure, the concentration, the noise) has them integrated out, as in
`CollapsedChain`, and they are drawn anew before anything else is conditioned on them. That order is
what makes mixing the two valid. Log likelihoods come from matrix products, for many items and all
clusters at once; only the seating is sequential.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesclust.families.base import Components, Terms, hard_statistics
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.scan_given import NONE_OPENED, prior_predictive, scan_given
from bayesclust.inference.schedule import Moves
from bayesclust.inference.seating import Seating, new_seating, refresh

CHUNK = 1 << 17
"""Numbers that a chunk's likelihood makes on its way, about: they should stay in the processor's cache."""
LEAST_CHUNK = 256


class GibbsChain(CollapsedChain):
    """One chain with instantiated parameters. `sweep` moves it on, `draw` tells where it is.

    Of the arguments of `CollapsedChain` only `moves` means something else: the paper's sampler has
    single-site updates alone, so that link blocks and split-merge proposals, though valid here too,
    are off by default, and `fast` says nothing.

    Parameters
    ----------
    problem : TVClustProblem
    z : ndarray of shape (n,)
        Labels 0..K-1 to start from.
    rng : Generator
    moves : Moves
    """

    components: Components
    log_prior: NDArray[np.float64]
    hyper_of_prior: NDArray[np.float64] | None

    @staticmethod
    def default_moves(n_items: int) -> Moves:
        """Single-site updates alone, for any number of items."""
        return Moves(link_blocks=False, split_merge=0.0)

    def _seat(self, z: NDArray[np.integer]) -> None:
        super()._seat(z)
        self.components, self.hyper_of_prior = self.problem.family.components(), None

    def _refresh(self) -> None:
        # the scan does not look at the state of the clusters, and leaves it fresh
        if not self.moves.single_site:
            super()._refresh()

    def _scan(self) -> None:
        number = int(self.seating.number[0])
        self.seating = new_seating(self.seating.place[self.seating.z], len(self.seating.slots))
        terms = self.components.draw(
            hard_statistics(self.components, self.seating.z, number), self.hyper, self.rng
        )
        count = np.bincount(self.seating.z, minlength=len(self.seating.slots))
        log_new = self.log_alpha + self._prior_predictive()
        order = self.rng.permutation(self.problem.n_items)
        self.moved[0] = 0
        step = max(LEAST_CHUNK, CHUNK // (number * self.problem.family.X.shape[1]))
        for begin in range(0, len(order), step):
            items = order[begin : begin + step]
            terms, count = self._seat_given(items, log_new[items], terms, count)
        if len(self.seating.slots) < len(self.state.count):
            refresh(self.state, self.seating)
        else:
            super()._seat(self.seating.place[self.seating.z])

    def _seat_given(
        self,
        items: NDArray[np.int64],
        log_new: NDArray[np.float64],
        terms: Terms,
        count: NDArray[np.int64],
    ) -> tuple[Terms, NDArray[np.int64]]:
        """Seat some items; returns parameters and sizes of the slots, which may have become more."""
        components = self.components
        rows = tuple(row[items] for row in components.rows)
        density = np.ascontiguousarray(components.log_density(np, rows, terms))
        position = 0
        while position < len(items):
            position, k = scan_given(
                self.seating,
                self.sites,
                self.table,
                count,
                density,
                log_new,
                items,
                position,
                self.moved,
                self.rng,
            )
            if k == NONE_OPENED:
                break
            drawn = self._draw_alone(tuple(row[position - 1 : position] for row in rows))
            terms = tuple(_put(part, k, new) for part, new in zip(terms, drawn, strict=True))
            density = _put(density.T, k, components.log_density(np, rows, drawn).T).T.copy()
            if self.seating.number[0] == len(count):
                self.seating = _widen(self.seating)
                count = np.append(count, np.zeros(len(count), np.int64))
        return terms, count

    def _draw_alone(self, rows: Terms) -> Terms:
        """Parameters of a cluster that one item has just opened."""
        return self.components.draw(
            self.components.statistics(np, rows, np.ones((1, 1))), self.hyper, self.rng
        )

    def _prior_predictive(self) -> NDArray[np.float64]:
        """log p(x_i) of every item, kept until the base measure changes."""
        if self.hyper_of_prior is None or not np.array_equal(self.hyper_of_prior, self.hyper):
            self.log_prior = prior_predictive(self.state, self.problem.n_items)
            self.hyper_of_prior = self.hyper.copy()
        return self.log_prior


def _put(parts: NDArray[np.float64], k: int, new: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace slice k, or append it; slots are opened in an order that leaves no gap."""
    return np.concatenate([parts[:k], new, parts[k + 1 :]])


def _widen(seating: Seating) -> Seating:
    """The same seating with twice as many slots."""
    more = np.arange(len(seating.slots), 2 * len(seating.slots))
    return seating._replace(
        slots=np.append(seating.slots, more), place=np.append(seating.place, more)
    )
