"""Mixed columns and missing cells in the tests that every family of `FAMILIES` meets by itself."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.families import Categorical, DiagonalGaussian, Poisson, Product
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import gibbs_chain
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import (
    HOLES,
    HURDLE,
    MIXED,
    VARIANTS,
    all_views,
    bound_case,
    count_data,
    problem,
    with_holes,
)
from tests.exactness.test_blocked import assert_exact as assert_blocked_exact
from tests.exactness.test_enumeration import MOVES, assert_exact
from tests.exactness.test_geweke import LIMIT, assert_agree, template, z_scores

LIGHT = [
    f"{name} coarsened" for name in (*list(HOLES)[1:3], *MIXED, HURDLE, "bernoulli", "categorical")
]
WEIGHED = [
    "multinomial coarsened",
    "poisson with holes coarsened",
    "categorical with holes coarsened",
    "mixed coarsened",
]
SLOWLY_MIXING = {"categorical with holes coarsened": 20_000}
SIMULATED = {
    "mixed": "product",
    "mixed with holes": "product",
    "gaussian_diagonal with holes": "gaussian_diagonal",
    "hurdle": "hurdle",
}


def simulated(name):
    """A problem that the whole model can simulate, all hyper-parameters learned."""
    rng = np.random.default_rng(13)
    base = template("gaussian")
    return replace(base, family=bound_case(name, base.n_items, 2, rng))


@pytest.mark.parametrize("name", [*HOLES, "mixed with holes", "hurdle", *WEIGHED])
def test_exact_posterior(name):
    assert_exact(
        problem(name, n=6, seed=1), MOVES["default"], SLOWLY_MIXING.get(name, 6000), seed=1
    )


@pytest.mark.parametrize("name", [name for name in VARIANTS if name not in LIGHT])
def test_exact_posterior_with_parameters_drawn(name):
    assert_exact(problem(name, n=6, seed=1), None, 8000, 1, gibbs_chain)


def test_exact_posterior_by_blocks():
    assert_blocked_exact(problem("mixed with holes", n=5, seed=3), 500, seed=3)


def test_learned_hyper_parameter_of_one_part(rng):
    X = np.c_[
        rng.normal(size=6), rng.integers(2, size=6), count_data(6, 1, rng), rng.integers(3, size=6)
    ]
    parts = [
        (DiagonalGaussian(0.5, 4.0), 0),
        ("bernoulli", 1),
        (Poisson(1.0), 2),
        (Categorical(0.7), 3),
    ]
    parts = [
        parts[0],
        parts[3],
        parts[2],
        parts[1],
    ]  # the parts of "mixed with holes", which is compiled already
    family = Product(parts).bind(with_holes(X, rng))
    assert [family.hyper_priors[j].name for j in family.free] == ["base_strength_2"]
    assert_exact(
        TVClustProblem(family, all_views(6, rng), DirichletProcess()),
        MOVES["default"],
        8000,
        seed=3,
    )


def test_joint_distribution():
    assert_agree(z_scores("product", simulated("mixed with holes"), 2000, seed=1))


def test_parts_that_get_each_others_hyper_parameters_are_noticed(monkeypatch):
    problem = simulated("mixed with holes")
    right = type(problem.family).set_hyper
    monkeypatch.setattr(
        type(problem.family),
        "set_hyper",
        lambda self, *args: right(self, args[0], np.roll(args[1], 1)),
    )
    scores = z_scores("product", problem, 1000, seed=2)
    assert max(abs(score) for score in scores.values()) > LIMIT + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", LIGHT)
def test_exact_posterior_of_light_items_with_parameters_drawn(name):
    assert_exact(problem(name, n=6, seed=1), None, 8000, 1, gibbs_chain)


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["default", "split-merge"])
@pytest.mark.parametrize("name", VARIANTS)
def test_exact_posterior_at_length(name, moves):
    assert_exact(problem(name, n=7, seed=10), MOVES[moves], 30_000, seed=10)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HOLES, *MIXED])
def test_one_column_at_length(name):
    assert_exact(problem(name, n=7, d=1, seed=11), MOVES["default"], 30_000, seed=11)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATED)
def test_joint_distribution_at_length(name):
    assert_agree(z_scores(SIMULATED[name], simulated(name), 20_000, seed=5, moves=Moves()))
