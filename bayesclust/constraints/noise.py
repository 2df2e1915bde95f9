"""How answers go wrong: noise models with their conjugate updates and marginal likelihoods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from bayesclust.constraints import _conjugate as conjugate
from bayesclust.constraints.noise_model import NoiseModel
from bayesclust.typing import ArrayLike, Counts, FloatArray, Params

_MOSTLY_RIGHT = ((8.0, 1.0, 1.0), (1.0, 8.0, 1.0), (1.0, 1.0, 8.0))


@dataclass(frozen=True)
class LinkNoise(NoiseModel):
    """Noise of pairwise answers: p of "same" about a pair that is the same, q of "different" about one that is not.

    p(E=1 | same) = p, p(E=0 | same) = 1 - p, p(E=0 | different) = q, p(E=1 | different) = 1 - q
    (Khashabi et al., TVClust, Eq. 8; ERRATUM: the display before Eq. 8 misprints its first two lines).

    Parameters
    ----------
    p, q : (a, b) or float, default (4, 1)
        The Beta(a, b) prior, shared by all sources, or a known value in (0, 1). Beta(4, 1) has mean 0.8 and puts
        15/16 of its mass above 1/2: answers are more likely right than wrong, and a few dozen answers outweigh it.
        A flat prior could not rule out p + q < 1, where answers mean their opposite.

    Raises
    ------
    TypeError, ValueError
        If a prior is not a pair of positive numbers, or a known value lies outside (0, 1).

    Examples
    --------
    >>> LinkNoise(p=0.9, q=0.8).log_table({"p": [0.9], "q": [0.8]}).round(3)
    array([[-2.303, -0.223],
           [-0.105, -1.609]])
    >>> LinkNoise(q=0.8).free
    ('p',)
    """

    p: tuple[float, float] | float = (4.0, 1.0)
    q: tuple[float, float] | float = (4.0, 1.0)

    kind: ClassVar[str] = "pairwise"
    # patterns same, different; answers different = 0, same = 1
    truth: ClassVar[tuple[int, ...]] = (1, 0)
    n_answers: ClassVar[int] = 2
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"p": ("source",), "q": ("source",)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", conjugate.beta_or_known(self.p, "p", "(0, 1)"))
        object.__setattr__(self, "q", conjugate.beta_or_known(self.q, "q", "(0, 1)"))

    @property
    @override
    def free(self) -> tuple[str, ...]:
        return tuple(name for name, prior in (("p", self.p), ("q", self.q)) if isinstance(prior, tuple))

    @override
    def initial(self, n_sources: int) -> Params:
        return {name: np.full(n_sources, conjugate.beta_mean(prior)) for name, prior in (("p", self.p), ("q", self.q))}

    @override
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        p, q = np.asarray(params["p"], dtype=np.float64), np.asarray(params["q"], dtype=np.float64)
        different, same = np.stack([q, 1 - q], axis=-1), np.stack([1 - p, p], axis=-1)
        return np.stack([different, same], axis=-2)

    @override
    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator) -> Params:
        drawn = {name: np.array(value, dtype=np.float64) for name, value in params.items()}
        for name, prior, right, wrong in self._tallies(counts):
            if isinstance(prior, tuple):
                drawn[name] = conjugate.draw_beta(prior, right, wrong, rng)
        return drawn

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        priors = (("p", self.p), ("q", self.q))
        return sum(conjugate.log_beta(prior, params[name]) for name, prior in priors if isinstance(prior, tuple))

    @override
    def log_marginal(self, counts: Counts) -> Any:
        return sum(conjugate.log_beta_marginal(prior, right, wrong) for _, prior, right, wrong in self._tallies(counts))

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        same, different = (conjugate.expected_logs(prior, right, wrong) for _, prior, right, wrong in self._tallies(counts))
        return np.stack([np.stack(different, axis=-1), np.stack(same[::-1], axis=-1)], axis=-2)

    def _tallies(self, counts: Counts) -> list[tuple[str, tuple[float, float] | float, Counts, Counts]]:
        folded = self.fold(counts)
        return [
            ("p", self.p, folded[..., 1, 1], folded[..., 1, 0]),
            ("q", self.q, folded[..., 0, 0], folded[..., 0, 1]),
        ]


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
        The Beta(a, b) prior, shared by all sources, or a known value in [0, 1). Beta(1, 9) has mean 0.1 and puts
        all but 5e-5 of its mass below 2/3, where answers inform: they are more likely right than wrong, and a few
        dozen answers outweigh it.

    Raises
    ------
    TypeError, ValueError
        If the prior is not a pair of positive numbers, or a known value lies outside [0, 1).

    Examples
    --------
    >>> UniformNoise(eps=0.1).confusion({"noise": [0.1]}).round(2)
    array([[[0.9 , 0.05, 0.05],
            [0.05, 0.9 , 0.05],
            [0.05, 0.05, 0.9 ]]])
    """

    eps: tuple[float, float] | float = (1.0, 9.0)

    parameters: ClassVar[dict[str, tuple[str, ...]]] = {"noise": ("source",)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", conjugate.beta_or_known(self.eps, "eps", "[0, 1)"))

    @property
    @override
    def free(self) -> tuple[str, ...]:
        return ("noise",) if isinstance(self.eps, tuple) else ()

    @override
    def initial(self, n_sources: int) -> Params:
        return {"noise": np.full(n_sources, conjugate.beta_mean(self.eps))}

    @override
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        eps = np.asarray(params["noise"], dtype=np.float64)[..., None, None]
        right = np.eye(self.n_answers, dtype=np.bool_)
        return np.where(right, 1 - eps, eps / (self.n_answers - 1))

    @override
    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator) -> Params:
        if not isinstance(self.eps, tuple):
            return {"noise": np.array(params["noise"], dtype=np.float64)}
        wrong, right = self._tallies(counts)
        return {"noise": conjugate.draw_beta(self.eps, wrong, right, rng)}

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        return conjugate.log_beta(self.eps, params["noise"]) if isinstance(self.eps, tuple) else 0.0

    @override
    def log_marginal(self, counts: Counts) -> Any:
        wrong, right = self._tallies(counts)
        # which of the wrong answers it was
        choice = wrong.sum(axis=-1) * np.log(self.n_answers - 1)
        return conjugate.log_beta_marginal(self.eps, wrong, right) - conjugate.scalar(choice)

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        wrong, right = (value[..., None, None] for value in conjugate.expected_logs(self.eps, *self._tallies(counts)))
        return np.where(np.eye(self.n_answers, dtype=np.bool_), right, wrong - np.log(self.n_answers - 1))

    def _tallies(self, counts: Counts) -> tuple[Counts, Counts]:
        folded = self.fold(counts)
        right = np.trace(folded, axis1=-2, axis2=-1)
        return folded.sum(axis=(-2, -1)) - right, right


