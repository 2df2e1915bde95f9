"""Point values for the base measure's hyper-parameters: empirical Bayes under the hyper-prior.

The bound plus the log density of the hyper-parameters' logarithms is maximised by a pattern search
along each coordinate. A step is taken only where it improves, so the ascent stays monotone. What
all clusters share then takes its most probable value.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesclust.inference.variational.mean_field import MeanField
from bayesclust.typing import FloatArray

FIRST, LEAST = 0.5, 1e-3
GROW, SHRINK = 1.6, 0.4


@dataclass
class HyperAscent:
    """Pattern search on the logarithms of the learned hyper-parameters; its steps adapt from call to call.

    Parameters
    ----------
    free : ndarray of int
        Positions of the learned hyper-parameters.
    """

    free: NDArray[np.intp]
    step: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.step = np.full(len(self.free), FIRST)

    def climb(self, state: MeanField) -> None:
        """One step along each coordinate, up or not at all."""
        for at, j in enumerate(self.free):
            for sign in (1.0, -1.0):
                trial = state.hyper.copy()
                trial[j] *= np.exp(sign * self.step[at])
                if (value := state.data_bound_at(trial)) > state.data_bound:
                    state.set_hyper(trial, value)
                    self.step[at] *= sign * GROW
                    break
            else:
                self.step[at] = np.copysign(max(abs(self.step[at]) * SHRINK, LEAST), self.step[at])
        share(state)


def share(state: MeanField) -> None:
    """Give what all clusters share, if anything, the value that makes the bound largest."""
    if state.task.problem.family.n_shared:
        hyper = state.task.components.likeliest_shared(state.statistics, state.hyper)
        state.set_hyper(hyper, state.data_bound_at(hyper))
