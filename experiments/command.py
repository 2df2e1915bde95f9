"""The command line: ``python -m experiments PAPER``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["PAPERS", "main", "parser", "run"]

REFUSED, INTERRUPTED = 1, 130


class Paper(NamedTuple):
    """What a paper's subcommand says, and which options are fields of its plan as they stand.

    Parameters
    ----------
    help, about, epilog : str
    lists : dict
        By option, type and help of a list.
    flags : dict
        By option, help of a switch that chooses a part, as figures and tables do.
    trials : int
        The paper's number of draws.
    """

    help: str
    about: str
    epilog: str
    lists: dict[str, tuple[Any, str]]
    flags: dict[str, str]
    trials: int


KEPT = """Each fit is one line of DIR/cells.csv, written as soon as it is done. After an interrupt or a kill the same
command goes on from there; tables.csv, tables.md and the figures (PNG and SVG) are made from what is there."""

PAPERS = {
    "tvclust": Paper(
        help="Khashabi, Wieting, Liu and Liang: links between items",
        about="""Khashabi, Wieting, Liu and Liang, section 5. Tables 1 to 3: five UCI sets, a share r of the pairs answered,
each answer right with probability p; with r of the ordered pairs, as the authors drew them, and of the unordered ones; glass
with the row id that the authors left among its features, a leak, and without. Table 4: counts. Figure 2: six shapes,
Figure 3: a wrong number of clusters told, Figure 4: counts and ever more answers.""",
        epilog=KEPT
        + """

All of it takes hours, nearly all in the sampler (collapsed) and the mixture: choose --methods, or --quick.

examples:
  python -m experiments tvclust --quick
  python -m experiments tvclust --tables 1 2 3 --methods rdp-means rdp-means-released --output rdp
  python -m experiments tvclust --figures 4 --trials 10 --seed 7""",
        lists={
            "tables": (int, "tables to make: 1 2 3 4 (default: all, unless figures are chosen)"),
            "figures": (int, "figures to make: 2 3 4 (default: all, unless tables are chosen)"),
            "methods": (
                str,
                "methods of Tables 1 to 3 and Figures 2 and 3 (default: all; --list names them)",
            ),
            "data": (
                str,
                "data sets of Tables 1 to 3 and Figure 3 (default: the five, and glass_with_id)",
            ),
            "samplings": (str, "ordered, unordered or both (default): which pairs r is a share of"),
            "fractions": (float, "the r of Tables 1 to 3 (default: 0.01 0.03 0.05)"),
            "accuracies": (float, "the p of Tables 1 to 3 (default: 1 0.95 0.9 0.8)"),
        },
        flags={},
        trials=5,
    ),
    "dcrc": Paper(
        help='Pei, Fern, Rosales and Tjahja: answers about triplets, "do not know" among them',
        about="""Pei, Fern, Rosales and Tjahja, section V. Figure 2: what an answer tells. Figure 4: F by number of triplets,
DCRC beside methods that hear "yes" and "no" or pairs. Figures 5 and 6: soft and hard answers. Figure 7: balance of clusters.
Tables IV and V: answers with people's errors. And the time of one large fit. Of the paper's sets, MSRCv2, Stonefly9 and the
two of bird song come with no package: generated ones of the size of bird song stand in, and a CSV file can be named.""",
        epilog=KEPT
        + """

All of it takes many hours: choose parts, --trials, --data, --methods, or --quick. Cells are run draw by draw, so that a run
cut short has some draws of everything.

examples:
  python -m experiments dcrc --quick
  python -m experiments dcrc --figures 4 --methods kmeans dcrc dcrc-yn --fractions 0.05 0.15 0.3 --trials 5
  python -m experiments dcrc --figures 4 --data ionosphere my/msrcv2.csv
  python -m experiments dcrc --tables iv v --runtime --trials 3""",
        lists={
            "figures": (
                int,
                "figures to make: 2 4 5 6 7 (default: all, unless other parts are chosen)",
            ),
            "tables": (
                str.lower,
                "tables to make: iv v (default: all, unless other parts are chosen)",
            ),
            "methods": (
                str,
                "methods of Figure 4 and Table V (default: the paper's; --list names all)",
            ),
            "data": (
                str,
                "data sets of Figures 4, 6, 7 and the tables; a name that ends in .csv is a file with a line of names and "
                "the class in the last column (default: each part its own)",
            ),
            "fractions": (
                float,
                "triplets asked, as shares of the items (default: 0.05 0.1 0.15 0.2 0.25 0.3)",
            ),
        },
        flags={"runtime": "time one fit of 4998 items with 1500 triplets"},
        trials=20,
    ),
    "mpck": Paper(
        help="Bilenko, Basu and Mooney: answers about pairs, and metrics",
        about="""Bilenko, Basu and Mooney, section 4. Figures 2, 3, 5, 6 and 7: MPCK-Means and its parts by number of pairs
