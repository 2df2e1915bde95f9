"""The model at gamma: its log joint becomes the limit's objective, and its sweeps become the limit's sweeps."""

import copy

import numpy as np
import pytest
from scipy.special import logsumexp

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.collapsed import CollapsedChain
from bayesclust.inference.gibbs import GibbsChain
from bayesclust.inference.limits.bridge import PathModel, first_gamma, path_divergence, value
from bayesclust.inference.limits.divergences import SquaredEuclidean
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.rdp_means import Problem, means, new_slots, visit
from bayesclust.inference.schedule import Moves
from bayesclust.posterior.labels import canonical
from tests.inference.limits.paths import joint, random_case, random_labels
from tests.inference.limits.twins import at_means
from tests.judges import exact
from tests.judges.cases import CHAINS, partitions_drawn

ITEM_BY_ITEM = Moves(link_blocks=False, split_merge=0.0)
names = pytest.mark.parametrize("name", ["euclidean", "kl"])


@names
def test_log_joint_over_gamma_is_the_objective(rng, name):
    """To 1e-3 at large gamma, and ten times nearer at ten times the gamma; partitions of any size, links of both kinds."""
    worst = {}
    for weight in (1e5, 1e6):
        again = copy.deepcopy(rng)
        errors = []
        for _ in range(20):
            n = int(again.integers(3, 15))
            problem, pairs, same, xi, model = random_case(again, name, n, weight)
            for _ in range(5):
                z = random_labels(again, n)
                J = at_means(name, problem.points, z, pairs, same, xi, problem.penalty)
                errors.append(abs(model.energy(joint(model, z)) - J) / abs(J))
        worst[weight] = max(errors)
    assert worst[1e5] < 1e-3
    assert worst[1e6] < 0.2 * worst[1e5]


def test_remainder_of_gaussians_by_its_formula(rng):
    """What is left is known in full at any gamma, and no logarithm of gamma is in it."""
    for weight in (0.3, 3.0, 300.0):
        problem, *_, xi, model = random_case(rng, "euclidean", 9, weight)
        family, gamma = model.problem.family, model.gamma
        d, spread = problem.points.shape[1], 2 * gamma * family.variance
        own = d / 2 * np.log(1 + spread) + gamma * np.square(family.X).sum(axis=1).mean() / (1 + spread)
        for _ in range(5):
            z, rest = random_labels(rng, 9), 0.0
            for k in range(z.max() + 1):
                members = family.X[z == k]
                n, centre = len(members), members.mean(axis=0)
                rest += d / 2 * np.log(1 + spread * n) + gamma * n * centre @ centre / (1 + spread * n) - own
                rest -= np.log(np.arange(1, n)).sum()
            rest += np.log1p(np.exp(own - gamma * problem.penalty) / np.arange(1, 9)).sum()
            expected = value(problem, z, xi) + rest / gamma
            assert model.energy(joint(model, z)) == pytest.approx(expected, rel=1e-9)


def test_remainder_goes_as_one_over_gamma(rng):
    problem, *_ = random_case(rng, "kl", 9, 3.0)
    problem = problem._replace(graph=link_graph([], 9))
    z, gaps = random_labels(rng, 9), []
    for gamma in (1e4, 2e4):
        model = PathModel.at(gamma, problem.points, problem.divergence, problem.penalty, (0.0, 0.0))
        gaps.append(model.energy(joint(model, z)) - value(problem, z, (0.0, 0.0)))
    assert gaps[0] / gaps[1] == pytest.approx(2.0, rel=0.05)


@names
def test_a_cluster_of_its_own_costs_the_penalty(rng, name):
    """On average over the items at any gamma, and each of them in the limit."""
    for weight in (0.5, 20.0, 1e8):
        problem, *_, model = random_case(rng, name, 8, weight)
        family = model.problem.family
        marginals = [family.log_marginal(family.X[i : i + 1], family.initial_hyper()) for i in range(8)]
        alone = np.array(marginals) + family.row_constants(family.X) - family.log_peaks(family.X)
        costs = -(model.problem.concentration.log_fixed + alone) / model.gamma
        assert costs.mean() == pytest.approx(problem.penalty, rel=1e-9)
    np.testing.assert_allclose(costs, problem.penalty, rtol=1e-6)


