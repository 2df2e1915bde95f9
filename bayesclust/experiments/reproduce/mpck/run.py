"""From a plan to files: cells, curves, figures."""

from __future__ import annotations

from pathlib import Path

from bayesclust.experiments.reproduce.cells import load
from bayesclust.experiments.reproduce.mpck import cells
from bayesclust.experiments.reproduce.mpck.plans import Plan
from bayesclust.experiments.reproduce.mpck.reports import curves, draw, report
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
    entries = curves(frame[(frame.seed == plan.seed) & (frame.trial < plan.trials)], plan)
    entries.to_csv(folder / "tables.csv", index=False)
    (folder / "tables.md").write_text(report(entries, plan) + "\n", encoding="utf-8")
    return [folder / CELLS, folder / "tables.csv", folder / "tables.md", *draw(entries, plan, folder)]
