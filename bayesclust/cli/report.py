"""``bayesclust report``: what a posterior says, as one page for a browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from bayesclust._io import check_target, replaced
from bayesclust.cli._describe import describe
from bayesclust.cli._files import read_posterior

__all__ = ["add", "run"]

ABOUT = """Write what a posterior says as one HTML page: whether the run can be trusted, how many clusters there are, the
partition and how sure it is, which answers are to be doubted and how reliable each source is, with figures. The page needs
no other file and no network, and is the same for the same posterior."""

EPILOG = """examples:
  bayesclust report run.nc --out run.html
  bayesclust report run.nc --out run.html --title "Second round of answers" --max-listed 100"""


def add(commands: Any) -> None:
    """Describe the command.

    Parameters
    ----------
    commands : argparse subparsers
    """
    parser = describe(
        commands, "report", "what a posterior says, as one page for a browser", ABOUT, EPILOG
    )
    parser.add_argument(
        "posterior", type=Path, help="netCDF file that fit wrote, or any in ArviZ's groups with z"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="HTML file to write"
    )
    parser.add_argument("--title", metavar="TEXT", help="heading (default: the name of the data)")
    parser.add_argument(
        "--max-listed",
        type=int,
        default=20,
        metavar="N",
        help="doubted answers to list (%(default)s)",
    )
    parser.add_argument(
        "--level", type=float, default=0.95, metavar="P", help="of the credible ball (%(default)s)"
    )
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Write the page.

    Parameters
    ----------
    settings : argparse.Namespace
        Parsed.

    Returns
    -------
    int
        Exit code.
    """
    from bayesclust.report import report_page

    check_target(settings.out)
    posterior = read_posterior(settings.posterior)
    print(f"reading the draws and drawing the figures of {settings.posterior}", file=sys.stderr)
    page = report_page(
        posterior, title=settings.title, max_listed=settings.max_listed, level=settings.level
    )
    with replaced(settings.out) as draft:
        draft.write_text(page, encoding="utf-8")
    print(settings.out)
    return 0
