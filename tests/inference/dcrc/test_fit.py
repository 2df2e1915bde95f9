"""The search."""

from dataclasses import replace

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.dcrc import em as search
from bayesclust.inference.dcrc.em import EMSettings, fit_em

SETTINGS = EMSettings(penalty=0.02, starts=4)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 90)
    X = rng.normal(size=(90, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    views = [
        bc.RelativeConstraints.sample(y, size=60, error_rate=0.1, seed=1).with_noise(
            bc.UniformNoise(0.1)
        ),
        bc.PairwiseConstraints.sample(y, fraction=0.01, error_rate=0.05, seed=2),
    ]
    return X, y, views


@pytest.fixture(scope="module")
def fit(problem):
    X, _, views = problem
    return fit_em(X, views, 3, SETTINGS, np.random.default_rng(0))


def test_the_best_of_several_starts(problem, fit):
    X, y, views = problem
    assert bc.metrics.adjusted_rand(fit.q.argmax(axis=1), y) > 0.9
    assert fit.converged
    assert (np.diff(fit.path) >= -1e-9).all()
    assert [count.shape for count in fit.counts] == [(3, 5), (2, 2)]
    assert [count.sum() for count in fit.counts] == pytest.approx([60, len(views[1])])
    single = fit_em(X, views, 3, replace(SETTINGS, starts=1), np.random.default_rng(0))
    assert fit.path[-1] >= single.path[-1] - 1e-6


def test_starts_may_use_a_part_of_the_answers(problem, monkeypatch):
    X, y, views = problem
    monkeypatch.setattr(search, "ROUGH_ANSWERS", 40)
    monkeypatch.setattr(search, "ROUGH_FREE", 5)
    fit = fit_em(X, views, 3, SETTINGS, np.random.default_rng(0))
    assert bc.metrics.adjusted_rand(fit.q.argmax(axis=1), y) > 0.9
    assert sum(count.sum() for count in fit.counts) == pytest.approx(60 + len(views[1]))
    assert (np.diff(fit.path) >= -1e-9).all()


def test_binding_answers_are_kept_by_the_annealed_search(problem):
    X, y, _ = problem
    view = bc.RelativeConstraints.sample(y, size=80, error_rate=0.0, seed=3).with_noise(
        bc.UniformNoise(0.0)
    )
    fit = fit_em(X, [view], 3, replace(SETTINGS, binding=True), np.random.default_rng(0))
    assert (view.truths(fit.q.argmax(axis=1)) == view.answers).all()
    assert (np.diff(fit.path) >= -1e-9 * abs(fit.path[0])).all()


def test_literal_eq_14_makes_labels_certain_at_once(problem):
    X, y, _ = problem
    view = bc.RelativeConstraints.sample(y, size=80, error_rate=0.0, seed=3).with_noise(
        bc.UniformNoise(0.05)
    )
    short = replace(SETTINGS, starts=1, max_iter=1)
    named, certain = np.unique(view.items), []
    for settings in (short, replace(short, literal=True, binding=True)):
        fit = fit_em(X, [view], 3, settings, np.random.default_rng(0))
        certain.append((fit.q[named].max(axis=1) > 1 - 1e-12).mean())
    assert certain[0] < 0.2 < 0.7 < certain[1]


def test_without_answers_clusters_are_separated(problem):
    X, y, _ = problem
    fit = fit_em(X, [], 3, SETTINGS, np.random.default_rng(0))
    assert bc.metrics.adjusted_rand(fit.q.argmax(axis=1), y) > 0.8
    assert fit.counts == []
