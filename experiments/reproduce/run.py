"""From a plan to files: what is missing is run, with progress, and results are written also when it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesclust._files import replaced
from experiments.reproduce import cells

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CELLS", "Paper"]

CELLS = "cells.csv"


@dataclass(frozen=True)
class Paper:
    """How the plans of a paper become tables and figures.

    Parameters
    ----------
    run : callable
        Fits and scores one cell, a NamedTuple that has a method and data.
    kinds : mapping of str
        Columns of the file of cells, as in `experiments.reproduce.cells`.
    tables : callable
        Entries of the tables, from the plan's cells that are done and the plan.
    report : callable
        The same in Markdown, from cells, entries and plan.
    draw : callable
        Writes figures, and returns their files, from cells, entries, plan and a folder.
    check : callable or None, default None
        Called before anything is run; raises where something is missing that the cells need.
    """

    run: Callable[[Any], dict[str, Any]]
    kinds: Mapping[str, str]
    tables: Callable[[pd.DataFrame, Any], pd.DataFrame]
    report: Callable[[pd.DataFrame, pd.DataFrame, Any], str]
    draw: Callable[[pd.DataFrame, pd.DataFrame, Any, Path], list[Path]]
    check: Callable[[], None] | None = None

    def reproduce(self, plan: Any, folder: Path, *, progress: bool = True) -> list[Path]:
        """Run the cells that are missing, and write tables and figures, also when interrupted.

        Parameters
        ----------
        plan : Plan
        folder : pathlib.Path
            Made where it is missing. Cells of an earlier run that are in its `cells.csv` are not
            run again.
        progress : bool, default True
            Show a bar on standard error.

        Returns
        -------
        list of pathlib.Path
            What was written.

        Raises
        ------
        Exception
            What `check` raises.
        KeyboardInterrupt
            After the files are written from the cells that are done.
        """
        from tqdm import tqdm

        if self.check is not None:
            self.check()
        wanted, path = plan.cells(), folder / CELLS
        left = cells.missing(wanted, cells.load(path, self.kinds))
        try:
            with tqdm(
                total=len(wanted),
                initial=len(wanted) - len(left),
                unit="cell",
                disable=not progress,
            ) as bar:
                for row in cells.run_all(left, self.run, path, self.kinds):
                    bar.set_postfix_str(f"{row['method']} on {row['data']}", refresh=False)
                    bar.update()
        except KeyboardInterrupt as interrupt:
            self.write(plan, folder)
            still = len(cells.missing(wanted, cells.load(path, self.kinds)))
            interrupt.add_note(
                f"{len(wanted) - still} of {len(wanted)} cells are done and kept: the same command goes on."
            )
            raise
        return self.write(plan, folder)

    def write(self, plan: Any, folder: Path) -> list[Path]:
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
        frame = cells.load(folder / CELLS, self.kinds)
        frame = frame[(frame.seed == plan.seed) & (frame.trial < plan.trials)]
        entries = self.tables(frame, plan)
        with replaced(folder / "tables.csv") as draft:
            entries.to_csv(draft, index=False)
        with replaced(folder / "tables.md") as draft:
            draft.write_text(self.report(frame, entries, plan) + "\n", encoding="utf-8")
        return [
            folder / CELLS,
            folder / "tables.csv",
            folder / "tables.md",
            *self.draw(frame, entries, plan, folder),
        ]
