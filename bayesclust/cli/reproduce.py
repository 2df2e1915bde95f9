"""``bayesclust reproduce``: the experiments of a paper."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

__all__ = ["add", "run"]

ABOUT = """Run the experiments of a paper with this package, and set its printed numbers beside ours.

tvclust: Khashabi, Wieting, Liu and Liang, section 5. Tables 1 to 3: five UCI sets, a share r of the pairs answered, each
answer right with probability p; with r of the ordered pairs, as the authors drew them, and of the unordered ones; glass
with the row id that the authors left among its features, a leak, and without. Table 4: counts. Figure 2: six shapes,
Figure 3: a wrong number of clusters told, Figure 4: counts and ever more answers."""

EPILOG = """Each fit is one line of DIR/cells.csv, written as soon as it is done. After an interrupt or a kill the same
command goes on from there; tables.csv, tables.md and the figures (PNG and SVG) are made from what is there.

All of it takes hours, nearly all in the sampler (collapsed) and the mixture: choose --methods, or --quick.

examples:
  bayesclust reproduce tvclust --quick
  bayesclust reproduce tvclust --tables 1 2 3 --methods rdp-means rdp-means-released --output rdp
  bayesclust reproduce tvclust --figures 4 --trials 10 --seed 7"""

# options that are fields of the plan as they stand: what they are, their type, their help
LISTS = {
    "tables": (int, "tables to make: 1 2 3 4 (default: all, unless figures are chosen)"),
    "figures": (int, "figures to make: 2 3 4 (default: all, unless tables are chosen)"),
    "methods": (str, "methods of Tables 1 to 3 and Figures 2 and 3 (default: all; --list names them)"),
    "data": (str, "data sets of Tables 1 to 3 and Figure 3 (default: the five, and glass_with_id)"),
    "samplings": (str, "ordered, unordered or both (default): which pairs r is a share of"),
    "fractions": (float, "the r of Tables 1 to 3 (default: 0.01 0.03 0.05)"),
    "accuracies": (float, "the p of Tables 1 to 3 (default: 1 0.95 0.9 0.8)"),
}


def add(commands: Any) -> None:
    """Describe the command.

    Parameters
    ----------
    commands : argparse subparsers
    """
    parser = commands.add_parser(
        "reproduce",
        help="a paper's tables and figures from our own runs, its numbers beside ours",
        description=ABOUT,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paper", choices=("tvclust",), help="whose experiments")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("tvclust_output"),
        metavar="DIR",
        help="folder to write to (default: %(default)s)",
    )
    for name, (kind, text) in LISTS.items():
        parser.add_argument(f"--{name}", type=kind, nargs="+", metavar=name[0].upper(), help=text)
    parser.add_argument("--trials", type=int, metavar="N", help="draws of answers (default: the paper's 5)")
    parser.add_argument("--seed", type=int, metavar="N", help="of answers and fits (default: 0)")
    parser.add_argument("--quick", action="store_true", help="a small plan that touches everything, in a minute or two")
    parser.add_argument("--no-progress", action="store_true", help="show no bar")
    parser.add_argument("--list", action="store_true", help="name the methods and what each is told, and run nothing")
    parser.set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Run the experiments.

    Parameters
    ----------
    settings : argparse.Namespace
        Parsed.

    Returns
    -------
    int
        Exit code.
    """
    from bayesclust.experiments.reproduce.tvclust import METHODS, Plan, reproduce

    if settings.list:
        for name, method in METHODS.items():
            told = "told k" if method.told else "not told k"
            heeds = "" if method.answers else ", heeds no answers"
            scale = ", raw features" if method.raw else ""
            print(f"{name:<20}{method.title}: {told}{heeds}{scale}")
        return 0
    given = {name: tuple(value) for name in LISTS if (value := getattr(settings, name)) is not None}
    given |= {name: value for name in ("trials", "seed") if (value := getattr(settings, name)) is not None}
    if ("tables" in given) != ("figures" in given):
        given = {"tables": (), "figures": (), **given}
    plan = Plan.of(quick=settings.quick, **given)
    written = reproduce(plan, settings.output, progress=not settings.no_progress)
    print((settings.output / "tables.md").read_text(encoding="utf-8"))
    print("Written: " + ", ".join(map(str, written)), file=sys.stderr)
    return 0
