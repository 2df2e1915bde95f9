"""How every command is described."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["describe"]


def describe(
    commands: Any, name: str, text: str, about: str, epilog: str
) -> argparse.ArgumentParser:
    """Add a command whose description and examples are shown as they are written.

    Parameters
    ----------
    commands : argparse subparsers
    name : str
    text : str
        What it does, in a line.
    about, epilog : str
        What stands above and below its options.

    Returns
    -------
    argparse.ArgumentParser
    """
    raw = argparse.RawDescriptionHelpFormatter
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=about, epilog=epilog, formatter_class=raw
    )
    return parser
