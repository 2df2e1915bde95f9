"""The model at gamma: its log joint becomes the objective, its sweeps the limit's sweeps."""

import copy
from decimal import Decimal, getcontext

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.families import as_divergence
from bayesclust.inference.chain import Moves
from bayesclust.inference.limits.path_model import (
    KnownEvidence,
    path_divergence,
)
from bayesclust.inference.limits.rdp_means import means, new_state, visit
from bayesclust.inference.samplers import SAMPLERS, collapsed_chain, gibbs_chain
from bayesclust.models.joint import log_joint
from tests.constraints.test_contract import random_constraints
from tests.exactness.test_enumeration import assert_exact
from tests.inference.limits.reference import (
    KINDS,
    PRODUCT,
    plain_choices,
    random_case,
    random_labels,
    same,
    with_choice,
)

getcontext().prec = 60
ITEM_BY_ITEM = Moves(link_blocks=False, split_merge=0.0)
each = pytest.mark.parametrize("name", [name for name in KINDS if name != "product"])
kinds = pytest.mark.parametrize("sources", [False, True], ids=["links", "of two sources"])


def posed(rng, name, n, sources=False):
    return random_case(rng, name, n, sources, links_only=True)


@kinds
@each
def test_log_joint_over_gamma_is_the_objective(rng, name, sources):
    """To 1e-3 at large gamma, and ten times nearer at ten times the gamma."""
    worst = {}
    for weight in (1e5, 1e6):
        again = copy.deepcopy(rng)
        errors = []
        for _ in range(6):
            case = posed(again, name, int(again.integers(3, 13)), sources)
            model = case.model(weight)
            given = model.problem.constraints
            noise = [one.noise.initial(one.n_sources) for one in given]
            prior = model.problem.partition_prior
            for _ in range(4):
                z = random_labels(again, len(case.problem.points))
                J = case.J(z)
                log_p = log_joint(
                    z, model.problem.family, constraints=given, partition_prior=prior, noise=noise
                )
                # relative to what J adds up, as the sum itself may be near zero
                errors.append(abs(model.energy(log_p) - J) / (abs(J) + case.problem.penalty))
        worst[weight] = max(errors)
    assert worst[1e5] < 1e-3
    assert worst[1e6] < 0.2 * worst[1e5]


class InOrder(np.random.Generator):
    """Visits items in a given order."""

    order: np.ndarray

    def permutation(self, n):
        return self.order


def swept(make, model, z, order, seed):
    """Partition after one sweep over single items in that order."""
    rng = InOrder(np.random.PCG64(seed))
    rng.order = order
    chain = make(model.problem, z.copy(), rng, ITEM_BY_ITEM)
    chain.sweep()
    return chain.labels


def passed(case, z, order):
    """Partition after one pass of RDP-means over the items in that order."""
    problem = case.problem
    graph = problem.graph.reordered(order)
    walked = problem._replace(points=problem.points[order], phi=problem.phi[order], graph=graph)
    start = new_state(walked, z[order], means(problem.points, z)[1])
    back = np.empty_like(z)
    back[order] = visit(walked, start, case.xi, 0.0)[0].z
    return back


def one_by_one(case, z, order):
    """Partition after each item in turn went where J, centres at their best, is least, or None."""
    z = z.tolist()
    for item in order:
        states = [with_choice(z, z, item, one)[0] for one in plain_choices(case, z, z, item)]
        costs = np.array([case.J(state) for state in states])
        first, *others = np.argsort(costs)
        ties = [at for at in others if costs[at] - costs[first] < 1e-6 * (1 + abs(costs[first]))]
        if not all(same([states[at]], [states[first]]) for at in ties):
            return None
        z = np.unique(states[first], return_inverse=True)[1].tolist()
    return z


