"""Two runs of the benchmarks, alternative by alternative and size by size.

OLD and NEW are two files results.json, or the folders of two checkouts, whose benchmarks are then
run in turns. Medians over a limit are marked: 1.15 times the old, 1.5 for a second fit, 1.6 for a
fit in a new process and 3 for a first fit with nothing compiled.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from benchmarks.machine import HARDWARE
from benchmarks.records import Race, Record, Results, Spread
from benchmarks.words import between, text

LIMIT = 1.15
LIMITS = {
    "nothing compiled": 3.0,
    "compiled before": 1.6,
    "its call of fit alone": 1.6,
    "a second fit": 1.5,
}
"""How many times the old seconds the new ones may be, by alternative where not `LIMIT`."""


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
        """Whether all repetitions of one run lay beyond all of the other, and over the limit."""
        spread = self.ratios or self.seconds
        word = "slower" if spread.least > 1 else "faster" if spread.most < 1 else ""
        limit = LIMITS.get(self.what, LIMIT)
        over = f"over {limit:g}" if self.seconds.median > limit else ""
        return ", ".join(filter(None, (word, over)))


def run_in_turns(
    old: Path, new: Path, names: Iterable[str], output: Path, *, quick: bool
) -> tuple[Path, Path]:
    """Run benchmarks of two checkouts, each in both before the next; returns the files of results.

    A name that a checkout does not have, or that fails there, is left out.
    """
    files = tuple(output.resolve() / side / "results.json" for side in ("old", "new"))
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
    for name, (root, file) in product(names, zip((old, new), files, strict=True)):
        root = root.resolve()
        settings = {"PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(file.parent / "kernels")}
        command = [sys.executable, "-m", "benchmarks", name, "--output", str(file.parent)]
        command += ["--resume", *(["--quick"] if quick else [])]
        print(f"{name} in {root}", file=sys.stderr, flush=True)
        done = subprocess.run(
            command, cwd=root, env=os.environ | settings, stdout=subprocess.DEVNULL, check=False
        )
        if done.returncode:
            print(f"{name} failed in {root}", file=sys.stderr)
    return files[0], files[1]


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
    commits = [each.machine.get("commit", "commit unknown") for each in (old, new)]
    yield f"old: {commits[0]}; new: {commits[1]}"
    for name in sorted(old.machine.keys() | new.machine.keys()):
        a, b = old.machine.get(name, "unknown"), new.machine.get(name, "unknown")
        if a != b and name != "commit":
            yield f"{name}: {a} against {b}"
    if any(old.machine.get(name) != new.machine.get(name) for name in HARDWARE):
        yield "The machines differ: read ratios to the reference, which carry over, not seconds."
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
