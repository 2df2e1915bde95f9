"""Which way to choose questions teaches a clustering most: curves of F by number of answers, some of them wrong.

Run as ``bayesclust reproduce active``. Classes simulate the expert and score partitions; no chooser
sees them.
"""

from bayesclust.experiments.reproduce.active.methods import METHODS
from bayesclust.experiments.reproduce.active.plans import Plan
from bayesclust.experiments.reproduce.active.run import reproduce, write

__all__ = ["METHODS", "Plan", "reproduce", "write"]
