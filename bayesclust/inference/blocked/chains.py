"""Blocked Gibbs sampling of the Dirichlet process by slices, for data that a sequential scan cannot reach.

A sweep draws, given the partition, what is small (on the host, from the clusters' sufficient
statistics): hyper-parameters with the cluster parameters integrated out, concentration, noise, then
weights and parameters of the clusters and of as many new ones as the slice variables can see. Given
these, the devices draw all labels, colour by colour of the constraint graph (`step`). It is exact
and truncates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from numpy.random import Generator

from bayesclust.constraints.base import N_PATTERNS
from bayesclust.inference.blocked.layout import Incidences, make_layout
from bayesclust.inference.blocked.mesh import (
    BY_BLOCK,
    BY_ITEM,
    EVERYWHERE,
    everywhere,
    make_mesh,
    place,
    place_rows,
)
from bayesclust.inference.blocked.step import Given, Labels, Placed, Step, Totals
from bayesclust.inference.blocked.unknowns import Unknowns
from bayesclust.inference.problem import TVClustProblem
from bayesclust.typing import FloatArray, NDArray

# a processor's blocks should stay in its cache
BLOCK_SIZE = {"cpu": 256}
BLOCK_SIZE_ELSEWHERE, LEAST_BLOCK_SIZE = 131_072, 128
# slots beyond those needed cost time in large data; in small data compiling anew costs more
MANY_ITEMS, SLOT_MULTIPLE, SLOT_MULTIPLE_IF_FEW = 50_000, 8, 32
SPARE_MULTIPLES = 1


class BlockedChains:
    """Several chains advanced together on all devices.

    Parameters
    ----------
    problem : TVClustProblem
    starts : array of shape (chains, n)
        Labels of each chain to start from.
    rngs : sequence of Generator
        One per chain; the draws of a chain depend on nothing else.
    devices : sequence of jax devices or None, default None
        Devices that share the data; None takes all. The draws do not depend on them, up to
        rounding.
    slot_multiple : int or None, default None
        The number of slots, for clusters and new ones, is a multiple of this, since every other
        number compiles anew. None takes 8 for many items and 32 for few. The draws do not depend on
        it.
    block_size : int or None, default None
        Most items of a chain that a device works on at once: bounds the memory beside the data.
        None chooses by the kind of device and the number of chains. The draws do not depend on it.

    Attributes
    ----------
    number_of_chains : int
    by_all_processes : bool
        Whether devices of several processes share the data: all of them must then call every method
        together.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.inference.problem import TVClustProblem
    >>> from bayesclust.families import SphericalGaussian
    >>> rng = np.random.default_rng(0)
    >>> family = SphericalGaussian().bind(np.r_[rng.normal(0, 1, (20, 2)), rng.normal(9, 1, (20, 2))])
    >>> chains = BlockedChains(TVClustProblem(family), np.zeros((2, 40), int), rng.spawn(2))
    >>> chains.sweep()
    >>> variables, statistics = chains.draw()
    >>> variables["z"].shape, statistics["log_joint"].shape
    ((2, 40), (2,))
    """

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
        self.number_of_chains, self.slots = len(rngs), 0
        few = problem.n_items < MANY_ITEMS
        self.slot_multiple = slot_multiple or (SLOT_MULTIPLE_IF_FEW if few else SLOT_MULTIPLE)
        self.mesh = make_mesh(devices)
        self.by_all_processes = len({device.process_index for device in self.mesh.devices.flat}) > 1
        usual = BLOCK_SIZE.get(self.mesh.devices.flat[0].platform, BLOCK_SIZE_ELSEWHERE)
        self.block_size = block_size or max(usual // self.number_of_chains, LEAST_BLOCK_SIZE)
        self.whole = everywhere(self.mesh)
        components = problem.family.components()
        self.unknowns = [Unknowns(problem, components, rng) for rng in rngs]
        self.labels: Labels
        self.put_data(problem)
        self.step = Step(components, self.mesh, problem.n_items, self.layout.slice)
        self.put_labels(np.asarray(starts))

    def sweep(self, *, adapt: bool = False, trust: bool = False) -> None:
        """One sweep over everything unknown, in all chains.

        `adapt` tunes the steps on hyper-parameters; `trust` holds the noise at its prior mean.
        """
        drawn = [chain.update(adapt=adapt, trust=trust) for chain in self.unknowns]
        slots = self._slots(max(len(weight) for weight, _ in drawn))
        weight = _padded([weight for weight, _ in drawn], slots)
        terms = tuple(
            _padded(parts, slots) for parts in zip(*(terms for _, terms in drawn), strict=True)
        )
        table = self._tables()
        given = Given(self._keys(), weight, terms, table[..., :1] - table, table - table[..., -1:])
        for chain in self.unknowns:
            chain.key = chain.new_key()
        self.labels, totals = self.step.advance(self.data, self.labels, given, self._keys())
        self._see(totals)

    def draw(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(variables of the posterior, sample statistics) of the present states, chains first."""
        chains = self.unknowns
        variables: dict[str, Any] = {
            "z": self.labels_of_items(),
            "n_clusters": np.array([len(chain.least) for chain in chains]),
            "concentration": np.array([chain.alpha for chain in chains]),
        }
        for j, prior in enumerate(self.problem.family.hyper_priors):
            if prior.log_sd > 0:
                variables[prior.name] = np.array([chain.hyper[j] for chain in chains])
        for v, names in enumerate(self.problem.noise_names):
            for name in names:
                variables[names[name]] = np.stack([chain.noise[v][name] for chain in chains])
        return variables, {
            "log_joint": self.log_joint(),
            "moved": self.moved / self.problem.n_items,
        }

    def log_joint(self) -> FloatArray:
        """log p(z, x, s, alpha, noise, hyper-parameters) of every chain, as for the collapsed sampler."""
        return np.array([chain.log_joint() for chain in self.unknowns])

    def labels_of_items(self) -> NDArray[np.int32]:
        """Labels 0..K-1 of all items, (chains, n)."""
        z = np.zeros((self.number_of_chains, self.problem.n_items + 1), np.int32)
        z[:, self.layout.free.ravel()] = np.asarray(self.whole(self.labels.free)).reshape(
            len(z), -1
        )
        z[:, self.layout.answered.ravel()] = np.asarray(self.labels.answered)
        return z[:, :-1]

    def put_data(self, problem: TVClustProblem) -> None:
        """Have other data, or other answers to the same questions; `put_labels` must follow."""
        self.problem, components = problem, problem.family.components()
        for chain in self.unknowns:
            chain.use(problem, components)
        self.layout = layout = make_layout(
            problem.constraints, problem.n_items, self.mesh.devices.size, self.block_size
        )
        self.taken = np.flatnonzero(layout.answered.ravel() < problem.n_items)
        kept = layout.answered.ravel()[self.taken]
        self.constraints = (
            [view.restrict(kept) for view in problem.constraints]
            if len(kept)
            else list(problem.constraints)
        )
        placed = []
        for items, spec in ((layout.free, BY_BLOCK), (layout.answered, BY_ITEM)):
            rows = tuple(place_rows(self.mesh, row, items, spec) for row in components.rows)
            placed.append((place(self.mesh, items.astype(np.uint32), spec), rows))
        incidences = Incidences(*(place(self.mesh, array, BY_BLOCK) for array in layout.incidences))
        self.data = Placed(placed[0], placed[1], incidences)

    def put_labels(self, z: NDArray[np.integer]) -> None:
        """Set all chains' labels, (chains, n), each 0..K-1 without gaps."""
        self._place_labels(z)
        slots = np.arange(self._slots(int(z.max()) + 1))
        self._see(self.step.count(self.data, self.labels, slots, self._keys()))

    def snapshot(self) -> dict[str, Any]:
        """Everything that `restore` needs, in NumPy arrays, numbers and the like."""
        chains = [chain.snapshot() for chain in self.unknowns]
        return {
            "z": self.labels_of_items(),
            "moved": self.moved.copy(),
            "slots": self.slots,
            "chains": chains,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Be where the snapshot was taken, bit for bit, random generators included."""
        self._place_labels(snapshot["z"])
        self.moved, self.slots = np.array(snapshot["moved"]), snapshot["slots"]
        for chain, part in zip(self.unknowns, snapshot["chains"], strict=True):
            chain.restore(part)

    def _place_labels(self, z: NDArray[np.integer]) -> None:
        z = np.append(z, np.zeros((len(z), 1)), axis=1).astype(np.int32)
        free = place(self.mesh, z[:, self.layout.free], BY_ITEM)
        self.labels = Labels(free, place(self.mesh, z[:, self.layout.answered.ravel()], EVERYWHERE))

    def _see(self, totals: Totals) -> None:
        """Fetch what the chains need to know of their new labels."""
        totals = jax.device_get(totals)
        self.moved = totals.moved.astype(np.float64)
        answered = np.asarray(self.labels.answered)[:, self.taken]
        if (
            self.constraints and not answered.shape[1]
        ):  # no item is named: counts are zero whatever the labels
            answered = np.zeros((len(answered), self.constraints[0].n_items), answered.dtype)
        counts = [view.counts(answered) for view in self.constraints]
        for c, chain in enumerate(self.unknowns):
            statistics = tuple(part[c] for part in totals.statistics)
            chain.see(statistics, totals.least[c], [part[c] for part in counts])

    def _tables(self) -> FloatArray:
        """log p(answer | pattern) of every chain, (chains, codes, patterns), as `stack_tables` has it for one."""
        tables = [np.zeros((self.number_of_chains, 1, N_PATTERNS))] * (not self.constraints)
        for v, view in enumerate(self.constraints):
            noise = {
                name: np.stack([chain.noise[v][name] for chain in self.unknowns])
                for name in view.noise.parameters
            }
            table = view.noise.log_table(noise)
            tables.append(np.pad(table, ((0, 0), (0, 0), (0, N_PATTERNS - table.shape[-1]))))
        return np.concatenate(tables, axis=1)

    def _slots(self, number: int) -> int:
        """Slots for so many clusters; more than needed are kept for a while, since a new number compiles anew."""
        needed = -(-number // self.slot_multiple) * self.slot_multiple
        if not needed <= self.slots <= needed + SPARE_MULTIPLES * self.slot_multiple:
            self.slots = needed
        return self.slots

    def _keys(self) -> NDArray[np.uint32]:
        return np.stack([chain.key for chain in self.unknowns])


def _padded(parts: Sequence[NDArray[Any]], slots: int) -> NDArray[Any]:
    """Arrays (K_c, ...) in one of (chains, slots, ...), with zeros behind."""
    whole = np.zeros((len(parts), slots, *parts[0].shape[1:]))
    for row, part in zip(whole, parts, strict=True):
        row[: len(part)] = part
    return whole
