"""What the log density of a NumPyro program tells of each label: which of its elements depend on the labels of which items.

An element (one item's likelihood, one answer's probability) has a *scope*, the items on whose
labels it may depend. Scopes are read off the plates that a site lies in, and `Program.check` finds
out whether the program keeps to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.infer.gibbs import GIBBS_SITES_KWARG
from numpyro.infer.initialization import init_to_sample
from numpyro.infer.util import compute_log_probs

from bayesclust.constraints.base import Constraints
from bayesclust.models.sites import answers_plate
from bayesclust.typing import BoolArray, IntArray

TRIALS = 8
"""Random mixtures of two labellings by which scopes are checked: one item that heeds one other escapes in 10% of cases."""


class Scope(NamedTuple):
    """The items that each element of a site's log density may depend on.

    Attributes
    ----------
    plate : str or None
        The plate that says so; None for sites that may not depend on labels at all.
    dim : int
        Its dimension, counted from the right; 0 without a plate.
    items : (m, t) array of int64
        The items of each of m elements; t = 0 and m = 1 for sites that may not depend on labels.
    """

    plate: str | None
    dim: int
    items: IntArray

    def elements(self, log_prob: jax.Array) -> jax.Array:
        """Return the (m,) log densities of the elements: those of a site, summed over all dimensions but the plate's."""
        others = tuple(axis for axis in range(-log_prob.ndim, 0) if axis != self.dim)
        return jnp.broadcast_to(log_prob.sum(axis=others), len(self.items))

    def kept(self, mine: BoolArray, mixed: Any, first: Any, second: Any) -> bool:
        """Tell whether elements of mixed labels equal those of the labelling that all their items come from.

        Parameters
        ----------
        mine : (trials, n) array of bool
            Which labels of the mixture are those of the first labelling.
        mixed, first, second : (trials, m) arrays of float

        Returns
        -------
        bool
        """
        inside = mine[:, self.items]
        off_first = inside.all(axis=2) & ~_close(mixed, first)
        off_second = (~inside).all(axis=2) & ~_close(mixed, second)
        return not bool((off_first | off_second).any())


def _close(a: Any, b: Any) -> BoolArray:
    tolerance = float(np.sqrt(np.finfo(np.asarray(a).dtype).eps))
    close: BoolArray = np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    return close


