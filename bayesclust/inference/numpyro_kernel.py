"""The partition update as a kernel of NumPyro, a block of its Gibbs sampler beside NUTS.

An element of a site's log density (one item's likelihood, one answer's probability) has a *scope*,
the items on whose labels it may depend. Scopes are read off the plates that a site lies in, and
`PartitionGibbs.check_scopes` finds out whether the program keeps to them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.infer.gibbs import GIBBS_SITES_KWARG
from numpyro.infer.initialization import init_to_sample
from numpyro.infer.mcmc import MCMCKernel
from numpyro.infer.util import compute_log_probs

from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.constraints.factor_graph import greedy_coloring
from bayesclust.models.sites import answers_plate
from bayesclust.typing import BoolArray, IntArray

# one item that depends on one other escapes in 10% of cases
TRIALS = 8
"""Random mixtures of two labellings that scopes are checked with."""
Arguments = tuple[Any, ...]
Keywords = Mapping[str, Any] | None
Trace = Mapping[str, Any]


class Scope(NamedTuple):
    """The items that each element of a site's log density may depend on."""

    plate: str | None  # that says so; None for sites that may not depend on labels
    dim: int  # its dimension, counted from the right; 0 without a plate
    items: IntArray  # (m, t) the items of each of m elements; (1, 0) without a plate

    def elements(self, log_prob: jax.Array) -> jax.Array:
        """The (m,) log densities: those of a site, summed over all dimensions but the plate's."""
        others = tuple(axis for axis in range(-log_prob.ndim, 0) if axis != self.dim)
        return jnp.broadcast_to(log_prob.sum(axis=others), len(self.items))

    def kept(self, mine: BoolArray, mixed: Any, first: Any, second: Any) -> bool:
        """Whether elements (trials, m) of mixed labels equal those of the labelling they are of."""
        # `mine` (trials, n) says which labels of the mixture are those of the first labelling.
        inside = mine[:, self.items]
        tolerance = float(np.sqrt(np.finfo(mixed.dtype).eps))
        close = partial(np.isclose, mixed, rtol=tolerance, atol=tolerance, equal_nan=True)
        off_first = inside.all(axis=2) & ~close(first)
        off_second = (~inside).all(axis=2) & ~close(second)
        return not bool((off_first | off_second).any())


class PartitionGibbsState(NamedTuple):
    """State of the kernel."""

    z: dict[str, jax.Array]  # the labels, (n,), by the name of their site
    moved: jax.Array  # share of the labels that the last sweep changed
    rng_key: jax.Array


