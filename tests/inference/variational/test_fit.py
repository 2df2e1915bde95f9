"""The search and its moves: starts, repetition, a path that never falls, draws of q."""

from dataclasses import replace

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.constraints import LinkNoise
from bayesclust.families import FAMILIES, get_family
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.variational import fit as moves
from bayesclust.inference.variational.fit import VariationalSettings, fit_variational
from bayesclust.inference.variational.mean_field import MeanField, Task, draw_mean_field, one_hot
from bayesclust.partition_priors import DirichletProcess, KnownK
from tests.constraints.known import fold
from tests.exactness.cases import all_views, data_for, links, problem


def mixture(n=120, d=2, k=4, seed=1, separation=20.0):
    return bc.datasets.make_mixture(n, d, k, separation=separation, seed=seed)


def problem_of(data, views=(), family="gaussian"):
    return TVClustProblem(get_family(family).bind(data.X), tuple(views), DirichletProcess())


def fit(case, seed=0, init=None, **settings):
    return fit_variational(case, VariationalSettings(**settings), np.random.default_rng(seed), init)


def score(found, data):
    return bc.metrics.adjusted_rand(found.state.r.argmax(axis=1), data.y)


@pytest.mark.parametrize("clusters", [1, 30])
def test_leaves_one_cluster_and_very_many(clusters):
    data = mixture()
    found = fit(problem_of(data), init=np.arange(120) % clusters)
    assert found.converged
    assert score(found, data) > 0.95


@pytest.mark.parametrize("sweeps", [0, 3])
def test_noise_is_trusted_at_the_start_of_every_ascent_and_then_learned(sweeps, monkeypatch, rng):
    seen, sweep = [], MeanField.sweep
    monkeypatch.setattr(
        MeanField, "sweep", lambda state: seen.append(state.freeze_noise) or sweep(state)
    )
    data = mixture(60)
    case = problem_of(data, all_views(60, rng))
    found = fit(case, init=rng.integers(4, size=60), fixed_noise_iter=sweeps)
    assert not found.state.freeze_noise
    number = seen.index(False)
    assert 0 < number <= sweeps or number == sweeps == 0
    assert not any(seen[number:])


@pytest.mark.parametrize("name", FAMILIES)
def test_path_never_falls_and_repeats(name, rng):
    family = FAMILIES[name]()
    case = TVClustProblem(family.bind(data_for(family, 40, 3, rng)), all_views(40, rng))
    found = fit(case, n_init=2)
    assert (np.diff(found.path) > -1e-8).all()
    assert found.path[-1] == found.state.bound
    again = fit(case, n_init=2)
    assert np.array_equal(again.path, found.path)
    assert np.array_equal(again.state.r, found.state.r)


def test_truncation_and_known_number_are_kept():
    case = problem_of(mixture())
    assert fit(case, truncation=2).state.n_components <= 2
    assert fit(replace(case, partition_prior=KnownK(3))).state.n_components <= 3


def test_draws_are_those_of_q(rng):
    """Frequencies of labels, moments of noise, known values kept."""
    view = links(8, rng, LinkNoise(p=(3.0, 2.0), q=0.9))
    case = replace(
        problem("gaussian", n=8), constraints=(view,), partition_prior=DirichletProcess((2.0, 1.0))
    )
    r = rng.dirichlet(np.ones(3), size=8)
    r[0] = [0, 1, 0]
    state = MeanField(Task(case), r, case.family.initial_hyper())
    draws = draw_mean_field(state, (4, 5000), rng)
    number = 20_000
    frequency = (draws["z"].reshape(number, 8, 1) == np.arange(3)).mean(axis=0)
    assert (np.abs(frequency - state.r) <= 4.5 * np.sqrt(state.r * (1 - state.r) / number)).all()
    assert (draws["z"][..., 0] == state.r[0].argmax()).all()
    assert np.array_equal(draws["n_clusters"][0, :50], [len(set(z)) for z in draws["z"][0, :50]])
    assert draws["concentration"].shape == (4, 5000)
    folded = fold(view.noise, state.counts[0])
    a, b = 3.0 + folded[:, 1, 1], 2.0 + folded[:, 1, 0]
    p = draws["p"].reshape(number, 2)
    error = np.sqrt(a * b / (a + b) ** 2 / (a + b + 1) / number)
    assert (np.abs(p.mean(axis=0) - a / (a + b)) < 4.5 * error).all()
    assert (draws["q"] == 0.9).all()
    assert draws["q"].shape == draws["p"].shape == (4, 5000, 2)


# three groups of ten, far apart in each of two columns
Z = np.repeat([0, 1, 2], 10)


@pytest.fixture
def grouped(rng):
    X = 8.0 * np.array([[0, 0], [0, 1], [1, 0]])[Z] + rng.normal(size=(30, 2))
    case = problem("gaussian", n=30)
    return replace(case, family=FAMILIES["gaussian"]().bind(X))


def state_of(case, z):
    return MeanField(Task(case), one_hot(np.asarray(z)), case.family.initial_hyper())


def together(state):
    mode = state.r.argmax(axis=1)
    return mode[:, None] == mode


def split(state):
    rng = np.random.default_rng(0)
    assert list(moves.splits(state, 2, rng)) == []  # there is no room for a third
    *_, better = moves.splits(state, 10, rng)
    return better


STRAYS = np.isin(np.arange(30), [0, 12])
MOVED = {
    "halves of a group": (np.where(np.arange(30) < 5, 3, Z), moves.merge),
    "joined groups": (np.minimum(Z, 1), split),
    "a needless component": (np.where(STRAYS, 3, Z), moves.delete),
}


@pytest.mark.parametrize(("z", "move"), MOVED.values(), ids=MOVED)
def test_moves_find_the_groups(grouped, z, move):
    state = state_of(grouped, z)
    better = move(state)
    assert better.bound > state.bound
    assert np.array_equal(together(better), Z[:, None] == Z)
    if move is moves.merge:
        assert move(better) is None


def test_one_component_is_neither_merged_nor_deleted(grouped):
    state = state_of(grouped, np.zeros(30, np.int64))
    assert moves.merge(state) is None
    assert moves.delete(state) is None


@pytest.mark.parametrize("name", FAMILIES)
def test_gains_of_merging_known_noise_and_links_are_exact(name, rng):
    """With links of known noise the gain lacks nothing but the sticks."""
    case = problem(name, n=9)
    view = bc.PairwiseConstraints.sample(np.arange(9) % 3, size=15, error_rate=0.2, seed=1)
    views = (view.with_noise(LinkNoise(p=0.8, q=0.9)),)
    case = replace(case, constraints=views, partition_prior=DirichletProcess(1.0))
    state = MeanField(Task(case), rng.dirichlet(np.ones(4), size=9), case.family.initial_hyper())
    gain = moves.merge_gains(state)
    for k, j in [(0, 1), (0, 3), (1, 2)]:
        r = np.delete(state.r, j, axis=1)
        r[:, k] += state.r[:, j]
        merged = MeanField(state.task, r, state.hyper)
        expected = merged.bound - merged.weights.bound - state.bound + state.weights.bound
        assert gain[k, j] == pytest.approx(expected, abs=1e-9)