@dataclass(frozen=True)
class ConfusionNoise(TripletNoise):
    """Noise of triplet answers: a full confusion matrix, rows the true answer and columns the given one.

    The non-uniform noise that Pei et al. (DCRC, section V-C) name as future work: people say "dnk" too often and
    rarely confuse "yes" with "no" (their Table IV). `UniformNoise` is the special case of equal errors.

    Parameters
    ----------
    prior : (3, 3) array of float, optional
        Dirichlet weights of each row, in the order yes, no, dnk, shared by all sources. The default has 8 on the
        diagonal and 1 off it: a right answer has mean probability 0.8, and a few dozen answers to questions of that
        truth outweigh it.
    matrix : (3, 3) array of float, optional
        A known confusion matrix, whose rows sum to one. Give this or `prior`, not both.

    Raises
    ------
    TypeError, ValueError
        If both are given, a shape is not (3, 3), a weight is not positive, or a row does not sum to one.

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
            raise TypeError("ConfusionNoise takes a prior or a known matrix, not both: leave one out.")
        if self.matrix is not None:
            known = conjugate.confusion_matrix(self.matrix, self.n_answers, "matrix")
            object.__setattr__(self, "matrix", tuple(map(tuple, known.tolist())))
        else:
            prior = conjugate.dirichlet_rows(_MOSTLY_RIGHT if self.prior is None else self.prior, self.n_answers)
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
    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator) -> Params:
        if self.prior is None:
            return {"confusion": np.array(params["confusion"], dtype=np.float64)}
        return {"confusion": conjugate.draw_dirichlet(np.array(self.prior) + self.fold(counts), rng)}

    @override
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        if self.prior is None:
            return 0.0
        weights, rows = np.array(self.prior), np.log(np.maximum(self.confusion(params), conjugate.TINY))
        density = ((weights - 1) * rows).sum(axis=-1) - conjugate.log_dirichlet_norm(weights)
        return conjugate.scalar(density.sum(axis=(-2, -1)))

    @override
    def log_marginal(self, counts: Counts) -> Any:
        folded = self.fold(counts)
        if self.prior is None:
            table = np.log(np.maximum(self.matrix, conjugate.TINY))
            return conjugate.scalar((folded * table).sum(axis=(-3, -2, -1)))
        weights = np.array(self.prior)
        evidence = conjugate.log_dirichlet_norm(weights + folded) - conjugate.log_dirichlet_norm(weights)
        return conjugate.scalar(evidence.sum(axis=(-2, -1)))

    @override
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        folded = self.fold(counts)
        if self.prior is None:
            return np.broadcast_to(np.log(np.maximum(self.matrix, conjugate.TINY)), folded.shape)
        return conjugate.expected_log_rows(np.array(self.prior) + folded)


__all__ = ["ConfusionNoise", "LinkNoise", "NoiseModel", "TripletNoise", "UniformNoise"]
