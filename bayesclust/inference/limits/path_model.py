"""The model whose small-variance limit RDP-means is, at any gamma on the path to it.

Scale the family so that covariances go as 1 / gamma (TVClust Lemma 3), and tie what is left to the
limit's own terms:

    p(x | mu) ~ exp(-gamma D(x, mu)),    log alpha = -gamma lambda - log kappa(gamma),
    ln(p / (1 - q)) = gamma xi1,         ln(q / (1 - p)) = gamma xi2,

    log kappa = mean over the items of log m(x_i) - log max_mu p(x_i | mu),

m being the marginal of one item under the base measure, which does not change. A cluster of its own
then costs an item lambda, on average over the items. (ERRATUM: TVClust's text before Eq. 18 has
exp(lambda gamma); Eq. 18 needs exp(-gamma lambda). Its kappa is that of a Laplace approximation;
this one is exact.) With the Chinese restaurant process written as
alpha^(K - 1) prod_k Gamma(n_k) / prod_{0 < j < n} (alpha + j),

    J(z) = -(log p(z, x, answers) - c) / gamma + O(1 / gamma),
    c    = sum_i log max_mu p(x_i | mu) - log alpha - log Gamma(n) + log p(answers | apart),

where J counts each link once, and apart is the partition of single items, under which links cost
nothing in J. `PathModel.energy` is the right-hand side without the remainder.

With cluster means drawn (Neal 2000, Algorithm 2) a sweep tends to the pass of RDP-means; with them
integrated out (Algorithm 3) an item compares values of J, every mean at its best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, override

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.factor_graph import compile_sites
from bayesclust.constraints.noise import NoiseModel
from bayesclust.families import DIVERGENCES, BoundFamily, Divergence
from bayesclust.inference.assignment import new_assignment, refresh
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.limits.answers import Graph, Xi, cost_table, link_graph
from bayesclust.inference.limits.rdp_means import Problem, means, objective
from bayesclust.inference.moves.parameter_scan import prior_predictive
from bayesclust.partition_priors import DirichletProcess
from bayesclust.typing import ArrayLike, Counts, FloatArray, IntArray, Params

EQUAL = 1e-9
"""Difference between numbers, relative to their size, that is rounding."""
LEAST = 1e-300

Confidence = tuple[float, float] | Mapping[str, FloatArray]
"""xi of links as a fitted `RDPMeans` has it: (xi1, xi2), or (S, 2) by names of constraints."""


# --- answers whose weight of evidence is known, however strong


@dataclass(frozen=True)
class KnownEvidence(NoiseModel):
    """Noise of pairwise answers by ln(p / (1 - q)), ln(q / (1 - p)) (TVClust, before Eq. 19)."""

    # with A and B their exponentials, p = A (B - 1) / (A B - 1), q = B (A - 1) / (A B - 1); near
    # one, only logarithms tell 1 - p from 1 - q; each is a number or one per source, none learned

    same: float | tuple[float, ...] = 2.0
    different: float | tuple[float, ...] = 2.0

    kind: ClassVar[str] = "pairwise"
    truth: ClassVar[tuple[int, ...]] = (1, 0)
    n_answers: ClassVar[int] = 2
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {
        "evidence_same": ("source",),
        "evidence_different": ("source",),
    }
    free: ClassVar[tuple[str, ...]] = ()

    @override
    def initial(self, n_sources: int) -> Params:
        each = zip(self.parameters, (self.same, self.different), strict=True)
        return {name: np.zeros(n_sources) + np.asarray(value) for name, value in each}

    def _log_confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        # no evidence at all is a limit: p and q then go to shares that are one in sum
        same, different = (np.maximum(params[name], LEAST) for name in self.parameters)
        whole = _log_one_less(same + different)
        p = _log_one_less(different) - whole
        q = _log_one_less(same) - whole
        if_different = np.stack([q, p - same], axis=-1)
        if_same = np.stack([q - different, p], axis=-1)
        return np.stack([if_different, if_same], axis=-2)

    @override
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return np.asarray(np.exp(self._log_confusion(params)))

    @override
    def log_table(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return self._by_pattern(self._log_confusion(params))

    @override
    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: Generator) -> Params:
        return {name: np.array(value, dtype=np.float64) for name, value in params.items()}

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        return 0.0

    @override
    def log_marginal(self, counts: Counts) -> Any:
        value = (np.asarray(counts) * self.expected_log_table(counts)).sum(axis=(-2, -1))
        return float(value) if np.ndim(value) == 0 else value

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        *batch, rows, _ = np.shape(counts)
        known = self._log_confusion(self.initial(rows // self.n_answers))
        return np.broadcast_to(known, (*batch, *known.shape))


def _log_one_less(value: Any) -> Any:
    """log(1 - exp(-value)), to the last digits for small and for large values."""
    small = np.minimum(value, np.log(2))
    large = np.maximum(value, np.log(2))
    return np.where(value > np.log(2), np.log1p(-np.exp(-large)), np.log(-np.expm1(-small)))


def _noise_at(gamma: float, confidence: Confidence, links: Constraints) -> KnownEvidence:
    if isinstance(confidence, tuple):
        return KnownEvidence(gamma * confidence[0], gamma * confidence[1])
    own = gamma * np.asarray(confidence[links.name])
    return KnownEvidence(tuple(own[:, 0]), tuple(own[:, 1]))


@dataclass(frozen=True)
class PathModel:
    """TVClust at gamma: `problem` is for the samplers; all but the partition is known."""

    problem: TVClustProblem
    gamma: float
    constant: float  # c

    @classmethod
    def at(
        cls,
        gamma: float,
        limit: Problem,
        confidence: Confidence,
        constraints: Sequence[Constraints] = (),
    ) -> PathModel:
        """Scale the model; gamma is in units of 1 / D. Constraints' own noise is not used."""
        points = limit.points
        family = family_at(gamma, points, limit.divergence)
        peaks = limit.divergence.log_peaks(points, gamma)
        known = tuple(one.with_noise(_noise_at(gamma, confidence, one)) for one in constraints)
        log_alpha = -gamma * limit.penalty - log_kappa(family, peaks)
        n = len(points)
        apart = np.arange(n)
        constant = float(peaks.sum()) - log_alpha - float(gammaln(n))
        constant += sum(one.log_prob(apart, one.noise.initial(one.n_sources)) for one in known)
        problem = TVClustProblem(family, known, DirichletProcess(log_fixed=log_alpha))
        return cls(problem, gamma, constant)

    def energy(self, log_joint: Any) -> Any:
        """-(log joint - c) / gamma, in units of J."""
        return (self.constant - log_joint) / self.gamma


