"""The TVClust paper's plans, run and written."""

from experiments.reproduce.run import Paper
from experiments.reproduce.tvclust import cells
from experiments.reproduce.tvclust.figures import draw
from experiments.reproduce.tvclust.methods import EVERY_METHOD
from experiments.reproduce.tvclust.reports import report
from experiments.reproduce.tvclust.tables import tables

__all__ = ["reproduce", "write"]

PAPER = Paper(
    lambda cell: cells.run(cell, EVERY_METHOD[cell.method]),
    cells.KINDS,
    tables,
    lambda frame, entries, plan: report(entries, plan),
    draw,
)
reproduce, write = PAPER.reproduce, PAPER.write
