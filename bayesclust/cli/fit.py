"""``bayesclust fit``: data and answers from text files, the posterior to a netCDF file."""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayesclust._io import check_target, write_netcdf
from bayesclust.checks import counted
from bayesclust.cli.tables import Answers, Items, add_reading, read_answers, read_items

INTERRUPTED = 130
TVCLUST = "tvclust"
DCRC = "dcrc"
MEANS = "rdp-means"
CLASSES = {TVCLUST: "TVClust", DCRC: "DCRC", MEANS: "RDPMeans"}
SAMPLING = ("num_chains", "num_warmup", "num_samples")
PARAMETERS = {
    TVCLUST: (
        *("sampler", "family", "cluster_model", "power", "partition_prior"),
        *(*SAMPLING, "thinning", "n_jobs"),
    ),
    DCRC: ("n_clusters", "noise", "balance", "inference", "kernel", *SAMPLING, "n_jobs"),
    MEANS: ("n_clusters", "cluster_model", "penalty", "divergence", "xi", "n_init"),
}
"""Parameters of the estimators that are options, described by their docstrings."""
OWNERS = {
    name: [model for model, own in PARAMETERS.items() if name in own]
    for name in dict.fromkeys(name for own in PARAMETERS.values() for name in own)
}
"""The models that have each of them."""

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
                 (also yes/no, true/false, 1/0)
  triplets.csv   i, j, k, answer: is i more like j than like k? yes, no, or dnk for "do not know"
  A column called source says who answered; each source gets a reliability of its own. Of several
  files without it, each is a source. Items are named as in data.csv or, if it names none, by row
  numbers from 0. Further columns are ignored.

worked example:
  $ cat data.csv              $ cat pairs.csv
  id,height,weight            i,j,answer,source
  ant,0.1,0.2                 ant,bee,same,ann
  bee,0.2,0.1                 ant,cow,different,ann
  cow,9.0,8.8                 bee,cow,same,bob
  dog,8.7,9.1                 cow,dog,same,bob
  $ bayesclust fit data.csv --pairs pairs.csv --out run.nc
  $ bayesclust summary run.nc
  $ bayesclust report run.nc --out run.html

