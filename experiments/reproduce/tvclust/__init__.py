"""The experiments of the TVClust paper, section 5: its tables and figures from our own runs, with the paper's beside them.

Run as ``python -m experiments tvclust``. Labels simulate answers and score partitions; no method
sees them.
"""

from experiments.reproduce.tvclust.methods import METHODS
from experiments.reproduce.tvclust.plans import FIGURES, TABLES, Plan
from experiments.reproduce.tvclust.run import reproduce, write

__all__ = ["FIGURES", "METHODS", "TABLES", "Plan", "reproduce", "write"]
