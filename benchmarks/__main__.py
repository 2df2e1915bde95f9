"""Run the benchmarks, or compare two runs: ``python -m benchmarks --help``."""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import compare, words
from benchmarks.machine import machine
from benchmarks.records import Benchmark, Results
from benchmarks.timing import Scale

NAMES = (
    "collapsed_scan",
    "gibbs_scan",
    "other_views",
    "effective_draws",
    "blocked_iteration",
    "point_estimate",
    "limit_pass",
    "mpck_means",
    "dcrc_fit",
    "minimal_modification",
    "npu",
    "collapsed_growth",
    "summaries",
    "blocked_scale",
    "scale",
    "whole_fits",
    "first_fit",
)
OUTPUT = Path(__file__).parent / "output"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


def about(name: str) -> str:
    """First sentence of what a benchmark says of itself."""
    text = import_module(f"benchmarks.{name}").__doc__ or ""
    return " ".join(text.split("\n\n")[0].split())


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["compare"]:
        return _compare(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure, print, and write results.json and results.txt.",
        epilog="python -m benchmarks compare OLD NEW compares two results.json, or two checkouts.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run (default: all)")
    for name, text in (
        ("quick", "smallest sizes and two repetitions, to see that all works"),
        ("resume", "keep what results.json in the folder has, and run the rest"),
        ("list", "say what there is, and run nothing"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=text)
    text = "folder of the results (%(default)s)"
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="DIR", help=text)
    text = "CPU seconds for each race (%(default)s)"
    parser.add_argument("--budget", type=float, default=Scale.budget, help=text)
    settings = parser.parse_args(arguments)
    unknown = set(settings.names) - set(NAMES)
    if unknown:
        parser.error(
            f"there is no benchmark {', '.join(sorted(unknown))}: choose from {', '.join(NAMES)}."
        )
    if settings.list:
        for name in NAMES:
            print(f"{name:22}{about(name)}")
        return 0
    settings.output.mkdir(parents=True, exist_ok=True)
    try:
        results = _begin(settings.output / "results.json", settings.quick, settings.resume)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return _run(
        settings.names or NAMES, results, Scale(settings.quick, settings.budget), settings.output
    )


def _begin(path: Path, quick: bool, resume: bool) -> Results:
    """New results, or those in a file if they are of this machine and this version."""
    new = Results(machine(), quick)
    if not (resume and path.exists()):
        return new
    old = Results.read(path)
    if replace(old, benchmarks={}) != new:
        raise ValueError(
            f"{path} is of another machine, version or size: run without --resume, or into "
            "another folder."
        )
    return old


def _run(names: Sequence[str], results: Results, scale: Scale, folder: Path) -> int:
    """Run benchmarks that are not among the results; one that fails stops no other."""
    code = 0
    for variable, value in ONE_THREAD.items():
        os.environ.setdefault(
            variable, value
        )  # read when JAX first counts devices, and by processes of their own
    try:
        with threadpool_limits(1):
            for name in (name for name in names if name not in results.benchmarks):
                try:
                    results.benchmarks[name] = measure(name, scale)
                except Exception:
                    traceback.print_exc()
                    print(f"\n{name} failed; the others go on", file=sys.stderr)
                    code = 1
                else:
                    results.write(folder / "results.json")
    except KeyboardInterrupt:
        print("\ninterrupted; what was done is kept, and --resume goes on from it", file=sys.stderr)
        code = 130
    if results.benchmarks:
        (folder / "results.txt").write_text(words.whole(results), encoding="utf-8")
        print("\n".join(words.asked(results)))
        print(f"\nWritten: {folder / 'results.json'} and {folder / 'results.txt'}")
    return code


def measure(name: str, scale: Scale) -> Benchmark:
    """Run one benchmark, and print its records as they come."""
    start, records = time.perf_counter(), []
    for record in import_module(f"benchmarks.{name}").run(scale):
        print("\n".join(words.lines(record)), flush=True)
        records.append(record)
    return Benchmark(about(name), time.perf_counter() - start, tuple(records))


def _compare(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compare", description=compare.__doc__
    )
    text = "results.json, or the folder of a checkout"
    parser.add_argument("old", type=Path, help=text)
    parser.add_argument("new", type=Path, help=text)
    parser.add_argument("names", nargs="*", help="of checkouts: benchmarks to run (default: all)")
    parser.add_argument("--output", type=Path, default=OUTPUT / "compared", metavar="DIR")
    parser.add_argument("--quick", action="store_true", help="of checkouts: smallest sizes")
    settings = parser.parse_args(arguments)
    pair = settings.old, settings.new
    try:
        if all(path.is_dir() for path in pair):
            names = settings.names or NAMES
            pair = compare.run_in_turns(*pair, names, settings.output, quick=settings.quick)
        old, new = map(Results.read, pair)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    for line in compare.lines(old, new):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
