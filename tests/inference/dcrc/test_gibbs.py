"""Chains of DCRC: what they draw, and that they go on from a snapshot to the last bit."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.checkpoint import from_text, to_text
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


@pytest.mark.parametrize("prior", [None, PRIOR], ids=["held", "drawn"])
def test_a_chain_goes_on_from_a_snapshot(prior):
    one, other = (DCRCChain(problem(prior), np.random.default_rng(seed)) for seed in (1, 2))
    for sweep in range(12):
        one.sweep(adapt=True, freeze_noise=sweep < 6)
    other.restore(from_text(to_text(one.snapshot())))
    for _ in range(4):
        for chain in (one, other):
            chain.sweep(adapt=True)
        (variables, statistics), (again, statistics_again) = one.draw(), other.draw()
        for name, value in variables.items():
            np.testing.assert_array_equal(value, again[name], err_msg=name)
        assert statistics == statistics_again


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


def test_without_answers_there_is_the_classifier_alone():
    posed = DCRCProblem(np.arange(8.0).reshape(4, 2), (), np.ones((2, 3)), WeightPrior())
    chain = DCRCChain(posed, np.random.default_rng(0))
    chain.sweep(adapt=True)
    variables, statistics = chain.draw()
    assert variables["z"].shape == (4,)
    assert (statistics["moved"], np.isnan(statistics["blocks_moved"])) == (0.0, True)
