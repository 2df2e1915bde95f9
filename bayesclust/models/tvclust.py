"""TVClust as a NumPyro program.

| on paper (Khashabi et al.) | in code |
|---|---|
| alpha | site "concentration" |
| pi, DP by sticks (Eq. 2) | site "stick", deterministic "weight" |
| theta_k* ~ G0 (Eq. 7) | sites of `component_sites` in the plate "component" |
| z_i | site "z" in the plate "item" |
| x_i given theta_{z_i} (Eq. 3, 4) | site "x" |
| p, q ~ Beta | sites "p", "q" |
| E_ij given z, p, q (Eq. 8) | site "links_answer" |

The two lines before Eq. 8 misprint p(E | H = 1); Eq. 8 itself, which is used here, is right.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from bayesclust.checks import check_int, check_items, check_views
from bayesclust.constraints.base import View
from bayesclust.models._numpyro import load
from bayesclust.models.components import component_sites, observed
from bayesclust.models.families import Family, HyperPrior, get_family
from bayesclust.models.joint import noise_names
from bayesclust.models.noise_sites import noise_sites
from bayesclust.models.priors import Concentration
from bayesclust.typing import ArrayLike


def tvclust(
    X: ArrayLike,
    views: View | Sequence[View] | None = None,
    family: str | Family = "gaussian",
    concentration: float | tuple[float, float] = (1.0, 1.0),
    truncation: int = 20,
    observe: bool = True,
) -> None:
    """TVClust's generative model, a NumPyro program.

    Parameters
    ----------
    X : array of shape (n, d)
        The items. The base measure takes its units from them even where they are not observed.
    views : View, sequence of View or None
        Answers about the items; each view is a site "<name>_answer".
    family : str or Family, default "gaussian"
        Likelihood of a cluster, as in `bayesclust.TVClust`.
    concentration : float or (shape, rate), default (1.0, 1.0)
        alpha, or its Gamma prior.
    truncation : int, default 20
        Number of sticks; the last takes what is left. The share that truncation cuts off is about
        exp(-(truncation - 1) / alpha).
    observe : bool, default True
        Condition on X and the answers; False leaves them to be simulated.

    Raises
    ------
    ValueError
        If the labels z arrive enumerated. NumPyro sums out discrete sites one by one, which is silently wrong for labels
        that answers tie together: use a sampler of this package, or a Gibbs kernel that proposes values of z.

    Examples
    --------
    >>> import jax, numpy as np
    >>> import numpyro.infer
    >>> from bayesclust.models import tvclust
    >>> prior = numpyro.infer.Predictive(tvclust, num_samples=3)
    >>> draws = prior(jax.random.key(0), np.arange(10.0).reshape(5, 2), observe=False)
    >>> draws["z"].shape, draws["x"].shape
    ((3, 5), (3, 5, 2))
    """
    lib = load()
    numpyro, dist, jnp = lib.numpyro, lib.dist, lib.jnp
    items = check_items(X)
    answered = check_views(list(views) if isinstance(views, tuple) else views, len(items))
    bound = get_family(family).bind(items)
    T = check_int(truncation, "truncation", least=2)
    hyper = {prior.name: _hyper_site(prior) for prior in bound.hyper_priors}
    alpha = _concentration_site(Concentration.parse(concentration))
    stick = numpyro.sample("stick", dist.Beta(jnp.ones(T - 1), alpha * jnp.ones(T - 1)).to_event(1))
    # pi_k = v_k prod_{j<k} (1 - v_j)
    left = jnp.concatenate([jnp.ones(1), jnp.cumprod(1 - stick)])
    weight = numpyro.deterministic("weight", jnp.append(stick, 1.0) * left)
    with numpyro.plate("component", T):
        likelihood = component_sites(bound, hyper)
    with numpyro.plate("item", len(items)):
        z = numpyro.sample("z", dist.Categorical(probs=weight))
        if jnp.ndim(z) != 1:
            raise ValueError(
                f"the labels z arrived enumerated, with shape {jnp.shape(z)}: answers tie labels together, so summing them "
                "out one by one is wrong; infer z by bayesclust.TVClust or a Gibbs kernel for discrete sites."
            )
        numpyro.sample("x", likelihood(z), obs=observed(bound, items) if observe else None)
    for view, names in zip(answered, noise_names(answered), strict=True):
        _answer_site(view, names, z, observe)


def _hyper_site(prior: HyperPrior) -> Any:
    lib = load()
    if prior.log_sd == 0:
        return prior.median
    logarithm = lib.dist.Normal(np.log(prior.median), prior.log_sd)
    if prior.least > 0:
        logarithm = lib.dist.TruncatedNormal(np.log(prior.median), prior.log_sd, low=np.log(prior.least))
    return lib.numpyro.sample(prior.name, lib.dist.TransformedDistribution(logarithm, lib.dist.transforms.ExpTransform()))


def _concentration_site(prior: Concentration) -> Any:
    lib = load()
    if prior.fixed is not None:
        return prior.fixed
    return lib.numpyro.sample("concentration", lib.dist.Gamma(prior.shape, prior.rate))


def _answer_site(view: View, names: dict[str, str], z: Any, observe: bool) -> None:
    """p(answer | z) = C[source, truth(pattern of the items' labels), answer]."""
    lib = load()
    confusion = noise_sites(view.noise, names, view.n_sources)
    truth = lib.jnp.asarray(view.truth)[_patterns(z, view.items)]
    with lib.numpyro.plate(f"{view.name}_answers", len(view)):
        given = lib.dist.Categorical(probs=confusion[view.source, truth])
        lib.numpyro.sample(f"{view.name}_answer", given, obs=view.answers.astype(int) if observe else None)


def _patterns(z: Any, items: Any) -> Any:
    """Equality patterns as in `bayesclust.constraints.patterns`, in JAX."""
    jnp = load().jnp
    first, second = z[items[:, 0]], z[items[:, 1]]
    if items.shape[1] == 2:
        return jnp.where(first == second, 0, 1)
    third = z[items[:, 2]]
    apart = jnp.where(first == third, 2, jnp.where(second == third, 3, 4))
    return jnp.where(first == second, jnp.where(second == third, 0, 1), apart)


class _Program(ModuleType):
    """This module, callable: whichever of the two the name bayesclust.models.tvclust reaches, it is the program."""

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        tvclust(*args, **kwargs)


sys.modules[__name__].__class__ = _Program
