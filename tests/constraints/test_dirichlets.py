"""Rows with Dirichlet priors: their integral is the noise model's own, and a model that changes it has none."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import gammaln

from bayesclust.constraints import (
    ConfusionNoise,
    DirichletRows,
    LinkNoise,
    PairwiseConstraints,
    RelativeConstraints,
    UniformNoise,
)
from bayesclust.constraints.dirichlets import GIVEN, PASSED_OVER, stack_dirichlets
from tests.constraints.test_view_contract import COMBINATIONS, CUT, random_view

WEIGHTS = [[5.0, 1.5, 2.0], [1.0, 4.0, 1.0], [2.0, 2.0, 6.0]]
MODELS = [
    LinkNoise(),
    LinkNoise(p=(2.0, 3.0), q=(1.0, 0.5)),
    LinkNoise(p=0.9),
    LinkNoise(q=0.7),
    UniformNoise(),
    UniformNoise(eps=(2.0, 2.5)),
    ConfusionNoise(),
    ConfusionNoise(prior=WEIGHTS),
]


def view_of(noise, n_sources=3, name="answers"):
    """Questions about four items, to every source."""
    items = [(0, 1), (1, 2)] if noise.kind == "pairwise" else [(0, 1, 2), (1, 2, 3)]
    kind = PairwiseConstraints if noise.kind == "pairwise" else RelativeConstraints
    source = np.repeat(np.arange(n_sources), 2)
    return kind(items * n_sources, np.zeros(2 * n_sources, int), 4, source, noise=noise, name=name)


def integral(rows, counts):
    """log of the product over rows, this module's first formula."""
    mass, value = rows.weight.copy(), 0.0
    for code, pattern in np.ndindex(counts.shape):
        if rows.kind[code, pattern] >= 0:
            mass[rows.kind[code, pattern]] += counts[code, pattern]
        value += counts[code, pattern] * rows.factor[code, pattern]
    for a, b in zip(rows.start, rows.start[1:], strict=False):
        for weights, sign in ((mass[a:b], 1.0), (rows.weight[a:b], -1.0)):
            value += sign * (gammaln(weights).sum() - gammaln(weights.sum()))
    return value


@pytest.mark.parametrize("noise", MODELS, ids=str)
def test_the_integral_of_the_rows_is_the_log_marginal(noise, rng):
    rows = stack_dirichlets([view_of(noise)])
    for _ in range(5):
        counts = rng.integers(6, size=(3 * noise.n_answers, len(noise.truth)))
        assert integral(rows, counts) == pytest.approx(noise.log_marginal(counts), rel=1e-10)


@pytest.mark.parametrize(("kind", "noise"), COMBINATIONS, ids=str)
def test_so_it_is_of_every_noise_model_that_says_its_rows(kind, noise, rng):
    view = random_view(kind, rng, noise)
    rows = stack_dirichlets([view])
    assert rows is not None or noise in CUT
    if rows is not None and noise.free:
        counts = view.counts(rng.integers(3, size=view.n_items))
        assert integral(rows, counts) == pytest.approx(noise.log_marginal(counts), rel=1e-10)


def test_views_are_laid_out_one_after_another(rng):
    views = [view_of(noise, 1 + k % 3, f"view_{k}") for k, noise in enumerate(MODELS)]
    rows, first, expected = stack_dirichlets(views), 0, 0.0
    counts = np.zeros(rows.kind.shape, int)
    for view in views:
        own = rng.integers(6, size=(view.n_sources * view.n_answers, view.n_patterns))
        counts[first : first + len(own), : view.n_patterns] = own
        first, expected = first + len(own), expected + view.noise.log_marginal(own)
    assert first == len(counts)
    assert integral(rows, counts) == pytest.approx(expected, rel=1e-10)


