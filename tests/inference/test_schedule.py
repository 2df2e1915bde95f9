"""How often the costly moves are made: always while warming up, then as often as blocks were seen to move."""

import numpy as np
import pytest

from bayesclust.inference.schedule import LEAST_RATE, WARMUP_BOOST, WORTHWHILE, Moves, MoveSchedule


def passes(schedule, number, *, adapt, seed=0):
    rng = np.random.default_rng(seed)
    return sum(schedule.block_passes(rng, adapt=adapt) for _ in range(number))


def test_every_sweep_of_the_warm_up_passes_over_the_blocks():
    assert passes(MoveSchedule(Moves()), 50, adapt=True) == 50
    assert passes(MoveSchedule(Moves(link_blocks=False)), 50, adapt=True) == 0


def test_without_a_warm_up_every_sweep_does():
    assert passes(MoveSchedule(Moves()), 50, adapt=False) == 50


@pytest.mark.parametrize(("moved", "rate"), [(0, LEAST_RATE), (5, 0.5), (10, 1.0), (400, 1.0)])
def test_afterwards_as_many_as_are_worth_it(moved, rate):
    schedule = MoveSchedule(Moves())
    for _ in range(10):
        schedule.record_blocks(moved // 10 if moved >= 10 else 0, 100)
    schedule.record_blocks(moved if moved < 10 else 0, 0)
    assert WORTHWHILE * 1000 == 10
    made = passes(schedule, 2000, adapt=False)
    assert schedule.block_rate == pytest.approx(rate)
    assert abs(made / 2000 - rate) <= 4 * np.sqrt(rate * (1 - rate) / 2000)


def test_the_rate_stays_once_draws_are_kept():
    schedule = MoveSchedule(Moves())
    schedule.record_blocks(0, 100)
    passes(schedule, 1, adapt=False)
    rate = schedule.block_rate
    assert rate == LEAST_RATE
    passes(schedule, 100, adapt=False)
    assert schedule.block_rate == rate


def test_split_merge_proposals():
    rng = np.random.default_rng(0)
    schedule = MoveSchedule(Moves(split_merge=0.3))
    drawn = np.mean([schedule.proposals(rng, adapt=False) for _ in range(4000)])
    warming = np.mean([schedule.proposals(rng, adapt=True) for _ in range(4000)])
    assert drawn == pytest.approx(0.3, abs=0.03)
    assert warming == pytest.approx(0.3 * WARMUP_BOOST, abs=0.035)


def test_a_snapshot_brings_it_back():
    schedule, other = MoveSchedule(Moves()), MoveSchedule(Moves())
    schedule.record_blocks(3, 1000)
    other.restore(schedule.snapshot())
    assert passes(schedule, 500, adapt=False, seed=1) == passes(other, 500, adapt=False, seed=1)
    assert other == schedule
