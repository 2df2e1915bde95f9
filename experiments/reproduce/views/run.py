"""The plans of views, run and written."""

from experiments.reproduce.run import Paper
from experiments.reproduce.views import cells
from experiments.reproduce.views.reports import draw, report, table

__all__ = ["reproduce", "write"]

PAPER = Paper(cells.run, cells.KINDS, table, report, draw)
reproduce, write = PAPER.reproduce, PAPER.write
