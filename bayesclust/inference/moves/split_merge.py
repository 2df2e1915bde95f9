"""Split-merge moves (Jain and Neal 2004), with launches allocated in sequence (Dahl 2003).

Two anchors i and j are chosen with a probability that never depends on z: then it is the same in
both directions and drops out of the acceptance ratio. With S the items of their clusters:

1. launch: the rest of S joins i's or j's side one by one, then `scans` restricted Gibbs scans over
   the two sides;
2. one more restricted scan makes the split (its probability is q), or, if i and j sit apart, is
   forced to the state that exists, to learn the q with which a split would have made it;
3. a split of S into A and B is accepted with probability min(1, r), its undoing with min(1, 1 / r),
   where, K being the number of clusters after the merge,

    r = V(n, K + 1) / V(n, K) W(n_A) W(n_B) / W(n_S)  *  m(x_A) m(x_B) / m(x_S)
        *  p(s | split) / p(s | merged)  /  q.

As q <= 1, the uniform number that decides is drawn first, and where it refuses a merge with q = 1
nothing is launched: most merges join what has nothing to do with each other.

**Anchors.** Equal shares of the pairs are uniform, are an item and the nearest of a few random
others, stand in an answer, and were noted while the chain warmed up: parting or joining them had a
chance. Notes stay from the first draw on, so that every draw comes from one transition kernel.
Chains of two levels, and of clusters that share a covariance, take no notes.

**Noise.** Draws of noise and partition given each other hardly ever cross between the mode with
unreliable sources and the one with another partition. In a joint move, noise phi' is drawn from the
prior, the allocations are made under it, and r has the noise integrated out, which is drawn at the
end of the sweep: a collapsed Metropolis-Hastings step (Liu 1994, J. Am. Stat. Assoc. 89).

**Clusters that share a covariance W.** Given the W of a partition in which two clusters are one, no
split looks worth it. So W is integrated out of p(x | z) in r, and drawn given the new partition.
The W of each scan of a launch is its mean given the partition that the last one left, at first
given S as one cluster: the same random function of the rest, the anchors and S from either side.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numba import FAST, device, generic, implements, kernel
from bayesclust.constraints import factor_graph
from bayesclust.constraints.base import N_PATTERNS
from bayesclust.constraints.factor_graph import UNPLACED, Dirichlets, Sites
from bayesclust.families import base
from bayesclust.families.gaussian import FullState, quadratic_form
from bayesclust.inference import assignment as partition
from bayesclust.inference.assignment import Assignment, Target, draw_below, set_labels
from bayesclust.inference.chain import SPARE_SLOTS, WARMUP_BOOST, Move, Moves, State
from bayesclust.inference.moves.scan import predictive_by_form
from bayesclust.partition_priors import Tables
from bayesclust.typing import FloatArray, IntArray

INTEGRATED_SHARE = 0.5  # share of the proposals that integrate the noise out, where some is learned
NEIGHBOUR_CANDIDATES = 32
NOTED = 64  # pairs that are remembered, the latest
WORTH_NOTING = 0.05  # probability of being accepted above which they are
NOBODY = -1  # an item of a pair that kernels draw


class Places(NamedTuple):
    """Where pairs are drawn from."""

    X: FloatArray  # (n, d)
    asked: IntArray  # (m, 2)
    noted: IntArray  # (k, 2)


@device(fastmath=FAST)
def _draw_pair(places: Places, rng: Generator) -> tuple[int, int]:
    """One pair of at least two items."""
    n = len(places.X)
    asked = len(places.asked)
    noted = len(places.noted)
    kind = draw_below(2 + (asked > 0) + (noted > 0), rng)
    if kind == 2 and asked > 0:
        row = draw_below(asked, rng)
        return places.asked[row, 0], places.asked[row, 1]
    if kind >= 2:
        row = draw_below(noted, rng)
        return places.noted[row, 0], places.noted[row, 1]
    first = draw_below(n, rng)
    best = 0
    least = np.inf
    for _ in range(1 if kind == 0 else NEIGHBOUR_CANDIDATES):
        other = (first + 1 + draw_below(n - 1, rng)) % n
        distance = 0.0
        for j in range(places.X.shape[1]):
            distance += (places.X[other, j] - places.X[first, j]) ** 2
        if distance < least or least == np.inf:
            best = other
            least = distance
    return first, best


@kernel(fastmath=FAST)
def draw_pairs(pairs: IntArray, places: Places, rng: Generator) -> None:
    """Draw those of some pairs, shape (P, 2), that are `NOBODY`."""
    for position in range(len(pairs)):
        if pairs[position, 0] == NOBODY:
            pairs[position, 0], pairs[position, 1] = _draw_pair(places, rng)


@generic
def log_odds(state: Any, prior: Tables, i: int, own: int, a: int, b: int) -> Any:
    """log odds of slots a and b for item i given all other items; `own` is its slot, if any."""
    # `reassign` must follow. Full covariances need not take the item out, since the predictive
    # without an item follows from the one with it.


@generic
def reassign(state: Any, i: int, own: int, chosen: int) -> None:
    """Leave item i in slot `chosen`, after `log_odds`."""


@implements(log_odds, None, fastmath=FAST, forceinline=True, no_refcount=True)
def _log_odds_of_any(state, prior, i, own, a, b):  # type: ignore[no-untyped-def]
    if own != UNPLACED:
        base.remove_item(state, i, own)
    sizes = prior.log_join[state.count[a]] - prior.log_join[state.count[b]]
    return sizes + base.log_predictive(state, i, a) - base.log_predictive(state, i, b)


@implements(reassign, None, fastmath=FAST, forceinline=True, no_refcount=True)
def _reassign_any(state, i, own, chosen):  # type: ignore[no-untyped-def]
    base.add_item(state, i, chosen)


@device(fastmath=FAST, forceinline=True, no_refcount=True)
def _by_form(state: FullState, prior: Tables, i: int, k: int, own: bool) -> float:
    predictive = predictive_by_form(state, k, quadratic_form(state, i, k), own)
    return float(prior.log_join[state.count[k] - own] + predictive)


@implements(log_odds, FullState, fastmath=FAST, forceinline=True, no_refcount=True)
def _log_odds_of_full(state, prior, i, own, a, b):  # type: ignore[no-untyped-def]
    return _by_form(state, prior, i, a, own == a) - _by_form(state, prior, i, b, own == b)


@implements(reassign, FullState, fastmath=FAST, forceinline=True, no_refcount=True)
def _reassign_full(state, i, own, chosen):  # type: ignore[no-untyped-def]
    if chosen != own:
        if own != UNPLACED:
            base.remove_item(state, i, own)
        base.add_item(state, i, chosen)


@kernel(fastmath=FAST)
def order_by_constraints(sites: Sites, items: IntArray, pair: IntArray, rng: Generator) -> None:
    """Shuffle items, the anchors first, and after each those that constraints name with it."""
    partition.shuffle(items, rng)
    for position in range(2):
        for t in range(len(items)):
            if items[t] == pair[position]:
                items[t], items[position] = items[position], items[t]
    shuffled = items.copy()
    waiting = np.zeros(len(sites.start) - 1, np.bool_)
    waiting[items[2:]] = True
    head = 0
    end = 2
    for i in shuffled:
        if waiting[i]:
            waiting[i] = False
            items[end] = i
            end += 1
        while head < end:
            j = items[head]
            head += 1
            for entry in range(sites.start[j], sites.start[j + 1]):
                for column in range(3):
                    near = sites.member[sites.factor[entry], column]
                    if near >= 0 and waiting[near]:
                        waiting[near] = False
                        items[end] = near
                        end += 1


@device(fastmath=FAST, no_refcount=True)
def log_shares(odds: float) -> tuple[float, float]:
    """(log p, log(1 - p)) of log odds."""
    log_a = -math.log1p(math.exp(-odds)) if odds > -700.0 else odds
    return log_a, log_a - odds


@kernel(fastmath=FAST, no_refcount=True)
def restricted_scan(
    target: Target,
    items: IntArray,
    a: int,
    b: int,
    forced: IntArray,
    site: FloatArray,
    rng: Generator,
) -> float:
    """Re-allocate items[2:] between slots a and b; the log probability of what was chosen."""
    # Where forced[t] is a slot, item t goes there; -1 lets it be drawn. `site` is scratch, (C,).
    state = target.state
    z = target.assignment.z
    log_prob = 0.0
    for t in range(2, len(items)):
        i = items[t]
        own = z[i]
        z[i] = UNPLACED
        site[a] = site[b] = 0.0
        factor_graph.add_site_logits(target.sites, target.table, z, i, site)
        factor_graph.add_set_logits(target.sites, target.table, z, i, site)
        odds = log_odds(state, target.prior, i, own, a, b) + site[a] - site[b]
        log_a, log_b = log_shares(odds)
        to_a = math.log(rng.random()) < log_a if forced[t] == UNPLACED else forced[t] == a
        log_prob += log_a if to_a else log_b
        z[i] = a if to_a else b
        reassign(state, i, own, z[i])
    return log_prob


# --- what differs between one level, two, and a covariance that clusters share


@generic
def unite(target: Any, items: IntArray, merged: int) -> None:
    """Set the free slot `merged` to the items, which stay where they are."""


@generic
def log_split(target: Any, items: IntArray, a: int, b: int, merged: int, number: int) -> Any:
    """log r, without q and answers, of items in slots a and b and K = `number` clusters united."""


@generic
def launch(
    target: Any, items: IntArray, before: IntArray, slots: IntArray, scans: int, rng: Generator
) -> Any:
    """Split items, anchors first, from slots `before` between the first two free ones; log q."""


@implements(unite, Target, fastmath=FAST)
def _unite(target, items, merged):  # type: ignore[no-untyped-def]
    base.set_items(target.state, items, merged)
    base.derive(target.state, merged)


@implements(log_split, Target, fastmath=FAST)
def _log_split(target, items, a, b, merged, number):  # type: ignore[no-untyped-def]
    state = target.state
    prior = target.prior
    n_a = state.count[a]
    n_b = state.count[b]
    ratio = prior.log_open[number] + prior.log_w[n_a] + prior.log_w[n_b] - prior.log_w[n_a + n_b]
    ratio += base.log_marginal(state, a) + base.log_marginal(state, b)
    return ratio - base.log_marginal(state, merged)


@implements(launch, Target, fastmath=FAST)
def _launch(target, items, before, slots, scans, rng):  # type: ignore[no-untyped-def]
    state = target.state
    z = target.assignment.z
    a = slots[0]
    b = slots[1]
    forced = np.full(len(items), UNPLACED)
    site = np.zeros(len(state.count))
    z[items] = UNPLACED
    for i, k in ((items[0], a), (items[1], b)):
        base.clear_cluster(state, k)
        z[i] = k
        base.add_item(state, i, k)
    log_q = 0.0
    for scan in range(scans + 2):
        if scan == scans + 1 and before[0] != before[1]:
            for t in range(len(items)):
                forced[t] = a if before[t] == before[0] else b
        log_q = restricted_scan(target, items, a, b, forced, site, rng)
    return log_q


class SharedTarget(NamedTuple):
    """What a chain samples whose clusters share hyper-parameters, for functions in Python."""

    family: Any  # with `n_shared`
    hyper: FloatArray
    assignment: Assignment
    sites: Sites
    table: FloatArray
    prior: Tables

    def unite(self, items: IntArray, merged: int) -> None:
        """Nothing: there is no cluster state."""

    def log_split(self, items: IntArray, a: int, b: int, merged: int, number: int) -> float:
        """The same with what clusters share integrated out of p(x | z)."""
        prior = self.prior
        z = self.assignment.z
        split = z[items]
        n = len(items)
        n_a = int((split == a).sum())
        value = prior.log_open[number] + prior.log_w[n_a] + prior.log_w[n - n_a] - prior.log_w[n]
        value += self.family.log_total(self._statistics(), self.hyper)
        z[items] = merged
        value -= self.family.log_total(self._statistics(), self.hyper)
        z[items] = split
        return float(value)

    def launch(
        self, items: IntArray, before: IntArray, slots: IntArray, scans: int, rng: Generator
    ) -> float:
        """The same, each scan by the mean of W given the partition that the last one left."""
        z = self.assignment.z
        a, b, merged = slots[:3]
        forced = np.full(len(items), UNPLACED)
        site = np.zeros(len(self.assignment.slots) + 1)
        z[items] = merged
        state = self.family.new_state(len(self.assignment.slots), self._mean())
        target = Target(state, *self[2:])
        z[items] = UNPLACED
        z[items[:2]] = slots[:2]
        log_q = 0.0
        for scan in range(scans + 2):
            # items that are not placed yet count as in a slot that is not in use
            placed = np.where(z == UNPLACED, merged, z)
            partition.refresh(state, Assignment(placed, slots[:2], slots[:2], np.array([2])))
            if scan == scans + 1 and before[0] != before[1]:
                forced = np.where(before == before[0], a, b)
            log_q = float(restricted_scan(target, items, a, b, forced, site, rng))
            if scan <= scans:
                self.family.set_hyper(state, self._mean())
        return log_q

    def _mean(self) -> FloatArray:
        """The hyper-parameters with the mean of W given the partition."""
        return self.family.likeliest_shared(self._statistics(), self.hyper)

    def _statistics(self) -> base.Terms:
        labels = np.unique(self.assignment.z, return_inverse=True)[1]
        return base.hard_statistics(self.family, labels, int(labels.max()) + 1)


implements(unite, SharedTarget)(SharedTarget.unite)
implements(log_split, SharedTarget)(SharedTarget.log_split)
implements(launch, SharedTarget)(SharedTarget.launch)


@kernel(fastmath=FAST)
def log_ratio_of_constraints(
    sites: Sites,
    table: FloatArray,
    rows: Dirichlets,
    integrated: bool,
    z: IntArray,
    items: IntArray,
    merged: int,
) -> float:
    """log p(s | z) less the same where `items` share the free slot `merged`; z stays as it was."""
    mark = np.zeros(len(z), np.int64)
    mass = np.zeros(len(rows.weight))
    split = z[items]
    ratio: float = factor_graph.log_prob_touching(sites, table, z, items, mark)
    if integrated:
        ratio += factor_graph.integrated_surplus(rows, sites, table, z, mass)
    z[items] = merged
    ratio -= factor_graph.log_prob_touching(sites, table, z, items, mark)
    if integrated:
        ratio -= factor_graph.integrated_surplus(rows, sites, table, z, mass)
    set_labels(z, items, split)
    return ratio


@device(fastmath=FAST, no_refcount=True)
def _smaller_side(z: IntArray, items: IntArray, before: IntArray) -> int:
    """Items of the smaller of the two clusters that were, or that are proposed."""
    number = 0
    apart = before[0] != before[1]
    for t in range(len(items)):
        number += before[t] == before[0] if apart else z[items[t]] == z[items[0]]
    return min(number, len(items) - number)


@device(fastmath=FAST)
def attempt(
    target: Any,
    assignment: Assignment,
    rows: Dirichlets,
    integrated: bool,
    pair: IntArray,
    scans: int,
    number: int,
    rng: Generator,
) -> tuple[bool, float]:
    """One proposal from K = `number` clusters: whether accepted, and how probable that was."""
    # Needs three free slots. The noise is that of the target's table, or, if `integrated`, that of
    # `rows` integrated out.
    z = assignment.z
    first = z[pair[0]]
    second = z[pair[1]]
    free = assignment.slots[assignment.number[0] : assignment.number[0] + 3].copy()
    merged = free[2]
    sites = target.sites
    table = target.table
    items = partition.members(assignment, first, second)
    log_uniform = math.log(rng.random())
    unite(target, items, merged)
    ratio = 0.0
    if first != second:
        ratio -= log_split(target, items, first, second, merged, number - 1)
        ratio -= log_ratio_of_constraints(sites, table, rows, integrated, z, items, merged)
        if log_uniform >= ratio:
            return False, 0.0
    order_by_constraints(sites, items, pair, rng)
    before = z[items]
    log_q = launch(target, items, before, free, scans, rng)
    if first == second:
        ratio = log_split(target, items, free[0], free[1], merged, number) - log_q
        ratio += log_ratio_of_constraints(sites, table, rows, integrated, z, items, merged)
    else:
        z[items] = merged
        ratio += log_q
    chance = math.exp(min(ratio, 0.0)) if _smaller_side(z, items, before) > 1 else 0.0
    if log_uniform < ratio:
        partition.close_slot(assignment, first)
        if second != first:
            partition.close_slot(assignment, second)
        partition.use_slot(assignment, z[pair[0]])
        if z[pair[1]] != z[pair[0]]:
            partition.use_slot(assignment, z[pair[1]])
        return True, chance
    set_labels(z, items, before)
    return False, chance


@kernel(fastmath=FAST)
def split_merge(
    target: Target,
    pairs: IntArray,
    places: Places,
    drawn: DrawnNoise,
    chance: FloatArray,
    scans: int,
    outside: int,
    rng: Generator,
) -> tuple[int, int]:
    """Propose to part or join anchors (P, 2) while 3 slots last; (where it stopped, accepted)."""
    # Pairs of `NOBODY` are drawn from `places`; the last, one per table of `drawn`, integrate the
    # noise out. `chance` (P,): of acceptance, 0 if one item moves. K leaves out `outside` clusters.
    assignment = target.assignment
    accepted = 0
    draw_pairs(pairs, places, rng)
    for position in range(len(pairs)):
        number = assignment.number[0]
        if number + 3 > len(assignment.slots):
            return position, accepted
        own = position - len(pairs) + len(drawn.table)
        by = target
        if own >= 0:
            by = Target(target.state, assignment, target.sites, drawn.table[own], target.prior)
        pair = pairs[position]
        taken, chance[position] = attempt(
            by, assignment, drawn.rows, own >= 0, pair, scans, number - outside, rng
        )
        accepted += taken
    return len(pairs), accepted


class DrawnNoise(NamedTuple):
    """Noise drawn from its prior for J proposals, and what integrates it out."""

    table: FloatArray  # (J, codes, 5) log p(answer | pattern, phi')
    rows: Dirichlets


NONE_DRAWN = DrawnNoise(np.zeros((0, 0, N_PATTERNS)), factor_graph.NONE)
"""For proposals that all use the present noise."""


class SplitMerge(Move):
    """Split-merge proposals, half of them with the noise integrated out where it is learned."""

    # those come last: the noise is not drawn again before the end of the sweep

    learned = ("noted",)

    def __init__(self, moves: Moves) -> None:
        self.moves = moves
        self.noted: IntArray = np.zeros((0, 2), np.int64)
        self.accepted = np.nan

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        number = self.number(state.rng, adapt=adapt) if state.n_items > 1 else 0
        drawn = NONE_DRAWN
        if state.dirichlets is not None and not freeze_noise:
            constraints = state.problem.constraints
            integrated = int(state.rng.binomial(number, INTEGRATED_SHARE))
            drawn = DrawnNoise(np.zeros((integrated, *state.table.shape)), state.dirichlets)
            for table in drawn.table:
                noise = [each.noise.sample_prior(each.n_sources, state.rng) for each in constraints]
                table[:] = factor_graph.stack_tables(constraints, noise)
        self.accepted = np.nan
        if number:
            noting = adapt and not freeze_noise
            self.accepted = self.propose(state, number, drawn, noting=noting) / number

    def number(self, rng: Generator, *, adapt: bool) -> int:
        """Number of proposals in this sweep."""
        return int(self.moves.split_merge * (WARMUP_BOOST if adapt else 1.0) + rng.random())

    def propose(self, state: State, number: int, drawn: DrawnNoise, *, noting: bool) -> float:
        """Make the proposals; returns how many were accepted."""
        pairs = np.full((number, 2), NOBODY)
        accepted = 0
        while len(pairs):
            state.make_room(SPARE_SLOTS)
            chance = np.zeros(len(pairs))
            position, more = self.attempt(state, state.target, pairs, drawn, chance)
            if noting:
                self.note(pairs, chance)
            pairs = pairs[position:]
            accepted += more
        return accepted

    def attempt(
        self,
        state: State,
        target: Target,
        pairs: IntArray,
        drawn: DrawnNoise,
        chance: FloatArray,
        outside: int = 0,
    ) -> tuple[int, int]:
        """Make proposals as `split_merge` does, one alone where clusters share a covariance."""
        places = self.places(state)
        family = state.problem.family
        scans = self.moves.restricted_scans
        if not family.n_shared:
            options = chance, scans, outside, state.uniforms
            made: tuple[int, int] = split_merge(target, pairs, places, drawn, *options)
            return made
        draw_pairs(pairs[:1], places, state.uniforms)
        own = len(drawn.table) - len(pairs)
        table = drawn.table[own] if own >= 0 else target.table
        _, assignment, sites, _, prior = target
        by = SharedTarget(family, state.hyper, assignment, sites, table, prior)
        number = int(assignment.number[0]) - outside
        given = own >= 0, pairs[0], scans, number, state.rng
        accepted, _ = attempt(by, assignment, drawn.rows, *given)
        if accepted:
            state.redraw_shared()
        return 1, int(accepted)

    def places(self, state: State) -> Places:
        """The data, the questions and the remembered pairs that anchors are drawn from."""
        return Places(state.embedding, state.asked, self.noted)

    def note(self, pairs: IntArray, chance: FloatArray) -> None:
        """Remember the pairs worth trying again, those with a high acceptance probability."""
        self.noted = np.concatenate([self.noted, pairs[chance > WORTH_NOTING]])[-NOTED:]

    def statistics(self, state: State) -> dict[str, float]:
        return {"split_merge_accept": self.accepted}
