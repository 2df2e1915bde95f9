"""The command line, ``bayesclust``. The function `add` of a file here describes its commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from bayesclust.cli import ask, compare, fit, predict, summary
from bayesclust.cli.fit import INTERRUPTED

__all__ = ["main", "parser"]

REFUSED = 1
MISUSED = 2
NO_FILE = {
    FileNotFoundError: "there is no file {}: correct its name.",
    IsADirectoryError: "{} is a folder: name a file.",
    PermissionError: "{} may not be read or written: change its permissions.",
}
"""What errors of the system mean."""
CUT_OFF = 141
"""As of a process that SIGPIPE ends."""
REFUSALS = (ValueError, TypeError, OSError, MemoryError, RuntimeError, ModuleNotFoundError)

EPILOG = """examples:
  bayesclust fit data.csv --pairs pairs.csv --out run.nc      a table, and answers about its rows
  bayesclust summary run.nc                                   what the posterior says
  bayesclust report run.nc --out run.html                     the same with figures, as one page
  bayesclust predict run.nc new.csv --out placed.csv          the clusters of new items
  bayesclust compare run.nc other.nc classes.csv              fits and labels side by side
  bayesclust ask iris --session iris.npz                      answer questions, correct a partition
  bayesclust COMMAND --help                                   all options of a command

Results go to standard output and to files, progress to standard error.
exit codes: 0 done; 1 refused, with one sentence that says why; 2 misused; 130 interrupted;
141 nobody reads the results"""


def parser() -> argparse.ArgumentParser:
    """Describe the whole command line."""
    top = argparse.ArgumentParser(
        prog="bayesclust",
        description="Bayesian constrained clustering: infers clusters and their uncertainty from "
        "data together with noisy constraints.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {version('bayesclust')}")
    commands = top.add_subparsers(metavar="COMMAND", title="commands")

    def command(name: str, text: str, about: str, epilog: str) -> argparse.ArgumentParser:
        own: dict[str, Any] = {"description": about, "epilog": epilog}
        return commands.add_parser(name, help=text, formatter_class=top.formatter_class, **own)

    for module in (fit, summary, predict, compare, ask):
        module.add(command)
    return top


def say(text: str, error: BaseException) -> None:
    """Print a sentence and the notes of an error to standard error."""
    print("\n  ".join([text, *getattr(error, "__notes__", [])]), file=sys.stderr)


def sentence(error: Exception) -> str:
    """What an error says, of files that the system refuses in words of ours."""
    told = NO_FILE.get(type(error))  # type: ignore[arg-type]
    path = getattr(error, "filename", None)
    return str(error) if told is None or path is None else told.format(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process, and return the exit code."""
    top = parser()
    settings = top.parse_args(arguments)
    if not hasattr(settings, "run"):
        top.print_help(sys.stderr)
        return MISUSED
    try:
        code: int = settings.run(settings)
        print(end="", flush=True)
    except KeyboardInterrupt as interrupt:
        say("\nbayesclust: interrupted.", interrupt)
        return INTERRUPTED
    except BrokenPipeError:  # such as of `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # flushed at exit
        return CUT_OFF
    except Exception as error:
        ours = f"{type(error).__name__}, an error of the program: "
        why = sentence(error)
        why = fit.in_options(why) if settings.run is fit.run else why
        say(f"bayesclust: {'' if isinstance(error, REFUSALS) else ours}{why}", error)
        return REFUSED
    return code
