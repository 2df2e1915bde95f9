"""One sweep of single-site updates: the fast scan is the plain one, the plain one is the formula."""

import math

import numpy as np
import pytest
from scipy.special import softmax

from bayesclust.constraints import sites
from bayesclust.constraints.factor_graph import log_prob_touching, stack_tables
from bayesclust.families import FAMILIES
from bayesclust.inference import seating
from bayesclust.inference.collapsed import FAST_SCANS, CollapsedChain, Moves
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.scan import scan
from bayesclust.inference.scan_full import scan_full
from bayesclust.inference.seating import refresh
from tests.inference.states import STARTS, chain, check_seating, from_python
from tests.judges.cases import learned

add_site_logits, add_block_logits = (
    from_python(sites.add_site_logits),
    from_python(sites.add_block_logits),
)
draw_index = from_python(seating.draw_index)


def scanned(move, sampler, sweeps=3):
    """Labels after each of a few scans, capacity growing as it must."""
    path = []
    for _ in range(sweeps):
        refresh(sampler.state, sampler.seating)
        order, position = sampler.rng.permutation(sampler.problem.n_items), 0
        while position < len(order):
            position = move(
                sampler.state,
                sampler.seating,
                sampler.sites,
                sampler.table,
                math.log(sampler.alpha),
                order,
                position,
                sampler.moved,
                sampler.rng,
            )
            sampler._make_room(1)
        path.append(sampler.seating.place[sampler.seating.z])
        check_seating(sampler)
    return np.array(path), int(sampler.moved[0])


@pytest.mark.parametrize("views", [True, False], ids=["views", "no views"])
@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_fast_scan_draws_what_the_plain_one_draws(d, kind, views):
    total = 0
    for seed in range(12):
        first = chain(n=90, d=d, kind=kind, seed=seed, views=views, alpha=5.0)
        second = chain(n=90, d=d, kind=kind, seed=seed, views=views, alpha=5.0)
        (plain, moved), (fast, fast_moved) = scanned(scan, first), scanned(scan_full, second)
        np.testing.assert_array_equal(fast, plain)
        assert fast_moved == moved
        assert first.rng.bit_generator.state == second.rng.bit_generator.state
        total += moved
    assert total > 20


@pytest.mark.parametrize("move", [scan, scan_full])
def test_room_is_made_when_clusters_outgrow_the_slots(move):
    sampler = chain(n=80, kind="one", seed=3, alpha=500.0)
    capacity = len(sampler.seating.slots)
    path, _ = scanned(move, sampler)
    assert path[-1].max() + 1 > capacity
    assert len(sampler.seating.slots) > capacity


def exact_conditional(sampler, i):
    """p(z_i | rest) from whole partitions: CRP, plain marginals and `Constraints.log_prob`, the new cluster last."""
    z = sampler.seating.place[sampler.seating.z]
    others = np.unique(np.delete(z, i))
    rest = np.searchsorted(others, z)
    values = []
    for k in range(len(others) + 1):
        rest[i] = k
        sizes = np.bincount(rest)
        value = (sizes > 0).sum() * math.log(sampler.alpha) + sum(
            math.lgamma(size) for size in sizes if size
        )
        family = sampler.problem.family
        value += sum(
            family.log_marginal(family.X[rest == k], sampler.hyper) for k in np.unique(rest)
        )
        value += sum(
            v.log_prob(rest, noise)
            for v, noise in zip(sampler.problem.constraints, sampler.noise, strict=True)
        )
        values.append(value)
    return softmax(values), others


@pytest.mark.parametrize("name", FAMILIES)
def test_one_update_has_the_exact_conditional(name):
    """The item's new cluster, drawn often, against enumeration of where it can go."""
    fast = FAST_SCANS.get(type(chain(name, n=7).state), scan)
    for move in {scan, fast}:
        for i, kind in ((2, "random"), (0, "alone")):
            sampler = chain(name, n=7, kind=kind, seed=4)
            expected, others = exact_conditional(sampler, i)
            labels = sampler.seating.place[sampler.seating.z].copy()
            tally = np.zeros(len(expected))
            for _ in range(1500):
                sampler._seat(labels)
                move(
                    sampler.state,
                    sampler.seating,
                    sampler.sites,
                    sampler.table,
                    math.log(sampler.alpha),
                    np.array([i]),
                    0,
                    sampler.moved,
                    sampler.rng,
                )
                z = sampler.seating.z
                companions = np.flatnonzero((z == z[i]) & (np.arange(len(z)) != i))
                tally[
                    np.searchsorted(others, labels[companions[0]]) if len(companions) else -1
                ] += 1
            error = np.sqrt(expected * (1 - expected) / tally.sum())
            assert (np.abs(tally / tally.sum() - expected) < 4.5 * error + 3 / tally.sum()).all()


