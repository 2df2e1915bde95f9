"""Wine with noisy links: the posterior, the answers that are probably wrong, and the fast limit.

Run by ``make demo``, or with other settings as ``python -m experiments.demo``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.report import as_text, findings
from bayesclust.typing import BoolArray
from experiments import sources

SHOWN = 10
"""How many of the least credible answers are shown."""


class Run(NamedTuple):
    """Data, answers and both fits, with the seconds each took."""

    data: sources.Dataset
    links: bc.PairwiseConstraints
    sampler: bc.TVClust
    limit: bc.RDPMeans
    seconds: dict[str, float]

    @property
    def wrong(self) -> BoolArray:
        """Which answers were flipped."""
        return np.asarray(self.links.flipped)


def fit(
    *, chains: int = 4, warmup: int = 500, samples: int = 1500, seed: int = 0, progress: bool = True
) -> Run:
    """Fit the sampler and its limit to wine with 3% of the pairs answered, one in ten wrongly."""
    data = sources.load("wine")
    X = sources.standardized(data.X)
    links = bc.PairwiseConstraints.sample(data.y, fraction=0.03, error_rate=0.1, seed=seed)
    schedule: Any = {"num_chains": chains, "num_warmup": warmup, "num_samples": samples}
    sampler = bc.TVClust(**schedule, random_state=seed, progress=progress)
    limit = bc.RDPMeans(random_state=seed)
    seconds = {}
    for name, method in (("sampler", sampler), ("limit", limit)):
        start = time.perf_counter()
        method.fit(X, constraints=links)
        seconds[name] = time.perf_counter() - start
    return Run(data, links, sampler, limit, seconds)


def report(run: Run) -> str:
    """A run in some fifty lines for a terminal."""
    summary = as_text(findings(run.sampler.posterior_, max_listed=SHOWN))
    parts = ("\n".join(part) for part in (_setting(run), _agreement(run), _answers(run)))
    return "\n\n".join([summary, *parts])


def _setting(run: Run) -> Iterator[str]:
    n, d = run.data.X.shape
    k, pairs = len(run.data.target_names), n * (n - 1) // 2
    yield f"Wine: {n} items, {d} features, {k} classes that no method sees."
    yield f"{len(run.links)} of {pairs} pairs answered, {run.wrong.sum()} of them wrongly."
    seconds = run.seconds
    yield f"Sampler: {seconds['sampler']:.1f} s, compilation included."
    yield f"RDP-means: {seconds['limit']:.1f} s, compilation included."


def _agreement(run: Run) -> Iterator[str]:
    partitions = {"sampler": run.sampler.labels_, "RDP-means": run.limit.labels_}
    yield "AGREEMENT               K      pairwise F    adjusted Rand    bits apart (VI)"
    for first, second in (
        ("sampler", "classes"),
        ("RDP-means", "classes"),
        ("RDP-means", "sampler"),
    ):
        a, b = partitions[first], partitions.get(second, run.data.y)
        yield (
            f"  {first:<9} / {second:<9}{len(np.unique(a)):>3}{bc.metrics.pairwise_f(a, b):>14.3f}"
            f"{bc.metrics.adjusted_rand(a, b):>17.3f}"
            f"{bc.metrics.variation_of_information(a, b):>18.2f}"
        )


def _answers(run: Run) -> Iterator[str]:
    from sklearn.metrics import roc_auc_score

    answers = bc.constraint_credibility(run.sampler.posterior_).assign(flipped=run.wrong)
    least = answers.nsmallest(SHOWN, "credibility")
    yield f"Of the {SHOWN} least credible answers {least.flipped.sum()} were flipped."
    if answers.flipped.nunique() == 2:
        area = roc_auc_score(~answers.flipped, answers.credibility)
        yield f"Area under the ROC curve of credibility for right answers: {area:.3f}."


def draw(run: Run, folder: Path) -> list[Path]:
    """Write the figures and the posterior of a run; returns the files."""
    import matplotlib

    matplotlib.use("Agg")  # files only, wherever this runs
    posterior = run.sampler.posterior_
    made = {
        "similarity.png": lambda: bc.plots.similarity(posterior, labels=run.sampler.labels_),
        "credibility.png": lambda: bc.plots.credibility(posterior, flipped=run.links.flipped),
        "traces.png": lambda: bc.plots.traces(posterior),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in made.items():
        np.ravel(make())[0].figure.savefig(folder / name, dpi=150, bbox_inches="tight")
    posterior.to_netcdf(folder / "posterior.nc", engine="h5netcdf")
    return [folder / name for name in (*made, "posterior.nc")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print the report and write figures and posterior."""
    parser = argparse.ArgumentParser(prog="python -m experiments.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo_output"), help="folder to write to")
    for name, default, text in (
        ("chains", 4, "chains of the sampler"),
        ("warmup", 500, "sweeps of each before its first draw"),
        ("samples", 1500, "draws of each"),
        ("seed", 0, "of the answers and of both fits"),
    ):
        text = f"{text} (default: %(default)s)"
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=text)
    settings = vars(parser.parse_args(arguments))
    out = settings.pop("out")
    run = fit(**settings)
    print(report(run))
    print("\nWritten: " + ", ".join(map(str, draw(run, out))))


if __name__ == "__main__":
    main()
