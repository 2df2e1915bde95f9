"""The settings of the modification, and the methods that its soft constraints are compared with, by name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["ALONE", "DEFAULT", "METHODS", "MODIFICATIONS", "SOFT", "Method"]


class Method(NamedTuple):
    """What is to be known about a method.

    Parameters
    ----------
    title : str
    about : str
        What it does, or is told.
    alpha, beta : float
        Of a modification, as shares; NaN for others.
    """

    title: str
    about: str
    alpha: float = float("nan")
    beta: float = float("nan")


ALPHAS, BETAS = (0, 5, 20), (10, 30, 50, 100)
"""Anchors and super-instances in percent of a cluster's items: the grid of the slides."""


def _modification(alpha: int, beta: int) -> Method:
    anchors = f"{alpha}% of a cluster's items as anchors" if alpha else "one anchor a cluster"
    groups = "every item by itself" if beta == 100 else f"super-instances, {beta}% as many as items"
    return Method(f"IAC ({alpha}, {beta})", f"{anchors}, {groups}", alpha / 100, beta / 100)


MODIFICATIONS = tuple(f"iac-{alpha}-{beta}" for alpha, beta in product(ALPHAS, BETAS))
"""In the order of the slides' table."""

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        **{
            f"iac-{alpha}-{beta}": _modification(alpha, beta)
            for alpha, beta in product(ALPHAS, BETAS)
        },
        "pck": Method("PCK-Means", "told the number of classes and all answers"),
        "mpck": Method("MPCK-Means", "the same, with one diagonal metric"),
    }
)

ALONE = "iac-0-100"
"""What the slides time."""

DEFAULT = "iac-20-30"
"""What the slides select and modify with."""

SOFT = ("iac-20-100", "iac-20-30", "pck", "mpck")
"""Of the slides' Table 2."""
