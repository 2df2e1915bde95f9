"""The two-level model at gamma: its log joint becomes J on two levels, and its sweeps become descents on J."""

import copy

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.inference.chain import Moves
from bayesclust.inference.limits.bridge import PathModel
from bayesclust.inference.limits.rdp_means import Schedule
from bayesclust.inference.limits.search import search
from bayesclust.inference.limits.two_level.descent import steps
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.inference.two_level.moves import TwoLevelScan
from bayesclust.inference.two_level.state import new_levels
from bayesclust.models.joint import log_data
from bayesclust.partition_priors import nested_log_prob
from tests.inference.limits.paths import random_case
from tests.inference.limits.test_bridge import InOrder
from tests.inference.limits.two_level.states import SHARES, nested_partitions, random_state, same

kinds = pytest.mark.parametrize("triplets", [False, True], ids=["links", "triplets too"])
each = pytest.mark.parametrize("name", ["euclidean", "kl", "poisson"])


def posed(rng, name, n, weight, triplets=False):
    """A random problem, lambda, and J by its definition."""
    case = random_case(rng, name, n, weight, triplets=triplets)
    price = float(rng.choice(SHARES)) * case.problem.penalty

    def J(components, clusters):
        # J of plain clusters has divergences, answers and penalties of the same labels
        return (
            case.J(components)
            - answers(components)
            + answers(clusters)
            + price * len(np.unique(clusters))
        )

    def answers(z):
        return case.problem.graph.inside(np.asarray(z), case.xi)

    return case, price, J


def at(case, price, weight):
    points, _, divergence, _, within = case.problem
    return PathModel.at(
        weight / within, points, divergence, price, case.confidence, case.constraints, within
    )


def joint(model, components, clusters):
    """The plain log joint of a state at gamma."""
    case = model.problem
    priors = case.partition_prior, case.within
    values = [prior.initial() for prior in priors]
    total = nested_log_prob(components, clusters, *priors, *values)
    members = [np.flatnonzero(components == k) for k in np.unique(components)]
    total += log_data(members, case.family, case.family.initial_hyper())
    return total + sum(
        view.log_prob(clusters, view.noise.initial(view.n_sources)) for view in case.constraints
    )


@kinds
@each
def test_log_joint_over_gamma_is_the_objective(rng, name, triplets):
    """To 1e-3 at large gamma, and ten times nearer at ten times the gamma; lambda of either sign."""
    worst = {}
    for weight in (1e5, 1e6):
        again, errors = copy.deepcopy(rng), []
        for _ in range(10):
            n = int(again.integers(3, 13))
            case, price, J = posed(again, name, n, weight, triplets)
            model = at(case, price, weight)
            for _ in range(5):
                c, owner = random_state(again, n)
                expected = J(c, owner[c])
                scale = abs(expected) + case.problem.penalty
                errors.append(abs(model.energy(joint(model, c, owner[c])) - expected) / scale)
        worst[weight] = max(errors)
    assert worst[1e5] < 1e-3
    assert worst[1e6] < 0.2 * worst[1e5]


def item_by_item(problem, z, rng, moves):
    """Its sweeps move single items alone."""
    chain = collapsed_chain(problem, z, rng, moves)
    for move in chain.moves:
        if isinstance(move, TwoLevelScan):
            move.move_components = False
    return chain


def chain_at(chain_type, model, c, owner, rng, moves):
    """A chain that stands at given components and clusters."""
    chain = chain_type(model.problem, c, rng, moves)
    state = chain.state
    state.levels = new_levels(c, owner[c], len(state.assignment.slots))
    state.assign(c)
    return chain


def one_by_one(J, c, z, order):
    """State after each item in turn went where J, centres at their best, is least; None where two places are as good."""
    c, z = c.copy(), z.copy()
    for i in order:
        rest = [j for j in range(len(c)) if j != i]
        new = int(max(c.max(), z.max())) + 1
        choices = sorted(
            {*((int(c[j]), int(z[j])) for j in rest), *((new, int(z[j])) for j in rest), (new, new)}
        )
        costs = []
        for c[i], z[i] in choices:
            costs.append(J(c, z))
        first, second = np.argsort(costs)[:2]
        if costs[second] - costs[first] < 1e-6 * (1 + abs(costs[first])):
            return None
        c[i], z[i] = choices[first]
    return c, z


@kinds
@each
def test_at_large_gamma_sweeps_over_items_are_those_of_the_limit(rng, name, triplets):
    moved = 0
    for seed in range(60):
        n = int(rng.integers(4, 9))
        case, price, J = posed(rng, name, n, 1e10, triplets)
        model, (c, owner), order = at(case, price, 1e10), random_state(rng, n), rng.permutation(n)
        expected = one_by_one(J, c, owner[c], order)
        if expected is None:
            continue
        generator = InOrder(np.random.PCG64(seed))
        generator.order = order
        chain = chain_at(
            item_by_item, model, c, owner, generator, Moves(link_blocks=False, split_merge=0.0)
        )
        chain.sweep()
        assert same((chain.state.assignment.z, chain.labels), expected)
        moved += not same(expected, (c, owner[c]))
    assert moved > 8


@kinds
def test_all_mass_goes_to_the_least_objective(rng, triplets):
    """Over all states of 5 items: the posterior mass of those of least J tends to one."""
    case, price, J = posed(rng, "euclidean", 5, 1.0, triplets)
    states = nested_partitions(5)
    values = np.array([J(c, z) for c, z in states])
    least = values <= values.min() + 1e-9 * (1 + abs(values.min()))
    mass = []
    for weight in (1.0, 1e3, 1e9):
        log_joints = np.array([joint(at(case, price, weight), c, z) for c, z in states])
        mass.append(np.exp(logsumexp(log_joints[least]) - logsumexp(log_joints)))
    assert mass[0] < 0.9
    assert mass[-1] > 1 - 1e-9


def annealed(case, price, rng):
    """Components and clusters of a chain that came from small gamma, and the chain."""
    c, owner = random_state(rng, 5)
    for weight in np.geomspace(1.0, 1e6, 10):
        chain = chain_at(
            collapsed_chain, at(case, price, weight), c, owner, rng, Moves(split_merge=3.0)
        )
        for _ in range(25):
            chain.sweep()
        c, labels = (
            np.unique(chain.state.assignment.z, return_inverse=True)[1],
            np.unique(chain.labels, return_inverse=True)[1],
        )
        owner = labels[np.unique(c, return_index=True)[1]]
    return c, labels, chain


@pytest.mark.parametrize("name", ["euclidean", "kl"])
def test_the_path_arrives_at_the_least_objective(rng, name):
    """Of a few chains that come from small gamma one ends where enumeration and the search do; their energy is J."""
    for _ in range(2):
        case, price, J = posed(rng, name, 5, 1.0)
        least = min(J(c, z) for c, z in nested_partitions(5))
        end = search(case.problem, Schedule(case.xi), n_init=20, rng=rng, steps=steps(price))
        assert end.objective == pytest.approx(least, rel=1e-9)
        found = False
        for _ in range(8):
            c, z, chain = annealed(case, price, rng)
            _, statistics = chain.draw()
            energy = at(case, price, 1e6).energy(statistics["log_joint"])
            assert energy == pytest.approx(J(c, z), rel=1e-3, abs=1e-3 * case.problem.penalty)
            assert chain.problem.within.log_fixed < -1e5
            found = J(c, z) == pytest.approx(least, rel=1e-9)
            if found:
                break
        assert found