answered, on iris, wine, ionosphere, digits 389 and letters IJL. Figures 8, 9, 11, 12 and 13: one metric or one for each
cluster, diagonal or full, and RCA. F over all items, and over a fold of items that no answer names, as in the paper.""",
        epilog=KEPT
        + """

All of it, 50 runs of 5 folds, takes many hours: choose --figures, --trials, --numbers, or --quick. Cells are
run draw by draw.

examples:
  python -m experiments mpck --quick
  python -m experiments mpck --figures 2 8 --trials 10
  python -m experiments mpck --methods sd sf --numbers 0 100 400 --trials 5""",
        lists={
            "figures": (int, "figures to make: 2 3 5 6 7 8 9 11 12 13 (default: all)"),
            "methods": (str, "only these of each figure's methods (--list names them)"),
            "numbers": (int, "pairs answered (default: 0 25 50 100 200 300 400)"),
        },
        flags={},
        trials=50,
    ),
    "iac": Paper(
        help="incremental constrained clustering: the least modification that answers ask for",
        about="""Incremental constrained clustering by minimal weighted modification (IAC), as its slides present it. Alpha
(anchors) and beta (super-instances) over sixteen data sets, every two settings compared by the Bayesian signed-rank test.
Figure 6: seconds by number and kind of constraints, on letters and MNIST. Table 2: soft constraints on mk2, beside PCK-Means
and MPCK-Means. Figure 7: ten rounds of select and modify on glass. MNIST, mk2 and six other sets come with no package: name
folders with files such as lsun.csv (a line of names, the class in the last column) or mnist.npz (X, y); what is not there is
left out. Needs OR-tools, which bayesclust's extra 'solver' installs.""",
        epilog=KEPT
        + """

90 draws of everything take many hours, mostly on letters and MNIST: choose parts, --trials, --data, or --quick. Cells are
run draw by draw.

examples:
  python -m experiments iac --quick
  python -m experiments iac --folders my/data --soft --loop --trials 20
  python -m experiments iac --parameters --data iris wine glass ecoli my/own.csv --trials 5
  python -m experiments iac --loop --choosers random npu --trials 90""",
        lists={
            "folders": (Path, "folders with files of the sets that no package ships, .csv or .npz"),
            "data": (str, "data sets for alpha and beta, names or files (default: the slides')"),
            "methods": (
                str,
                "settings of alpha and beta in percent, such as iac-20-30 (default: all; --list names them)",
            ),
            "kinds": (
                str,
                "kinds of constraints of Figure 6 (default: pairs triplets span implication)",
            ),
            "numbers": (int, "numbers of constraints of Figure 6 (default: 100 250 500 750 1000)"),
            "choosers": (str, "who chooses the questions of Figure 7 (default: random npu)"),
        },
        flags={
            "parameters": "compare settings of alpha and beta",
            "runtime": "time modifications: Figure 6",
            "soft": "compare soft constraints: Table 2",
            "loop": "rounds of select and modify: Figure 7",
        },
        trials=90,
    ),
    "active": Paper(
        help="which way to choose questions teaches a clustering most",
        about="""No paper's, but as theirs are: an expert who errs once in ten answers is asked about pairs, a hundred one by
one. One posterior of TVClust hears the answers, whoever chooses the questions: posterior selection, NPU (Xiong, Azimi and
Fern 2014) or chance, or also explore and consolidate, and min-max. Pairwise F by number of answers, the area under that
curve, paired differences, and where a stopping rule would have stopped.""",
        epilog=KEPT
        + """

All of it takes some hours: choose --methods, --data, --trials, or --quick. Sessions are run expert by expert.

examples:
  python -m experiments active --quick
  python -m experiments active --data iris wine --trials 5
  python -m experiments active --methods posterior npu explore-consolidate min-max random --trials 10""",
        lists={
            "methods": (str, "who chooses (default: posterior npu random; --list names all)"),
            "data": (str, "data sets (default: iris wine ecoli glass balance digits389)"),
        },
        flags={},
        trials=20,
    ),
    "views": Paper(
        help="classes that are no ellipses: which view of a cluster lets answers through",
        about="""TVClust with view="auto" beside the plain view, its limit, k-means, ITML and DCRC. Table "usual": the five
sets of the TVClust paper, glass without its row id; "others": ionosphere, pima, digits 389, letters IJLT. F, how far the
noise learned lies from the truth, how well credibility finds the wrong answers, and which view was taken.""",
        epilog=KEPT
        + """

All of it takes hours, nearly all in the samplers: choose --tables, --data, --methods, or --quick.

examples:
  python -m experiments views --quick
  python -m experiments views --tables usual --data glass --trials 1
  python -m experiments views --tables others --data ionosphere my/msrcv2.csv""",
        lists={
            "tables": (str, "tables to make: usual others (default: both)"),
            "methods": (str, "methods to compare (default: each table's own; --list names all)"),
            "data": (
                str,
                "data sets; a name that ends in .csv is a file with a line of names and the class in the last column "
                "(default: each table's own)",
            ),
        },
        flags={},
        trials=3,
    ),
}


