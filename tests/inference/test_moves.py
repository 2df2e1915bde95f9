"""Moves: exact conditionals, ratios, fast scans against plain ones, anchors, schedules."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import softmax

from bayesclust.constraints import LinkNoise, PairwiseConstraints
from bayesclust.constraints.factor_graph import compile_sites, stack_tables
from bayesclust.families import FAMILIES
from bayesclust.inference.assignment import draw_index, members
from bayesclust.inference.chain import (
    LEAST_RATE,
    WARMUP_BOOST,
    WORTHWHILE,
    Moves,
    MoveSchedule,
    TwoLevelProblem,
)
from bayesclust.inference.moves.link_blocks import Blocks, draw_bonds, move_blocks
from bayesclust.inference.moves.parameter_scan import NONE_OPENED, prior_predictive, scan_given
from bayesclust.inference.moves.scan import FAST_SCANS, scan, scan_full
from bayesclust.inference.moves.split_merge import (
    NOBODY,
    NOTED,
    WORTH_NOTING,
    Places,
    SplitMerge,
    draw_pairs,
    log_ratio,
)
from bayesclust.inference.parameters import NONE_DRAWN
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.partition_priors import DirichletProcess, KnownK
from tests.exactness.cases import links, problem
from tests.exactness.test_enumeration import compared
from tests.inference.states import STARTS, chain, check_assignment, state_of

SPLITS = Moves(split_merge=4.0, link_blocks=False, single_site=False)


# --- conditionals and ratios


def log_probability(state, z, dropped=False):
    """log p(z, x, s | parameters) from the reference formulas; may-links left out if `dropped`."""
    problem, labels = state.problem, np.unique(z, return_inverse=True)[1]
    value = problem.partition_prior.log_prob(np.bincount(labels), state.values)
    value += problem.family.log_data(
        [problem.family.X[labels == k] for k in range(labels.max() + 1)], state.hyper
    )
    for each, noise in zip(problem.constraints, state.noise, strict=True):
        rows = each.noise.log_table(noise)[each.codes, each.patterns(labels)]
        drop = (each.answers == 1) if dropped and each.kind == "pairwise" else False
        value += np.where(drop, 0.0, rows).sum()
    return float(value)


def conditional(state, items, dropped=False):
    """p(cluster of the items | rest), the last that of a new one, and the labels of the others."""
    z = state.assignment.place[state.assignment.z].copy()
    others = np.unique(np.delete(z, items))
    values = []
    for k in [*others, z.max() + 1]:
        z[items] = k
        values.append(log_probability(state, z, dropped))
    return softmax(values), others


def assert_frequencies(tally, expected):
    number = tally.sum()
    error = np.sqrt(expected * (1 - expected) / number)
    assert (np.abs(tally / number - expected) < 4.5 * error + 3 / number).all()


def chosen(state, items, labels, others):
    """Position among `others` of the cluster that the items are in, -1 for a new one."""
    z = state.assignment.z
    mates = np.setdiff1d(np.flatnonzero(z == z[items[0]]), items)
    return np.searchsorted(others, labels[mates[0]]) if len(mates) else -1


@pytest.mark.parametrize("prior", [None, KnownK(9, 0.7)])
@pytest.mark.parametrize("name", ["gaussian", "poisson"])
def test_one_update_has_the_exact_conditional(name, prior):
    fast = FAST_SCANS.get(type(state_of(name, n=7).clusters), scan)
    for move in {scan, fast}:
        for i, kind in ((2, "random"), (0, "alone")):
            state = state_of(name, n=7, kind=kind, seed=4)
            if prior is not None:
                object.__setattr__(state.problem, "partition_prior", prior)
                state.values = prior.initial()
            expected, others = conditional(state, [i])
            labels = state.assignment.place[state.assignment.z].copy()
            tally, moved = np.zeros(len(expected)), np.zeros(1, np.int64)
            for _ in range(1500):
                state.assign(labels)
                move(state.target, np.array([i]), 0, moved, state.rng)
                tally[chosen(state, [i], labels, others)] += 1
            assert_frequencies(tally, expected)


@pytest.mark.parametrize("name", ["gaussian", "poisson", "gaussian_tied"])
def test_block_has_the_exact_conditional(name):
    for kind, items in (("random", [0, 3]), ("one", [1, 2, 5])):
        state = state_of(name, n=8, seed=6, kind=kind)
        labels = state.assignment.place[state.assignment.z].copy()
        labels[items] = labels[items[0]]
        labels = np.unique(labels, return_inverse=True)[1]
        state.assign(labels)
        if name == "gaussian_tied":  # the shared covariance is given
            state.problem.family.set_hyper(state.clusters, state.hyper)
        order = np.array([*items, *np.setdiff1d(np.arange(8), items)])
        block = Blocks(order, np.array([0]), np.array([len(items)]))
        tally, others = None, np.unique(np.delete(labels, items))
        moved = np.zeros(1, np.int64)
        tally = np.zeros(len(others) + 1)
        for _ in range(1500):
            state.assign(labels)
            move_blocks(state.target, block, 0, moved, state.rng)
            tally[chosen(state, items, labels, others)] += 1
        if name != "gaussian_tied":
            assert_frequencies(tally, conditional(state_at(state, labels), items, dropped=True)[0])


def state_at(state, labels):
    state.assign(labels)
    return state


def test_bonds_have_their_probability(rng):
    link = PairwiseConstraints([(0, 1)], [True], 2, noise=LinkNoise(p=0.9, q=0.7))
    sites, table = compile_sites([link], 2), stack_tables([link], [link.noise.initial(1)])
    together, apart = np.zeros(2, int), np.arange(2)
    roots = np.array([draw_bonds(sites, table, together, rng) for _ in range(4000)])
    bonded = (roots[:, 0] == roots[:, 1]).mean()
    assert bonded == pytest.approx(1 - 0.3 / 0.9, abs=4.5 * np.sqrt(2 / 9 / 4000))
    np.testing.assert_array_equal(draw_bonds(sites, table, apart, rng), apart)


@pytest.mark.parametrize("kind", STARTS)
def test_scan_given_has_the_conditional_given_the_likelihoods(kind, rng):
    n, i = 7, 3
    state = state_of(n=n, kind=kind, seed=4, alpha=1.3)
    start, capacity = state.assignment.z.copy(), len(state.assignment.slots)
    density, log_alone = rng.normal(size=(1, capacity)), rng.normal(size=1)
    others, values, rest = np.unique(np.delete(start, i)), [], start.copy()
    for k in [*others, capacity]:
        rest[i] = k
        size = (np.delete(start, i) == k).sum()
        new = np.log(1.3) + log_alone[0]
        value = new if k == capacity else np.log(size) + density[0, k]
        noises = zip(state.problem.constraints, state.noise, strict=True)
        values.append(value + sum(each.log_prob(rest, noise) for each, noise in noises))
    tally, moved = np.zeros(len(values)), np.zeros(1, np.int64)
    for _ in range(4000):
        state.assign(start)
        count = np.bincount(start, minlength=capacity)
        target = state.target._replace(state=None)
        position, opened = scan_given(
            target, count, density, log_alone, np.array([i]), 0, moved, rng
        )
        z = state.assignment.z
        assert position == 1
        np.testing.assert_array_equal(count, np.bincount(z, minlength=capacity))
        assert opened in (NONE_OPENED, z[i])
        tally[np.searchsorted(others, z[i]) if z[i] in others else -1] += 1
    assert_frequencies(tally, softmax(values))


@pytest.mark.parametrize("name", FAMILIES)
def test_prior_predictive_is_the_marginal_of_one_item(name):
    state = state_of(name, n=9, seed=1)
    family = state.problem.family
    expected = [family.log_marginal(family.X[i : i + 1], state.hyper) for i in range(9)]
    found = prior_predictive(state.clusters, 9)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_ratio_of_a_split_is_the_difference_of_log_joints():
    for seed in range(10):
        state, other = (state_of(n=14, seed=seed) for _ in range(2))
        assignment, clusters = state.assignment, state.clusters
        a, b = assignment.slots[0], assignment.slots[1]
        split, merged = assignment.z.copy(), assignment.slots[state.n_clusters]
        items, together = members(assignment, a, b), split.copy()
        together[items] = merged
        other.assign(np.unique(together, return_inverse=True)[1])
        slot = other.assignment.z[items[0]]
        for name in clusters._fields:
            array = getattr(clusters, name)
            own = isinstance(array, np.ndarray) and array.ndim and name != "X"
            if own and len(array) == len(clusters.count):
                array[merged] = getattr(other.clusters, name)[slot]
        number = state.n_clusters - 1
        found = log_ratio(state.target, NONE_DRAWN.rows, False, items, a, b, merged, number)
        expected = log_probability(state, split) - log_probability(state, together)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        np.testing.assert_array_equal(assignment.z, split)


STATES = {2: [(0, 0), (0, 1)], 3: [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2)]}


@pytest.mark.parametrize("scans", [0, 3])
@pytest.mark.parametrize("n", STATES)
def test_split_merge_has_detailed_balance(n, scans):
    """Between any two partitions a chain in equilibrium flows equally often both ways."""
    state = state_of(n=n, seed=5, views=False)
    move = SplitMerge(MoveSchedule(Moves(restricted_scans=scans)))
    weights = softmax([log_probability(state, np.array(z)) for z in STATES[n]])
    number, flow = 3000, np.zeros((len(weights), len(weights)))
    for row, z in enumerate(STATES[n]):
        for _ in range(number):
            state.assign(np.array(z))
            move.propose(state, 1, NONE_DRAWN, noting=False)
            seen = {}
            now = tuple(seen.setdefault(k, len(seen)) for k in state.labels.tolist())
            flow[row, STATES[n].index(now)] += weights[row] / number
    error = np.sqrt((weights[:, None] * flow + weights[None, :] * flow.T) / number)
    assert (np.abs(flow - flow.T) <= 4.5 * error + 1e-3).all()
    assert flow.sum() - np.trace(flow) > 0.01


# --- fast scans


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
    found = [draw_index(padded, len(logits), rng) for _ in range(4000)]
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


def test_a_third_of_the_anchors_stand_in_constraints(rng):
    items = links(200, rng, size=3).items
    asked = {tuple(sorted(pair)) for pair in items.tolist()}
    pairs = drawn(rng.normal(size=(200, 2)), items, 2000, rng)
    assert np.mean([pair in asked for pair in pairs]) == pytest.approx(1 / 3, abs=0.05)


def test_a_quarter_of_the_pairs_are_noted_ones():
    state, move = state_of(n=40, seed=1), SplitMerge(MoveSchedule(SPLITS))
    move.note(np.array([[3, 17], [25, 8]]), np.full(2, 0.5))
    pairs = np.full((8000, 2), NOBODY)
    draw_pairs(pairs, move.places(state), state.rng)
    share = np.mean([pair in ([3, 17], [25, 8]) for pair in pairs.tolist()])
    assert 0.25 - 0.02 < share < 0.25 + 0.04


def test_only_likely_pairs_are_noted_and_the_latest_kept():
    move, pairs = SplitMerge(MoveSchedule(SPLITS)), np.array([[0, 1], [2, 3]])
    move.note(pairs, np.array([WORTH_NOTING / 2, 2 * WORTH_NOTING]))
    np.testing.assert_array_equal(move.noted, [[2, 3]])
    for first in range(NOTED):
        move.note(np.array([[first, first + 1]]), np.ones(1))
    np.testing.assert_array_equal(move.noted[[0, -1]], [[0, 1], [NOTED - 1, NOTED]])


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


def passes(schedule, number, *, adapt, seed=0):
    rng = np.random.default_rng(seed)
    return sum(schedule.block_passes(rng, adapt=adapt) for _ in range(number))


@pytest.mark.parametrize("adapt", [True, False])
def test_every_sweep_passes_over_the_blocks_at_first(adapt):
    assert passes(MoveSchedule(Moves()), 50, adapt=adapt) == 50
    assert passes(MoveSchedule(Moves(link_blocks=False)), 50, adapt=adapt) == 0


@pytest.mark.parametrize(("moved", "rate"), [(0, LEAST_RATE), (5, 0.5), (10, 1.0), (400, 1.0)])
def test_the_rate_follows_the_blocks_that_moved(moved, rate):
    assert WORTHWHILE * 1000 == 10
    schedule, other = MoveSchedule(Moves()), MoveSchedule(Moves())
    schedule.record_blocks(moved, 1000)
    other.restore(schedule.snapshot())
    assert other == schedule
    made = passes(schedule, 2000, adapt=False)
    assert schedule.block_rate == pytest.approx(rate)
    assert abs(made / 2000 - rate) <= 4 * np.sqrt(rate * (1 - rate) / 2000)
    assert passes(other, 2000, adapt=False) == made


def test_split_merge_proposals_have_their_rate():
    rng = np.random.default_rng(0)
    schedule = MoveSchedule(Moves(split_merge=0.3))
    made = np.mean([schedule.proposals(rng, adapt=False) for _ in range(4000)])
    warming = np.mean([schedule.proposals(rng, adapt=True) for _ in range(4000)])
    assert made == pytest.approx(0.3, abs=0.03)
    assert warming == pytest.approx(0.3 * WARMUP_BOOST, abs=0.035)
    assert Moves.default(100).split_merge == 1.0
    assert Moves.default(100_000).split_merge < 0.01
