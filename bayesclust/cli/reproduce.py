"""``bayesclust reproduce`` and ``bayesclust demo``: where they are run instead, since an installed package holds no experiments."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add", "run"]

INSTEAD = {
    "reproduce": "python -m experiments tvclust --quick (--help names the others)",
    "demo": "make demo, or python -m experiments.demo",
}


def add(commands: Any) -> None:
    """Describe the commands.

    Parameters
    ----------
    commands : argparse subparsers
    """
    for name, instead in INSTEAD.items():
        text = f"is run from a checkout of the repository: {instead}"
        parser = commands.add_parser(name, help=text, description=f"bayesclust {name} {text}.")
        parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
        parser.set_defaults(run=run, name=name)


def run(settings: argparse.Namespace) -> int:
    """Say where the command is run instead.

    Parameters
    ----------
    settings : argparse.Namespace
        Parsed.

    Returns
    -------
    int
        Never.

    Raises
    ------
    ValueError
        Always.
    """
    raise ValueError(
        f"{settings.name} is run from a checkout of the repository, by {INSTEAD[settings.name]}."
    )
