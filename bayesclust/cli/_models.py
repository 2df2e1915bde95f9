"""The models of ``bayesclust fit``: their options, and estimators made of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from bayesclust.constraints import PairwiseConstraints, RelativeConstraints

__all__ = ["MODELS", "add_options", "given_options", "make_estimator", "with_noise"]

MODELS = ("tvclust", "dcrc", "rdp-means")
TVCLUST, DCRC, MEANS = MODELS
SAMPLERS = ("collapsed", "gibbs", "blocked", "variational")
FAMILIES = (
    "gaussian",
    "gaussian_tied",
    "gaussian_diagonal",
    "gaussian_spherical",
    "multinomial",
    "bernoulli",
    "poisson",
    "categorical",
    "hurdle",
    "recoded",
    "mixed",
)


def _noise(word: str) -> float | str:
    return word if word in ("learn", "confusion") else float(word)


def _balance(word: str) -> bool | str:
    return {"yes": True, "no": False}.get(word, word)


class Option(NamedTuple):
    """An option that is a parameter of the estimators of some models."""

    name: str
    parameter: str
    models: tuple[str, ...]
    settings: dict[str, Any]


OPTIONS = (
    Option(
        "sampler",
        "sampler",
        (TVCLUST,),
        {"choices": SAMPLERS, "help": "how the posterior is found (collapsed)"},
    ),
    Option(
        "family",
        "family",
        (TVCLUST,),
        {"choices": FAMILIES, "help": "likelihood of a cluster (gaussian)"},
    ),
    Option(
        "cluster-model",
        "cluster_model",
        (TVCLUST, MEANS),
        {
            "choices": ("single", "mixture", "auto"),
            "help": "a cluster is one component (plain) or several; auto (tvclust): as predicts the answers best",
        },
    ),
    Option(
        "power",
        "power",
        (TVCLUST,),
        {"type": float, "metavar": "W", "help": "what an item weighs, up to 1 (1)"},
    ),
    Option(
        "chains", "num_chains", (TVCLUST, DCRC), {"type": int, "metavar": "N", "help": "chains (4)"}
    ),
    Option(
        "warmup",
        "num_warmup",
        (TVCLUST, DCRC),
        {"type": int, "metavar": "N", "help": "sweeps before the draws (500)"},
    ),
    Option(
        "samples",
        "num_samples",
        (TVCLUST, DCRC),
        {"type": int, "metavar": "N", "help": "draws of each chain (1000)"},
    ),
    Option(
        "thinning",
        "thinning",
        (TVCLUST,),
        {"type": int, "metavar": "N", "help": "sweeps from draw to draw (1)"},
    ),
    Option(
        "concentration",
        "concentration",
        (TVCLUST,),
        {"type": float, "metavar": "ALPHA", "help": "fix the concentration (default: learned)"},
    ),
    Option(
        "n-clusters",
        "n_clusters",
        (DCRC, MEANS),
        {
            "type": int,
            "metavar": "K",
            "help": "dcrc: how many clusters, needed; rdp-means: a guess, which sets the penalty",
        },
    ),
    Option(
        "noise",
        "noise",
        (DCRC,),
        {
            "type": _noise,
            "metavar": "EPS",
            "help": "share of wrong answers (0.05), or learn, or confusion",
        },
    ),
    Option(
        "balance",
        "balance",
        (DCRC,),
        {
            "type": _balance,
            "metavar": "WORD",
            "help": "whether clusters are of equal size: yes, no, learn (default) or cv",
        },
    ),
    Option(
        "inference",
        "inference",
        (DCRC,),
        {"metavar": "WORD", "help": "variational_em (default), or gibbs: draws"},
    ),
    Option(
        "kernel",
        "kernel",
        (DCRC,),
        {"choices": ("rbf", "polynomial"), "help": "curved boundaries (default: straight)"},
    ),
    Option(
        "penalty",
        "penalty",
        (MEANS,),
        {"type": float, "metavar": "LAMBDA", "help": "cost of a cluster (by the data)"},
    ),
    Option(
        "divergence",
        "divergence",
        (MEANS,),
        {
            "metavar": "NAME",
            "help": "euclidean (default), standardized, mahalanobis, kl, poisson, bernoulli, categorical",
        },
    ),
    Option(
        "xi",
        "xi",
        (MEANS,),
        {"type": float, "metavar": "XI", "help": "weight of an answer (from held-out answers)"},
    ),
    Option(
        "n-init",
        "n_init",
        (MEANS,),
        {"type": int, "metavar": "N", "help": "starts, of which the best is kept (1)"},
    ),
    Option(
        "n-jobs",
        "n_jobs",
        (TVCLUST, DCRC),
        {"type": int, "metavar": "N", "help": "threads (one for each chain)"},
    ),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the models, in a group for each.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    """
    groups = {
        models: parser.add_argument_group(f"options of {' and '.join(models)}")
        for models in dict.fromkeys(option.models for option in OPTIONS)
    }
    for option in OPTIONS:
        groups[option.models].add_argument(
            f"--{option.name}", dest=option.parameter, **option.settings
        )
    groups[(TVCLUST,)].add_argument(
        "--triplet-noise",
        choices=("rate", "confusion"),
        help="learn one error rate for triplets (default), or what each truth is answered",
    )
    groups[(TVCLUST,)].add_argument(
        "--checkpoint",
        metavar="DIR",
        help="keep draws there as they come; the same command goes on after a kill",
    )


