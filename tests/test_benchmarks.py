"""The benchmarks: what they return, keep and compare."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import pages, words
from benchmarks.compare import changes, lines
from benchmarks.records import Alternative, Growth, Point, Race, Results, Target
from benchmarks.timing import Entry, Scale, grow, race

RACE = Race(
    "Sorting <1000> numbers",
    "CPU time of a call",
    "ours",
    (
        Alternative("ours", (1.0, 2.0, 4.0)),
        Alternative("peer", (3.0, 3.0, 4.0), 0.5),
        Alternative("slow", (20.0,)),
    ),
    (Target("peer", least=2.5), Target("ours", most=1.5, unit="s")),
    "Measured elsewhere: 9.4 s.",
)
GROWTH = Growth(
    "Along n",
    "items",
    "CPU time",
    (Point(0, (0.5,), 5), *(Point(n, (n**1.5, n**1.5), 8 * n) for n in (1, 10, 100))),
    "bytes",
    1.2,
)


def stub(monkeypatch, name, run):
    """A benchmark beside those that there are."""
    module = ModuleType(f"benchmarks.{name}", f"What {name} measures.\n\nMore of it.")
    module.run = run
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(command, "NAMES", (*command.NAMES, name))


def test_a_run_is_printed_kept_resumed_and_compared(monkeypatch, tmp_path, capsys):
    calls = []

    def real(scale):
        calls.append(scale)
        spin = {
            "short": lambda: sum(range(20_000)),
            "long": Entry(lambda: sum(range(60_000)), share=0.5),
        }
        target = Target("long", least=1)
        measured = "CPU time of a sum"
        yield race("Sums", measured, spin, scale, reference="short", targets=[target])
        sizes = (2000, 20_000)
        ones = lambda n: lambda: lambda: np.ones(n) + 1  # noqa: E731
        yield grow("Arrays", "cells", "CPU time", sizes, ones, scale)

    def interrupted(scale):
        yield RACE
        raise KeyboardInterrupt

    def broken(scale):
        yield from ()
        raise RuntimeError("no solver")

    for name, run in (("real", real), ("broken", broken), ("interrupted", interrupted)):
        stub(monkeypatch, name, run)
    argv = ["--quick", "--output", str(tmp_path / "out")]
    assert command.main(["real", "broken", "interrupted", *argv]) == 130
    printed = capsys.readouterr()
    assert "no solver" in printed.err
    assert "times short" in printed.out
    kept = Results.read(tmp_path / "out/results.json")
    assert list(kept.benchmarks) == ["real"]  # all but the one in hand, and the broken one
    sums, arrays = kept.benchmarks["real"].records
    assert kept.benchmarks["real"].about == "What real measures."
    assert [len(each.seconds) for each in sums.alternatives] == [2, 2]
    assert arrays.bytes_each == pytest.approx(16, abs=1)  # two arrays of 8 bytes a cell
    assert "Arrays; CPU time" in (tmp_path / "out/results.txt").read_text(encoding="utf-8")
    assert calls == [Scale(quick=True)]
    assert command.main(["real", "interrupted", "--resume", *argv]) == 130
    assert len(calls) == 1  # it was there
    with pytest.raises(SystemExit):
        command.main(["real", "--resume", "--output", str(tmp_path / "out")])
    assert "another machine, version or size" in capsys.readouterr().err
    assert command.main(["compare", *[str(tmp_path / "out/results.json")] * 2]) == 0
    assert "figures mean nothing" in capsys.readouterr().out


def test_ratios_are_of_the_same_turn_and_of_the_whole_work():
    assert RACE.ratios("ours") == (1, 1, 1)
    assert RACE.ratios("peer") == (6, 3, 2)
    assert RACE.ratios("slow") == (10,)  # of the median
    assert [RACE.value(target) for target in RACE.targets] == [3, 2]
    verdicts = [row[-1] for row in words.targets(results())[1]]
    assert verdicts == ["reached", "not reached", "not reached"]
    with pytest.raises(ValueError, match="'thiers' is none of the alternatives"):
        replace(RACE, reference="thiers")


def test_slopes_are_those_of_power_laws_over_the_last_decade():
    assert GROWTH.slope == pytest.approx(1.5)
    points = [Point(n, (seconds,)) for n, seconds in ((1, 1.0), (10, 1.0), (50, 5.0), (100, 10.0))]
    bent = replace(GROWTH, points=tuple(points))
    assert bent.slope == pytest.approx(1.0)
    assert replace(bent, points=bent.points[:2]).slope == pytest.approx(0.0)
    assert (GROWTH.bytes_each, bent.bytes_each) == (8, None)


def results(*records, **machine):
    made = {"processor": "p", "cores": "2", "memory": "8", "system": "s", "commit": "a", **machine}
    done = command.Benchmark("About & all.", 2.5, records or (RACE, GROWTH))
    return Results(made, benchmarks={"some": done})


def test_results_survive_json_and_other_files_are_refused(tmp_path):
    results().write(tmp_path / "a.json")
    assert Results.read(tmp_path / "a.json") == results()
    foreign = json.loads(results().to_json())
    foreign["benchmarks"]["some"]["records"][0]["kind"] = "war"
    for text in ("", "[]", "{}", '{"format": 2}', json.dumps(foreign)):
        with pytest.raises(ValueError, match=r"no results of `python -m benchmarks`"):
            Results.from_json(text)


def test_two_runs_are_compared_by_seconds_and_by_ratios():
    slower = replace(
        RACE,
        alternatives=(
            Alternative("ours", (2.0, 4.0, 8.0)),
            Alternative("peer", (24.0, 24.0, 32.0), 0.5),
        ),
    )
    grown = replace(
        GROWTH, points=tuple(replace(point, bytes=3 * point.bytes) for point in GROWTH.points)
    )
    new = results(slower, grown, commit="b", processor="q")
    found = {change.what: change for change in changes(results(), new)}
    sizes = {f"items {n}" for n in (0, 1, 10, 100)}
    assert found.keys() == {"ours", "peer"} | sizes  # "slow" is gone
    assert found["ours"].seconds == (2, 0.5, 8)
    assert found["peer"].ratios == (4, 8 / 6, 12)
    assert found["items 10"].seconds == (1, 1, 1)
    assert found["items 10"].memory == 3
    assert found["items 10"].verdict == ""
    assert found["peer"].verdict == "slower, over 1.15"
    said = "\n".join(lines(results(), new))
    assert "The machines differ" in said
    assert "processor: p against q" in said
    assert "machines differ" not in "\n".join(lines(results(), results()))
    assert "Nothing was measured by both." in "\n".join(lines(results(RACE), results(GROWTH)))


def test_pages_are_made_of_the_recorded_results():
    recorded = Results.read(pages.RECORDED)
    assert not recorded.quick
    told = pages.RECORDED.with_suffix(".txt").read_text(encoding="utf-8")
    assert told == words.whole(recorded)
    page = Path(__file__).parents[1] / "docs/howto/large_data.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in pages.tables(recorded) if line not in lines] == []


@pytest.mark.slow
def test_every_benchmark_runs_at_its_smallest_sizes(tmp_path):
    assert command.main(["--quick", "--output", str(tmp_path)]) == 0
    assert list(Results.read(tmp_path / "results.json").benchmarks) == list(command.NAMES)
