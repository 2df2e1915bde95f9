"""The TVClust paper's plans, run and written."""

from bayesclust.experiments.reproduce.run import Paper
from bayesclust.experiments.reproduce.tvclust import cells
from bayesclust.experiments.reproduce.tvclust.figures import draw
from bayesclust.experiments.reproduce.tvclust.methods import EVERY_METHOD
from bayesclust.experiments.reproduce.tvclust.reports import report
from bayesclust.experiments.reproduce.tvclust.tables import tables

__all__ = ["reproduce", "write"]

PAPER = Paper(
    lambda cell: cells.run(cell, EVERY_METHOD[cell.method]),
    cells.KINDS,
    tables,
    lambda frame, entries, plan: report(entries, plan),
    draw,
)
reproduce, write = PAPER.reproduce, PAPER.write