def test_site_logits_kernel_is_the_plain_twin(rng):
    for seed in range(10):
        sampler = chain(n=12, seed=seed)
        problem, z = sampler.problem, sampler.seating.z
        noises = [view.noise.sample_prior(view.n_sources, rng) for view in problem.constraints]
        table = stack_tables(problem.constraints, noises)
        number = int(z.max()) + 1
        for i in range(12):
            plain = sum(
                v.site_logits(z, i, number, noise)
                for v, noise in zip(problem.constraints, noises, strict=True)
            )
            placed, found = z.copy(), np.zeros(number + 1)
            placed[i] = -1
            add_site_logits(sampler.sites, table, placed, i, found)
            np.testing.assert_allclose(found, plain, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("bonded", [False, True])
def test_block_logits_kernel_is_what_the_answers_say_of_the_block_in_each_cluster(bonded, rng):
    touched = 0
    for seed in range(20):
        sampler = chain(n=12, seed=seed)
        views, z = sampler.problem.constraints, sampler.seating.z.copy()
        noises = [view.noise.sample_prior(view.n_sources, rng) for view in views]
        items = rng.choice(12, size=int(rng.integers(1, 5)), replace=False)
        number, plain = int(z.max()) + 1, []
        for k in range(number + 1):
            z[items], value = k, 0.0
            for view, noise in zip(views, noises, strict=True):
                tables = view.noise.log_table(noise)[view.codes]
                dropped = bonded & (view.items.shape[1] == 2) & (tables[:, 0] > tables[:, 1])
                value += np.where(
                    dropped, 0.0, tables[np.arange(len(view)), view.patterns(z)]
                ).sum()
            plain.append(value)
        z[items], found = -1, np.zeros(number + 1)
        add_block_logits(sampler.sites, stack_tables(views, noises), z, items, bonded, found)
        np.testing.assert_allclose(found, np.array(plain) - plain[-1], rtol=1e-10, atol=1e-10)
        touched += np.count_nonzero(found)
    assert touched > 40


def test_site_logits_pass_over_answers_about_unplaced_items():
    sampler = chain(n=12, seed=1)
    i, j = sampler.problem.constraints[0].items[0]
    z, found = sampler.seating.z.copy(), np.zeros(13)
    z[:] = -1
    add_site_logits(sampler.sites, sampler.table, z, i, found)
    assert not found.any()
    z[j] = 3
    add_site_logits(sampler.sites, sampler.table, z, i, found)
    assert found[3] != 0
    assert not np.delete(found, 3).any()


def test_log_prob_touching_is_brute_force(rng):
    for seed in range(20):
        sampler = chain(n=12, seed=seed)
        problem, z, mark = sampler.problem, sampler.seating.z, np.zeros(12, np.int64)
        noises = [view.noise.sample_prior(view.n_sources, rng) for view in problem.constraints]
        items = rng.choice(12, size=rng.integers(1, 13), replace=False)
        expected = 0.0
        for view, noise in zip(problem.constraints, noises, strict=True):
            rows = view.noise.log_table(noise)[view.codes, view.patterns(z)]
            expected += rows[np.isin(view.items, items).any(axis=1)].sum()
        found = log_prob_touching(
            sampler.sites, stack_tables(problem.constraints, noises), z, items, mark
        )
        assert found == pytest.approx(expected, rel=1e-10)
        assert not mark.any()


@pytest.mark.parametrize(
    "logits", [[0.0], [0.0, 1.0, -1.0], [-np.inf, 700.0, 701.0], [-900.0, -901.0, -1e300]]
)
def test_draw_index(logits, rng):
    logits = np.array(logits)
    expected = softmax(logits)
    padded = np.append(logits, 1e9)  # what lies beyond `number` is not read
    tally = np.bincount(
        [draw_index(padded, len(logits), rng) for _ in range(4000)], minlength=len(logits)
    )
    assert (
        np.abs(tally / 4000 - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / 4000) + 1e-12
    ).all()


@pytest.mark.parametrize("move", [scan, scan_full])
def test_far_items_and_ties_leave_finite_states(move):
    rng = np.random.default_rng(0)
    X = np.r_[np.zeros((30, 3)), rng.normal(size=(30, 3)), [[1e6, -1e6, 1e6]], [[1e12, 0, 0]]]
    family = learned(FAMILIES["gaussian"]).bind(X)
    for hyper in (family.initial_hyper(), np.array([prior.lower for prior in family.hyper_priors])):
        sampler = CollapsedChain(
            TVClustProblem(family), np.arange(62), np.random.default_rng(1), Moves()
        )
        sampler.hyper = hyper
        sampler._seat(np.arange(62))
        path, _ = scanned(move, sampler, sweeps=5)
        in_use = sampler.seating.slots[: sampler.seating.number[0]]
        assert np.isfinite(sampler.state.logdet[in_use]).all()
        assert path[-1][60] != path[-1][61]
