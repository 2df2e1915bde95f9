"""The experiments of the MPCK-Means paper: its learning curves from our own runs.

Run as ``python -m experiments mpck``. Labels simulate answers and score partitions; no method sees
them.
"""

from experiments.reproduce.mpck.methods import METHODS
from experiments.reproduce.mpck.plans import FIGURES, Plan
from experiments.reproduce.mpck.run import reproduce, write

__all__ = ["FIGURES", "METHODS", "Plan", "reproduce", "write"]
