"""Chains of DCRC: what they draw and say of it."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.inference.dcrc.weights import log_classes

N, K = 9, 3


def problem():
    rng = np.random.default_rng(0)
    triplets = bc.RelativeConstraints(
        [(0, 1, 2), (3, 0, 4), (1, 6, 3)], ["yes", "dnk", "no"], n_items=N, source=[0, 1, 0]
    )
    links = bc.PairwiseConstraints([(0, 1), (2, 3), (4, 6)], [True, False, True], n_items=N)
    return DCRCProblem(rng.normal(size=(N, 2)), (triplets, links), rng.normal(size=(K, 3)))


def test_noise_waits_while_answers_are_trusted():
    chain = DCRCChain(problem(), np.random.default_rng(1))
    before = chain.noise[0]["noise"].copy()
    chain.sweep(adapt=True, freeze_noise=True)
    np.testing.assert_array_equal(chain.noise[0]["noise"], before)
    chain.sweep()
    assert (chain.noise[0]["noise"] != before).all()


def test_log_joint_by_hand():
    chain = DCRCChain(problem(), np.random.default_rng(3))
    chain.sweep()
    (variables, statistics), posed = chain.draw(), chain.problem
    z = variables["z"]
    expected = log_classes(posed.W, posed.points)[np.arange(N), z].sum()
    for one, noise in zip(posed.constraints, chain.noise, strict=True):
        expected += one.log_prob(z, noise) + one.noise.log_prior(noise)
    assert statistics["log_joint"] == pytest.approx(expected)
