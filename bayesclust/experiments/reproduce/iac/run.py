"""The plans of IAC, run and written."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from bayesclust.experiments.reproduce.iac import cells
from bayesclust.experiments.reproduce.iac.figures import draw
from bayesclust.experiments.reproduce.iac.plans import Plan
from bayesclust.experiments.reproduce.iac.reports import report
from bayesclust.experiments.reproduce.iac.tables import tables
from bayesclust.experiments.reproduce.run import Paper

__all__ = ["reproduce", "write"]

PAPER = Paper(cells.run, cells.KINDS, tables, report, draw)
write = PAPER.write


def reproduce(plan: Plan, folder: Path, *, progress: bool = True) -> list[Path]:
    """Run the cells that are missing, and write tables and figures, also when interrupted.

    Parameters
    ----------
    plan : Plan
    folder : pathlib.Path
        Made where it is missing. Cells of an earlier run that are in its `cells.csv` are not run again.
    progress : bool, default True
        Show a bar on standard error.

    Returns
    -------
    list of pathlib.Path
        What was written.

    Raises
    ------
    ModuleNotFoundError
        If OR-tools is not installed, before anything is run.
    KeyboardInterrupt
        After the files are written from the cells that are done.
    """
    if find_spec("ortools") is None:
        raise ModuleNotFoundError(
            "modifications under many constraints need OR-tools, which is not installed: install bayesclust with its extra "
            "'solver'."
        )
    return PAPER.reproduce(plan, folder, progress=progress)
