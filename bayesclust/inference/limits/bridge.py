"""The model whose small-variance limit RDP-means is, at any gamma on the way there.

Scale the family so that covariances go as 1 / gamma (TVClust Lemma 3), and tie what is left to the limit's own terms:

    p(x | mu) ~ exp(-gamma D(x, mu)),    ln(p / (1 - q)) = gamma xi1,    ln(q / (1 - p)) = gamma xi2,
    log alpha = -gamma lambda - log kappa(gamma),

    log kappa = mean over the items of log m(x_i) - log max_mu p(x_i | mu),

m being the marginal of one item under the base measure, which stays as it is. A cluster of its own then costs an item
lambda: on average over the items at every gamma, and each of them in the limit. (ERRATUM: TVClust's text before Eq. 18 has
exp(lambda gamma); Eq. 18 needs exp(-gamma lambda). Its kappa is that of a Laplace approximation; this one is exact.) With
the Chinese restaurant process written as alpha^(K - 1) prod_k Gamma(n_k) / prod_{0 < j < n} (alpha + j),

    J(z) = -(log p(z, x, answers) - c) / gamma + O(1 / gamma),
    c    = sum_i log max_mu p(x_i | mu) - log alpha - log Gamma(n) + log p(answers | all items apart),

where J counts each link once. `PathModel.energy` is the right-hand side without the remainder.

What the limit of a sweep is depends on the sampler. With cluster means drawn (Neal 2000, Algorithm 2; the paper's sampler)
an item compares D(x_i, mean of k), the item itself having had its share in the mean: that is the pass of RDP-means. With the
means integrated out (Algorithm 3) it compares what J would be, every mean at its best: the distance from the mean without
the item counts n_k / (n_k + 1)-fold. Every resting place of the second is one of the first, and not the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesclust.constraints.base import View
from bayesclust.inference.collapsed import TVClustProblem
from bayesclust.inference.limits.divergences import Divergence, KullbackLeibler, SquaredEuclidean, as_divergence
from bayesclust.inference.limits.evidence import KnownEvidence
from bayesclust.inference.limits.rdp_means import Problem, means, objective, spread
from bayesclust.inference.scan_given import prior_predictive
from bayesclust.inference.seating import new_seating, refresh
from bayesclust.models.families.base import Family
from bayesclust.models.families.scaled.base import ScaledFamily
from bayesclust.models.families.scaled.columns import ScaledColumns
from bayesclust.models.families.scaled.gaussian import KnownVarianceGaussian
from bayesclust.models.priors import Concentration
from bayesclust.typing import FloatArray, IntArray

AT_GAMMA: dict[type[Divergence], Any] = {
    SquaredEuclidean: KnownVarianceGaussian.at,
    KullbackLeibler: ScaledColumns.shares_at,
}
"""The family that each divergence is the limit of, bound to points at gamma."""


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
        cls, gamma: float, points: FloatArray, divergence: Divergence, penalty: float, xi: tuple[float, float],
        views: Sequence[View] = (),
    ) -> PathModel:  # fmt: skip
        """Scale the model.

        Parameters
        ----------
        gamma : float
            In units of 1 / D; for squared Euclidean distance the clusters have variance 1 / (2 gamma).
        points : (n, d) array
            As `divergence.points` gives them.
        divergence : Divergence
        penalty : float
            lambda.
        xi : (float, float)
            Confidence in may-links and may-not-links.
        views : sequence of View
            Answers about pairs; their own noise models are not used.

        Returns
        -------
        PathModel

        """
        family = family_at(gamma, points, divergence)
        noise = KnownEvidence(gamma * xi[0], gamma * xi[1])
        known = tuple(view.with_noise(noise) for view in views)
        log_alpha = -gamma * penalty - log_kappa(family)
        apart, n = np.arange(len(points)), len(points)
        constant = float(family.log_peaks(family.X).sum()) - log_alpha - float(gammaln(n))
        constant += sum(view.log_prob(apart, noise.initial(view.n_sources)) for view in known)
        return cls(TVClustProblem(family, known, Concentration.from_log(log_alpha)), gamma, constant)

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


def path_divergence(divergence: str | Divergence | Family) -> Divergence:
    """Return a divergence, given by its name, its family or as an object, if the model at gamma is known for it.

    Raises
    ------
    TypeError, ValueError
        If it is no divergence, or no model is known.
    """
    divergence = as_divergence(divergence)
    if type(divergence) not in AT_GAMMA:
        known = " or ".join(f'"{kind.name}"' for kind in AT_GAMMA)
        raise ValueError(f"no model at gamma is known for the divergence {divergence!r}: choose {known}.")
    return divergence


def family_at(gamma: float, points: FloatArray, divergence: Divergence) -> ScaledFamily:
    """Return the family whose limit the divergence is, at gamma and bound to points."""

    def read(X: Any) -> FloatArray:
        return divergence.points(X, least=1)

    family: ScaledFamily = AT_GAMMA[type(path_divergence(divergence))](points, gamma, read)
    return family


def log_kappa(family: ScaledFamily) -> float:
    """Return the mean over the items of log m(x_i) - log max_mu p(x_i | mu)."""
    n = len(family.X)
    state = family.new_state(1, family.initial_hyper())
    refresh(state, new_seating(np.zeros(n, dtype=np.int64), 1))
    alone = prior_predictive(state, n) + family.row_constants(family.X)
    return float((alone - family.log_peaks(family.X)).mean())


def first_gamma(problem: Problem) -> float:
    """Return the gamma at which one cluster is as wide as all items: f n / (2 sum_i D(x_i, mean)), f free coordinates."""
    mean = float(spread(problem).mean())
    return problem.divergence.n_free(problem.points) / (2.0 * mean) if mean > 0 else 1.0


def value(problem: Problem, labels: IntArray, xi: tuple[float, float]) -> float:
    """Return J of a partition, centres at their best."""
    return objective(problem, *means(problem.points, labels), xi)
