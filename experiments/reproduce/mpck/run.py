"""The MPCK-Means paper's plans, run and written."""

from experiments.reproduce.mpck import cells
from experiments.reproduce.mpck.reports import curves, draw, report
from experiments.reproduce.run import Paper

__all__ = ["reproduce", "write"]

PAPER = Paper(
    cells.run,
    cells.KINDS,
    curves,
    lambda frame, entries, plan: report(entries, plan),
    lambda frame, entries, plan, folder: draw(entries, plan, folder),
)
reproduce, write = PAPER.reproduce, PAPER.write
