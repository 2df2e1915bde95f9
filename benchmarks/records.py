"""What benchmarks return: races between alternatives, and curves of growth."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

FORMAT = 1
WITHIN_DECADE = 10 * (1 + 1e-9)


class Spread(NamedTuple):
    """Median, least and most of some repetitions."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The spread of some numbers."""
        numbers = np.array(list(values), dtype=np.float64)
        return cls(float(np.median(numbers)), float(numbers.min()), float(numbers.max()))


@dataclass(frozen=True)
class Target:
    """What is asked of an alternative: a number that the median must not exceed, or must reach.

    `unit` is "times" (as long as the reference) or "s" (CPU seconds).
    """

    alternative: str
    most: float | None = None
    least: float | None = None
    unit: str = "times"

    def met(self, value: float) -> bool:
        """Whether a number is good enough."""
        return (self.most is None or value <= self.most) and (
            self.least is None or value >= self.least
        )


@dataclass(frozen=True)
class Alternative:
    """CPU seconds of every repetition, in which `share` of the reference's work was done.

    `bytes` is the peak, where memory was measured.
    """

    name: str
    seconds: tuple[float, ...]
    share: float = 1.0
    bytes: int | None = None

    @property
    def whole(self) -> tuple[float, ...]:
        """Seconds that all of the work would take at this rate."""
        return tuple(second / self.share for second in self.seconds)


@dataclass(frozen=True)
class Race:
    """Alternatives measured in turn; every ratio is to the reference of the same turn.

    `measured` says what the seconds are of, `note` what was measured elsewhere.
    """

    kind: ClassVar[str] = "race"
    title: str
    measured: str
    reference: str
    alternatives: tuple[Alternative, ...]
    targets: tuple[Target, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        names = [alternative.name for alternative in self.alternatives]
        for name in (self.reference, *(target.alternative for target in self.targets)):
            if name not in names:
                raise ValueError(f"{self.title}: {name!r} is none of the alternatives {names}.")

    def __getitem__(self, name: str) -> Alternative:
        return next(alternative for alternative in self.alternatives if alternative.name == name)

    def ratios(self, name: str) -> tuple[float, ...]:
        """How many times as long as the reference an alternative took, turn by turn.

        Where one of the two was measured less often, the median of the reference stands for its
        turns.
        """
        own, reference = self[name].whole, self[self.reference].whole
        if len(own) != len(reference):
            reference = (float(np.median(reference)),) * len(own)
        return tuple(a / b if b else math.inf for a, b in zip(own, reference, strict=True))

    def value(self, target: Target) -> float:
        """What was measured of a target."""
        of = (
            self.ratios(target.alternative)
            if target.unit == "times"
            else self[target.alternative].whole
        )
        return float(np.median(of))


@dataclass(frozen=True)
class Point:
    """One size: CPU seconds of every repetition, and bytes at the peak."""

    at: float
    seconds: tuple[float, ...]
    bytes: int | None = None

    @property
    def median(self) -> float:
        """Median CPU seconds."""
        return float(np.median(self.seconds))


@dataclass(frozen=True)
class Growth:
    """Time and memory along one size, from small to large; a slope up to `most_slope` is asked."""

    kind: ClassVar[str] = "growth"
    title: str
    along: str
    measured: str
    points: tuple[Point, ...]
    memory: str = ""
    most_slope: float | None = None
    note: str = ""

    @property
    def slope(self) -> float:
        """Slope of log seconds on log size, by least squares over the last decade.

        Where the last decade holds a single size, the one before takes part.
        """
        positive = [point for point in self.points if point.at > 0]
        last = [point for point in positive if point.at * WITHIN_DECADE >= positive[-1].at]
        last = last if len(last) > 1 else positive[-2:]
        size, seconds = np.log([[point.at, point.median] for point in last]).T
        return float(np.polyfit(size, seconds, 1)[0])

    @property
    def bytes_each(self) -> float | None:
        """Bytes that every further unit of the size takes, between the two largest."""
        first, last = self.points[-2:]
        if first.bytes is None or last.bytes is None:
            return None
        return (last.bytes - first.bytes) / (last.at - first.at)


Record = Race | Growth


@dataclass(frozen=True)
class Benchmark:
    """The records of one benchmark, and the seconds of the wall clock that it took."""

    about: str
    seconds: float
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Results:
    """A run, or as much of it as is done."""

    machine: dict[str, str]
    quick: bool = False
    benchmarks: dict[str, Benchmark] = field(default_factory=dict)

    def to_json(self) -> str:
        """The whole as text."""
        done = {
            name: {
                **asdict(each),
                "records": [{"kind": record.kind, **asdict(record)} for record in each.records],
            }
            for name, each in self.benchmarks.items()
        }
        whole = {"format": FORMAT, "machine": self.machine, "quick": self.quick, "benchmarks": done}
        return json.dumps(whole, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What `to_json` wrote; raises ValueError for anything else."""
        try:
            whole = json.loads(text)
            if whole["format"] != FORMAT:
                raise ValueError(f"format {whole['format']}, not {FORMAT}")
            done = {
                name: Benchmark(
                    each["about"], each["seconds"], tuple(map(_record, each["records"]))
                )
                for name, each in whole["benchmarks"].items()
            }
            return cls(dict(whole["machine"]), bool(whole["quick"]), done)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"these are no results of `python -m benchmarks` ({error!r})."
            ) from error

    @classmethod
    def read(cls, path: Path) -> Self:
        """Those in a file."""
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def write(self, path: Path) -> None:
        """Put them into a file in one step."""
        draft = path.with_suffix(".draft")
        draft.write_text(self.to_json(), encoding="utf-8")
        draft.replace(path)


def _record(fields: Mapping[str, Any]) -> Record:
    given = {name: value for name, value in fields.items() if name != "kind"}
    if fields["kind"] == Growth.kind:
        return Growth(
            **{**given, "points": tuple(Point(**_tupled(point)) for point in given["points"])}
        )
    if fields["kind"] == Race.kind:
        given["alternatives"] = tuple(
            Alternative(**_tupled(each)) for each in given["alternatives"]
        )
        return Race(**{**given, "targets": tuple(Target(**target) for target in given["targets"])})
    raise ValueError(f"a record of kind {fields['kind']!r}")


def _tupled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {**fields, "seconds": tuple(fields["seconds"])}
