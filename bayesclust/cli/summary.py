"""``bayesclust summary``: what a posterior says, in the terminal."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

from bayesclust._io import check_target, replaced
from bayesclust.cli._describe import describe
from bayesclust.cli._files import read_posterior

__all__ = ["add", "run"]

ABOUT = """Say in the terminal what a posterior says: whether the run can be trusted, how many clusters there are, the
partition that stands best for all draws and how far the posterior reaches around it, which items are unsure, which answers
are to be doubted, and how reliable each source is."""

EPILOG = """examples:
  bayesclust summary run.nc
  bayesclust summary run.nc --max-listed 50
  bayesclust summary run.nc --labels labels.csv      each item with its cluster, for other programs

confidence is the posterior probability that an item shares a cluster with a random other member of its own. P(right) is the
probability that an answer is right, given the data and all answers; "without its own say" leaves this one answer out."""


def add(commands: Any) -> None:
    """Describe the command.

    Parameters
    ----------
    commands : argparse subparsers
    """
    parser = describe(commands, "summary", "what a posterior says, in the terminal", ABOUT, EPILOG)
    parser.add_argument(
        "posterior", type=Path, help="netCDF file that fit wrote, or any in ArviZ's groups with z"
    )
    parser.add_argument(
        "--max-listed",
        type=int,
        default=10,
        metavar="N",
        help="doubted answers to list (%(default)s)",
    )
    parser.add_argument(
        "--level", type=float, default=0.95, metavar="P", help="of the credible ball (%(default)s)"
    )
    parser.add_argument(
        "--labels", type=Path, metavar="FILE", help="also write a table: id, cluster, confidence"
    )
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Print the summary.

    Parameters
    ----------
    settings : argparse.Namespace
        Parsed.

    Returns
    -------
    int
        Exit code.
    """
    from bayesclust.posterior.similarity import cluster_confidence
    from bayesclust.report import as_text, findings

    if settings.labels is not None:
        check_target(settings.labels)
    posterior = read_posterior(settings.posterior)
    found = findings(posterior, max_listed=settings.max_listed, level=settings.level)
    print(as_text(found))
    if settings.labels is not None:
        sure = cluster_confidence(posterior, found.labels)
        with (
            replaced(settings.labels) as draft,
            draft.open("w", encoding="utf-8", newline="") as file,
        ):
            table = csv.writer(file)
            table.writerow(["id", "cluster", "confidence"])
            for name, label, share in zip(found.names, found.labels, sure, strict=True):
                table.writerow([name, int(label), f"{share:.4f}"])
    return 0
