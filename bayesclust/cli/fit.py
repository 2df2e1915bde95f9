"""``bayesclust fit``: data and answers from text files, the posterior to a netCDF file."""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust._io import check_target, write_netcdf
from bayesclust.checks import counted
from bayesclust.cli.tables import SCALING, add_reading, read_answers, read_items, refuse_missing

INTERRUPTED = 130
MISSING = (
    "leave the item out; tvclust takes empty cells by --family gaussian_diagonal or --family mixed"
)
MORE = "bayesclust.diagnose"
"""What says more of a run in Python, where the shell has a command."""
HARD = (1.0, 9.0)
"""Beta prior of the share of hard pairs and triplets."""
CLASSES = {"tvclust": "TVClust", "dcrc": "DCRC", "rdp-means": "RDPMeans"}
OPTIONS = {
    "sampler": "tvclust: collapsed (default), gibbs, blocked or variational",
    "family": "tvclust: likelihood of a cluster, such as gaussian (default), gaussian_diagonal, "
    "gaussian_tied for many columns, mixed, multinomial, poisson, bernoulli or categorical",
    "cluster_model": "tvclust: auto (default), single or mixture; rdp-means: single or mixture",
    "power": "tvclust: what an item weighs in the likelihood, at most 1",
    "partition_prior": "tvclust: dirichlet_process, pitman_yor, finite_mixtures or microclustering",
    "num_chains": "chains of a sampler",
    "num_warmup": "sweeps before the first draw",
    "num_samples": "draws per chain",
    "n_jobs": "threads of tvclust and dcrc",
    "n_clusters": "dcrc, which needs it; rdp-means, as a guess in place of a penalty",
    "noise": "dcrc: probability of a wrong answer, or learn",
    "inference": "dcrc: variational_em (default) or gibbs",
    "penalty": "rdp-means: penalty for each cluster",
    "divergence": "rdp-means: euclidean, kl, poisson and others",
    "n_init": "rdp-means: number of starts; the best is kept",
}
"""Parameters of the estimators that are options, those of all samplers without num_."""

NAMED = {
    "sampler": ("collapsed", "gibbs", "blocked", "variational"),
    "family": (
        *("gaussian", "gaussian_tied", "gaussian_diagonal", "gaussian_spherical", "multinomial"),
        *("bernoulli", "poisson", "categorical", "von_mises_fisher", "hurdle", "mixed"),
    ),
    "cluster_model": ("auto", "single", "mixture"),
    "partition_prior": ("dirichlet_process", "pitman_yor", "finite_mixtures", "microclustering"),
    "inference": ("variational_em", "gibbs"),
}
"""Options that are one of some words."""
ABOUT = """Cluster the rows of a table with noisy answers about pairs and triplets of them, and
write the posterior.

models:
  tvclust    Dirichlet-process mixture: posterior over partitions, and the reliability of sources
  dcrc       discriminative clustering, given the number of clusters; uses "do not know"
  rdp-means  the fast limit of tvclust: one partition, no posterior"""

EPILOG = """files (comma-separated, the first line names the columns; .tsv has tabs):
  data.csv       one item a line; a column called id, or that of --id, names the items;
                 all others are features
  pairs.csv      i, j, answer: are items i and j of one cluster? same or different
                 (also must-link/cannot-link, yes/no, true/false, 1/0); or a column score in
                 place of answer, from 0, surely different, to 1: what scores mean is learned
  triplets.csv   i, j, k, answer: is i more like j than like k? yes, no, or dnk for "do not know"
  labels.csv     i, answer: the class of item i, in any words
  groups.csv     group, i: item i is of a group that is together, whose other items have lines of
                 their own; or, with a column most, in at most so many clusters
  A column called source says who answered; each source gets a reliability of its own. Of several
  files without it, each is a source. Items are named as in data.csv or, if it names none, by row
  numbers from 0; a column count says how often. Further columns are ignored.

example:
  bayesclust fit data.csv --pairs pairs.csv --out run.nc

In Python, arviz.from_netcdf("run.nc") reads what is written. Ctrl-C ends a run early and keeps
the draws so far; the exit code is then 130. The file is written whole or not at all."""


