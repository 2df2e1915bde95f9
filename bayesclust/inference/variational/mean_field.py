"""The mean field: responsibilities, everything that follows from them, the bound, and coordinate ascent.

With q(theta), q(V), q(alpha) and q(noise) at their optimum the bound is

    L(r) = sum_k log m(weighted items of k) + sticks + sum_views log p(soft counts) + sum_i H(r_i) +
    log prior(hyper)

where m and p(counts) are the marginal likelihoods with parameters and noise integrated out,
extended to soft weights. A sweep fixes the other factors at their optimum, updates the
responsibilities colour by colour, which cannot lower the bound under the fixed factors, and then
moves these to their new optimum, which cannot lower it either.

Plain NumPy: what is parallel here are matrix products and logarithms of n x K arrays, which took
less processor time than under JAX at most sizes measured (300 x 7 to 100,000 x 8 and 20,000 x 38),
while problems of a few hundred items, each of a shape of its own, would compile for longer than
they run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import xlogy

from bayesclust.constraints.base import N_PATTERNS
from bayesclust.constraints.factor_graph import stack_tables
from bayesclust.families.base import Components, Terms
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.variational.answers import SoftAnswers
from bayesclust.inference.variational.sticks import Sticks, fit_sticks
from bayesclust.typing import Counts, FloatArray, IntArray

CHUNK = 1 << 21
"""Largest number of (item, component, column) cells that are worked on at once."""


@dataclass(frozen=True)
class Task:
    """The model, the data and the answers in the form that mean field needs.

    Parameters
    ----------
    problem : TVClustProblem
    """

    problem: TVClustProblem
    components: Components = field(init=False)
    answers: SoftAnswers = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", self.problem.family.components())
        object.__setattr__(
            self, "answers", SoftAnswers(self.problem.constraints, self.problem.n_items)
        )

    @cached_property
    def trusted_table(self) -> FloatArray:
        """The log table of the answers with noise at its prior mean."""
        views = self.problem.constraints
        return stack_tables(views, [view.noise.initial(view.n_sources) for view in views])

    def statistics(self, r: FloatArray) -> Terms:
        """Sufficient statistics under responsibilities r (n, K)."""
        parts = [
            self.components.statistics(np, rows, r[chunk])
            for chunk, rows in self._chunks(r.shape[1])
        ]
        return tuple(sum(pieces[1:], start=pieces[0]) for pieces in zip(*parts, strict=True))

    def log_density(self, terms: Terms, number: int) -> FloatArray:
        """E log p(x_i | theta_k) of all items, shape (n, K)."""
        return np.concatenate(
            [self.components.log_density(np, rows, terms) for _, rows in self._chunks(number)]
        )

    def _chunks(self, number: int) -> list[tuple[slice, Terms]]:
        rows, n = self.components.rows, self.problem.n_items
        width = max(1, CHUNK // (number * sum(int(np.prod(row.shape[1:])) for row in rows)))
        cuts = [slice(begin, begin + width) for begin in range(0, n, width)]
        return [(cut, tuple(row[cut] for row in rows)) for cut in cuts]


class MeanField:
    """Responsibilities with everything that follows from them.

    Parameters
    ----------
    task : Task
    r : ndarray of shape (n, K)
        Responsibilities, rows summing to one.
    hyper : ndarray
        Hyper-parameters of the base measure.
    trust : bool, default False
        Hold the noise of the answers at its prior mean; the bound is then that of known noise.
    ordered : bool, default True
        Keep the components in the order of their sizes.
    """

    def __init__(
        self,
        task: Task,
        r: FloatArray,
        hyper: FloatArray,
        *,
        trust: bool = False,
        ordered: bool = True,
    ) -> None:
        self.task, self.hyper, self.trust, self.ordered = task, hyper, trust, ordered
        self._alpha = task.problem.concentration.initial()
        self._take(r)

    @property
    def n_components(self) -> int:
        """Number of components in use."""
        return int(self.r.shape[1])

    @property
    def bound(self) -> float:
        """The bound on the log evidence, plus the log prior of the hyper-parameters (their logarithms') where learned."""
        return (
            self.data_bound
            + self.sticks.bound
            + self.answer_bound
            + self.entropy
            + self.task.problem.family.log_constant
        )

    @cached_property
    def data_bound(self) -> float:
        """What the data contribute: log marginals of the weighted components and the log prior of the hyper-parameters."""
        return self.data_bound_at(self.hyper)

    def set_hyper(self, hyper: FloatArray, data_bound: float) -> None:
        """Take over hyper-parameters, and what the data contribute at them."""
        self.hyper, self.data_bound = hyper, data_bound

    def data_bound_at(self, hyper: FloatArray) -> float:
        """The same at other hyper-parameters."""
        family = self.task.problem.family
        value = family.log_hyper_prior(hyper) + family.log_shared_prior(hyper)
        if np.isfinite(value):
            value += float(self.task.components.log_marginal(self.statistics, hyper).sum())
        return value

    @cached_property
    def answer_bound(self) -> float:
        """What the answers contribute."""
        if self.trust:
            return float((self._stacked_counts() * self.task.trusted_table).sum())
        views = self.task.problem.constraints
        return float(
            sum(
                view.noise.log_marginal(count)
                for view, count in zip(views, self.counts, strict=True)
            )
        )

    @cached_property
    def entropy(self) -> float:
        """Entropy of the responsibilities."""
        return float(-xlogy(self.r, self.r).sum())

    def with_responsibilities(self, r: FloatArray) -> MeanField:
        """Other responsibilities, the rest as it is."""
        return MeanField(self.task, r, self.hyper, trust=self.trust, ordered=self.ordered)

    def learn_noise(self) -> MeanField:
        """The same responsibilities with the noise learned."""
        return MeanField(self.task, self.r, self.hyper, ordered=self.ordered)

    def expected_table(self) -> FloatArray:
        """E log p(answer | pattern) of all views, shape (codes, 5)."""
        if self.trust:
            return self.task.trusted_table
        tables = [
            view.noise.expected_log_table(count, view.n_sources)
            for view, count in zip(self.task.problem.constraints, self.counts, strict=True)
        ]
        return stack_padded(tables)

    def expected_logits(self) -> FloatArray:
        """E log pi_k + E log p(x_i | theta_k), shape (n, K)."""
        terms = self.task.components.expected(self.statistics, self.hyper)
        return self.task.log_density(terms, self.n_components) + self.sticks.expected_log_weights

    def messages(self) -> FloatArray:
        """What the answers add to the logits of every item, were it updated alone, shape (n, K)."""
        answers = self.task.answers
        answers.use_table(self.expected_table())
        found = np.empty_like(self.r)
        for step in answers.steps:
            found[step.items] = step.messages(self.r)
        return found

    def sweep(self) -> None:
        """Update all responsibilities once, colour by colour, and everything that follows from them."""
        answers, r = self.task.answers, self.r.copy()
        answers.use_table(self.expected_table())
        logits = self.expected_logits()
        for step in answers.steps:
            r[step.items] = softmax(logits[step.items] + step.messages(r))
        self._take(r)

    def _take(self, r: FloatArray) -> None:
        """Take over responsibilities, largest component first: no other order of the sticks has a higher bound."""
        order = np.argsort(-r.sum(axis=0), kind="stable") if self.ordered else np.arange(r.shape[1])
        self.r = r if (order == np.arange(len(order))).all() else np.ascontiguousarray(r[:, order])
        self.statistics = self.task.statistics(self.r)
        self.sticks: Sticks = fit_sticks(
            self.r.sum(axis=0), self.task.problem.concentration, self._alpha
        )
        self._alpha = self.sticks.alpha
        self.counts: list[Counts] = self.task.answers.counts(self.r)
        for name in ("data_bound", "answer_bound", "entropy"):
            self.__dict__.pop(name, None)

    def _stacked_counts(self) -> FloatArray:
        return stack_padded(self.counts)


def softmax(logits: FloatArray) -> FloatArray:
    """Return exp(logits) with rows normalised, shape (m, K)."""
    r = np.exp(logits - logits.max(axis=1, keepdims=True))
    normalised: FloatArray = r / r.sum(axis=1, keepdims=True)
    return normalised


def one_hot(z: IntArray) -> FloatArray:
    """Return responsibilities of a partition, shape (n, K)."""
    return np.eye(int(z.max()) + 1)[z]


def stack_padded(tables: Sequence[Any]) -> FloatArray:
    """Return tables (codes, patterns) of several views as one, pairs padded with zeros, shape (all codes, 5)."""
    padded = [np.zeros((0, N_PATTERNS))]
    for table in tables:
        wide = np.zeros((len(table), N_PATTERNS))
        wide[:, : table.shape[1]] = table
        padded.append(wide)
    return np.concatenate(padded)
