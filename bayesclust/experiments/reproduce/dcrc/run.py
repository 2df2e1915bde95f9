"""From a plan to files: cells, tables, figures."""

from __future__ import annotations

from pathlib import Path

from bayesclust.experiments.reproduce.cells import load
from bayesclust.experiments.reproduce.dcrc import cells
from bayesclust.experiments.reproduce.dcrc.figures import draw
from bayesclust.experiments.reproduce.dcrc.plans import Plan
from bayesclust.experiments.reproduce.dcrc.reports import report
from bayesclust.experiments.reproduce.dcrc.tables import tables
from bayesclust.experiments.reproduce.run import CELLS, complete

__all__ = ["reproduce", "write"]


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
    KeyboardInterrupt
        After the files are written from the cells that are done.
    """
    path = folder / CELLS
    return complete(plan.cells(), cells.run, path, cells.KINDS, lambda: write(plan, folder), progress=progress)


def write(plan: Plan, folder: Path) -> list[Path]:
    """Write tables and figures from the cells that are done.

    Parameters
    ----------
    plan : Plan
    folder : pathlib.Path

    Returns
    -------
    list of pathlib.Path
        `cells.csv`, `tables.csv`, `tables.md` and the figures as PNG and SVG.
    """
    frame = load(folder / CELLS, cells.KINDS)
    frame = frame[(frame.seed == plan.seed) & (frame.trial < plan.trials)]
    tables(frame, plan).to_csv(folder / "tables.csv", index=False)
    (folder / "tables.md").write_text(report(frame, plan) + "\n", encoding="utf-8")
    return [folder / CELLS, folder / "tables.csv", folder / "tables.md", *draw(frame, plan, folder)]
