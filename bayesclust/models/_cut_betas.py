"""Beta distributions cut to where answers inform, as NumPyro distributions; imported only where NumPyro is."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from jax.scipy.special import betainc


def log_below(a: float, b: float, x: Any) -> Any:
    """log P(X < x), X ~ Beta(a, b)."""
    return jnp.log(betainc(a, b, x))


class BetaBelow(dist.Distribution):  # type: ignore[misc]
    """Beta(a, b) given that the variable is less than `high`, an array that gives the batch shape."""

    pytree_data_fields = ("a", "b", "high")

    def __init__(self, a: float, b: float, high: Any, *, validate_args: bool | None = None) -> None:
        self.a, self.b, self.high = a, b, jnp.asarray(high)
        super().__init__(batch_shape=self.high.shape, validate_args=validate_args)

    @dist.constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Below `high`."""
        return dist.constraints.interval(0.0, self.high)

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """Try until all are below: `LinkNoise` and `UniformNoise` refuse priors that would have this take long."""
        shape = sample_shape + self.batch_shape

        def below(key: Any) -> tuple[Any, Any]:
            x = jax.random.beta(key, self.a, self.b, shape)
            return x, x < self.high

        return _until_accepted(below, key)

    def log_prob(self, value: Any) -> Any:
        """Log density inside."""
        return dist.Beta(self.a, self.b).log_prob(value) - log_below(self.a, self.b, self.high)


class BetaAbove(BetaBelow):
    """Beta(a, b) given that the variable is larger than `low`."""

    def __init__(self, a: float, b: float, low: Any, *, validate_args: bool | None = None) -> None:
        super().__init__(b, a, 1 - jnp.asarray(low), validate_args=validate_args)

    @dist.constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Above `low`."""
        return dist.constraints.interval(1 - self.high, 1.0)

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """One minus a variable below."""
        return 1 - super().sample(key, sample_shape)

    def log_prob(self, value: Any) -> Any:
        """Log density inside."""
        return super().log_prob(1 - value)


class BetaWithPartner(dist.Distribution):  # type: ignore[misc]
    """Q ~ Beta(c, d) given that P + Q > 1, P ~ Beta(a, b) left out; `log_mass` is the log probability of that."""

    support = dist.constraints.unit_interval
    pytree_data_fields = ("p", "q", "log_mass")
    pytree_aux_fields = ("number",)

    def __init__(
        self,
        q: tuple[float, float],
        p: tuple[float, float],
        log_mass: float,
        number: int,
        *,
        validate_args: bool | None = None,
    ) -> None:
        self.p, self.q, self.log_mass, self.number = p, q, log_mass, number
        super().__init__(batch_shape=(number,), validate_args=validate_args)

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """Try pairs until the sums of all are above 1."""
        shape = sample_shape + self.batch_shape

        def together(key: Any) -> tuple[Any, Any]:
            first, second = jax.random.split(key)
            q = jax.random.beta(first, *self.q, shape)
            return q, jax.random.beta(second, *self.p, shape) + q > 1

        return _until_accepted(together, key)

    def log_prob(self, value: Any) -> Any:
        """log density of Q times P(P > 1 - Q), normalised."""
        a, b = self.p
        return dist.Beta(*self.q).log_prob(value) + log_below(b, a, value) - self.log_mass


def _until_accepted(propose: Any, key: Any) -> Any:
    """Repeat proposals (values, accepted) until each entry has been accepted once."""

    def step(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        key, kept, done = carry
        key, use = jax.random.split(key)
        proposed, accepted = propose(use)
        return key, jnp.where(done, kept, proposed), done | accepted

    key, use = jax.random.split(key)
    _, kept, _ = jax.lax.while_loop(lambda carry: ~carry[2].all(), step, (key, *propose(use)))
    return kept


__all__ = ["BetaAbove", "BetaBelow", "BetaWithPartner"]
