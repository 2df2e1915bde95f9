"""Records in words: what is printed, and the tables of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.records import Growth, Race, Record, Results, Spread, Target

Table = tuple[dict[str, str], list[list[str]]]
"""Columns by name, each of "word" or "number", and rows."""


def duration(seconds: float) -> str:
    """Seconds in a unit that suits them."""
    size = abs(seconds)
    factor, unit = (1.0, "s") if size >= 1 else (1e3, "ms") if size >= 1e-3 else (1e6, "µs")
    return f"{_digits(factor * seconds)} {unit}"


def size_of(number: float) -> str:
    """Bytes in a unit that suits them."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(number) >= factor:
            return f"{_digits(number / factor)} {unit}"
    return f"{number:.0f} B"


def between(spread: Spread) -> str:
    """A median and where the repetitions lay."""
    if spread.least == spread.most:
        return _digits(spread.median)
    return f"{_digits(spread.median)} ({_digits(spread.least)} to {_digits(spread.most)})"


def _digits(number: float) -> str:
    """Three figures that count, and no power of ten."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:#.3g}".rstrip(".")


def of_race(race: Race) -> Table:
    """One row for each alternative."""
    columns = {
        "": "word",
        "median": "number",
        "least": "number",
        "most": "number",
        f"times {race.reference}": "number",
    }
    remembered = any(each.bytes is not None for each in race.alternatives)
    columns |= {"peak memory": "number"} if remembered else {}
    rows = []
    for each in race.alternatives:
        spread = Spread.of(each.whole)
        times = between(Spread.of(race.ratios(each.name))) if each.name != race.reference else "1"
        row = [each.name, *map(duration, spread), times]
        rows.append(row + ([size_of(each.bytes or 0)] if remembered else []))
    return columns, rows


def of_growth(growth: Growth) -> Table:
    """One row for each size."""
    columns = {growth.along: "number", "median": "number", "least": "number", "most": "number"}
    remembered = any(point.bytes is not None for point in growth.points)
    columns |= {"peak memory": "number"} if remembered else {}
    rows = []
    for point in growth.points:
        row = [f"{point.at:,.0f}", *map(duration, Spread.of(point.seconds))]
        rows.append(row + ([size_of(point.bytes or 0)] if remembered else []))
    return columns, rows


def table_of(record: Record) -> Table:
    """The numbers of a record."""
    return of_race(record) if isinstance(record, Race) else of_growth(record)


def notes(record: Record) -> Iterator[str]:
    """What is said below the numbers."""
    if isinstance(record, Race):
        for each in record.alternatives:
            if each.share != 1.0:
                yield f"{each.name}: {each.share:.3g} of the work was done; shown is all of it."
        yield from (
            f"{asked}: {measured}, {verdict}." for asked, measured, verdict in _verdicts(record)
        )
    else:
        asked = "" if record.most_slope is None else f", asked: at most {record.most_slope:g}"
        yield f"Slope over the last decade, on logarithmic axes: {record.slope:.2f}{asked}."
        if record.bytes_each is not None:
            yield f"Every further one takes {size_of(record.bytes_each)} ({record.memory})."
    if record.note:
        yield record.note


def _verdicts(record: Record) -> Iterator[tuple[str, str, str]]:
    """(what is asked, what was measured, whether that is reached) of every target."""
    if isinstance(record, Race):
        for target in record.targets:
            value = record.value(target)
            measured = f"{_digits(value)} times" if target.unit == "times" else duration(value)
            yield _asked(record, target), measured, _reached(target.met(value))
    elif record.most_slope is not None:
        reached = _reached(record.slope <= record.most_slope)
        yield (
            f"slope along {record.along} at most {record.most_slope:g}",
            f"{record.slope:.2f}",
            reached,
        )


def _asked(race: Race, target: Target) -> str:
    bounds = (("at least", target.least), ("at most", target.most))
    words = " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
    return f"{target.alternative}: {words} " + (
        f"times {race.reference}" if target.unit == "times" else "s"
    )


def _reached(met: bool) -> str:
    return "reached" if met else "not reached"


def targets(results: Results) -> Table:
    """Everything that is asked, with what was measured."""
    columns = {"": "word", "asked": "word", "measured": "number", "reached": "word"}
    rows = [
        [record.title, *verdict]
        for each in results.benchmarks.values()
        for record in each.records
        for verdict in _verdicts(record)
    ]
    return columns, rows


def asked(results: Results) -> list[str]:
    """Everything that is asked, as text."""
    columns, rows = targets(results)
    return ["", *(text(columns, rows) if rows else [])]


def whole(results: Results) -> str:
    """All records as text, and what is asked."""
    records = (record for each in results.benchmarks.values() for record in each.records)
    told = [line for record in records for line in lines(record)]
    return "\n".join(told + asked(results)) + "\n"


def lines(record: Record) -> list[str]:
    """A record as text."""
    return [
        "",
        f"{record.title}; {record.measured}",
        *text(*table_of(record)),
        *(f"  {note}" for note in notes(record)),
    ]


def text(columns: dict[str, str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as text, words to the left and numbers to the right."""
    cells = [list(columns), *rows]
    widths = [max(len(row[c]) for row in cells) for c in range(len(columns))]
    sides = ["<" if kind == "word" else ">" for kind in columns.values()]
    return [
        "  "
        + "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in cells
    ]