def parser() -> argparse.ArgumentParser:
    """Describe the whole command line."""
    about = (
        "Run the experiments of a paper with this package, and set its printed numbers beside ours."
    )
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(prog="python -m experiments", description=about)
    papers = top.add_subparsers(metavar="PAPER", title="papers", dest="paper", required=True)
    for name, paper in PAPERS.items():
        parser = papers.add_parser(
            name, help=paper.help, description=paper.about, epilog=paper.epilog, formatter_class=raw
        )
        folder = Path(f"{name}_output")
        parser.add_argument(
            "--output",
            type=Path,
            default=folder,
            metavar="DIR",
            help="folder to write to (default: %(default)s)",
        )
        for option, (kind, explained) in paper.lists.items():
            parser.add_argument(
                f"--{option}", type=kind, nargs="+", metavar=option[0].upper(), help=explained
            )
        for option, explained in paper.flags.items():
            parser.add_argument(f"--{option}", action="store_const", const=True, help=explained)
        trials = f"draws of answers (default: {paper.trials})"
        parser.add_argument("--trials", type=int, metavar="N", help=trials)
        parser.add_argument(
            "--seed", type=int, metavar="N", help="of answers and fits (default: 0)"
        )
        parser.add_argument(
            "--quick", action="store_true", help="a small plan that touches everything, in minutes"
        )
        parser.add_argument("--no-progress", action="store_true", help="show no bar")
        parser.add_argument(
            "--list",
            action="store_true",
            help="name the methods and what each is told, and run nothing",
        )
    return top


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
    experiments = import_module(f"experiments.reproduce.{settings.paper}")
    if settings.list:
        for name, method in experiments.METHODS.items():
            print(f"{name:<20}{method.title}: {method.about}")
        return 0
    paper = PAPERS[settings.paper]
    given: dict[str, Any] = {
        name: tuple(value) for name in paper.lists if (value := getattr(settings, name)) is not None
    }
    given |= {
        name: value
        for name in (*paper.flags, "trials", "seed")
        if (value := getattr(settings, name)) is not None
    }
    parts: dict[str, Any] = {"tables": (), "figures": (), **dict.fromkeys(paper.flags, False)}
    if given.keys() & parts.keys():
        given = {**parts, **given}
    plan = experiments.Plan.of(quick=settings.quick, **given)
    written = experiments.reproduce(plan, settings.output, progress=not settings.no_progress)
    print((settings.output / "tables.md").read_text(encoding="utf-8"))
    print("Written: " + ", ".join(map(str, written)), file=sys.stderr)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0 if it is done, 1 if it is refused in a sentence, 130 if it is interrupted."""
    try:
        return run(parser().parse_args(arguments))
    except KeyboardInterrupt as interrupt:
        say("\nexperiments: interrupted.", interrupt)
        return INTERRUPTED
    except (ValueError, OSError, ModuleNotFoundError) as error:
        say(f"experiments: {error}", error)
        return REFUSED


def say(text: str, error: BaseException) -> None:
    """Print a sentence and the notes of an error to standard error."""
    print("\n  ".join([text, *getattr(error, "__notes__", [])]), file=sys.stderr)
