"""The plans of IAC, run and written."""

from importlib.util import find_spec

from experiments.reproduce.iac import cells
from experiments.reproduce.iac.figures import draw
from experiments.reproduce.iac.reports import report
from experiments.reproduce.iac.tables import tables
from experiments.reproduce.run import Paper

__all__ = ["reproduce", "write"]


def _solver() -> None:
    if find_spec("ortools") is None:
        raise ModuleNotFoundError(
            "modifications under many constraints need OR-tools, which is not installed: install bayesclust with its extra "
            "'solver'."
        )


PAPER = Paper(cells.run, cells.KINDS, tables, report, draw, check=_solver)
reproduce, write = PAPER.reproduce, PAPER.write
