"""DCRC as a NumPyro program.

| on paper (Pei et al.) | in code |
|---|---|
| W, its penalty lambda R(W) (Eq. 8) a Gaussian prior | site "W", and "precision" if learned |
| tau [H(y^) - H(Y_U)] (Eq. 9), unnormalised | factor "entropies" |
| y_i given x_i and W (Eq. 6) | site "z" in the plate "item" |
| epsilon ~ Beta; or rows of a confusion matrix ~ Dirichlet | site "noise" or "confusion" |
| l_t given y_t1, y_t2, y_t3 (Table I) | site "triplets_answer" in the plate "triplets_answers" |

The paper divides the log likelihood of its M answers by M; here all of its objective is multiplied
by M, and biases, which it leaves free, have a wide prior.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_int, check_items, check_positive, number_between
from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.models.sites import REDRAWN, constraint_sites, refuse_enumerated
from bayesclust.partition_priors import Parameter
from bayesclust.typing import ArrayLike, BoolArray


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
    precision: float | tuple[float, float] = 1.0,
    bias_scale: float = 10.0,
    separation: float = 0.0,
    balance: float = 0.0,
    observe: bool = True,
) -> None:
    """DCRC's model as a NumPyro program, for log_density, Predictive and render_model.

    The posterior of W beside that of the labels is drawn by `PartitionGibbs` beside NUTS.

    Parameters
    ----------
    X : array of shape (n, d)
        The items, which are given, not modelled; features on one scale.
    n_clusters : int
        K, at least 2.
    constraints : Constraints, sequence of Constraints or None
        Those named v are a site "v_answer".
    precision : float or (shape, rate), default 1.0
        Precision of the Gaussian prior of each weight but the biases, or its Gamma prior; the
        paper's with M answers is 2 M lambda.
    bias_scale : float, default 10.0
        Standard deviation of the biases.
    separation : float, default 0.0
        Weight, in nats, of the mean entropy H(Y_U) of the items that no answer names, against W;
        the paper's M tau.
    balance : float, default 0.0
        Nats that the entropy H(y^) of the mean class probabilities is worth; the same.
    observe : bool, default True
        Condition on the answers; False leaves them to be simulated.

    Raises
    ------
    ValueError
        If the labels z arrive enumerated, and for bad input, as in `bayesclust.DCRC`.

    Examples
    --------
    >>> import numpy as np
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
    import jax

    items = check_items(X, least=1)
    number = check_int(n_clusters, "n_clusters", least=2)
    answered = check_constraints(constraints, len(items))
    known = Parameter.parse(precision, "precision")
    bias = check_positive(bias_scale, "bias_scale")
    against = number_between(separation, "separation", "[0, inf)")
    worth = number_between(balance, "balance", "[0, inf)")

    tightness = known.fixed
    if tightness is None:
        tightness = numpyro.sample("precision", dist.Gamma(known.a, known.b))
    scale = jnp.append(jnp.full(items.shape[1], tightness**-0.5), bias)
    W = numpyro.sample("W", dist.Normal(0.0, scale).expand([number, len(scale)]).to_event(2))
    log_p = jax.nn.log_softmax(items @ W[:, :-1].T + W[:, -1])
    if against or worth:
        p = jnp.exp(log_p)
        mean = p.mean(axis=0)
        value = -worth * (mean * jnp.log(mean + jnp.finfo(mean.dtype).tiny)).sum()
        free = np.flatnonzero(unnamed(answered, len(items)))
        if len(free):
            value += against * (p * log_p)[free].sum() / len(free)
        numpyro.factor("entropies", value)
    with numpyro.plate("item", len(items)):
        z = numpyro.sample("z", dist.Categorical(logits=log_p), infer=REDRAWN)
        refuse_enumerated(z, len(items))
    constraint_sites(answered, z, observe=observe)
