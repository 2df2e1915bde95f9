"""What DCRC believes of the weights of its classifier, before any answer: a Gaussian, and entropies of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_positive, number_between, shown
from bayesclust.typing import BoolArray, FloatArray

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class WeightPrior:
    """What is believed of the weights W before any answer.

    Parameters
    ----------
    precision : float or (shape, rate), default 1.0
        Of the Gaussian prior of each weight that is not a bias, or the Gamma prior under which it
        is learned.
    bias_scale : float or None, default 10.0
        Standard deviation of the biases. None leaves them free, as the paper does; such a prior
        cannot be drawn from.
    separation : float, default 0.0
        Nats by which a mean entropy H(Y_U) of the items that no answer names is held against W.
    balance : float, default 0.0
        Nats that the entropy H(y^) of the mean class probabilities is worth.
    proportions : tuple of K floats or None, default None
        Sizes of the clusters that `balance` draws to, -KL(y^ || proportions) taking the place of
        H(y^), from which it differs by a constant where sizes are even.

    Raises
    ------
    ValueError
        If precision or scale is not positive, a weight is negative, or proportions are not positive
        with sum 1.
    TypeError
        If the precision is neither a number nor a pair.

    Notes
    -----
    The entropies lie between 0 and log K, so that with a proper Gaussian, biases included, the
    product is a proper prior of W given X, up to its normaliser. No model of the items stands
    behind it: it says that a classifier is the more believable the clearer it tells the items
    apart, and the more evenly, or as `proportions` say.

    Examples
    --------
    >>> WeightPrior.from_paper(n_answers=100, tau=1.0, penalty=2**-6)
    WeightPrior(precision=3.125, bias_scale=None, separation=100.0, balance=100.0, proportions=None)
    """

    precision: float | tuple[float, float] = 1.0
    bias_scale: float | None = 10.0
    separation: float = 0.0
    balance: float = 0.0
    proportions: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        precision: Any = self.precision
        if isinstance(precision, tuple) and len(precision) == 2:
            for value, name in zip(
                precision, ("the shape of precision", "the rate of precision"), strict=True
            ):
                check_positive(value, name)
        elif isinstance(precision, Real):
            check_positive(precision, "precision")
        else:
            raise TypeError(
                f"precision must be a number or the (shape, rate) of a Gamma prior; got {shown(precision)}."
            )
        if self.bias_scale is not None:
            check_positive(self.bias_scale, "bias_scale")
        for name in ("separation", "balance"):
            number_between(getattr(self, name), name, "[0, inf)")
        if self.proportions is not None:
            sizes = np.asarray(self.proportions, dtype=np.float64)
            if sizes.ndim != 1 or not (sizes > 0).all() or abs(sizes.sum() - 1) > 1e-8:
                raise ValueError(
                    f"proportions must be positive, one per cluster, with sum 1; got {self.proportions!r}."
                )

    @property
    def first_precision(self) -> float:
        """The precision, or its prior mean."""
        return (
            self.precision[0] / self.precision[1]
            if isinstance(self.precision, tuple)
            else self.precision
        )

    def draw_precision(self, W: FloatArray, rng: Generator) -> float:
        """Draw the precision given the weights (K, d + 1), or return the known one.

        The entropies are of W alone, so that the Gamma prior is conjugate beside them.
        """
        if not isinstance(self.precision, tuple):
            return self.precision
        shape, rate = (
            self.precision[0] + W[:, :-1].size / 2,
            self.precision[1] + (W[:, :-1] ** 2).sum() / 2,
        )
        return float(rng.gamma(shape) / rate)

    def log_density(self, W: FloatArray, precision: float) -> float:
        """Log density of the weights (K, d + 1) and of a learned precision, without the entropies; free biases count 0."""
        value = _log_normal(W[:, :-1], precision)
        if self.bias_scale is not None:
            value += _log_normal(W[:, -1], self.bias_scale**-2)
        if isinstance(self.precision, tuple):
            shape, rate = self.precision
            value += (
                shape * np.log(rate)
                - gammaln(shape)
                + (shape - 1) * np.log(precision)
                - rate * precision
            )
        return float(value)

    def entropies(self, xp: Any, terms: ClassTerms) -> Any:
        """Return the log of the factor "separation", in nats, from what `class_terms` gave with the same `xp`."""
        balance = terms.balance
        if self.proportions is not None:
            balance = balance + (terms.mean * xp.log(xp.asarray(self.proportions))).sum()
        return self.balance * balance - self.separation * terms.separation

    @classmethod
    def from_paper(cls, n_answers: int, tau: float, penalty: float, balance: bool = True) -> Self:
        """Return the prior of Eq. 9 (with `balance`) or Eq. 8, multiplied by the number of answers.

        Parameters
        ----------
        n_answers : int
            M; without answers the objective is taken as it stands.
        tau : float
        penalty : float
            lambda, positive.
        balance : bool, default True

        Returns
        -------
        WeightPrior
        """
        m = max(n_answers, 1)
        return cls(2 * m * penalty, None, m * tau, m * tau * balance)


class ClassTerms(NamedTuple):
    """What the discriminative model says of all items."""

    log_p: Any  # (n, K), log P(y = k | x; W) (Eq. 6)
    ridge: Any  # R(W), the sum of squares of all weights but the biases
    separation: Any  # H(Y_U | X_U; W), 0 where no item is free
    balance: Any  # H(y^ | X; W)
    mean: Any  # (K,), y^: the mean class probabilities


def class_terms(xp: Any, W: Any, X: FloatArray, free: BoolArray) -> ClassTerms:
    """Class probabilities and the entropies of Eq. 8 and 9, in NumPy or JAX.

    Parameters
    ----------
    xp : module
        numpy or jax.numpy.
    W : array of shape (K, d + 1)
        Weights; the last column holds the biases.
    X : ndarray of shape (n, d)
    free : ndarray of bool, shape (n,)
        The items that no answer names.

    Returns
    -------
    ClassTerms
    """
    logits = X @ W[:, :-1].T + W[:, -1]
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - xp.log(xp.exp(shifted).sum(axis=1, keepdims=True))
    p = xp.exp(log_p)
    mean = p.mean(axis=0)
    balance = -(mean * xp.log(xp.maximum(mean, TINY))).sum()
    number = int(free.sum())
    separation = -(p * log_p)[np.flatnonzero(free)].sum() / number if number else 0.0
    return ClassTerms(log_p, (W[:, :-1] ** 2).sum(), separation, balance, mean)


def weight_site(prior: WeightPrior, number: int, d: int) -> Any:
    """Sample W (number, d + 1), and its precision where that is learned, inside a NumPyro program; returns W.

    Parameters
    ----------
    prior : WeightPrior
    number : int
        K.
    d : int

    Returns
    -------
    jax array of shape (K, d + 1)
    """
    jnp, numpyro, dist = numpyro_modules()
    precision = prior.precision
    if isinstance(precision, tuple):
        precision = numpyro.sample("precision", dist.Gamma(*precision))
    scale = jnp.full((number, d), precision**-0.5)
    if prior.bias_scale is not None:
        scale = jnp.concatenate([scale, jnp.full((number, 1), prior.bias_scale)], axis=1)
        return numpyro.sample("W", dist.Normal(0.0, scale).to_event(2))
    flat = dist.ImproperUniform(dist.constraints.real_matrix, (), (number, d + 1))
    W = numpyro.sample("W", flat)
    numpyro.factor("penalty", dist.Normal(0.0, scale).log_prob(W[:, :-1]).sum())
    return W


def _log_normal(values: FloatArray, precision: float) -> float:
    return float(
        0.5 * (values.size * np.log(precision / (2 * np.pi)) - precision * (values**2).sum())
    )


__all__ = ["ClassTerms", "WeightPrior", "class_terms", "weight_site"]
