"""The command line, ``bayesclust``. Each subcommand is one file here, with a function `add` that describes and wires it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from bayesclust.cli import ask, compare, fit, report, reproduce, summary
from bayesclust.cli._codes import INTERRUPTED, MISUSED, REFUSED

__all__ = ["COMMANDS", "main"]

COMMANDS = (fit, summary, report, compare, ask, reproduce)
"""Modules with a function ``add(commands)``, which adds a parser to what `ArgumentParser.add_subparsers` returned and sets
its default `run`: a function of the parsed settings that returns the exit code."""

EPILOG = """examples:
  bayesclust fit data.csv --pairs pairs.csv --out run.nc      a table and answers about pairs of its rows
  bayesclust summary run.nc                                   what the posterior says
  bayesclust report run.nc --out run.html                     the same with figures, as one page
  bayesclust compare run.nc other.nc labels.csv               fits and labels side by side
  bayesclust ask iris --session iris.npz                      answer questions about pairs, and see the partition follow
  bayesclust COMMAND --help                                   what a command does, and all its options

Results go to standard output and to files, progress to standard error.
exit codes: 0 done; 1 refused, with one sentence that says why; 2 not called rightly; 130 interrupted (Ctrl-C)"""


def parser() -> argparse.ArgumentParser:
    """Describe the whole command line.

    Returns
    -------
    argparse.ArgumentParser
    """
    top = argparse.ArgumentParser(
        prog="bayesclust",
        description="Bayesian clustering with side information: posteriors over partitions from data and doubtful answers.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {version('bayesclust')}")
    commands = top.add_subparsers(metavar="COMMAND", title="commands")
    for module in COMMANDS:
        module.add(commands)
    return top


def say(text: str, error: BaseException) -> None:
    """Print a sentence and the notes of an error to standard error."""
    print("\n  ".join([text, *getattr(error, "__notes__", [])]), file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process where None.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    SystemExit
        From argparse: 0 after ``--help`` and ``--version``, 2 where options are not understood.
    """
    top = parser()
    settings = top.parse_args(arguments)
    if not hasattr(settings, "run"):
        top.print_help(sys.stderr)
        return MISUSED
    try:
        code: int = settings.run(settings)
    except KeyboardInterrupt as interrupt:
        say("\nbayesclust: interrupted.", interrupt)
        return INTERRUPTED
    except (ValueError, OSError, ModuleNotFoundError) as error:
        say(f"bayesclust: {error}", error)
        return REFUSED
    return code