In Python, arviz.from_netcdf("run.nc") reads what is written. Ctrl-C ends a run early and keeps
the draws so far; the exit code is then 130. The file is written whole or not at all."""


def add(command: Callable[..., argparse.ArgumentParser], with_models: bool = True) -> None:
    """Describe the command; the options of the models take time to load."""
    text = "cluster a table with answers about pairs and triplets; write the posterior"
    parser = command("fit", text, ABOUT, EPILOG)
    files: dict[str, Any] = {"type": Path, "nargs": "+", "default": [], "metavar": "FILE"}
    parser.add_argument("data", type=Path, help="table of items")
    parser.add_argument("--pairs", help="answers about pairs", **files)
    parser.add_argument("--triplets", help="answers about triplets", **files)
    parser.add_argument(
        "--model", choices=tuple(PARAMETERS), default=TVCLUST, help="default: %(default)s"
    )
    target = "netCDF file to write"
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=target)
    random = "of everything random (default: %(default)s)"
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=random)
    parser.add_argument("--no-progress", action="store_true", help="say nothing while fitting")
    add_reading(parser)
    if with_models:
        _add_models(parser)
    parser.set_defaults(run=run)


def option_of(parameter: str) -> str:
    """The option of a parameter: num_chains is --chains, n_clusters is --n-clusters."""
    return "--" + parameter.removeprefix("num_").replace("_", "-")


def _add_models(parser: argparse.ArgumentParser) -> None:
    """Add the parameters of the estimators as options, in a group for each set of models."""
    from bayesclust import estimators

    groups = {
        models: parser.add_argument_group(f"options of {' and '.join(models)}")
        for models in dict.fromkeys(map(tuple, OWNERS.values()))
    }
    for name, models in OWNERS.items():
        texts = [_described(getattr(estimators, CLASSES[model]), name) for model in models]
        if len(models) > 1:
            texts = [f"{model}: {text}" for model, text in zip(models, texts, strict=True)]
        group, text = groups[tuple(models)], "; ".join(texts).replace("%", "%%")
        group.add_argument(option_of(name), dest=name, type=_value, metavar="VALUE", help=text)
    own = groups[(TVCLUST,)]
    noise = "learn one error rate for triplets (default), or how each truth is answered"
    own.add_argument("--triplet-noise", choices=("rate", "confusion"), help=noise)
    kept = "keep draws there as they come; the same command resumes after a kill"
    own.add_argument("--checkpoint", metavar="DIR", help=kept)


def _described(estimator: type, parameter: str) -> str:
    """Kind and first sentence of a parameter in the docstring of an estimator."""
    text = inspect.getdoc(estimator) or ""
    entry = rf"^(?:\w+, )*{parameter}(?:, \w+)* : (.*)\n((?:    .*\n|\n)*)"
    found = re.search(entry, text, re.MULTILINE)
    if found is None:
        return ""
    sentence = re.split(r"(?<=\w)[.:;]\s(?!\d)", " ".join(found[2].split()) + " ")[0]
    kind = found[1]
    if parameter == "family":
        from bayesclust.families import COMPOSED, FAMILIES

        kind = ", ".join([*FAMILIES, *COMPOSED])
    elif parameter == "partition_prior":
        sentence = "Prior over partitions, by name and numbers, such as KnownK:3"
        kind = ", ".join(_priors())
    elif parameter == "sampler":
        sentence = "Method of inference"
        kind = ", ".join(dict.fromkeys(re.findall(r'"(\w+)"[:,]', found[2])))
    return f"{sentence.removesuffix('.')} ({kind})"


def _value(word: str) -> Any:
    """A word as a value: a number, yes, no, none, numbers in brackets, or the word itself."""
    plain = {"yes": True, "no": False, "none": None, "inf": float("inf")}
    if word.lower() in plain:
        return plain[word.lower()]
    try:
        found = json.loads(word)
    except ValueError:
        return word
    return tuple(found) if isinstance(found, list) else found


def _priors() -> dict[str, type]:
    """The priors over partitions by name."""
    from bayesclust import partition_priors as known

    names = set(known.__all__) - {"PartitionPrior", "Nested"}
    return {name: getattr(known, name) for name in sorted(names)}


def _prior(word: Any) -> Any:
    """The prior over partitions of a word: a name and, after a colon, its parameters."""
    name, _, numbers = str(word).partition(":")
    known = _priors()
    if name not in known:
        raise ValueError(
            f"--partition-prior is {word!r}: write {', '.join(known)}, and parameters as KnownK:3."
        )
    try:
        given = [tuple(x) if isinstance(x, list) else x for x in json.loads(f"[{numbers}]")]
        return known[name](*given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"--partition-prior {word}: {error}") from None


def _estimator(settings: argparse.Namespace) -> Any:
    """The estimator that the options ask for; options of another model are refused."""
    from bayesclust import estimators

    model = settings.model
    chosen: dict[str, Any] = {}
    for name in (*OWNERS, "triplet_noise", "checkpoint"):
        if (value := getattr(settings, name, None)) is None:
            continue
        owners = OWNERS.get(name, [TVCLUST])
        if model not in owners:
            raise ValueError(
                f"{option_of(name)} is an option of {' and '.join(owners)}, not of {model}: "
                "leave it out."
            )
        if name in OWNERS:
            chosen[name] = _prior(value) if name == "partition_prior" else value
    sampling = [name for name in SAMPLING if name in chosen]
    if model == DCRC and sampling and chosen.get("inference") != "gibbs":
        raise ValueError(
            f"{option_of(sampling[0])} says how to sample, but dcrc does not unless asked to: "
            "add --inference gibbs."
        )
    if model == DCRC and "n_clusters" not in chosen:
        raise ValueError("dcrc needs the number of clusters: pass --n-clusters K.")
    if model != MEANS:
        chosen["progress"] = not settings.no_progress
    return getattr(estimators, CLASSES[model])(**chosen, random_state=settings.seed)


def run(settings: argparse.Namespace) -> int:
    """Read, fit and write; return 130 if the run was interrupted, whose draws are kept."""
    estimator = _estimator(settings)
    check_target(settings.out)
    allows_missing = estimator.__sklearn_tags__().input_tags.allow_nan
    items = read_items(settings, missing=allows_missing)
    answers = {
        name: read_answers(paths, size, items, settings.delimiter)
        for name, paths, size in (("links", settings.pairs, 2), ("triplets", settings.triplets, 3))
        if paths
    }
    about = f"{len(items.names)} items, {len(items.features)} features"
    views = [own.constraints for own in answers.values()]
    if settings.triplet_noise == "confusion":
        views = [view.with_noise(view.learned_noise(confusion=True)) for view in views]
    _say(settings, f"{about}, {sum(map(len, views))} answers; fitting.")
    for note in (note for own in answers.values() for note in own.notes):
        _say(settings, note)
    keep = {} if settings.checkpoint is None else {"checkpoint": settings.checkpoint}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(items.X, constraints=views or None, **keep)
        tree = _tree(settings, estimator, items.X, views)
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            print(f"bayesclust: {warning.message}", file=sys.stderr)
    if getattr(estimator, "model_scores_", None) is not None:
        chosen = f"cluster model {estimator.cluster_model_}, {estimator.family_}"
        _say(settings, f"Predicts the answers best: {chosen}.")
    tree = _named(tree, items, answers)
    write_netcdf(tree, settings.out)
    sizes = tree["posterior"].sizes
    made = f"{counted(sizes['chain'], 'chain')} of {counted(sizes['draw'], 'draw')}"
    made = "one partition" if sizes["chain"] * sizes["draw"] == 1 else made
    clusters = counted(estimator.n_clusters_, "cluster")
    print(f"{settings.out}: {made} of {len(items.names)} items, {clusters}.")
    _say(settings, f"To read it: bayesclust summary {settings.out}")
    return INTERRUPTED if tree.attrs.get("interrupted") else 0


def _say(settings: argparse.Namespace, text: str) -> None:
    if not settings.no_progress:
        print(text, file=sys.stderr)


def _tree(settings: argparse.Namespace, estimator: Any, X: Any, constraints: list[Any]) -> Any:
    """The posterior or, of the limit, its one partition in the same form."""
    if hasattr(estimator, "posterior_"):
        return estimator.posterior_
    from bayesclust.posterior.tree import to_datatree

    attrs = {
        "created_by": "bayesclust",
        "version": version("bayesclust"),
        "seed": settings.seed,
        "settings": estimator.get_params(deep=False),
        "fit_seconds": estimator.fit_seconds_,
        "penalty": float(estimator.penalty_),
    }
    stats = {"objective": [[estimator.objective_]]}
    return to_datatree(
        {"z": estimator.labels_[None, None]}, stats, X=X, constraints=constraints, attrs=attrs
    )


def _named(tree: Any, items: Items, answers: dict[str, Answers]) -> Any:
    """The posterior with the names of items, features and sources, and what it was made from."""
    from bayesclust.posterior.tree import with_names

    sources = {name: own.sources for name, own in answers.items() if own.sources is not None}
    names = None if items.named is None else items.names
    named = with_names(tree, items=names, features=items.features, sources=sources)
    named.attrs |= {"data": items.path.name, "sources": json.dumps(sources)}
    return named
