"""A chain: a state, and a list of moves that each leave the posterior in place.

A sampler is the list. What moves share is here: the model and the data, the state with its growth,
snapshot and draw, the chain that runs the moves in order, and how often it makes the costly ones.

A pass over the link blocks costs several scans. Where single items move freely it moves nothing
that the scan would not have moved, and where answers are many and certain no block ever leaves. So
the rate of such passes follows the share of blocks that moved in the second half of the warm-up; it
stays as it is from the first draw on, so that every draw comes from one transition kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.checks import check_flag, check_int, number_between
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.constraints.stored import noise_names
from bayesclust.families.base import BoundFamily, Terms, hard_statistics
from bayesclust.inference.assignment import (
    Assignment,
    Target,
    new_assignment,
    refresh,
    restored_assignment,
)
from bayesclust.inference.parameters import (
    DERIVE,
    PROPOSED,
    TOTAL,
    HyperSampler,
    IntegratedNoise,
    Tally,
    walk_clusters,
)
from bayesclust.partition_priors import DirichletProcess, Nested, PartitionPrior, Tables
from bayesclust.partition_priors.nested import WITHIN
from bayesclust.typing import FloatArray, IntArray

SPARE_SLOTS = 4
WARMUP_BOOST = 5.0
WORTHWHILE = 0.01
"""Share of blocks moved above which every sweep passes over them."""
LEAST_RATE = 0.1
"""Passes per sweep where none has moved: the warm-up may have been too short to see one."""


# --- the model and the data


@dataclass(frozen=True)
class TVClustProblem:
    """The model and the data: everything that the chains share."""

    family: BoundFamily
    constraints: tuple[Constraints, ...] = ()
    partition_prior: PartitionPrior = field(default_factory=DirichletProcess)

    def __post_init__(self) -> None:
        taken = {"z", "n_clusters", "log_joint", *(one.name for one in self.family.hyper_priors)}
        taken.update(*(names.values() for names in self.noise_names))
        for one in self.constraints:
            one.check_range()
        for name in self.partition_prior.parameters:
            if name in taken:
                raise ValueError(
                    f"partition_prior is a {type(self.partition_prior).__name__} with a parameter "
                    f"{name!r}, a name that the posterior has for something else: rename it."
                )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.family.X)

    @property
    def noise_names(self) -> list[dict[str, str]]:
        """For each set of constraints, the posterior's name of each noise parameter."""
        return noise_names(self.constraints)

    def check_start(self, z: IntArray) -> None:
        """Refuse a partition with more clusters than the prior allows."""
        most = self.partition_prior.most_clusters
        found = int(z.max()) + 1
        if most is not None and found > most:
            raise ValueError(
                f"the starting partition has {found} clusters, but the partition prior allows "
                f"{most}: start from fewer."
            )


@dataclass(frozen=True)
class TwoLevelProblem(TVClustProblem):
    """Clusters are mixtures; `within` is the prior of a cluster's partition into components."""

    within: PartitionPrior = WITHIN

    def __post_init__(self) -> None:
        super().__post_init__()
        Nested(self.partition_prior, self.within)  # refuses priors that do not nest


# --- where a chain is