def pose_answers(
    confidence: Confidence, constraints: Sequence[Constraints], n_items: int
) -> tuple[Graph, Xi]:
    """The answers as a graph, and their costs in J; refuses a confidence in other constraints."""
    if isinstance(confidence, tuple) and all(one.is_links for one in constraints):
        return link_graph(constraints, n_items), confidence
    shapes = {one.name: one.unit_confidence().shape for one in constraints}
    if isinstance(confidence, tuple) or shapes != {n: np.shape(confidence[n]) for n in confidence}:
        here = " and ".join(f"{one.name!r} of {one.n_sources} sources" for one in constraints)
        raise ValueError(
            f"the limit was fitted to other constraints than these, {here or 'none'}: fit it with "
            "the same, or pass it unfitted."
        )
    return compile_sites(constraints, n_items), cost_table(constraints, confidence)


def path_divergence(divergence: Divergence) -> Divergence:
    """A divergence that is bound to data, if the model at gamma is known for it."""
    if type(divergence).at_gamma is Divergence.at_gamma:
        known = ", ".join(DIVERGENCES)
        raise ValueError(
            f"no model at gamma is known for the divergence {type(divergence).__name__}, only for "
            f"{known}: choose one of these, or give it at_gamma."
        )
    return divergence


def family_at(gamma: float, points: FloatArray, divergence: Divergence) -> BoundFamily:
    """The family whose limit the divergence is, at gamma and bound to points."""
    family: BoundFamily = path_divergence(divergence).at_gamma(points, gamma)
    return replace(family, reader=divergence.points)


def log_kappa(family: BoundFamily, log_peaks: FloatArray) -> float:
    """The mean over the items of log m(x_i) - log max_mu p(x_i | mu)."""
    n = len(family.X)
    state = family.new_state(1, family.initial_hyper())
    refresh(state, new_assignment(np.zeros(n, dtype=np.int64), 1))
    alone = prior_predictive(state, n) + family.row_constants(family.X)
    return float((alone - log_peaks).mean())


def value(problem: Problem, labels: IntArray, xi: Xi) -> float:
    """J of a partition, centres at their best."""
    return objective(problem, *means(problem.points, labels), xi)
