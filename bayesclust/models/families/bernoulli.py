"""Columns of zeros and ones with a Beta base measure; the formulas are those of `coded` with two codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesclust.models._numpyro import numpyro_modules, seen_only
from bayesclust.models.families import base
from bayesclust.models.families.base_measure import hyper_prior
from bayesclust.models.families.coded import BoundCoded
from bayesclust.models.families.discrete import DiscreteFamily, fill_in, refuse_cells

STRENGTH_PRIOR = base.HyperPrior("base_strength", 2.0, 1.0)


def check_binary(X: NDArray[np.float64], columns: NDArray[np.intp] | None = None) -> None:
    """Refuse cells other than 0, 1 and NaN."""
    other = (X != 0) & (X != 1) & ~np.isnan(X)
    refuse_cells(other, "values other than 0 and 1", "pass 1 for yes and 0 for no", columns)


@dataclass(frozen=True)
class BoundBernoulli(BoundCoded):
    """Beta-Bernoulli columns; hyper = (strength s,)."""

    def check(self, X: NDArray[np.float64]) -> None:
        check_binary(X, self.kept)

    def embedding(self) -> NDArray[np.float64]:
        """The zeros and ones; missing cells have their column's mean."""
        return fill_in(self.X)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Site "probability" (theta_kj)."""
        _, numpyro, dist = numpyro_modules()
        no, yes = self.shares.reshape(-1, 2).T
        probability = numpyro.sample(
            "probability", dist.Beta(hyper[0] * yes, hyper[0] * no).to_event(1)
        )
        return lambda z: seen_only(dist.BernoulliProbs(probability[z]), self.X).to_event(1)


@dataclass(frozen=True)
class Bernoulli(DiscreteFamily):
    """Columns of zeros and ones, independent within a cluster.

    Missing cells (NaN) are left out of the likelihood.

    Parameters
    ----------
    strength : float, HyperPrior or "learn", default "learn"
        s: how many items the base measure is worth. Small values expect columns that are nearly
        always 0 or nearly always 1 within a cluster, large ones clusters that are alike, so it is
        learned (log-normal with median 2, which in a balanced column is the uniform distribution,
        and standard deviation 1 of the logarithm).

    Notes
    -----
    ``theta_kj ~ Beta(s m_j, s (1 - m_j))`` with m_j the share of ones in the column, one more of
    each counted in: rare features are expected to be rare in every cluster. Exchanging 0 and 1 in a
    column changes nothing. Constant columns are left out.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7, which ask for any exponential family with its conjugate prior.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import Bernoulli
    >>> X = np.array([[0, 1], [1, 1], [0, 0], [0, np.nan]])
    >>> Bernoulli(strength=6.0).bind(X).parameters(np.array([6.0]))
    array([4. , 2. , 2.4, 3.6])
    """

    strength: float | str | base.HyperPrior = "learn"

    def check(self, X: NDArray[np.float64]) -> None:
        check_binary(X)

    def bind(self, X: NDArray[np.float64]) -> BoundBernoulli:
        """Check that the data are zeros and ones.

        Raises
        ------
        ValueError
            If there is another value.
        """
        X, kept = self.varying(X)
        ones, seen = np.nansum(X, axis=0), (~np.isnan(X)).sum(axis=0)
        mean = (ones + 1) / (seen + 2)
        shares = np.stack([1 - mean, mean], axis=1).ravel()
        prior = hyper_prior(self.strength, STRENGTH_PRIOR)
        return BoundBernoulli(X, 0.0, (prior,), kept, np.full(len(kept), 2), shares)
