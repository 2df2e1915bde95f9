"""What pages are made of: facts, tables, figures and the house's look, with nothing outside the page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "WIDTH",
    "Picture",
    "definitions",
    "figure_style",
    "figures",
    "png",
    "section",
    "table",
    "whole_page",
]

WIDTH, DPI = 4.2, 180
"""Of figures, in inches: narrow, so that their words can be read on a phone."""
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 10,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}
CSS = """
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1b1b1b; --soft: #5b5b5b; --line: #d9d9d6; --card: #f5f5f2;
  --good: #0072b2; --bad: #c24e00; --plain: #6b6b6b; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181b; --ink: #e9e9e6; --soft: #a9abad; --line: #3a3d41;
  --card: #202327; --good: #56b4e9; --bad: #f08a3c; --plain: #9a9a9a; } img { filter: brightness(.9); } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 0; } h3 + p { margin-top: 0; }
p { max-width: 46rem; }
.verdict { background: var(--card); border-left: 6px solid var(--plain); padding: .7rem 1rem; margin: 1rem 0;
  max-width: none; }
.verdict.good { border-color: var(--good); } .verdict.bad { border-color: var(--bad); }
.verdict b { display: block; }
dl { display: flex; flex-wrap: wrap; gap: .3rem 1.6rem; margin: 1rem 0; }
dl div { min-width: 0; } dt { color: var(--soft); font-size: .8rem; } dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 600; vertical-align: bottom; }
th, td { padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); }
td { vertical-align: top; } td.word { overflow-wrap: anywhere; min-width: 4rem; } .number { text-align: right; }
@media (max-width: 30rem) { table { font-size: .8rem; } th, td { padding-right: .5rem; } }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1.2rem;
  margin: 1rem 0; }
figure { margin: 0; min-width: 0; } img { width: 100%; height: auto; display: block; border-radius: 6px; background: #fff; }
figcaption { font-size: .85rem; color: var(--soft); padding-top: .3rem; overflow-wrap: anywhere; }
figcaption b { color: var(--ink); display: block; }
small, footer { color: var(--soft); } footer { margin: 2.5rem 0 1rem; font-size: .85rem; }
"""


@dataclass(frozen=True)
class Picture:
    """A figure of a page.

    Parameters
    ----------
    section : str
        Where it belongs, by a name that the page knows.
    title, text : str
        What stands below it.
    alt : str
        What it shows, for readers who do not see it.
    png : bytes
    size : (int, int)
        Width and height in pixels.
    """

    section: str
    title: str
    text: str
    alt: str
    png: bytes
    size: tuple[int, int]


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw as the house does, whatever the user's settings are; the same figure gives the same bytes.

    Yields
    ------
    None
    """
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def png(figure: Figure) -> tuple[bytes, tuple[int, int]]:
    """Render a figure.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    bytes
        PNG.
    (int, int)
        Width and height in pixels.
    """
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, metadata={"Software": None})
    width, height = (round(float(side) * DPI) for side in figure.get_size_inches())
    return drawn.getvalue(), (width, height)


def whole_page(title: str, body: str) -> str:
    """Return a page with a body.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML.

    Returns
    -------
    str
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n'
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def definitions(words: Mapping[str, str]) -> str:
    """Return short facts, each below its name.

    Parameters
    ----------
    words : mapping of str to str
        Plain text.

    Returns
    -------
    str
        HTML.
    """
    pairs = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in words.items()
    )
    return f"<dl>{''.join(pairs)}</dl>"


def section(title: str, parts: Iterable[str], drawn: Sequence[Picture], name: str) -> Iterator[str]:
    """Yield a heading with what stands below it; nothing where there is nothing.

    Parameters
    ----------
    title : str
    parts : iterable of str
        HTML.
    drawn : sequence of Picture
        Those of this section follow the parts.
    name : str
        Of the section.

    Yields
    ------
    str
        HTML.
    """
    own = [picture for picture in drawn if picture.section == name]
    inside = [*parts, *([figures(own)] if own else [])]
    if inside:
        yield f"<h2>{title}</h2>"
        yield from inside


def figures(drawn: Sequence[Picture]) -> str:
    """Return figures side by side, as many as fit.

    Parameters
    ----------
    drawn : sequence of Picture

    Returns
    -------
    str
        HTML.
    """
    cells = (
        f'<figure><img alt="{escape(picture.alt)}" width="{picture.size[0]}" height="{picture.size[1]}" '
        f'src="data:image/png;base64,{b64encode(picture.png).decode()}">'
        f"<figcaption><b>{escape(picture.title)}</b> {escape(picture.text)}</figcaption></figure>"
        for picture in drawn
    )
    return '<div class="figures">\n' + "\n".join(cells) + "\n</div>"


def table(columns: Mapping[str, str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table.

    Parameters
    ----------
    columns : mapping of str to {"word", "number"}
        What stands in each column, by its name.
    rows : iterable of sequences of str
        Plain text.

    Returns
    -------
    str
        HTML.
    """
    head = "".join(f'<th class="{kind}">{escape(name)}</th>' for name, kind in columns.items())
    body = "\n".join(
        "<tr>"
        + "".join(
            f'<td class="{kind}">{escape(cell)}</td>'
            for cell, kind in zip(row, columns.values(), strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
