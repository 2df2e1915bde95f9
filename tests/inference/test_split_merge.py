"""Split-merge moves: the acceptance ratio, what is left behind, and detailed balance between two states."""

import math

import numpy as np
import pytest

from bayesclust._numba import FAST, kernel
from bayesclust.inference import collapsed
from bayesclust.inference.anchors import NOWHERE
from bayesclust.inference.joint_moves import NONE_DRAWN
from bayesclust.inference.seating import members, new_seating, refresh
from bayesclust.inference.split_merge import (
    DECIDE,
    _log_ratio,
    attempt,
    bound_merge,
    propose_split_merge,
    split_merge,
)
from bayesclust.models.priors import crp_log_prob
from tests.inference.states import STARTS, chain, check_seating


@kernel(fastmath=FAST, cache=False)
def log_ratio(state, sites, table, z, items, a, b, merged, log_alpha, mark):
    return _log_ratio(state, sites, table, z, items, a, b, merged, log_alpha, mark)


def plain_log_joint(sampler, z):
    """log p(z, x, s | alpha, noise, hyper-parameters), from the plain twins."""
    family = sampler.problem.family
    labels = np.unique(z, return_inverse=True)[1]
    value = crp_log_prob(np.bincount(labels), sampler.alpha)
    value += sum(
        family.log_marginal(family.X[labels == k], sampler.hyper) for k in range(labels.max() + 1)
    )
    views = zip(sampler.problem.constraints, sampler.noise, strict=True)
    return value + sum(view.log_prob(labels, noise) for view, noise in views)


def propose(sampler, first, second, scans=1):
    return split_merge(
        sampler.state,
        sampler.seating,
        sampler.sites,
        sampler.table,
        math.log(sampler.alpha),
        first,
        second,
        scans,
        sampler.rng,
    )


@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("scans", [0, 2])
def test_seats_are_in_order_after_every_proposal(kind, scans):
    sampler = chain(n=20, kind=kind, seed=2)
    accepted = {"split": 0, "merge": 0}
    for _ in range(300):
        sampler._make_room(3)
        before = sampler.seating.z.copy()
        first, second = sampler.rng.choice(20, 2, replace=False)
        together = before[first] == before[second]
        if propose(sampler, first, second, scans):
            accepted["split" if together else "merge"] += 1
            assert (sampler.seating.z[first] == sampler.seating.z[second]) != together
            others = np.isin(before, [before[first], before[second]], invert=True)
            np.testing.assert_array_equal(sampler.seating.z[others], before[others])
        else:
            np.testing.assert_array_equal(sampler.seating.z, before)
        check_seating(sampler)
    assert min(accepted.values()) > 5


def test_ratio_is_the_difference_of_log_joints():
    for seed in range(10):
        sampler = chain(n=14, seed=seed)
        seating, state = sampler.seating, sampler.state
        a, b = seating.slots[0], seating.slots[1]
        split = seating.z.copy()
        items = members(seating, a, b)
        merged = seating.slots[seating.number[0]]
        together = split.copy()
        together[items] = merged
        other = chain(n=14, seed=seed)
        other._seat(np.unique(together, return_inverse=True)[1])
        slot = other.seating.z[items[0]]
        for name in state._fields:
            array = getattr(state, name)
            if array.ndim and len(array) == len(state.count) and name != "X":
                array[merged] = getattr(other.state, name)[slot]
        mark = np.zeros(14, np.int64)
        found = log_ratio(
            state,
            sampler.sites,
            sampler.table,
            seating.z,
            items,
            a,
            b,
            merged,
            math.log(sampler.alpha),
            mark,
        )
        expected = plain_log_joint(sampler, split) - plain_log_joint(sampler, together)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        np.testing.assert_array_equal(seating.z, split)


STATES = {2: [(0, 0), (0, 1)], 3: [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]}


def canonical(z):
    seen = {}
    return tuple(seen.setdefault(k, len(seen)) for k in z.tolist())


@pytest.mark.parametrize("scans", [0, 1, 3])
@pytest.mark.parametrize("n", STATES)
def test_detailed_balance(n, scans):
    """Between any two partitions of a few items, a chain in equilibrium flows equally often both ways."""
    sampler = chain(n=n, seed=5, views=False)
    weights = np.exp([plain_log_joint(sampler, np.array(z)) for z in STATES[n]])
    weights /= weights.sum()
    number, flow = 3000, np.zeros((len(weights), len(weights)))
    for row, z in enumerate(STATES[n]):
        for _ in range(number):
            sampler._seat(np.array(z))
            propose(sampler, *sampler.rng.choice(n, 2, replace=False), scans)
            flow[row, STATES[n].index(canonical(sampler.seating.z))] += weights[row] / number
    error = np.sqrt((weights[:, None] * flow + weights[None, :] * flow.T) / number)
    assert (np.abs(flow - flow.T) <= 4.5 * error + 1e-3).all()
    assert flow.sum() - np.trace(flow) > 0.01