@names
def test_peaks_are_the_largest_densities(rng, name):
    problem, *_, model = random_case(rng, name, 6, 40.0)
    family = model.problem.family
    components = family.components()
    # parameters at the items themselves: those of an endless number of copies
    copies = tuple(1e9 * part for part in components.statistics(np, components.rows, np.eye(6)))
    at_items = components.log_density(np, components.rows, components.expected(copies, family.initial_hyper()))
    at_items += family.row_constants(family.X)[:, None]
    np.testing.assert_allclose(np.diag(at_items), family.log_peaks(family.X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        np.diag(at_items)[:, None] - at_items,
        model.gamma * problem.divergence.between(problem.points, problem.points),
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip


class InOrder(np.random.Generator):
    """Visits items in a given order."""

    order: np.ndarray

    def permutation(self, n):
        return self.order


def swept(chain_type, model, z, order, seed):
    """Partition after one sweep over the items in that order."""
    rng = InOrder(np.random.PCG64(seed))
    rng.order = order
    chain = chain_type(model.problem, z.copy(), rng, ITEM_BY_ITEM)
    chain.sweep()
    return canonical(chain.seating.z[None])[0].tolist()


def passed(problem, pairs, same, z, order, xi):
    """Partition after one pass of RDP-means over the items in that order."""
    _, centers = means(problem.points, z)
    graph = link_graph([PairwiseConstraints(np.argsort(order)[pairs], same, n_items=len(z))], len(z))
    walked = problem._replace(points=problem.points[order], phi=problem.phi[order], graph=graph)
    slots, _ = visit(walked, new_slots(walked, z[order], centers), xi, 0.0)
    back = np.empty_like(z)
    back[order] = slots.z
    return canonical(back[None])[0].tolist()


def one_by_one(name, problem, pairs, same, z, order, xi):
    """Partition after each item in turn went where J, centres at their best, is least."""
    z, new = z.copy(), len(z)
    for i in order:
        others = np.delete(z, i)
        choices = [*np.unique(others).tolist(), new]
        costs = []
        for k in choices:
            z[i] = k
            costs.append(at_means(name, problem.points, z, pairs, same, xi, problem.penalty))
        z[i] = choices[int(np.argmin(costs))]
        z = np.unique(z, return_inverse=True)[1]
    return canonical(z[None])[0].tolist()


@names
def test_at_large_gamma_sweeps_are_those_of_the_limit(rng, name):
    """Means drawn: the pass of RDP-means. Means integrated out: descent on J itself. From the same states, in one order."""
    moved = differ = 0
    for seed in range(40):
        n = int(rng.integers(4, 14))
        problem, pairs, same, xi, model = random_case(rng, name, n, 1e10)
        z, order = random_labels(rng, n), rng.permutation(n)
        by_pass = passed(problem, pairs, same, z, order, xi)
        by_descent = one_by_one(name, problem, pairs, same, z, order, xi)
        assert swept(GibbsChain, model, z, order, seed) == by_pass
        assert swept(CollapsedChain, model, z, order, seed) == by_descent
        moved += by_pass != canonical(z[None])[0].tolist()
        differ += by_pass != by_descent
    assert moved > 30
    assert differ > 5, "the two limits are not told apart"


@names
@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_posterior_at_moderate_gamma_by_enumeration(name, weight):
    """All partitions of 6 items, with links: both samplers, with all the moves they have."""
    cases = (random_case(np.random.default_rng(seed), name, 6, weight).model.problem for seed in range(9))
    case = next(case for case in cases if min(np.bincount(case.views[0].answers, minlength=2)) > 1)
    states, values = exact.log_posterior(case.family, case.views, case.concentration)
    for chain_type in CHAINS.values():
        moves = Moves.default(6) if chain_type is CollapsedChain else chain_type.default_moves(6)
        result = exact.compare(partitions_drawn(case, moves, 6000, 1, chain_type=chain_type), states, values)
        assert result.agrees, (chain_type, result)
        assert result.number > 5


@names
def test_all_mass_goes_to_the_least_objective(rng, name):
    """Over all partitions of 6 items: the posterior mass of argmin J tends to one."""
    for _ in range(2):
        problem, pairs, same, xi, _ = random_case(rng, name, 6, 1.0)
        states = exact.partitions(6)
        J = np.array([at_means(name, problem.points, z, pairs, same, xi, problem.penalty) for z in states])
        links = PairwiseConstraints(pairs, same, n_items=6)
        mass = []
        for weight in (1.0, 1e3, 1e9):
            model = PathModel.at(
                weight / problem.penalty, problem.points, problem.divergence, problem.penalty, xi, [links]
            )
            log_joints = np.array([joint(model, z) for z in states])
            mass.append(np.exp(log_joints[J.argmin()] - logsumexp(log_joints)))
        assert mass[0] < 0.9
        assert mass[-1] > 1 - 1e-9


def test_the_first_gamma_has_one_cluster_as_wide_as_the_items(rng):
    X = rng.normal(size=(500, 3)) * 4.0
    problem = Problem.of(X, SquaredEuclidean(), link_graph([], 500), 1.0)
    assert 1 / (2 * first_gamma(problem)) == pytest.approx(X.var(axis=0).mean())
    same = Problem.of(np.ones((4, 2)), SquaredEuclidean(), link_graph([], 4), 1.0)
    assert first_gamma(same) == 1.0


def test_a_divergence_without_a_model_is_refused():
    class Other(SquaredEuclidean):
        pass

    with pytest.raises(ValueError, match=r'no model at gamma is known for the divergence .*: choose "euclidean" or "kl"'):
        path_divergence(Other())
