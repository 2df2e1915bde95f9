"""The whole model run forwards: draws from the prior, data and answers given the state, chains with exchanged data.

Data are drawn with cluster parameters written out (draw mu, Sigma, theta; then the items), never by
the predictive formulas that the samplers use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.sites import stack_tables
from bayesclust.families import BoundMissingGaussian
from bayesclust.families.base import BoundFamily
from bayesclust.families.discrete import BoundBernoulli, BoundCategorical
from bayesclust.families.gaussian import BoundFullGaussian
from bayesclust.families.gaussian_columns import BoundDiagonalGaussian
from bayesclust.families.mixed import BoundHurdle
from bayesclust.families.poisson import BoundPoisson
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.problem import TVClustProblem


def full_cluster(
    family: Any, n: int, hyper: NDArray[np.float64], rng: Generator
) -> NDArray[np.float64]:
    """n items of one cluster with Sigma ~ IW(nu0, Psi0), mu ~ N(0, Sigma / kappa0)."""
    kappa0, nu0, psi0 = family.parameters(hyper)
    # Sigma = L (A A')^-1 L' with Psi0 = L L' and A Bartlett's triangle of a standard Wishart
    # matrix; A^-T is a root of it
    d = len(psi0)
    bartlett = np.tril(rng.normal(size=(d, d)), -1) + np.diag(
        np.sqrt(rng.chisquare(nu0 - np.arange(d)))
    )
    root = np.linalg.cholesky(psi0) @ np.linalg.inv(bartlett).T
    mean = root @ rng.normal(size=d) / np.sqrt(kappa0)
    return np.asarray(mean + rng.normal(size=(n, d)) @ root.T)


def tied_cluster(
    family: Any, n: int, hyper: NDArray[np.float64], rng: Generator
) -> NDArray[np.float64]:
    """n items of one cluster with mu ~ N(0, W / kappa0), W standing behind the three hyper-parameters."""
    d = family.X.shape[1]
    root = np.linalg.cholesky(hyper[3:].reshape(d, d))
    mean = root @ rng.normal(size=d) / np.sqrt(hyper[2])
    return np.asarray(mean + rng.normal(size=(n, d)) @ root.T)


def diagonal_cluster(
    family: Any, n: int, hyper: NDArray[np.float64], rng: Generator
) -> NDArray[np.float64]:
    """n items of one cluster with v_j ~ InvGamma(a0, b0_j), mu_j ~ N(0, v_j / kappa0)."""
    kappa0, a0, b0 = family.parameters(hyper)
    spread = np.sqrt(b0 / rng.gamma(a0, size=family.X.shape[1]))
    mean = spread * rng.normal(size=len(spread)) / np.sqrt(kappa0)
    return np.asarray(mean + spread * rng.normal(size=(n, len(spread))))


def spherical_cluster(
    family: Any, n: int, hyper: NDArray[np.float64], rng: Generator
) -> NDArray[np.float64]:
    """n items of one cluster with v ~ InvGamma(a0, b0), mu ~ N(0, v I / kappa0)."""
    kappa0, a0, b0 = family.parameters(hyper)
    d, spread = family.X.shape[1], np.sqrt(b0 / rng.gamma(a0))
    mean = spread * rng.normal(size=d) / np.sqrt(kappa0)
    return np.asarray(mean + spread * rng.normal(size=(n, d)))


def multinomial_cluster(
    family: Any, n: int, hyper: NDArray[np.float64], rng: Generator
) -> NDArray[np.float64]:
    """n items of one cluster with theta ~ Dirichlet(beta, ..., beta) and as many counts as the first item has."""
    theta = rng.dirichlet(np.full(family.X.shape[1], float(hyper[0])))
    return rng.multinomial(int(family.X[0].sum()), theta, size=n).astype(np.float64)


def coded_cluster(
    family: Any, n: int, hyper: NDArray[np.float64], rng: Generator
) -> NDArray[np.float64]:
    """n items of one cluster with theta_j ~ Dirichlet(beta_j) for each column; of two codes that is a Beta distribution."""
    columns = [
        rng.choice(len(beta), size=n, p=rng.dirichlet(beta))
        for beta in np.split(family.parameters(hyper), family.first[1:-1])
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def poisson_cluster(
    family: Any, n: int, hyper: NDArray[np.float64], rng: Generator
) -> NDArray[np.float64]:
    """n items of one cluster with lambda_j ~ Gamma(a0, b0_j)."""
    shape, rate = family.parameters(hyper)
    return rng.poisson(rng.gamma(shape, 1 / rate), size=(n, len(rate))).astype(np.float64)


def product_cluster(
    family: Any, n: int, hyper: NDArray[np.float64], rng: Generator
) -> NDArray[np.float64]:
    """n items of one cluster, each part's columns drawn by themselves."""
    blocks, end = [], 0
    for part in family.parts:
        begin, end = end, end + len(part.hyper_priors)
        blocks.append(OF_PARTS[type(part)](part, n, hyper[begin:end], rng))
    return np.concatenate(blocks, axis=1)