def add(command: Callable[..., argparse.ArgumentParser]) -> None:
    """Describe the command."""
    text = "cluster a table with answers about pairs and triplets; write the posterior"
    parser = command("fit", text, ABOUT, EPILOG)
    files: dict[str, Any] = {"type": Path, "nargs": "+", "default": [], "metavar": "FILE"}
    parser.add_argument("data", type=Path, help="table of items")
    parser.add_argument("--pairs", help="answers about pairs", **files)
    parser.add_argument("--triplets", help="answers about triplets", **files)
    parser.add_argument(
        "--labels", help="classes of some items, by annotators who may err", **files
    )
    parser.add_argument("--groups", help="groups of items that belong together", **files)
    parser.add_argument(
        "--model", choices=tuple(CLASSES), default="tvclust", help="default: %(default)s"
    )
    target = "netCDF file to write (.nc)"
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=target)
    random = "of everything random (default: %(default)s)"
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=random)
    parser.add_argument("--no-progress", action="store_true", help="say nothing while fitting")
    kept = "keep draws there as they come; the same command resumes after a kill"
    parser.add_argument("--checkpoint", metavar="DIR", help=kept)
    alike = "tvclust: few answers of each source: what is learned of one tells of the others"
    parser.add_argument("--pooled", action="store_true", help=alike)
    difficult = "tvclust: some pairs and triplets may be hard, on which all sources err alike"
    parser.add_argument("--hard", action="store_true", help=difficult)
    sites = "tvclust: the column that tells the batch of each item; weights of clusters differ"
    parser.add_argument("--batches", metavar="COLUMN", help=sites)
    moved = "with --batches: each batch is shifted as a whole too"
    parser.add_argument("--shifts", action="store_true", help=moved)
    add_reading(parser)
    models = parser.add_argument_group("options of the models")
    for name, text in OPTIONS.items():
        read = READERS.get(name, str if name in NAMED else _value)
        how: dict[str, Any] = {"type": read, "choices": NAMED.get(name), "help": text}
        models.add_argument(option_of(name), dest=name, metavar="VALUE", **how)
    parser.set_defaults(run=run)


def option_of(parameter: str) -> str:
    """The option of a parameter: num_chains is --chains, n_clusters is --n-clusters."""
    return "--" + parameter.removeprefix("num_").replace("_", "-")


def in_options(advice: str) -> str:
    """Advice that names parameters of Python, with the options in their place."""

    def option(found: re.Match[str]) -> str:
        name, given, value = found["name"], found["given"], found["value"]
        # "power" and "noise" are words too, num_samples=5 and n_clusters are not
        if name not in OPTIONS or not (given or "_" in name):
            return found[0]
        return option_of(name) + (f" {value}" if given else "")

    parameter = r"(?P<name>\b[a-z_]+)(?P<given>=[\"']?(?P<value>[\w.]*\w)[\"']?)?"
    return re.sub(parameter, option, advice)


def _count(word: str, least: int = 1) -> int:
    if not word.isdecimal() or int(word) < least:
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from {least} on")
    return int(word)


READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("num_chains", "num_samples", "n_jobs", "n_clusters", "n_init"), _count),
    "num_warmup": partial(_count, least=0),
    **dict.fromkeys(("power", "penalty"), float),
}
"""What makes a value of the word that an option was given, where it may only be a number."""


def _value(word: str) -> Any:
    """A word as a value: a number, or the word itself."""
    try:
        return json.loads(word)
    except ValueError:
        return word


def _estimator(settings: argparse.Namespace) -> Any:
    """The estimator that the options ask for; options of another model are refused."""
    from bayesclust import estimators
    from bayesclust.partition_priors import HierarchicalDirichletProcess

    kind = getattr(estimators, CLASSES[settings.model])
    known = inspect.signature(kind).parameters
    names = [name for name in OPTIONS if getattr(settings, name) is not None]
    for name in names:
        if name not in known:
            raise ValueError(
                f"{option_of(name)} is not an option of {settings.model}: leave it out."
            )
    if settings.checkpoint is not None and settings.model == "rdp-means":
        raise ValueError("rdp-means has no draws for --checkpoint to keep: leave it out.")
    for option in ("pooled", "hard"):
        if getattr(settings, option) and settings.model != "tvclust":
            raise ValueError(f"--{option} is not an option of {settings.model}: leave it out.")
    if settings.model == "dcrc" and "n_clusters" not in names:
        raise ValueError("dcrc needs the number of clusters: pass --n-clusters K.")
    chosen = {name: getattr(settings, name) for name in names}
    if settings.shifts and settings.batches is None:
        raise ValueError("--shifts goes with --batches COLUMN: add that, or leave it out.")
    if settings.batches is not None:
        if settings.model != "tvclust" or "partition_prior" in names:
            raise ValueError(
                "--batches goes with tvclust, as its partition prior: leave out the other."
            )
        chosen["partition_prior"] = HierarchicalDirichletProcess(
            settings.batches, shifts=settings.shifts
        )
    if "progress" in known:
        chosen["progress"] = not settings.no_progress
    return kind(**chosen, random_state=settings.seed)


