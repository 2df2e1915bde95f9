"""What a blocked chain knows on the host: everything but the labels, which is small."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.families.base import Components, Terms
from bayesclust.inference.blocked.sticks import draw_weights
from bayesclust.inference.hyper import HyperSampler
from bayesclust.inference.problem import TVClustProblem
from bayesclust.models.priors import crp_log_prob
from bayesclust.typing import FloatArray, IntArray, NDArray


class Unknowns:
    """Concentration, hyper-parameters and noise of one chain, and the statistics of its clusters.

    Parameters
    ----------
    problem : TVClustProblem
    components : Components
    rng : Generator
    """

    def __init__(self, problem: TVClustProblem, components: Components, rng: Generator) -> None:
        self.rng, self.hyper_sampler = rng, HyperSampler(problem.family)
        self.use(problem, components)
        self.hyper = problem.family.initial_hyper()
        self.alpha = problem.concentration.initial()
        self.noise: list[dict[str, Any]] = [
            view.noise.initial(view.n_sources) for view in problem.constraints
        ]
        self.key = self.new_key()
        self.statistics: Terms = ()
        self.least: FloatArray = np.zeros(0)
        self.counts: list[IntArray] = []

    @property
    def sizes(self) -> IntArray:
        """Cluster sizes, (K,)."""
        sizes: IntArray = np.rint(self.statistics[0]).astype(np.int64)
        return sizes

    def use(self, problem: TVClustProblem, components: Components) -> None:
        """Have these data and answers; `see` must follow."""
        self.problem, self.components, self.hyper_sampler.family = (
            problem,
            components,
            problem.family,
        )

    def new_key(self) -> NDArray[np.uint32]:
        """Key of a sweep's random numbers on the devices."""
        return self.rng.integers(2**32, size=2, dtype=np.uint32)

    def see(self, statistics: Terms, least: FloatArray, counts: list[IntArray]) -> None:
        """Take note of new labels: sums over all slots, and each view's counts of answers."""
        used = np.flatnonzero(np.asarray(statistics[0]) > 0)
        self.statistics = tuple(np.asarray(part)[used] for part in statistics)
        self.least = np.asarray(least)[used]
        self.counts = counts

    def update(self, *, adapt: bool, trust: bool) -> tuple[FloatArray, Terms]:
        """Draw everything but the labels; gives weights and parameters of the clusters and of new ones."""
        problem, components, rng = self.problem, self.components, self.rng

        def log_marginal(hyper: FloatArray) -> float:
            return components.log_total(self.statistics, hyper)

        self.hyper = self.hyper_sampler.walk(log_marginal, self.hyper, rng, adapt=adapt)
        self.hyper = components.draw_shared(self.statistics, self.hyper, rng)
        self.alpha = problem.concentration.update(self.alpha, len(self.least), problem.n_items, rng)
        if not trust:
            self.noise = [
                view.noise.draw(counts, noise, rng)
                for view, counts, noise in zip(
                    problem.constraints, self.counts, self.noise, strict=True
                )
            ]
        weight = draw_weights(self.sizes, self.alpha, self.least, rng)
        new = len(weight) - len(self.least)
        padded = tuple(
            np.concatenate([part, np.zeros((new, *part.shape[1:]))]) for part in self.statistics
        )
        return weight, components.draw(padded, self.hyper, rng)

    def log_joint(self) -> float:
        """log p(z, x, s, alpha, noise, hyper-parameters), cluster parameters integrated out, in the user's units."""
        problem = self.problem
        value = crp_log_prob(self.sizes, self.alpha) + problem.concentration.log_prior(self.alpha)
        value += (
            self.components.log_total(self.statistics, self.hyper) + problem.family.log_constant
        )
        value += problem.family.log_hyper_prior(self.hyper)
        for view, counts, noise in zip(problem.constraints, self.counts, self.noise, strict=True):
            value += float((counts * view.noise.log_table(noise)).sum()) + view.noise.log_prior(
                noise
            )
        return float(value)

    def snapshot(self) -> dict[str, Any]:
        """Everything that `restore` needs."""
        return {
            "generator": self.rng.bit_generator.state,
            "hyper": self.hyper.copy(),
            "hyper_sampler": copy.deepcopy(self.hyper_sampler.snapshot()),
            "alpha": self.alpha,
            "noise": [
                {name: np.array(value) for name, value in noise.items()} for noise in self.noise
            ],
            "key": self.key.copy(),
            "statistics": [part.copy() for part in self.statistics],
            "least": self.least.copy(),
            "counts": [part.copy() for part in self.counts],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Be where a snapshot was taken, bit for bit."""
        self.rng.bit_generator.state = snapshot["generator"]
        self.hyper_sampler.restore(copy.deepcopy(snapshot["hyper_sampler"]))
        self.hyper, self.alpha = np.array(snapshot["hyper"]), snapshot["alpha"]
        self.noise = [
            {name: np.array(value) for name, value in noise.items()} for noise in snapshot["noise"]
        ]
        self.key, self.least = np.array(snapshot["key"], np.uint32), np.array(snapshot["least"])
        self.statistics = tuple(np.array(part) for part in snapshot["statistics"])
        self.counts = [np.array(part) for part in snapshot["counts"]]
