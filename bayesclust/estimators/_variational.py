"""What ``TVClust(sampler="variational")`` does instead of running chains."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from bayesclust._memory import check_memory
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.variational.draws import draw_mean_field
from bayesclust.inference.variational.fit import VariationalFit, fit_variational
from bayesclust.inference.variational.settings import VariationalSettings
from bayesclust.typing import FloatArray, IntArray


def check_variational(settings: Any) -> VariationalSettings:
    """Return settings of the variational method.

    Parameters
    ----------
    settings : VariationalSettings or None
        None stands for the defaults.

    Returns
    -------
    VariationalSettings

    Raises
    ------
    TypeError
        If it is something else.
    """
    if settings is None:
        return VariationalSettings()
    if isinstance(settings, VariationalSettings):
        return settings
    raise TypeError(
        f"variational is a {type(settings).__name__}: pass a VariationalSettings, or None for the defaults."
    )


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
        settings: VariationalSettings,
        init: IntArray | None,
        shape: tuple[int, int],
        rng: Generator,
    ) -> dict[str, NDArray[Any]]:
        """Set the attributes of a fit; return draws of the given shape from q."""
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
        return draw_mean_field(fit.state, shape, rng)

    def _learned(self, fit: VariationalFit) -> None:
        mode = fit.state.r.argmax(axis=1)
        used = np.unique(mode)
        rest = np.setdiff1d(np.arange(fit.state.n_components), used)
        self.responsibilities_ = fit.state.r[:, np.append(used, rest)]
        self.labels_ = np.searchsorted(used, mode)
        self.n_clusters_ = len(used)
        self.bound_, self.bound_path_, self.converged_ = fit.state.bound, fit.path, fit.converged
