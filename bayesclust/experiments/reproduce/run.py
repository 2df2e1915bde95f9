"""From a plan to files: cells, tables, figures."""

from __future__ import annotations

from pathlib import Path

from bayesclust.experiments.reproduce import cells
from bayesclust.experiments.reproduce.figures import draw
from bayesclust.experiments.reproduce.methods import EVERY_METHOD
from bayesclust.experiments.reproduce.plans import Plan
from bayesclust.experiments.reproduce.reports import report
from bayesclust.experiments.reproduce.tables import tables

__all__ = ["CELLS", "reproduce", "write"]

CELLS = "cells.csv"


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
    from tqdm import tqdm

    path = folder / CELLS
    wanted = plan.cells()
    left = cells.missing(wanted, cells.load(path))
    try:
        with tqdm(total=len(wanted), initial=len(wanted) - len(left), unit="cell", disable=not progress) as bar:
            for row in cells.run_all(left, EVERY_METHOD, path):
                bar.set_postfix_str(f"{row['method']} on {row['data']}", refresh=False)
                bar.update()
    except KeyboardInterrupt as interrupt:
        write(plan, folder)
        still = len(cells.missing(wanted, cells.load(path)))
        interrupt.add_note(f"{len(wanted) - still} of {len(wanted)} cells are done and kept: the same command goes on.")
        raise
    return write(plan, folder)


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
    frame = cells.load(folder / CELLS)
    frame = frame[(frame.seed == plan.seed) & (frame.trial < plan.trials)]
    entries = tables(frame, plan)
    entries.to_csv(folder / "tables.csv", index=False)
    (folder / "tables.md").write_text(report(entries, plan) + "\n", encoding="utf-8")
    return [folder / CELLS, folder / "tables.csv", folder / "tables.md", *draw(frame, entries, plan, folder)]