def test_what_is_not_learned_is_passed_over():
    known, half = view_of(LinkNoise(p=0.9, q=0.8), 1), view_of(LinkNoise(p=0.9), 1)
    assert (stack_dirichlets([known]).kind == PASSED_OVER).all()
    rows = stack_dirichlets([half])
    np.testing.assert_array_equal(rows.kind[:, :2], [[GIVEN, 0], [GIVEN, 1]])
    np.testing.assert_allclose(rows.factor[:, :2], [[np.log(0.1), 0.0], [np.log(0.9), 0.0]])


@dataclass(frozen=True)
class Tempered(LinkNoise):
    """Believes half of everything."""

    def log_marginal(self, counts):
        return super().log_marginal(counts) / 2


@dataclass(frozen=True)
class DrawsOtherwise(LinkNoise):
    """The same model, with a sampler of its own."""

    def draw(self, counts, params, rng):
        return super().draw(counts, params, rng)


def test_a_model_that_changes_the_integral_has_no_rows_of_its_parent():
    assert stack_dirichlets([view_of(Tempered())]) is None
    assert stack_dirichlets([view_of(LinkNoise()), view_of(Tempered(), name="other")]) is None
    assert stack_dirichlets([view_of(DrawsOtherwise())]) is not None


@pytest.mark.parametrize(
    "noise", [LinkNoise(informative=True), UniformNoise(informative=True)], ids=str
)
def test_a_cut_prior_has_none(noise):
    assert noise.dirichlet_rows() is None
    assert stack_dirichlets([view_of(noise)]) is None


class Says(LinkNoise):
    """The same model, which says other rows."""

    said: DirichletRows

    def dirichlet_rows(self):
        return self.said


def saying(**changes):
    noise = Says()
    object.__setattr__(noise, "said", LinkNoise().dirichlet_rows()._replace(**changes))
    return view_of(noise)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"kind": np.array([[0, 1], [2, 4]])}, "from -1 to 3"),
        ({"kind": np.array([[0, 1], [2, -2]])}, "from -1 to 3"),
        ({"kind": np.array([[0, 1], [2, 100_000_000]])}, "from -1 to 3"),
        ({"kind": np.array([[0.0, 1.0], [2.0, 3.0]])}, "integers"),
        ({"kind": np.array([[0, 1]])}, "a row for each truth"),
        ({"log_factor": np.zeros(2)}, "a row for each truth"),
        ({"log_factor": np.zeros((2, 3))}, "each of 2 answers"),
        ({"log_factor": np.full((2, 2), np.nan)}, "log_factor must be finite"),
        ({"log_factor": np.full((2, 2), -np.inf)}, "log_factor must be finite"),
        ({"weights": ((1.0, 1.0), (1.0, 0.0))}, "weights must be finite and above 0"),
        ({"weights": ((1.0, 1.0), (np.inf, 1.0))}, "weights must be finite and above 0"),
        ({"weights": ((1.0, 1.0), (1.0,))}, "from -1 to 2"),
    ],
)
def test_rows_that_are_none_are_refused(changes, fault):
    with pytest.raises(ValueError, match=rf"^Says\.dirichlet_rows\(\): .*{fault}"):
        stack_dirichlets([saying(**changes)])


def test_rows_that_are_said_as_they_are_pass():
    for ours, own in zip(
        stack_dirichlets([saying()]), stack_dirichlets([view_of(LinkNoise())]), strict=True
    ):
        np.testing.assert_array_equal(ours, own)


class Reversed(LinkNoise):
    """Of patterns that come in the other order."""

    truth = (0, 1)


def test_tallies_go_by_the_truth_of_each_pattern(rng):
    noise = {"p": (4.0, 1.0), "q": (2.0, 3.0)}
    for _ in range(5):
        counts = rng.integers(6, size=(6, 2))
        other_way = counts[:, ::-1]
        assert Reversed(**noise).log_marginal(counts) == LinkNoise(**noise).log_marginal(other_way)
        expected = LinkNoise(**noise).expected_log_table(other_way, 3)[:, ::-1]
        np.testing.assert_array_equal(Reversed(**noise).expected_log_table(counts, 3), expected)
