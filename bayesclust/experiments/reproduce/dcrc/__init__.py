"""The experiments of the DCRC paper: its figures and tables from our own runs, with the paper's numbers beside them.

Run as ``bayesclust reproduce dcrc``. Labels simulate answers and score partitions; no method sees
them.
"""

from bayesclust.experiments.reproduce.dcrc.methods import METHODS
from bayesclust.experiments.reproduce.dcrc.plans import FIGURES, TABLES, Plan
from bayesclust.experiments.reproduce.dcrc.run import reproduce, write

__all__ = ["FIGURES", "METHODS", "TABLES", "Plan", "reproduce", "write"]
