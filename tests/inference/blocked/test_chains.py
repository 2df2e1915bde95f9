"""Blocked chains: what they keep, what they must not depend on, what they say."""

import numpy as np
import pytest

from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.families import FAMILIES
from bayesclust.families.base import hard_statistics
from bayesclust.inference.assignment import seeded_partition
from bayesclust.inference.blocked import BlockedChains
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.models.joint import log_joint
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import all_views, data_for, learned


def case(name="gaussian", n=40, d=2, seed=0, views=True):
    rng = np.random.default_rng(seed)
    family = learned(FAMILIES[name])
    own = all_views(n, rng) if views else ()
    return TVClustProblem(family.bind(data_for(family, n, d, rng)), own, DirichletProcess())


def chains(problem, number=2, seed=0, start=None, **options):
    rng = np.random.default_rng(seed)
    starts = np.stack(
        [
            np.unique(rng.integers(4, size=problem.n_items), return_inverse=True)[1]
            for _ in range(number)
        ]
    )
    return BlockedChains(problem, starts if start is None else start, rng.spawn(number), **options)


def run(made, sweeps):
    """Labels after every sweep, and the last draw."""
    labels = []
    for sweep in range(sweeps):
        made.sweep(adapt=sweep < sweeps // 2, freeze_noise=4 * sweep < sweeps)
        labels.append(made.labels_of_items())
    return np.array(labels), made.draw()


def assert_same(found, expected):
    """The same partitions; numbers equal up to rounding."""
    np.testing.assert_array_equal(found[0], expected[0])
    for one, other in zip(found[1], expected[1], strict=True):
        for name in other:
            np.testing.assert_allclose(one[name], other[name], rtol=1e-10, err_msg=name)


@pytest.mark.parametrize("name", FAMILIES)
def test_statistics_stay_those_of_the_labels(name):
    made = chains(case(name))
    for _ in range(5):
        made.sweep()
    z = made.labels_of_items()
    for c, chain in enumerate(made.unknowns):
        number = z[c].max() + 1
        expected = hard_statistics(made.problem.family.components(), z[c].astype(np.int64), number)
        for found, part in zip(chain.statistics, expected, strict=True):
            np.testing.assert_allclose(found, part, rtol=1e-10, atol=1e-10)
        assert set(z[c]) == set(range(number))
        for counts, view in zip(chain.counts, made.problem.constraints, strict=True):
            np.testing.assert_array_equal(counts, view.counts(z[c]))


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_are_those_of_the_collapsed_chain_in_form_and_density(name):
    problem = case(name)
    made = chains(problem)
    for _ in range(3):
        made.sweep(adapt=True)
    variables, statistics = made.draw()
    single, _ = collapsed_chain(
        problem, np.zeros(40, np.int64), np.random.default_rng(0), Moves()
    ).draw()
    assert {key: np.shape(value) for key, value in variables.items()} == {
        key: (2, *np.shape(value)) for key, value in single.items()
    }
    for c, chain in enumerate(made.unknowns):
        expected = log_joint(
            variables["z"][c],
            problem.family,
            constraints=problem.constraints,
            partition_prior=problem.partition_prior,
            values={"concentration": variables["concentration"][c]},
            hyper=chain.hyper,
            noise=chain.noise,
        )
        assert statistics["log_joint"][c] == pytest.approx(expected, rel=1e-9)


def test_padding_and_blocks_change_nothing():
    problem = case()
    expected = run(chains(problem), 12)
    for options in ({"slot_multiple": 5}, {"block_size": 6, "slot_multiple": 64}):
        assert_same(run(chains(problem, **options), 12), expected)


def test_a_chain_does_not_feel_the_others():
    problem = case()
    starts = np.stack([np.arange(40) % 3, np.zeros(40, np.int64)])
    both = run(BlockedChains(problem, starts, np.random.default_rng(1).spawn(2)), 10)
    for c in range(2):
        alone = run(BlockedChains(problem, starts[[c]], [np.random.default_rng(1).spawn(2)[c]]), 10)
        np.testing.assert_array_equal(alone[0][:, 0], both[0][:, c])
        assert alone[1][1]["log_joint"][0] == pytest.approx(both[1][1]["log_joint"][c], rel=1e-10)
    assert (both[0][:, 0] != both[0][:, 1]).any()


def test_snapshots_bring_back_every_bit():
    problem = case()
    made = chains(problem)
    for _ in range(5):
        made.sweep(adapt=True)
    snapshot = made.snapshot()
    expected = run(made, 6)
    for fresh in (made, chains(problem, seed=9)):
        fresh.restore(snapshot)
        found = run(fresh, 6)
        np.testing.assert_array_equal(found[0], expected[0])
        for one, other in zip(found[1], expected[1], strict=True):
            for name in other:
                np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_trust_holds_the_noise():
    made = chains(case())
    before = made.unknowns[0].noise
    made.sweep(freeze_noise=True)
    assert made.unknowns[0].noise is before
    made.sweep()
    assert made.unknowns[0].noise[0]["p"][0] != before[0]["p"][0]


def test_other_data_under_the_chains():
    """New answers and new rows are what the next sweep sees."""
    problem, other = case(seed=0), case(seed=1)
    made = chains(problem)
    made.put_data(other)
    made.put_labels(np.zeros((2, 40), np.int64))
    found = made.unknowns[0]
    expected = hard_statistics(other.family.components(), np.zeros(40, np.int64), 1)
    np.testing.assert_allclose(found.statistics[1], expected[1], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(
        found.counts[0], other.constraints[0].counts(np.zeros(40, np.int64))
    )


def test_views_without_answers_still_have_noise():
    problem = case(views=False)
    empty = PairwiseConstraints.from_lists([], [], n_items=40)
    made = chains(TVClustProblem(problem.family, (empty,)))
    before = made.unknowns[0].noise[0]["p"][0]
    made.sweep()
    assert made.layout.answered.shape[0] == 0
    assert made.unknowns[0].noise[0]["p"][0] != before


def test_many_clusters_need_many_slots():
    problem = case(views=False)
    made = chains(problem, start=np.tile(np.arange(40), (2, 1)))
    assert made.slots == 64
    for _ in range(30):
        made.sweep()
    assert made.slots >= max(len(chain.least) for chain in made.unknowns)


def test_separated_clusters_are_found_with_answers():
    rng = np.random.default_rng(3)
    truth = np.arange(300) % 3
    X = np.array([[0, 0], [9, 0], [0, 9]])[truth] + rng.normal(size=(300, 2))
    view = PairwiseConstraints.sample(truth, size=200, error_rate=0.1, seed=4)
    others = RelativeConstraints.sample(truth, size=50, seed=5)
    problem = TVClustProblem(FAMILIES["gaussian"]().bind(X), (view, others))
    start = np.stack([seeded_partition(X, number, rng) for number in (3, 6)])
    made = BlockedChains(problem, start, rng.spawn(2))
    for sweep in range(100):
        made.sweep(adapt=sweep < 100, freeze_noise=sweep < 50)
    for z in made.labels_of_items():
        assert ((z[:, None] == z) == (truth[:, None] == truth)).mean() > 0.99
