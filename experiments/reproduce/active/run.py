"""Plans of sessions, run and written."""

from experiments.reproduce.active import cells
from experiments.reproduce.active.reports import draw, entries, report
from experiments.reproduce.run import Paper

__all__ = ["reproduce", "write"]

PAPER = Paper(cells.run, cells.KINDS, entries, lambda frame, table, plan: report(table, plan), draw)
reproduce, write = PAPER.reproduce, PAPER.write
