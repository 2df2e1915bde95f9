"""Mixed columns and missing cells, in the tests that every family of `FAMILIES` meets."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.inference.chain import Moves
from bayesclust.inference.samplers import gibbs_chain
from tests.exactness.cases import VARIANTS, bound_case, problem
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_blocked import assert_exact as assert_blocked_exact
from tests.exactness.test_enumeration import assert_exact, each_chain
from tests.exactness.test_geweke import template, z_scores

QUICK = ["gaussian_diagonal with holes", "poisson with holes", "mixed with holes"]
WEIGHED = ["multinomial coarsened", "hurdle coarsened"]
SIMULATED = ("mixed", "mixed with holes", "gaussian_diagonal with holes", "hurdle")


def simulated(name):
    """A problem that the whole model can simulate, all hyper-parameters learned."""
    rng = np.random.default_rng(13)
    base = template("gaussian")
    return replace(base, family=bound_case(name, base.n_items, 2, rng))


@pytest.mark.parametrize("name", [*QUICK, *WEIGHED])
def test_exact_posterior(name):
    assert_exact(problem(name, n=6, seed=1), None, 2500, seed=1)


@pytest.mark.parametrize("name", ["gaussian_spherical at gamma", "hurdle coarsened"])
def test_exact_posterior_with_parameters_drawn(name):
    assert_exact(problem(name, n=6, seed=1), None, 2500, 1, gibbs_chain)


def test_exact_posterior_by_blocks():
    assert_blocked_exact(problem("mixed with holes", n=5, seed=3), 500, seed=3)


def test_joint_distribution():
    assert_agree(z_scores(simulated("mixed with holes"), 2000, seed=1))


def test_parts_that_get_each_others_hyper_parameters_are_noticed(monkeypatch):
    problem = simulated("mixed with holes")
    right = type(problem.family).set_hyper
    monkeypatch.setattr(
        type(problem.family),
        "set_hyper",
        lambda self, *args: right(self, args[0], np.roll(args[1], 1)),
    )
    assert_noticed(z_scores(problem, 1000, seed=2))


@pytest.mark.slow
@each_chain
@pytest.mark.parametrize("name", VARIANTS)
def test_exact_posterior_at_length(name, sampler):
    assert_exact(problem(name, n=7, seed=10), None, 12000, 10, sampler)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIMULATED)
def test_joint_distribution_at_length(name):
    assert_agree(z_scores(simulated(name), 5000, seed=5, moves=Moves()))
