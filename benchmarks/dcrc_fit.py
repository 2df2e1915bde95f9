"""DCRC: an iteration of EM, and a whole fit against a logistic regression given the labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import bayesclust as bc
from bayesclust.inference.dcrc.em import (
    STEPS,
    SWEEPS,
    Ascent,
    EMSettings,
    NamedAnswers,
    named_first,
    start_weights,
)
from bayesclust.inference.dcrc.weights import WeightObjective
from benchmarks.data import mixture
from benchmarks.records import Race, Target
from benchmarks.timing import Scale, race

SMALL, WHOLE = (1000, 10, 5, 500), (4998, 38, 13, 1500)
"""Items, features, clusters, triplets."""
FIT, REGRESSION = "DCRC", "LogisticRegression"
SECONDS = 6.0
"""Three seconds of two processors."""


class Iteration:
    """One iteration of EM, always from the same start."""

    def __init__(self, n: int, d: int, K: int, triplets: int) -> None:
        X, y = mixture(n, d, K, np.random.default_rng(0))
        view = bc.RelativeConstraints.sample(y, size=triplets, error_rate=0.05, seed=0)
        self.settings = EMSettings(proportions=False)
        self.answers = NamedAnswers([view], n)
        self.X, _ = named_first((X - X.mean(axis=0)) / X.std(axis=0), self.answers.items)
        m, named = self.answers.n_answers, len(self.answers.items)
        self.tau, self.penalty = m * self.settings.tau, m * self.settings.penalty
        self.objective = WeightObjective(self.X, named, self.penalty, self.tau, self.tau)
        self.start = start_weights(self.X, K, 1, np.random.default_rng(1))[0]
        self.table = self.answers.soft.table_of_means

    def run(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(q, W) after E-step and M-step."""
        ascent = Ascent(self.answers, self.objective, self.settings, self.start, self.table)
        ascent.expect()
        ascent.maximise()
        return ascent.q, ascent.W


def fits(n: int, d: int, K: int, triplets: int) -> dict[str, Any]:
    """Whole fits: ours of triplets, with all its starts, and the yardstick of all labels."""
    X, y = mixture(n, d, K, np.random.default_rng(0))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    view = bc.RelativeConstraints.sample(y, size=triplets, error_rate=0.05, seed=0)
    return {
        FIT: lambda: bc.DCRC(K, n_jobs=1, random_state=0).fit(X, constraints=view),
        REGRESSION: lambda: LogisticRegression(max_iter=1000).fit(X, y),
    }


def run(scale: Scale) -> Iterator[Race]:
    """Race both."""
    n, d, K, triplets = scale.pick(SMALL, (60, 2, 3, 30))
    iteration = Iteration(n, d, K, triplets)
    yield race(
        f"DCRC, an iteration of EM, n = {n}, d = {d}, K = {K}, {triplets} triplets",
        f"CPU time of at most {SWEEPS} mean-field sweeps and {STEPS} iterations of L-BFGS",
        {"iteration": iteration.run},
        scale,
        reference="iteration",
    )
    n, d, K, triplets = scale.pick(WHOLE, (60, 2, 3, 30))
    yield race(
        f"DCRC, a fit, n = {n}, d = {d}, K = {K}, {triplets} triplets",
        "CPU time of a fit",
        fits(n, d, K, triplets),
        scale,
        reference=REGRESSION,
        targets=[Target(FIT, most=SECONDS, unit="s")],
        note="The logistic regression is given all labels: no peer, but a yardstick that goes with "
        "the machine. "
        "Published elsewhere for a fit of this size: under 120 s.",
    )
