"""Noise given by its weights of evidence, against the p and q that they stand for, and where floats cannot hold these."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from bayesclust.constraints import (
    ConfusionNoise,
    LinkNoise,
    PairwiseConstraints,
    RelativeConstraints,
)
from bayesclust.inference.limits.evidence import KnownCosts, KnownEvidence

getcontext().prec = 60


def exact_logs(same, different):
    """log p, log(1 - p), log q, log(1 - q) from the formulas of p and q, in 60 digits."""
    A, B = Decimal(same).exp(), Decimal(different).exp()
    p, q = A * (B - 1) / (A * B - 1), B * (A - 1) / (A * B - 1)
    return [float(value.ln()) for value in (p, (A - 1) / (A * B - 1), q, (B - 1) / (A * B - 1))]


@pytest.mark.parametrize(
    "weights", [(0.01, 3.0), (1.0, 1.0), (4.0, 0.5), (30.0, 40.0), (1e-9, 1e-9)]
)
def test_logarithms_are_exact(weights):
    log_p, log_not_p, log_q, log_not_q = exact_logs(*weights)
    noise = KnownEvidence(*weights)
    # rows answer different, same; columns pattern same, different
    table = noise.log_table(noise.initial(1))
    np.testing.assert_allclose(table, [[log_not_p, log_q], [log_p, log_not_q]], rtol=1e-12)


@pytest.mark.parametrize("weights", [(1e4, 1e4), (1e9, 30.0), (0.0, 50.0), (0.0, 0.0), (1e4, 0.0)])
def test_evidence_is_what_it_says_however_strong(weights):
    table = (noise := KnownEvidence(*weights)).log_table(noise.initial(1))
    assert np.isfinite(table).all()
    assert table[1, 0] - table[1, 1] == pytest.approx(weights[0], rel=1e-12, abs=1e-9)
    assert table[0, 1] - table[0, 0] == pytest.approx(weights[1], rel=1e-12, abs=1e-9)
    np.testing.assert_allclose(np.exp(table).sum(axis=0), 1.0)


def test_no_evidence_leaves_answers_that_say_nothing():
    noise = KnownEvidence(0.0, 0.0)
    np.testing.assert_allclose(noise.confusion(noise.initial(1)), 0.5)


def test_sources_of_their_own_and_the_marginal_of_known_values(rng):
    noise = KnownEvidence(same=(1.0, 2.0), different=0.7)
    pairs = np.array([rng.choice(8, 2, replace=False) for _ in range(30)])
    source, same = rng.integers(2, size=30), rng.random(30) < 0.5
    links = PairwiseConstraints(pairs, same, n_items=8, source=source, noise=noise)
    z = rng.integers(3, size=(4, 8))
    params = noise.initial(2)
    expected = links.log_prob(z, params)
    np.testing.assert_allclose(noise.log_marginal(links.counts(z)), expected)
    for number in range(2):
        log_p, *_ = exact_logs(params["evidence_same"][number], 0.7)
        assert noise.confusion(params)[number, 1, 1] == pytest.approx(np.exp(log_p))
    np.testing.assert_allclose(
        noise.expected_log_table(links.counts(z[0]), 2), noise.log_table(params)
    )
    p, q = noise.confusion(params)[:, 1, 1], noise.confusion(params)[:, 0, 0]
    np.testing.assert_allclose(
        links.with_noise(LinkNoise()).log_prob(z, {"p": p, "q": q}), expected
    )


def test_nothing_is_learned(rng):
    noise = KnownEvidence(3.0, 4.0)
    assert noise.free == ()
    drawn = noise.draw(np.ones((4, 2)), noise.initial(2), rng)
    assert {name: values.tolist() for name, values in drawn.items()} == {
        "evidence_same": [3.0, 3.0],
        "evidence_different": [4.0, 4.0],
    }
    assert noise.log_prior(drawn) == 0.0


@pytest.mark.parametrize("bad", [-1.0, np.inf, np.nan])
def test_impossible_weights(bad):
    with pytest.raises(ValueError, match=r"^same must lie in \[0, inf\); got "):
        KnownEvidence(same=bad)
    with pytest.raises(ValueError, match=r"^different must lie in \[0, inf\); got "):
        KnownEvidence(different=(1.0, bad))


def test_costs_of_triplets_are_those_of_a_confusion_matrix(rng):
    matrix = rng.dirichlet(np.ones(3), size=3)
    noise, plain = KnownCosts(-np.log(matrix)[None] + 5.0), ConfusionNoise(matrix=matrix)
    np.testing.assert_allclose(
        noise.log_table(noise.initial(2)), plain.log_table(plain.initial(2)), atol=1e-12
    )
    np.testing.assert_allclose(
        noise.confusion(noise.initial(1)), plain.confusion(plain.initial(1)), atol=1e-12
    )
    items = np.array([rng.choice(8, 3, replace=False) for _ in range(20)])
    view = RelativeConstraints(items, rng.integers(3, size=20), n_items=8, noise=noise)
    z = rng.integers(3, size=(4, 8))
    np.testing.assert_allclose(
        noise.log_marginal(view.counts(z)), view.log_prob(z, noise.initial(1))
    )
    np.testing.assert_allclose(
        noise.expected_log_table(view.counts(z[0]), 1), noise.log_table(noise.initial(1))
    )
    assert noise.free == ()
    np.testing.assert_array_equal(
        noise.draw(view.counts(z[0]), noise.initial(1), rng)["costs"], noise.costs
    )


def test_costs_however_large():
    noise = KnownCosts(-1e9 * np.eye(3)[None])
    table = noise.log_table(noise.initial(1))
    assert np.isfinite(table).all()
    # a right answer outweighs a wrong one by all its cost
    assert table[0, 1] - table[0, 0] == pytest.approx(1e9)
