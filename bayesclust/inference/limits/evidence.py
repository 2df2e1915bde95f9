"""Answers whose weight of evidence is known, however strong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import log_softmax

from bayesclust.checks import number_between
from bayesclust.constraints.noise import NoiseModel, TripletNoise
from bayesclust.typing import ArrayLike, Counts, FloatArray, Params

LEAST = 1e-300


@dataclass(frozen=True)
class KnownEvidence(NoiseModel):
    """Noise of pairwise answers, given by its log likelihood ratios ln(p / (1 - q)) and ln(q / (1 - p)).

    With A and B their exponentials, p = A (B - 1) / (A B - 1) and q = B (A - 1) / (A B - 1)
    (TVClust, before Eq. 19). Where these are within rounding of one, only logarithms can tell 1 - p
    from 1 - q; so that is what is kept.

    Parameters
    ----------
    same : float or sequence of float, default 2
        ln(p / (1 - q)): by how much an answer "same" speaks for a pair's being together, in nats,
        not negative; for each source, if several are given.
    different : float or sequence of float, default 2
        ln(q / (1 - p)): by how much an answer "different" speaks for its being apart.

    Raises
    ------
    TypeError, ValueError
        If a weight is not a number, negative or infinite.

    Examples
    --------
    >>> noise = KnownEvidence(same=np.log(9), different=np.log(9))
    >>> noise.confusion(noise.initial(n_sources=1)).round(3)
    array([[[0.9, 0.1],
            [0.1, 0.9]]])
    >>> KnownEvidence(same=1e4, different=1e4).log_table(noise.initial(1) | {"evidence_same": [1e4]}).shape
    (2, 2)
    """

    same: float | tuple[float, ...] = 2.0
    different: float | tuple[float, ...] = 2.0

    kind: ClassVar[str] = "pairwise"
    truth: ClassVar[tuple[int, ...]] = (1, 0)
    n_answers: ClassVar[int] = 2
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {
        "evidence_same": ("source",),
        "evidence_different": ("source",),
    }

    def __post_init__(self) -> None:
        for name, value in (("same", self.same), ("different", self.different)):
            many = isinstance(value, (Sequence, np.ndarray))
            weights = tuple(
                number_between(one, name, "[0, inf)")
                for one in (value if many else (value,))  # type: ignore[union-attr]
            )
            object.__setattr__(self, name, weights if many else weights[0])

    @property
    @override
    def free(self) -> tuple[str, ...]:
        return ()

    @override
    def initial(self, n_sources: int) -> Params:
        values = (np.asarray(value, dtype=np.float64) for value in (self.same, self.different))
        return {
            name: np.broadcast_to(v, n_sources).copy()
            for name, v in zip(self.parameters, values, strict=True)
        }

    @override
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return np.asarray(np.exp(_log_confusion(params)))

    @override
    def log_table(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return self._by_pattern(_log_confusion(params))

    @override
    def draw(
        self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator
    ) -> Params:
        return {name: np.array(value, dtype=np.float64) for name, value in params.items()}

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        return 0.0

    @override
    def log_marginal(self, counts: Counts) -> Any:
        folded = self.fold(counts)
        value = (folded * self._known(folded)).sum(axis=(-3, -2, -1))
        return float(value) if np.ndim(value) == 0 else value

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        folded = self.fold(counts)
        return np.broadcast_to(self._known(folded), folded.shape)

    def _known(self, folded: Counts) -> FloatArray:
        return _log_confusion(self.initial(np.shape(folded)[-3]))


@dataclass(frozen=True, eq=False)
class KnownCosts(TripletNoise):
    """Noise of triplet answers, p(answer a | truth t) proportional to exp(-costs[t, a]), costs as large as they may be.

    Parameters
    ----------
    costs : (S, 3, 3) array of float
        Of each source; rows the true answer and columns the given one, in the order yes, no, dnk.

    Examples
    --------
    >>> noise = KnownCosts(-1e4 * np.eye(3)[None])
    >>> noise.log_table(noise.initial(1))[0].round()
    array([-10000.,      0., -10000., -10000., -10000.])
    """

    costs: FloatArray

    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"costs": ("source", "truth", "answer")}

    @property
    @override
    def free(self) -> tuple[str, ...]:
        return ()

    @override
    def initial(self, n_sources: int) -> Params:
        return {"costs": np.broadcast_to(self.costs, (n_sources, 3, 3)).copy()}

    @override
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return np.asarray(np.exp(_log_shares(params)))

    @override
    def log_table(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return self._by_pattern(_log_shares(params))

    @override
    def draw(
        self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator
    ) -> Params:
        return {"costs": np.array(params["costs"], dtype=np.float64)}

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        return 0.0

    @override
    def log_marginal(self, counts: Counts) -> Any:
        value = (self.fold(counts) * _log_shares({"costs": self.costs})).sum(axis=(-3, -2, -1))
        return float(value) if np.ndim(value) == 0 else value

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        return np.broadcast_to(_log_shares({"costs": self.costs}), np.shape(self.fold(counts)))


def _log_shares(params: Mapping[str, ArrayLike]) -> FloatArray:
    """log p(answer | truth) of triplets, shape (..., S, truth, answer)."""
    return np.asarray(log_softmax(-np.asarray(params["costs"], dtype=np.float64), axis=-1))


def _log_confusion(params: Mapping[str, ArrayLike]) -> FloatArray:
    """log p(answer | truth), shape (..., S, truth, answer)."""
    # no evidence at all is a limit: p and q then go to shares that are one in sum
    same, different = (np.maximum(params[name], LEAST) for name in KnownEvidence.parameters)

    def log_one_less(value: Any) -> Any:
        """log(1 - exp(-value)), to the last digits for small and for large values."""
        middle = np.log(2)
        small, large = np.minimum(value, middle), np.maximum(value, middle)
        return np.where(value > middle, np.log1p(-np.exp(-large)), np.log(-np.expm1(-small)))

    whole = log_one_less(same + different)
    p, q = log_one_less(different) - whole, log_one_less(same) - whole
    if_different, if_same = np.stack([q, p - same], axis=-1), np.stack([q - different, p], axis=-1)
    return np.stack([if_different, if_same], axis=-2)


__all__ = ["KnownCosts", "KnownEvidence"]
