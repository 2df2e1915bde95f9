"""The sampler of clusters that are mixtures against all partitions on two levels, and Geweke's test of it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from bayesclust.constraints import LinkNoise, UniformNoise
from bayesclust.families import FAMILIES
from bayesclust.inference.schedule import Moves
from bayesclust.inference.two_level.chain import TwoLevelChain, TwoLevelProblem
from bayesclust.models.priors import Concentration, crp_log_prob
from tests.judges import exact
from tests.judges.cases import data_for, learned, links, problem, triplets
from tests.judges.generative import answers_given, crp_draw, data_given, put_data_under
from tests.judges.test_geweke import assert_agree, functionals, standard_error

MOVES = {
    "default": Moves(),
    "single items and components": Moves(split_merge=0.0, link_blocks=False),
    "groups": Moves(split_merge=0.0),
    "split-merge": Moves(split_merge=3.0, link_blocks=False),
}
ABOVE = 1000
"""Added to clusters' labels, so that components and clusters side by side read as one partition."""


def two_level_partitions(n):
    """All (components, clusters) of n items, side by side; OEIS A000258 counts them."""
    rows = [
        np.append(c, g[c] + ABOVE)
        for c in exact.partitions(n)
        for g in exact.partitions(c.max() + 1)
    ]
    return np.array(rows)


def test_number_of_states():
    assert [len(two_level_partitions(n)) for n in (1, 2, 3, 4, 5)] == [1, 3, 12, 60, 358]


def log_within_marginal(components, clusters, prior):
    """log p(components | clusters), beta integrated out on a grid of its logarithm."""
    groups = [
        np.bincount(components[clusters == g])[np.unique(components[clusters == g])]
        for g in np.unique(clusters)
    ]
    if prior.fixed is not None:
        return sum(crp_log_prob(sizes, prior.fixed) for sizes in groups)
    log_beta = np.linspace(-30, 6, 4001)
    beta, a, b = np.exp(log_beta), prior.shape, prior.rate
    value = a * np.log(b) - gammaln(a) + a * log_beta - b * beta
    for sizes in groups:
        value += (
            len(sizes) * log_beta
            + gammaln(beta)
            - gammaln(beta + sizes.sum())
            + gammaln(sizes).sum()
        )
    return logsumexp(value) + np.log(log_beta[1] - log_beta[0])


def exact_posterior(case):
    """Every state and its unnormalised log posterior."""
    states, n = two_level_partitions(case.n_items), case.n_items
    components, clusters = states[:, :n], states[:, n:] - ABOVE
    values = exact.log_data_marginal(case.family, components)
    for row, (c, g) in enumerate(zip(components, clusters, strict=True)):
        values[row] += exact.log_crp_marginal(
            np.bincount(g), case.concentration
        ) + log_within_marginal(c, g, case.within)
    for view in case.constraints:
        values += view.noise.log_marginal(view.counts(clusters))
    return states, values


def judge(case, moves, number, seed, chain_type=TwoLevelChain):
    chain = chain_type(case, np.zeros(case.n_items, np.int64), np.random.default_rng(seed), moves)
    for _ in range(100):
        chain.sweep(adapt=True)
    draws = np.empty((number, 2 * case.n_items), np.int64)
    for row in range(number):
        chain.sweep()
        draws[row] = np.append(chain.seating.z, chain.labels + ABOVE)
    result = exact.compare(draws, *exact_posterior(case))
    assert result.number > 20, "hardly any state was compared"
    return result


def small(name, seed, within, concentration=None):
    base = problem(name, n=5, seed=seed)
    concentration = base.concentration if concentration is None else concentration
    return TwoLevelProblem(base.family, base.constraints, concentration, within)


@pytest.mark.parametrize("moves", MOVES)
def test_every_move(moves):
    result = judge(small("gaussian", 3, Concentration(2.0, 2.0)), MOVES[moves], 8000, 3)
    assert result.agrees, result


def test_known_concentrations_and_counts():
    case = small("multinomial", 4, Concentration(fixed=0.6), Concentration(fixed=1.3))
    assert (result := judge(case, MOVES["default"], 8000, 4)).agrees, result


def test_without_answers():
    case = replace(small("gaussian_diagonal", 5, Concentration(fixed=0.8)), constraints=())
    assert (result := judge(case, MOVES["default"], 8000, 5)).agrees, result


