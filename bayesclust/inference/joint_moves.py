"""Moves of the partition together with the noise of the answers.

Given the noise, a partition that contradicts many answers is held in place by a noise that explains them, and given the
partition the noise stays what it is: two modes, one with unreliable sources and one with another partition, that draws of
one given the other hardly ever cross. Here a move T of the partition is made under the noise expected before, s | z, phi_0,
which leaves p(z | x) p(s | z, phi_0) as it is and is reversible; its result z' is accepted with probability

    min(1, r),    r = p(s | z') p(s | z, phi_0) / (p(s | z) p(s | z', phi_0)),

with the noise integrated out of p(s | z), and the noise is drawn anew given z' (delayed acceptance; Christen and Fox 2005,
J. Comput. Graph. Stat. 14, Eq. 2, with a surrogate of the answers alone). The pair of z and noise keeps its distribution.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesclust.constraints.base import View
from bayesclust.constraints.sites import stack_tables

SHARE = 0.5
"""Of the proposals, those made together with the noise, where some of it is learned."""


class ExpectedNoise:
    """The noise as it is expected before there are answers, and what integrating it out changes.

    Parameters
    ----------
    views : sequence of View
    """

    def __init__(self, views: Sequence[View]) -> None:
        expected = [view.noise.initial(view.n_sources) for view in views]
        self.table = stack_tables(views, expected)
        self._learned = [(view, noise) for view, noise in zip(views, expected, strict=True) if view.noise.free]

    def __bool__(self) -> bool:
        return bool(self._learned)

    def log_surplus(self, z: NDArray[np.int64]) -> float:
        """log p(answers | z) - log p(answers | z, expected noise)."""
        total = 0.0
        for view, noise in self._learned:
            total += float(view.noise.log_marginal(view.counts(z)) - view.log_prob(z, noise))
        return total


__all__ = ["SHARE", "ExpectedNoise"]
