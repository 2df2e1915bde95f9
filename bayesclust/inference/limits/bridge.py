"""The model whose small-variance limit RDP-means is, at any gamma on the way there.

Scale the family so that covariances go as 1 / gamma (TVClust Lemma 3), and tie what is left to the
limit's own terms:

    p(x | mu) ~ exp(-gamma D(x, mu)),    ln(p / (1 - q)) = gamma xi1,    ln(q / (1 - p)) = gamma xi2,
    log alpha = -gamma lambda - log kappa(gamma),

    log kappa = mean over the items of log m(x_i) - log max_mu p(x_i | mu),

m being the marginal of one item under the base measure, which stays as it is. A cluster of its own
then costs an item lambda: on average over the items at every gamma, and each of them in the limit.
(ERRATUM: TVClust's text before Eq. 18 has exp(lambda gamma); Eq. 18 needs exp(-gamma lambda). Its
kappa is that of a Laplace approximation; this one is exact.) With the Chinese restaurant process
written as alpha^(K - 1) prod_k Gamma(n_k) / prod_{0 < j < n} (alpha + j),

    J(z) = -(log p(z, x, answers) - c) / gamma + O(1 / gamma),
    c    = sum_i log max_mu p(x_i | mu) - log alpha - log Gamma(n) + log p(answers | apart) + gamma cost(answers | apart),

where J counts each link once, and apart is the partition of single items, under which links cost
nothing in J. Triplets have p(answer a | truth t) ~ exp(-gamma cost[t, a]). `PathModel.energy` is
the right-hand side without the remainder.

What the limit of a sweep is depends on the sampler. With cluster means drawn (Neal 2000, Algorithm
2; the paper's sampler) an item compares D(x_i, mean of k), the item itself having had its share in
the mean: that is the pass of RDP-means. With the means integrated out (Algorithm 3) it compares
what J would be, every mean at its best: the distance from the mean without the item counts n_k /
(n_k + 1)-fold. Every resting place of the second is one of the first, and not the other way round.

Where clusters are mixtures there are two concentrations; how they follow from the two penalties,
and J, is derived in `bayesclust.inference.limits.two_level.descent`. c stays as it is, with that
alpha.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesclust.constraints.base import Constraints
from bayesclust.families import DIVERGENCES, BoundFamily, Divergence
from bayesclust.inference.assignment import new_assignment, refresh
from bayesclust.inference.chain import TVClustProblem, TwoLevelProblem
from bayesclust.inference.limits.answers import Graph, Xi, answer_graph, cost_table
from bayesclust.inference.limits.evidence import KnownCosts, KnownEvidence
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.rdp_means import Problem, means, objective, spread
from bayesclust.inference.moves.parameter_scan import prior_predictive
from bayesclust.partition_priors import DirichletProcess
from bayesclust.typing import FloatArray, IntArray

EQUAL = 1e-9
"""Difference between numbers, relative to their size, that is rounding."""

Confidence = tuple[float, float] | Mapping[str, FloatArray]
"""xi as a fitted `RDPMeans` has it: (xi1, xi2), or by the names of the views (S, 2) of links and (S, 3, 3) of triplets."""


@dataclass(frozen=True)
class PathModel:
    """TVClust at gamma.

    Attributes
    ----------
    problem : TVClustProblem
        For the samplers; everything but the partition is known.
    gamma : float
    constant : float
        c of this file's first lines.
    """

    problem: TVClustProblem
    gamma: float
    constant: float

    @classmethod
    def at(
        cls,
        gamma: float,
        points: FloatArray,
        divergence: Divergence,
        penalty: float,
        confidence: Confidence,
        constraints: Sequence[Constraints] = (),
        within: float | None = None,
    ) -> PathModel:
        """Scale the model.

        Parameters
        ----------
        gamma : float
            In units of 1 / D; for squared Euclidean distance the clusters have variance 1 / (2
            gamma).
        points : (n, d) array
            As `divergence.points` gives them.
        divergence : Divergence
            Bound to the data.
        penalty : float
            lambda.
        confidence : (float, float) or mapping
            xi of the views, as a fitted `RDPMeans` has it.
        constraints : sequence of Constraints
            Answers; their own noise models are not used.
        within : float or None, default None
            lambda_within, of a component. Clusters are then mixtures, and lambda is what one costs
            beside its components.

        Returns
        -------
        PathModel
        """
        family, peaks = family_at(gamma, points, divergence), divergence.log_peaks(points, gamma)
        known = tuple(view.with_noise(_noise_at(gamma, confidence, view)) for view in constraints)
        extra = log_kappa(family, peaks)
        log_alpha = -gamma * (penalty + (0.0 if within is None else within)) - extra
        apart, n = np.arange(len(points)), len(points)
        constant = float(peaks.sum()) - log_alpha - float(gammaln(n))
        constant += sum(view.log_prob(apart, view.noise.initial(view.n_sources)) for view in known)
        graph, xi = pose_answers(confidence, constraints, n)
        constant += gamma * graph.inside(apart, xi)
        problem = TVClustProblem(family, known, DirichletProcess.from_log(log_alpha))
        if within is not None:
            log_beta = DirichletProcess.from_log(-gamma * within - extra)
            problem = TwoLevelProblem(family, known, problem.partition_prior, log_beta)
        return cls(problem, gamma, constant)

    def energy(self, log_joint: Any) -> Any:
        """Return -(log joint - c) / gamma, in units of J.

        Parameters
        ----------
        log_joint : float or array
            log p(z, x, answers), as the samplers report it.

        Returns
        -------
        float or array
        """
        return (self.constant - log_joint) / self.gamma


def _noise_at(
    gamma: float, confidence: Confidence, view: Constraints
) -> KnownEvidence | KnownCosts:
    if isinstance(confidence, tuple):
        return KnownEvidence(gamma * confidence[0], gamma * confidence[1])
    own = np.asarray(confidence[view.name])
    if view.is_links:
        return KnownEvidence(tuple(gamma * own[:, 0]), tuple(gamma * own[:, 1]))
    least = own.min(axis=2)
    if np.ptp(least, axis=1).max() > EQUAL * np.abs(own).max():
        raise ValueError(
            f"the right answers of {view.name!r} cost {least[0].tolist()} under the three truths, and no noise has costs in "
            "its limit that differ there: make the least cost of each row 0."
        )
    return KnownCosts(gamma * own)


def pose_answers(
    confidence: Confidence, constraints: Sequence[Constraints], n_items: int
) -> tuple[Graph, Xi]:
    """Return the answers as a graph, and what each of them weighs in J.

    Raises
    ------
    ValueError
        If the confidence is in other views than these.
    """
    if isinstance(confidence, tuple) and all(view.is_links for view in constraints):
        return link_graph(constraints, n_items), confidence
    shapes = {view.name: view.unit_confidence().shape for view in constraints}
    if (
        isinstance(confidence, tuple)
        or {name: np.shape(own) for name, own in confidence.items()} != shapes
    ):
        here = (
            " and ".join(f"{view.name!r} of {view.n_sources} sources" for view in constraints)
            or "none"
        )
        raise ValueError(
            f"the limit was fitted to other constraints than these, {here}: fit it with the same, or pass it unfitted."
        )
    return answer_graph(constraints, n_items), cost_table(constraints, confidence)


def path_divergence(divergence: Divergence) -> Divergence:
    """A divergence that is bound to data, if the model at gamma is known for it; else a ValueError."""
    if type(divergence).at_gamma is Divergence.at_gamma:
        known = ", ".join(DIVERGENCES)
        raise ValueError(
            f"no model at gamma is known for the divergence {type(divergence).__name__}, only for "
            f"those of whole data by {known}: choose one of these."
        )
    return divergence


def family_at(gamma: float, points: FloatArray, divergence: Divergence) -> BoundFamily:
    """The family whose limit the divergence is, at gamma and bound to points."""
    family: BoundFamily = path_divergence(divergence).at_gamma(points, gamma)
    # a partial, unlike a function made here, can be pickled
    return replace(family, reader=partial(_read, divergence, family.reader))


def _read(divergence: Divergence, scale: Any, X: Any) -> FloatArray:
    points = divergence.points(X, least=1)
    rows: FloatArray = points if scale is None else scale(points)
    return rows


def log_kappa(family: BoundFamily, log_peaks: FloatArray) -> float:
    """The mean over the items of log m(x_i) - log max_mu p(x_i | mu)."""
    n = len(family.X)
    state = family.new_state(1, family.initial_hyper())
    refresh(state, new_assignment(np.zeros(n, dtype=np.int64), 1))
    alone = prior_predictive(state, n) + family.row_constants(family.X)
    return float((alone - log_peaks).mean())


def first_gamma(problem: Problem) -> float:
    """Return the gamma at which one cluster is as wide as all items: f n / (2 sum_i D(x_i, mean)), f free coordinates."""
    mean = float(spread(problem).mean())
    return problem.divergence.n_free(problem.points) / (2.0 * mean) if mean > 0 else 1.0


def value(problem: Problem, labels: IntArray, xi: Xi) -> float:
    """Return J of a partition, centres at their best."""
    return objective(problem, *means(problem.points, labels), xi)
