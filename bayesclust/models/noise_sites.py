"""Noise models of the answers as NumPyro code: sites of the parameters, and p(answer | truth) by source.

A noise model of your own registers a function of its class with ``noise_sites.register``.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from bayesclust._numpyro import numpyro_modules
from bayesclust.constraints import ConfusionNoise, LinkNoise, NoiseModel, UniformNoise


@singledispatch
def noise_sites(noise: NoiseModel, names: dict[str, str], n_sources: int) -> Any:
    """Sample the parameters; return p(answer | truth), shape (sources, truth, answer).

    Parameters
    ----------
    noise : NoiseModel
    names : dict
        Site names by parameter.
    n_sources : int

    Returns
    -------
    jax array

    Raises
    ------
    TypeError
        If the noise model has no NumPyro part.
    """
    raise TypeError(
        f"{type(noise).__name__} has no NumPyro part: register one with noise_sites.register."
    )


def _beta(name: str, prior: tuple[float, float] | float, n_sources: int) -> Any:
    jnp, numpyro, dist = numpyro_modules()
    if not isinstance(prior, tuple):
        return numpyro.deterministic(name, jnp.full(n_sources, prior))
    ones = jnp.ones(n_sources)
    return numpyro.sample(name, dist.Beta(prior[0] * ones, prior[1] * ones).to_event(1))


@noise_sites.register
def _link(noise: LinkNoise, names: dict[str, str], n_sources: int) -> Any:
    # rows: truth different, same; columns: answer different, same (TVClust, before Eq. 8,
    # corrected)
    jnp, _, _ = numpyro_modules()
    if noise.informative and noise.free:
        p, q = _informative_pair(noise, names, n_sources)
    else:
        p, q = _beta(names["p"], noise.p, n_sources), _beta(names["q"], noise.q, n_sources)
    return jnp.stack([jnp.stack([q, 1 - q], axis=-1), jnp.stack([1 - p, p], axis=-1)], axis=-2)


def _informative_pair(noise: LinkNoise, names: dict[str, str], n_sources: int) -> tuple[Any, Any]:
    """p and q given p + q > 1: q from its marginal, then p given q, so that both stay sites that can be sampled.

    Not as one event of all sources: NumPyro would then overlook that the support moves with the
    other site.
    """
    _, numpyro, _ = numpyro_modules()
    from bayesclust.models import _cut_betas as cut

    if not isinstance(noise.p, tuple):
        p = _beta(names["p"], noise.p, n_sources)
        return p, numpyro.sample(names["q"], cut.BetaAbove(*noise.q, 1 - p))  # type: ignore[misc]
    if isinstance(noise.q, tuple):
        marginal = cut.BetaWithPartner(noise.q, noise.p, noise.log_mass, n_sources)
        q = numpyro.sample(names["q"], marginal.to_event(1))
    else:
        q = _beta(names["q"], noise.q, n_sources)
    return numpyro.sample(names["p"], cut.BetaAbove(*noise.p, 1 - q)), q


@noise_sites.register
def _uniform(noise: UniformNoise, names: dict[str, str], n_sources: int) -> Any:
    # DCRC, Table I: right with probability 1 - eps, each of the two wrong answers with eps / 2
    jnp, numpyro, _ = numpyro_modules()
    if noise.informative and isinstance(noise.eps, tuple):
        from bayesclust.models._cut_betas import BetaBelow

        below = BetaBelow(*noise.eps, jnp.full(n_sources, 2 / 3))
        eps = numpyro.sample(names["noise"], below.to_event(1))[:, None, None]
    else:
        eps = _beta(names["noise"], noise.eps, n_sources)[:, None, None]
    right = jnp.eye(3)
    return right * (1 - eps) + (1 - right) * eps / 2


@noise_sites.register
def _confusion(noise: ConfusionNoise, names: dict[str, str], n_sources: int) -> Any:
    jnp, numpyro, dist = numpyro_modules()
    if noise.prior is None:
        matrix = np.broadcast_to(np.array(noise.matrix), (n_sources, 3, 3))
        return numpyro.deterministic(names["confusion"], jnp.asarray(matrix))
    prior = jnp.broadcast_to(jnp.asarray(noise.prior), (n_sources, 3, 3))
    return numpyro.sample(names["confusion"], dist.Dirichlet(prior).to_event(2))
