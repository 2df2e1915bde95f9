"""Which way to choose questions teaches a clustering most: curves of F by number of answers, some of them wrong.

Run as ``python -m experiments active``. Classes simulate the expert and score partitions; no chooser
sees them.
"""

from experiments.reproduce.active.methods import METHODS
from experiments.reproduce.active.plans import Plan
from experiments.reproduce.active.run import reproduce, write

__all__ = ["METHODS", "Plan", "reproduce", "write"]
