"""A run of the benchmarks as one page for a browser."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from bayesclust._io import replaced
from bayesclust.report import markup
from benchmarks import words
from benchmarks.figures import picture
from benchmarks.records import Results

TITLE = "bayesclust: benchmarks"
ABOUT = (
    "Alternatives are measured in turn, in one run, in CPU seconds of all threads together. Ratios are to the alternative "
    "that the last column names, turn by turn: the median, and where all turns lay. Ratios carry over from machine to "
    "machine, seconds do not."
)


def write_page(results: Results, path: Path) -> None:
    """Write the page in one step."""
    with replaced(path) as draft:
        draft.write_text(page(results), encoding="utf-8")


def page(results: Results) -> str:
    """The page, which needs nothing but itself."""
    body = [f"<h1>{TITLE}</h1>", markup.definitions(results.machine), f"<p>{ABOUT}</p>"]
    if results.quick:
        body.append(
            "<p>A quick run, with the smallest sizes: it shows that all works, and its figures mean nothing.</p>"
        )
    columns, rows = words.targets(results)
    if rows:
        body += ["<h2>What is asked</h2>", markup.table(columns, rows)]
    for name in results.benchmarks:
        body += _section(name, results)
    return markup.whole_page(TITLE, "\n".join(body))


def _section(name: str, results: Results) -> Iterator[str]:
    each = results.benchmarks[name]
    parts = [f"<p>{escape(each.about)}</p>"]
    for record in each.records:
        parts.append(
            f"<h3>{escape(record.title)}</h3><p><small>{escape(record.measured)}</small></p>"
        )
        parts.append(markup.table(*words.table_of(record)))
        parts += [f"<p><small>{escape(note)}</small></p>" for note in words.notes(record)]
    pictures = [picture(name, record) for record in each.records]
    yield from markup.section(escape(name), parts, pictures, name)
