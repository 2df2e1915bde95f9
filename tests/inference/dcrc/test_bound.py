"""The bound of variational EM: Table II, the exact evidence, and that it never falls."""

from itertools import product

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

import bayesclust as bc
from bayesclust.inference.dcrc.em import SETTLED, agreement_table, max_compatible
from tests.exactness.exact import log_answers
from tests.inference.dcrc.problems import ascent, paper_objective, random_views, table_two

N, K = 6, 3
NOISES = {
    "known": bc.UniformNoise(0.1),
    "learned": bc.UniformNoise(),
    "confusion": bc.ConfusionNoise(),
}


@pytest.mark.parametrize("noise", NOISES)
def test_the_bound_never_falls(noise):
    """At every E-step and M-step, 24 problems of each noise model, every other with pairs."""
    for seed in range(24):
        rng = np.random.default_rng([1, seed])
        n = int(rng.integers(4, 12))
        views = random_views(rng, n, NOISES[noise], pairs=seed % 2 == 0)
        X, W = rng.normal(size=(n, 2)), 2 * rng.normal(size=(K, 3))
        tau, temperature = rng.choice([0.0, 1.0]), [1.0, 0.5][seed % 2]
        state = ascent(X, views, W, tau=tau, balance=bool(seed % 3), temperature=temperature)
        state.run(25)
        assert len(state.path) >= 2
        assert np.diff(state.path).min(initial=0.0) >= -1e-9 * max(abs(state.path[0]), 1.0), seed


def test_the_bound_stays_below_the_evidence():
    for seed in range(6):
        rng = np.random.default_rng([2, seed])
        view = random_views(rng, N, bc.UniformNoise(float(rng.uniform(0.02, 0.9))), pairs=False)[0]
        X, W = rng.normal(size=(N, 2)), rng.normal(size=(K, 3))
        state = ascent(X, [view], W)
        for _ in range(4):
            state.expect()
            exact = len(view) * paper_objective(state.W, X, view)
            assert state.bound <= exact + 1e-9
            state.maximise()


def test_the_bound_touches_the_evidence_where_answers_say_nothing(rng):
    view = random_views(rng, N, bc.UniformNoise(2 / 3), pairs=False)[0]
    X, W = rng.normal(size=(N, 2)), rng.normal(size=(K, 3))
    state = ascent(X, [view], W)
    state.expect()
    assert state.bound == pytest.approx(len(view) * paper_objective(state.W, X, view), rel=1e-12)


@pytest.mark.parametrize("labelled", [False, True])
def test_with_learned_noise_the_bound_never_falls_and_stays_below_its_evidence(labelled):
    """Of pairs and triplets, of labels alone and beside these, in the E-step and the M-step."""
    for seed in range(12):
        rng = np.random.default_rng([3 + 2 * labelled, seed])
        views = random_views(rng, N, [bc.UniformNoise(), bc.ConfusionNoise()][seed // 2 % 2])
        if labelled:
            rows = [(int(rng.integers(N)), int(rng.integers(2))) for _ in range(6)]
            labels = bc.LabelConstraints(rows, N, source=[0, 1, 0, 1, 1, 0], classes=[0, 1])
            views = [labels, *(views if seed % 2 else [])]
        X, W = rng.normal(size=(N, 2)), rng.normal(size=(K, 3))
        state = ascent(X, views, W)
        state.run(6)
        assert np.diff(state.path).min() >= -1e-9 * max(abs(state.path[0]), 1.0), seed
        log_p = log_softmax(X @ state.W[:, :-1].T + state.W[:, -1], axis=1)
        z = np.array(list(product(range(K), repeat=N)))
        values = log_p[np.arange(N), z].sum(axis=1) + log_answers(views, z)
        rest = state.objective.value_and_gradient(state.W, np.zeros_like(state.q))[0]
        assert state.bound <= logsumexp(values) + rest + 1e-9


def test_an_e_step_ends_at_a_fixed_point_of_table_two(rng):
    eps = 0.2
    view = random_views(rng, N, bc.UniformNoise(eps), pairs=False)[0]
    X, W = rng.normal(size=(N, 2)), rng.normal(size=(K, 3))
    state = ascent(X, [view], W)
    for _ in range(30):
        state.expect()
    q = np.zeros((N, K))
    q[state.answers.items] = state.q
    log_p = state.objective.log_p(state.W)
    for row, i in enumerate(state.answers.items):
        expected = softmax(log_p[row] + table_two(view, q, i, eps))
        np.testing.assert_allclose(q[i], expected, atol=SETTLED)


def test_certain_labels_are_the_limit_of_falling_temperature(rng):
    """From the same start, temperature 1e-3 ends where temperature 0 does."""
    y = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 2)) + 2.0 * np.eye(3, 2)[y]
    view = bc.RelativeConstraints.sample(y, size=25, error_rate=0.0, seed=1).with_noise(
        bc.UniformNoise(0.05)
    )
    W = rng.normal(size=(K, 3))
    ends = {}
    for temperature in (1.0, 0.1, 1e-3, 0.0):
        state = ascent(X, [view], W, temperature=temperature)
        state.run(200)
        ends[temperature] = state
    assert set(np.unique(ends[0.0].q)) == {0.0, 1.0}
    np.testing.assert_allclose(ends[1e-3].q, ends[0.0].q, atol=1e-6)
    np.testing.assert_allclose(ends[1e-3].W, ends[0.0].W, atol=1e-6)
    gaps = [abs(ends[t].bound - ends[0.0].bound) for t in (1.0, 0.1, 1e-3)]
    assert gaps[2] < 1e-3 < gaps[0]


def test_eq_14_is_where_eq_13_tends(rng):
    F = rng.integers(0, 3, size=(50, 4)).astype(float)
    log_p = np.log(rng.dirichlet(np.ones(4), size=50))
    exact = max_compatible(F, log_p)
    np.testing.assert_allclose(exact.sum(axis=1), 1.0)
    assert ((exact > 0) == (F.max(axis=1, keepdims=True) == F)).all()
    for eps, least, most in ((0.1, 0.1, 1.0), (1e-12, 1e-12, 1e-9)):
        soft = softmax(F * np.log(2 * (1 - eps) / eps) + log_p, axis=1)
        assert least < np.abs(soft - exact).max() < most


def test_agreement_table_counts_broken_answers():
    z = np.array([0, 0, 1, 1, 2])
    triplets = bc.RelativeConstraints(
        [(0, 1, 2), (0, 1, 2), (0, 2, 4), (2, 0, 3)],
        ["yes", "no", "dnk", "dnk"],
        n_items=5,
        source=[0, 1, 1, 0],
    )
    links = bc.PairwiseConstraints([(0, 1), (0, 2), (2, 3)], [False, False, True], n_items=5)
    table = agreement_table([triplets, links], -1.0)
    assert table.shape == (8, 5)
    broken = (triplets.counts(z) * table[:6]).sum(), (links.counts(z) * table[6:, :2]).sum()
    assert broken == (-2.0, -1.0)
