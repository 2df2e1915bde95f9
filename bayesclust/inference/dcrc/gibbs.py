"""DCRC's posterior by Gibbs sampling, p(z, noise | constraints, X, W), with the weights W held.

A sweep draws the labels of the items that constraints name, one by one and then in the groups that
links hold together, and the noise. Labels of other items are drawn when the state is read.

For item i, with log P(y_i = k | x_i; W) given (Pei et al., Eq. 6) and the constraints under Table I
or any other noise:

    log w_k = log P(y_i = k | x_i; W) + site logits of k

A block c of `link_blocks` goes to class k with log w_k = sum_{i in c} log P(y_i = k | x_i; W) + the
constraints that did not drop out, with c in k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust._numba import kernel, uniforms_of
from bayesclust.constraints.factor_graph import (
    UNPLACED,
    Sites,
    add_block_logits,
    add_set_logits,
    add_site_logits,
    compile_sites,
    stack_tables,
    with_labels,
)
from bayesclust.constraints.stored import noise_names
from bayesclust.inference.assignment import check_labels, draw_index
from bayesclust.inference.dcrc.weights import log_classes
from bayesclust.inference.moves.link_blocks import draw_blocks
from bayesclust.models.dcrc import unnamed
from bayesclust.models.joint import log_constraints
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class DCRCProblem:
    """The model and the data: everything that the chains share."""

    points: FloatArray  # (n, d)
    constraints: tuple[Any, ...]
    W: FloatArray  # (K, d + 1)

    def log_classes(self, rows: FloatArray) -> FloatArray:
        """Log class probabilities of rows of features, (m, K)."""
        return log_classes(self.W, rows)

    def draw_prior(self, number: int, rng: Generator) -> dict[str, FloatArray]:
        """Nothing: but for the noise, all is known before data or fixed at a point."""
        return {}

    def log_priors(self, draws: Mapping[str, Any]) -> dict[str, FloatArray]:
        """Nothing either."""
        return {}


class DCRCChain:
    """One chain of labels and noise."""

    def __init__(self, problem: DCRCProblem, rng: Generator) -> None:
        self.problem = problem
        self.rng, self.uniforms = rng, uniforms_of(rng)
        self.free = unnamed(problem.constraints, len(problem.points))
        self.named = np.flatnonzero(~self.free)
        self.sites = compile_sites(problem.constraints, len(problem.points))
        self.take_up([view.noise.initial(view.n_sources) for view in problem.constraints])
        self.log_p: FloatArray = np.ascontiguousarray(problem.log_classes(problem.points))
        # starts are dispersed and do not use the answers
        self.z = _draw_each(self.log_p, rng)
        self.moved = 0
        self.blocks_moved = np.nan

    def take_up(self, noise: list[dict[str, Any]]) -> None:
        """Set the noise."""
        self.noise = noise
        constraints = self.problem.constraints
        self.table = stack_tables(constraints, noise)
        self.sites = with_labels(self.sites, constraints, noise)

    def sweep(self, *, adapt: bool = False, freeze_noise: bool = False) -> None:
        """One sweep over all unknowns; nothing adapts."""
        # `freeze_noise` holds the noise at its prior mean: at first, labels contradict many
        # answers, which would be taken for noise.
        order = self.rng.permutation(self.named)
        answers = self.sites, self.table
        self.moved = scan_classes(self.z, self.log_p, *answers, order, self.uniforms)
        moved, number = move_class_blocks(self.z, self.log_p, *answers, self.uniforms)
        self.blocks_moved = moved / number if number else np.nan
        if not freeze_noise:
            drawn = []
            for one, own in zip(self.problem.constraints, self.noise, strict=True):
                counts = one.draw_counts(self.z, own, self.rng)
                drawn.append(one.noise.draw(counts, own, self.rng))
            self.take_up(drawn)

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
        return variables, statistics

    def log_joint(self) -> float:
        """log p(z, answers, noise | X, W)."""
        value = float(self.log_p[np.arange(len(self.z)), self.z].sum())
        return value + log_constraints(self.z, self.problem.constraints, self.noise)

    def snapshot(self) -> dict[str, Any]:
        """Everything that `restore` needs."""
        return {"z": self.z, "noise": self.noise, "generator": self.rng.bit_generator.state}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot of a chain of the same problem, bit for bit."""
        self.z = check_labels(snapshot["z"], self.z.shape, self.log_p.shape[1])
        self.take_up(snapshot["noise"])
        self.rng.bit_generator.state = snapshot["generator"]


def _draw_each(log_p: FloatArray, rng: Generator) -> IntArray:
    """Draw a label for each row."""
    edges = np.exp(log_p).cumsum(axis=1)
    below = edges[:, :-1] <= rng.random((len(edges), 1)) * edges[:, -1:]
    return np.asarray(below.sum(axis=1), dtype=np.int64)


def class_shares(z: IntArray, number: int) -> FloatArray:
    """Share of the draws (..., n) in which each item is in each class, (n, number)."""
    draws = z.reshape(-1, z.shape[-1])
    return np.stack([(draws == k).mean(axis=0) for k in range(number)], axis=1)


@kernel
def scan_classes(
    z: IntArray, log_p: FloatArray, sites: Sites, table: FloatArray, order: IntArray, rng: Generator
) -> int:
    """Draw the labels z of the items in `order`, one after another; returns how many moved."""
    moved = 0
    logits = np.empty(log_p.shape[1])
    for i in order:
        for k in range(len(logits)):  # numba takes 3 s to compile an assignment of arrays
            logits[k] = log_p[i, k]
        add_site_logits(sites, table, z, i, logits)
        add_set_logits(sites, table, z, i, logits)
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
            for k in range(len(logits)):
                logits[k] += log_p[i, k]
            z[i] = UNPLACED
        add_block_logits(sites, table, z, items, True, logits)
        k = draw_index(logits, len(logits), rng)
        for i in items:
            z[i] = k
        moved += k != old
    return moved, len(blocks.order)