@kinds
@pytest.mark.parametrize("name", ["euclidean", "kl"])
def test_at_large_gamma_sweeps_are_those_of_the_limit(rng, name, sources):
    """Means drawn: the pass of RDP-means. Means integrated out: descent on J itself."""
    moved = differ = 0
    for seed in range(30):
        n = int(rng.integers(4, 14))
        case = posed(rng, name, n, sources)
        z, order = random_labels(rng, n), rng.permutation(n)
        by_pass, by_descent = passed(case, z, order), one_by_one(case, z, order)
        if by_descent is None:
            continue
        model = case.model(1e10)
        assert same([swept(gibbs_chain, model, z, order, seed)], [by_pass])
        assert same([swept(collapsed_chain, model, z, order, seed)], [by_descent])
        moved += not same([by_pass], [z])
        differ += not same([by_pass], [by_descent])
    assert moved > 20
    assert differ > 2, "the two limits are not told apart"


def test_posterior_at_moderate_gamma_by_enumeration():
    """All partitions of 6 items, with answers of two sources, under all moves of both samplers."""
    case = posed(np.random.default_rng(1), "kl", 6, True).model(0.5).problem
    for sampler in SAMPLERS.values():
        assert assert_exact(case, None, 2500, 1, sampler).number > 5


def test_a_divergence_without_a_model_is_refused():
    X = np.array([[0.1, 2.0, 1, 0], [0.3, 1.0, 0, 2], [1.0, 1.0, 0, 1]])
    message = (
        r"^no model at gamma is known for the divergence .*: choose one of these, or give it "
        r"at_gamma\.$"
    )
    with pytest.raises(ValueError, match=message):
        path_divergence(as_divergence(PRODUCT).bind(X))


# --- noise by its weights of evidence


def exact_logs(same, different):
    """log p, log(1 - p), log q, log(1 - q) from the formulas of p and q, in 60 digits."""
    A, B = Decimal(same).exp(), Decimal(different).exp()
    p, q = A * (B - 1) / (A * B - 1), B * (A - 1) / (A * B - 1)
    return [float(value.ln()) for value in (p, (A - 1) / (A * B - 1), q, (B - 1) / (A * B - 1))]


@pytest.mark.parametrize(
    "weights", [(0.01, 3.0), (1.0, 1.0), (4.0, 0.5), (30.0, 40.0), (1e-9, 1e-9)]
)
def test_logarithms_of_known_evidence_are_exact(weights):
    log_p, log_not_p, log_q, log_not_q = exact_logs(*weights)
    noise = KnownEvidence(*weights)
    # rows answer different, same; columns pattern same, different
    table = noise.log_table(noise.initial(1))
    np.testing.assert_allclose(table, [[log_not_p, log_q], [log_p, log_not_q]], rtol=1e-12)


@pytest.mark.parametrize("weights", [(1e4, 1e4), (1e9, 30.0), (0.0, 50.0), (0.0, 0.0), (1e4, 0.0)])
def test_evidence_is_kept_however_strong(weights):
    table = (noise := KnownEvidence(*weights)).log_table(noise.initial(1))
    assert np.isfinite(table).all()
    assert table[1, 0] - table[1, 1] == pytest.approx(weights[0], rel=1e-12, abs=1e-9)
    assert table[0, 1] - table[0, 0] == pytest.approx(weights[1], rel=1e-12, abs=1e-9)
    np.testing.assert_allclose(np.exp(table).sum(axis=0), 1.0)


def test_known_noise_is_its_own_marginal_and_learns_nothing(rng):
    noise = KnownEvidence(same=(1.0, 2.0, 0.3), different=0.7)
    given = random_constraints(bc.PairwiseConstraints, rng, noise)
    z, params = rng.integers(3, size=(4, given.n_items)), noise.initial(given.n_sources)
    counts = given.counts(z)
    np.testing.assert_allclose(noise.log_marginal(counts), given.log_prob(z, params))
    expected = noise.expected_log_table(counts[0])
    np.testing.assert_allclose(expected, noise.log_table(params))
    assert noise.free == ()
    assert noise.log_prior(params) == 0.0
    drawn = noise.draw(counts, params, rng)
    assert all((drawn[name] == values).all() for name, values in params.items())
