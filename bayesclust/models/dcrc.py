"""DCRC as a NumPyro program, and its exact log joint.

| on paper (Pei et al.) | in code |
|---|---|
| W, with its penalty lambda R(W) (Eq. 8) as a Gaussian prior | site "W", and "precision" where that is learned |
| tau [H(y^) - H(Y_U)] (Eq. 9), unnormalised | factor "separation" |
| y_i given x_i and W (Eq. 6) | site "z" in the plate "item" |
| epsilon ~ Beta; or rows of a confusion matrix ~ Dirichlet | site "noise" or "confusion", one per source |
| l_t given y_t1, y_t2, y_t3 (Table I) | site "triplets_answer" in the plate "triplets_answers" |

The paper divides the log likelihood of its M answers by M. As a model, all of its objective is
multiplied by M: the prior of the weights has precision 2 M lambda, and the entropies weigh M tau
(`WeightPrior.from_paper`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_int, check_items, item_labels, real_array
from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.models.dcrc_weights import WeightPrior, class_terms, weight_site
from bayesclust.models.sites import constraint_sites, refuse_enumerated
from bayesclust.typing import ArrayLike, BoolArray, FloatArray


def unnamed(constraints: Sequence[Constraints], n_items: int) -> BoolArray:
    """Which items no answer names: the set U of the paper.

    Parameters
    ----------
    constraints : sequence of Constraints
    n_items : int

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    free = np.ones(n_items, dtype=np.bool_)
    for view in constraints:
        free[view.items] = False
    return free


def dcrc(
    X: ArrayLike,
    n_clusters: int,
    constraints: Constraints | Sequence[Constraints] | None = None,
    prior: WeightPrior | None = None,
    observe: bool = True,
) -> None:
    """DCRC's model, a NumPyro program: log_density, Predictive and render_model work on it.

    Parameters
    ----------
    X : array of shape (n, d)
        The items, which are given, not modelled. Features on one scale suit the one precision of
        all weights.
    n_clusters : int
        K, at least 2.
    constraints : Constraints, sequence of Constraints or None
        Answers about triplets or pairs; each view is a site "<name>_answer", with its own noise
        model.
    prior : WeightPrior or None
        Prior of W; None is ``WeightPrior()``: standard normal weights, no entropies.
    observe : bool, default True
        Condition on the answers; False leaves them to be simulated.

    Raises
    ------
    ValueError
        If the labels z arrive enumerated: NumPyro sums out discrete sites one by one, which is
        silently wrong for labels that answers tie together. Also for bad input, as in
        `bayesclust.DCRC`.

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
    W = weight_site(prior, number, items.shape[1])
    terms = class_terms(jnp, W, items, unnamed(answered, len(items)))
    if prior.separation or prior.balance:
        numpyro.factor("separation", prior.entropies(jnp, terms))
    with numpyro.plate("item", len(items)):
        z = numpyro.sample("z", dist.Categorical(logits=terms.log_p))
        refuse_enumerated(z, len(items))
    constraint_sites(answered, z, observe=observe)


def _check_weights(W: ArrayLike, d: int) -> FloatArray:
    weights: FloatArray = real_array(W, "W")
    if weights.ndim != 2 or len(weights) == 0 or weights.shape[1] != d + 1:
        raise ValueError(
            f"W must have shape (K, {d + 1}), the biases last; got {weights.shape}: pass one row per class."
        )
    if not np.isfinite(weights).all():
        raise ValueError("W has entries that are not finite: pass real numbers.")
    return weights


def dcrc_log_joint(
    W: ArrayLike,
    z: ArrayLike,
    X: ArrayLike,
    constraints: Sequence[Constraints] = (),
    noise: Sequence[Mapping[str, Any]] = (),
    prior: WeightPrior | None = None,
    precision: float | None = None,
) -> float:
    """log p(W) + log p(z | X, W) + log p(answers | z, noise) + log p(noise), the twin of the program `dcrc`.

    Parameters
    ----------
    W : array of shape (K, d + 1)
        Weights, the biases last.
    z : array of int, shape (n,)
        Labels in 0..K-1.
    X : array of shape (n, d)
    constraints : sequence of Constraints
    noise : sequence of mappings
        Noise parameters of each view.
    prior : WeightPrior or None
        As in `dcrc`.
    precision : float or None, default None
        That of the weights, where the prior learns it; None takes its prior mean.

    Returns
    -------
    float
        Entropies of the prior count unnormalised, as they do in the program; free biases count 0.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.zeros((2, 2))
    >>> dcrc_log_joint(W, [0, 1], [[1.0], [2.0]])  # two fair coins, four weights at the mode of their priors
    -9.667
    """
    prior = WeightPrior() if prior is None else prior
    items, weights = check_items(X, least=1), _check_weights(W, np.shape(X)[1])
    labels = item_labels(z, len(items), "z")
    if labels.ndim != 1 or labels.min() < 0 or labels.max() >= len(weights):
        raise ValueError(
            f"z must hold one label from 0 to {len(weights) - 1} for each of the {len(items)} items."
        )
    terms = class_terms(np, weights, items, unnamed(constraints, len(items)))
    value = prior.entropies(np, terms)
    value += prior.log_density(weights, prior.first_precision if precision is None else precision)
    value += terms.log_p[np.arange(len(items)), labels].sum()
    for view, params in zip(constraints, noise, strict=True):
        value += view.log_prob(labels, params) + view.noise.log_prior(params)
    return float(value)


__all__ = ["dcrc", "dcrc_log_joint", "unnamed"]
