"""What is believed: families, priors of partitions, and the models as NumPyro programs.

JAX is told to compute in 64 bits, but not loaded: only running a program does that.
"""

import os
import sys

from bayesclust.models.answers import answer_sites
from bayesclust.models.joint import log_joint
from bayesclust.models.tvclust import tvclust

# JAX reads the variable when it is loaded; a JAX that is loaded already has to be told.
os.environ.setdefault("JAX_ENABLE_X64", "1")
if "jax" in sys.modules:
    sys.modules["jax"].config.update("jax_enable_x64", True)

__all__ = ["answer_sites", "log_joint", "tvclust"]
