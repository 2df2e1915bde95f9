"""Which view of a cluster lets answers through: classes that are Gaussian and classes that are not.

Run as ``python -m experiments views``. Labels simulate answers and score partitions; no method sees
them.
"""

from experiments.reproduce.views.methods import METHODS
from experiments.reproduce.views.plans import PARTS, Plan
from experiments.reproduce.views.run import reproduce, write

__all__ = ["METHODS", "PARTS", "Plan", "reproduce", "write"]
