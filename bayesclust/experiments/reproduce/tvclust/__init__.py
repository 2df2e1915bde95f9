"""The experiments of the TVClust paper, section 5: its tables and figures from our own runs, with the paper's beside them.

Run as ``bayesclust reproduce tvclust``. Labels simulate answers and score partitions; no method
sees them.
"""

from bayesclust.experiments.reproduce.tvclust.methods import METHODS
from bayesclust.experiments.reproduce.tvclust.plans import FIGURES, TABLES, Plan
from bayesclust.experiments.reproduce.tvclust.run import reproduce, write

__all__ = ["FIGURES", "METHODS", "TABLES", "Plan", "reproduce", "write"]
