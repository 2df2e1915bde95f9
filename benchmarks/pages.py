"""The tables of docs/howto/large_data.md, made of what is recorded: ``python -m benchmarks.pages``.

``make bench`` measures all of it again, and ``python -m benchmarks --output
experiments/results/speed`` records it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import scale, whole_fits, words
from benchmarks.records import Alternative, Results, Spread

RECORDED = Path(__file__).parents[1] / "experiments/results/speed/results.json"
WHAT = {
    "PairwiseConstraints": "`bc.PairwiseConstraints(...)`",
    "RDPMeans": "`bc.RDPMeans()`, penalty and confidence chosen",
    "RDPMeans, many links": "the same",
    "RDPMeans, links by the item": "the same",
    "SpectralRDPMeans": "`bc.SpectralRDPMeans()`",
    "DPMeans": "`bc.DPMeans()`, penalty chosen",
    "blocked": '`bc.TVClust("blocked")`',
    "blocked, many links": "the same",
    "collapsed": "`bc.TVClust()`",
    "point_estimate": "`bc.point_estimate`",
    "MPCKMeans": f"`bc.MPCKMeans(n_clusters={scale.CLUSTERS})`",
}


def of_whole_fits(results: Results) -> Iterator[str]:
    """A row for each size, a column for each method."""
    methods = [f"`{name}`" for name in whole_fits.METHODS]
    yield from _head(["items", "d", "K", "answers", *methods])
    for size, record in zip(
        whole_fits.SIZES, results.benchmarks["whole_fits"].records, strict=True
    ):
        done = _alternatives(record)
        seconds = [_seconds(done[name]) for name in whole_fits.METHODS]
        yield _row([*(f"{value:,}" for value in size), *seconds])


def of_scale(results: Results) -> Iterator[str]:
    """A row for each of the largest sizes."""
    yield from _head(["items", "links or draws", "what", "seconds", "peak memory"])
    (record,) = results.benchmarks["scale"].records
    done = _alternatives(record)
    for name, case in scale.CASES.items():
        one = done[scale.title_of(name, case.items, case.number)]
        number = f"{case.number:,}" if case.number else "none"
        memory = words.size_of(one.bytes or 0)
        yield _row([f"{case.items:,}", number, WHAT[name], _seconds(one), memory])


def _alternatives(record: object) -> dict[str, Alternative]:
    return {each.name: each for each in getattr(record, "alternatives", ())}


def _seconds(one: Alternative) -> str:
    median = Spread.of(one.whole).median
    return format(median, ".0f" if median >= 10 else ".2g")


def _head(names: Sequence[str]) -> Iterator[str]:
    yield _row(names)
    yield f"|{' --- |' * len(names)}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def tables(results: Results) -> list[str]:
    """Lines of both tables in Markdown."""
    return [*of_whole_fits(results), "", *of_scale(results)]


if __name__ == "__main__":
    print("\n".join(tables(Results.read(RECORDED))))
