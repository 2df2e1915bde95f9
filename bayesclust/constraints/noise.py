"""How answers go wrong: noise models, their conjugate updates and their marginal likelihoods.

Every model here says the same kind of thing: the answer depends on the partition only through the *true* answer, by a
confusion matrix C[truth, answer] of each source. What differs is the shape of C and its conjugate prior.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesclust.constraints._conjugate import (
    TINY,
    beta_mean,
    beta_or_fixed,
    confusion_matrix,
    dirichlet_rows,
    draw_beta,
    log_beta,
    log_beta_marginal,
    log_dirichlet_norm,
    scalar,
)
from bayesclust.typing import ArrayLike, FloatArray, IntArray, Params


class NoiseModel(ABC):
    """Distribution of the answers of S sources given the true answers, with its prior.

    Parameters travel as a dict of arrays whose axis of sources comes first after any batch axes.
    A count table has one row per (source, answer), in the order source * n_answers + answer, and one column per
    equality pattern.

    Attributes
    ----------
    kind : str
        The kind of view the model speaks of.
    truth : tuple of int
        The true answer under each equality pattern.
    n_answers : int
        Number of possible answers.
    parameters : dict of str to tuple of str
        Names of the parameters and the dimensions of each.
    free : tuple of str
        Those that are sampled; the others are held at a given value.
    """

    kind: ClassVar[str]
    truth: ClassVar[tuple[int, ...]]
    n_answers: ClassVar[int]
    parameters: ClassVar[dict[str, tuple[str, ...]]]

    @property
    @abstractmethod
    def free(self) -> tuple[str, ...]:
        """Names of the parameters that are sampled."""

    @abstractmethod
    def initial(self, n_sources: int) -> Params:
        """Return the prior means (or the fixed values) for `n_sources` sources."""

    @abstractmethod
    def sample_prior(self, n_sources: int, rng: np.random.Generator) -> Params:
        """Draw the parameters of `n_sources` sources from the prior."""

    @abstractmethod
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        """Return p(answer | truth), shape (..., S, truth, answer)."""

    @abstractmethod
    def draw(self, counts: IntArray, params: Params, rng: np.random.Generator) -> Params:
        """Draw the free parameters given the counts, and keep the fixed ones."""

    @abstractmethod
    def log_prior(self, params: Mapping[str, ArrayLike]) -> float:
        """Return the log density of the free parameters, summed over sources."""

    @abstractmethod
    def log_marginal(self, counts: IntArray) -> float:
        """Return log p(answers | partition) with the free parameters integrated out."""

    def log_table(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        """Return log p(answer | pattern), shape (..., S * n_answers, n_patterns).

        A probability of zero is taken as the smallest normal double (708 nats), so that differences of two
        impossible states stay finite and still count how many answers each breaks.
        """
        by_truth = self.confusion(params)[..., list(self.truth), :]
        table = np.log(np.maximum(np.swapaxes(by_truth, -1, -2), TINY))
        result: FloatArray = table.reshape(*table.shape[:-3], -1, len(self.truth))
        return result

    def fold(self, counts: IntArray) -> IntArray:
        """Sum counts (..., S * n_answers, n_patterns) over patterns of one truth: (..., S, truth, answer)."""
        shaped = np.asarray(counts).reshape(*np.shape(counts)[:-2], -1, self.n_answers, len(self.truth))
        folded = np.zeros((*shaped.shape[:-2], self.n_answers, self.n_answers), dtype=np.int64)
        for pattern, truth in enumerate(self.truth):
            folded[..., truth, :] += shaped[..., pattern]
        return folded


@dataclass(frozen=True)
class LinkNoise(NoiseModel):
    """Noise of pairwise answers: p of saying "same" of a pair that is, q of saying "different" of a pair that is.

    p(E=1 | same) = p, p(E=0 | same) = 1 - p, p(E=0 | different) = q, p(E=1 | different) = 1 - q
    (Khashabi et al., TVClust, Eq. 8; the display just before Eq. 8 misprints its first two lines).

    Parameters
    ----------
    p, q : (a, b) or float, default (4, 1)
        The Beta(a, b) prior, shared by all sources, or a known value in (0, 1). Beta(4, 1) has mean 0.8 and puts
        15/16 of its mass above 1/2: answers are more likely right than wrong, and its five pseudo-answers are
        soon outweighed. With p + q < 1 answers would mean their opposite, which a flat prior cannot rule out.

    Raises
    ------
    TypeError, ValueError
        If a prior is not two positive numbers, or a fixed value lies outside (0, 1).

    Examples
    --------
    >>> LinkNoise(p=0.9, q=0.8).confusion({"p": [0.9], "q": [0.8]}).round(1)
    array([[[0.8, 0.2],
            [0.1, 0.9]]])
    """

    p: tuple[float, float] | float = (4.0, 1.0)
    q: tuple[float, float] | float = (4.0, 1.0)

    kind: ClassVar[str] = "pairwise"
    truth: ClassVar[tuple[int, ...]] = (1, 0)
    n_answers: ClassVar[int] = 2
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"p": ("source",), "q": ("source",)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", beta_or_fixed(self.p, "p", "(0, 1)"))
        object.__setattr__(self, "q", beta_or_fixed(self.q, "q", "(0, 1)"))

    @property
    def free(self) -> tuple[str, ...]:
        return tuple(name for name in ("p", "q") if isinstance(getattr(self, name), tuple))

    def initial(self, n_sources: int) -> Params:
        return {name: np.full(n_sources, beta_mean(getattr(self, name))) for name in ("p", "q")}

    def sample_prior(self, n_sources: int, rng: np.random.Generator) -> Params:
        return self.draw(np.zeros((2 * n_sources, 2), dtype=np.int64), self.initial(n_sources), rng)

    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        p, q = np.asarray(params["p"], dtype=np.float64), np.asarray(params["q"], dtype=np.float64)
        p, q = np.broadcast_arrays(p, q)
        different, same = np.stack([q, 1 - q], axis=-1), np.stack([1 - p, p], axis=-1)
        return np.stack([different, same], axis=-2)

    def draw(self, counts: IntArray, params: Params, rng: np.random.Generator) -> Params:
        drawn = {name: np.array(value, dtype=np.float64) for name, value in params.items()}
        for name, right, wrong in self._tallies(counts):
            prior = getattr(self, name)
            if isinstance(prior, tuple):
                drawn[name] = draw_beta(prior, right, wrong, rng)
        return drawn

    def log_prior(self, params: Mapping[str, ArrayLike]) -> float:
        return sum((log_beta(getattr(self, name), params[name]) for name in self.free), 0.0)

    def log_marginal(self, counts: IntArray) -> float:
        return sum(log_beta_marginal(getattr(self, name), *tally) for name, *tally in self._tallies(counts))

    def _tallies(self, counts: IntArray) -> tuple[tuple[str, IntArray, IntArray], ...]:
        folded = self.fold(counts)
        return ("p", folded[..., 1, 1], folded[..., 1, 0]), ("q", folded[..., 0, 0], folded[..., 0, 1])


class _TripletNoise(NoiseModel):
    kind: ClassVar[str] = "relative"
    # all same, ij|k, ik|j, jk|i, all different (Pei et al., DCRC, Eq. 1), coded yes = 0, no = 1, dnk = 2
    truth: ClassVar[tuple[int, ...]] = (2, 0, 1, 2, 2)
    n_answers: ClassVar[int] = 3


@dataclass(frozen=True)
class UniformNoise(_TripletNoise):
    """Noise of triplet answers: wrong with probability eps, the two wrong answers equally likely.

    Pei et al., DCRC, Table I. eps = 2/3 carries no information; eps = 0 makes answers binding.

    Parameters
    ----------
    eps : (a, b) or float, default (1, 9)
        The Beta(a, b) prior, shared by all sources, or a known value in [0, 1). Beta(1, 9) has mean 0.1 and puts
        all but 5e-5 of its mass below 2/3, where answers inform: more likely right than wrong, yet two dozen
        answers outweigh it.

    Raises
    ------
    TypeError, ValueError
        If the prior is not two positive numbers, or a fixed value lies outside [0, 1).

    Examples
    --------
    >>> UniformNoise(eps=0.1).log_marginal(np.diag([5, 0, 0, 0, 0])[:3]).round(3)
    np.float64(-14.979)
    """

    eps: tuple[float, float] | float = (1.0, 9.0)

    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"noise": ("source",)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", beta_or_fixed(self.eps, "eps", "[0, 1)"))

    @property
    def free(self) -> tuple[str, ...]:
        return ("noise",) if isinstance(self.eps, tuple) else ()

    def initial(self, n_sources: int) -> Params:
        return {"noise": np.full(n_sources, beta_mean(self.eps))}

    def sample_prior(self, n_sources: int, rng: np.random.Generator) -> Params:
        return self.draw(np.zeros((3 * n_sources, 5), dtype=np.int64), self.initial(n_sources), rng)

    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        eps = np.asarray(params["noise"], dtype=np.float64)[..., None, None]
        right = np.eye(self.n_answers)
        return right * (1 - eps) + (1 - right) * eps / (self.n_answers - 1)

    def draw(self, counts: IntArray, params: Params, rng: np.random.Generator) -> Params:
        if not isinstance(self.eps, tuple):
            return {"noise": np.array(params["noise"], dtype=np.float64)}
        right, wrong = self._tallies(counts)
        return {"noise": draw_beta(self.eps, wrong, right, rng)}

    def log_prior(self, params: Mapping[str, ArrayLike]) -> float:
        return log_beta(self.eps, params["noise"]) if isinstance(self.eps, tuple) else 0.0

    def log_marginal(self, counts: IntArray) -> float:
        right, wrong = self._tallies(counts)
        split = np.sum(wrong, axis=-1) * np.log(self.n_answers - 1)
        return log_beta_marginal(self.eps, wrong, right) - split

    def _tallies(self, counts: IntArray) -> tuple[IntArray, IntArray]:
        folded = self.fold(counts)
        right = np.trace(folded, axis1=-2, axis2=-1)
        return right, folded.sum(axis=(-2, -1)) - right


_MOSTLY_RIGHT = ((8.0, 1.0, 1.0), (1.0, 8.0, 1.0), (1.0, 1.0, 8.0))


class ConfusionNoise(_TripletNoise):
    """Noise of triplet answers: a full confusion matrix, rows the true answer, columns the given one.

    The non-uniform noise that Pei et al. (DCRC, section V-C) name as future work; people say "dnk" too often and
    rarely confuse "yes" with "no" (their Table IV). `UniformNoise` is the special case of equal errors.

    Parameters
    ----------
    prior : (3, 3) array of float, optional
        Dirichlet weights of each row, in the order yes, no, dnk, shared by all sources. The default has 8 on the
        diagonal and 1 off it: right answers have mean 0.8, and ten pseudo-answers a row are soon outweighed.
    matrix : (3, 3) array of float, optional
        A known confusion matrix, whose rows sum to one. Give this or `prior`, not both.

    Raises
    ------
    ValueError
        If both are given, a shape is not (3, 3), a prior weight is not positive, or a row does not sum to one.

    Examples
    --------
    >>> ConfusionNoise().initial(n_sources=1)["confusion"]
    array([[[0.8, 0.1, 0.1],
            [0.1, 0.8, 0.1],
            [0.1, 0.1, 0.8]]])
    """

    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"confusion": ("source", "truth", "answer")}

    def __init__(self, prior: ArrayLike | None = None, matrix: ArrayLike | None = None) -> None:
        if prior is not None and matrix is not None:
            raise ValueError("ConfusionNoise takes a prior or a known matrix, not both: leave one out.")
        self.matrix = None if matrix is None else confusion_matrix(matrix, 3, "matrix")
        self.prior = None if matrix is not None else dirichlet_rows(_MOSTLY_RIGHT if prior is None else prior, 3)

    def __repr__(self) -> str:
        given = {"prior": self.prior} if self.matrix is None else {"matrix": self.matrix}
        return "ConfusionNoise(" + ", ".join(f"{k}={np.asarray(v).tolist()}" for k, v in given.items()) + ")"

    @property
    def free(self) -> tuple[str, ...]:
        return ("confusion",) if self.matrix is None else ()

    def initial(self, n_sources: int) -> Params:
        if self.matrix is not None:
            rows = self.matrix
        else:
            assert self.prior is not None
            rows = self.prior / self.prior.sum(axis=1, keepdims=True)
        return {"confusion": np.tile(rows, (n_sources, 1, 1))}

    def sample_prior(self, n_sources: int, rng: np.random.Generator) -> Params:
        return self.draw(np.zeros((3 * n_sources, 5), dtype=np.int64), self.initial(n_sources), rng)

    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return np.asarray(params["confusion"], dtype=np.float64)

    def draw(self, counts: IntArray, params: Params, rng: np.random.Generator) -> Params:
        if self.prior is None:
            return {"confusion": np.array(params["confusion"], dtype=np.float64)}
        # a Dirichlet draw is a normalised row of gammas
        gammas = np.maximum(rng.standard_gamma(self.prior + self.fold(counts)), TINY)
        return {"confusion": gammas / gammas.sum(axis=-1, keepdims=True)}

    def log_prior(self, params: Mapping[str, ArrayLike]) -> float:
        if self.prior is None:
            return 0.0
        rows = np.maximum(np.asarray(params["confusion"], dtype=np.float64), TINY)
        terms = ((self.prior - 1) * np.log(rows)).sum(axis=-1) - log_dirichlet_norm(self.prior)
        return scalar(terms.sum(axis=(-2, -1)))

    def log_marginal(self, counts: IntArray) -> float:
        folded = self.fold(counts)
        if self.prior is None:
            assert self.matrix is not None
            return scalar((folded * np.log(np.maximum(self.matrix, TINY))).sum(axis=(-3, -2, -1)))
        terms = log_dirichlet_norm(self.prior + folded) - log_dirichlet_norm(self.prior)
        return scalar(terms.sum(axis=(-2, -1)))
