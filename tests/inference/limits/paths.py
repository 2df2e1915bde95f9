"""Random problems of RDP-means with the model at gamma, and log joints of partitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.limits.bridge import PathModel
from bayesclust.inference.limits.rdp_means import Problem
from bayesclust.models.joint import log_joint
from tests.inference.limits.twins import random_problem


class Case(NamedTuple):
    """A problem, its links in plain form, and the model at gamma."""

    problem: Problem
    pairs: np.ndarray
    same: np.ndarray
    xi: tuple[float, float]
    model: PathModel


def random_case(rng: np.random.Generator, name: str, n: int, weight: float) -> Case:
    """A random problem at the gamma that makes gamma lambda what is asked for."""
    problem, pairs, same, xi = random_problem(rng, name, n)
    links = PairwiseConstraints(pairs, same, n_items=n)
    model = PathModel.at(
        weight / problem.penalty, problem.points, problem.divergence, problem.penalty, (xi[0], xi[1]), [links]
    )
    return Case(problem, pairs, same, xi, model)


def joint(model: PathModel, z: np.ndarray) -> float:
    """The plain log joint of a partition at gamma."""
    case = model.problem
    noise: list[Any] = [view.noise.initial(view.n_sources) for view in case.views]
    alpha = case.concentration.initial()
    return log_joint(z, case.family, views=case.views, concentration=case.concentration, alpha=alpha, noise=noise)


def random_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    """Labels 0 to K - 1, K anything from 1 to n."""
    return np.unique(rng.integers(0, int(rng.integers(1, n + 1)), n), return_inverse=True)[1]
