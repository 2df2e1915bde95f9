r"""DCRC's labels at a temperature, on the way to its deterministic limit.

With weights W, and C the probabilities of answers under each truth (Table I of Pei, Fern, Rosales
and Tjahja, or other noise), both held,

    J(z)       = -sum_i log P(y_i = z_i | x_i; W) - sum_answers log C[truth of the labels, answer]
    p_gamma(z) ~ exp(-gamma J(z)),    gamma = 1 / temperature.

At gamma = 1 this is p(z | answers, X, W), which `gibbs` draws from. Temperature takes the error
rate with it: answers of error eps weigh as those of eps_gamma do at gamma = 1,

    ln((1 - eps_gamma) / (eps_gamma / 2)) = gamma ln((1 - eps) / (eps / 2)),

so that eps_gamma -> 0, as p and q of TVClust tend to 1. (Eq. 14 lets eps fall alone: answers are
then infinitely much more than the classifier.) Mean field at gamma minimises, over q(z) = prod_i
q_i(z_i),

    F(q) = E_q J - H(q) / gamma  >=  -(1 / gamma) log sum_z exp(-gamma J(z)),

by Eq. 13 to the power gamma; without a temperature every item takes the best label given the
others', and J never rises: the E-step of `DCRC(temperature=0)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import override

import numpy as np
from numpy.random import Generator
from scipy.special import log_softmax, softmax, xlogy

from bayesclust.constraints.base import N_PATTERNS, Constraints
from bayesclust.constraints.factor_graph import stack_padded
from bayesclust.inference.dcrc.em import SETTLED
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.inference.variational.answers import SoftAnswers
from bayesclust.typing import FloatArray, IntArray

MOST_SWEEPS = 500


class TemperedLabels:
    """J of labels, and mean field at any gamma; `confusion` is C by name, (S, answers, answers)."""

    def __init__(self, problem: DCRCProblem, confusion: Mapping[str, FloatArray]) -> None:
        self.problem = problem
        self.log_p = problem.log_classes(problem.points)
        self.tables = []
        for one in problem.constraints:
            log_c = np.log(confusion[one.name])
            self.tables.append(Constraints.costs(one, log_c).reshape(-1, N_PATTERNS))
        self.table = stack_padded(self.tables)
        self.soft = SoftAnswers(problem.constraints, len(problem.points))

    def values(self, z: IntArray) -> FloatArray:
        """J of labels z (..., n)."""
        value = self.log_p[np.arange(len(self.log_p)), z].sum(axis=-1)
        for one, table in zip(self.problem.constraints, self.tables, strict=True):
            value += (one.counts(z) * table[:, : one.n_patterns]).sum(axis=(-2, -1))
        return np.asarray(-value)

    def free_energy(self, q: FloatArray, gamma: float) -> float:
        """F of distributions q (n, K)."""
        value = float((q * self.log_p).sum()) + self.soft.value(self.soft.counts(q), self.table)
        return float(xlogy(q, q).sum()) / gamma - value

    def settle(self, q: FloatArray, gamma: float) -> FloatArray:
        """Sweep from q (n, K) until nothing changes; gamma may be infinite. F never rises."""
        hard = np.isinf(gamma)
        weight = 1.0 if hard else gamma
        self.soft.use_table(weight * self.table)
        base = weight * self.log_p
        q = q.copy()
        for _ in range(MOST_SWEEPS):
            before = q.copy()
            for step in self.soft.steps:
                logits = base[step.items] + step.messages(q)
                own = np.eye(q.shape[1])[logits.argmax(axis=1)] if hard else softmax(logits, axis=1)
                q[step.items] = own
            if np.abs(q - before).max() < SETTLED:
                break
        return q


class TemperedChain(DCRCChain):
    """A chain whose labels have the law exp(-gamma J), from labels z on."""

    def __init__(self, labels: TemperedLabels, gamma: float, z: IntArray, rng: Generator) -> None:
        super().__init__(labels.problem, rng)
        self.labels = labels
        self.gamma = gamma
        self.log_p = np.ascontiguousarray(log_softmax(gamma * labels.log_p, axis=1))
        self.table = gamma * labels.table
        self.z = z.copy()

    @override
    def sweep(self, *, adapt: bool = False, freeze_noise: bool = False) -> None:
        super().sweep(freeze_noise=True)

    @override
    def log_joint(self) -> float:
        return -self.gamma * float(self.labels.values(self.z))