@dataclass(frozen=True, eq=False)
class Program:
    """A NumPyro program with labels.

    Attributes
    ----------
    model : callable
    site : str
        The site of the labels.
    plate : str
        The plate of the items.
    constraints : tuple of Constraints
        Those with answers.
    """

    model: Any
    site: str
    plate: str
    constraints: tuple[Constraints, ...]

    def trace(self, key: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Run the program once, on values drawn from its prior, and return its trace."""
        drawn = numpyro.handlers.substitute(
            numpyro.handlers.seed(self.model, key), substitute_fn=init_to_sample
        )
        trace: dict[str, Any] = numpyro.handlers.trace(drawn).get_trace(*args, **kwargs)
        return trace

    def elements(
        self, values: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> dict[str, tuple[Scope, jax.Array]]:
        """Return the scope of every site that has a density, and the log densities of its elements.

        Parameters
        ----------
        values : mapping
            Labels, and values of other sites that are not known.
        args, kwargs : tuple, mapping
            Of the program.

        Returns
        -------
        dict of (Scope, (m,) array)
        """
        model = numpyro.handlers.seed(self.model, jax.random.key(0))
        log_probs, trace = compute_log_probs(
            model, args, dict(kwargs), dict(values), sum_log_prob=False
        )
        scopes = {name: self.scope(trace[name], len(values[self.site])) for name in log_probs}
        return {
            name: (scopes[name], scopes[name].elements(value)) for name, value in log_probs.items()
        }

    def scope(self, site: Mapping[str, Any], n_items: int) -> Scope:
        """Return the scope of a site of a trace, by the plates it lies in."""
        dims = {frame.name: frame.dim for frame in site["cond_indep_stack"]}
        if self.plate in dims:
            return Scope(self.plate, dims[self.plate], np.arange(n_items)[:, None])
        for view in self.constraints:
            if answers_plate(view) in dims:
                return Scope(answers_plate(view), dims[answers_plate(view)], view.items)
        return Scope(None, 0, np.empty((1, 0), dtype=np.int64))

    def support(self, trace: Mapping[str, Any]) -> jax.Array:
        """Return the values that a label may have, shape (K,)."""
        return jnp.reshape(trace[self.site]["fn"].enumerate_support(expand=False), -1)

    def check(self, trace: Mapping[str, Any]) -> None:
        """Refuse a program whose labels cannot be redrawn one colour at a time, as far as a trace shows it.

        Raises
        ------
        ValueError
            If the labels are missing, observed, no discrete site or not one per item of the plate;
            if other sites are unknown; or if the answers of a view have no plate.
        """
        if self.site not in trace:
            sites = ", ".join(
                repr(name) for name, site in trace.items() if site["type"] == "sample"
            )
            raise ValueError(
                f"the model has no site {self.site!r}, only {sites}: name the site of its labels, site=..."
            )
        z = trace[self.site]
        if z["is_observed"] or not z["fn"].has_enumerate_support:
            found = "observed" if z["is_observed"] else "not from a finite set"
            raise ValueError(
                f"the labels {self.site!r} are {found}: they must be a latent Categorical site."
            )
        frames = [(frame.name, frame.size) for frame in z["cond_indep_stack"]]
        if frames != [(self.plate, *jnp.shape(z["value"]))]:
            raise ValueError(
                f"the labels {self.site!r} have shape {jnp.shape(z['value'])} in the plates {dict(frames)}: they must "
                f"lie in the plate {self.plate!r} alone, one per item; name it by plate=..."
            )
        others = [
            name
            for name, site in trace.items()
            if site["type"] == "sample" and not site["is_observed"]
        ]
        others.remove(self.site)
        if others:
            raise ValueError(
                f"PartitionGibbs redraws {self.site!r} alone, but {', '.join(map(repr, others))} are latent too: make it a "
                "block of numpyro.infer.Gibbs beside kernels for the others, or condition on them."
            )
        self._check_answers(trace, len(z["value"]))

    def _check_answers(self, trace: Mapping[str, Any], n_items: int) -> None:
        plates = {
            frame.name: frame.size
            for site in trace.values()
            for frame in site.get("cond_indep_stack", ())
        }
        for view in self.constraints:
            if view.n_items != n_items:
                raise ValueError(
                    f"the constraints {view.name!r} are on {view.n_items} items, but the model has {n_items} labels "
                    f"{self.site!r}: pass the views that the model has."
                )
            if plates.get(answers_plate(view)) != len(view):
                raise ValueError(
                    f"no site of the model lies in a plate {answers_plate(view)!r} of size {len(view)}: call "
                    "constraint_sites(constraints, z) in it, and pass the same constraints to PartitionGibbs."
                )

    def check_labels(self, z: jax.Array, trace: Mapping[str, Any]) -> None:
        """Refuse first labels that are not one per item, or none of the model's as far as their values are known."""
        shape, support = jnp.shape(trace[self.site]["value"]), self.support(trace)
        if z.shape != shape:
            raise ValueError(
                f"the first labels have shape {z.shape}, but the model has {shape}: pass one per item."
            )
        if isinstance(z, jax.core.Tracer) or isinstance(support, jax.core.Tracer):
            return
        if not np.isin(z, support).all():
            raise ValueError(
                f"the first labels reach from {z.min()} to {z.max()}, but those of the model from {support.min()} to "
                f"{support.max()}: pass labels that it has."
            )

    def check_scopes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Refuse a program whose densities depend on labels outside their scopes.

        Other sites are drawn from the prior, and labels are mixed at random from two random
        labellings: an element must not notice where labels outside its scope come from. Nothing is
        checked where the arguments of the program are abstract.

        Parameters
        ----------
        args, kwargs : tuple, mapping
            Of the program.

        Raises
        ------
        ValueError
            If a site outside the plates of items and answers depends on labels, or one within them
            on labels of others.
        """
        # where a whole run is compiled; otherwise it would only recompile what is compiled already
        staged = isinstance(jnp.zeros(()), jax.core.Tracer)
        with jax.ensure_compile_time_eval() if staged else nullcontext():
            free = {name: value for name, value in kwargs.items() if name != GIBBS_SITES_KWARG}
            trace = self.trace(jax.random.key(1), args, free)
            values = {
                name: s["value"]
                for name, s in trace.items()
                if s["type"] == "sample" and not s["is_observed"]
            }
            support, n = self.support(trace), len(trace[self.site]["value"])
            rng = np.random.default_rng(0)
            labels, mine = (
                rng.integers(len(support), size=(2, TRIALS, n)),
                rng.random((TRIALS, n)) < 0.5,
            )
            stacked = np.concatenate([np.where(mine, *labels), *labels])
            dtype = trace[self.site]["value"].dtype

            def densities(z: jax.Array) -> dict[str, jax.Array]:
                with_labels = values | {self.site: support[z].astype(dtype)}
                return {
                    name: value
                    for name, (_, value) in self.elements(with_labels, args, free).items()
                }

            found = jax.jit(lambda z: jax.lax.map(densities, z))(jnp.asarray(stacked))
        if any(isinstance(value, jax.core.Tracer) for value in jax.tree.leaves(found)):
            return
        for name, value in found.items():
            scope = self.scope(trace[name], n)
            if not scope.kept(mine, *np.split(np.asarray(value), 3)):
                raise ValueError(_outside(name, scope, self.site, self.plate))


def _outside(name: str, scope: Scope, site: str, plate: str) -> str:
    if scope.plate is None:
        how = f"depends on the labels {site!r}, but lies neither in the plate {plate!r} nor in that of the answers of a view"
        mend = "put it into its plate, or pass the view"
    elif scope.plate == plate:
        how, mend = (
            f"depends, for one item of the plate {plate!r}, on the labels of other items",
            "say it item by item",
        )
    else:
        how, mend = (
            f"depends on labels of items that its answers do not name in {scope.plate!r}",
            "pass the model's views",
        )
    return f"site {name!r} {how}: {mend}, or redraw {site!r} by numpyro.infer.DiscreteGibbs."


__all__ = ["Program", "Scope"]
