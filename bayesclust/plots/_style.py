"""What the pictures share: colours that colour-blind readers tell apart, and where figures come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#555555"
# Okabe and Ito's palette without its yellow, which is too pale for a thin line
PALETTE = (BLUE, VERMILION, "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
SHADES = (*PALETTE[:4], "#F0E442", *PALETTE[5:])
"""For areas: with the yellow, and without black, which has no shades."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        return _drawable(ax, "ax")
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def chosen_names(names: Any, what: str) -> list[str]:
    """Return names to show as a list, one alone too, and refuse what are no words."""
    if isinstance(names, str):
        return [names]
    found = list(names) if isinstance(names, Sequence) and not isinstance(names, bytes) else [names]
    for name in found:
        if not isinstance(name, str):
            raise TypeError(
                f"{what} must be a word or a list of words; got {type(names).__name__}."
            )
    return found


def _drawable(ax: Any, what: str) -> Axes:
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"{what} must be Matplotlib axes or None; got {type(ax).__name__}.")
    return ax


def counted(number: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> counted(1, "item"), counted(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def several_axes(axes: Any, number: int, what: str) -> NDArray[np.object_]:
    """Return the axes given as a flat array, and refuse another number of them than there are panels."""
    given: NDArray[np.object_] = np.asarray(axes, dtype=object).ravel()
    if len(given) != number:
        raise ValueError(
            f"axes are {len(given)}, but {what} take {number}: pass {number} axes, or None."
        )
    for at, ax in enumerate(given):
        _drawable(ax, f"axes[{at}]")
    return given


def dot_size(number: int) -> float:
    """Return the area of a dot, in points squared, by which this many can be told apart."""
    return float(np.clip(12_000 / number, 5, 42))


def shade(number: int) -> tuple[float, float, float]:
    """Return a colour where there are no markers: the palette, then a lighter and a darker one, 21 in all."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(SHADES[number % len(SHADES)])
    towards, share = ((0.0, 0.0), (1.0, 0.55), (0.0, 0.45))[number // len(SHADES) % 3]
    return tuple(part + share * (towards - part) for part in (red, green, blue))  # type: ignore[return-value]


def bare(ax: Axes, *sides: str) -> None:
    """Take away the frame at some sides, by default at the top and at the right."""
    ax.spines[list(sides or ("top", "right"))].set_visible(False)


def shortened(words: Sequence[str], most: int) -> list[str]:
    """Cut long names in their middle, lest they push a picture aside.

    Examples
    --------
    >>> shortened(["annotator-from-the-second-round", "ann"], 12)
    ['annota…round', 'ann']
    """
    half = (most - 1) // 2
    return [
        word if len(word) <= most else f"{word[: most - 1 - half]}…{word[len(word) - half :]}"
        for word in words
    ]


def in_words(source: str) -> str:
    """Call a source that has only a number so."""
    return f"source {source}" if source.isdecimal() else source
