"""NumPyro when it is needed: importing the models stays light."""

from __future__ import annotations

from typing import Any


def numpyro_modules() -> tuple[Any, Any, Any]:
    """Return jax.numpy, numpyro and numpyro.distributions."""
    import jax.numpy
    import numpyro
    import numpyro.distributions

    return jax.numpy, numpyro, numpyro.distributions
