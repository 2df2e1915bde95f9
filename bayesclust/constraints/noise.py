"""How answers go wrong: noise models with their conjugate updates and marginal likelihoods.

Those of answers about pairs are here, those about triplets in `noise_triplets`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from bayesclust.constraints import _conjugate as conjugate
from bayesclust.constraints import _truncated as truncated
from bayesclust.constraints.noise_model import DirichletRows, NoiseModel
from bayesclust.constraints.noise_triplets import ConfusionNoise, TripletNoise, UniformNoise
from bayesclust.typing import ArrayLike, Counts, FloatArray, Params


@dataclass(frozen=True)
class LinkNoise(NoiseModel):
    """Noise of pairwise answers: p of "same" about a pair that is the same, q of "different" about one that is not.

    p(E=1 | same) = p, p(E=0 | same) = 1 - p, p(E=0 | different) = q, p(E=1 | different) = 1 - q
    (Khashabi et al., TVClust, Eq. 8; ERRATUM: the display before Eq. 8 misprints its first two
    lines).

    Parameters
    ----------
    p, q : (a, b) or float, default (4, 1)
        The Beta(a, b) prior, shared by all sources, or a known value in (0, 1). Beta(4, 1) has mean
        0.8 and puts 15/16 of its mass above 1/2: answers are more likely right than wrong, and a
        few dozen answers outweigh it. A flat prior could not rule out p + q < 1, where answers mean
        their opposite.
    informative : bool, default False
        Cut the joint prior of each source's p and q to p + q > 1, so that links cannot come to mean
        their opposite, however many of them contradict the data. Off, since a source that does mean
        the opposite can then no longer be found out; turn it on where chains get lost in explaining
        good answers away.

    Raises
    ------
    TypeError, ValueError
        If a prior is not a pair of positive numbers, a known value lies outside (0, 1), or
        `informative` leaves less than a thousandth of the prior.

    Examples
    --------
    >>> LinkNoise(p=0.9, q=0.8).log_table({"p": [0.9], "q": [0.8]}).round(3)
    array([[-2.303, -0.223],
           [-0.105, -1.609]])
    >>> LinkNoise(q=0.8).free
    ('p',)
    >>> flat = LinkNoise(p=(1, 1), q=(1, 1), informative=True)
    >>> {name: mean.round(3).tolist() for name, mean in flat.initial(n_sources=1).items()}
    {'p': [0.667], 'q': [0.667]}
    """

    p: tuple[float, float] | float = (4.0, 1.0)
    q: tuple[float, float] | float = (4.0, 1.0)
    informative: bool = False

    kind: ClassVar[str] = "pairwise"
    # patterns same, different; answers different = 0, same = 1
    truth: ClassVar[tuple[int, ...]] = (1, 0)
    n_answers: ClassVar[int] = 2
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"p": ("source",), "q": ("source",)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", conjugate.beta_or_known(self.p, "p", "(0, 1)"))
        object.__setattr__(self, "q", conjugate.beta_or_known(self.q, "q", "(0, 1)"))
        conjugate.check_flag(self.informative, "informative")
        conjugate.check_mass(self.log_mass, f"p={self.p!r} and q={self.q!r}", "p + q > 1")

    @property
    @override
    def free(self) -> tuple[str, ...]:
        return tuple(
            name for name, prior in (("p", self.p), ("q", self.q)) if isinstance(prior, tuple)
        )

    @property
    def log_mass(self) -> float:
        """Log probability that `informative` leaves of the prior of one source; 0 where it is off."""
        return float(self._log_mass(self.p, self.q))

    @override
    def initial(self, n_sources: int) -> Params:
        means = {}
        for name, prior in (("p", self.p), ("q", self.q)):
            mean = conjugate.beta_mean(prior)
            if isinstance(prior, tuple):
                # E[p | p + q > 1] = E[p] times a ratio of normalisers
                raised = {"p": self.p, "q": self.q, name: (prior[0] + 1, prior[1])}
                mean *= np.exp(self._log_mass(**raised) - self.log_mass)
            means[name] = np.full(n_sources, mean)
        return means

    @override
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        p, q = (np.asarray(params[name], dtype=np.float64) for name in ("p", "q"))
        table = np.empty((*np.broadcast(p, q).shape, 2, 2))
        table[..., 0, 0], table[..., 0, 1], table[..., 1, 0], table[..., 1, 1] = q, 1 - q, 1 - p, p
        return table

    @override
    def draw(
        self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator
    ) -> Params:
        drawn = {name: np.array(value, dtype=np.float64) for name, value in params.items()}
        if self.informative and self.free:
            p, q = truncated.draw_pair(*self._posterior(counts), rng)
            return drawn | {"p": conjugate.off_the_ends(p), "q": conjugate.off_the_ends(q)}
        for name, prior, right, wrong in self._tallies(counts):
            if isinstance(prior, tuple):
                drawn[name] = conjugate.draw_beta(prior, right, wrong, rng)
        return drawn

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        priors = (("p", self.p), ("q", self.q))
        value = sum(
            conjugate.log_beta(prior, params[name])
            for name, prior in priors
            if isinstance(prior, tuple)
        )
        if not (self.informative and self.free):
            return value
        total = np.asarray(params["p"]) + np.asarray(params["q"])
        value = value - total.shape[-1] * self.log_mass
        # a sum just above 1 may round to just below
        return conjugate.scalar(
            np.where((total >= conjugate.ALMOST_ONE).all(axis=-1), value, -np.inf)
        )

    @override
    def log_marginal(self, counts: Counts) -> Any:
        value = sum(
            conjugate.log_beta_marginal(prior, right, wrong)
            for _, prior, right, wrong in self._tallies(counts)
        )
        if self.informative and self.free:
            left = truncated.log_pair(*self._posterior(counts)) - self.log_mass
            value = value + left.sum(axis=-1)
        return conjugate.scalar(value)

    @override
    def dirichlet_rows(self) -> DirichletRows | None:
        if self.informative and self.free:
            return None
        weights: list[tuple[float, ...]] = []
        kind, log_factor = np.full((2, 2), -1), np.zeros((2, 2))
        for prior, truth in ((self.p, 1), (self.q, 0)):
            right_first = [truth, 1 - truth]
            if isinstance(prior, tuple):
                kind[truth, right_first] = 2 * len(weights) + np.arange(2)
                weights.append(prior)
            else:
                log_factor[truth, right_first] = np.log(prior), np.log1p(-prior)
        return DirichletRows(tuple(weights), kind, log_factor)

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        logs = [
            list(conjugate.expected_logs(prior, right, wrong))
            for _, prior, right, wrong in self._tallies(counts)
        ]
        if self.informative and self.free:
            for expected, slopes in zip(
                logs, truncated.pair_gradient(*self._posterior(counts)), strict=True
            ):
                for side, slope in enumerate(slopes):
                    expected[side] = expected[side] + slope
        same, different = logs
        return np.stack([np.stack(different, axis=-1), np.stack(same[::-1], axis=-1)], axis=-2)

    def _log_mass(self, p: Any, q: Any) -> Any:
        """log P(p + q > 1), each a pair of Beta weights or a known value, or 0 without the cut."""
        return truncated.log_pair_prior(p, q) if self.informative else 0.0

    def _posterior(self, counts: Counts) -> tuple[Any, Any]:
        """Beta weights of p and of q given the counts, each a pair of arrays, or the known value."""
        p, q = (
            (prior[0] + right, prior[1] + wrong) if isinstance(prior, tuple) else prior
            for _, prior, right, wrong in self._tallies(counts)
        )
        return p, q

    def _tallies(
        self, counts: Counts
    ) -> list[tuple[str, tuple[float, float] | float, Counts, Counts]]:
        tables: Any = np.asarray(counts)
        if self.truth == (1, 0):  # each pattern has a truth of its own: nothing to add up
            table = tables.reshape(*tables.shape[:-2], -1, 2, 2)
            same, different = table[..., 0], table[..., 1]
        else:
            folded: Any = self.fold(tables)
            different, same = folded[..., 0, :], folded[..., 1, :]
        return [
            ("p", self.p, same[..., 1], same[..., 0]),
            ("q", self.q, different[..., 0], different[..., 1]),
        ]


__all__ = ["ConfusionNoise", "LinkNoise", "NoiseModel", "TripletNoise", "UniformNoise"]
