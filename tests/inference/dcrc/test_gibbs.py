"""Chains of DCRC: what they draw and say of it."""

import numpy as np
import pytest

from bayesclust.inference.dcrc.gibbs import DCRCChain
from bayesclust.inference.dcrc.weights import log_classes
from tests.exactness.test_dcrc import N, case


def test_noise_waits_while_answers_are_trusted():
    chain = DCRCChain(case(), np.random.default_rng(1))
    before = chain.noise[1]["noise"].copy()
    chain.sweep(adapt=True, freeze_noise=True)
    np.testing.assert_array_equal(chain.noise[1]["noise"], before)
    chain.sweep()
    assert (chain.noise[1]["noise"] != before).all()


def test_log_joint_by_hand():
    chain = DCRCChain(case(), np.random.default_rng(3))
    chain.sweep()
    (variables, statistics), posed = chain.draw(), chain.problem
    z = variables["z"]
    expected = log_classes(posed.W, posed.points)[np.arange(N), z].sum()
    for one, noise in zip(posed.constraints, chain.noise, strict=True):
        expected += one.log_prob(z, noise) + one.noise.log_prior(noise)
    assert statistics["log_joint"] == pytest.approx(expected)
