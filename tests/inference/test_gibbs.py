"""The sampler with parameters in hand: its seating kernel against the formula, and the chain around it."""

import numpy as np
import pytest
from scipy.special import softmax

import bayesclust as bc
from bayesclust.families import FAMILIES
from bayesclust.inference import gibbs
from bayesclust.inference.collapsed import CollapsedChain, Moves
from bayesclust.inference.gibbs import GibbsChain
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.scan_given import NONE_OPENED, prior_predictive, scan_given
from bayesclust.inference.snapshots import from_text, to_text
from tests.inference.states import STARTS, chain, check_seating
from tests.judges.cases import learned


def drawing(name="gaussian", *, moves=None, alpha=1.0, **where):
    """A chain that draws the parameters, where `states.chain` would put a collapsed one."""
    other = chain(name, alpha=alpha, **where)
    moves = GibbsChain.default_moves(other.problem.n_items) if moves is None else moves
    return GibbsChain(other.problem, other.seating.z.copy(), np.random.default_rng(5), moves)


@pytest.mark.parametrize("kind", ["random", "alone", "one"])
def test_seating_has_the_conditional_given_the_likelihoods(kind, rng):
    """One item's cluster, drawn often, against CRP, likelihood table and whole `Constraints.log_prob`."""
    n, i, alpha = 7, 3, 1.3
    sampler = drawing(n=n, kind=kind, seed=4)
    start = sampler.seating.z.copy()
    capacity = len(sampler.seating.slots)
    density, log_new = rng.normal(size=(1, capacity)), np.log(alpha) + rng.normal(size=1)
    others = np.unique(np.delete(start, i))
    values, rest = [], start.copy()
    for k in [*others, capacity]:
        rest[i] = k
        size = (np.delete(start, i) == k).sum()
        value = log_new[0] if k == capacity else np.log(size) + density[0, k]
        views = zip(sampler.problem.constraints, sampler.noise, strict=True)
        values.append(value + sum(view.log_prob(rest, noise) for view, noise in views))
    tally, moved = np.zeros(len(values)), np.zeros(1, np.int64)
    for _ in range(4000):
        sampler._seat(start)
        count = np.bincount(start, minlength=capacity)
        position, opened = scan_given(
            sampler.seating,
            sampler.sites,
            sampler.table,
            count,
            density,
            log_new,
            np.array([i]),
            0,
            moved,
            rng,
        )
        z = sampler.seating.z
        assert position == 1
        np.testing.assert_array_equal(count, np.bincount(z, minlength=capacity))
        assert set(sampler.seating.slots[: sampler.seating.number[0]]) == set(z)
        new = z[i] not in others
        assert (opened == z[i]) == (new and start[i] in others)
        assert opened in (NONE_OPENED, z[i])
        tally[-1 if new else np.searchsorted(others, z[i])] += 1
    expected = softmax(values)
    error = np.sqrt(expected * (1 - expected) / tally.sum())
    assert (np.abs(tally / tally.sum() - expected) < 4.5 * error + 3 / tally.sum()).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_prior_predictive_is_the_marginal_of_one_item(name):
    sampler = drawing(name, n=9, seed=1)
    family = sampler.problem.family
    for hyper in (sampler.hyper, family.sample_hyper(np.random.default_rng(0))):
        sampler.hyper = hyper
        sampler._seat(sampler.seating.z)
        expected = [family.log_marginal(family.X[i : i + 1], hyper) for i in range(9)]
        np.testing.assert_allclose(
            prior_predictive(sampler.state, 9), expected, rtol=1e-9, atol=1e-9
        )
        np.testing.assert_array_equal(
            sampler._prior_predictive(), prior_predictive(sampler.state, 9)
        )


@pytest.mark.parametrize(
    "moves", [None, Moves(split_merge=3.0), Moves(split_merge=3.0, single_site=False)], ids=str
)
@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("name", FAMILIES)
def test_seats_are_in_order_after_every_sweep(name, kind, moves):
    sampler = drawing(name, n=30, kind=kind, seed=1, moves=moves)
    for sweep in range(15):
        sampler.sweep(adapt=sweep < 8, trust=sweep < 4)
        check_seating(sampler)


