"""Chains of DCRC: what they draw and say of it."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.models.dcrc import WeightPrior, dcrc_log_joint

N, K = 9, 3
PRIOR = WeightPrior((3.0, 2.0), 3.0, separation=4.0, balance=2.0, proportions=(0.5, 0.3, 0.2))


def problem(prior=None):
    rng = np.random.default_rng(0)
    triplets = bc.RelativeConstraints(
        [(0, 1, 2), (3, 0, 4), (1, 6, 3)], ["yes", "dnk", "no"], n_items=N, source=[0, 1, 0]
    )
    links = bc.PairwiseConstraints([(0, 1), (2, 3), (4, 6)], [True, False, True], n_items=N)
    return DCRCProblem(rng.normal(size=(N, 2)), (triplets, links), rng.normal(size=(K, 3)), prior)


def test_noise_waits_while_answers_are_trusted():
    chain = DCRCChain(problem(), np.random.default_rng(1))
    before = chain.noise[0]["noise"].copy()
    chain.sweep(adapt=True, freeze_noise=True)
    np.testing.assert_array_equal(chain.noise[0]["noise"], before)
    chain.sweep()
    assert (chain.noise[0]["noise"] != before).all()


def test_log_joint_is_that_of_the_model():
    """The model's log joint without log p(W), where W is held, and with it, where it is drawn."""
    for prior in (None, PRIOR):
        chain = DCRCChain(problem(prior), np.random.default_rng(3))
        chain.sweep()
        (variables, statistics), posed = chain.draw(), chain.problem
        at = {"prior": prior, "precision": None if prior is None else chain.precision}
        given = posed.points, posed.constraints, chain.noise
        expected = dcrc_log_joint(chain.W, variables["z"], *given, **at)
        if prior is None:
            expected -= WeightPrior().log_density(chain.W, 1.0)
        assert statistics["log_joint"] == pytest.approx(expected)
