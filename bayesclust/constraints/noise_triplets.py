"""How answers about triplets go wrong: one error rate, or a full confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import expit

from bayesclust.constraints import _conjugate as conjugate
from bayesclust.constraints import _truncated as truncated
from bayesclust.constraints.noise_model import DirichletRows, NoiseModel
from bayesclust.typing import ArrayLike, Counts, FloatArray, Params

_MOSTLY_RIGHT = ((8.0, 1.0, 1.0), (1.0, 8.0, 1.0), (1.0, 1.0, 8.0))
# the share of wrong answers at which all three are equally likely whatever the truth, and its log
# odds
_NO_INFORMATION = 2 / 3
_LOG_ODDS = np.log(2.0)


class TripletNoise(NoiseModel):
    """What the noise models of triplet answers share: the true answer of each pattern (Pei et al., DCRC, Eq. 1)."""

    kind: ClassVar[str] = "relative"
    # patterns all same, ij|k, ik|j, jk|i, all different; answers yes = 0, no = 1, dnk = 2
    truth: ClassVar[tuple[int, ...]] = (2, 0, 1, 2, 2)
    n_answers: ClassVar[int] = 3


@dataclass(frozen=True)
class UniformNoise(TripletNoise):
    """Noise of triplet answers: wrong with probability eps, the two wrong answers equally likely.

    Pei et al., DCRC, Table I. eps = 2/3 carries no information; eps = 0 makes answers binding.

    Parameters
    ----------
    eps : (a, b) or float, default (1, 9)
        The Beta(a, b) prior, shared by all sources, or a known value in [0, 1). Beta(1, 9) has mean
        0.1 and puts all but 5e-5 of its mass below 2/3, where answers inform: they are more likely
        right than wrong, and a few dozen answers outweigh it.
    informative : bool, default False
        Cut the prior off at eps = 2/3, so that a source's answers cannot come to mean their
        opposite, however many of them contradict the data. Off, since a source that does mean the
        opposite is then believed to err in 2/3 of its answers, and no more.

    Raises
    ------
    TypeError, ValueError
        If the prior is not a pair of positive numbers, a known value lies outside [0, 1), or
        `informative` leaves less than a thousandth of the prior.

    Examples
    --------
    >>> UniformNoise(eps=0.1).confusion({"noise": [0.1]}).round(2)
    array([[[0.9 , 0.05, 0.05],
            [0.05, 0.9 , 0.05],
            [0.05, 0.05, 0.9 ]]])
    """

    eps: tuple[float, float] | float = (1.0, 9.0)
    informative: bool = False

    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"noise": ("source",)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", conjugate.beta_or_known(self.eps, "eps", "[0, 1)"))
        conjugate.check_flag(self.informative, "informative")
        conjugate.check_mass(self._log_mass(self.eps), f"eps={self.eps!r}", "eps < 2/3")

    @property
    @override
    def free(self) -> tuple[str, ...]:
        return ("noise",) if isinstance(self.eps, tuple) else ()

    @override
    def initial(self, n_sources: int) -> Params:
        mean = conjugate.beta_mean(self.eps)
        if isinstance(self.eps, tuple):
            # E[eps | eps < 2/3] = E[eps] times a ratio of normalisers
            mean *= np.exp(
                self._log_mass((self.eps[0] + 1, self.eps[1])) - self._log_mass(self.eps)
            )
        return {"noise": np.full(n_sources, mean)}

    @override
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        eps = np.asarray(params["noise"], dtype=np.float64)[..., None, None]
        right = np.eye(self.n_answers, dtype=np.bool_)
        return np.where(right, 1 - eps, eps / (self.n_answers - 1))

    @override
    def draw(
        self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator
    ) -> Params:
        if not isinstance(self.eps, tuple):
            return {"noise": np.array(params["noise"], dtype=np.float64)}
        wrong, right = self._tallies(counts)
        if not self.informative:
            return {"noise": conjugate.draw_beta(self.eps, wrong, right, rng)}
        a, b = (
            np.asarray(self.eps[0] + wrong, np.float64),
            np.asarray(self.eps[1] + right, np.float64),
        )
        log_odds = truncated.draw_below(a, b, np.full(a.shape, _LOG_ODDS), rng)
        return {"noise": np.clip(expit(log_odds), conjugate.TINY, _NO_INFORMATION)}

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        if not isinstance(self.eps, tuple):
            return 0.0
        value = np.asarray(params["noise"], dtype=np.float64)
        density = conjugate.log_beta(self.eps, value) - value.shape[-1] * self._log_mass(self.eps)
        inside = (value <= _NO_INFORMATION).all(axis=-1) | (not self.informative)
        return conjugate.scalar(np.where(inside, density, -np.inf))

    @override
    def log_marginal(self, counts: Counts) -> Any:
        wrong, right = self._tallies(counts)
        # which of the wrong answers it was
        choice = wrong.sum(axis=-1) * np.log(self.n_answers - 1)
        value = conjugate.log_beta_marginal(self.eps, wrong, right) - choice
        if self.informative and isinstance(self.eps, tuple):
            posterior = self._log_mass((self.eps[0] + wrong, self.eps[1] + right))
            value = value + (posterior - self._log_mass(self.eps)).sum(axis=-1)
        return conjugate.scalar(value)

    @override
    def dirichlet_rows(self) -> DirichletRows | None:
        if self.informative or not isinstance(self.eps, tuple):
            return None
        right = np.eye(self.n_answers, dtype=np.int64)
        return DirichletRows((self.eps,), right, np.where(right, 0.0, -np.log(self.n_answers - 1)))

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        tallies = self._tallies(counts)
        logs = conjugate.expected_logs(self.eps, *tallies)
        if self.informative and isinstance(self.eps, tuple):
            weights = [weight + tally for weight, tally in zip(self.eps, tallies, strict=True)]
            slopes = truncated.gradient(lambda a, b: truncated.log_below(a, b, _LOG_ODDS), weights)
            logs = logs[0] + slopes[0], logs[1] + slopes[1]
        wrong, right = (value[..., None, None] for value in logs)
        return np.where(
            np.eye(self.n_answers, dtype=np.bool_), right, wrong - np.log(self.n_answers - 1)
        )

    def _log_mass(self, eps: Any) -> Any:
        """log P(eps < 2/3) under Beta weights, or 0 without the cut."""
        if not self.informative:
            return 0.0
        if not isinstance(eps, tuple):
            return 0.0 if eps < _NO_INFORMATION else -np.inf
        return truncated.log_below(eps[0], eps[1], _LOG_ODDS)

    def _tallies(self, counts: Counts) -> tuple[Counts, Counts]:
        folded = self.fold(counts)
        right = np.trace(folded, axis1=-2, axis2=-1)
        return folded.sum(axis=(-2, -1)) - right, right


@dataclass(frozen=True)
class ConfusionNoise(TripletNoise):
    """Noise of triplet answers: a full confusion matrix, rows the true answer and columns the given one.

    The non-uniform noise that Pei et al. (DCRC, section V-C) name as future work: people say "dnk"
    too often and rarely confuse "yes" with "no" (their Table IV). `UniformNoise` is the special
    case of equal errors.

    Parameters
    ----------
    prior : (3, 3) array of float, optional
        Dirichlet weights of each row, in the order yes, no, dnk, shared by all sources. The default
        has 8 on the diagonal and 1 off it: a right answer has mean probability 0.8, and a few dozen
        answers to questions of that truth outweigh it.
    matrix : (3, 3) array of float, optional
        A known confusion matrix, whose rows sum to one. Give this or `prior`, not both.

    Raises
    ------
    TypeError, ValueError
        If both are given, a shape is not (3, 3), a weight is not positive, or a row does not sum to
        one.

    Examples
    --------
    >>> ConfusionNoise().initial(n_sources=1)["confusion"]
    array([[[0.8, 0.1, 0.1],
            [0.1, 0.8, 0.1],
            [0.1, 0.1, 0.8]]])
    """

    prior: Any = None
    matrix: Any = None

    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"confusion": ("source", "truth", "answer")}

    def __post_init__(self) -> None:
        if self.prior is not None and self.matrix is not None:
            raise TypeError(
                "ConfusionNoise takes a prior or a known matrix, not both: leave one out."
            )
        if self.matrix is not None:
            known = conjugate.confusion_matrix(self.matrix, self.n_answers, "matrix")
            object.__setattr__(self, "matrix", tuple(map(tuple, known.tolist())))
        else:
            prior = conjugate.dirichlet_rows(
                _MOSTLY_RIGHT if self.prior is None else self.prior, self.n_answers
            )
            object.__setattr__(self, "prior", tuple(map(tuple, prior.tolist())))

    @property
    @override
    def free(self) -> tuple[str, ...]:
        return () if self.prior is None else ("confusion",)

    @override
    def initial(self, n_sources: int) -> Params:
        rows = np.array(self.matrix if self.prior is None else self.prior)
        return {"confusion": np.tile(rows / rows.sum(axis=1, keepdims=True), (n_sources, 1, 1))}

    @override
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return np.asarray(params["confusion"], dtype=np.float64)

    @override
    def draw(
        self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator
    ) -> Params:
        if self.prior is None:
            return {"confusion": np.array(params["confusion"], dtype=np.float64)}
        return {
            "confusion": conjugate.draw_dirichlet(np.array(self.prior) + self.fold(counts), rng)
        }

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        if self.prior is None:
            return 0.0
        weights, rows = (
            np.array(self.prior),
            np.log(np.maximum(self.confusion(params), conjugate.TINY)),
        )
        density = ((weights - 1) * rows).sum(axis=-1) - conjugate.log_dirichlet_norm(weights)
        return conjugate.scalar(density.sum(axis=(-2, -1)))

    @override
    def log_marginal(self, counts: Counts) -> Any:
        folded = self.fold(counts)
        if self.prior is None:
            table = np.log(np.maximum(self.matrix, conjugate.TINY))
            return conjugate.scalar((folded * table).sum(axis=(-3, -2, -1)))
        weights = np.array(self.prior)
        evidence = conjugate.log_dirichlet_norm(weights + folded) - conjugate.log_dirichlet_norm(
            weights
        )
        return conjugate.scalar(evidence.sum(axis=(-2, -1)))

    @override
    def dirichlet_rows(self) -> DirichletRows | None:
        if self.prior is None:
            return None
        return DirichletRows(self.prior, np.arange(9).reshape(3, 3), np.zeros((3, 3)))

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        folded = self.fold(counts)
        if self.prior is None:
            return np.broadcast_to(np.log(np.maximum(self.matrix, conjugate.TINY)), folded.shape)
        return conjugate.expected_log_rows(np.array(self.prior) + folded)


__all__ = ["ConfusionNoise", "TripletNoise", "UniformNoise"]
