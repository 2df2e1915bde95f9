"""The plans of views, run and written."""

from bayesclust.experiments.reproduce.run import Paper
from bayesclust.experiments.reproduce.views import cells
from bayesclust.experiments.reproduce.views.reports import draw, report, table

__all__ = ["reproduce", "write"]

PAPER = Paper(cells.run, cells.KINDS, table, report, draw)
reproduce, write = PAPER.reproduce, PAPER.write