@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("scans", [0, 2])
def test_proposals_in_a_row_are_what_one_after_another_is(kind, scans):
    accepted = 0
    for seed in range(8):
        one, row = (chain(n=20, kind=kind, seed=seed) for _ in range(2))
        pairs = np.array([one.rng.choice(20, 2, replace=False) for _ in range(6)])
        row.rng.bit_generator.state = one.rng.bit_generator.state
        answers, taken = (one.sites, one.table, math.log(one.alpha)), 0
        for sampler in (one, row):
            sampler._make_room(len(sampler.seating.slots) - sampler.n_clusters + 20)
        for first, second in pairs:
            taken += split_merge(one.state, one.seating, *answers, first, second, scans, one.rng)
        given = NOWHERE, NONE_DRAWN, pairs, np.zeros(len(pairs))
        position, number, *_ = attempt(
            row.state, row.seating, *answers, *given, scans, DECIDE, row.rng
        )
        assert (position, number) == (len(pairs), taken)
        np.testing.assert_array_equal(row.seating.z, one.seating.z)
        assert row.rng.random() == one.rng.random()
        check_seating(row)
        accepted += taken
    assert accepted > 3


@pytest.mark.parametrize("scans", [0, 2])
def test_with_the_noise_integrated_out_they_are_so_too(scans):
    """Three proposals by the noise as it is, and then three by noise of the prior."""
    accepted = [0, 0]
    for seed in range(12):
        one, row = (chain(n=20, seed=seed) for _ in range(2))
        pairs, drawn = (
            np.array([one.rng.choice(20, 2, replace=False) for _ in range(6)]),
            one.unheard.draw(3, one.rng),
        )
        row.rng.bit_generator.state = one.rng.bit_generator.state
        for sampler in (one, row):
            sampler._make_room(len(sampler.seating.slots) - sampler.n_clusters + 20)
        for position, pair in enumerate(pairs):
            table, gain = one.table, None
            if position >= 3:
                table = drawn.table[position - 3]
                gain = one.unheard.gain(table, one.labels)
            answers = one.sites, table, math.log(one.alpha)
            accepted[position >= 3] += split_merge(
                one.state, one.seating, *answers, *pair, scans, one.rng, gain
            )
        answers, given = (
            (row.sites, row.table, math.log(row.alpha)),
            (NOWHERE, drawn, pairs, np.zeros(6)),
        )
        position, *_ = attempt(row.state, row.seating, *answers, *given, scans, DECIDE, row.rng)
        assert position == 6
        np.testing.assert_array_equal(row.seating.z, one.seating.z)
        assert row.rng.random() == one.rng.random()
    assert min(accepted) > 1


def test_where_slots_run_out_between_proposals_they_go_on_with_the_same_noise(monkeypatch):
    entered = []

    def counted(*arguments):
        entered[-1] += 1
        return attempt(*arguments)

    monkeypatch.setattr(collapsed, "attempt", counted)

    def scarce(sampler, z):
        capacity = int(z.max()) + 1 + collapsed.SPARE_SLOTS
        sampler.state, sampler.seating = (
            sampler.problem.family.new_state(capacity, sampler.hyper),
            new_seating(z, capacity),
        )
        refresh(sampler.state, sampler.seating)

    again = accepted = 0
    for seed in range(40):
        few, many = (chain(n=30, kind="one", seed=seed, alpha=20.0) for _ in range(2))
        few._seat = lambda z, few=few: scarce(few, z)
        many._make_room(80)
        entered.append(0)
        few._make_room(80)
        taken = few._propose_all(16, 10)
        again += entered[-1] - 1
        assert many._propose_all(16, 10) == taken
        assert canonical(few.seating.z) == canonical(many.seating.z)
        assert few.rng.random() == many.rng.random()
        check_seating(few)
        accepted += taken
    assert again > 10
    assert accepted > 40


def test_the_chance_of_each_proposal_is_told():
    told = 0
    for seed in range(40):
        one, row = (chain(n=20, seed=seed) for _ in range(2))
        answers, pair = (
            (one.sites, one.table, math.log(one.alpha)),
            one.rng.choice(20, 2, replace=False),
        )
        row.rng.bit_generator.state = one.rng.bit_generator.state
        chance, log_uniform, before = np.zeros(1), math.log(one.rng.random()), one.seating.z.copy()
        bound = np.inf
        if before[pair[0]] != before[pair[1]]:
            bound, _ = bound_merge(one.state, one.seating, *answers, *pair, one.rng)
        proposed = propose_split_merge(one.state, one.seating, *answers, *pair, 2, one.rng)
        split = before if np.isfinite(bound) else one.seating.z
        smaller = min((split == split[item]).sum() for item in pair)
        attempt(
            row.state,
            row.seating,
            *answers,
            NOWHERE,
            NONE_DRAWN,
            pair[None],
            chance,
            2,
            DECIDE,
            row.rng,
        )
        expected = (
            math.exp(min(proposed.log_ratio, 0.0)) if smaller > 1 and log_uniform < bound else 0.0
        )
        assert chance[0] == pytest.approx(expected, rel=1e-9)
        told += expected > 0
    assert told > 10


def test_without_free_slots_nothing_is_proposed(rng):
    sampler = chain(n=20, seed=0)
    seating = sampler.seating
    seating.number[0] = len(seating.slots) - 2
    answers = sampler.sites, sampler.table, math.log(sampler.alpha)
    for stage in (bound_merge, lambda *rest: propose_split_merge(*rest[:-1], 1, rest[-1])):
        with pytest.raises(RuntimeError, match="make room"):
            stage(sampler.state, seating, *answers, 0, 1, rng)
    position, accepted, *_ = attempt(
        sampler.state,
        seating,
        *answers,
        NOWHERE,
        NONE_DRAWN,
        np.array([[0, 1]]),
        np.zeros(1),
        1,
        DECIDE,
        rng,
    )
    assert (position, accepted) == (0, 0)
