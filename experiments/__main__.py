"""``python -m experiments PAPER``: the experiments of a paper, its printed numbers beside ours.

``check`` runs some of the recorded cells again; ``summary`` says which claims they bear out.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments import recorded
from experiments.frame import Experiment, Plan

PAPERS = {
    "tvclust": "Khashabi, Wieting, Liu and Liang: links between items",
    "dcrc": 'Pei, Fern, Rosales and Tjahja: answers about triplets, "do not know" among them',
    "mpck": "Bilenko, Basu and Mooney: answers about pairs, and metrics",
    "iac": "incremental constrained clustering: the least modification that answers require",
    "active": "which query strategy teaches a clustering most",
    "defaults": "twenty sets: TVClust not told the number of clusters beside methods told it",
    "evidence": "labels, crowds, scores, batches, records and wide tables beside the usual ways",
}
KEPT = """Each fit is one line of DIR/cells.csv; after a kill the same command continues there.
tables.csv, tables.md and the figures are made of what is done. All of it takes hours: choose parts,
--trials, --methods, --data, or --quick."""
REFUSED, MISUSED, INTERRUPTED = 1, 2, 130


def parser(paper: str, module: Any) -> argparse.ArgumentParser:
    """Describe the options of a paper: the fields of its plan that have a text."""
    raw = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser(
        prog=f"python -m experiments {paper}",
        description=module.__doc__,
        epilog=KEPT,
        formatter_class=raw,
    )
    folder = Path(f"{paper}_output")
    found.add_argument("--out", type=Path, default=folder, metavar="DIR", help="folder to write to")
    for part in fields(module.Plan):
        name, text = "--" + part.name.replace("_", "-"), part.metadata["text"]
        settings: dict[str, Any] = {"dest": part.name, "default": argparse.SUPPRESS}
        if not text:
            continue
        if isinstance(part.default, bool):
            found.add_argument(name, action="store_true", help=text, **settings)
        elif isinstance(part.default, tuple):
            default = " ".join(map(str, part.default)) or "each part its own"
            text = f"{text} (default: {default})"
            settings |= {"type": part.metadata["kind"], "nargs": "+", "metavar": name[2].upper()}
            found.add_argument(name, help=text, **settings)
        else:
            text = f"{text} (default: {part.default})"
            found.add_argument(name, type=int, metavar="N", help=text, **settings)
    found.add_argument("--quick", action="store_true", help="a small plan that touches everything")
    found.add_argument("--no-progress", action="store_true", help="show no bar")
    found.add_argument("--list", action="store_true", help="name the methods, and run nothing")
    return found


def asked(paper: str, arguments: Sequence[str]) -> tuple[Plan, Path, argparse.Namespace]:
    """The plan, the folder and what else a command line asks for."""
    module = import_module(f"experiments.{paper}")
    found = parser(paper, module).parse_args(arguments)
    names = {part.name for part in fields(module.Plan)} & set(vars(found))
    given = {name: getattr(found, name) for name in names}
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    words = shlex.join(["python", "-m", "experiments", paper, *arguments])
    words = words.removesuffix(" --no-progress").replace(f" --out {found.out}", "")
    return module.Plan.of(quick=found.quick, command=words, **given), found.out, found


def run(paper: str, arguments: Sequence[str]) -> int:
    """Run the experiments of a paper."""
    plan, out, others = asked(paper, arguments)
    module = import_module(f"experiments.{paper}")
    if others.list:
        for name, method in module.METHODS.items():
            print(f"{name:<20}{method.title}: {method.about}")
        return 0
    written = Experiment(module).reproduce(plan, out, progress=not others.no_progress)
    print((out / "tables.md").read_text(encoding="utf-8"))
    print("Written: " + ", ".join(map(str, written)), file=sys.stderr)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; 0 if done, 1 if refused, 2 if misused, 130 if interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    papers = "\n".join(f"  {name:<16}{text}" for name, text in PAPERS.items())
    if not words or words[0] not in (*PAPERS, *recorded.COMMANDS):
        shown = "usage: python -m experiments PAPER|check|summary [--help] [options]\n\npapers:\n"
        shown += papers
        asked = words[:1] in (["-h"], ["--help"])
        print(shown, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else MISUSED
    try:
        if words[0] in recorded.COMMANDS:
            return recorded.COMMANDS[words[0]](words[1:])
        return run(words[0], words[1:])
    except KeyboardInterrupt as interrupt:
        say("\nexperiments: interrupted.", interrupt)
        return INTERRUPTED
    except (ValueError, OSError, ModuleNotFoundError) as error:
        say(f"experiments: {error}", error)
        return REFUSED


def say(text: str, error: BaseException) -> None:
    """Print a sentence and the notes of an error to standard error."""
    print("\n  ".join([text, *getattr(error, "__notes__", [])]), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
