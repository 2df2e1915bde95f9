"""Metric updates: the paper's where it holds, the exact one against a general solver."""

import numpy as np
import pytest

from bayesclust.inference.limits.mpck.metric import FORMS, FarPairs, Terms, exact_step, paper_step
from tests.inference.limits.mpck.plain import best_metric


def random_terms(rng, form, violated, n=8, r=2):
    points = rng.normal(size=(n, r))
    residuals = points - points.mean(axis=0)
    scatter = form.scatter(residuals, np.ones(n)) + form.one(r)
    pairs = rng.choice(n, size=(violated, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return points, Terms(
        n + 1.0, scatter, points[pairs[:, 0]] - points[pairs[:, 1]], rng.uniform(0.2, 3, len(pairs))
    )


@pytest.mark.parametrize("name", FORMS)
def test_exact_step_is_the_minimum_of_a_general_solver(rng, name):
    form = FORMS[name]
    for violated in (0, 1, 4, 12):
        for _ in range(3):
            points, terms = random_terms(rng, form, violated)
            found = exact_step(form, terms, FarPairs(points))
            mine = terms.value(form, found[0], found[1])
            theirs = best_metric(points, terms, name == "full")
            assert mine == pytest.approx(theirs, abs=1e-4)
            slow = max(form.lengths((points[:, None] - points).reshape(-1, 2), found[0]))
            assert found[1] == pytest.approx(slow)


@pytest.mark.parametrize("name", FORMS)
def test_both_steps_are_equation_7_if_the_farthest_pair_stays(rng, name):
    """One pair far beyond all others, and answers that are little beside the scatter."""
    form = FORMS[name]
    points = np.concatenate([rng.normal(size=(30, 3)), [[40.0, 30.0, 20.0], [-40.0, -30.0, -20.0]]])
    gaps, weights = points[:4] - points[4:8], np.full(4, 0.1)
    terms = Terms(32.0, form.scatter(points, np.ones(32)), gaps, weights)
    far = FarPairs(points)
    pair = points[30] - points[31]
    B = points.T @ points + 0.4 * np.outer(pair, pair) - 0.1 * gaps.T @ gaps
    wanted = 32.0 / np.diag(B) if name == "diagonal" else 32.0 * np.linalg.inv(B)
    for found in (
        paper_step(form, terms, pair, far),
        exact_step(form, terms, far, gap=1e-12),
    ):
        np.testing.assert_allclose(found[0], wanted, rtol=1e-5)


def test_paper_step_mends_negative_and_singular_terms():
    points = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    terms = Terms(4.0, np.array([1.0, 1.0]), np.array([[0.0, 2.0]]), np.array([2.0]))
    found = paper_step(FORMS["diagonal"], terms, np.array([6.0, 0.0]), FarPairs(points))
    np.testing.assert_allclose(found[0], [4.0 / 73.0, 1e-3 * 4.0 / 73.0])
    full = terms._replace(scatter=np.eye(2))
    found = paper_step(FORMS["full"], full, np.array([6.0, 0.0]), FarPairs(points))
    np.testing.assert_allclose(found[0], np.diag([4.0 / 73.0, 1e-3 * 4.0 / 73.0]), atol=1e-12)
    flat = Terms(4.0, np.array([1.0, 0.0]), np.empty((0, 2)), np.empty(0))
    found = paper_step(FORMS["diagonal"], flat, np.zeros(2), FarPairs(points))
    np.testing.assert_allclose(found[0], [4.0 / 1.001, 4.0 / 1e-3])
