"""The model at gamma: its log joint becomes the limit's objective, and its sweeps become the limit's sweeps."""

import copy

import numpy as np
import pytest
from scipy.special import logsumexp

import bayesclust as bc
from bayesclust.families import as_divergence
from bayesclust.families.squared_distance import SquaredEuclidean
from bayesclust.inference.chain import Moves
from bayesclust.inference.limits.bridge import (
    PathModel,
    first_gamma,
    path_divergence,
    pose_answers,
    value,
)
from bayesclust.inference.limits.links import link_graph
from bayesclust.inference.limits.rdp_means import Problem, means, new_slots, visit
from bayesclust.inference.samplers import SAMPLERS, collapsed_chain, default_moves, gibbs_chain
from bayesclust.posterior.tree import canonical
from tests.exactness import exact
from tests.exactness.cases import partitions_drawn
from tests.inference.limits.paths import at_weight, joint, random_case, random_labels
from tests.inference.limits.reference import PRODUCT

ITEM_BY_ITEM = Moves(link_blocks=False, split_merge=0.0)
NAMES = [
    "euclidean",
    "kl",
    "mahalanobis",
    "standardized",
    "poisson",
    "bernoulli",
    "categorical",
    "categorical with holes",
]
each = pytest.mark.parametrize("name", NAMES)
kinds = pytest.mark.parametrize("triplets", [False, True], ids=["links", "triplets too"])


@kinds
@each
def test_log_joint_over_gamma_is_the_objective(rng, name, triplets):
    """To 1e-3 at large gamma, and ten times nearer at ten times the gamma; partitions of any size, answers of all kinds."""
    worst = {}
    for weight in (1e5, 1e6):
        again = copy.deepcopy(rng)
        errors = []
        for _ in range(10):
            n = int(again.integers(3, 15))
            case = random_case(again, name, n, weight, triplets=triplets)
            for _ in range(5):
                z = random_labels(again, n)
                # relative to what J adds up, as the sum itself may be near zero
                scale = abs(case.J(z)) + case.problem.penalty
                errors.append(abs(case.model.energy(joint(case.model, z)) - case.J(z)) / scale)
        worst[weight] = max(errors)
    assert worst[1e5] < 1e-3
    assert worst[1e6] < 0.2 * worst[1e5]


def test_remainder_of_gaussians_by_its_formula(rng):
    """What is left is known in full at any gamma, and no logarithm of gamma is in it."""
    for weight in (0.3, 3.0, 300.0):
        case = random_case(rng, "euclidean", 9, weight)
        family, gamma = case.model.problem.family, case.model.gamma
        X = family.X / np.sqrt(2 * gamma)
        d, spread = X.shape[1], 2 * gamma * family.variance
        own = d / 2 * np.log(1 + spread) + gamma * np.square(X).sum(axis=1).mean() / (1 + spread)
        for _ in range(5):
            z, rest = random_labels(rng, 9), 0.0
            for k in range(z.max() + 1):
                members = X[z == k]
                n, centre = len(members), members.mean(axis=0)
                rest += (
                    d / 2 * np.log(1 + spread * n)
                    + gamma * n * centre @ centre / (1 + spread * n)
                    - own
                )
                rest -= np.log(np.arange(1, n)).sum()
            rest += np.log1p(np.exp(own - gamma * case.problem.penalty) / np.arange(1, 9)).sum()
            assert case.model.energy(joint(case.model, z)) == pytest.approx(
                case.J(z) + rest / gamma, rel=1e-9
            )


@each
def test_a_cluster_of_its_own_costs_the_penalty(rng, name):
    """On average over the items at any gamma, and each of them in the limit."""
    for weight in (0.5, 20.0, 1e8):
        case = random_case(rng, name, 8, weight)
        family = case.model.problem.family
        marginals = [
            family.log_marginal(family.X[i : i + 1], family.initial_hyper()) for i in range(8)
        ]
        peaks = case.problem.divergence.log_peaks(case.problem.points, case.model.gamma)
        alone = np.array(marginals) + family.row_constants(family.X) - peaks
        costs = -(case.model.problem.partition_prior.log_fixed + alone) / case.model.gamma
        assert costs.mean() == pytest.approx(case.problem.penalty, rel=1e-8)
    np.testing.assert_allclose(costs, case.problem.penalty, rtol=1e-5)


@each
def test_an_item_at_another_costs_their_divergence(rng, name):
    case = random_case(rng, name, 6, 40.0)
    family, points = case.model.problem.family, case.problem.points
    components = family.components()
    # parameters at the items themselves: those of an endless number of copies
    copies = tuple(1e9 * part for part in components.statistics(np, components.rows, np.eye(6)))
    density = components.log_density(
        np, components.rows, components.expected(copies, family.initial_hyper())
    )
    density += family.row_constants(family.X)[:, None]
    peaks = case.problem.divergence.log_peaks(points, case.model.gamma)
    costs = (peaks[:, None] - density) / case.model.gamma
    between = case.problem.divergence.between(points, points)
    # of a cell that the other item has not, the copies say nothing
    told = (
        np.ones((6, 6), dtype=bool) if "holes" not in name else (points > 0) @ (points == 0).T == 0
    )
    assert told.sum() >= 6
    np.testing.assert_allclose(costs[told], between[told], rtol=1e-5, atol=1e-6)


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
    return canonical(chain.state.assignment.z[None])[0].tolist()


def passed(case, z, order):
    """Partition after one pass of RDP-means over the items in that order."""
    problem = case.problem
    _, centers = means(problem.points, z)
    graph = problem.graph.reordered(order)
    walked = problem._replace(points=problem.points[order], phi=problem.phi[order], graph=graph)
    slots, _ = visit(walked, new_slots(walked, z[order], centers), case.xi, 0.0)
    back = np.empty_like(z)
    back[order] = slots.z
    return canonical(back[None])[0].tolist()