def run(settings: argparse.Namespace) -> int:
    """Read, fit and write; return 130 if the run was interrupted, whose draws are kept."""
    from xarray import DataTree

    from bayesclust.constraints import (
        LabelConstraints,
        PairwiseConstraints,
        RelativeConstraints,
        SpreadConstraints,
    )
    from bayesclust.posterior.point_estimate import settled_labels
    from bayesclust.report.findings import profiles_of

    estimator = _estimator(settings)
    asked: list[Any] = [
        (PairwiseConstraints, settings.pairs),
        (RelativeConstraints, settings.triplets),
        (LabelConstraints, settings.labels),
        (SpreadConstraints, settings.groups),
    ]
    store = [] if settings.checkpoint is None else [Path(settings.checkpoint)]
    read = [settings.data, *store, *(path for _, paths in asked for path in paths)]
    check_target(settings.out, inputs=read)
    if settings.out.suffix != ".nc":
        raise ValueError(
            f"--out {settings.out} does not end in .nc, but netCDF is written: name it "
            f"{settings.out.with_suffix('.nc')}."
        )
    X = read_items(settings)
    if not estimator.__sklearn_tags__().input_tags.allow_nan:
        refuse_missing(X.drop(columns=settings.batches or []), settings.data, MISSING)
    views = [read_answers(paths, kind, X.index) for kind, paths in asked if paths]
    views = [_as_asked(one, settings) for one in views]
    about = f"{len(X)} items, {X.shape[1]} features"
    _say(settings, f"{about}, {sum(map(len, views))} answers; fitting.")
    keep = {} if settings.checkpoint is None else {"checkpoint": settings.checkpoint}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, constraints=views or None, **keep)
    out = settings.out
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            advice = in_options(str(warning.message)).replace(MORE, f"bayesclust summary {out}")
            print(f"bayesclust: {advice}", file=sys.stderr)
    has_draws = hasattr(estimator, "posterior_")
    tree = estimator.posterior_ if has_draws else _tree_of_limit(estimator, X, views)
    tree.attrs["data"] = settings.data.name
    tree.attrs["id"] = X.index.name or ""
    tree.attrs[SCALING] = json.dumps(X.attrs[SCALING])
    profiles = profiles_of(estimator, settled_labels(tree))
    if not profiles.empty:
        tree["cluster_profiles"] = DataTree(profiles.to_xarray())
    write_netcdf(tree, settings.out)
    sizes = tree["posterior"].sizes
    draws = f"{counted(sizes['chain'], 'chain')} of {counted(sizes['draw'], 'draw')}"
    made = draws if has_draws else "one partition"
    clusters = counted(estimator.n_clusters_, "cluster")
    print(f"{settings.out}: {made} of {len(X)} items, {clusters}.")
    _say(settings, f"To read it: bayesclust summary {settings.out}")
    return INTERRUPTED if tree.attrs.get("interrupted") else 0


def _as_asked(constraints: Any, settings: argparse.Namespace) -> Any:
    """The constraints with noise as the options ask for, where they have such."""
    from bayesclust.constraints.queries import Asked

    noise = constraints.noise
    if settings.pooled and hasattr(noise, "pooled"):
        noise = replace(noise, pooled=True)
    if settings.hard and isinstance(constraints, Asked):
        noise = replace(noise, hard=HARD)
    return constraints if noise is constraints.noise else constraints.with_noise(noise)


def _say(settings: argparse.Namespace, text: str) -> None:
    if not settings.no_progress:
        print(text, file=sys.stderr)


def _tree_of_limit(estimator: Any, X: Any, constraints: list[Any]) -> Any:
    """The one partition of the limit in the form of a posterior."""
    from bayesclust.constraints.base import check_constraints
    from bayesclust.estimators.base import draws_tree
    from bayesclust.inference.runner import Draws

    objective = np.array([[estimator.objective_]])
    draws = Draws({"z": estimator.labels_[None, None]}, {"objective": objective}, False)
    used = check_constraints(constraints, len(X))  # of labels, the pairs
    settings, names = estimator.get_params(deep=False), estimator._names
    tree = draws_tree(draws, used, X.to_numpy(), settings, names=names)
    tree.attrs |= {"fit_seconds": estimator.fit_seconds_, "penalty": float(estimator.penalty_)}
    return tree