def test_room_is_made_when_clusters_outgrow_the_slots():
    sampler = drawing(n=80, kind="one", seed=3, alpha=500.0)
    capacity = len(sampler.seating.slots)
    sampler.sweep()
    assert sampler.seating.number[0] > capacity
    check_seating(sampler)
    sampler.sweep()
    check_seating(sampler)


@pytest.mark.parametrize("name", FAMILIES)
def test_chunks_do_not_change_the_draws(name, monkeypatch):
    paths = []
    for least in (256, 7):
        monkeypatch.setattr(gibbs, "CHUNK", 1)
        monkeypatch.setattr(gibbs, "LEAST_CHUNK", least)
        sampler, path = drawing(name, n=40, kind="one", seed=6, alpha=4.0), []
        for _ in range(5):
            sampler.sweep()
            path.append(sampler.seating.place[sampler.seating.z])
        paths.append(np.array(path))
    np.testing.assert_array_equal(paths[0], paths[1])
    assert paths[0].max() > 1


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_speak_of_the_same_posterior(name):
    sampler = drawing(name, n=20, seed=2)
    for _ in range(5):
        sampler.sweep(adapt=True)
    variables, statistics = sampler.draw()
    other = CollapsedChain(
        sampler.problem, sampler.seating.place[sampler.seating.z], np.random.default_rng(0), Moves()
    )
    other.alpha, other.hyper, other.noise = sampler.alpha, sampler.hyper, sampler.noise
    other._seat(sampler.seating.place[sampler.seating.z])
    assert statistics["log_joint"] == pytest.approx(other.log_joint(), rel=1e-9)
    assert variables.keys() == other.draw()[0].keys()
    assert statistics.keys() == other.draw()[1].keys()
    assert np.isnan(statistics["blocks_moved"])
    assert np.isnan(statistics["split_merge_accept"])


@pytest.mark.parametrize("moves", [None, Moves(split_merge=3.0)], ids=str)
def test_a_restored_chain_goes_on_to_the_last_bit(moves):
    first, second = (
        drawing(n=25, seed=3, alpha=2.0, moves=moves),
        drawing(n=25, seed=3, alpha=2.0, moves=moves),
    )
    for _ in range(20):
        first.sweep(adapt=True)
    second.restore(from_text(to_text(first.snapshot())))
    for _ in range(20):
        first.sweep()
        second.sweep()
        for one, other in zip(first.draw(), second.draw(), strict=True):
            assert one.keys() == other.keys()
            for name, value in one.items():
                np.testing.assert_array_equal(other[name], value, err_msg=name)


def test_items_far_away_leave_finite_states():
    rng = np.random.default_rng(0)
    X = np.r_[np.zeros((30, 3)), rng.normal(size=(30, 3)), [[1e6, -1e6, 1e6]], [[1e12, 0, 0]]]
    problem = TVClustProblem(learned(FAMILIES["gaussian"]).bind(X))
    sampler = GibbsChain(
        problem, np.arange(62), np.random.default_rng(1), GibbsChain.default_moves(62)
    )
    for _ in range(20):
        sampler.sweep(adapt=True)
        assert np.isfinite(sampler.log_joint())
    assert sampler.seating.z[60] != sampler.seating.z[61]


def test_estimator_draws_with_the_named_sampler(rng):
    X = np.r_[rng.normal(0, 1, (20, 2)), rng.normal(8, 1, (20, 2))]
    links = bc.PairwiseConstraints.from_lists(must_link=[(0, 1)], cannot_link=[(0, 39)], n_items=40)
    est = bc.TVClust(
        "gibbs", num_chains=2, num_warmup=100, num_samples=50, random_state=0, progress=False
    )
    est.fit(X, constraints=links)
    assert est.n_clusters_ == 2
    assert np.isnan(est.posterior_["sample_stats"]["split_merge_accept"].values).all()
