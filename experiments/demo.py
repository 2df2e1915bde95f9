"""Wine with doubtful links: the posterior over partitions, which answers to believe, and the fast limit beside it.

Run by ``make demo``, or with other settings as ``python -m experiments.demo``.
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bayesclust as bc
from bayesclust._files import replaced, write_netcdf
from bayesclust.typing import BoolArray, FloatArray

__all__ = ["Run", "add_arguments", "draw", "fit", "main", "report"]

SHOWN = 10
"""How many of the least believed answers are shown."""


@dataclass(frozen=True)
class Run:
    """Data, answers and both fits, with the seconds each took.

    Parameters
    ----------
    data : Dataset
        Wine, on its own scale.
    links : PairwiseConstraints
        The answers, which know whether they were flipped.
    sampler : TVClust
        The fitted sampler.
    limit : RDPMeans
        The fitted small-variance limit.
    seconds : dict of float
        By method.
    """

    data: bc.datasets.Dataset
    links: bc.PairwiseConstraints
    sampler: bc.TVClust
    limit: bc.RDPMeans
    seconds: dict[str, float]


def fit(
    *, chains: int = 4, warmup: int = 500, samples: int = 1500, seed: int = 0, progress: bool = True
) -> Run:
    """Fit the sampler and its limit to standardised wine with 3% of the pairs answered, one in ten wrongly.

    Parameters
    ----------
    chains, warmup, samples : int, default 4, 500, 1500
        Of the sampler.
    seed : int, default 0
        Of the answers and of both fits.
    progress : bool, default True
        Show a bar while the sampler runs.

    Returns
    -------
    Run
    """
    data = bc.datasets.load("wine")
    X: FloatArray = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    links = bc.PairwiseConstraints.sample(data.y, fraction=0.03, error_rate=0.1, seed=seed)
    sampler = bc.TVClust(
        num_chains=chains,
        num_warmup=warmup,
        num_samples=samples,
        random_state=seed,
        progress=progress,
    )
    limit = bc.RDPMeans(random_state=seed)
    seconds = {}
    for name, method in (("sampler", sampler), ("limit", limit)):
        start = time.perf_counter()
        method.fit(X, constraints=links)
        seconds[name] = time.perf_counter() - start
    return Run(data, links, sampler, limit, seconds)


def report(run: Run) -> str:
    """Put a run into words.

    Parameters
    ----------
    run : Run

    Returns
    -------
    str
        Some fifty lines for a terminal.
    """
    return "\n".join(
        [*_setting(run), "", *_posterior(run), "", *_agreement(run), "", *_answers(run)]
    )


def _setting(run: Run) -> Iterator[str]:
    n, d = run.data.X.shape
    flipped = np.count_nonzero(_flipped(run))
    chains, draws = (run.sampler.posterior_["posterior"].sizes[name] for name in ("chain", "draw"))
    yield f"Wine: {n} items, {d} features, {len(run.data.target_names)} classes that no method sees."
    yield f"{len(run.links)} of {n * (n - 1) // 2} pairs answered, {flipped} of them wrongly."
    yield f"Sampler: {chains} chains of {draws} draws in {run.seconds['sampler']:.1f} s, compilation included."
    yield f"RDP-means: {run.seconds['limit']:.1f} s, compilation included."


def _posterior(run: Run) -> Iterator[str]:
    import arviz as az

    posterior = run.sampler.posterior_
    names = {"K": "n_clusters", "p": "p", "q": "q", "concentration": "concentration"}
    draws = posterior["posterior"].dataset[list(names.values())]
    ess, rhat, truth = az.ess(draws), az.rhat(draws), _truth(run)
    yield "POSTERIOR            mean     90% interval     truth     R-hat      ESS"
    for shown, name in names.items():
        low, high = np.quantile(draws[name], [0.05, 0.95])
        numbers = f"{float(draws[name].mean()):8.2f} {low:8.2f} to {high:.2f}"
        diagnosed = f"{float(rhat[name].max()):10.3f} {float(ess[name].min()):8.0f}"
        yield f"  {shown:<14}{numbers:<27}{truth.get(shown, ''):>7}{diagnosed}"
    clusters, counts = np.unique(draws["n_clusters"], return_counts=True)
    shares = zip(clusters, counts / counts.sum(), strict=True)
    yield "  " + "   ".join(f"P(K = {k}) = {share:.2f}" for k, share in shares if share >= 0.005)
    yield '  p: a pair of one cluster is answered "same"; q: a pair of two clusters is answered "different".'
    yield from textwrap.wrap(
        str(bc.diagnose(posterior)), 100, initial_indent="  ", subsequent_indent="  "
    )


def _truth(run: Run) -> dict[str, str]:
    """Classes, and the shares of right answers within and between them."""
    within = run.data.y[run.links.items[:, 0]] == run.data.y[run.links.items[:, 1]]
    right = ~_flipped(run)
    return {
        "K": f"{len(run.data.target_names)}",
        "p": f"{right[within].mean():.2f}",
        "q": f"{right[~within].mean():.2f}",
    }


def _agreement(run: Run) -> Iterator[str]:
    partitions = {
        "classes": run.data.y,
        "sampler": run.sampler.labels_,
        "RDP-means": run.limit.labels_,
    }
    yield "AGREEMENT               K      pairwise F    adjusted Rand    bits apart (VI)"
    for first, second in (
        ("sampler", "classes"),
        ("RDP-means", "classes"),
        ("RDP-means", "sampler"),
    ):
        a, b = partitions[first], partitions[second]
        yield (
            f"  {first:<9} / {second:<9}{len(np.unique(a)):>3}{bc.metrics.pairwise_f(a, b):>14.3f}"
            f"{bc.metrics.adjusted_rand(a, b):>17.3f}{bc.metrics.variation_of_information(a, b):>18.2f}"
        )


def _answers(run: Run) -> Iterator[str]:
    from sklearn.metrics import roc_auc_score

    answers = bc.constraint_credibility(run.sampler.posterior_).assign(flipped=_flipped(run))
    least = answers.nsmallest(SHOWN, "credibility")
    yield f"THE {SHOWN} ANSWERS LEAST TO BE BELIEVED"
    for row in least.itertuples():
        fate = "flipped" if row.flipped else "as it is"
        yield f"  {row.i:>3} and {row.j:<3}  said {row.answer:<9}  P(right) = {row.credibility:.3f}   {fate}"
    yield f"  {least.flipped.sum()} of these {len(least)} were flipped."
    if answers.flipped.nunique() == 2:
        area = roc_auc_score(~answers.flipped, answers.credibility)
        yield f"  Credibility tells right answers from flipped ones with an area under the ROC curve of {area:.3f}."


def _flipped(run: Run) -> BoolArray:
    if run.links.flipped is None:
        raise ValueError(
            "the links of a run must know which of them were flipped: draw them by their sample method."
        )
    return run.links.flipped


def draw(run: Run, folder: Path) -> list[Path]:
    """Write the figures and the posterior of a run.

    Parameters
    ----------
    run : Run
    folder : pathlib.Path
        Made where it is missing; files of the same names are replaced.

    Returns
    -------
    list of pathlib.Path
        What was written.
    """
    import matplotlib

    matplotlib.use("Agg")  # files only, wherever this runs
    folder.mkdir(parents=True, exist_ok=True)
    posterior = run.sampler.posterior_
    figures: dict[str, Callable[[], Any]] = {
        "similarity.png": lambda: bc.plots.similarity(posterior, labels=run.sampler.labels_),
        "credibility.png": lambda: bc.plots.credibility(posterior, flipped=run.links.flipped),
        "traces.png": lambda: bc.plots.traces(posterior),
    }
    written = []
    for name, make in figures.items():
        with replaced(folder / name) as draft:
            np.ravel(make())[0].figure.savefig(draft, format="png", dpi=150, bbox_inches="tight")
        written.append(folder / name)
    write_netcdf(posterior, folder / "posterior.nc")
    return [*written, folder / "posterior.nc"]


def add_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Describe the settings of the demo.

    Parameters
    ----------
    parser : argparse.ArgumentParser

    Returns
    -------
    argparse.ArgumentParser
        The same one.
    """
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("demo_output"),
        help="folder to write to (default: %(default)s)",
    )
    for name, default, text in (
        ("chains", 4, "chains of the sampler"),
        ("warmup", 500, "sweeps of each before its first draw"),
        ("samples", 1500, "draws of each"),
        ("seed", 0, "of the answers and of both fits"),
    ):
        parser.add_argument(
            f"--{name}",
            type=int,
            default=default,
            metavar="N",
            help=f"{text} (default: %(default)s)",
        )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print the report and write figures and posterior.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line where None.
    """
    parser = add_arguments(
        argparse.ArgumentParser(prog="python -m experiments.demo", description=__doc__)
    )
    settings = vars(parser.parse_args(arguments))
    show(settings.pop("output"), **settings)


def show(folder: Path, **settings: Any) -> None:
    """Fit with the settings of `fit`, print the report and write figures and posterior into a folder."""
    run = fit(**settings)
    print(report(run))
    print("\nWritten: " + ", ".join(str(path) for path in draw(run, folder)))


if __name__ == "__main__":
    main()
