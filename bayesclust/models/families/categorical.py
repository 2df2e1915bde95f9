"""Categorical columns with a symmetric Dirichlet base measure; the formulas are those of `coded`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesclust.models._numpyro import numpyro_modules, seen_only
from bayesclust.models.families import base
from bayesclust.models.families.base_measure import hyper_prior
from bayesclust.models.families.coded import BoundCoded
from bayesclust.models.families.discrete import DiscreteFamily, check_whole, refuse_cells

CONCENTRATION_PRIOR = base.HyperPrior("base_concentration", 1.0, 1.0)
MOST_CODES = 10_000
REMEDY = "number the categories of each column 0, 1, 2, ..."


@dataclass(frozen=True)
class BoundCategorical(BoundCoded):
    """Dirichlet-categorical columns; hyper = (concentration beta of one code,)."""

    def check(self, X: NDArray[np.float64]) -> None:
        check_whole(X, "codes", REMEDY, self.kept)
        refuse_cells(
            self.sizes - 1 < X,
            "codes beyond those of the first data",
            "leave these items out",
            self.kept,
        )

    def columns(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """The columns that vary, as whole numbers; cells without a value, which `component_sites` masks, are zero."""
        codes = X[:, self.kept]
        whole: NDArray[np.int64] = np.where(np.isnan(codes), 0.0, codes).astype(np.int64)
        return whole

    def embedding(self) -> NDArray[np.float64]:
        """One column for each code; two different codes are at distance one. Missing cells have the shares of all items."""
        shown = self.shown()
        seen = np.maximum(np.add.reduceat(shown.sum(axis=0), self.first[:-1]), 1.0)
        share = shown.sum(axis=0) / np.repeat(seen, self.sizes)
        missing = np.repeat(np.isnan(self.X), self.sizes, axis=1)
        return np.asarray(np.where(missing, share, shown) / math.sqrt(2.0))

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """Sites "probability_j" (theta_kj), j being the user's column."""
        jnp, numpyro, dist = numpyro_modules()
        padded, most = [], int(self.sizes.max())
        for column, beta in zip(self.kept, np.split(self.shares, self.first[1:-1]), strict=True):
            probability = numpyro.sample(
                f"probability_{column}", dist.Dirichlet(hyper[0] * jnp.asarray(beta))
            )
            missing = [(0, 0)] * (probability.ndim - 1) + [(0, most - len(beta))]
            padded.append(jnp.pad(probability, missing))
        table = jnp.stack(padded, axis=-2)
        return lambda z: seen_only(dist.CategoricalProbs(table[z]), self.X).to_event(1)


@dataclass(frozen=True)
class Categorical(DiscreteFamily):
    """Columns of codes 0, 1, 2, ... without order, independent within a cluster (latent class analysis).

    Missing cells (NaN) are left out of the likelihood.

    Parameters
    ----------
    concentration : float, HyperPrior or "learn", default "learn"
        beta: prior pseudo-count of every code of every column. Small values expect clusters that
        show one code each, large ones clusters that are alike, so it is learned (log-normal with
        median 1, the uniform distribution, and standard deviation 1 of the logarithm).

    Notes
    -----
    A column has the codes from 0 to the largest one seen. Columns that show one code only are left
    out.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7, which ask for any exponential family with its conjugate prior.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import Categorical
    >>> X = np.array([[0, 2], [1, 0], [0, np.nan]])
    >>> Categorical(concentration=0.5).bind(X).sizes
    array([2, 3])
    """

    concentration: float | str | base.HyperPrior = "learn"

    def check(self, X: NDArray[np.float64]) -> None:
        check_whole(X, "codes", REMEDY)
        refuse_cells(X >= MOST_CODES, f"codes of {MOST_CODES} or more", REMEDY)

    def bind(self, X: NDArray[np.float64]) -> BoundCategorical:
        """Check that the data are codes.

        Raises
        ------
        ValueError
            If a cell is negative, not a whole number or at least 10000.
        """
        X, kept = self.varying(X)
        sizes = np.where(np.isnan(X), 0.0, X).max(axis=0).astype(np.int64) + 1
        prior = hyper_prior(self.concentration, CONCENTRATION_PRIOR)
        return BoundCategorical(X, 0.0, (prior,), kept, sizes, np.ones(sizes.sum()))
