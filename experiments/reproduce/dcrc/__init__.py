"""The experiments of the DCRC paper: its figures and tables from our own runs, with the paper's numbers beside them.

Run as ``python -m experiments dcrc``. Labels simulate answers and score partitions; no method sees
them.
"""

from experiments.reproduce.dcrc.methods import METHODS
from experiments.reproduce.dcrc.plans import FIGURES, TABLES, Plan
from experiments.reproduce.dcrc.run import reproduce, write

__all__ = ["FIGURES", "METHODS", "TABLES", "Plan", "reproduce", "write"]
