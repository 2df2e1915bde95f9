"""DCRC's posterior by Gibbs sampling: labels of the named items, noise and, if asked, the weights.

A sweep draws the labels of the items that constraints name, one by one and then in the groups that
links hold together, the weights W given these, unless W is held, the precision of their prior and
the noise. Labels of other items are summed out of the draw of W, and drawn when the state is read.

For item i, with log P(y_i = k | x_i; W) given (Pei et al., Eq. 6) and the constraints under Table I
or any other noise:

    log w_k = log P(y_i = k | x_i; W) + site logits of k

A block c of `link_blocks` goes to class k with log w_k = sum_{i in c} log P(y_i = k | x_i; W) + the
constraints that did not drop out, with c in k.

With W held the target is p(z, noise | constraints, X, W). With W drawn it is the density of
`bayesclust.models.dcrc_log_joint` under a `WeightPrior` that is proper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import linear_sum_assignment

from bayesclust._numba import kernel
from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import (
    UNPLACED,
    Sites,
    add_block_logits,
    add_site_logits,
    compile_sites,
    stack_tables,
)
from bayesclust.constraints.stored import noise_names
from bayesclust.inference.assignment import check_labels, draw_index
from bayesclust.inference.dcrc.em import named_first
from bayesclust.inference.dcrc.weights import WeightObjective, WeightSampler, log_classes
from bayesclust.inference.moves.link_blocks import draw_blocks
from bayesclust.models.dcrc import WeightPrior, dcrc_log_joint, unnamed
from bayesclust.typing import FloatArray, IntArray

MATCHING_ROUNDS = 20


@dataclass(frozen=True)
class DCRCProblem:
    """The model and the data: everything that the chains share."""

    points: FloatArray  # (n, d)
    constraints: tuple[Constraints, ...]
    W: FloatArray  # (K, d + 1)
    prior: WeightPrior | None = None


class DCRCChain:
    """One chain. `sweep` moves it on, `draw` tells where it is."""

    def __init__(self, problem: DCRCProblem, rng: Generator) -> None:
        self.problem = problem
        self.rng = rng
        self.free = unnamed(problem.constraints, len(problem.points))
        self.named = np.flatnonzero(~self.free)
        self.noise = [view.noise.initial(view.n_sources) for view in problem.constraints]
        self.sites = compile_sites(problem.constraints, len(problem.points))
        self.table = stack_tables(problem.constraints, self.noise)
        self.sampler: WeightSampler | None = None
        self.precision = np.nan
        self.learns_precision = False
        if (prior := problem.prior) is not None:
            self.precision = prior.prior_precision.initial
            self.learns_precision = prior.prior_precision.fixed is None
            features = named_first(problem.points, self.named)[0]
            weights = self.precision / 2, prior.separation, prior.balance
            sizes = None if prior.proportions is None else np.array(prior.proportions)
            bias_ridge = prior.bias_scale**-2 / 2
            self.sampler = WeightSampler(
                WeightObjective(features, len(self.named), *weights, sizes, bias_ridge)
            )
        self._use_weights(problem.W)
        # starts are dispersed: answers have no part in them
        self.z = _draw_each(self.log_p, rng)
        self.moved = 0
        self.blocks_moved = self.accepted = np.nan

    def sweep(self, *, adapt: bool = False, freeze_noise: bool = False) -> None:
        """One sweep over everything unknown.

        `adapt` tunes the draw of the weights; `freeze_noise` holds the noise at its prior mean: at
        first, labels contradict many answers, which would be taken for noise.
        """
        order = self.rng.permutation(self.named)
        answers = self.sites, self.table
        self.moved = scan_classes(self.z, self.log_p, *answers, order, self.rng)
        moved, number = move_class_blocks(self.z, self.log_p, *answers, self.rng)
        self.blocks_moved = moved / number if number else np.nan
        if self.sampler is not None:
            labels = np.eye(len(self.W))[self.z[self.named]]
            W, self.accepted = self.sampler.draw(self.W, labels, self.rng, adapt=adapt)
            self._use_weights(W)
            if self.learns_precision and self.problem.prior is not None:
                self._penalise(self.problem.prior.draw_precision(self.W, self.rng))
        if not freeze_noise:
            constraints = self.problem.constraints
            rows = zip(constraints, self.noise, strict=True)
            self.noise = [one.noise.draw(one.counts(self.z), own, self.rng) for one, own in rows]
            self.table = stack_tables(constraints, self.noise)

    def draw(self) -> tuple[dict[str, Any], dict[str, float]]:
        """(variables of the posterior, sample statistics) of the present state."""
        self.z[self.free] = _draw_each(self.log_p[self.free], self.rng)
        variables: dict[str, Any] = {"z": self.z.copy()}
        for names, noise in zip(noise_names(self.problem.constraints), self.noise, strict=True):
            variables |= {names[name]: np.array(values) for name, values in noise.items()}
        statistics = {
            "log_joint": self.log_joint(),
            "moved": self.moved / max(len(self.named), 1),
            "blocks_moved": self.blocks_moved,
        }
        if self.sampler is not None:
            variables["W"] = self.W.copy()
            if self.learns_precision:
                variables["precision"] = self.precision
            statistics["accept_rate"] = self.accepted
        return variables, statistics

    def log_joint(self) -> float:
        """log p(z, answers, noise | X, W), where W is drawn with its unnormalised prior."""
        problem = self.problem
        if problem.prior is not None:
            data = problem.points, problem.constraints, self.noise
            return dcrc_log_joint(self.W, self.z, *data, problem.prior, self.precision)
        value = float(self.log_p[np.arange(len(self.z)), self.z].sum())
        for view, noise in zip(problem.constraints, self.noise, strict=True):
            value += view.log_prob(self.z, noise) + view.noise.log_prior(noise)
        return value

    def snapshot(self) -> dict[str, Any]:
        """Everything that `restore` needs."""
        return {
            "z": self.z,
            "W": self.W,
            "noise": self.noise,
            "precision": self.precision,
            "sampler": None if self.sampler is None else self.sampler.snapshot(),
            "generator": self.rng.bit_generator.state,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot of a chain of the same problem, bit for bit."""
        self.z = check_labels(snapshot["z"], self.z.shape, len(self.W))
        self.noise = snapshot["noise"]
        if self.sampler is not None:
            self.sampler.restore(snapshot["sampler"])
            self._penalise(snapshot["precision"])
        self.rng.bit_generator.state = snapshot["generator"]
        self.table = stack_tables(self.problem.constraints, self.noise)
        self._use_weights(snapshot["W"])

    def _use_weights(self, W: FloatArray) -> None:
        self.W = W
        self.log_p: FloatArray = np.ascontiguousarray(log_classes(W, self.problem.points))

    def _penalise(self, precision: float) -> None:
        assert self.sampler is not None
        self.precision = precision
        self.sampler.objective = replace(self.sampler.objective, ridge=precision / 2)