class State:
    """The values of all unknowns: assignment, parameters of the prior, hyper-parameters, noise.

    `clusters` is the family's cluster state, `values` are parameters of the prior over partitions,
    and `table`, log p(answer | pattern), follows from `noise`.
    """

    clusters: Any
    assignment: Assignment

    def __init__(self, problem: TVClustProblem, z: NDArray[np.integer], rng: Generator) -> None:
        self.rng = rng
        self.use(problem)
        labels = np.asarray(z, np.int64)
        problem.check_start(labels)
        self.hyper = self.start_hyper(labels)
        self.values = problem.partition_prior.initial()
        self.noise = [each.noise.initial(each.n_sources) for each in problem.constraints]
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
        """Parameters of the noise of each set of constraints."""
        return self._noise

    @noise.setter
    def noise(self, noise: list[dict[str, Any]]) -> None:
        self._noise = noise
        self.table = stack_tables(self.problem.constraints, noise)

    @property
    def values(self) -> dict[str, float]:
        """Parameters of the prior over partitions."""
        return self._values

    @values.setter
    def values(self, values: dict[str, float]) -> None:
        self._values = values
        self._tables: Any = None

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
    def prior(self) -> Any:
        """The prior over partitions at the present values, as kernels read it."""
        if self._tables is None:
            self._tables = self.prior_tables(len(self.assignment.slots))
        return self._tables

    def prior_tables(self, capacity: int) -> Tables:
        """The tables of the prior for so many slots."""
        return self.problem.partition_prior.tables(self.n_items, capacity, self.values)

    @property
    def target(self) -> Any:
        """The target distribution, as kernels read it."""
        return Target(self.clusters, self.assignment, self.sites, self.table, self.prior)

    def assign(self, z: NDArray[np.integer]) -> None:
        """Assign the items by labels without gaps, with room for new clusters."""
        capacity = max(16, 2 * (int(z.max()) + 1) + SPARE_SLOTS)
        self.clusters = self._new_clusters(capacity)
        self.assignment = new_assignment(z, capacity)
        self._tables = None
        self.refresh()

    def _new_clusters(self, capacity: int) -> Any:
        """The family's cluster state, refused where kernels would leave its arrays."""
        family = self.problem.family
        state = family.new_state(capacity, self.hyper)
        slots, n = capacity + 1, self.n_items
        for name, wanted in (("count", slots), ("total", slots), ("items", n), ("X", n)):
            length = len(getattr(state, name, range(wanted)))
            if length != wanted:
                raise ValueError(
                    f"{type(family).__name__} makes a state of {capacity} clusters with {name} of "
                    f"length {length}, not {wanted}: correct its rows or new_state."
                )
        return state

    def make_room(self, spare: int) -> None:
        """Have so many free slots at least."""
        if int(self.assignment.number[0]) + spare > len(self.assignment.slots):
            self.assign(self.assignment.place[self.assignment.z])

    def refresh(self) -> None:
        """Compute the clusters' state again from the items."""
        refresh(self.clusters, self.assignment)

    def statistics(self) -> Terms:
        """Weighted statistics of the clusters in use, in the order of their slots."""
        labels = self.assignment.place[self.assignment.z]
        number = int(self.assignment.number[0])
        return hard_statistics(self.problem.family, labels, number)

    def start_hyper(self, z: IntArray) -> FloatArray:
        """Hyper-parameters to start from; what clusters share is drawn given labels 0..K-1."""
        family = self.problem.family
        hyper = family.initial_hyper()
        if not family.n_shared:
            return hyper
        statistics = hard_statistics(family, z, int(z.max()) + 1)
        return family.draw_shared(statistics, hyper, self.rng)

    def redraw_shared(self) -> None:
        """Draw what clusters share, given them."""
        family = self.problem.family
        self.hyper = family.draw_shared(self.statistics(), self.hyper, self.rng)
        family.set_hyper(self.clusters, self.hyper)
        self.refresh()

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

    def log_data(self) -> float:
        """log p(X | z, hyper-parameters), with what clusters share integrated out."""
        family = self.problem.family
        if family.n_shared:
            return family.log_total(self.statistics(), self.hyper)
        return float(walk_clusters(self.clusters, self.assignment, TOTAL))

    def log_partition(self) -> float:
        """log p(z, parameters of its prior)."""
        prior = self.problem.partition_prior
        return prior.log_prob(self.sizes(), self.values) + prior.log_prior(self.values)

    def log_joint(self) -> float:
        """log p(everything), cluster parameters integrated out, in the user's units."""
        family = self.problem.family
        value = self.log_partition()
        value += self.log_data() + family.log_constant
        value += family.log_hyper_prior(self.hyper)
        noises = zip(self.problem.constraints, self.noise, strict=True)
        value += sum(each.noise.log_prior(noise) for each, noise in noises)
        return float(value + (self.tally(self.labels) * self.table).sum())

    def draw(self) -> dict[str, Any]:
        """The posterior's variables now, without what clusters share."""
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
        self.hyper = snapshot["hyper"]
        self.noise = snapshot["noise"]
        self.values = dict(snapshot["values"])
        self.rng.bit_generator.state = snapshot["generator"]
        self.assignment = restored_assignment(snapshot["assignment"], self.problem.n_items)
        self.clusters = self._new_clusters(len(self.assignment.slots))
        self.refresh()


# --- moves


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
        """What the move has learned."""
        return {}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take a snapshot up again."""
        vars(self).update(snapshot)


class Refresh(Move):
    """Computes the clusters' state again: rounding creeps in, item by item."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.refresh()


