"""Clusters that share a covariance: exact posteriors, Geweke's test, planted faults."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.families import TiedGaussian
from bayesclust.families.gaussian_tied import BoundTiedGaussian
from bayesclust.inference.chain import Moves
from bayesclust.inference.moves.split_merge import SharedTarget, launch
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import problem
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_enumeration import MOVES, assert_exact, compared, learning
from tests.exactness.test_geweke import independent, template, z_scores
from tests.exactness.test_two_level import compared as compared_on_two_levels
from tests.exactness.test_two_level import small


@pytest.mark.parametrize("moves", MOVES)
def test_learned_covariance(moves):
    # a sweep of four splits or merges costs as much as many others
    number = 1000 if moves == "split-merge" else 2000
    assert_exact(problem("gaussian_tied", n=5, seed=22), MOVES[moves], number, 22)


@pytest.mark.slow
def test_learned_covariance_and_scale():
    case = learning(TiedGaussian(strength=3.0, mean_precision=0.2), 6, 23)
    assert_exact(case, MOVES["default"], 4000, 23)


@pytest.mark.slow
def test_split_merge_on_two_levels():
    case = small("gaussian_tied", 24, DirichletProcess((2.0, 2.0)))
    moves = Moves(split_merge=3.0, link_blocks=False)
    assert (result := compared_on_two_levels(case, moves, 5000, 24)).agrees, result


def test_joint_distribution():
    drawn = independent("gaussian_tied")
    assert_agree(z_scores(template("gaussian_tied"), 1500, 25, independent=drawn))


def one_degree_more(right):
    def wrong(self, statistics, hyper):
        kappa, nu, psi = right(self, statistics, hyper)
        return kappa, nu + 1, psi

    return wrong


def centres_not_drawn_in(right):
    """Scatter around the clusters' means, as if these had no prior."""

    def wrong(self, statistics, hyper):
        kappa, nu, psi = right(self, statistics, hyper)
        weight, total, _ = statistics
        shares = 1 / np.maximum(weight, 1) - 1 / kappa
        return kappa, nu, psi - (total * shares[:, None]).T @ total

    return wrong


@pytest.mark.parametrize(
    "fault", [pytest.param(one_degree_more, marks=pytest.mark.slow), centres_not_drawn_in]
)
def test_faulty_draw_of_the_covariance_is_noticed(fault, monkeypatch):
    drawn = independent("gaussian_tied")
    monkeypatch.setattr(BoundTiedGaussian, "_pooled", fault(BoundTiedGaussian._pooled))
    assert_noticed(z_scores(template("gaussian_tied"), 1500, 26, independent=drawn))


@pytest.mark.slow
def test_forgotten_probability_of_a_split_is_noticed(monkeypatch):
    right = SharedTarget.launch
    monkeypatch.setitem(
        launch.versions, SharedTarget, lambda target, *rest: 0.0 * right(target, *rest)
    )
    case = problem("gaussian_tied", n=5, seed=22)
    assert not compared(case, MOVES["split-merge"], 1000, 22).agrees


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 3])
def test_learned_covariance_at_length(d):
    slow = replace(MOVES["split-merge"], restricted_scans=1)
    assert_exact(problem("gaussian_tied", n=7, d=d, seed=27), slow, 8000, 27)
