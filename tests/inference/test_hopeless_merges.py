"""Merges that are refused before anything is launched: the bound is the ratio itself, but for a probability at most 1."""

import math

import numpy as np
import pytest

from bayesclust.inference import joint_moves, split_merge, split_merge_shared
from bayesclust.inference.proposals import Proposal, decide, hopeless
from bayesclust.inference.schedule import Moves
from bayesclust.inference.two_level import splits
from bayesclust.inference.two_level.chain import TwoLevelChain, TwoLevelProblem
from bayesclust.models.priors import Concentration
from tests.inference.states import chain, start
from tests.inference.test_split_merge import plain_log_joint
from tests.judges import exact
from tests.judges.cases import partitions_drawn, problem


def apart(labels, rng):
    """Two items of different clusters."""
    while True:
        first, second = rng.choice(len(labels), 2, replace=False)
        if labels[first] != labels[second]:
            return int(first), int(second)


@pytest.mark.parametrize("seed", range(10))
def test_one_level(seed):
    sampler, rng = chain(n=14, seed=seed), np.random.default_rng(seed)
    answers = sampler.sites, sampler.table, math.log(sampler.alpha)
    first, second = apart(sampler.seating.z, rng)
    before = sampler.seating.z.copy()
    bound, items = split_merge.bound_merge(
        sampler.state, sampler.seating, *answers, first, second, rng
    )
    np.testing.assert_array_equal(sampler.seating.z, before)
    np.testing.assert_array_equal(
        np.sort(items), np.flatnonzero(np.isin(before, before[[first, second]]))
    )
    together = np.where(np.isin(before, before[[first, second]]), before[first], before)
    expected = plain_log_joint(sampler, together) - plain_log_joint(sampler, before)
    assert bound == pytest.approx(expected, rel=1e-9, abs=1e-8)
    for scans in (0, 1, 2):
        ratio, *_ = split_merge.propose_split_merge(
            sampler.state, sampler.seating, *answers, first, second, scans, rng
        )
        assert ratio <= bound + 1e-8
        sampler.seating.z[:] = before


def two_levels(seed):
    base, rng = problem("gaussian", n=14, seed=seed), np.random.default_rng(seed)
    case = TwoLevelProblem(
        base.family, base.constraints, Concentration(fixed=0.8), Concentration(fixed=1.3)
    )
    return TwoLevelChain(case, start("random", 14, rng), rng, Moves())


@pytest.mark.parametrize("seed", range(10))
def test_clusters_of_components(seed):
    sampler = two_levels(seed)
    levels, labels = sampler.levels, sampler.labels
    answers = levels, sampler.sites, sampler.table, sampler.log_alpha, sampler.log_beta
    first, second = apart(labels, sampler.rng)
    before, joint = labels.copy(), sampler.log_joint()
    bound, items = splits.bound_merge(*answers, first, second)
    np.testing.assert_array_equal(labels, before)
    ratio, items, left = splits.propose_clusters(
        sampler.seating, *answers, first, second, sampler.rng
    )
    assert ratio <= bound + 1e-8
    assert decide(levels.clusters, Proposal(ratio, items, left), -math.inf)
    levels.owner[sampler.seating.z[items]] = labels[items]
    assert labels[first] == labels[second]
    assert bound == pytest.approx(sampler.log_joint() - joint, rel=1e-9, abs=1e-8)


def test_what_the_noise_gains_counts(rng):
    seating = chain(n=14, seed=0).seating
    first, second = apart(seating.z, rng)
    items, before = np.flatnonzero(np.isin(seating.z, seating.z[[first, second]])), seating.z.copy()

    def gain(z):
        assert len(set(z[items])) == 1
        return 2.0

    assert hopeless(seating, -3.0, items, -1.5)
    assert hopeless(seating, -3.0, items, -0.5, gain)
    assert not hopeless(seating, -3.0, items, -1.5, gain)
    np.testing.assert_array_equal(seating.z, before)


@pytest.mark.parametrize(
    ("family", "module"),
    [("gaussian", split_merge), ("gaussian_tied", split_merge_shared)],
    ids=["own", "shared"],
)
def test_refusals_that_come_too_early_are_noticed(family, module, monkeypatch):
    monkeypatch.setattr(
        module, "hopeless", lambda seating, bound, *rest: hopeless(seating, bound - 1.0, *rest)
    )
    monkeypatch.setattr(
        joint_moves, "stack_dirichlets", lambda views: None
    )  # what compiled code decides is not asked here
    case = problem(family, n=6, seed=2)
    draws = partitions_drawn(
        case, Moves(split_merge=4.0, link_blocks=False, single_site=False), 6000, 2
    )
    assert not exact.compare(
        draws, *exact.log_posterior(case.family, case.constraints, case.concentration)
    ).agrees
