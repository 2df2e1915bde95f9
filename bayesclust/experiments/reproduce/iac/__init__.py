"""The experiments of IAC (incremental constrained clustering by minimal weighted modification), from our own runs.

Run as ``bayesclust reproduce iac``. Labels simulate answers and score partitions; no method sees
them.
"""

from bayesclust.experiments.reproduce.iac.methods import METHODS
from bayesclust.experiments.reproduce.iac.plans import Plan
from bayesclust.experiments.reproduce.iac.run import reproduce, write

__all__ = ["METHODS", "Plan", "reproduce", "write"]