Cluster = Callable[[Any, int, NDArray[np.float64], Generator], NDArray[np.float64]]
CLUSTERS: dict[str, Cluster] = {
    "gaussian": full_cluster,
    "gaussian_tied": tied_cluster,
    "gaussian_diagonal": diagonal_cluster,
    "gaussian_spherical": spherical_cluster,
    "multinomial": multinomial_cluster,
    "bernoulli": coded_cluster,
    "poisson": poisson_cluster,
    "categorical": coded_cluster,
}
# families that have no name of their own in `FAMILIES`
OTHERS: dict[str, Cluster] = {"product": product_cluster, "hurdle": product_cluster}
OF_PARTS: dict[type[BoundFamily], Cluster] = {
    BoundFullGaussian: full_cluster,
    BoundDiagonalGaussian: diagonal_cluster,
    BoundMissingGaussian: diagonal_cluster,
    BoundBernoulli: coded_cluster,
    BoundCategorical: coded_cluster,
    BoundPoisson: poisson_cluster,
}


def crp_draw(n: int, alpha: float, rng: Generator) -> NDArray[np.int64]:
    """A partition from the Chinese restaurant process, guest by guest."""
    z = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        weights = np.cumsum(np.append(np.bincount(z[:i]), alpha))
        z[i] = np.searchsorted(weights, rng.random() * weights[-1], side="right")
    return z


def data_given(
    name: str, family: BoundFamily, z: NDArray[np.int64], hyper: NDArray[np.float64], rng: Generator
) -> BoundFamily:
    """The family with data drawn anew given the partition; its base measure and units stay, and which cells are missing."""
    X = np.empty_like(family.X)
    for k in np.unique(z):
        X[z == k] = (CLUSTERS | OTHERS)[name](family, int((z == k).sum()), hyper, rng)
    missing = np.isnan(family.X)
    if isinstance(family, BoundHurdle):
        # of one atom a column: its value is asked for unless the item has the atom
        values, atoms = np.split(np.arange(sum(family.widths[:2])), [family.widths[0]])
        missing[:, values] = missing[:, atoms] | (X[:, atoms] == 1)
    return family.with_rows(np.where(missing, np.nan, X))


def answers_given(
    views: Sequence[Constraints],
    z: NDArray[np.int64],
    noises: Sequence[dict[str, Any]],
    rng: Generator,
) -> tuple[Constraints, ...]:
    """The views with answers drawn anew: the true answer of each question through its source's confusion matrix."""
    drawn = []
    for view, noise in zip(views, noises, strict=True):
        answers = []
        for items, source in zip(view.items, view.source, strict=True):
            a, b = z[items[0]], z[items[1]]
            if view.kind == "pairwise":
                p, q = noise["p"][source], noise["q"][source]
                answers.append(rng.random() < (p if a == b else 1 - q))
                continue
            c = z[items[2]]
            truth = 0 if a == b != c else 1 if a == c != b else 2
            if "noise" in noise:
                eps = noise["noise"][source]
                row = np.where(np.arange(3) == truth, 1 - eps, eps / 2)
            else:
                row = noise["confusion"][source][truth]
            answers.append(rng.choice(3, p=row))
        drawn.append(view.with_answers(np.array(answers, dtype=np.int64)))
    return tuple(drawn)


class World:
    """Everything unknown, drawn from the prior, and the problem that follows from it.

    Parameters
    ----------
    name : str
        The family's name in `FAMILIES`.
    template : TVClustProblem
        Its priors, base measure and questions are kept; its data and answers are drawn anew.
    rng : Generator
    """

    def __init__(self, name: str, template: TVClustProblem, rng: Generator) -> None:
        self.alpha = template.concentration.sample_prior(rng)
        self.z = crp_draw(template.n_items, self.alpha, rng)
        self.hyper = template.family.sample_hyper(rng)
        self.noise = [view.noise.sample_prior(view.n_sources, rng) for view in template.constraints]
        family = data_given(name, template.family, self.z, self.hyper, rng)
        views = answers_given(template.constraints, self.z, self.noise, rng)
        self.problem = replace(template, family=family, constraints=views)

    def chain(self, chain_type: type[CollapsedChain], rng: Generator, moves: Any) -> CollapsedChain:
        """A chain that starts at the truth."""
        chain = chain_type(self.problem, np.unique(self.z, return_inverse=True)[1], rng, moves)
        chain.alpha, chain.hyper, chain.noise = self.alpha, self.hyper, self.noise
        put_data_under(chain, self.problem)
        return chain


def put_data_under(chain: CollapsedChain, problem: TVClustProblem) -> None:
    """Leave a chain where it is, with other data and answers."""
    chain._pose(problem)
    chain.hyper_sampler.family = problem.family
    chain.table = stack_tables(problem.constraints, chain.noise)
    chain._seat(np.unique(chain.seating.z, return_inverse=True)[1])
