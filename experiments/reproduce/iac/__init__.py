"""The experiments of IAC (incremental constrained clustering by minimal weighted modification), from our own runs.

Run as ``python -m experiments iac``. Labels simulate answers and score partitions; no method sees
them.
"""

from experiments.reproduce.iac.methods import METHODS
from experiments.reproduce.iac.plans import Plan
from experiments.reproduce.iac.run import reproduce, write

__all__ = ["METHODS", "Plan", "reproduce", "write"]
