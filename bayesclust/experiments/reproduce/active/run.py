"""Plans of sessions, run and written."""

from bayesclust.experiments.reproduce.active import cells
from bayesclust.experiments.reproduce.active.reports import draw, entries, report
from bayesclust.experiments.reproduce.run import Paper

__all__ = ["reproduce", "write"]

PAPER = Paper(cells.run, cells.KINDS, entries, lambda frame, table, plan: report(table, plan), draw)
reproduce, write = PAPER.reproduce, PAPER.write
