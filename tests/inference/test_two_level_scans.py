"""The fast scan on two levels is the plain one."""

import numpy as np
import pytest

from bayesclust.families import FAMILIES
from bayesclust.inference.schedule import Moves
from bayesclust.inference.seating import refresh
from bayesclust.inference.two_level.chain import FAST_SCANS, TwoLevelChain, TwoLevelProblem
from bayesclust.inference.two_level.scan import scan_two_level
from bayesclust.inference.two_level.scan_full import scan_full_two_level
from bayesclust.models.priors import Concentration
from tests.inference.states import STARTS, check_seating, start
from tests.judges.cases import all_views, data_for, learned


def two_levels(d, kind, seed, views, alpha, beta, power=1.0):
    rng = np.random.default_rng(seed)
    family = learned(FAMILIES["gaussian"])
    bound = family.bind(data_for(family, 90, d, rng)).coarsened(power)
    own = all_views(90, rng) if views else ()
    case = TwoLevelProblem(bound, own, Concentration(fixed=alpha), Concentration(fixed=beta))
    return TwoLevelChain(case, start(kind, 90, rng), np.random.default_rng(seed + 1), Moves())


def scanned(move, sampler, sweeps=3):
    """Components and clusters after each of a few scans, capacity growing as it must."""
    path, levels = [], sampler.levels
    for _ in range(sweeps):
        refresh(sampler.state, sampler.seating)
        order, position = sampler.rng.permutation(90), 0
        while position < 90:
            levels = sampler.levels
            position = move(
                sampler.state,
                sampler.seating,
                levels,
                sampler.sites,
                sampler.table,
                sampler.log_alpha,
                sampler.log_beta,
                order,
                position,
                sampler.moved,
                sampler.rng,
            )
            sampler._make_room(1)
        levels = sampler.levels
        path.append(
            [sampler.seating.place[sampler.seating.z], levels.clusters.place[levels.clusters.z]]
        )
        np.testing.assert_array_equal(levels.owner[sampler.seating.z], levels.clusters.z)
        np.testing.assert_array_equal(
            np.bincount(levels.clusters.z, minlength=len(levels.size)), levels.size
        )
    return np.array(path), int(sampler.moved[0])


@pytest.mark.parametrize("views", [True, False], ids=["views", "no views"])
@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_fast_scan_draws_what_the_plain_one_draws(d, kind, views):
    total = 0
    for seed in range(12):
        settings = d, kind, seed, views, 5.0, 0.5 + seed % 3, 0.4 if seed % 4 == 3 else 1.0
        first, second = two_levels(*settings), two_levels(*settings)
        (plain, moved), (fast, fast_moved) = (
            scanned(scan_two_level, first),
            scanned(scan_full_two_level, second),
        )
        np.testing.assert_array_equal(fast, plain)
        assert fast_moved == moved
        assert first.rng.bit_generator.state == second.rng.bit_generator.state
        check_seating(second)
        total += moved
    assert total > 20


def test_room_is_made_when_components_outgrow_the_slots():
    sampler = two_levels(2, "one", 3, False, 1.0, 500.0)
    capacity = len(sampler.seating.slots)
    scanned(scan_full_two_level, sampler)
    assert len(sampler.seating.slots) > capacity


def test_only_where_asked_for(monkeypatch):
    calls = []
    monkeypatch.setitem(
        FAST_SCANS,
        type(two_levels(2, "one", 0, True, 1.0, 1.0).state),
        lambda *a: calls.append(1) or 90,
    )
    sampler = two_levels(2, "one", 0, True, 1.0, 1.0)
    sampler._scan()
    assert calls
    calls.clear()
    sampler.moves = Moves(fast=False)
    sampler._scan()
    assert not calls