class BaseMeasure(Move):
    """Metropolis steps on the hyper-parameters of the base measure."""

    def __init__(self, family: BoundFamily) -> None:
        self.sampler = HyperSampler(family)

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        family = self.sampler.family = state.problem.family
        if family.n_shared:
            statistics = state.statistics()

            def log_marginal(values: FloatArray) -> float:
                return family.log_total(statistics, values)

            state.hyper = self.sampler.walk(log_marginal, state.hyper, state.rng, adapt=adapt)
            state.redraw_shared()
        elif len(family.free):

            def log_marginal(values: FloatArray) -> float:
                if values is state.hyper:  # which the clusters have been derived for
                    return float(walk_clusters(state.clusters, state.assignment, TOTAL))
                family.set_hyper(state.clusters, values)
                return float(walk_clusters(state.clusters, state.assignment, PROPOSED))

            state.hyper = self.sampler.walk(log_marginal, state.hyper, state.rng, adapt=adapt)
            family.set_hyper(state.clusters, state.hyper)
            walk_clusters(state.clusters, state.assignment, DERIVE)

    def snapshot(self) -> dict[str, Any]:
        return self.sampler.snapshot()

    def restore(self, snapshot: dict[str, Any]) -> None:
        self.sampler.restore(snapshot)


class PartitionPriorParameters(Move):
    """A draw of the parameters of the prior over partitions, such as the concentration."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.update_partition_prior()


class Noise(Move):
    """A conjugate draw of the noise of every constraint, unless it is held at its prior mean."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        if not freeze_noise:
            state.update_noise()


class Chain:
    """A state and the moves of a sweep, made in this order."""

    def __init__(self, state: Any, moves: Sequence[Move]) -> None:
        self.state = state
        self.moves = list(moves)

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


# --- which moves, and how often


@dataclass(frozen=True)
class Moves:
    """The moves of a sweep.

    Parameters
    ----------
    link_blocks : bool, default True
        Move the groups that answers hold together as wholes (Swendsen and Wang's bonds), in every
        sweep of the warm-up and then as often as it was seen to be worth it.
    split_merge : float, default 1
        Split-merge proposals per sweep, on average where it is not a whole number; while warming
        up, when they matter most, `WARMUP_BOOST` times as many.
    restricted_scans : int, default 2
        Restricted scans of a launch (Jain and Neal recommend a few).
    fast : bool, default True
        Use a family's fast scan where it has one.
    single_site : bool, default True
        Scan the items one by one.

    Examples
    --------
    >>> import bayesclust as bc
    >>> est = bc.TVClust(sampler="gibbs", moves=bc.Moves())  # the paper's sampler, and group moves
    >>> est.moves.link_blocks
    True
    """

    link_blocks: bool = True
    split_merge: float = 1.0
    restricted_scans: int = 2
    fast: bool = True
    single_site: bool = True

    def __post_init__(self) -> None:
        for name in ("link_blocks", "fast", "single_site"):
            check_flag(getattr(self, name), f"{name} of Moves")
        number_between(self.split_merge, "split_merge of Moves", "[0, 1000]")
        check_int(self.restricted_scans, "restricted_scans of Moves", least=0, most=1000)
        if not self.single_site and self.split_merge == 0:
            raise ValueError(
                "Moves without single_site and split_merge do not reach every partition: "
                "leave one of them."
            )

    @classmethod
    def default(cls, n_items: int) -> Moves:
        """One split-merge proposal a sweep up to 500 items, then fewer: the scan costs more.

        A proposal visits all items of one or two clusters several times, one by one.
        """
        return cls(split_merge=min(1.0, 500.0 / n_items))


@dataclass
class MoveSchedule:
    """How often a chain makes its costly moves."""

    moves: Moves
    block_rate: float = 1.0
    blocks: int = field(default=0, init=False)
    moved: int = field(default=0, init=False)
    learning: bool = field(default=False, init=False)

    def block_passes(self, rng: Generator, *, adapt: bool) -> int:
        """Passes over the link blocks in this sweep."""
        if not self.moves.link_blocks:
            return 0
        if self.learning and not adapt:
            share = self.moved / self.blocks if self.blocks else 0.0
            self.block_rate = min(1.0, max(LEAST_RATE, share / WORTHWHILE))
            self.learning = False
        return 1 if adapt or self.block_rate == 1.0 else int(rng.random() < self.block_rate)

    def proposals(self, rng: Generator, *, adapt: bool) -> int:
        """Split-merge proposals in this sweep."""
        return int(self.moves.split_merge * (WARMUP_BOOST if adapt else 1.0) + rng.random())

    def record_blocks(self, moved: int, number: int) -> None:
        """Take note of a pass in the part of the warm-up that is like what comes after it."""
        self.learning = True
        self.blocks += number
        self.moved += moved

    def snapshot(self) -> dict[str, Any]:
        """What was learned."""
        return {name: value for name, value in asdict(self).items() if name != "moves"}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take it up again."""
        vars(self).update(snapshot)


__all__ = [
    "SPARE_SLOTS",
    "BaseMeasure",
    "Chain",
    "Move",
    "MoveSchedule",
    "Moves",
    "Noise",
    "PartitionPriorParameters",
    "Refresh",
    "State",
    "TVClustProblem",
    "TwoLevelProblem",
]
