"""TVClust as NumPyro programs: clusters that are components, and clusters that are mixtures.

| on paper (Khashabi et al.) | in code |
|---|---|
| alpha ~ Gamma | site "concentration" |
| G ~ DP(alpha, G0) (Eq. 1), by truncated sticks | site "stick", deterministic "weight" |
| theta_k* ~ G0 (Eq. 7) | sites of `BoundFamily.component_sites` in the plate "component" |
| z_i, with theta_i = theta*_{z_i} (Eq. 2, with G kept) | site "z" in the plate "item" |
| x_i given theta_i (Eq. 3, 4) | site "x" in the plate "item" |
| p, q ~ Beta (after Eq. 8) | sites "p", "q", one of each per source |
| E_ij given H_ij = 1[z_i = z_j], p, q (Eq. 8) | site "links_answer" in the plate "links_answers" |

ERRATUM: the display before Eq. 8 should read p(E = 1 | H = 1) = p and p(E = 0 | H = 1) = 1 - p in
its first two lines; Eq. 8 itself, which is used here, is right. The hyper-parameters of G0 are
sites under their own names ("base_scale" and so on).

A cluster g that is a mixture is a Dirichlet-process mixture of components of the family
(Malsiner-Walli, Fruehwirth-Schnatter and Gruen 2017, with processes in the place of finite
mixtures), and answers are about clusters:

    alpha, beta ~ Gamma,    z_i ~ sticks(alpha),    c_i | z_i = g ~ sticks_g(beta),
    theta_gc ~ G0,          x_i ~ p(. | theta_{z_i c_i})
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_int, check_items, number_between
from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.families import Family, HyperPrior, get_family
from bayesclust.models.sites import REDRAWN, constraint_sites, refuse_enumerated
from bayesclust.partition_priors import KnownK, Nested, PartitionPrior, as_nested, as_prior
from bayesclust.typing import ArrayLike


def tvclust(
    X: ArrayLike,
    constraints: Constraints | Sequence[Constraints] | None = None,
    family: str | Family = "gaussian",
    partition_prior: PartitionPrior | None = None,
    truncation: int = 20,
    observe: bool = True,
    power: float = 1.0,
) -> None:
    """TVClust's model as a NumPyro program, for log_density, Predictive and render_model.

    Parameters
    ----------
    X : array of shape (n, d)
        The items, from which the base measure takes its units even where they are not observed.
    constraints : Constraints, sequence of Constraints or None
        Answers about the items; those named v are a site "v_answer".
    family : str or Family, default "gaussian"
        Likelihood of a cluster.
    partition_prior : DirichletProcess, PitmanYor, KnownK or None, default None
        Prior over partitions, by its sticks or, of a known number of clusters, Dirichlet weights.
        None is the Dirichlet process.
    truncation : int, default 20
        Number of sticks T; the last takes what is left. The partition of n items differs from that
        of the Dirichlet process by at most n (alpha / (1 + alpha))^(T - 1) in total variation.
    observe : bool, default True
        Condition on X and the answers; False leaves them to be simulated.
    power : float in (0, 1], default 1.0
        What an observed item weighs in the likelihood (Miller and Dunson 2019, Sec. 3).

    Raises
    ------
    ValueError
        If the labels z arrive enumerated, which is silently wrong for labels that answers tie
        together: use `PartitionGibbs`. Also for bad input, as in `bayesclust.TVClust`.

    Notes
    -----
    The density with components and sticks integrated out is `log_joint`, but that z here tells
    which stick a cluster has, and that hyper-parameters count by their own density instead of that
    of their logarithms. Constant columns are not part of the site "x"; missing cells are masked.

    Examples
    --------
    >>> import numpy as np
    >>> import jax, numpyro
    >>> from bayesclust.models import tvclust
    >>> program = numpyro.handlers.trace(numpyro.handlers.seed(tvclust, jax.random.key(0)))
    >>> draw = program.get_trace(np.arange(10.0).reshape(5, 2), observe=False)
    >>> draw["z"]["value"].shape, draw["x"]["value"].shape
    ((5,), (5, 2))
    """
    prior, number = as_prior(partition_prior), check_int(truncation, "truncation", least=2)
    _program(X, constraints, family, observe, power, prior, number)


def tvclust_mixture(
    X: ArrayLike,
    constraints: Constraints | Sequence[Constraints] | None = None,
    family: str | Family = "gaussian",
    partition_prior: Nested | None = None,
    truncation: int = 10,
    within_truncation: int = 10,
    observe: bool = True,
    power: float = 1.0,
) -> None:
    """`tvclust` with clusters that are mixtures, also a NumPyro program.

    Parameters
    ----------
    X, constraints, observe, power
        As in `tvclust`.
    family : str or Family, default "gaussian"
        Likelihood of a component.
    partition_prior : Nested or None, default None
        Priors of the clusters and of the components within each; None is that of
        `bayesclust.TVClust`.
    truncation, within_truncation : int, default 10
        Number of sticks of the clusters, and of the components of each.

    Notes
    -----
    Further sites are "within_concentration", "within_stick" in the plate "cluster", and "component"
    (which of its cluster's components an item has) in the plate "item". The plate "components"
    holds the components of the first cluster, then those of the second, and so on. Both kinds of
    labels are redrawn by a `PartitionGibbs`, that of components with ``site="component"``.

    Examples
    --------
    >>> import numpy as np
    >>> import jax, numpyro
    >>> from bayesclust.models import tvclust_mixture
    >>> program = numpyro.handlers.trace(numpyro.handlers.seed(tvclust_mixture, jax.random.key(0)))
    >>> draw = program.get_trace(np.arange(10.0).reshape(5, 2), observe=False)
    >>> draw["component"]["value"].shape, draw["x"]["value"].shape
    ((5,), (5, 2))
    """
    S = check_int(within_truncation, "within_truncation", least=2)
    prior, number = as_nested(partition_prior), check_int(truncation, "truncation", least=2)
    _program(X, constraints, family, observe, power, prior.among, number, prior.within, S)


def tvclust_marginal(
    X: ArrayLike,
    family: str | Family = "gaussian",
    partition_prior: PartitionPrior | None = None,
    truncation: int = 20,
    observe: bool = True,
    power: float = 1.0,
    constraints: Constraints | Sequence[Constraints] | None = None,
) -> None:
    """`tvclust` with the labels summed out, for NUTS and SVI; with constraints for SVI alone.

    Answers tie labels together: with them labels have a mean field in this program, the parameter
    "assignment", and any guide takes the rest. For exact draws use `tvclust` and `PartitionGibbs`.

    Parameters
    ----------
    X, family, partition_prior, truncation, power, constraints
        As in `tvclust`.
    observe : bool, default True
        Condition on X and the answers; False simulates labels "z" and these as `tvclust` does.

    Notes
    -----
    log p(x_i) = log sum_k pi_k p(x_i | theta_k)^power is a term of the factor "x", which takes the
    place of the sites "z" and "x". It stays the same when clusters change places: summarise what
    does not depend on their order.

    With answers the factors are E_q[log p(z, x, answers | rest) - log q(z)], q drawing label i from
    row i of "assignment" (n, T): SVI's bound is that of q times the guide. NUTS would not move q.

    Examples
    --------
    >>> import numpy as np
    >>> import jax, numpyro
    >>> from bayesclust.models import tvclust_marginal
    >>> from numpyro.infer import MCMC, NUTS
    >>> X = np.array([[0.0], [0.2], [0.3], [4.0], [4.1], [4.4]])
    >>> mcmc = MCMC(NUTS(tvclust_marginal), num_warmup=20, num_samples=20, progress_bar=False)
    >>> mcmc.run(jax.random.key(0), X, "gaussian_diagonal", truncation=3)
    >>> mcmc.get_samples()["weight"].shape
    (20, 3)
    """
    prior, number = as_prior(partition_prior), check_int(truncation, "truncation", least=2)
    _program(X, constraints, family, observe, power, prior, number, summed=observe)


def _program(
    X: ArrayLike,
    constraints: Constraints | Sequence[Constraints] | None,
    family: str | Family,
    observe: bool,
    power: float,
    prior: PartitionPrior,
    truncation: int,
    within: PartitionPrior | None = None,
    S: int = 1,
    *,
    summed: bool = False,
) -> None:
    """All programs: clusters that are components or, by a prior within, mixtures of S of them."""
    jnp, numpyro, dist = numpyro_modules()
    family = get_family(family)
    items = check_items(X, missing=family.takes_missing)
    weight_of_one = number_between(power, "power", "(0, 1]")
    answered = check_constraints(constraints, len(items))
    bound = family.bind(items)
    hyper = bound.shared_sites([hyper_site(one) for one in bound.hyper_priors])
    weight = weight_site(prior, truncation)
    T = weight.shape[-1]
    if within is not None:
        values = parameter_sites(within, "within_")
        with numpyro.plate("cluster", T):
            below = numpyro.sample("within_stick", stick_distribution(within, values, S - 1))
    with numpyro.plate("component" if within is None else "components", T * S):
        likelihood = bound.component_sites(hyper)
    if summed:
        import jax

        def weighed(k: Any) -> Any:
            densities = likelihood(jnp.full(len(items), k)).log_prob(bound.columns(items))
            return jnp.log(weight[k]) + weight_of_one * densities

        each = jax.vmap(weighed)(jnp.arange(T))
        if not any(map(len, answered)):
            numpyro.factor("x", jax.nn.logsumexp(each, axis=0).sum())
            return
        start = dist.Dirichlet(jnp.ones((len(items), T)))
        shares = numpyro.param("assignment", start.sample, constraint=dist.constraints.simplex)
        log_shares = jnp.log(jnp.maximum(shares, jnp.finfo(shares.dtype).tiny))
        numpyro.factor("x", (shares * (each.T - log_shares)).sum())
        constraint_sites(answered, shares)
        return
    with numpyro.plate("item", len(items)):
        z = numpyro.sample("z", dist.Categorical(probs=weight), infer=REDRAWN)
        refuse_enumerated(z, len(items))
        place = z
        if within is not None:
            shares = stick_weights(below)[z]
            own = dist.Categorical(probs=shares)
            place = z * S + numpyro.sample("component", own, infer=REDRAWN)
        with numpyro.handlers.scale(scale=weight_of_one if observe else 1.0):
            numpyro.sample("x", likelihood(place), obs=bound.columns(items) if observe else None)
    constraint_sites(answered, z, observe=observe)


def stick_weights(stick: Any) -> Any:
    """Return pi_k = v_k prod_{j<k} (1 - v_j) along the last axis; the last is what is left."""
    jnp, _, _ = numpyro_modules()
    ones = jnp.ones((*stick.shape[:-1], 1))
    left = jnp.concatenate([ones, jnp.cumprod(1 - stick, -1)], -1)
    return jnp.concatenate([stick, ones], -1) * left


def hyper_site(prior: HyperPrior) -> Any:
    """Site of a hyper-parameter of the base measure, or its fixed value."""
    _, numpyro, dist = numpyro_modules()
    if prior.log_sd == 0:
        return prior.median
    logarithm = dist.Normal(np.log(prior.median), prior.log_sd)
    exp = dist.transforms.ExpTransform()
    if prior.lower > 0:
        lower = np.log(prior.lower)
        logarithm = dist.TruncatedNormal(np.log(prior.median), prior.log_sd, low=lower)

        class Exp(dist.transforms.ExpTransform):  # type: ignore[misc, name-defined]
            # a number, not an array: NumPyro's Gibbs takes no support that may depend on others
            codomain = dist.constraints.greater_than(prior.lower)

        exp = Exp(domain=dist.constraints.greater_than(lower))
    return numpyro.sample(prior.name, dist.TransformedDistribution(logarithm, exp))


def parameter_sites(prior: PartitionPrior, prefix: str = "") -> dict[str, Any]:
    """Sites of the parameters of a partition prior, or their fixed values."""
    _, numpyro, dist = numpyro_modules()
    values: dict[str, Any] = {}
    for name, one in prior.parameters.items():
        if one.fixed is not None:
            values[name] = one.fixed
        else:
            kind = dist.Beta if one.unit else dist.Gamma
            values[name] = numpyro.sample(prefix + name, kind(one.a, one.b))
    return values


def stick_distribution(prior: PartitionPrior, values: Any, number: int) -> Any:
    """Distribution of the first sticks of a process."""
    jnp, _, dist = numpyro_modules()
    a, b = prior.sticks(jnp.arange(1.0, number + 1.0), values)
    return dist.Beta(a * jnp.ones(number), b * jnp.ones(number)).to_event(1)


def weight_site(prior: PartitionPrior, truncation: int) -> Any:
    """Weights of the clusters: from the sticks of a process, or a Dirichlet site."""
    jnp, numpyro, dist = numpyro_modules()
    values = parameter_sites(prior)
    if isinstance(prior, KnownK):
        dirichlet = dist.Dirichlet(values["gamma"] * jnp.ones(prior.n_clusters))
        return numpyro.sample("weight", dirichlet)
    stick = numpyro.sample("stick", stick_distribution(prior, values, truncation - 1))
    return numpyro.deterministic("weight", stick_weights(stick))
