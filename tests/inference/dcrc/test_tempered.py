"""DCRC at a temperature, against the enumerated law exp(-gamma J) of all labels of a few items."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise
from bayesclust.inference.dcrc.gibbs import DCRCProblem
from bayesclust.inference.dcrc.tempered import TemperedChain, TemperedLabels
from tests.exactness.cases import links, triplets
from tests.exactness.dcrc import labels_drawn, on_more_items, posterior_at
from tests.exactness.generative import LIMIT, standard_error

N, K = 7, 3
MATRIX = [[0.7, 0.1, 0.2], [0.05, 0.8, 0.15], [0.25, 0.25, 0.5]]
WARM, ONE, COLD, COLDEST = 0.3, 1.0, 2.0, 1e6


def case(seed=1):
    """Answers of known noise, of every kind, about all items but the last; J of all labels."""
    rng = np.random.default_rng(seed)
    noisy = (
        links(N - 1, rng, LinkNoise(p=0.75, q=0.7)),
        triplets(N - 1, rng, UniformNoise(eps=0.4)),
        triplets(N - 1, rng, ConfusionNoise(matrix=MATRIX), name="others"),
    )
    answered = tuple(on_more_items(one, N) for one in noisy)
    problem = DCRCProblem(rng.normal(size=(N, 2)), answered, rng.normal(size=(K, 3)))
    empty = {o.name: np.zeros((o.n_sources * o.n_answers, o.n_patterns)) for o in answered}
    confusion = {one.name: one.noise.predictive(empty[one.name]) for one in answered}
    states, log_posterior = posterior_at(problem)
    return TemperedLabels(problem, confusion), states, -log_posterior


def test_j_is_minus_the_log_posterior():
    labels, states, J = case()
    np.testing.assert_allclose(labels.values(states), J, rtol=1e-9)
    assert labels.values(states[5]) == pytest.approx(J[5])


class AnswersForget(TemperedChain):
    """A fault: gamma weighs the classifier alone."""

    def __init__(self, labels, gamma, z, rng):
        super().__init__(labels, gamma, z, rng)
        self.table = labels.table


def z_score(gamma, chain_type=TemperedChain, number=6000):
    """Largest error of the means of J, of its square and of all labels, in standard errors."""
    labels, states, J = case()
    start = np.zeros(N, dtype=np.int64)
    chain = chain_type(labels, gamma, start, np.random.default_rng(2))
    z = labels_drawn(chain, number)
    assert chain.log_joint() == pytest.approx(-gamma * labels.values(z[-1]))
    levels = J - J.min()

    def statistics(of, J):
        shares = [of[:, i] == k for i in range(N) for k in range(K)]
        return np.array([J, J**2, *shares], dtype=np.float64)

    expected = statistics(states, levels) @ softmax(-gamma * J)
    found = statistics(z, labels.values(z) - J.min())
    errors = np.array([standard_error(row) for row in found])
    return (np.abs(found.mean(axis=1) - expected) / np.maximum(errors, 2e-3)).max()


@pytest.mark.parametrize("gamma", [WARM, ONE, COLD])
def test_chains_have_the_law_of_their_temperature(gamma):
    assert z_score(gamma) < LIMIT


@pytest.mark.parametrize("gamma", [WARM, COLD])
def test_answers_without_temperature_are_noticed(gamma):
    assert z_score(gamma, AnswersForget) > 2 * LIMIT


@pytest.mark.parametrize("seed", range(4))
def test_cooled_chains_and_mean_field_end_in_the_mode(seed):
    labels, _, J = case(seed)
    ends = []
    for start in range(6):
        rng = np.random.default_rng(start)
        z = rng.integers(K, size=N)
        q = np.eye(K)[z]
        for gamma in (*np.geomspace(WARM, 20, 40), COLDEST):
            chain = TemperedChain(labels, gamma, z, rng)
            for _ in range(60):
                chain.sweep()
            z = chain.draw()[0]["z"]
            q = labels.settle(q, gamma)
            assert labels.free_energy(q, gamma) >= -logsumexp(-gamma * J) / gamma - 1e-9
        ends.append(float(labels.values(z)))
        # mean field may end in another local minimum, whose J is its free energy
        end = q.argmax(axis=1)
        assert labels.free_energy(q, COLDEST) == pytest.approx(labels.values(end))
        np.testing.assert_array_equal(labels.settle(np.eye(K)[end], np.inf), np.eye(K)[end])
    assert np.median(ends) == pytest.approx(J.min())


def test_free_energy_is_exact_without_answers():
    given, *_ = case()
    labels = TemperedLabels(DCRCProblem(given.problem.points, (), given.problem.W), {})
    for gamma in (WARM, COLD):
        q = labels.settle(np.full((N, K), 1 / K), gamma)
        expected = -logsumexp(gamma * labels.log_p, axis=1).sum() / gamma
        assert labels.free_energy(q, gamma) == pytest.approx(expected)


def test_at_temperature_zero_no_item_gains_by_a_move():
    labels, states, _ = case(3)
    for first in states[::200]:
        z = labels.settle(np.eye(K)[first], np.inf).argmax(axis=1)
        assert labels.values(z) <= labels.values(first)
        neighbours = states[(states != z).sum(axis=1) == 1]
        assert (labels.values(neighbours) >= labels.values(z) - 1e-9).all()
