"""The answers in the form that EM needs, and a solution on its way up."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from scipy.special import xlogy

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.sites import stack_tables
from bayesclust.inference.limits.hard_dcrc import IMPOSSIBLE, max_compatible, most_probable
from bayesclust.inference.variational.answers import SoftAnswers
from bayesclust.inference.variational.mean_field import softmax, stack_padded
from bayesclust.inference.variational_em.settings import EMSettings
from bayesclust.inference.variational_em.weights import WeightObjective
from bayesclust.models.dcrc import unnamed
from bayesclust.typing import BoolArray, Counts, FloatArray

SWEEPS, STEPS = 10, 15
"""Mean-field sweeps of an E-step and L-BFGS iterations of an M-step, at most; the next iteration goes on."""
SETTLED = 1e-3
"""Change of every probability below which an E-step ends."""


class NamedAnswers:
    """The answers, on the items that they name.

    Parameters
    ----------
    constraints : sequence of Constraints
        All views, on all items.
    n_items : int
    """

    def __init__(self, constraints: Sequence[Constraints], n_items: int) -> None:
        self.items = np.flatnonzero(~unnamed(constraints, n_items))
        self.n_answers = sum(map(len, constraints))
        self.constraints = (
            [view.restrict(self.items) for view in constraints] if self.n_answers else []
        )
        self.soft = SoftAnswers(self.constraints, len(self.items)) if self.n_answers else None

    @property
    def trusted_table(self) -> FloatArray:
        """The log table with noise at its prior mean."""
        return stack_tables(
            self.constraints, [view.noise.initial(view.n_sources) for view in self.constraints]
        )

    @property
    def unsure(self) -> BoolArray:
        """Which rows of the tables are of answers that leave the question open, shape (codes,)."""
        rows = [
            np.tile(np.array(view.vocabulary) == "dnk", view.n_sources) for view in self.constraints
        ]
        return np.concatenate([np.zeros(0, dtype=np.bool_), *rows])

    def counts(self, q: FloatArray) -> list[Counts]:
        """Expected counts of each view's answers by code and pattern."""
        return [] if self.soft is None else self.soft.counts(q)

    def value(self, q: FloatArray, table: FloatArray | None) -> float:
        """What the answers contribute to the bound: under a known log table, or with noise integrated out."""
        counts = self.counts(q)
        if table is not None:
            return float((stack_padded(counts) * table).sum())
        return float(
            sum(
                view.noise.log_marginal(count)
                for view, count in zip(self.constraints, counts, strict=True)
            )
        )

    def expected_table(self, q: FloatArray) -> FloatArray:
        """E log p(answer | pattern), noise at its optimum given q, shape (codes, 5)."""
        tables = [
            view.noise.expected_log_table(count, view.n_sources)
            for view, count in zip(self.constraints, self.counts(q), strict=True)
        ]
        return stack_padded(tables)


class Ascent:
    """Weights and label distributions on their way up; `path` has the bound after each E-step and M-step.

    The bound, in nats, is M times Eq. 10: E_q log P(y_I | x_I; W) + H(q) + the answers' part + the
    entropies and the penalty. It holds for the evidence log P(L | X; W) plus the last two. It never
    falls.

    Parameters
    ----------
    answers : NamedAnswers
    objective : WeightObjective
    settings : EMSettings
    W : ndarray of shape (K, D)
        The start.
    table : ndarray of shape (codes, 5), optional
        Known log p(answer | pattern); None lets noise follow from the views, learned where it has a
        prior.
    """

    def __init__(
        self,
        answers: NamedAnswers,
        objective: WeightObjective,
        settings: EMSettings,
        W: FloatArray,
        table: FloatArray | None = None,
    ) -> None:
        self.answers, self.objective, self.settings, self.table = (
            answers,
            objective,
            settings,
            table,
        )
        self._soft = copy.deepcopy(
            answers.soft
        )  # it keeps a table, and several ascents run side by side
        self.W, self.q = W, np.exp(objective.log_p(W))
        self.path: list[float] = []

    @property
    def bound(self) -> float:
        """The bound, in nats; at another temperature than 1, with the entropy of the labels multiplied by it."""
        value = self.objective.value_and_gradient(self.W, self.q)[0]
        value -= self.settings.temperature * float(xlogy(self.q, self.q).sum())
        return value + self.answers.value(self.q, self.table)

    def turn_to(self, objective: WeightObjective, table: FloatArray | None) -> None:
        """Go on from here under another objective or another log table; the path starts anew."""
        self.objective, self.table, self.path = objective, table, []

    def expect(self) -> None:
        """The E-step: mean-field sweeps in colour classes (Table II, Eq. 13), noise at its optimum before each."""
        if self._soft is not None:
            log_p = self.objective.log_p(self.W)
            for _ in range(SWEEPS):
                before = self.q.copy()
                self._soft.use_table(
                    self.answers.expected_table(self.q) if self.table is None else self.table
                )
                for step in self._soft.steps:
                    self.q[step.items] = self._respond(log_p[step.items], step.messages(self.q))
                if np.abs(self.q - before).max() < SETTLED:
                    break
        self.path.append(self.bound)

    def maximise(self, steps: int = STEPS) -> None:
        """The M-step, at most so many iterations of L-BFGS."""
        before = self.path[-1] if self.path else self.bound
        self.W, raised = self.objective.climb(self.W, self.q, steps)
        self.path.append(before + raised)

    def run(self, most: int, steps: int = STEPS) -> bool:
        """Alternate until an iteration adds less than the tolerance; False if the last one allowed still added more."""
        least = self.settings.tolerance * max(self.answers.n_answers, 1)
        for _ in range(most):
            before = self.path[-1] if self.path else -np.inf
            self.expect()
            self.maximise(steps)
            if self.path[-1] - before < least:
                return True
        return False

    def _respond(self, log_p: FloatArray, messages: FloatArray) -> FloatArray:
        if self.settings.literal:
            return max_compatible(messages / -IMPOSSIBLE, log_p)
        if self.settings.temperature == 0:
            return most_probable(log_p + messages)
        return softmax((log_p + messages) / self.settings.temperature)


__all__ = ["Ascent", "NamedAnswers"]
