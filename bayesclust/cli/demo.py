"""``bayesclust demo``."""

from __future__ import annotations

import argparse
from typing import Any

from bayesclust.experiments.demo import add_arguments, show

__all__ = ["add", "run"]

ABOUT = (
    "Fit the sampler and its fast limit to wine with 3% of the pairs answered, one answer in ten wrong; print what the "
    "posterior says, and write figures and the posterior itself (NetCDF, for ArviZ)."
)


def add(commands: Any) -> None:
    """Describe the command.

    Parameters
    ----------
    commands : argparse subparsers
    """
    text = "wine with doubtful links: posterior, credibility of answers, figures"
    add_arguments(commands.add_parser("demo", help=text, description=ABOUT)).set_defaults(run=run)


def run(settings: argparse.Namespace) -> int:
    """Run the demo.

    Parameters
    ----------
    settings : argparse.Namespace
        Parsed.

    Returns
    -------
    int
        Exit code.
    """
    show(
        settings.output,
        chains=settings.chains,
        warmup=settings.warmup,
        samples=settings.samples,
        seed=settings.seed,
    )
    return 0