def one_by_one(case, z, order):
    """Partition after each item in turn went where J, centres at their best, is least."""
    z, new = z.copy(), len(z)
    for i in order:
        choices, costs = [*np.unique(np.delete(z, i)).tolist(), new], []
        for k in choices:
            z[i] = k
            costs.append(case.J(z))
        z[i] = choices[int(np.argmin(costs))]
        z = np.unique(z, return_inverse=True)[1]
    return canonical(z[None])[0].tolist()


@kinds
@pytest.mark.parametrize("name", ["euclidean", "kl", "poisson"])
def test_at_large_gamma_sweeps_are_those_of_the_limit(rng, name, triplets):
    """Means drawn: the pass of RDP-means. Means integrated out: descent on J itself. From the same states, in one order."""
    moved = differ = 0
    for seed in range(30):
        n = int(rng.integers(4, 14))
        case = random_case(rng, name, n, 1e10, triplets=triplets)
        z, order = random_labels(rng, n), rng.permutation(n)
        by_pass, by_descent = passed(case, z, order), one_by_one(case, z, order)
        assert swept(gibbs_chain, case.model, z, order, seed) == by_pass
        assert swept(collapsed_chain, case.model, z, order, seed) == by_descent
        moved += by_pass != canonical(z[None])[0].tolist()
        differ += by_pass != by_descent
    assert moved > 20
    assert differ > 2, "the two limits are not told apart"


@pytest.mark.parametrize(
    ("name", "weight", "triplets"),
    [
        ("euclidean", 0.5, False),
        ("euclidean", 2.0, True),
        ("kl", 0.5, True),
        ("poisson", 1.0, False),
    ],
)
def test_posterior_at_moderate_gamma_by_enumeration(name, weight, triplets):
    """All partitions of 6 items, with answers: both samplers, with all the moves they have."""
    seeds = (np.random.default_rng(seed) for seed in range(9))
    cases = (random_case(rng, name, 6, weight, triplets=triplets).model.problem for rng in seeds)
    case = next(
        case for case in cases if min(np.bincount(case.constraints[0].answers, minlength=2)) > 1
    )
    states, values = exact.log_posterior(case.family, case.constraints, case.partition_prior)
    for chain_type in SAMPLERS.values():
        drawn = partitions_drawn(case, default_moves(chain_type, 6), 6000, 1, sampler=chain_type)
        result = exact.compare(drawn, states, values)
        assert result.agrees, (chain_type, result)
        assert result.number > 5


@kinds
@pytest.mark.parametrize("name", ["euclidean", "kl"])
def test_all_mass_goes_to_the_least_objective(rng, name, triplets):
    """Over all partitions of 6 items: the posterior mass of argmin J tends to one."""
    case = random_case(rng, name, 6, 1.0, triplets=triplets)
    states = exact.partitions(6)
    J = np.array([case.J(z) for z in states])
    mass = []
    for weight in (1.0, 1e3, 1e9):
        model = at_weight(case, weight)
        log_joints = np.array([joint(model, z) for z in states])
        mass.append(np.exp(log_joints[J.argmin()] - logsumexp(log_joints)))
    assert mass[0] < 0.9
    assert mass[-1] > 1 - 1e-9


def test_value_of_a_partition_is_its_objective(rng):
    case = random_case(rng, "bernoulli", 8, 1.0, triplets=True)
    z = random_labels(rng, 8)
    assert value(case.problem, z, case.xi) == pytest.approx(case.J(z), rel=1e-12)


def test_the_first_gamma_has_one_cluster_as_wide_as_the_items(rng):
    X = rng.normal(size=(500, 3)) * 4.0
    problem = Problem.of(X, SquaredEuclidean(), link_graph([], 500), 1.0)
    assert 1 / (2 * first_gamma(problem)) == pytest.approx(X.var(axis=0).mean())
    same = Problem.of(np.ones((4, 2)), SquaredEuclidean(), link_graph([], 4), 1.0)
    assert first_gamma(same) == 1.0


@pytest.mark.parametrize(
    ("divergence", "X"),
    [
        (PRODUCT, np.array([[0.1, 2.0, 1, 0], [0.3, 1.0, 0, 2], [1.0, 1.0, 0, 1]])),
        ("poisson", np.array([[1.0, np.nan], [3.0, 2.0]])),
    ],
    ids=["product", "missing counts"],
)
def test_a_divergence_without_a_model_is_refused(divergence, X):
    with pytest.raises(
        ValueError,
        match=r"^no model at gamma is known for the divergence .*: choose one of these.$",
    ):
        path_divergence(as_divergence(divergence).bind(X))


def test_answers_that_the_limit_does_not_know_are_refused(rng):
    case = random_case(rng, "euclidean", 6, 1.0, triplets=True)
    links, triplets = case.constraints
    for confidence, views in [
        (case.confidence, [links]),
        ((1.0, 1.0), [triplets]),
        ({"links": np.ones((1, 2))}, [links]),
    ]:
        with pytest.raises(
            ValueError, match=r"^the limit was fitted to other constraints than these"
        ):
            pose_answers(confidence, views, 6)


def test_costs_that_no_noise_has_in_its_limit_are_refused():
    triplets = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=3)
    costs = {"triplets": np.array([[[0.0, 1, 1], [1, 0.5, 1], [1, 1, 0.0]]])}
    with pytest.raises(
        ValueError,
        match=r"^the right answers of 'triplets' cost \[0.0, 0.5, 0.0\] under the three truths",
    ):
        PathModel.at(1.0, np.eye(3), SquaredEuclidean(), 1.0, costs, [triplets])
