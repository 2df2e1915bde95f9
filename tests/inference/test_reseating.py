"""One item between two slots: the odds are those of the plain marginal likelihoods, and clusters hold what sits in them."""

import math

import numpy as np
import pytest

from bayesclust._numba import FAST, kernel
from bayesclust.constraints.factor_graph import UNPLACED
from bayesclust.families import FAMILIES
from bayesclust.families.base import add_item, clear_cluster, derive
from bayesclust.inference.reseating import log_odds, reseat
from tests.judges.cases import data_for, learned

N = 12


@kernel(fastmath=FAST, cache=False)
def odds_of(state, i, own, a, b, chosen):
    value = log_odds(state, i, own, a, b)
    reseat(state, i, own, chosen)
    return value


@kernel(fastmath=FAST, cache=False)
def seat(state, items, k):
    derive(state, len(state.count) - 1)
    clear_cluster(state, k)
    for i in items:
        add_item(state, i, k)


def bound(name, power, d, rng):
    family = learned(FAMILIES[name])
    return family.bind(data_for(family, N, d, rng)).coarsened(power)


@pytest.mark.parametrize("name", ["gaussian", "gaussian_diagonal", "poisson"])
@pytest.mark.parametrize("power", [1.0, 0.3])
@pytest.mark.parametrize("d", [1, 4])
def test_odds_are_those_of_the_plain_marginals(name, power, d, rng):
    family = bound(name, power, d, rng)
    hyper = family.initial_hyper()
    state = family.new_state(6, hyper)
    side = np.where(rng.random(N) < 0.5, 2, 4)
    side[:5] = 2, 4, 2, 4, UNPLACED
    for k in (2, 4):
        seat(state, np.flatnonzero(side == k), k)

    def share(i, k):
        """log of the size of slot k without item i, and of the density of the item given the others."""
        others = np.setdiff1d(np.flatnonzero(side == k), i)
        rows = family.X[[*others, i]], family.X[others]
        return (
            math.log(len(others))
            + family.log_marginal(rows[0], hyper)
            - family.log_marginal(rows[1], hyper)
        )

    for _ in range(4):
        for i in range(2, N):
            own, chosen = side[i], rng.choice((2, 4))
            expected = share(i, 2) - share(i, 4)
            assert odds_of(state, i, own, 2, 4, chosen) == pytest.approx(
                expected, rel=1e-8, abs=1e-8
            )
            side[i] = chosen
    for k in (2, 4):
        fresh = family.new_state(6, hyper)
        seat(fresh, np.flatnonzero(side == k), k)
        for field in state._fields:
            kept, expected = (np.asarray(getattr(one, field)) for one in (state, fresh))
            if kept.ndim and len(kept) == len(state.count):
                np.testing.assert_allclose(
                    kept[k], expected[k], rtol=1e-9, atol=1e-9, err_msg=field
                )


def test_clusters_are_left_alone_by_an_item_that_stays(rng):
    family = bound("gaussian", 1.0, 3, rng)
    state = family.new_state(4, family.initial_hyper())
    for k in (0, 1):
        seat(state, np.arange(k, N, 2), k)
    before = [np.array(field) for field in state]
    for i in range(2, N):
        odds_of(state, i, i % 2, 0, 1, i % 2)
    for kept, expected in zip(state, before, strict=True):
        np.testing.assert_array_equal(kept, expected)
