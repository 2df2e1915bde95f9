"""The partition update as a kernel of NumPyro: a block of its Gibbs sampler beside NUTS, for models of the user's own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.infer.mcmc import MCMCKernel
from numpyro.util import is_prng_key

from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.constraints.factor_graph import greedy_coloring
from bayesclust.inference.numpyro_scopes import Program


class PartitionGibbsState(NamedTuple):
    """Where the kernel is.

    Attributes
    ----------
    z : dict
        The labels, (n,) array of int, by the name of their site.
    moved : float
        Share of the labels that the last sweep changed.
    rng_key : jax key
    """

    z: dict[str, jax.Array]
    moved: jax.Array
    rng_key: jax.Array


class PartitionGibbs(MCMCKernel):  # type: ignore[misc]
    """Redraws the labels of a NumPyro model exactly, given everything else: a block of `numpyro.infer.Gibbs` beside NUTS.

    Items that share no answer are independent given everything else. So items are updated one
    colour class of the constraint graph at a time (`bayesclust.constraints.greedy_coloring`), all
    items of a colour at once from their conditional distributions: those of the items' own sites,
    for which the model is run once with all labels equal to k for each component k, and those of
    the answers that name them. The model may be anything with one Categorical site of labels:
    clusterwise regression, a mixture of any likelihood, label probabilities that depend on
    covariates.

    The sites of one item (likelihood, local variables) belong into the plate of the items, answers
    into the model by `bayesclust.models.sites`. Weights that are a stick-breaking site make
    this the blocked Gibbs sampler of Ishwaran and James (2001) for a truncated Dirichlet process;
    `bayesclust.models.tvclust` is such a model.

    Parameters
    ----------
    model : callable
        The NumPyro model, the same object as that of the other blocks.
    constraints : Constraints, sequence of Constraints or None
        The answers that the model has, as passed to `constraint_sites`.
    site : str, default "z"
        Name of the site of the labels.
    plate : str, default "item"
        Name of the plate of the items.
    batch_size : int, optional
        Number of components whose densities are computed at once. The default, all, suits small
        models and takes the memory of K evaluations of the model; with many items 1 is as fast on a
        CPU.

    Raises
    ------
    TypeError, ValueError
        Here for views that are none or on different numbers of items. When sampling starts: if the
        labels are missing, observed or not one per item, other sites are latent and no other block
        has them, a view has no sites, or densities depend on the labels in another way than item by
        item and answer by answer, which would make the update wrong. That is tried out on random
        labels; it cannot be where the model's arguments are abstract (inside `jax.jit`).

    Notes
    -----
    The state's `moved` is the share of labels that changed in the last sweep: in a Gibbs sampler
    whose first block this is, collect it by ``extra_fields=("block_states.0.moved",)``. Several
    chains run by ``chain_method="sequential"`` or, at once, ``chain_method=jax.vmap`` (alone,
    without Gibbs, also "vectorized").

    Chains start from labels drawn from the prior, or those in ``init_params={"z": labels}``. Labels
    move one at a time: where many strong answers hold a group together, start from a good partition
    and look at several chains.

    Examples
    --------
    Two regression lines, and two answers about which point lies on which:

    >>> import jax, numpyro
    >>> import jax.numpy as jnp
    >>> import numpyro.distributions as dist
    >>> from numpyro.infer import MCMC, NUTS, Gibbs
    >>> import bayesclust as bc
    >>> from bayesclust.inference.numpyro_kernel import PartitionGibbs
    >>> from bayesclust.models import constraint_sites
    >>> def lines(x, y, links):
    ...     with numpyro.plate("component", 2):
    ...         slope = numpyro.sample("slope", dist.Normal(0, 2))
    ...     with numpyro.plate("item", len(x)):
    ...         z = numpyro.sample("z", dist.Categorical(jnp.ones(2) / 2))
    ...         numpyro.sample("y", dist.Normal(slope[z] * x, 0.2), obs=y)
    ...     constraint_sites(links, z)
    >>> x = jnp.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 0.0, 0.0])
    >>> y = jnp.array([1.1, 1.8, 3.1, -0.9, -2.1, -3.0, 0.0, 0.1])
    >>> links = bc.PairwiseConstraints([(0, 6), (3, 7)], [True, True], n_items=8)
    >>> kernel = Gibbs([(PartitionGibbs(lines, links), ["z"]), (NUTS(lines), None)])
    >>> mcmc = MCMC(kernel, num_warmup=100, num_samples=200, progress_bar=False)
    >>> mcmc.run(jax.random.key(0), x, y, links)
    >>> tree = bc.posterior.to_datatree({"z": mcmc.get_samples(group_by_chain=True)["z"]}, constraints=[links])
    >>> bc.point_estimate(tree)
    array([0, 0, 0, 1, 1, 1, 0, 1])
    """

    sample_field: str = "z"

    def __init__(
        self,
        model: Callable[..., Any],
        constraints: Constraints | Sequence[Constraints] | None = None,
        *,
        site: str = "z",
        plate: str = "item",
        batch_size: int | None = None,
    ) -> None:
        given = [constraints] if isinstance(constraints, Constraints) else constraints
        n_items = getattr(given[0], "n_items", 0) if given else 0
        answered = tuple(view for view in check_constraints(constraints, n_items) if len(view) > 0)
        self._program = Program(model, site, plate, answered)
        self._colors = (
            greedy_coloring(answered, n_items) if answered else np.zeros(n_items, np.int64)
        )
        self._batch_size = batch_size

    @property
    def model(self) -> Callable[..., Any]:
        """The model whose labels are redrawn."""
        model: Callable[..., Any] = self._program.model
        return model

    def init(
        self,
        rng_key: jax.Array,
        num_warmup: int,
        init_params: Mapping[str, Any] | None,
        model_args: tuple[Any, ...],
        model_kwargs: Mapping[str, Any] | None,
    ) -> PartitionGibbsState:
        """Check the model and return the first state: labels of `init_params`, or drawn from the prior."""
        if not is_prng_key(rng_key):
            states: PartitionGibbsState = jax.vmap(
                lambda key, params: self.init(key, num_warmup, params, model_args, model_kwargs)
            )(rng_key, init_params)
            return states
        program, site, kwargs = self._program, self._program.site, dict(model_kwargs or {})
        rng_key, key = jax.random.split(rng_key)
        trace = program.trace(key, model_args, kwargs)
        program.check(trace)
        program.check_scopes(model_args, kwargs)
        drawn = trace[site]["value"]
        z = jnp.asarray((init_params or {}).get(site, drawn)).astype(drawn.dtype)
        program.check_labels(z, trace)
        return PartitionGibbsState({site: z}, _share(z != z), rng_key)

    def sample(
        self,
        state: PartitionGibbsState,
        model_args: tuple[Any, ...],
        model_kwargs: Mapping[str, Any] | None,
    ) -> PartitionGibbsState:
        """Redraw every label once, one colour of the constraint graph after the other."""
        if not is_prng_key(state.rng_key):
            states: PartitionGibbsState = jax.vmap(
                lambda one: self.sample(one, model_args, model_kwargs)
            )(state)
            return states
        site, kwargs = self._program.site, dict(model_kwargs or {})
        rng_key, key = jax.random.split(state.rng_key)
        before = state.z[site]
        trace = self._program.trace(key, model_args, kwargs)
        support = self._program.support(trace).astype(before.dtype)
        z = self._sweep(key, before, support, model_args, kwargs)
        return PartitionGibbsState({site: z}, _share(z != before), rng_key)

    def _sweep(
        self,
        key: jax.Array,
        z: jax.Array,
        support: jax.Array,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> jax.Array:
        """Draw by the Gumbel-max trick; an item is drawn once, so that one table of Gumbel variables serves all colours."""
        by_item = self._by_component(
            lambda k: self._item_logits(jnp.full_like(z, k), args, kwargs), support
        )
        noise = jax.random.gumbel(key, by_item.shape, by_item.dtype)
        if not self._program.constraints:
            return _draw(by_item, noise, support, z)
        colors = jnp.asarray(self._colors)

        def redraw(z: jax.Array, color: jax.Array) -> tuple[jax.Array, None]:
            mine = colors == color
            answers = self._by_component(
                lambda k: self._answer_logits(jnp.where(mine, k, z), args, kwargs), support
            )
            return jnp.where(mine, _draw(by_item + answers, noise, support, z), z), None

        return jax.lax.scan(redraw, z, jnp.arange(self._colors.max() + 1))[0]

    def _by_component(
        self, logits: Callable[[jax.Array], jax.Array], support: jax.Array
    ) -> jax.Array:
        """Apply a function of a component to all of them: (K, n)."""
        if self._batch_size is None:
            return jax.vmap(logits)(support)
        values: jax.Array = jax.lax.map(logits, support, batch_size=self._batch_size)
        return values

    def _item_logits(
        self, z: jax.Array, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> jax.Array:
        """Log density of what each item alone has to do with its label, (n,)."""
        program, total = self._program, jnp.zeros(len(z))
        for scope, value in program.elements({program.site: z}, args, kwargs).values():
            if scope.plate == program.plate:
                total += value
        return total

    def _answer_logits(
        self, z: jax.Array, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> jax.Array:
        """Log probability of the answers that name each item, (n,)."""
        program, total = self._program, jnp.zeros(len(z))
        for scope, value in program.elements({program.site: z}, args, kwargs).values():
            if scope.plate not in (None, program.plate):
                for member in scope.items.T:
                    total = total.at[member].add(value)
        return total

    def refresh(
        self,
        state: PartitionGibbsState,
        model_args: tuple[Any, ...],
        model_kwargs: Mapping[str, Any] | None,
    ) -> PartitionGibbsState:
        """Return the state as it is: nothing is cached."""
        return state

    def wrap_model(self, wrapper: Callable[..., Any]) -> PartitionGibbs:
        """Return the kernel for the model that the wrapper makes of its own."""
        wrapped = copy.copy(self)
        program = self._program
        wrapped._program = Program(
            wrapper(program.model), program.site, program.plate, program.constraints
        )
        return wrapped

    def get_diagnostics_str(self, state: PartitionGibbsState) -> str:
        """Return what the progress bar says."""
        return f"{float(np.mean(state.moved)):.0%} of labels moved"


def _share(flags: jax.Array) -> jax.Array:
    return jnp.mean(flags, dtype=float)


def _draw(logits: jax.Array, noise: jax.Array, support: jax.Array, z: jax.Array) -> jax.Array:
    """Draw every label; where none is possible, keep the old one."""
    logits = jnp.where(jnp.isnan(logits), -jnp.inf, logits)
    drawn = support[jnp.argmax(logits + noise, axis=0)]
    return jnp.where(jnp.isfinite(logits).any(axis=0), drawn, z)


__all__ = ["PartitionGibbs", "PartitionGibbsState"]
