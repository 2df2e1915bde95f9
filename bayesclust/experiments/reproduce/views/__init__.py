"""Which view of a cluster lets answers through: classes that are Gaussian and classes that are not.

Run as ``bayesclust reproduce views``. Labels simulate answers and score partitions; no method sees
them.
"""

from bayesclust.experiments.reproduce.views.methods import METHODS
from bayesclust.experiments.reproduce.views.plans import PARTS, Plan
from bayesclust.experiments.reproduce.views.run import reproduce, write

__all__ = ["METHODS", "PARTS", "Plan", "reproduce", "write"]
