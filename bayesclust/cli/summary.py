"""``bayesclust summary`` and ``report``: a posterior in the terminal, and as one page."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesclust._io import check_target, load_netcdf, replaced
from bayesclust.cli.fit import in_options

if TYPE_CHECKING:
    from bayesclust.report import Findings

SAYS = """
whether the run can be used, how many clusters there are, the partition and how sure it is, which
answers are probably wrong and how reliable each source is."""

SUMMARY_EPILOG = """examples:
  bayesclust summary run.nc
  bayesclust summary run.nc --clusters clusters.csv  each item with its cluster, for other programs

confidence is the posterior probability that an item shares a cluster with a random other member of
its own. P(right) is the probability that an answer is right, given the data and all answers;
"leave-one-out" leaves this one answer out."""


REPORT_EPILOG = """examples:
  bayesclust report run.nc --out run.html
  bayesclust report run.nc --out run.html --title "Second round of answers" --max-listed 100"""


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the commands."""
    file: dict[str, Any] = {"type": Path, "metavar": "FILE"}
    text = "summarize a posterior in the terminal"
    summary = command("summary", text, f"{text.capitalize()}:{SAYS}", SUMMARY_EPILOG)
    text = "summarize a posterior as one page for a browser, which needs no other file"
    report = command("report", text, f"{text.capitalize()}:{SAYS}", REPORT_EPILOG)
    for parser, most in ((summary, 10), (report, 20)):
        text = "netCDF file that fit wrote, or any in ArviZ's groups with z"
        parser.add_argument("posterior", type=Path, help=text)
        listed = "answers to list that are probably wrong (%(default)s)"
        parser.add_argument("--max-listed", type=int, default=most, metavar="N", help=listed)
        ball = "probability of the credible ball (%(default)s)"
        parser.add_argument("--level", type=float, default=0.95, metavar="P", help=ball)
    summary.add_argument("--clusters", help="also write a table: id, cluster, confidence", **file)
    report.add_argument("--out", required=True, help="HTML file to write", **file)
    report.add_argument("--title", metavar="TEXT", help="heading (default: the name of the data)")
    summary.set_defaults(run=run_summary)
    report.set_defaults(run=run_report)


def read_posterior(path: Path) -> Any:
    """A posterior from a netCDF file, whole in memory, or refuse the file."""
    if not path.is_file():
        raise ValueError(
            f"there is no file {path}: bayesclust fit ... --out {path} would write it."
        )
    tree = load_netcdf(path)
    if "posterior" not in tree.children or "z" not in tree["posterior"]:
        raise ValueError(
            f"{path} holds no draws of a partition (posterior/z): pass what bayesclust fit wrote."
        )
    return tree


def _findings(posterior: Any, settings: argparse.Namespace) -> Findings:
    """What is found in a posterior, its advice in the words of the shell."""
    from bayesclust.report import findings

    found = findings(posterior, max_listed=settings.max_listed, level=settings.level)
    advice = [in_options(sentence) for sentence in (found.verdict, *found.surprises)]
    return replace(found, verdict=advice[0], surprises=advice[1:])


def run_summary(settings: argparse.Namespace) -> int:
    """Print the summary."""
    from bayesclust.posterior.similarity import cluster_confidence
    from bayesclust.report import as_text

    if settings.clusters is not None:
        check_target(settings.clusters, inputs=[settings.posterior])
    posterior = read_posterior(settings.posterior)
    found = _findings(posterior, settings)
    print(as_text(found))
    if settings.clusters is not None:
        import pandas as pd

        sure = cluster_confidence(posterior, found.labels).round(4)
        columns = {"id": found.names, "cluster": found.labels, "confidence": sure}
        with replaced(settings.clusters) as draft:
            pd.DataFrame(columns).to_csv(draft, index=False)
    return 0


def run_report(settings: argparse.Namespace) -> int:
    """Write the page."""
    from bayesclust.posterior.diagnosis import DiagnosisWarning
    from bayesclust.report.page import page_of

    check_target(settings.out, inputs=[settings.posterior])
    posterior = read_posterior(settings.posterior)
    print(f"reading the draws and drawing the figures of {settings.posterior}", file=sys.stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosisWarning)  # the page begins with the verdict
        page = page_of(posterior, _findings(posterior, settings), settings.title)
    with replaced(settings.out) as draft:
        draft.write_text(page, encoding="utf-8")
    print(settings.out)
    return 0
