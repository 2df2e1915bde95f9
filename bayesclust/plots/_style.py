"""Shared by the plots: colours for colour-blind readers and dark styles, axes, legends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE = "#0072B2"
VERMILION = "#D55E00"
# Okabe and Ito's palette without its yellow, which is too pale for a thin line, and their black,
# in whose place `palette` has the colour of texts
BEFORE, AFTER = (BLUE, VERMILION, "#009E73", "#CC79A7"), ("#56B4E9", "#E69F00")
NUMBER = len(BEFORE) + 1 + len(AFTER)
"""Colours of the palette."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
FEW = 500
"""Up to so many dots are large enough for an edge."""


def shade(strength: float) -> tuple[float, float, float]:
    """A colour from the ground of the axes, at 0, to the texts, at 1, in the style in use."""
    import matplotlib as mpl
    from matplotlib.colors import to_rgba

    ink = np.array(to_rgba(mpl.rcParams["text.color"])[:3])
    ground = np.ones(3)
    for name in ("axes.facecolor", "figure.facecolor"):
        *colour, alpha = to_rgba(mpl.rcParams[name])
        if alpha > 0:  # transparent otherwise
            ground = np.array(colour)
            break
    if ground.mean() < ink.mean():  # near black the eye tells less apart
        strength **= 0.7
    red, green, blue = (ground + strength * (ink - ground)).tolist()
    return red, green, blue


def grey() -> tuple[float, float, float]:
    """The colour of notes."""
    return shade(2 / 3)


def palette() -> list[str]:
    """Colours of clusters, chains and sources, as many as markers."""
    from matplotlib.colors import to_hex

    return [*BEFORE, to_hex(shade(1)), *AFTER]


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure of this size in inches."""
    axes: Axes = panels_or_new(None if ax is None else [ax], 1, "ax", 1, (width, height))[0]
    return axes


def panels_or_new(
    axes: Any, number: int, what: str, columns: int, size: tuple[float, float], **settings: Any
) -> NDArray[np.object_]:
    """Return `number` axes given, flat, or those of a new grid; refuse another number."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if axes is not None:
        given: NDArray[np.object_] = np.asarray(axes, dtype=object).ravel()
        if len(given) != number:
            raise ValueError(
                f"axes are {len(given)}, but {what} take {number}: pass {number} axes, or None."
            )
        for ax in given:
            if not isinstance(ax, Axes):
                name = "ax" if what == "ax" else "each of axes"
                raise TypeError(f"{name} must be Matplotlib axes; got {type(ax).__name__}.")
        return given
    rows = -(-number // columns)
    plain: dict[str, Any] = {"figsize": size, "layout": "constrained", "squeeze": False}
    figure, grid = plt.subplots(rows, columns, **plain, **settings)
    panels: NDArray[np.object_] = grid.ravel()
    for ax in panels[number:]:
        figure.delaxes(ax)
    return panels[:number]


def dot_size(number: int) -> float:
    """Area of a dot, in points squared, by which this many can be distinguished."""
    return float(np.clip(12_000 / number, 5, 42))


def bare(ax: Axes, *sides: str) -> None:
    """Remove the frame at some sides, by default at the top and at the right."""
    ax.spines[list(sides or ("top", "right"))].set_visible(False)


def shortened(words: Iterable[Any], most: int) -> list[str]:
    """Write names on one line, long ones cut in their middle, annota…round, or where they agree."""
    lines = [" ".join(str(word).split()) for word in words]
    short = [_cut(line, most) for line in lines]
    alike: dict[str, set[str]] = {}
    for name, line in zip(short, lines, strict=True):
        alike.setdefault(name, set()).add(line)
    told = {line: _differing(line, own) for own in alike.values() if len(own) > 1 for line in own}
    row = {line: k for k, line in enumerate(dict.fromkeys(lines))}
    return [
        _cut(told[line], most, f" ({row[line]})") if line in told else name
        for name, line in zip(short, lines, strict=True)
    ]


def _cut(line: str, most: int, otherwise: str = "") -> str:
    """A line of at most so many letters, cut in its middle or, with what is put there, behind."""
    if len(line) <= most:
        return line
    if otherwise:
        return f"{line[: most - 1 - len(otherwise)]}…{otherwise}"
    half = (most - 1) // 2
    return f"{line[: most - 1 - half]}…{line[len(line) - half :]}"


def _differing(line: str, others: Iterable[str]) -> str:
    """What tells a line from others: whole words, without those that all begin and end with."""
    own = [re.findall(r"\w+|\W+", other) for other in others]
    parts = re.findall(r"\w+|\W+", line)
    least = min(map(len, own))
    first = next((k for k in range(least) if len({other[k] for other in own}) > 1), least - 1)
    left = range(1, least - first)
    last = next((k for k in left if len({other[-k] for other in own}) > 1), least - first)
    kept = "".join(parts[first : len(parts) - last + 1])
    return "…" * (first > 0) + kept + "…" * (last > 1)


def as_written[Drawn](axes: Drawn) -> Drawn:
    """Return the axes drawn, in whose titles, ticks and legends a $ begins no mathematics."""
    from matplotlib.text import Text

    for ax in np.ravel(np.asarray(axes, dtype=object)):
        for text in set(ax.findobj(Text)).difference(ax.texts):  # which may be the user's
            if "$" in text.get_text():  # none of our own words
                text.set_parse_math(False)
    return axes


def colour_bar(ax: Axes, mappable: Any, label: str, left: float = 1.03) -> None:
    """Put a colour bar at the right of axes, from `left` on in shares of these."""
    bar = ax.figure.colorbar(mappable, cax=ax.inset_axes((left, 0, 0.035, 1)))
    bar.set_label(label)
    bar.outline.set_visible(False)


def legend_above(ax: Axes, columns: int, handles: Sequence[Any] | None = None) -> None:
    """Put a legend in rows above the axes, at the left."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.1}
    room: dict[str, Any] = {"borderpad": 0.2, "handletextpad": 0.3, "columnspacing": 1.2}
    shown = ax.get_legend_handles_labels()[0] if handles is None else handles
    ax.legend(handles=shown, ncols=columns, frameon=False, fontsize="small", **place, **room)


def legend_beside(ax: Axes, **settings: Any) -> Any:
    """Put a legend at the right of the axes, from their top down."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}
    return ax.legend(frameon=False, fontsize="small", handletextpad=0.3, **place, **settings)


def note_right(ax: Axes, y: float, text: str) -> None:
    """Write a note at the right of a row."""
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    look: dict[str, Any] = {"va": "center", "fontsize": "small", "color": grey()}
    ax.annotate(text, (1, y), (9, 0), annotation_clip=False, **place, **look)