def _draw_each(log_p: FloatArray, rng: Generator) -> IntArray:
    """Draw a label for each row."""
    edges = np.exp(log_p).cumsum(axis=1)
    below = edges[:, :-1] <= rng.random((len(edges), 1)) * edges[:, -1:]
    return np.asarray(below.sum(axis=1), dtype=np.int64)


# --- draws whose classes are known up to their order alone


def match_classes(z: IntArray, reference: IntArray, number: int) -> IntArray:
    """Number the classes of every draw alike: those of a reference with which most labels agree.

    The reference becomes every item's commonest class, until it stays.
    """
    for _ in range(MATCHING_ROUNDS):
        codes = z.astype(np.int64) * number + reference
        cells = [-np.bincount(row, minlength=number**2).reshape(number, number) for row in codes]
        matched = np.array([linear_sum_assignment(cell)[1] for cell in cells])
        before = reference
        reference = class_shares(z, matched).argmax(axis=1)
        if (reference == before).all():
            break
    return matched


def class_shares(z: IntArray, matched: IntArray) -> FloatArray:
    """Share of the draws in which each item is in each class, shape (n, K)."""
    shares = np.zeros((z.shape[1], matched.shape[1]))
    items = np.arange(z.shape[1])
    for labels, names in zip(z, matched, strict=True):
        shares[items, names[labels]] += 1
    return shares / len(z)


# --- compiled scans


@kernel
def scan_classes(
    z: IntArray, log_p: FloatArray, sites: Sites, table: FloatArray, order: IntArray, rng: Generator
) -> int:
    """Draw the labels z of the items in `order`, one after another; returns how many moved."""
    moved = 0
    logits = np.empty(log_p.shape[1])
    for i in order:
        logits[:] = log_p[i]
        add_site_logits(sites, table, z, i, logits)
        k = draw_index(logits, len(logits), rng)
        moved += k != z[i]
        z[i] = k
    return moved


@kernel
def move_class_blocks(
    z: IntArray, log_p: FloatArray, sites: Sites, table: FloatArray, rng: Generator
) -> tuple[int, int]:
    """Draw bonds, and one label for every block that they make; how many moved, and of how many."""
    moved = 0
    blocks = draw_blocks(sites, table, z, rng)
    logits = np.empty(log_p.shape[1])
    for root in blocks.order:
        items = blocks.items[blocks.start[root] : blocks.start[root + 1]]
        old = z[items[0]]
        logits[:] = 0.0
        for i in items:
            logits += log_p[i]
            z[i] = UNPLACED
        add_block_logits(sites, table, z, items, True, logits)
        k = draw_index(logits, len(logits), rng)
        z[items] = k
        moved += k != old
    return moved, len(blocks.order)
