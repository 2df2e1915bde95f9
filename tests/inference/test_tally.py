"""Counts of answers in one compiled pass: those of the views themselves."""

import numpy as np
import pytest

from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.inference.tally import Tally
from tests.judges.cases import all_views

N_ITEMS = 15


@pytest.mark.parametrize("seed", range(10))
def test_counts_are_those_of_each_view(seed):
    rng = np.random.default_rng(seed)
    views = all_views(N_ITEMS, rng)
    tally, z = Tally(views, compile_sites(views, N_ITEMS)), rng.integers(4, size=N_ITEMS)
    counts = tally(z)
    for view, part in zip(views, tally.by_view(counts), strict=True):
        np.testing.assert_array_equal(part, view.counts(z))
    assert counts.sum() == sum(len(view) for view in views)
    noises = [view.noise.sample_prior(view.n_sources, rng) for view in views]
    expected = sum(view.log_prob(z, noise) for view, noise in zip(views, noises, strict=True))
    assert (counts * stack_tables(views, noises)).sum() == pytest.approx(expected, rel=1e-12)


def test_no_answers():
    tally = Tally((), compile_sites((), N_ITEMS))
    counts = tally(np.zeros(N_ITEMS, np.int64))
    assert counts.shape == (0, 5)
    assert tally.by_view(counts) == []
