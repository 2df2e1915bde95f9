"""Wine with noisy links: the posterior, the answers that are probably wrong, and the fast limit.

Run by ``make demo``, or with other settings as ``python -m experiments.demo``.
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import BoolArray
from experiments import figures, sources

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
    parts = (_setting(run), _posterior(run), _agreement(run), _answers(run))
    return "\n\n".join("\n".join(part) for part in parts)


def _setting(run: Run) -> Iterator[str]:
    n, d = run.data.X.shape
    sizes = run.sampler.posterior_["posterior"].sizes
    k, pairs = len(run.data.target_names), n * (n - 1) // 2
    yield f"Wine: {n} items, {d} features, {k} classes that no method sees."
    yield f"{len(run.links)} of {pairs} pairs answered, {run.wrong.sum()} of them wrongly."
    chains, seconds = f"{sizes['chain']} chains of {sizes['draw']} draws", run.seconds
    yield f"Sampler: {chains} in {seconds['sampler']:.1f} s, compilation included."
    yield f"RDP-means: {seconds['limit']:.1f} s, compilation included."


def _posterior(run: Run) -> Iterator[str]:
    import arviz as az

    posterior = run.sampler.posterior_
    names = {"K": "n_clusters", "p": "p", "q": "q"}
    draws = posterior["posterior"].dataset[list(names.values())]
    with np.errstate(invalid="ignore"):  # all draws may have one number of clusters
        ess, rhat = az.ess(draws), az.rhat(draws)
    y, (i, j) = run.data.y, run.links.items.T
    within = y[i] == y[j]
    truth = {
        "K": f"{len(run.data.target_names)}",
        "p": f"{(~run.wrong[within]).mean():.2f}",
        "q": f"{(~run.wrong[~within]).mean():.2f}",
    }
    yield "POSTERIOR            mean     90% interval     truth     R-hat      ESS"
    for shown, name in names.items():
        low, high = np.quantile(draws[name], [0.05, 0.95])
        numbers = f"{float(draws[name].mean()):8.2f} {low:8.2f} to {high:.2f}"
        diagnosed = f"{float(rhat[name].max()):10.3f} {float(ess[name].min()):8.0f}"
        yield f"  {shown:<14}{numbers:<27}{truth.get(shown, ''):>7}{diagnosed}"
    clusters, counts = np.unique(draws["n_clusters"], return_counts=True)
    shares = zip(clusters, counts / counts.sum(), strict=True)
    yield "  " + "   ".join(f"P(K = {k}) = {share:.2f}" for k, share in shares if share >= 0.005)
    yield '  p: a pair of one cluster is answered "same"; q: one of two clusters "different".'
    indent: Any = {"initial_indent": "  ", "subsequent_indent": "  "}
    yield from textwrap.wrap(str(bc.diagnose(posterior)), 100, **indent)


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
    yield f"THE {SHOWN} LEAST CREDIBLE ANSWERS"
    for row in least.itertuples():
        fate = "flipped" if row.flipped else "as it is"
        right = f"P(right) = {row.credibility:.3f}"
        yield f"  {row.i:>3} and {row.j:<3}  {row.answer:<9}  {right}   {fate}"
    yield f"  {least.flipped.sum()} of these {len(least)} were flipped."
    if answers.flipped.nunique() == 2:
        area = roc_auc_score(~answers.flipped, answers.credibility)
        yield f"  Area under the ROC curve of credibility for right answers: {area:.3f}."


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
    for name, make in made.items():
        with figures.replaced(folder / name) as draft:
            np.ravel(make())[0].figure.savefig(draft, format="png", dpi=150, bbox_inches="tight")
    with figures.replaced(folder / "posterior.nc") as draft:
        posterior.to_netcdf(draft, engine="h5netcdf")
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
