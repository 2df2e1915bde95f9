"""How methods look in the figures: colours that colour-blind readers tell apart, never alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayesclust.plots._style import BLUE, DASHES, GREY, VERMILION
from experiments.reproduce.tvclust.methods import EVERY_METHOD

__all__ = ["row_style", "styles", "title"]

# methods of one row of the paper share a colour
FAMILIES = {
    "K-means": GREY,
    "DP-means": "#56B4E9",
    "RDP-means": BLUE,
    "TVClust (variational)": VERMILION,
    "LCVQE": "#009E73",
    "MPCKMeans": "#E69F00",
}
OTHERS = ("#CC79A7", "#000000", "#7F3C8D")
MARKERS = "osD^v"
LONG = 14


def styles(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Colour, line and marker of each method.

    Parameters
    ----------
    methods : iterable of str

    Returns
    -------
    dict of dict
        Settings of matplotlib's `plot`, by method.
    """
    colours, members = dict(FAMILIES), dict.fromkeys(FAMILIES, 0)
    found = {}
    for name in methods:
        family = EVERY_METHOD[name].paper or name
        colours.setdefault(family, OTHERS[(len(colours) - len(FAMILIES)) % len(OTHERS)])
        number = members[family] = members.get(family, 0) + 1
        found[name] = {"color": colours[family], **_shape(number - 1)}
    return found


def row_style(row: str) -> dict[str, Any]:
    """Colour, line and marker of a row of the paper's tables.

    Parameters
    ----------
    row : str

    Returns
    -------
    dict
        Settings of matplotlib's `plot`.
    """
    return {"color": FAMILIES[row], **_shape(0)}


def _shape(number: int) -> dict[str, Any]:
    dashes, marker = DASHES[number % len(DASHES)], MARKERS[number % len(MARKERS)]
    return {"linestyle": dashes, "marker": marker, "markersize": 4.5, "linewidth": 1.4}


def title(method: str, *, broken: bool = False) -> str:
    """What figures call a method, marked if it is told k.

    Parameters
    ----------
    method : str
    broken : bool, default False
        Into short lines, to stand above a narrow panel.

    Returns
    -------
    str

    Examples
    --------
    >>> title("rdp-means-released"), title("rdp-means")
    ('RDP-means, released settings [k]', 'RDP-means')
    """
    import textwrap

    text = EVERY_METHOD[method].title + (" [k]" if EVERY_METHOD[method].told else "")
    return "\n".join(textwrap.wrap(text, LONG)) if broken else text
