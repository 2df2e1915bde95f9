"""NumPyro when it is needed: importing the models stays light."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bayesclust.typing import FloatArray


def numpyro_modules() -> tuple[Any, Any, Any]:
    """Return jax.numpy, numpyro and numpyro.distributions."""
    import jax.numpy
    import numpyro
    import numpyro.distributions

    return jax.numpy, numpyro, numpyro.distributions


def seen_only(distribution: Any, X: FloatArray) -> Any:
    """A distribution of cells that leaves the missing ones (NaN) of X out of its log density."""
    seen = ~np.isnan(X)
    return distribution if seen.all() else distribution.mask(seen)


@cache
def blocks() -> Any:
    """The class of distributions of rows whose blocks of columns are independent vectors."""
    jnp, _, dist = numpyro_modules()
    import jax

    class Blocks(dist.Distribution):  # type: ignore[misc,name-defined]
        pytree_data_fields = ("parts",)
        pytree_aux_fields = ("widths",)
        support = dist.constraints.real_vector

        def __init__(self, parts: tuple[Any, ...], widths: tuple[int, ...]) -> None:
            self.parts, self.widths = parts, widths
            # missing cells are NaN, which no support has, and the parts mask them
            super().__init__(parts[0].batch_shape, (sum(widths),), validate_args=False)

        def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
            keys = jax.random.split(key, len(self.parts))
            pairs = zip(self.parts, keys, strict=True)
            drawn = [part.sample(own, sample_shape).astype(float) for part, own in pairs]
            return jnp.concatenate(drawn, axis=-1)

        def log_prob(self, value: Any) -> Any:
            columns = jnp.split(jnp.asarray(value), np.cumsum(self.widths)[:-1], axis=-1)
            total = 0.0
            for part, block in zip(self.parts, columns, strict=True):
                whole = part.support.is_discrete
                total += part.log_prob(jnp.nan_to_num(block).astype(int) if whole else block)
            return total

    return Blocks
