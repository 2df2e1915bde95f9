"""A sweep of the blocked sampler against an iteration of BayesianGaussianMixture."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture

from bayesclust.families import FullGaussian
from bayesclust.inference.blocked.chains import BlockedChains
from bayesclust.inference.chain import TVClustProblem
from benchmarks.data import mixture
from benchmarks.records import Race
from benchmarks.timing import Entry, Run, Scale, race

SHAPES = ((20_000, 10, 10), (20_000, 16, 20), (100_000, 16, 20))
SPAN, WARM_UP = 5, 10


def iterations(X: NDArray[np.float64], K: int, number: int) -> Run:
    """So many iterations of mean field for a truncated Dirichlet process, full covariances."""

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = BayesianGaussianMixture(
                n_components=K, max_iter=number, tol=0, init_params="random", random_state=0
            ).fit(X)
        assert model.n_iter_ == number

    return fit


def run(scale: Scale) -> Iterator[Race]:
    """Race them; the sampler's slots, for clusters and new ones, are the peer's components."""
    for n, d, K in scale.pick(SHAPES, ((1000, 3, 3),)):
        X, z = mixture(n, d, K, np.random.default_rng(0))
        chain = BlockedChains(
            TVClustProblem(FullGaussian().bind(X)), z[None], [np.random.default_rng(1)]
        )
        for _ in range(WARM_UP):
            chain.sweep(adapt=True)
        slots = chain.slots
        peer = "iteration of BayesianGaussianMixture"
        yield race(
            f"Blocked sampler, n = {n}, d = {d}, {slots} slots",
            "CPU time of a sweep, and of a further iteration (the difference between "
            f"{1 + SPAN} and 1, by {SPAN})",
            {
                "sweep": chain.sweep,
                peer: Entry(
                    iterations(X, slots, 1 + SPAN), less=iterations(X, slots, 1), steps=SPAN
                ),
            },
            scale,
            reference="sweep",
            note=""
            if chain.slots == slots
            else f"The number of slots changed to {chain.slots} meanwhile.",
        )
