"""A chain: a state, and a list of moves that each leave the posterior in place.

A sampler is the list. What moves share is here: the model and the data, the state with its growth,
snapshot and draw, and the chain that runs the moves in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.checks import check_flag, check_int, number_between
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import (
    compile_sites,
    count_answers,
    stack_dirichlets,
    stack_tables,
    table_parts,
)
from bayesclust.constraints.stored import noise_names
from bayesclust.families.base import BoundFamily, Terms, hard_statistics
from bayesclust.inference.assignment import (
    DERIVE,
    PROPOSED,
    TOTAL,
    Assignment,
    Target,
    new_assignment,
    refresh,
    restored_assignment,
    walk_clusters,
)
from bayesclust.partition_priors import DirichletProcess, Nested, PartitionPrior, Tables
from bayesclust.partition_priors.nested import WITHIN
from bayesclust.typing import FloatArray, IntArray

SPARE_SLOTS = 4
WARMUP_BOOST = 5.0
TARGET_ACCEPTANCE = 0.35
JOINT_STEPS = 3
LEARNT_AFTER = 50
LARGEST_STEP = 700.0
"""Largest step of a logarithm; beyond it a parameter is as impossible, and has no exponential."""

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

    def variables(
        self, values: Mapping[str, float], hyper: FloatArray, noise: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The parameters of a state, but what clusters share, by the posterior's names."""
        found: dict[str, Any] = dict(values)
        for prior, value in zip(self.family.hyper_priors, hyper, strict=False):
            if prior.log_sd > 0:
                found[prior.name] = float(value)
        for names, own in zip(self.noise_names, noise, strict=True):
            found |= {names[name]: np.array(value) for name, value in own.items()}
        return found

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
        self.hyper = problem.family.initial_hyper()
        if problem.family.n_shared:
            statistics = hard_statistics(problem.family, labels, int(labels.max()) + 1)
            self.hyper = problem.family.draw_shared(statistics, self.hyper, rng)
        self.values = problem.partition_prior.initial()
        self.noise = [each.noise.initial(each.n_sources) for each in problem.constraints]
        self.assign(labels)

    def use(self, problem: TVClustProblem) -> None:
        """Take a problem, and all that follows from its data and constraints alone."""
        self.problem = problem
        self.sites = compile_sites(problem.constraints, problem.n_items)
        # None where no noise is learned, or some of what is learned has no Dirichlet rows
        free = any(each.noise.free for each in problem.constraints)
        self.dirichlets = stack_dirichlets(problem.constraints) if free else None
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

    def counts(self) -> IntArray:
        """Numbers of answers by code and pattern, (codes, 5), laid out as `table`."""
        counts = np.zeros(self.table.shape, np.int64)
        count_answers(self.sites, self.labels, counts)
        return counts

    def update_partition_prior(self) -> None:
        """Draw the parameters of the prior over partitions."""
        prior = self.problem.partition_prior
        if prior.learned:
            self.values = prior.update(self.values, [self.sizes()], self.rng)

    def log_partition(self) -> float:
        """log p(z, parameters of its prior)."""
        prior = self.problem.partition_prior
        return prior.log_prob(self.sizes(), self.values) + prior.log_prior(self.values)

    def log_joint(self) -> float:
        """log p(everything), cluster parameters integrated out, in the user's units."""
        family = self.problem.family
        if family.n_shared:
            data = family.log_total(self.statistics(), self.hyper)
        else:
            data = walk_clusters(self.clusters, self.assignment, TOTAL)
        value = self.log_partition() + (data + family.log_constant)
        value += family.log_hyper_prior(self.hyper)
        noises = zip(self.problem.constraints, self.noise, strict=True)
        value += sum(each.noise.log_prior(noise) for each, noise in noises)
        return float(value + (self.counts() * self.table).sum())

    def draw(self) -> dict[str, Any]:
        """The posterior's variables now, without what clusters share."""
        partition = {"z": self.labels.copy(), "n_clusters": self.n_clusters}
        return partition | self.problem.variables(self.values, self.hyper, self.noise)

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


