"""Blocked Gibbs sampling by slices, for data that a sequential scan cannot reach.

A sweep draws, given the partition, what is small (on the host, from the clusters' sufficient
statistics): hyper-parameters with the cluster parameters integrated out, parameters of the prior
over partitions, noise, then weights and parameters of the clusters and of as many new ones as the
slice variables admit. Given these, the devices draw all labels, colour by colour of the constraint
graph (`step`). It is exact and truncates nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from numpy.random import Generator
from scipy.special import gamma

from bayesclust._jax import in_x64
from bayesclust.constraints.base import N_PATTERNS, draw_answers
from bayesclust.constraints.factor_graph import stack_tables
from bayesclust.families.base import Terms
from bayesclust.inference.assignment import check_labels
from bayesclust.inference.blocked.layout import (
    AXIS,
    BY_BLOCK,
    BY_ITEM,
    EVERYWHERE,
    Incidences,
    make_layout,
    place,
    place_rows,
)
from bayesclust.inference.blocked.step import Given, Labels, Placed, Step, Totals
from bayesclust.inference.chain import HyperSampler, TVClustProblem
from bayesclust.typing import FloatArray, IntArray, NDArray

# below it are too many new clusters where the discount is large
LEVEL = 0.01
"""Lowest slice in use, one item weighing 1: an item with a lower one keeps its label this sweep."""
TINY = 1e-300


def draw_weights(
    sizes: IntArray, sticks: tuple[float, float], least: FloatArray, rng: Generator
) -> tuple[FloatArray, float]:
    """Draw weights of clusters, and of new ones down to the lowest slice; the lowest level."""
    # Weights times a Gamma(n + c) are Gamma(n_k - d) (Pitman 1996, Corollary 20), new ones jumps of
    # T d / Gamma(1 - d) x^(-1 - d) exp(-x), T ~ Gamma(c / d + K) (Pitman, Yor 1997, Prop. 21).
    d, c = sticks
    own = np.maximum(rng.standard_gamma(sizes - d), TINY)
    if d < 0:  # a known number: all others are Gamma(gamma), and there are no slices
        empty = rng.standard_gamma(-d, size=round(-c / d) - len(sizes))
        return np.append(own, np.maximum(empty, TINY)), 0.0
    scale = c if d == 0 else d * rng.standard_gamma(c / d + len(sizes)) / gamma(1.0 - d)
    # jumps below all slices can be no item's label (Walker 2007): nothing is truncated
    lowest = max(float((own * least).min()), LEVEL)
    return np.append(own, draw_jumps(scale, d, lowest, rng)), LEVEL


def draw_jumps(scale: float, d: float, lowest: float, rng: Generator) -> FloatArray:
    """Draw the points above `lowest` of a Poisson process of intensity scale x^(-1 - d) exp(-x)."""
    # By thinning: of scale x^(-1 - d) up to 1, and of scale exp(-x) above.
    log_low = min(np.log(lowest), 0.0)
    width = np.expm1(-d * log_low) / d if d > 0 else -log_low
    share = width * rng.random(rng.poisson(scale * width))
    small = np.exp(-np.log1p(d * share) / d if d > 0 else -share)
    large = 1.0 + rng.standard_exponential(rng.poisson(scale / np.e))
    kept = np.append(np.exp(-small), large ** (-1.0 - d)) > rng.random(len(small) + len(large))
    jumps = np.append(small, large)[kept]
    return jumps[jumps >= lowest]


KEPT = ("hyper", "values", "noise", "key", "statistics", "least", "counts")
"""The attributes of `Unknowns` in a snapshot, besides generator and steps of hyper-parameters."""


class Unknowns:
    """All unknowns of one chain except its labels, and the statistics of its clusters."""

    @in_x64
    def __init__(self, problem: TVClustProblem, rng: Generator) -> None:
        self.rng = rng
        self.hyper_sampler = HyperSampler(problem.family)
        self.use(problem)
        self.hyper = problem.family.initial_hyper()
        self.values = problem.partition_prior.initial()
        self.noise = [view.noise.initial(view.n_sources) for view in problem.constraints]
        self.key = self.new_key()
        self.statistics: Terms = ()
        self.least: FloatArray = np.zeros(0)
        # of labels the clusters of the items that constraints name
        self.counts: list[IntArray] = []
        self.views: Sequence[Any] = ()

    @property
    def sizes(self) -> IntArray:
        """Cluster sizes, (K,)."""
        return np.asarray(np.rint(self.statistics[0]), dtype=np.int64)

    @property
    def weighted(self) -> Terms:
        """The statistics in the form that the family takes."""
        return self.problem.family.weighted(self.statistics)

    def use(self, problem: TVClustProblem) -> None:
        """Use these data and answers; call `see` next."""
        self.problem = problem
        self.hyper_sampler.family = problem.family

    def take_up(
        self, values: dict[str, float], hyper: FloatArray, noise: list[dict[str, Any]]
    ) -> None:
        """Set these parameters; the partition stays."""
        self.values = values
        self.hyper = hyper
        self.noise = noise

    def new_key(self) -> NDArray[np.uint32]:
        """Key of a sweep's random numbers on the devices."""
        return self.rng.integers(2**32, size=2, dtype=np.uint32)

    def see(self, statistics: Terms, least: FloatArray, counts: list[IntArray]) -> None:
        """Store what follows from new labels: sums over all slots, and counts of answers."""
        used = np.flatnonzero(np.asarray(statistics[0]) > 0)
        self.statistics = tuple(np.asarray(part)[used] for part in statistics)
        self.least = np.asarray(least)[used]
        self.counts = counts

    def update(
        self, *, adapt: bool, freeze_noise: bool
    ) -> tuple[FloatArray, FloatArray, Terms, IntArray, FloatArray, float]:
        """Draw all but the labels; returns all of `step.Given` but key and gains, level last."""
        # `adapt` tunes steps, `freeze_noise` keeps noise at its mean.
        problem = self.problem
        family = problem.family
        statistics = self.weighted
        rng = self.rng
        log_total = partial(family.log_total, statistics)
        self.hyper = self.hyper_sampler.walk(log_total, self.hyper, rng, adapt=adapt)
        self.hyper = family.draw_shared(statistics, self.hyper, rng)
        prior = problem.partition_prior
        self.values = prior.update(self.values, [self.sizes], rng)
        if not freeze_noise:
            drawn = []
            for view, counts, noise in zip(self.views, self.counts, self.noise, strict=True):
                given = counts if view.has_table else view.draw_counts(counts, noise, rng)
                drawn.append(view.noise.draw(given, noise, rng))
            self.noise = drawn
        sticks = prior.stick_parameters(self.values)
        weight, level = draw_weights(self.sizes, sticks, self.least, rng)
        log_weight = np.zeros_like(weight)
        if level == 0:  # no slices
            log_weight = np.log(weight)
            weight = np.ones_like(weight)
        new = len(weight) - len(self.least)
        padded = tuple(
            np.concatenate([part, np.zeros((new, *part.shape[1:]))]) for part in statistics
        )
        terms = family.terms(padded, self.hyper, rng)
        return weight, log_weight, terms, *self.draw_classes(len(weight)), level

    def draw_classes(self, number: int) -> tuple[IntArray, FloatArray]:
        """The class of each of so many clusters, and what labels say of the items of the views."""
        classes, evidence = np.zeros(number, np.int64), np.zeros((0, 0))
        for view, named, noise in zip(self.views, self.counts, self.noise, strict=True):
            if not view.has_table:
                shares = np.tile(view.class_weights, (number, 1))
                known = view.class_shares(named, view.noise.confusion(noise))
                shares[: len(known)] = known
                classes = draw_answers(shares, self.rng).astype(np.int64)
                sites = view.sites(noise)
                evidence = np.zeros((view.n_items, shares.shape[1]))
                evidence[sites.item] = sites.evidence
        return classes, evidence

    def log_joint(self) -> float:
        """log p(everything), cluster parameters integrated out, in the user's units."""
        problem = self.problem
        prior = problem.partition_prior
        value = prior.log_prob(self.sizes, self.values) + prior.log_prior(self.values)
        data = problem.family.log_total(self.weighted, self.hyper)
        value += data + problem.family.log_constant
        value += problem.family.log_hyper_prior(self.hyper)
        for view, counts, noise in zip(self.views, self.counts, self.noise, strict=True):
            if view.has_table:
                value += float((counts * view.noise.log_table(noise)).sum())
            else:
                value += view.log_prob(counts, noise)
            value += view.noise.log_prior(noise)
        return float(value)

    def snapshot(self) -> dict[str, Any]:
        """Everything that `restore` needs."""
        found = {name: getattr(self, name) for name in KEPT}
        sampler, generator = self.hyper_sampler.snapshot(), self.rng.bit_generator.state
        return copy.deepcopy(found | {"hyper_sampler": sampler, "generator": generator})

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot, bit for bit."""
        kept = copy.deepcopy(snapshot)
        self.rng.bit_generator.state = kept["generator"]
        vars(self.hyper_sampler).update(kept["hyper_sampler"])
        vars(self).update({name: kept[name] for name in KEPT})
        self.statistics = tuple(kept["statistics"])


# a processor's blocks should stay in its cache
BLOCK_SIZE = {"cpu": 256}
BLOCK_SIZE_ELSEWHERE = 131_072
LEAST_BLOCK_SIZE = 128
# slots beyond those needed cost time in large data; in small data compiling again costs more
MANY_ITEMS = 50_000
SLOT_MULTIPLE = 8
SLOT_MULTIPLE_IF_FEW = 32


class BlockedChains:
    """Several chains advanced together on all devices."""

    def __init__(
        self,
        problem: TVClustProblem,
        starts: Sequence[NDArray[np.integer]] | NDArray[np.integer],
        rngs: Sequence[Generator],
        *,
        devices: Sequence[Any] | None = None,
        slot_multiple: int | None = None,
        block_size: int | None = None,
    ) -> None:
        self.number_of_chains = len(rngs)
        self.slots = 0
        few = problem.n_items < MANY_ITEMS
        self.slot_multiple = slot_multiple or (SLOT_MULTIPLE_IF_FEW if few else SLOT_MULTIPLE)
        self.mesh = Mesh(np.array(list(devices or jax.devices())), (AXIS,))
        self.by_all_processes = len({device.process_index for device in self.mesh.devices.flat}) > 1
        usual = BLOCK_SIZE.get(self.mesh.devices.flat[0].platform, BLOCK_SIZE_ELSEWHERE)
        self.block_size = block_size or max(usual // self.number_of_chains, LEAST_BLOCK_SIZE)
        # every process needs all labels of its own
        self.whole = jax.jit(lambda z: z, out_shardings=NamedSharding(self.mesh, EVERYWHERE))
        self.unknowns = [Unknowns(problem, rng) for rng in rngs]
        self.labels: Labels
        self.put_data(problem)
        self.step = Step(problem.family, self.mesh, problem.n_items, self.layout.slice)
        self.put_labels(np.asarray(starts))

    @in_x64
    def sweep(self, *, adapt: bool = False, freeze_noise: bool = False) -> None:
        """One sweep over all unknowns, in all chains; see `Unknowns.update`."""
        drawn = [chain.update(adapt=adapt, freeze_noise=freeze_noise) for chain in self.unknowns]
        slots = self._slots(max(len(weight) for weight, *_ in drawn))

        def padded(*parts: NDArray[Any]) -> NDArray[Any]:
            """Arrays (K_c, ...) in one of (chains, slots, ...), with zeros behind."""
            whole = np.zeros((len(parts), slots, *parts[0].shape[1:]))
            for row, part in zip(whole, parts, strict=True):
                row[: len(part)] = part
            return whole

        weight, log_weight, terms, classes = jax.tree.map(padded, *[one[:4] for one in drawn])
        level = np.array([one[-1] for one in drawn])
        views = self.constraints
        table = np.stack([stack_tables(views, chain.noise) for chain in self.unknowns])
        table = table[..., :N_PATTERNS]
        gains = table[..., :1] - table, table - table[..., -1:]
        evidence = np.zeros((len(drawn), self.layout.answered.size, drawn[0][4].shape[1]))
        if evidence.shape[-1]:
            evidence[:, self.taken] = [one[4] for one in drawn]
        of_labels = classes.astype(np.int64), evidence
        given = Given(self._keys(), weight, log_weight, level, terms, *gains, *of_labels)
        for chain in self.unknowns:
            chain.key = chain.new_key()
        self.labels, totals = self.step.advance(self.data, self.labels, given, self._keys())
        self._see(totals)

    def draw(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(variables of the posterior, sample statistics) of the present states, chains first."""
        n_clusters = np.array([len(chain.least) for chain in self.unknowns])
        partitions = {"z": self.labels_of_items(), "n_clusters": n_clusters}
        drawn = [self.problem.variables(c.values, c.hyper, c.noise) for c in self.unknowns]
        variables = {name: np.stack([one[name] for one in drawn]) for name in drawn[0]}
        moved = self.moved / self.problem.n_items
        return partitions | variables, {"log_joint": self.log_joint(), "moved": moved}

    def log_joint(self) -> FloatArray:
        """log p(everything) of every chain, as for the collapsed sampler."""
        return np.array([chain.log_joint() for chain in self.unknowns])

    @in_x64
    def labels_of_items(self) -> NDArray[np.int32]:
        """Labels 0..K-1 of all items, (chains, n)."""
        z = np.zeros((self.number_of_chains, self.problem.n_items + 1), np.int32)
        free = np.asarray(self.whole(self.labels.free))
        z[:, self.layout.free.ravel()] = free.reshape(len(z), -1)
        z[:, self.layout.answered.ravel()] = np.asarray(self.labels.answered)
        return z[:, :-1]

    @in_x64
    def put_data(self, problem: TVClustProblem) -> None:
        """Use other data or answers to the same questions; call `put_labels` next."""
        self.problem = problem
        for chain in self.unknowns:
            chain.use(problem)
        self.layout = layout = make_layout(
            problem.constraints, problem.n_items, self.mesh.devices.size, self.block_size
        )
        self.taken = np.flatnonzero(layout.answered.ravel() < problem.n_items)
        kept = layout.answered.ravel()[self.taken]
        self.constraints = list(problem.constraints)
        if len(kept):
            self.constraints = [view.restrict(kept) for view in problem.constraints]
        for chain in self.unknowns:
            chain.views = self.constraints
        placed = []
        for items, spec in ((layout.free, BY_BLOCK), (layout.answered, BY_ITEM)):
            rows = tuple(place_rows(self.mesh, row, items, spec) for row in problem.family.own_rows)
            placed.append((place(self.mesh, items.astype(np.uint32), spec), rows))
        incidences = Incidences(*(place(self.mesh, array, BY_BLOCK) for array in layout.incidences))
        self.data = Placed(placed[0], placed[1], incidences)

    @in_x64
    def put_labels(self, z: NDArray[np.integer]) -> None:
        """Set all chains' labels, (chains, n), each 0..K-1 without gaps."""
        for labels in z:
            self.problem.check_start(labels)
        self._place_labels(z)
        slots = np.arange(self._slots(int(z.max()) + 1))
        self._see(self.step.count(self.data, self.labels, slots, self._keys()))

    def snapshot(self) -> dict[str, Any]:
        """Everything that `restore` needs, in NumPy arrays, numbers and the like."""
        chains = [chain.snapshot() for chain in self.unknowns]
        z = self.labels_of_items()
        return {"z": z, "moved": self.moved.copy(), "slots": self.slots, "chains": chains}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot, bit for bit, random generators included."""
        shape = len(self.unknowns), self.problem.n_items
        self._place_labels(check_labels(snapshot["z"], shape, snapshot["slots"]))
        self.moved = np.array(snapshot["moved"])
        self.slots = snapshot["slots"]
        for chain, part in zip(self.unknowns, snapshot["chains"], strict=True):
            chain.restore(part)

    def _place_labels(self, z: NDArray[np.integer]) -> None:
        z = np.append(z, np.zeros((len(z), 1)), axis=1).astype(np.int32)
        free = place(self.mesh, z[:, self.layout.free], BY_ITEM)
        self.labels = Labels(free, place(self.mesh, z[:, self.layout.answered.ravel()], EVERYWHERE))

    def _see(self, totals: Totals) -> None:
        """Give the chains the sums over their new labels."""
        totals = jax.device_get(totals)
        self.moved = totals.moved.astype(np.float64)
        answered = np.asarray(self.labels.answered)[:, self.taken]
        if self.constraints and not answered.shape[1]:
            # no item is named: counts are zero whatever the labels
            answered = np.zeros((len(answered), self.constraints[0].n_items), answered.dtype)
        counts: list[Any] = [
            view.counts(answered) if view.has_table else answered for view in self.constraints
        ]
        for c, chain in enumerate(self.unknowns):
            statistics = tuple(part[c] for part in totals.statistics)
            chain.see(statistics, totals.least[c], [part[c] for part in counts])

    def _slots(self, number: int) -> int:
        """Slots for so many clusters; spare ones are kept, since another number compiles again."""
        needed = -(-number // self.slot_multiple) * self.slot_multiple
        if not needed <= self.slots <= needed + self.slot_multiple:
            self.slots = needed
        return self.slots

    def _keys(self) -> NDArray[np.uint32]:
        return np.stack([chain.key for chain in self.unknowns])
