"""Constraints as a part of any NumPyro program that has labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesclust._numpyro import numpyro_modules
from bayesclust.constraints.base import (
    Constraints,
    check_constraints,
    equality_patterns,
    pattern_shares,
)
from bayesclust.constraints.noise import DirichletNoise, NoiseModel, Pool, Rows
from bayesclust.constraints.stored import noise_names

REDRAWN = {
    "enumerate": "never, as answers tie labels together: redraw it by bayesclust.PartitionGibbs "
    "beside NUTS in numpyro.infer.Gibbs, or take tvclust_marginal for SVI"
}
"""The mark of sites of labels, which NumPyro's refusal to sum over them quotes."""


def constraint_sites(
    constraints: Constraints | Sequence[Constraints] | None, z: Any, *, observe: bool = True
) -> None:
    """Let answers depend on the labels of a NumPyro program of your own.

    Call it once in the program, outside its plates; `PartitionGibbs` redraws the labels. For
    constraints named v it samples the parameters of their noise, one of each per source ("p" and
    "q", "noise" or "confusion"; those of the second constraints of a kind are "p_v" and so on), and
    the answers as site "<v>_answer" in the plate "<v>_answers", with probability C[source, truth,
    answer] (for pairs TVClust Eq. 8).

    Parameters
    ----------
    constraints : Constraints, sequence of Constraints or None
    z : array of shape (n,), or of real numbers (n, K)
        Labels, from a site of the program; or, for SVI, the probabilities of each label in a mean
        field: the answers are then a factor "<v>_answer", their expected log probability.
    observe : bool, default True
        Condition on the answers; False leaves them to be simulated.

    Raises
    ------
    TypeError, ValueError
        If constraints are of another type or on another number of items, or have a noise model
        other than a `DirichletNoise`; or the labels arrive enumerated.

    Examples
    --------
    >>> import jax, numpyro
    >>> import jax.numpy as jnp
    >>> import numpyro.distributions as dist
    >>> import bayesclust as bc
    >>> def mixture(x, links):
    ...     with numpyro.plate("component", 3):
    ...         mean = numpyro.sample("mean", dist.Normal(0, 5))
    ...     with numpyro.plate("item", len(x)):
    ...         z = numpyro.sample("z", dist.Categorical(jnp.ones(3) / 3))
    ...         numpyro.sample("x", dist.Normal(mean[z], 1), obs=x)
    ...     bc.constraint_sites(links, z)
    >>> links = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=3)
    >>> program = numpyro.handlers.seed(mixture, jax.random.key(0))
    >>> list(numpyro.handlers.trace(program).get_trace(jnp.array([0.1, 0.3, 4.0]), links))
    ['component', 'mean', 'item', 'z', 'x', 'p', 'q', 'links_answers', 'links_answer']
    """
    jnp, numpyro, dist = numpyro_modules()
    soft = jnp.ndim(z) == 2 and jnp.issubdtype(jnp.result_type(z), jnp.floating)
    if not soft:
        refuse_enumerated(z)
    answered = check_constraints(constraints, jnp.shape(z)[0])
    for one, names in zip(answered, noise_names(answered), strict=True):
        confusion = noise_sites(one.noise, names, one.n_sources)
        if len(one) == 0:
            continue
        # as in NoiseModel.log_table, an impossible answer has the smallest positive probability
        log_confusion = jnp.log(jnp.maximum(confusion, jnp.finfo(confusion.dtype).tiny))
        if soft:
            each = log_confusion[one.source, one.truth[:, None], one.answers]
            numpyro.factor(f"{one.name}_answer", (pattern_shares(z, one.items, jnp) * each).sum())
            continue
        truth = jnp.asarray(one.truth)[equality_patterns(z[one.items], jnp)]
        observed = one.answers.astype(np.int64) if observe else None
        with numpyro.plate(answers_plate(one), len(one)):
            given = dist.Categorical(logits=log_confusion[one.source, truth])
            numpyro.sample(f"{one.name}_answer", given, obs=observed)


def refuse_enumerated(z: Any, n_items: int | None = None) -> None:
    """Raise where labels do not have the shape (n,), those of `n_items` if it is known."""
    jnp, _, _ = numpyro_modules()
    shape = jnp.shape(z)
    if len(shape) != 1 or n_items not in (None, shape[0]):
        raise ValueError(
            f"the labels z have shape {shape}, not one axis of items: if they arrived enumerated, "
            "answers tie labels together, so that summing them out one by one is wrong, and "
            "bayesclust.PartitionGibbs redraws z beside NUTS in numpyro.infer.Gibbs; if not, let "
            "the plate of the items be the innermost, dim=-1."
        )


def answers_plate(constraints: Constraints) -> str:
    """Return the name of the plate of the answers."""
    return f"{constraints.name}_answers"


def noise_sites(noise: NoiseModel, names: Mapping[str, str], n_sources: int) -> Any:
    """Sample the parameters under their site names; return p(answer | truth), (S, T, A)."""
    jnp, numpyro, dist = numpyro_modules()
    if not isinstance(noise, DirichletNoise):
        raise TypeError(
            f"{type(noise).__name__} has no NumPyro part: write it as a DirichletNoise, "
            "whose sites follow from its priors."
        )
    initial = noise.initial(n_sources)
    params = {}
    for name, rows in noise.rows.items():
        if not rows.free:
            params[name] = numpyro.deterministic(names[name], jnp.asarray(initial[name]))
            continue
        if noise.pool is not None:
            params[name] = pooled_site(names[name], noise.pool, rows, n_sources)
            continue
        if rows.is_rate:
            a, b = (weight * jnp.ones(n_sources) for weight in rows.values[0].tolist())
            given = dist.Beta(a, b).to_event(1)
        else:
            weights = jnp.broadcast_to(jnp.asarray(rows.values), (n_sources, *rows.values.shape))
            given = dist.Dirichlet(weights).to_event(2)
        params[name] = numpyro.sample(names[name], given)
    return noise.confusion(params, xp=jnp)


def pooled_site(name: str, pool: Pool, rows: Rows, n_sources: int) -> Any:
    """Sample rates, or rows by their rates at site "<name>_rates", under a mixture of crowds."""
    jnp, numpyro, dist = numpyro_modules()
    own = np.flatnonzero(pool.hit[rows.kinds].any(axis=0))
    at: Any = own[0] if rows.is_rate else own
    betas = pool.betas[at][..., None, :] * np.ones((n_sources, 1))  # (..., G, S, 2)
    crowds = dist.Categorical(logits=jnp.asarray(pool.log_mass[at]))
    sources = dist.Beta(jnp.asarray(betas[..., 0]), jnp.asarray(betas[..., 1])).to_event(1)
    given = dist.MixtureSameFamily(crowds, sources)
    if rows.is_rate:
        return numpyro.sample(name, given)
    x = numpyro.sample(f"{name}_rates", given.to_event(1)).T  # (S, J)
    logs = (
        jnp.log(x) @ pool.hit[rows.kinds][:, own].T
        + jnp.log1p(-x) @ pool.miss[rows.kinds][:, own].T
    )
    return numpyro.deterministic(name, jnp.exp(logs).reshape(n_sources, *rows.values.shape))