def given_options(settings: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the estimator that were set, and refuse those of another model.

    Parameters
    ----------
    settings : argparse.Namespace
        Parsed.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If an option belongs to another model, or dcrc was not told how many clusters.
    """
    chosen = {}
    for option in OPTIONS:
        value = getattr(settings, option.parameter)
        if value is None:
            continue
        _check_model(option.name, option.models, settings.model)
        chosen[option.parameter] = value
    for name in ("triplet_noise", "checkpoint"):
        if getattr(settings, name) is not None:
            _check_model(name.replace("_", "-"), (TVCLUST,), settings.model)
    sampling = [name for name in ("chains", "warmup", "samples") if f"num_{name}" in chosen]
    if settings.model == DCRC and sampling and chosen.get("inference") != "gibbs":
        raise ValueError(
            f"--{sampling[0]} says how to sample, but dcrc does not unless asked to: add --inference gibbs."
        )
    if settings.model == DCRC and "n_clusters" not in chosen:
        raise ValueError("dcrc is told the number of clusters: pass --n-clusters K.")
    return chosen


def _check_model(name: str, models: tuple[str, ...], model: str) -> None:
    if model not in models:
        raise ValueError(
            f"--{name} is an option of {' and '.join(models)}, not of {model}: leave it out."
        )


def make_estimator(model: str, parameters: dict[str, Any], seed: int, progress: bool) -> Any:
    """Return the estimator of a model.

    Parameters
    ----------
    model : str
        One of `MODELS`.
    parameters : dict
        As `given_options` returns them.
    seed : int
    progress : bool
        Show a bar while a sampler runs.

    Returns
    -------
    TVClust, DCRC or RDPMeans
    """
    from bayesclust import estimators

    if model == DCRC:
        return estimators.DCRC(**parameters, random_state=seed, progress=progress)
    if model == MEANS:
        return estimators.RDPMeans(**parameters, random_state=seed)
    return estimators.TVClust(**parameters, random_state=seed, progress=progress)


def with_noise(
    view: PairwiseConstraints | RelativeConstraints, triplet_noise: str | None
) -> PairwiseConstraints | RelativeConstraints:
    """Return answers with the noise that was asked for."""
    return (
        view.with_noise(view.learned_noise(confusion=True))
        if triplet_noise == "confusion"
        else view
    )
