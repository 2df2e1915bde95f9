"""A sweep of the sampler with parameters drawn against the collapsed one, a plain version and the multiply-add floor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import invwishart

from bayesclust.families import FAMILIES
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.moves.parameter_scan import prior_predictive
from bayesclust.inference.samplers import collapsed_chain, default_moves, gibbs_chain
from benchmarks.collapsed_scan import FAMILY, FEW, SHAPES
from benchmarks.data import mixture
from benchmarks.records import Race
from benchmarks.timing import Run, Scale, race


def _column(
    family: BoundFullGaussian, hyper: NDArray[np.float64], members: Any, rng: Generator
) -> NDArray[np.float64]:
    """log p(x_i | theta) of all items, theta drawn from the posterior given some of them."""
    kappa0, nu0, psi0 = family.parameters(hyper)
    X, rows = family.X, family.X[members]
    kappa, d = kappa0 + len(rows), X.shape[1]
    mean = rows.sum(axis=0) / kappa
    psi = psi0 + rows.T @ rows - kappa * np.outer(mean, mean)
    sigma = np.atleast_2d(invwishart.rvs(nu0 + len(rows), psi, random_state=rng))
    lower = np.linalg.cholesky(sigma)
    centre = mean + lower @ rng.standard_normal(d) / np.sqrt(kappa)
    standard = np.linalg.solve(lower, (X - centre).T)
    return np.asarray(
        -np.log(np.diag(lower)).sum()
        - 0.5 * d * np.log(2 * np.pi)
        - 0.5 * (standard**2).sum(axis=0)
    )


def plain_sweep(
    family: BoundFullGaussian,
    hyper: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    z: list[int],
    rng: Generator,
) -> None:
    """Neal's Algorithm 2 with alpha = 1 as one would write it first: all likelihoods at once, the seating in Python."""
    columns = {k: _column(family, hyper, np.array(z) == k, rng) for k in set(z)}
    sizes = {k: z.count(k) for k in columns}
    for i in range(len(z)):
        sizes[z[i]] -= 1
        labels = [k for k, size in sizes.items() if size]
        logits = np.array([np.log(sizes[k]) + columns[k][i] for k in labels] + [log_prior[i]])
        weights = np.exp(logits - logits.max()).cumsum()
        choice = int(np.searchsorted(weights, rng.random() * weights[-1]))
        if choice == len(labels):
            z[i] = max(sizes) + 1
            columns[z[i]], sizes[z[i]] = _column(family, hyper, [i], rng), 0
        else:
            z[i] = labels[choice]
        sizes[z[i]] += 1


def alternatives(n: int, d: int, K: int) -> dict[str, Run]:
    """What is raced: each call is one sweep from the generating labels."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    family = FAMILY.bind(X)
    assert isinstance(family, BoundFullGaussian)
    problem, hyper = TVClustProblem(family), family.initial_hyper()
    drawn = gibbs_chain(problem, z, np.random.default_rng(1), default_moves(gibbs_chain, n))
    collapsed = collapsed_chain(problem, z, np.random.default_rng(1), Moves(split_merge=0))
    generic = collapsed_chain(
        problem, z, np.random.default_rng(1), Moves(split_merge=0, fast=False)
    )
    log_prior = prior_predictive(drawn.state.clusters, n)
    labels, rng = z.tolist(), np.random.default_rng(2)

    def floor() -> None:
        for _ in range(K):
            family.X @ np.eye(d)

    return {
        "sweep, parameters drawn": drawn.sweep,
        "sweep, collapsed": collapsed.sweep,
        "sweep, collapsed, generic kernel": generic.sweep,
        "plain numpy Neal 2": lambda: plain_sweep(family, hyper, log_prior, labels, rng),
        "multiply-add floor (n K d^2)": floor,
    }


def of_family(name: str, n: int, d: int, K: int) -> dict[str, Run]:
    """The two samplers with another family, whose base measure is learned."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    problem = TVClustProblem(FAMILIES[name]().bind(X))
    return {
        "sweep, parameters drawn": gibbs_chain(
            problem, z, np.random.default_rng(1), default_moves(gibbs_chain, n)
        ).sweep,
        "sweep, collapsed": collapsed_chain(
            problem, z, np.random.default_rng(1), Moves(split_merge=0)
        ).sweep,
    }


def run(scale: Scale) -> Iterator[Race]:
    """Race all shapes and families."""
    for n, d, K in scale.pick(SHAPES, FEW):
        for name in scale.pick(
            ("gaussian", "gaussian_diagonal", "gaussian_spherical"), ("gaussian",)
        ):
            raced = alternatives(n, d, K) if name == "gaussian" else of_family(name, n, d, K)
            title, measured = (
                f"Parameters drawn, {name}, n = {n}, d = {d}, K = {K}",
                "CPU time of one sweep",
            )
            yield race(title, measured, raced, scale, reference="sweep, collapsed")