class PartitionGibbs(MCMCKernel):  # type: ignore[misc]
    """Redraws the labels of a NumPyro model given everything else, as a block beside NUTS.

    Items that share no answer are independent given everything else, so that all items of one
    colour of the constraint graph are drawn at once. The model may be anything with one Categorical
    site of labels: clusterwise regression, any mixture, label probabilities that depend on
    covariates. The sites of one item belong into the plate of the items, answers into the model by
    `constraint_sites`. With the sticks of `bayesclust.models.tvclust` this is the blocked Gibbs
    sampler of Ishwaran and James (2001) for a truncated Dirichlet process.

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

    Raises
    ------
    TypeError, ValueError
        For constraints on different numbers of items; when sampling starts, for labels that are
        not one per item, latent sites without a block, constraints without sites, and densities
        that depend on labels otherwise than item by item and answer by answer, which is tried on
        random labels unless the model's arguments are abstract (`jax.jit`).

    Notes
    -----
    The state's `moved` is the share of labels that changed in the last sweep, for a first block
    ``extra_fields=("block_states.0.moved",)``. Several chains run by ``chain_method="sequential"``
    or ``jax.vmap``. They start from labels drawn from the prior, or ``init_params={"z": labels}``.
    Labels move one at a time: where strong answers hold a group together, start from a good
    partition and compare chains.

    Examples
    --------
    >>> import jax, numpyro
    >>> import jax.numpy as jnp
    >>> import numpyro.distributions as dist
    >>> from numpyro.infer import MCMC, NUTS, Gibbs
    >>> import bayesclust as bc
    >>> def lines(x, y, links):
    ...     with numpyro.plate("component", 2):
    ...         slope = numpyro.sample("slope", dist.Normal(0, 2))
    ...     with numpyro.plate("item", len(x)):
    ...         z = numpyro.sample("z", dist.Categorical(jnp.ones(2) / 2))
    ...         numpyro.sample("y", dist.Normal(slope[z] * x, 0.2), obs=y)
    ...     bc.constraint_sites(links, z)
    >>> x = jnp.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 0.0, 0.0])
    >>> y = jnp.array([1.1, 1.8, 3.1, -0.9, -2.1, -3.0, 0.0, 0.1])
    >>> links = bc.PairwiseConstraints([(0, 6), (3, 7)], [True, True], n_items=8)
    >>> kernel = Gibbs([(bc.PartitionGibbs(lines, links), ["z"]), (NUTS(lines), None)])
    >>> mcmc = MCMC(kernel, num_warmup=100, num_samples=200, progress_bar=False)
    >>> mcmc.run(jax.random.key(0), x, y, links)
    >>> bc.point_estimate(mcmc.get_samples()["z"])
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
    ) -> None:
        given = [constraints] if isinstance(constraints, Constraints) else constraints
        n_items = getattr(given[0], "n_items", 0) if given else 0
        answered = [each for each in check_constraints(constraints, n_items) if len(each) > 0]
        self._model = model
        self._site = site
        self._plate = plate
        self._constraints = answered
        self._colors = greedy_coloring(answered, n_items) if answered else np.zeros(0, np.int64)

    @property
    def model(self) -> Any:
        """The model whose labels are redrawn."""
        return self._model

    def init(
        self,
        rng_key: jax.Array,
        num_warmup: int,
        init_params: Keywords,
        model_args: Arguments,
        model_kwargs: Keywords,
    ) -> PartitionGibbsState:
        """Check the model; the first state has labels of `init_params`, or drawn from the prior."""
        single = 0 if jnp.issubdtype(rng_key.dtype, jax.dtypes.prng_key) else 1
        if rng_key.ndim > single:
            raise ValueError(
                "PartitionGibbs was given the keys of several chains at once: run them by "
                'chain_method="sequential" or jax.vmap, not "vectorized".'
            )
        rng_key, key = jax.random.split(rng_key)
        trace = self._trace(key, model_args, model_kwargs)
        self._check(trace)
        self.check_scopes(model_args, model_kwargs)
        drawn = trace[self._site]["value"]
        z = jnp.asarray((init_params or {}).get(self._site, drawn)).astype(drawn.dtype)
        self._check_labels(z, trace)
        return PartitionGibbsState({self._site: z}, jnp.mean(z != z, dtype=float), rng_key)

    def sample(
        self, state: PartitionGibbsState, model_args: Arguments, model_kwargs: Keywords
    ) -> PartitionGibbsState:
        """Redraw every label once, one colour of the constraint graph after the other."""
        rng_key, key = jax.random.split(state.rng_key)
        before = state.z[self._site]
        trace = self._trace(key, model_args, model_kwargs)
        support = self._support(trace).astype(before.dtype)
        z = self._sweep(key, before, support, model_args, model_kwargs)
        return PartitionGibbsState({self._site: z}, jnp.mean(z != before, dtype=float), rng_key)

    def _sweep(
        self, key: jax.Array, z: jax.Array, support: jax.Array, args: Arguments, kwargs: Keywords
    ) -> jax.Array:
        """Draw by the Gumbel-max trick, with one table of Gumbel variables for all colours."""
        by_item = jax.vmap(
            lambda k: self._logits(jnp.full_like(z, k), args, kwargs, of_items=True)
        )(support)
        noise = jax.random.gumbel(key, by_item.shape, by_item.dtype)
        if not self._constraints:
            return _draw(by_item, noise, support, z)
        colors = jnp.asarray(self._colors)

        def redraw(z: jax.Array, color: jax.Array) -> tuple[jax.Array, None]:
            mine = colors == color
            answers = jax.vmap(
                lambda k: self._logits(jnp.where(mine, k, z), args, kwargs, of_items=False)
            )(support)
            return jnp.where(mine, _draw(by_item + answers, noise, support, z), z), None

        return jax.lax.scan(redraw, z, jnp.arange(self._colors.max() + 1))[0]

    def _logits(
        self, z: jax.Array, args: Arguments, kwargs: Keywords, *, of_items: bool
    ) -> jax.Array:
        """Log density of each item's own sites, or of the answers that name it: (n,)."""
        total = jnp.zeros(len(z))
        for scope, value in self._elements({self._site: z}, args, kwargs).values():
            if scope.plate is not None and (scope.plate == self._plate) == of_items:
                for member in scope.items.T:
                    total = total.at[member].add(value)
        return total

    def refresh(
        self, state: PartitionGibbsState, model_args: Arguments, model_kwargs: Keywords
    ) -> PartitionGibbsState:
        """Return the state: nothing is cached."""
        return state

    def wrap_model(self, wrapper: Callable[..., Any]) -> PartitionGibbs:
        """The kernel for the wrapped model."""
        wrapped = copy.copy(self)
        wrapped._model = wrapper(self._model)
        return wrapped

    def get_diagnostics_str(self, state: PartitionGibbsState) -> str:
        """Return the sentence of the progress bar."""
        return f"{float(np.mean(state.moved)):.0%} of labels moved"

    # The model: its traces, and the scopes of its sites.

    def _trace(self, key: Any, args: Arguments, kwargs: Keywords) -> dict[str, Any]:
        """The trace of one run, on values drawn from the prior."""
        seeded = numpyro.handlers.seed(self._model, key)
        drawn = numpyro.handlers.substitute(seeded, substitute_fn=init_to_sample)
        return dict(numpyro.handlers.trace(drawn).get_trace(*args, **(kwargs or {})))

    def _elements(
        self, values: Mapping[str, Any], args: Arguments, kwargs: Keywords
    ) -> dict[str, tuple[Scope, jax.Array]]:
        """The scope of every site with a density, and the (m,) log densities of its elements."""
        model = numpyro.handlers.seed(self._model, jax.random.key(0))
        given = model, args, dict(kwargs or {}), dict(values)
        log_probs, trace = compute_log_probs(*given, sum_log_prob=False)
        scopes = {name: self._scope(trace[name], len(values[self._site])) for name in log_probs}
        return {name: (own, own.elements(log_probs[name])) for name, own in scopes.items()}

    def _scope(self, site: Trace, n_items: int) -> Scope:
        """The scope of a site of a trace, by the plates it lies in."""
        dims = {frame.name: frame.dim for frame in site["cond_indep_stack"]}
        if self._plate in dims:
            return Scope(self._plate, dims[self._plate], np.arange(n_items)[:, None])
        for each in self._constraints:
            if plate := _plate_of(each, dims):
                return Scope(plate, dims[plate], each.items)
        return Scope(None, 0, np.empty((1, 0), dtype=np.int64))

    def _support(self, trace: Trace) -> jax.Array:
        """The values that a label may have, shape (K,)."""
        return jnp.reshape(trace[self._site]["fn"].enumerate_support(expand=False), -1)

    def _check(self, trace: Trace) -> None:
        """Refuse a model whose labels cannot be redrawn by colours, as far as a trace shows it."""
        sampled = {name: site for name, site in trace.items() if site["type"] == "sample"}
        if self._site not in trace:
            raise ValueError(
                f"the model has no site {self._site!r}, only {', '.join(map(repr, sampled))}: name "
                "the site of its labels, site=..."
            )
        z = trace[self._site]
        if z["is_observed"] or not z["fn"].has_enumerate_support:
            found = "observed" if z["is_observed"] else "not from a finite set"
            raise ValueError(
                f"the labels {self._site!r} are {found}: they must be a latent Categorical site."
            )
        frames = [(frame.name, frame.size) for frame in z["cond_indep_stack"]]
        if frames != [(self._plate, *jnp.shape(z["value"]))]:
            raise ValueError(
                f"the labels {self._site!r} have shape {jnp.shape(z['value'])} in the plates "
                f"{dict(frames)}: they must lie in the plate {self._plate!r} alone, one per item; "
                "name it by plate=..."
            )
        latent = [name for name, site in sampled.items() if not site["is_observed"]]
        latent.remove(self._site)
        if latent:
            raise ValueError(
                f"PartitionGibbs redraws {self._site!r} alone, but {', '.join(map(repr, latent))} "
                "are latent too: make it a block of numpyro.infer.Gibbs beside kernels for the "
                "others, or condition on them."
            )
        stacks = [site.get("cond_indep_stack", ()) for site in trace.values()]
        plates = {frame.name: frame.size for stack in stacks for frame in stack}
        for each in self._constraints:
            plate, n_items = answers_plate(each), len(z["value"])
            found = plates.get(_plate_of(each, plates), "no")
            if (each.n_items, len(each)) != (n_items, found):
                raise ValueError(
                    f"the constraints {each.name!r} are {len(each)} on {each.n_items} items, but "
                    f"the model has {n_items} labels {self._site!r} and {found} "
                    f"answers in the plate {plate!r}: call constraint_sites(constraints, z) in it, "
                    "and pass the same constraints to PartitionGibbs."
                )

    def _check_labels(self, z: jax.Array, trace: Trace) -> None:
        """Refuse first labels that are not one per item, or not among the model's."""
        shape = jnp.shape(trace[self._site]["value"])
        support = self._support(trace)
        abstract = isinstance(z, jax.core.Tracer) or isinstance(support, jax.core.Tracer)
        if z.shape != shape or not (abstract or np.isin(z, support).all()):
            found = "" if abstract else f" and reach from {z.min()} to {z.max()}"
            raise ValueError(
                f"the first labels have shape {z.shape}{found}, but those of the model have {shape}"
                f" and are one of {support}: pass one of these per item."
            )

    def check_scopes(self, args: Arguments, kwargs: Keywords) -> None:
        """Refuse a model whose densities depend on labels outside their scopes.

        Other sites are drawn from the prior, and labels are mixed at random from two random
        labellings: an element must not change with the labels outside its scope. Nothing is checked
        where the arguments of the model are abstract.
        """
        # where a whole run is compiled; otherwise it would only recompile what is compiled already
        staged = isinstance(jnp.zeros(()), jax.core.Tracer)
        with jax.ensure_compile_time_eval() if staged else nullcontext():
            free = {n: value for n, value in (kwargs or {}).items() if n != GIBBS_SITES_KWARG}
            trace = self._trace(jax.random.key(1), args, free)
            latent = [n for n, s in trace.items() if s["type"] == "sample" and not s["is_observed"]]
            values = {name: trace[name]["value"] for name in latent}
            support = self._support(trace)
            z = trace[self._site]["value"]
            rng = np.random.default_rng(0)
            labels = rng.integers(len(support), size=(2, TRIALS, len(z)))
            mine = rng.random((TRIALS, len(z))) < 0.5
            stacked = np.concatenate([np.where(mine, *labels), *labels])

            def densities(at: jax.Array) -> dict[str, jax.Array]:
                given = values | {self._site: support[at].astype(z.dtype)}
                return {name: own for name, (_, own) in self._elements(given, args, free).items()}

            found = jax.jit(lambda z: jax.lax.map(densities, z))(jnp.asarray(stacked))
        if any(isinstance(value, jax.core.Tracer) for value in jax.tree.leaves(found)):
            return
        for name, value in found.items():
            scope = self._scope(trace[name], len(z))
            if not scope.kept(mine, *np.split(np.asarray(value), 3)):
                where = f"in the plate {scope.plate!r}" if scope.plate else "outside these plates"
                raise ValueError(
                    f"site {name!r}, {where}, depends on labels {self._site!r} of other items than "
                    f"its own: write it item by item in the plate {self._plate!r}, pass the "
                    "constraints that the model has, or redraw the labels by "
                    "numpyro.infer.DiscreteGibbs."
                )


def _plate_of(constraints: Constraints, plates: Iterable[str]) -> str | None:
    """The plate of the answers among these, which a scope of NumPyro puts its prefix before."""
    own = answers_plate(constraints)
    return next((name for name in plates if f"/{name}".endswith(f"/{own}")), None)


def _draw(logits: jax.Array, noise: jax.Array, support: jax.Array, z: jax.Array) -> jax.Array:
    """Draw every label; where none is possible, keep the old one."""
    logits = jnp.where(jnp.isnan(logits), -jnp.inf, logits)
    drawn = support[jnp.argmax(logits + noise, axis=0)]
    return jnp.where(jnp.isfinite(logits).any(axis=0), drawn, z)
