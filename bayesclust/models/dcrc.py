"""DCRC as a NumPyro program, and its exact log joint.

| on paper (Pei et al.) | in code |
|---|---|
| W, its penalty lambda R(W) (Eq. 8) a Gaussian prior | site "W", and "precision" if learned |
| tau [H(y^) - H(Y_U)] (Eq. 9), unnormalised | factor "separation" |
| y_i given x_i and W (Eq. 6) | site "z" in the plate "item" |
| epsilon ~ Beta; or rows of a confusion matrix ~ Dirichlet | site "noise" or "confusion" |
| l_t given y_t1, y_t2, y_t3 (Table I) | site "triplets_answer" in the plate "triplets_answers" |

The paper divides the log likelihood of its M answers by M; here all of its objective is multiplied
by M, and biases, which it leaves free, have a wide prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_int, check_items, check_positive, item_labels, number_between
from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.models.joint import log_constraints
from bayesclust.models.sites import constraint_sites, refuse_enumerated
from bayesclust.partition_priors import Parameter
from bayesclust.typing import ArrayLike, BoolArray, FloatArray

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class WeightPrior:
    """Prior of the weights W of the classifier: a Gaussian, and entropies of the classes.

    Parameters
    ----------
    precision : float or (shape, rate), default 1.0
        Of the Gaussian prior of each weight but the biases, or its Gamma prior; the paper's with
        M answers is 2 M lambda.
    bias_scale : float, default 10.0
        Standard deviation of the biases.
    separation : float, default 0.0
        Nats by which a mean entropy H(Y_U) of the items that no answer names is held against W;
        the paper's M tau.
    balance : float, default 0.0
        Nats that the entropy H(y^) of the mean class probabilities is worth; the same.
    proportions : tuple of K floats or None, default None
        Sizes of the clusters that `balance` draws to: -KL(y^ || proportions) instead of H(y^).

    Raises
    ------
    TypeError, ValueError
        If precision or scale is not positive, a weight is negative, or proportions are not positive
        with sum 1.

    Notes
    -----
    The entropies lie between 0 and log K, so that the prior of W given X is proper.

    Examples
    --------
    >>> WeightPrior(precision=3.125, separation=100.0, balance=100.0)
    WeightPrior(precision=3.125, bias_scale=10.0, separation=100.0, balance=100.0, proportions=None)
    """

    precision: float | tuple[float, float] = 1.0
    bias_scale: float = 10.0
    separation: float = 0.0
    balance: float = 0.0
    proportions: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        Parameter.parse(self.precision, "precision")
        check_positive(self.bias_scale, "bias_scale")
        for name in ("separation", "balance"):
            number_between(getattr(self, name), name, "[0, inf)")
        if self.proportions is not None:
            sizes = np.asarray(self.proportions, dtype=np.float64)
            if sizes.ndim != 1 or not (sizes > 0).all() or abs(sizes.sum() - 1) > 1e-8:
                raise ValueError(
                    "proportions must be positive, one per cluster, with sum 1; "
                    f"got {self.proportions!r}."
                )

    @cached_property
    def prior_precision(self) -> Parameter:
        """The precision, known or with its prior."""
        return Parameter.parse(self.precision, "precision")

    def draw_precision(self, W: FloatArray, rng: Generator) -> float:
        """Draw the precision given the weights (K, d + 1), or return the known one."""
        prior = self.prior_precision
        if prior.fixed is not None:
            return prior.fixed
        shape = prior.a + W[:, :-1].size / 2
        rate = prior.b + (W[:, :-1] ** 2).sum() / 2
        return float(rng.gamma(shape) / rate)

    def log_density(self, W: FloatArray, precision: float) -> float:
        """Log density of weights (K, d + 1) and a learned precision, without the entropies."""
        value = _log_normal(W[:, :-1], precision) + _log_normal(W[:, -1], self.bias_scale**-2)
        return float(value + self.prior_precision.log_prior(precision))

    def entropies(self, xp: Any, terms: ClassTerms) -> Any:
        """Log of the factor "separation", from what `class_terms` gave with the same `xp`."""
        balance = terms.balance
        if self.proportions is not None:
            balance = balance + (terms.mean * xp.log(xp.asarray(self.proportions))).sum()
        return self.balance * balance - self.separation * terms.separation


class ClassTerms(NamedTuple):
    """What the discriminative model says of all items."""

    log_p: Any  # (n, K), log P(y = k | x; W) (Eq. 6)
    ridge: Any  # R(W), the sum of squares of all weights but the biases
    separation: Any  # H(Y_U | X_U; W), 0 where no item is free
    balance: Any  # H(y^ | X; W)
    mean: Any  # (K,), y^: the mean class probabilities


def class_terms(xp: Any, W: Any, X: FloatArray, free: BoolArray) -> ClassTerms:
    """Class probabilities and entropies of Eq. 8 and 9; `free` (n,) are items without an answer."""
    logits = X @ W[:, :-1].T + W[:, -1]
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - xp.log(xp.exp(shifted).sum(axis=1, keepdims=True))
    p = xp.exp(log_p)
    mean = p.mean(axis=0)
    balance = -(mean * xp.log(xp.maximum(mean, TINY))).sum()
    number = int(free.sum())
    separation = -(p * log_p)[np.flatnonzero(free)].sum() / number if number else 0.0
    return ClassTerms(log_p, (W[:, :-1] ** 2).sum(), separation, balance, mean)


def _weight_site(prior: WeightPrior, number: int, d: int) -> Any:
    """Sample W (number, d + 1), and its precision where that is learned; returns W."""
    jnp, numpyro, dist = numpyro_modules()
    known = prior.prior_precision
    precision: Any = known.fixed
    if known.fixed is None:
        precision = numpyro.sample("precision", dist.Gamma(known.a, known.b))
    scales = [jnp.full((number, d), precision**-0.5), jnp.full((number, 1), prior.bias_scale)]
    scale = jnp.concatenate(scales, axis=1)
    return numpyro.sample("W", dist.Normal(0.0, scale).to_event(2))


def _log_normal(values: FloatArray, precision: float) -> float:
    log_scale = values.size * np.log(precision / (2 * np.pi))
    return float(0.5 * (log_scale - precision * (values**2).sum()))


def unnamed(constraints: Sequence[Constraints], n_items: int) -> BoolArray:
    """Which items no answer names, (n,): the set U of the paper."""
    free = np.ones(n_items, dtype=np.bool_)
    for one in constraints:
        free[one.items] = False
    return free


def dcrc(
    X: ArrayLike,
    n_clusters: int,
    constraints: Constraints | Sequence[Constraints] | None = None,
    prior: WeightPrior | None = None,
    observe: bool = True,
) -> None:
    """DCRC's model, a NumPyro program: log_density, Predictive and render_model take it.

    Parameters
    ----------
    X : array of shape (n, d)
        The items, which are given, not modelled; features on one scale.
    n_clusters : int
        K, at least 2.
    constraints : Constraints, sequence of Constraints or None
        Those named v are a site "v_answer".
    prior : WeightPrior or None
        Prior of W; None is ``WeightPrior()``: standard normal weights, no entropies.
    observe : bool, default True
        Condition on the answers; False leaves them to be simulated.

    Raises
    ------
    ValueError
        If the labels z arrive enumerated, and for bad input, as in `bayesclust.DCRC`.

    Examples
    --------
    >>> import jax, numpy as np
    >>> import numpyro.infer
    >>> import bayesclust as bc
    >>> from bayesclust.models.dcrc import dcrc
    >>> triplets = bc.RelativeConstraints([(0, 1, 4)], ["yes"], n_items=5)
    >>> prior = numpyro.infer.Predictive(dcrc, num_samples=3)
    >>> draws = prior(jax.random.key(0), np.arange(10.0).reshape(5, 2), 2, triplets, observe=False)
    >>> draws["W"].shape, draws["z"].shape, draws["triplets_answer"].shape
    ((3, 2, 3), (3, 5), (3, 1))
    """
    jnp, numpyro, dist = numpyro_modules()
    items = check_items(X, least=1)
    number = check_int(n_clusters, "n_clusters", least=2)
    answered = check_constraints(constraints, len(items))
    prior = WeightPrior() if prior is None else prior
    W = _weight_site(prior, number, items.shape[1])
    terms = class_terms(jnp, W, items, unnamed(answered, len(items)))
    if prior.separation or prior.balance:
        numpyro.factor("separation", prior.entropies(jnp, terms))
    with numpyro.plate("item", len(items)):
        z = numpyro.sample("z", dist.Categorical(logits=terms.log_p))
        refuse_enumerated(z, len(items))
    constraint_sites(answered, z, observe=observe)


def dcrc_log_joint(
    W: ArrayLike,
    z: ArrayLike,
    X: ArrayLike,
    constraints: Sequence[Constraints] = (),
    noise: Sequence[Mapping[str, Any]] = (),
    prior: WeightPrior | None = None,
    precision: float | None = None,
) -> float:
    """log p(W) + log p(z | X, W) + log p(answers | z, noise) + log p(noise), as `dcrc` has it.

    Parameters
    ----------
    W : array of shape (K, d + 1)
        Weights, the biases last.
    z : array of int, shape (n,)
        Labels in 0..K-1.
    X, constraints, prior
        As in `dcrc`.
    noise : sequence of mappings
        Noise parameters of each constraint object.
    precision : float or None, default None
        That of the weights, where the prior learns it; None takes its prior mean.

    Returns
    -------
    float
        Entropies of the prior count unnormalised, as they do in the program.

    Examples
    --------
    >>> W = np.zeros((2, 2))
    >>> dcrc_log_joint(W, [0, 1], [[1.0], [2.0]])  # two fair coins, weights at their modes
    -9.667
    """
    prior = WeightPrior() if prior is None else prior
    items = check_items(X, least=1)
    weights = check_items(W, name="W", least=1)
    if weights.shape[1] != items.shape[1] + 1:
        raise ValueError(
            f"W must have shape (K, {items.shape[1] + 1}), the biases last; got {weights.shape}: "
            "pass one row per class."
        )
    labels = item_labels(z, len(items), "z")
    if labels.ndim != 1 or labels.min() < 0 or labels.max() >= len(weights):
        raise ValueError(
            f"z must hold one label from 0 to {len(weights) - 1} for each of the {len(items)} "
            "items."
        )
    terms = class_terms(np, weights, items, unnamed(constraints, len(items)))
    value = prior.entropies(np, terms)
    known = prior.prior_precision.initial if precision is None else precision
    value += prior.log_density(weights, known)
    value += terms.log_p[np.arange(len(items)), labels].sum()
    return float(value + log_constraints(labels, constraints, noise))
