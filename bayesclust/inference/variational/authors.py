"""The settings of the TVClust authors' released variational code, for their tables.

Truncation 15; alpha = 1; columns standardised; normal-Wishart base measure with kappa0 = 1, nu0 = d
and Psi0 = I, all fixed; p ~ Beta(1, 10) and q ~ Beta(10, 1), a prior under which answers say
nothing until the data have spoken; means to start with drawn from the standard normal by R's
generator with seed 1, the same for all data; at most 30 sweeps, stopped where the bound rises by
less than a 20,000th; no restart and no move; an item's most probable component as its label.

Two things differ. The released code counts each link from both of its ends when it updates p and q:
half the prior does the same here. And it updates items in the order of the rows, not in that of
colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesclust.constraints.base import View
from bayesclust.constraints.noise import LinkNoise
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.variational.fit import VariationalFit
from bayesclust.inference.variational.mean_field import MeanField, Task, softmax
from bayesclust.inference.variational.r_normal import r_normals
from bayesclust.models.families.base import Family
from bayesclust.models.families.gaussian_full import BoundFullGaussian, FullGaussian
from bayesclust.models.priors import Concentration
from bayesclust.typing import FloatArray

TRUNCATION, MAX_SWEEPS, TOLERANCE, SEED = 15, 30, 5e-5, 1
NOISE = LinkNoise(p=(0.5, 5.0), q=(5.0, 0.5))


class BoundAuthorsGaussian(BoundFullGaussian):
    """Normal-inverse-Wishart clusters under the authors' base measure."""

    def parameters(self, hyper: NDArray[np.float64]) -> tuple[float, float, NDArray[np.float64]]:
        """(kappa0, nu0, Psi0) = (1, d, I)."""
        d = self.X.shape[1]
        return 1.0, float(d), np.eye(d)


@dataclass(frozen=True)
class AuthorsGaussian(Family):
    """Gaussian clusters with full covariance under the base measure of the TVClust authors' code.

    Examples
    --------
    >>> import numpy as np
    >>> AuthorsGaussian().bind(np.arange(6.0).reshape(3, 2)).parameters(np.zeros(0))[0]
    1.0
    """

    def bind(self, X: NDArray[np.float64]) -> BoundAuthorsGaussian:
        bound = FullGaussian(1.0, 1.0, 1.0).bind(X)
        return BoundAuthorsGaussian(**{**vars(bound), "hyper_priors": ()})


def released_problem(X: FloatArray, views: Sequence[View]) -> TVClustProblem:
    """The authors' model of these data and answers.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    views : sequence of View
        Links get the authors' priors of p and q; other answers keep their noise.

    Returns
    -------
    TVClustProblem
    """
    noisy = tuple(view.with_noise(NOISE) if view.kind == LinkNoise.kind else view for view in views)
    return TVClustProblem(AuthorsGaussian().bind(X), noisy, Concentration(fixed=1.0))


def fit_as_released(problem: TVClustProblem) -> VariationalFit:
    """Run the released algorithm.

    Parameters
    ----------
    problem : TVClustProblem
        From `released_problem`.

    Returns
    -------
    VariationalFit
    """
    X = problem.family.embedding()
    d = X.shape[1]
    means = r_normals(SEED, TRUNCATION * d).reshape(TRUNCATION, d)
    # every stick starts as Beta(1, 1), with E log V = E log(1 - V) = -1
    sticks = -np.minimum(np.arange(1, TRUNCATION + 1), TRUNCATION - 1)
    squares = ((X[:, None, :] - means) ** 2).sum(axis=2)
    state = MeanField(
        Task(problem),
        softmax(sticks - 0.5 * d * squares),
        problem.family.initial_hyper(),
        ordered=False,
    )
    path = [state.bound]
    for _ in range(MAX_SWEEPS - 1):
        state.sweep()
        path.append(state.bound)
        if path[-1] - path[-2] < TOLERANCE * abs(path[-2]):
            return VariationalFit(state, np.array(path), True)
    return VariationalFit(state, np.array(path), False)


__all__ = ["AuthorsGaussian", "fit_as_released", "released_problem"]
