"""Wine with noisy links: the posterior, the answers that are probably wrong, and the fast limit.

Run by ``make demo``, or as ``python -m experiments.demo FOLDER``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.report import as_text, findings
from experiments import sources

SHOWN = 10
"""How many of the least credible answers are shown."""


class Run(NamedTuple):
    """Data, answers and both fits."""

    data: sources.Dataset
    links: bc.PairwiseConstraints
    sampler: bc.TVClust
    limit: bc.RDPMeans


def fit(**schedule: Any) -> Run:
    """Fit the sampler and its limit to wine with 3% of the pairs answered, one in ten wrongly."""
    data = sources.load("wine")
    X = sources.standardized(data.X)
    links = bc.PairwiseConstraints.sample(data.y, fraction=0.03, error_rate=0.1, seed=0)
    schedule = {"num_chains": 4, "num_warmup": 500, "num_samples": 1500} | schedule
    sampler = bc.TVClust(**schedule, random_state=0).fit(X, constraints=links)
    return Run(data, links, sampler, bc.RDPMeans(random_state=0).fit(X, constraints=links))


def report(run: Run) -> Iterator[str]:
    """A run in some fifty lines for a terminal."""
    yield as_text(findings(run.sampler.posterior_, max_listed=SHOWN))
    n, pairs = len(run.data.y), len(run.data.y) * (len(run.data.y) - 1) // 2
    wrong = np.asarray(run.links.flipped)
    yield f"\nWine: {n} items, {len(run.data.target_names)} classes that no method sees."
    yield f"{len(run.links)} of {pairs} pairs answered, {wrong.sum()} of them wrongly."
    for name, labels in (("sampler", run.sampler.labels_), ("RDP-means", run.limit.labels_)):
        f = bc.metrics.pairwise_f(labels, run.data.y)
        yield f"{name}: {len(np.unique(labels))} clusters, pairwise F {f:.3f}."
    least = bc.constraint_credibility(run.sampler.posterior_)["credibility"].nsmallest(SHOWN)
    yield f"Of the {SHOWN} least credible answers {wrong[least.index].sum()} were flipped."


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


if __name__ == "__main__":
    done = fit()
    print(*report(done), sep="\n")
    print("\nWritten:", *draw(done, Path(*sys.argv[1:] or ["demo_output"])))