class HyperSampler:
    """Metropolis steps for the learned hyper-parameters of the base measure.

    With the cluster parameters integrated out, a step on the logarithms costs one pass over the
    clusters' sufficient statistics. Steps go along each coordinate, and along the directions in
    which the chain varied while warming up. What all clusters share (a common covariance) is
    integrated out for these steps, and then drawn.
    """

    def __init__(self, family: BoundFamily) -> None:
        self.family = family
        self.free = family.free
        number = len(self.free)
        self.log_step = np.append(np.full(number, -0.5), 0.5)
        self.steps = 0
        self.mean = np.zeros(number)
        self.scatter = np.zeros((number, number))

    def snapshot(self) -> dict[str, Any]:
        """What was learned of the proposals."""
        return {name: getattr(self, name) for name in ("log_step", "steps", "mean", "scatter")}

    def walk(
        self,
        log_marginal: Callable[[FloatArray], float],
        hyper: FloatArray,
        rng: Generator,
        *,
        adapt: bool,
    ) -> FloatArray:
        """Draw hyper-parameters, given log p(X | z, hyper-parameters) as a function of them."""
        number = len(self.free)
        if number == 0:
            return hyper
        current = log_marginal(hyper) + self.family.log_hyper_prior(hyper)
        self.steps += adapt
        root = self._root()
        for move in [*range(number), *[number] * (JOINT_STEPS if root is not None else 0)]:
            noise = rng.standard_normal(number)
            proposal = hyper.copy()
            step = math.exp(self.log_step[move])
            if root is None or move < number:
                proposal[self.free[move]] *= math.exp(min(step * noise[move], LARGEST_STEP))
            else:
                proposal[self.free] *= np.exp(step * (root @ noise))
            value = self.family.log_hyper_prior(proposal)
            if math.isfinite(value):
                value += log_marginal(proposal)
            accept = math.exp(min(value - current, 0.0))
            if rng.random() < accept:
                hyper = proposal
                current = value
            if adapt:
                self.log_step[move] += (accept - TARGET_ACCEPTANCE) / math.sqrt(self.steps)
        if adapt:
            self._learn(np.log(hyper[self.free]))
        return hyper

    def _learn(self, position: FloatArray) -> None:
        """Running covariance; early positions are forgotten as the warm-up goes on."""
        weight = 2.0 / (self.steps + 1.0)
        difference = position - self.mean
        self.mean = self.mean + weight * difference
        self.scatter = (1.0 - weight) * (self.scatter + weight * np.outer(difference, difference))

    def _root(self) -> FloatArray | None:
        """Root of the covariance, once it has been seen long enough."""
        if self.steps < LEARNT_AFTER or len(self.free) < 2:
            return None
        return np.asarray(np.linalg.cholesky(self.scatter + 1e-6 * np.eye(len(self.free))))


class BaseMeasure(HyperSampler, Move):
    """Metropolis steps on the hyper-parameters of the base measure."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        family = self.family = state.problem.family
        if family.n_shared:
            log_total = partial(family.log_total, state.statistics())
            state.hyper = self.walk(log_total, state.hyper, state.rng, adapt=adapt)
            state.redraw_shared()
        elif len(family.free):

            def log_marginal(values: FloatArray) -> float:
                if values is state.hyper:  # which the clusters have been derived for
                    return float(walk_clusters(state.clusters, state.assignment, TOTAL))
                family.set_hyper(state.clusters, values)
                return float(walk_clusters(state.clusters, state.assignment, PROPOSED))

            state.hyper = self.walk(log_marginal, state.hyper, state.rng, adapt=adapt)
            family.set_hyper(state.clusters, state.hyper)
            walk_clusters(state.clusters, state.assignment, DERIVE)


class PartitionPriorParameters(Move):
    """A draw of the parameters of the prior over partitions, such as the concentration."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.update_partition_prior()


class Noise(Move):
    """A conjugate draw of the noise of every constraint, unless it is held at its prior mean."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        constraints = state.problem.constraints
        if freeze_noise or not constraints:
            return
        counts = state.counts()
        rows = zip(constraints, table_parts(constraints), state.noise, strict=True)
        state.noise = [each.noise.draw(counts[part], own, state.rng) for each, part, own in rows]


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
