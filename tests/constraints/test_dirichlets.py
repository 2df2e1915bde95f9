"""Noise made of Dirichlet rows: its integral in compiled form is the model's own log marginal."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import gammaln

from bayesclust.constraints import DirichletNoise, LinkNoise
from bayesclust.constraints.factor_graph import GIVEN, PASSED_OVER, stack_dirichlets
from tests.constraints.test_contract import COMBINATIONS, random_constraints


def integral(rows, counts):
    """Log of the product over rows, the first formula of `bayesclust.constraints.noise`."""
    mass = rows.weight.copy()
    value = 0.0
    for code, pattern in np.ndindex(counts.shape):
        if rows.kind[code, pattern] >= 0:
            mass[rows.kind[code, pattern]] += counts[code, pattern]
        value += counts[code, pattern] * rows.factor[code, pattern]
    for a, b in zip(rows.start, rows.start[1:], strict=False):
        for weights, sign in ((mass[a:b], 1.0), (rows.weight[a:b], -1.0)):
            value += sign * (gammaln(weights).sum() - gammaln(weights.sum()))
    return value


def test_the_integral_of_all_rows_is_the_sum_of_log_marginals(rng):
    learned = [(kind, noise) for kind, noise in COMBINATIONS if noise.free and not noise.pooled]
    given = [random_constraints(kind, rng, noise) for kind, noise in learned]
    rows = stack_dirichlets(given)
    counts = np.zeros(rows.kind.shape, int)
    first = 0
    expected = 0.0
    for one in given:
        own = rng.integers(6, size=(one.n_sources * one.n_answers, one.n_patterns))
        alone = stack_dirichlets([one])
        assert integral(alone, own) == pytest.approx(one.noise.log_marginal(own), rel=1e-10)
        counts[first : first + len(own), : one.n_patterns] = own
        first += len(own)
        expected += one.noise.log_marginal(own)
    assert first == len(counts)
    assert integral(rows, counts) == pytest.approx(expected, rel=1e-10)


def links(noise, rng):
    kind = next(kind for kind, _ in COMBINATIONS if kind.kind == "pairwise")
    return random_constraints(kind, rng, noise, m=3).restrict(np.arange(9))


def test_known_noise_is_passed_over(rng):
    known = stack_dirichlets([links(LinkNoise(p=0.9, q=0.8), rng)])
    assert (known.kind == PASSED_OVER).all()
    rows = stack_dirichlets([links(LinkNoise(p=0.9), rng)])
    np.testing.assert_array_equal(rows.kind[:2, :2], [[GIVEN, 0], [GIVEN, 1]])
    np.testing.assert_allclose(rows.factor[:2, :2], [[np.log(0.1), 0.0], [np.log(0.9), 0.0]])


@dataclass(frozen=True)
class Tempered(LinkNoise):
    """Weighs all answers by a half."""

    def log_marginal(self, counts):
        return super().log_marginal(counts) / 2


def test_a_model_with_another_integral_has_no_rows(rng):
    assert stack_dirichlets([links(Tempered(), rng)]) is None
    assert stack_dirichlets([links(LinkNoise(), rng), links(Tempered(), rng)]) is None


@dataclass(frozen=True)
class Own(DirichletNoise):
    """A noise model as a user may write it, wrong in places."""

    weights: tuple = ((1.0, 2.0), (2.0, 1.0))
    cells: tuple = ((0, 1), (2, 3))

    kind = "pairwise"
    truth = (1, 0)
    n_answers = 2
    parameters = {"own": ("source", "truth", "answer")}  # noqa: RUF012

    @property
    def cell(self):
        return self.cells

    def priors(self):
        return {"own": np.array(self.weights)}


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"cells": ((0, 1), (2, 4))}, r"Own\.cell must have 2 rows of 2 kinds, numbered 0 to 3"),
        ({"cells": ((0, 1), (2, -1))}, r"Own\.cell must have 2 rows of 2 kinds"),
        ({"cells": ((0, 1),)}, r"Own\.cell must have 2 rows of 2 kinds"),
        ({"cells": ((0, 1, 2), (2, 3, 1))}, r"Own\.cell must have 2 rows of 2 kinds"),
        ({"weights": ((1.0, 1.0), (1.0, 0.0))}, r"weights of 'own' must be finite and above 0"),
        ({"weights": ((1.0, 1.0), (np.inf, 1.0))}, r"weights of 'own' must be finite"),
        ({"weights": (4.0, 1.0)}, r"weights of 'own' must be .* or rows in a 2-d array; got array"),
    ],
)
def test_layouts_that_cannot_be_are_refused(wrong, fault, rng):
    assert stack_dirichlets([links(Own(), rng)]) is not None
    with pytest.raises(ValueError, match=fault):
        stack_dirichlets([links(Own(**wrong), rng)])


class Rates(Own):
    """Rates whose kinds no cell numbers."""

    cell = None

    def priors(self):
        return {"p": (4.0, 1.0), "q": (4.0, 1.0)}


def test_rates_without_cells_are_refused(rng):
    with pytest.raises(ValueError, match=r"^Rates\.cell must have .* got None"):
        stack_dirichlets([links(Rates(), rng)])
