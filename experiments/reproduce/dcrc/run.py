"""The DCRC paper's plans, run and written."""

from experiments.reproduce.dcrc import cells
from experiments.reproduce.dcrc.figures import draw
from experiments.reproduce.dcrc.reports import report
from experiments.reproduce.dcrc.tables import tables
from experiments.reproduce.run import Paper

__all__ = ["reproduce", "write"]

PAPER = Paper(
    cells.run,
    cells.KINDS,
    tables,
    report,
    lambda frame, entries, plan, folder: draw(entries, plan, folder),
)
reproduce, write = PAPER.reproduce, PAPER.write
