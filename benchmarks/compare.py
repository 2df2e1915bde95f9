"""Two runs of the benchmarks, alternative by alternative and size by size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from benchmarks.machine import HARDWARE
from benchmarks.records import Race, Record, Results, Spread
from benchmarks.words import between, text


@dataclass(frozen=True)
class Change:
    """How much longer something took in the new run.

    Attributes
    ----------
    title, what : str
        The record, and the alternative or the size.
    seconds : Spread
        New seconds over old ones, every repetition over every other.
    ratios : Spread or None
        The same of the ratios to the reference; None for the reference itself and for sizes.
    memory : float or None
        New bytes over old ones.
    """

    title: str
    what: str
    seconds: Spread
    ratios: Spread | None = None
    memory: float | None = None

    @property
    def verdict(self) -> str:
        """Whether all repetitions of one run lay beyond all of the other, ratios counting where there are any."""
        spread = self.ratios or self.seconds
        return "slower" if spread.least > 1 else "faster" if spread.most < 1 else ""


def changes(old: Results, new: Results) -> Iterator[Change]:
    """Everything that both runs measured."""
    before = _records(old)
    for name, record in _records(new).items():
        former = before.get(name)
        if isinstance(former, Race) and isinstance(record, Race):
            yield from _of_race(former, record)
        elif former is not None and not isinstance(former, Race) and not isinstance(record, Race):
            for a, b in product(former.points, record.points):
                if a.at == b.at:
                    memory = b.bytes / a.bytes if a.bytes and b.bytes else None
                    yield Change(
                        record.title,
                        f"{record.along} {b.at:,.0f}",
                        _quotients(b.seconds, a.seconds),
                        None,
                        memory,
                    )


def _records(results: Results) -> dict[tuple[str, str, str], Record]:
    return {
        (name, record.kind, record.title): record
        for name, each in results.benchmarks.items()
        for record in each.records
    }


def _of_race(old: Race, new: Race) -> Iterator[Change]:
    names = {each.name for each in old.alternatives}
    for each in new.alternatives:
        if each.name in names:
            seconds = _quotients(each.whole, old[each.name].whole)
            relative = old.reference == new.reference != each.name
            ratios = _quotients(new.ratios(each.name), old.ratios(each.name)) if relative else None
            yield Change(new.title, each.name, seconds, ratios)


def _quotients(new: Iterable[float], old: Iterable[float]) -> Spread:
    return Spread.of(a / b for a, b in product(list(new), list(old)) if b)


def lines(old: Results, new: Results) -> Iterator[str]:
    """The comparison as text."""
    yield f"old: {old.machine.get('commit', 'commit unknown')}; new: {new.machine.get('commit', 'commit unknown')}"
    for name in sorted(old.machine.keys() | new.machine.keys()):
        a, b = old.machine.get(name, "unknown"), new.machine.get(name, "unknown")
        if a != b and name != "commit":
            yield f"{name}: {a} against {b}"
    if any(old.machine.get(name) != new.machine.get(name) for name in HARDWARE):
        yield "The machines differ: read ratios to the reference, which carry over, and not seconds."
    if old.quick or new.quick:
        yield "Of a quick run the figures mean nothing."
    found = list(changes(old, new))
    columns = {
        "": "word",
        "new / old seconds": "number",
        "new / old ratio": "number",
        "memory": "number",
        "change": "word",
    }
    for title in dict.fromkeys(change.title for change in found):
        yield f"\n{title}"
        rows = [
            [
                change.what,
                between(change.seconds),
                between(change.ratios) if change.ratios else "",
                f"{change.memory:.2f}" if change.memory else "",
                change.verdict,
            ]
            for change in found
            if change.title == title
        ]
        yield from text(columns, rows)
    if not found:
        yield "Nothing was measured by both."
