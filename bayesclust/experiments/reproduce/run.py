"""The loop of a reproduction: what is missing is run, with progress, and results are written also when it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bayesclust.experiments.reproduce import cells

__all__ = ["CELLS", "complete"]

CELLS = "cells.csv"


def complete[C: tuple[Any, ...]](
    wanted: Sequence[C],
    run: Callable[[C], dict[str, Any]],
    path: Path,
    kinds: Mapping[str, str],
    write: Callable[[], list[Path]],
    *,
    progress: bool = True,
) -> list[Path]:
    """Run the cells that are missing, then write.

    Parameters
    ----------
    wanted : sequence of NamedTuple
        Cells, which have a method and data.
    run : callable
        Fits and scores one of them.
    path : pathlib.Path
        File of cells. Those that it holds are not run again.
    kinds : mapping of str
        Its columns, as in `bayesclust.experiments.reproduce.cells`.
    write : callable
        Makes tables and figures of what is done, and returns the files.
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

    left = cells.missing(wanted, cells.load(path, kinds))
    try:
        with tqdm(total=len(wanted), initial=len(wanted) - len(left), unit="cell", disable=not progress) as bar:
            for row in cells.run_all(left, run, path, kinds):
                bar.set_postfix_str(f"{row['method']} on {row['data']}", refresh=False)
                bar.update()
    except KeyboardInterrupt as interrupt:
        write()
        still = len(cells.missing(wanted, cells.load(path, kinds)))
        interrupt.add_note(f"{len(wanted) - still} of {len(wanted)} cells are done and kept: the same command goes on.")
        raise
    return write()
