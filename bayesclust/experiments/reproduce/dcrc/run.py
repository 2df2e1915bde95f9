"""The DCRC paper's plans, run and written."""

from bayesclust.experiments.reproduce.dcrc import cells
from bayesclust.experiments.reproduce.dcrc.figures import draw
from bayesclust.experiments.reproduce.dcrc.reports import report
from bayesclust.experiments.reproduce.dcrc.tables import tables
from bayesclust.experiments.reproduce.run import Paper

__all__ = ["reproduce", "write"]

PAPER = Paper(
    cells.run,
    cells.KINDS,
    tables,
    report,
    lambda frame, entries, plan, folder: draw(entries, plan, folder),
)
reproduce, write = PAPER.reproduce, PAPER.write