class DoubleWithin(TwoLevelChain):
    """Takes new components within a cluster for twice as probable in the scan."""

    def _scan(self):
        self.beta *= 2
        super()._scan()
        self.beta /= 2


def test_wrong_weight_of_new_components_is_noticed():
    case = small("gaussian", 3, Concentration(fixed=2.0))
    assert not judge(case, MOVES["single items and components"], 8000, 3, DoubleWithin).agrees


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["default", "split-merge"])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_and_move_at_length(name, moves):
    result = judge(small(name, 6, Concentration(1.0, 1.0)), MOVES[moves], 40_000, 6)
    assert result.agrees, result


class TwoLevelWorld:
    """Everything unknown, drawn from the prior: as `generative.World`, on two levels."""

    def __init__(self, template, rng):
        self.alpha, self.beta = (
            template.concentration.sample_prior(rng),
            template.within.sample_prior(rng),
        )
        self.z = crp_draw(template.n_items, self.alpha, rng)
        self.components = np.empty_like(self.z)
        for g in np.unique(self.z):
            own = self.z == g
            self.components[own] = crp_draw(int(own.sum()), self.beta, rng) + self.z.size * g
        self.hyper = template.family.sample_hyper(rng)
        self.noise = [view.noise.sample_prior(view.n_sources, rng) for view in template.constraints]
        family = data_given(template.family, self.components, self.hyper, rng)
        self.problem = replace(
            template,
            family=family,
            constraints=answers_given(template.constraints, self.z, self.noise, rng),
        )

    def values(self):
        return two_level_functionals(
            self.problem, self.components, self.z, self.alpha, self.beta, self.hyper, self.noise
        )


def two_level_functionals(case, components, z, alpha, beta, hyper, noise):
    values = functionals(case, z, alpha, hyper, noise)
    number, X = len(np.unique(components)), case.family.X
    values |= {"log beta": np.log(beta), "M": number, "M log beta": number * np.log(beta)}
    values |= {"side by side": components[0] == components[1]}
    values["near below"] = np.exp(-((X[0] - X[1]) ** 2).sum()) * (components[0] == components[1])
    return values


def successive(name, template, number, rng, moves, chain_type=TwoLevelChain):
    world = TwoLevelWorld(template, rng)
    chain = chain_type(world.problem, np.unique(world.z, return_inverse=True)[1], rng, moves)
    chain.alpha, chain.beta, chain.hyper, chain.noise = (
        world.alpha,
        world.beta,
        world.hyper,
        world.noise,
    )
    put_data_under(chain, world.problem)
    rows = []
    for _ in range(number):
        chain.sweep()
        family = data_given(chain.problem.family, chain.seating.z, chain.hyper, rng)
        views = answers_given(chain.problem.constraints, chain.labels, chain.noise, rng)
        put_data_under(chain, replace(chain.problem, family=family, constraints=views))
        state = (
            chain.problem,
            chain.seating.z,
            chain.labels,
            chain.alpha,
            chain.beta,
            chain.hyper,
            chain.noise,
        )
        rows.append(two_level_functionals(*state))
    return {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}


def geweke(name, number, seed, chain_type=TwoLevelChain):
    rng = np.random.default_rng(seed)
    family = learned(FAMILIES[name])
    views = (
        links(6, rng, LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0))),
        triplets(6, rng, UniformNoise(eps=(2.0, 3.0))),
    )
    bound = family.bind(data_for(family, 6, 2, rng))
    template = TwoLevelProblem(bound, views, Concentration(2.0, 1.0), Concentration(2.0, 2.0))
    rows = [TwoLevelWorld(template, rng).values() for _ in range(number)]
    expected = {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}
    found = successive(name, template, number, rng, Moves(), chain_type)
    return {
        key: (found[key].mean() - expected[key].mean())
        / np.hypot(standard_error(found[key]), expected[key].std() / np.sqrt(number))
        for key in expected
    }


class OneComponentLess(TwoLevelChain):
    """Counts one component less than there are when it draws beta."""

    def _update_concentration(self):
        number = self.seating.number[0]
        self.seating.number[0] = number - 1
        super()._update_concentration()
        self.seating.number[0] = number


def test_joint_distribution():
    assert_agree(geweke("gaussian", 4000, 1))


def test_miscounted_components_are_noticed():
    with pytest.raises(AssertionError):
        assert_agree(geweke("gaussian", 4000, 1, OneComponentLess))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_joint_distribution_at_length(name):
    assert_agree(geweke(name, 30_000, 2))
