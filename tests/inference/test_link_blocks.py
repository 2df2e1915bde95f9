"""Link blocks: bonds with the right probability, and for each block the conditional that brute force gives."""

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.sites import compile_sites, stack_tables
from bayesclust.inference.collapsed import CollapsedChain, Moves, TVClustProblem
from bayesclust.inference.link_blocks import draw_blocks, draw_bonds, move_blocks
from bayesclust.models import log_joint
from bayesclust.models.families import FAMILIES, get_family

N = 7
P, Q = 0.9, 0.7


def views():
    links = PairwiseConstraints([(0, 1), (1, 2), (3, 4), (0, 5), (2, 3)], [True, True, True, False, True], n_items=N)
    triplets = RelativeConstraints([(0, 3, 6), (1, 2, 4), (5, 0, 1)], ["yes", "no", "dnk"], n_items=N)
    return links, triplets


def chain_for(name, rng, z):
    X = rng.poisson(3.0, size=(N, 3)) + 1.0 if name == "multinomial" else rng.normal(size=(N, 2))
    chain = CollapsedChain(TVClustProblem(get_family(name).bind(X), views()), np.array(z), rng, Moves())
    chain.noise = [{"p": np.array([P]), "q": np.array([Q])}, {"noise": np.array([0.2])}]
    chain.table = stack_tables(chain.problem.views, chain.noise)
    return chain


def test_bonds_join_satisfied_may_links_alone_and_as_often_as_they_should():
    rng, z, number = np.random.default_rng(0), np.array([0, 0, 0, 1, 2, 0, 0]), 20_000
    sites = compile_sites(views(), N)
    table = stack_tables(views(), [{"p": np.array([P]), "q": np.array([Q])}, {"noise": np.array([0.2])}])
    roots = np.array([draw_bonds(sites, table, z, rng) for _ in range(number)])
    together = roots[:, :, None] == roots[:, None, :]
    bonded = 1 - (1 - Q) / P
    exact = np.eye(N)
    for i, j, probability in ((0, 1, bonded), (1, 2, bonded), (0, 2, bonded**2)):
        exact[i, j] = exact[j, i] = probability
    assert np.abs(together.mean(axis=0) - exact).max() < 4.5 * np.sqrt(0.25 / number)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_block_is_drawn_from_its_conditional(name):
    """Frequencies of where a block goes against the joint over all its places, answers that drop out taken off."""
    z, number = [0, 0, 1, 1, 1, 2, 2], 4000
    rng = np.random.default_rng(5)
    chain = chain_for(name, rng, z)
    asked = chain.problem.views[0].items[chain.problem.views[0].answers == 1]
    may_links = PairwiseConstraints(asked, np.ones(len(asked), bool), n_items=N)
    block = np.array([0, 1])
    blocks = draw_blocks(chain.sites, chain.table, chain.seating.z, rng)._replace(
        items=np.r_[block, np.setdiff1d(np.arange(N), block)], begin=np.array([0]), end=np.array([2])
    )
    seen = {}
    for _ in range(number):
        chain._seat(np.array(z))
        move_blocks(
            chain.state, chain.seating, chain.sites, chain.table, np.log(chain.alpha), blocks, 0, np.zeros(1, np.int64), rng
        )
        labels = chain.seating.z
        place = next((int(z[j]) for j in range(2, N) if labels[j] == labels[0]), -1)
        seen[place] = seen.get(place, 0) + 1
    log_weights = {}
    for place in (1, 2, -1):
        moved = np.array(z)
        moved[block] = place if place >= 0 else 9
        value = log_joint(moved, chain.problem.family, views=chain.problem.views, alpha=chain.alpha, noise=chain.noise)
        log_weights[place] = value - may_links.log_prob(moved, chain.noise[0])
    total = logsumexp(list(log_weights.values()))
    for place, value in log_weights.items():
        exact = np.exp(value - total)
        error = np.sqrt(max(exact * (1 - exact), 1e-4) / number)
        assert abs(seen.get(place, 0) / number - exact) < 4.5 * error, (place, seen, exact)


@pytest.mark.parametrize("name", FAMILIES)
def test_moves_leave_clusters_as_a_refresh_would(name):
    rng = np.random.default_rng(2)
    chain = chain_for(name, rng, [0, 1, 2, 3, 4, 5, 6])
    for _ in range(20):
        chain._move_blocks()
        kept = chain.log_joint()
        labels = np.unique(chain.seating.z, return_inverse=True)[1]
        chain._seat(labels)
        assert chain.log_joint() == pytest.approx(kept, abs=1e-9)
