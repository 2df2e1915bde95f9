"""A chain: a state, and a list of moves that each leave the posterior in place.

A sampler is the list. What moves share is here: the state with its growth, snapshot and draw, and
the chain that runs them in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.inference.assignment import Assignment, Target, new_assignment, refresh
from bayesclust.inference.hyper import log_data, redraw_shared, start_hyper
from bayesclust.inference.noise import IntegratedNoise, Tally
from bayesclust.inference.problem import TVClustProblem
from bayesclust.partition_priors import Tables
from bayesclust.typing import IntArray

SPARE_SLOTS = 4


class State:
    """Where a chain is: assignment, cluster state, and the values of everything else that is unknown.

    Attributes
    ----------
    problem : TVClustProblem
    rng : Generator
    clusters : named tuple
        The family's cluster state.
    assignment : Assignment
    hyper : ndarray
        Hyper-parameters of the base measure, and what clusters share.
    values : dict of str to float
        Parameters of the prior over partitions.
    noise : list of dict
        Parameters of each constraint's noise; `table` follows from it.
    """

    clusters: Any
    assignment: Assignment

    def __init__(self, problem: TVClustProblem, z: NDArray[np.integer], rng: Generator) -> None:
        self.rng = rng
        self.use(problem)
        labels = np.asarray(z)
        problem.check_start(labels)
        self.hyper = start_hyper(problem.family, labels, rng)
        self.values: dict[str, float] = problem.partition_prior.initial()
        self.noise = [each.noise.initial(each.n_sources) for each in problem.constraints]
        self._tables: tuple[Any, Tables] | None = None
        self.assign(labels)

    def use(self, problem: TVClustProblem) -> None:
        """Take a problem, and all that follows from its data and constraints alone."""
        self.problem = problem
        self.sites = compile_sites(problem.constraints, problem.n_items)
        self.tally = Tally(problem.constraints, self.sites)
        self.integrated_noise = IntegratedNoise(problem.constraints, self.tally.shape)
        self.embedding = problem.family.embedding()
        pairs = [each.items[:, :2] for each in problem.constraints if len(each)]
        self.asked: IntArray = np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)

    @property
    def noise(self) -> list[dict[str, Any]]:
        """Parameters of the noise of each set of constraints; `table` follows from them."""
        return self._noise

    @noise.setter
    def noise(self, noise: list[dict[str, Any]]) -> None:
        self._noise, self.table = noise, stack_tables(self.problem.constraints, noise)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.problem.n_items

    @property
    def labels(self) -> IntArray:
        """Cluster of each item, by its slot."""
        return self.assignment.z

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.assignment.number[0])

    @property
    def prior(self) -> Tables:
        """The prior over partitions at the present values, as kernels read it."""
        key = tuple(self.values.items()), len(self.assignment.slots)
        if self._tables is None or self._tables[0] != key:
            tables = self.problem.partition_prior.tables(self.n_items, key[1], self.values)
            self._tables = key, tables
        return self._tables[1]

    @property
    def target(self) -> Target:
        """What kernels sample from."""
        return Target(self.clusters, self.assignment, self.sites, self.table, self.prior)

    def assign(self, z: NDArray[np.integer]) -> None:
        """Assign the items by labels without gaps, with room for new clusters."""
        number = int(z.max()) + 1
        capacity = max(16, 2 * number + SPARE_SLOTS)
        self.clusters = self.problem.family.new_state(capacity, self.hyper)
        self.assignment = new_assignment(z, capacity)
        refresh(self.clusters, self.assignment)

    def make_room(self, spare: int) -> None:
        """Have so many free slots at least."""
        if int(self.assignment.number[0]) + spare > len(self.assignment.slots):
            self.assign(self.assignment.place[self.assignment.z])

    def refresh(self) -> None:
        """Compute the clusters' state again from the items."""
        refresh(self.clusters, self.assignment)

    def redraw_shared(self) -> None:
        """Draw what clusters share, given them."""
        family = self.problem.family
        self.hyper = redraw_shared(family, self.clusters, self.assignment, self.hyper, self.rng)

    def sizes(self) -> IntArray:
        """Cluster sizes, in the order of the slots."""
        sizes: IntArray = self.clusters.count[self.assignment.slots[: self.n_clusters]]
        return sizes

    def update_partition_prior(self) -> None:
        """Draw the parameters of the prior over partitions."""
        prior = self.problem.partition_prior
        if prior.learned:
            self.values = prior.update(self.values, [self.sizes()], self.rng)

    def update_noise(self) -> None:
        """Draw the noise of every constraint given the partition."""
        if self.problem.constraints:
            counts = self.tally.split(self.tally(self.labels))
            rows = zip(self.problem.constraints, counts, self.noise, strict=True)
            self.noise = [each.noise.draw(tally, noise, self.rng) for each, tally, noise in rows]

    def log_partition(self) -> float:
        """log p(z, parameters of its prior)."""
        prior = self.problem.partition_prior
        return prior.log_prob(self.sizes(), self.values) + prior.log_prior(self.values)

    def log_joint(self) -> float:
        """log p(everything), cluster parameters integrated out, in the user's units."""
        family, value = self.problem.family, self.log_partition()
        value += log_data(family, self.clusters, self.assignment, self.hyper) + family.log_constant
        value += family.log_hyper_prior(self.hyper)
        noises = zip(self.problem.constraints, self.noise, strict=True)
        value += sum(each.noise.log_prior(noise) for each, noise in noises)
        return float(value + (self.tally(self.labels) * self.table).sum())

    def draw(self) -> dict[str, Any]:
        """The posterior's variables now; what clusters share is not recorded, but drawn again when asked for."""
        variables: dict[str, Any] = {"z": self.labels.copy(), "n_clusters": self.n_clusters}
        variables |= self.values
        for prior, value in zip(self.problem.family.hyper_priors, self.hyper, strict=False):
            if prior.log_sd > 0:
                variables[prior.name] = float(value)
        for names, noise in zip(self.problem.noise_names, self.noise, strict=True):
            variables |= {names[name]: np.array(values) for name, values in noise.items()}
        return variables

    def snapshot(self) -> dict[str, Any]:
        """All that `restore` needs; the clusters' statistics follow from it."""
        return {
            "assignment": self.assignment._asdict(),
            "hyper": self.hyper,
            "values": dict(self.values),
            "noise": self.noise,
            "generator": self.rng.bit_generator.state,
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Be where a snapshot of a state of the same problem was taken, bit for bit."""
        self.hyper, self.noise = snapshot["hyper"], snapshot["noise"]
        self.values = dict(snapshot["values"])
        self.rng.bit_generator.state = snapshot["generator"]
        self.assignment = Assignment(**snapshot["assignment"])
        self.clusters = self.problem.family.new_state(len(self.assignment.slots), self.hyper)
        self.refresh()


class Move:
    """One step of a sweep: a change of the state that leaves the posterior in place.

    `adapt` and `freeze_noise` are set while warming up: proposals may learn then, and the noise of
    the constraints stays at its prior mean.
    """

    def __call__(self, state: Any, *, adapt: bool, freeze_noise: bool) -> None:
        raise NotImplementedError

    def statistics(self, state: Any) -> dict[str, float]:
        """Sample statistics of the last sweep."""
        return {}

    def snapshot(self) -> dict[str, Any]:
        """What it has learned."""
        return {}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Know what was known when a snapshot was taken."""
        for name, value in snapshot.items():
            setattr(self, name, value)


class Chain:
    """A state and the moves of a sweep. `sweep` moves it on, `draw` tells where it is.

    Parameters
    ----------
    state : State
    moves : sequence of Move
        Made in this order.
    """

    def __init__(self, state: Any, moves: Sequence[Move]) -> None:
        self.state, self.moves = state, list(moves)

    @property
    def problem(self) -> TVClustProblem:
        """The model and the data."""
        problem: TVClustProblem = self.state.problem
        return problem

    @property
    def labels(self) -> IntArray:
        """Cluster of each item; labels may have gaps."""
        labels: IntArray = self.state.labels
        return labels

    def sweep(self, *, adapt: bool = False, freeze_noise: bool = False) -> None:
        """One sweep over everything unknown.

        `freeze_noise` belongs to the warm-up: a partition that has not yet seen the constraints
        contradicts half of them, and would have them explained as noise for good.
        """
        for move in self.moves:
            move(self.state, adapt=adapt, freeze_noise=freeze_noise)

    def draw(self) -> tuple[dict[str, Any], dict[str, float]]:
        """(variables of the posterior, sample statistics) now."""
        statistics = {"log_joint": self.state.log_joint()}
        for move in self.moves:
            statistics |= move.statistics(self.state)
        return self.state.draw(), statistics

    def snapshot(self) -> dict[str, Any]:
        """Where the chain is, to the last bit."""
        return {"state": self.state.snapshot(), "moves": [move.snapshot() for move in self.moves]}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Resume from a snapshot of a chain of the same problem and moves."""
        self.state.restore(snapshot["state"])
        for move, own in zip(self.moves, snapshot["moves"], strict=True):
            move.restore(own)


__all__ = ["SPARE_SLOTS", "Chain", "Move", "State"]
