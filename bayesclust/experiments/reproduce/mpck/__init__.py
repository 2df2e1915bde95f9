"""The experiments of the MPCK-Means paper: its learning curves from our own runs.

Run as ``bayesclust reproduce mpck``. Labels simulate answers and score partitions; no method sees
them.
"""

from bayesclust.experiments.reproduce.mpck.methods import METHODS
from bayesclust.experiments.reproduce.mpck.plans import FIGURES, Plan
from bayesclust.experiments.reproduce.mpck.run import reproduce, write

__all__ = ["FIGURES", "METHODS", "Plan", "reproduce", "write"]
