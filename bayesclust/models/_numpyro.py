"""NumPyro when it is needed: importing the package stays light, and JAX computes in 64 bits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def load() -> Any:
    """Return jax.numpy, numpyro and numpyro.distributions as attributes jnp, numpyro and dist."""
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    return SimpleNamespace(jnp=jnp, numpyro=numpyro, dist=dist)
