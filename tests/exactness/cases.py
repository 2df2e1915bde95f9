"""Small problems of known posterior: data for any family, and views of every kind about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust.constraints import (
    ConfusionNoise,
    LinkNoise,
    PairwiseConstraints,
    RelativeConstraints,
    UniformNoise,
)
from bayesclust.constraints.base import Constraints
from bayesclust.families import (
    FAMILIES,
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    HurdleGaussian,
    Poisson,
    Product,
    as_divergence,
)
from bayesclust.families.base import BoundFamily, Family
from bayesclust.inference.chain import Chain, Move, Moves, TVClustProblem
from bayesclust.inference.limits.path_model import family_at
from bayesclust.inference.samplers import Sampler, collapsed_chain
from bayesclust.partition_priors import DirichletProcess
from tests.families.reference import DATA, binary_data, count_data, real_data


def data_for(family: Family, n: int, d: int, rng: Generator) -> NDArray[np.float64]:
    """Data of two overlapping groups that the family takes."""
    return DATA.get(type(family), real_data)(n, d, rng)


def with_holes(X: NDArray[np.float64], rng: Generator, share: float = 0.25) -> NDArray[np.float64]:
    """A share of the cells missing: all of the first item, and none of the next two."""
    holes = rng.random(X.shape) < share
    holes[0] = True
    holes[1:3] = False
    return np.where(holes, np.nan, X)


def learned(family: type[Family]) -> Family:
    """The family with every hyper-parameter learned, whatever its defaults."""
    return family(**{field.name: "learn" for field in fields(family)})  # type: ignore[arg-type]


def fixed(family: type[Family]) -> Family:
    """The family with every hyper-parameter held at the value its prior starts from."""
    free = learned(family)
    priors = free.bind(data_for(free, 5, 2, np.random.default_rng(0))).hyper_priors
    return family(**{prior.name.removeprefix("base_"): prior.median for prior in priors})


HOLES = {
    "gaussian_diagonal with holes": DiagonalGaussian,
    "bernoulli with holes": Bernoulli,
    "poisson with holes": Poisson,
    "categorical with holes": Categorical,
}
# mixed columns: the first part has d columns, the others one each
MIXED: dict[str, tuple[type[Family], ...]] = {
    "mixed": (FullGaussian, Categorical, Poisson),
    "mixed with holes": (DiagonalGaussian, Categorical, Poisson, Bernoulli),
}
HURDLE = "hurdle"


def hurdle_case(
    n: int, d: int, rng: Generator, make: Callable[[type[Family]], Family]
) -> BoundFamily:
    """Columns with many zeros, a count, and zeros and ones: the kinds of "mixed with holes"."""
    values, atoms = make(DiagonalGaussian), make(Bernoulli)
    own = values.scale, values.strength, values.mean_precision, atoms.strength
    hurdle = HurdleGaussian(0.0, *own)
    X = data_for(values, n, d, rng) + 1.0
    zeros = np.where(rng.random((n, d)) < 0.3, 0.0, X)
    blocks = [zeros, count_data(n, 1, rng), binary_data(n, 1, rng)]
    family = Product([(hurdle, slice(d)), (make(Poisson), d), (make(Bernoulli), d + 1)])
    return family.bind(with_holes(np.concatenate(blocks, axis=1), rng, share=0.1))


# families at gamma, by their divergences
SCALED = {
    f"{name} at gamma": name
    for name in ("gaussian_spherical", "multinomial", "poisson", "bernoulli", "categorical")
}


def scaled(name: str, n: int, d: int, rng: Generator, gamma: float) -> BoundFamily:
    """A family at gamma, bound to generated points."""
    X = data_for(FAMILIES[SCALED[name]](), n, d, rng)
    divergence = as_divergence(SCALED[name]).bind(X)
    return family_at(gamma, divergence.points(X), divergence)


# items that count less than once
COARSENED = {
    f"{name} coarsened": name
    for name in (
        "gaussian",
        "gaussian_tied",
        "gaussian_spherical",
        "multinomial",
        "gaussian_diagonal with holes",
        "poisson with holes",
        "categorical with holes",
        "mixed",
        HURDLE,
    )
}
VARIANTS = (*HOLES, *MIXED, HURDLE, *SCALED, *COARSENED)


def bound_case(
    name: str, n: int, d: int, rng: Generator, make: Callable[[type[Family]], Family] | None = None
) -> BoundFamily:
    """A family of `FAMILIES` or a variant, bound to data; `make` sets the hyper-parameters."""
    make = learned if make is None else make
    if name in SCALED:
        return scaled(name, n, d, rng, 0.8)
    if name == HURDLE:
        return hurdle_case(n, d, rng, make)
    if name in COARSENED:
        return bound_case(COARSENED[name], n, d, rng, make).coarsened(0.4)
    if name not in MIXED:
        family = make(FAMILIES[name] if name in FAMILIES else HOLES[name])
        X = data_for(family, n, d, rng)
        return family.bind(with_holes(X, rng) if name in HOLES else X)
    parts, end, blocks = [], 0, []
    for kind in MIXED[name]:
        begin, end = end, end + (1 if parts else d)
        parts.append((make(kind), slice(begin, end)))
        blocks.append(data_for(parts[-1][0], n, end - begin, rng))
    X = np.concatenate(blocks, axis=1)
    return Product(parts).bind(with_holes(X, rng) if "holes" in name else X)


def links(
    n: int, rng: Generator, noise: LinkNoise | None = None, n_sources: int = 2, size: int = 9
) -> PairwiseConstraints:
    """Answers about random pairs, some asked twice, by several sources, not all consistent."""
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(size)])
    source = np.arange(size) % n_sources
    return PairwiseConstraints(pairs, rng.random(size) < 0.5, n, source=source, noise=noise)


def triplets(
    n: int, rng: Generator, noise: object = None, name: str = "triplets", size: int = 6
) -> RelativeConstraints:
    """Answers about random triplets, all words used."""
    items = np.array([rng.choice(n, 3, replace=False) for _ in range(size)])
    return RelativeConstraints(items, np.arange(size) % 3, n, noise=noise, name=name)


def all_views(n: int, rng: Generator) -> tuple[Constraints, ...]:
    """Links of two sources, triplets with one error rate, triplets with a confusion matrix."""
    return (
        links(n, rng),
        triplets(n, rng, UniformNoise(eps=(2.0, 3.0))),
        triplets(n, rng, ConfusionNoise(prior=[[4, 1, 2], [1, 3, 1], [1, 1, 2]]), name="others"),
    )


def known_views(n: int, rng: Generator) -> tuple[Constraints, ...]:
    """The same with noise that is known, and strong."""
    matrix = [[0.7, 0.1, 0.2], [0.05, 0.8, 0.15], [0.25, 0.25, 0.5]]
    return (
        links(n, rng, LinkNoise(p=0.95, q=(3.0, 1.0))),
        triplets(n, rng, UniformNoise(eps=0.2)),
        triplets(n, rng, ConfusionNoise(matrix=matrix), name="others"),
    )


def problem(name: str, n: int = 6, d: int = 2, seed: int = 0) -> TVClustProblem:
    """A family or a variant on small data with every kind of constraints, hyper-parameters held."""
    rng = np.random.default_rng(seed)
    bound = bound_case(name, n, d, rng, fixed)
    return TVClustProblem(bound, all_views(n, rng), DirichletProcess((2.0, 1.0)))


def partitions_drawn(
    case: TVClustProblem,
    moves: Moves,
    number: int,
    seed: int,
    warmup: int = 100,
    sampler: Sampler = collapsed_chain,
) -> NDArray[np.int64]:
    """Partitions that a chain from one cluster visits after a short warm-up, shape (number, n)."""
    chain = sampler(case, np.zeros(case.n_items, np.int64), np.random.default_rng(seed), moves)
    for _ in range(warmup):
        chain.sweep(adapt=True)
    draws = np.empty((number, case.n_items), np.int64)
    for row in range(number):
        chain.sweep()
        draws[row] = chain.labels
    return draws


class Around(Move):
    """A move with something done to the state before it and after it."""

    def __init__(
        self,
        move: Move,
        before: Callable[[Any], None] | None = None,
        after: Callable[[Any], None] | None = None,
    ) -> None:
        self.move, self.before, self.after = move, before, after

    def __call__(self, state: Any, **options: bool) -> None:
        if self.before is not None:
            self.before(state)
        self.move(state, **options)
        if self.after is not None:
            self.after(state)

    def statistics(self, state: Any) -> dict[str, float]:
        return self.move.statistics(state)


def faulty(kind: type[Move], sampler: Sampler = collapsed_chain, **around: Any) -> Sampler:
    """The sampler with something done before or after its moves of a kind."""

    def make(problem: Any, z: Any, rng: Generator, moves: Moves) -> Chain:
        chain = sampler(problem, z, rng, moves)
        chain.moves = [
            Around(move, **around) if isinstance(move, kind) else move for move in chain.moves
        ]
        return chain

    return make


def double_new(state: Any) -> None:
    """Take a new cluster for twice as probable."""
    state.values = state.values | {"concentration": 2 * state.values["concentration"]}


def halve_new(state: Any) -> None:
    """Undo `double_new`."""
    state.values = state.values | {"concentration": state.values["concentration"] / 2}
