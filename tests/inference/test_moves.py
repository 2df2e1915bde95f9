"""Moves: fast scans against plain ones, anchors, schedules."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import softmax

from bayesclust.inference.assignment import draw_index
from bayesclust.inference.chain import WARMUP_BOOST, Moves, TwoLevelProblem
from bayesclust.inference.moves.link_blocks import LEAST_RATE, WORTHWHILE, LinkBlocks
from bayesclust.inference.moves.scan import scan, scan_full
from bayesclust.inference.moves.split_merge import (
    NOBODY,
    Places,
    SplitMerge,
    draw_pairs,
)
from bayesclust.inference.samplers import collapsed_chain, default_moves
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import links, problem
from tests.exactness.test_enumeration import compared
from tests.inference.states import STARTS, chain, check_assignment, state_of

SPLITS = Moves(split_merge=4.0, link_blocks=False, single_site=False)


def scanned(move, state, sweeps=3):
    """Labels after each of a few scans, capacity growing as it must."""
    path, moved = [], np.zeros(1, np.int64)
    for _ in range(sweeps):
        state.refresh()
        order, position = state.rng.permutation(state.n_items), 0
        while position < len(order):
            position = move(state.target, order, position, moved, state.rng)
            state.make_room(1)
        path.append(np.r_[state.assignment.place[state.assignment.z], state.labels])
    return np.array(path), int(moved[0])


@pytest.mark.parametrize("views", [True, False], ids=["constraints", "none"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_fast_and_plain_scan_draw_the_same(d, views):
    total = 0
    for seed in range(6):
        where = {"n": 90, "d": d, "kind": STARTS[seed % 3], "seed": seed, "views": views}
        first, second = (state_of(**where, alpha=5.0) for _ in range(2))
        total += check_same_draws(first, second)
        check_assignment(second)
    assert total > 20


def check_same_draws(first, second):
    """Scan two equal states, one by each kernel; returns how many items moved."""
    (plain, moved), (fast, fast_moved) = scanned(scan, first), scanned(scan_full, second)
    np.testing.assert_array_equal(fast, plain)
    assert fast_moved == moved
    assert first.rng.bit_generator.state == second.rng.bit_generator.state
    return moved


@pytest.mark.parametrize("d", [1, 3])
def test_fast_and_plain_scan_on_two_levels_draw_the_same(d):
    total = 0
    for seed in range(6):
        base = chain(n=90, d=d, kind=STARTS[seed % 3], seed=seed, views=seed % 2 == 0)
        family = base.problem.family.coarsened(0.4 if seed % 4 == 3 else 1.0)
        priors = DirichletProcess(5.0), DirichletProcess(0.5 + seed % 3)
        problem = TwoLevelProblem(family, base.problem.constraints, *priors)
        first, second = (
            collapsed_chain(problem, base.labels, np.random.default_rng(seed), Moves()).state
            for _ in range(2)
        )
        total += check_same_draws(first, second)
    assert total > 20


@pytest.mark.parametrize(
    "logits", [[0.0], [0.0, 1.0, -1.0], [-np.inf, 700.0, 701.0], [-900.0, -901.0, -1e300]]
)
def test_draw_index_has_the_probabilities(logits, rng):
    expected = softmax(logits)
    padded = np.append(logits, 1e9)  # what lies beyond the number is not read
    found = [draw_index(padded.copy(), len(logits), rng) for _ in range(4000)]
    tally = np.bincount(found, minlength=len(logits)) / 4000
    assert (
        np.abs(tally - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / 4000) + 1e-12
    ).all()


# --- anchors


def drawn(X, asked, number, rng):
    """Pairs of anchors, each in order."""
    pairs = np.full((number, 2), NOBODY)
    draw_pairs(pairs, Places(X, asked, np.zeros((0, 2), np.int64)), rng)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    return [tuple(sorted(pair)) for pair in pairs.tolist()]


def test_anchors_reach_every_pair(rng):
    X = rng.normal(size=(5, 2))
    for asked in (np.zeros((0, 2), np.int64), links(5, rng, size=4).items):
        pairs = Counter(drawn(X, asked, 3000, rng))
        assert set(pairs) == {(i, j) for i in range(5) for j in range(i + 1, 5)}


def test_notes_are_taken_in_the_warm_up_alone():
    one = chain(n=30, seed=1, moves=Moves(split_merge=2.0))
    (move,) = [move for move in one.moves if isinstance(move, SplitMerge)]
    for _ in range(30):
        one.sweep(adapt=True, freeze_noise=True)
    assert len(move.noted) == 0
    for _ in range(60):
        one.sweep(adapt=True)
    noted = move.noted.copy()
    assert len(noted) > 0
    for _ in range(30):
        one.sweep()
    np.testing.assert_array_equal(move.noted, noted)


def with_notes(case, z, rng, moves):
    """The collapsed sampler with pairs noted from the start, one of them twice."""
    made = collapsed_chain(case, z, rng, moves)
    for move in made.moves:
        if isinstance(move, SplitMerge):
            move.noted = np.array([[0, 1], [0, 1], [4, 2]])
    return made


def test_posterior_is_exact_with_notes():
    result = compared(problem("gaussian", n=6, seed=4), SPLITS, 6000, 4, with_notes)
    assert result.agrees, result


# --- how often the costly moves are made


def passes(move, number, *, adapt, seed=0):
    rng = np.random.default_rng(seed)
    return sum(move.due(rng, adapt=adapt) for _ in range(number))


@pytest.mark.parametrize("adapt", [True, False])
def test_every_sweep_passes_over_the_blocks_at_first(adapt):
    assert passes(LinkBlocks(), 50, adapt=adapt) == 50


@pytest.mark.parametrize(("moved", "rate"), [(0, LEAST_RATE), (5, 0.5), (10, 1.0), (400, 1.0)])
def test_the_rate_follows_the_blocks_that_moved(moved, rate):
    assert WORTHWHILE * 1000 == 10
    move, other = LinkBlocks(), LinkBlocks()
    move.run = lambda state: (moved, 1000)
    state = state_of(n=20, seed=1)
    move(state, adapt=True, freeze_noise=True)
    assert move.snapshot() == other.snapshot()  # blocks do not count while the noise is held
    move(state, adapt=True, freeze_noise=False)
    other.restore(move.snapshot())
    made = passes(move, 2000, adapt=False)
    assert move.block_rate == pytest.approx(rate)
    assert abs(made / 2000 - rate) <= 4 * np.sqrt(rate * (1 - rate) / 2000)
    assert passes(other, 2000, adapt=False) == made


def test_split_merge_proposals_have_their_rate():
    rng = np.random.default_rng(0)
    move = SplitMerge(Moves(split_merge=0.3))
    made = np.mean([move.number(rng, adapt=False) for _ in range(4000)])
    warming = np.mean([move.number(rng, adapt=True) for _ in range(4000)])
    assert made == pytest.approx(0.3, abs=0.03)
    assert warming == pytest.approx(0.3 * WARMUP_BOOST, abs=0.035)
    assert default_moves(collapsed_chain, 100).split_merge == 1.0
    assert default_moves(collapsed_chain, 100_000).split_merge < 0.01
