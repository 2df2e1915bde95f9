"""What ``TVClust(sampler="variational")`` does instead of running chains."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from bayesclust._memory import check_memory
from bayesclust.checks import check_choice, check_items
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.variational.authors import fit_as_released, released_problem
from bayesclust.inference.variational.draws import draw_mean_field
from bayesclust.inference.variational.fit import VariationalFit, fit_variational
from bayesclust.inference.variational.settings import VariationalSettings
from bayesclust.typing import FloatArray, IntArray

AUTHORS = "authors"


def check_variational(settings: Any) -> VariationalSettings | None:
    """Return settings of the variational method; None stands for the authors' preset.

    Parameters
    ----------
    settings : VariationalSettings, "authors" or None

    Returns
    -------
    VariationalSettings or None

    Raises
    ------
    TypeError, ValueError
        If it is something else.
    """
    if settings is None:
        return VariationalSettings()
    if isinstance(settings, VariationalSettings):
        return settings
    if not isinstance(settings, str):
        raise TypeError(
            f"variational is a {type(settings).__name__}: pass a VariationalSettings, 'authors' or None for the defaults."
        )
    check_choice(settings, "variational", (AUTHORS,))
    return None


class VariationalMixin:
    """Fitting by mean field, and what only this method learns."""

    responsibilities_: FloatArray
    bound_: float
    bound_path_: FloatArray
    converged_: bool
    labels_: IntArray
    n_clusters_: int

    def _maximise(
        self,
        problem: TVClustProblem,
        items: FloatArray,
        settings: VariationalSettings | None,
        init: IntArray | None,
        shape: tuple[int, int],
        rng: Generator,
    ) -> tuple[TVClustProblem, dict[str, NDArray[Any]]]:
        """Set the attributes of a fit; return the model that was fitted and draws of the given shape from q."""
        if settings is None:
            problem = released_problem(
                check_items(items), problem.views
            )  # the authors' family takes no missing cells
            fit = fit_as_released(problem)
        else:
            T = min(settings.truncation, problem.n_items)
            check_memory(
                16 * problem.n_items * T * settings.starts,
                f"{settings.starts} starts of {T} components for {problem.n_items:,} items",
                "lower starts or truncation of VariationalSettings",
            )
            fit = fit_variational(problem, settings, rng, init)
            if not fit.converged:
                warnings.warn(
                    f"the bound still rises after max_sweeps={settings.max_sweeps} sweeps: allow more sweeps.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
        self._learned(fit)
        return problem, draw_mean_field(fit.state, shape, rng)

    def _learned(self, fit: VariationalFit) -> None:
        mode = fit.state.r.argmax(axis=1)
        used = np.unique(mode)
        rest = np.setdiff1d(np.arange(fit.state.n_components), used)
        self.responsibilities_ = fit.state.r[:, np.append(used, rest)]
        self.labels_ = np.searchsorted(used, mode)
        self.n_clusters_ = len(used)
        self.bound_, self.bound_path_, self.converged_ = fit.state.bound, fit.path, fit.converged
