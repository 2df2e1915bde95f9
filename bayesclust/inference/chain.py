"""A chain: a state, and a list of moves that each leave the posterior in place.

A sampler is the list. Here are the model and the data, the state, and the moves of parameters.
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

from bayesclust._numba import uniforms_of
from bayesclust.checks import check_flag, check_int, number_between
from bayesclust.constraints import factor_graph
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.stored import noise_names
from bayesclust.families.base import BoundFamily, Terms, hard_statistics
from bayesclust.inference import assignment as partition
from bayesclust.partition_priors import DirichletProcess, Nested, PartitionPrior, Tables
from bayesclust.partition_priors.base import Parameter
from bayesclust.partition_priors.nested import WITHIN, nested_log_prob
from bayesclust.typing import FloatArray, IntArray

SPARE_SLOTS = 4
WARMUP_BOOST = 5.0
TARGET_ACCEPTANCE = 0.35
JOINT_STEPS = 3
LEARNT_AFTER = 50
LARGEST_STEP = 700.0  # of a logarithm; beyond it a parameter is as impossible, and overflows


@dataclass(frozen=True)
class TVClustProblem:
    """The model and the data: everything that the chains share."""

    family: BoundFamily
    constraints: tuple[Constraints, ...] = ()
    partition_prior: PartitionPrior = field(default_factory=DirichletProcess)

    def __post_init__(self) -> None:
        taken = {"z", "n_clusters", "log_joint", *(one.name for one in self.family.hyper_priors)}
        taken.update(*(names.values() for names in noise_names(self.constraints)))
        for one in self.constraints:
            one.check_range()
        if len(self.labels) > 1:
            names = " and ".join(repr(one.name) for one in self.labels)
            raise ValueError(
                f"{names} are labels: put all annotators into one LabelConstraints, which tells "
                "them apart by source=."
            )
        own = {"partition", *self.learned, *(one.name for one in self.family.hyper_priors)}
        for one in self.constraints:
            if one.name in own:
                raise ValueError(
                    f"constraints are named {one.name!r}, as results call a parameter of the "
                    "model: give another name."
                )
        if clash := taken.intersection(self.partition_prior.parameters):
            raise ValueError(
                f"partition_prior has parameters {sorted(clash)}, names that the posterior has for "
                "something else: rename them."
            )

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.family.X)

    def embedding(self) -> FloatArray:
        """The items as points, for starts."""
        return self.family.embedding()

    @property
    def labels(self) -> list[Any]:
        """The constraints that are classes of items, one or none."""
        return [one for one in self.constraints if not one.has_table]

    @property
    def has_log_joint(self) -> bool:
        """Whether the noise can be integrated out, and the prior is of the partition alone."""
        hard = any(one.given is not one for one in self.constraints)
        return self.partition_prior.exchangeable and not (hard or self.labels)

    @property
    def learned(self) -> dict[str, Parameter]:
        """The parameters of priors over partitions that are learned, by the posterior's names."""
        return dict(self.partition_prior.learned)

    def draw_prior(self, number: int, rng: Generator) -> dict[str, FloatArray]:
        """Draws (number, ...) before data of all but items and noise, by the posterior's names."""
        rows = [self._prior_row(rng) for _ in range(number)]
        drawn = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return drawn | {"n_clusters": self._prior_n_clusters(rows, rng)}

    def _prior_row(self, rng: Generator) -> dict[str, Any]:
        values = self.partition_prior.sample_prior(rng)
        return self.variables(values, self.family.sample_hyper(rng), [{}] * len(self.constraints))

    def _prior_n_clusters(self, rows: list[dict[str, Any]], rng: Generator) -> IntArray:
        prior, n = self.partition_prior, self.n_items
        if not prior.learned:
            return np.asarray(prior.sample(n, prior.initial(), rng, len(rows)).max(axis=1) + 1)
        values = [{name: row[name] for name in prior.parameters} for row in rows]
        return np.array([prior.sample_n_clusters(n, own, rng) for own in values])

    def log_priors(self, draws: Mapping[str, Any]) -> dict[str, FloatArray]:
        """Log prior densities (chain, draw): of what is learned but noise, and of the partition."""
        found: dict[str, FloatArray] = {}
        for name, parameter in self.learned.items():
            found[name] = np.vectorize(parameter.log_prior, otypes=[float])(draws[name])
        for own in self.family.hyper_priors:
            if own.log_sd > 0:  # its density is that of the logarithm
                values = draws[own.name]
                density = np.vectorize(own.log_prob, otypes=[float])(values)
                found[own.name] = density - np.log(values)
        if not self.partition_prior.exchangeable:  # draws have clusters, not links
            return found
        found["partition"] = np.empty(draws["z"].shape[:2])
        for at in np.ndindex(found["partition"].shape):
            draw = {name: values[at] for name, values in draws.items()}
            found["partition"][at] = self._log_partition(draw)
        return found

    def _log_partition(self, draw: Mapping[str, Any]) -> float:
        """log p(z, and components or weights | parameters) of one draw."""
        return self.partition_prior.log_prob(np.unique(draw["z"], return_counts=True)[1], draw)

    def variables(
        self, values: Mapping[str, float], hyper: FloatArray, noise: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """The parameters of a state, but what clusters share, by the posterior's names."""
        found: dict[str, Any] = dict(values)
        for prior, value in zip(self.family.hyper_priors, hyper, strict=False):
            if prior.log_sd > 0:
                found[prior.name] = float(value)
        for names, own in zip(noise_names(self.constraints), noise, strict=True):
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

    @property
    def learned(self) -> dict[str, Parameter]:
        within = {f"within_{name}": one for name, one in self.within.learned.items()}
        return super().learned | within

    def _prior_row(self, rng: Generator) -> dict[str, Any]:
        row, within = super()._prior_row(rng), self.within.sample_prior(rng)
        return row | {f"within_{name}": value for name, value in within.items()}

    def _log_partition(self, draw: Mapping[str, Any]) -> float:
        within = {name: draw[f"within_{name}"] for name in self.within.parameters}
        both = self.partition_prior, self.within
        return nested_log_prob(draw["component"], draw["z"], *both, draw, within)


class State:
    """The values of all unknowns: assignment, parameters of the prior, hyper-parameters, noise."""

    clusters: Any  # the family's cluster state
    assignment: partition.Assignment
    table: FloatArray  # (codes, 5) log p(answer | pattern), which follows from the noise

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
        """Use a problem: set all that follows from its data and constraints alone."""
        self.problem = problem
        given = problem.constraints
        self.sites = factor_graph.compile_sites(given, problem.n_items)
        # None where no noise is learned, or some of what is learned has no Dirichlet rows
        free = any(each.noise.free for each in given if each.has_table)
        self.dirichlets = factor_graph.stack_dirichlets(given) if free else None
        self.family = problem.family
        self.embedding = problem.family.embedding()
        pairs = [each.anchors for each in given]
        self.asked: IntArray = np.concatenate([np.zeros((0, 2), np.int64), *pairs])

    @property
    def rng(self) -> Generator:
        """The generator of all draws."""
        return self._rng

    @rng.setter
    def rng(self, rng: Generator) -> None:
        self._rng = rng
        self.uniforms = uniforms_of(rng)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: what kernels draw from belongs to one generator."""
        return {name: value for name, value in vars(self).items() if name != "uniforms"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self.rng = self._rng

    @property
    def noise(self) -> list[dict[str, Any]]:
        """Parameters of the noise of each set of constraints."""
        return self._noise

    @noise.setter
    def noise(self, noise: list[dict[str, Any]]) -> None:
        self._noise = noise
        given = self.problem.constraints
        self.table = factor_graph.stack_tables(given, noise)
        self.sites = factor_graph.with_labels(self.sites, given, noise)

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
        return partition.Target(self.clusters, self.assignment, self.sites, self.table, self.prior)

    def assign(self, z: NDArray[np.integer]) -> None:
        """Assign the items by labels without gaps, with room for new clusters."""
        capacity = max(16, 2 * (int(z.max()) + 1) + SPARE_SLOTS)
        self.clusters = self._new_clusters(capacity)
        self.assignment = partition.new_assignment(z, capacity)
        self._tables = None
        self.refresh()

    def _new_clusters(self, capacity: int) -> Any:
        """The family's cluster state, refused where kernels would leave its arrays."""
        family = self.family
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

    def take_up(
        self, values: dict[str, float], hyper: FloatArray, noise: list[dict[str, Any]]
    ) -> None:
        """Set these parameters; the partition stays."""
        self.values = values
        self.noise = noise
        self.hyper = hyper
        self.problem.family.set_hyper(self.clusters, hyper)
        self.refresh()

    def make_room(self, spare: int) -> None:
        """Have so many free slots at least."""
        if int(self.assignment.number[0]) + spare > len(self.assignment.slots):
            self.assign(self.assignment.place[self.assignment.z])

    def refresh(self) -> None:
        """Compute the clusters' state again from the items."""
        partition.refresh(self.clusters, self.assignment)

    def statistics(self) -> Terms:
        """Weighted statistics of the clusters in use, in the order of their slots."""
        labels = self.assignment.place[self.assignment.z]
        return hard_statistics(self.family, labels, int(self.assignment.number[0]))

    def redraw_shared(self) -> None:
        """Draw what clusters share, given them."""
        family = self.problem.family
        self.hyper = family.draw_shared(self.statistics(), self.hyper, self.rng)
        family.set_hyper(self.clusters, self.hyper)
        self.refresh()

    def sizes(self) -> IntArray:
        """Cluster sizes, in the order of the slots."""
        return np.asarray(self.clusters.count[self.assignment.slots[: self.n_clusters]])

    def counts(self) -> IntArray:
        """Numbers of answers by code and pattern, laid out as `table`; 0 of labels."""
        counts = np.zeros(self.table.shape, np.int64)
        factor_graph.count_answers(self.sites, self.labels, counts)
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
            data = partition.walk_clusters(self.clusters, self.assignment, partition.TOTAL)
        value = self.log_partition() + (data + family.log_constant)
        value += family.log_hyper_prior(self.hyper)
        noises = zip(self.problem.constraints, self.noise, strict=True)
        value += sum(each.noise.log_prior(noise) for each, noise in noises)
        for each, noise in zip(self.problem.constraints, self.noise, strict=True):
            if not each.has_table:
                value += each.log_prob(self.labels, noise)
        return float(value + (self.counts() * self.table).sum())

    def draw(self) -> dict[str, Any]:
        """The posterior's variables now, without what clusters share."""
        drawn = {"z": self.labels.copy(), "n_clusters": self.n_clusters}
        return drawn | self.problem.variables(self.values, self.hyper, self.noise)

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
        """Return to a snapshot of a state of the same problem, bit for bit."""
        self.hyper = snapshot["hyper"]
        self.noise = snapshot["noise"]
        self.values = dict(snapshot["values"])
        self.rng.bit_generator.state = snapshot["generator"]
        self.assignment = partition.restored_assignment(snapshot["assignment"], self.n_items)
        self.clusters = self._new_clusters(len(self.assignment.slots))
        self.refresh()


class Move:
    """One step of a sweep: a change of the state that leaves the posterior in place."""

    # with `adapt` proposals may learn, with `freeze_noise` the noise of constraints does not change

    def __call__(self, state: Any, *, adapt: bool, freeze_noise: bool) -> None:
        raise NotImplementedError

    learned: tuple[str, ...] = ()
    """The attributes that a snapshot has."""

    def statistics(self, state: Any) -> dict[str, float]:
        """Sample statistics of the last sweep."""
        return {}

    def snapshot(self) -> dict[str, Any]:
        """What the move has learned."""
        return {name: getattr(self, name) for name in self.learned}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Restore a snapshot."""
        vars(self).update(snapshot)


class Refresh(Move):
    """Computes the clusters' state again: rounding creeps in, item by item."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.refresh()


class HyperSampler(Move):
    """Metropolis steps on the logarithms of the learned hyper-parameters of the base measure."""

    # steps go along each coordinate and the directions in which the chain varied while warming up;
    # what all clusters share (a covariance) is integrated out for these steps, and then drawn

    learned = ("log_step", "steps", "mean", "scatter")

    def __init__(self, family: BoundFamily) -> None:
        self.family = family
        self.free = family.free
        number = len(self.free)
        self.log_step = np.append(np.full(number, -0.5), 0.5)
        self.steps = 0
        self.mean = np.zeros(number)
        self.scatter = np.zeros((number, number))

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
        if adapt:  # a running covariance, which forgets early positions during the warm-up
            weight = 2.0 / (self.steps + 1.0)
            gap = np.log(hyper[self.free]) - self.mean
            self.mean = self.mean + weight * gap
            self.scatter = (1.0 - weight) * (self.scatter + weight * np.outer(gap, gap))
        return hyper

    def _root(self) -> FloatArray | None:
        """Root of the covariance, once it has been seen long enough."""
        if self.steps < LEARNT_AFTER or len(self.free) < 2:
            return None
        return np.asarray(np.linalg.cholesky(self.scatter + 1e-6 * np.eye(len(self.free))))


class BaseMeasure(HyperSampler):
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
                    return walk(partition.TOTAL)
                family.set_hyper(state.clusters, values)
                return walk(partition.PROPOSED)

            walk: Callable[[int], float] = partial(
                partition.walk_clusters, state.clusters, state.assignment
            )
            state.hyper = self.walk(log_marginal, state.hyper, state.rng, adapt=adapt)
            family.set_hyper(state.clusters, state.hyper)
            walk(partition.DERIVE)


class PartitionPriorParameters(Move):
    """A draw of the parameters of the prior over partitions, such as the concentration."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        state.update_partition_prior()


class Noise(Move):
    """A conjugate draw of the noise of every constraint, unless it is held at its prior mean."""

    def __call__(self, state: State, *, adapt: bool, freeze_noise: bool) -> None:
        constraints: tuple[Any, ...] = state.problem.constraints
        if freeze_noise or not constraints:
            return
        counts = state.counts()
        drawn = []
        parts = factor_graph.table_parts(constraints)
        for each, own, part in zip(constraints, state.noise, parts, strict=True):
            given = counts[part]
            if not each.has_table:
                given = each.draw_counts(state.labels, own, state.rng)
            drawn.append(each.noise.draw(given, own, state.rng))
        state.noise = drawn


class Chain:
    """A state and the moves of a sweep, made in this order."""

    def __init__(self, state: State, moves: Sequence[Move]) -> None:
        self.state = state
        self.moves = list(moves)

    @property
    def problem(self) -> TVClustProblem:
        """The model and the data."""
        return self.state.problem

    @property
    def labels(self) -> IntArray:
        """Cluster of each item; labels may have gaps."""
        return self.state.labels

    def sweep(self, *, adapt: bool = False, freeze_noise: bool = False) -> None:
        """One sweep over everything unknown."""
        # `freeze_noise` belongs to the warm-up: a partition that has not yet seen the constraints
        # contradicts half of them, and would have them explained as noise for good.
        for move in self.moves:
            move(self.state, adapt=adapt, freeze_noise=freeze_noise)

    def draw(self) -> tuple[dict[str, Any], dict[str, float]]:
        """(variables of the posterior, sample statistics) now."""
        statistics = {"log_joint": self.state.log_joint()}
        for move in self.moves:
            statistics |= move.statistics(self.state)
        return self.state.draw(), statistics

    def snapshot(self) -> dict[str, Any]:
        """All that `restore` needs."""
        return {"state": self.state.snapshot(), "moves": [move.snapshot() for move in self.moves]}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Resume from a snapshot of a chain of the same problem and moves."""
        self.state.restore(snapshot["state"])
        for move, own in zip(self.moves, snapshot["moves"], strict=True):
            move.restore(own)


@dataclass(frozen=True)
class Moves:
    """The moves of a sweep.

    Parameters
    ----------
    link_blocks : bool, default True
        Move the groups that answers hold together as wholes (Swendsen and Wang's bonds), in every
        sweep of the warm-up and then as often as they showed to move items.
    split_merge : float, default 1
        Split-merge proposals per sweep on average; while warming up, five times as many.
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
