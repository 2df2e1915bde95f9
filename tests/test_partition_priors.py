"""Priors over partitions: probabilities, tables, parameters and draws, against enumeration."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from bayesclust.families import FullGaussian
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.samplers import SAMPLERS, default_moves
from bayesclust.partition_priors import (
    CandidateLinks,
    DirichletProcess,
    KnownK,
    Microclustering,
    MixtureOfFiniteMixtures,
    Nested,
    Parameter,
    PitmanYor,
    as_prior,
)
from bayesclust.partition_priors.nested import WITHIN, nested_log_prob, nested_tables
from bayesclust.posterior.n_clusters import n_clusters_posterior
from docs.skeletons.partition_prior import UniformNumber
from tests.exactness.cases import problem
from tests.exactness.exact import nested_partitions, partitions
from tests.priors import FIXED, LEARNED

each_prior = pytest.mark.parametrize("prior", FIXED.values(), ids=FIXED)
each_learned = pytest.mark.parametrize("prior", LEARNED.values(), ids=LEARNED)


def log_probs(prior, n, values=None):
    values = prior.initial() if values is None else values
    return np.array([prior.log_prob(np.bincount(z), values) for z in partitions(n)])


@each_prior
def test_probabilities_sum_to_one(prior):
    for n in range(1, 8):
        assert np.exp(log_probs(prior, n)).sum() == pytest.approx(1, abs=1e-9)


@each_prior
def test_tables_are_ratios_of_probabilities(prior):
    values = prior.initial()
    tables = prior.tables(9, 6, values)

    def difference(after, before):
        found = [prior.log_prob(np.array(sizes), values) for sizes in (after, before)]
        return found[0] - found[1] if np.isfinite(found).all() else -np.inf

    w, join, opening = tables
    assert w[0] == w[1] == join[0] == 0
    assert w[5] - w[3] + w[4] - w[6] == pytest.approx(difference([5, 4], [3, 6]))
    # of 9 items: the last one goes from a cluster of its own to one of 4, and a split of 5 items
    assert join[4] - opening[2] == pytest.approx(difference([5, 4], [4, 4, 1]))
    split = opening[2] + w[2] + w[3] - w[5]
    expected = difference([4, 2, 3], [4, 5])
    assert split == expected == -np.inf or split == pytest.approx(expected)
    assert len(opening) == 7
    assert not np.isnan(opening).any()


@each_learned
def test_parameters_integrated_out_are_a_prior(prior):
    by_sizes = [(1, [3]), (3, [1, 2]), (1, [1, 1, 1])]
    total = sum(
        number * math.exp(prior.log_marginal(np.array(sizes))) for number, sizes in by_sizes
    )
    assert total == pytest.approx(1, abs=1e-6)


def test_two_parameters_are_integrated_out():
    prior, sizes = PitmanYor((2.0, 3.0), (2.0, 1.5)), np.array([3, 1])
    expected = 0.0
    for s in np.linspace(0.01, 0.99, 50):
        for t in np.arange(0.05, 12, 0.1):
            density = 12 * s * (1 - s) ** 2 * 2.25 * t * math.exp(-1.5 * t) * 0.02 * 0.1
            value = prior.log_prob(sizes, {"discount": s, "concentration": t})
            expected += density * math.exp(value)
    assert math.exp(prior.log_marginal(sizes)) == pytest.approx(expected, rel=5e-3)


def test_more_clusters_than_known_are_impossible():
    assert KnownK(2, (2.0, 2.0)).log_marginal(np.array([1, 1, 1])) == -math.inf


def test_concentrations_of_many_clusters_are_integrated_out():
    """The integrand is narrower than the nodes that are spread over the whole prior."""
    prior, n = DirichletProcess((2.0, 1e-4)), 100_000
    sizes = np.full(20_000, 5)
    line = np.linspace(8.7, 9.3, 601)
    values = [prior.log_prob(sizes, {"concentration": math.exp(t)}) for t in line]
    log_prior = 2 * math.log(1e-4) + 2 * line - 1e-4 * np.exp(line)
    expected = logsumexp(values + log_prior) + math.log(line[1] - line[0])
    assert sizes.sum() == n
    assert prior.log_marginal(sizes) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("r", "p"), [(0.7, 0.4), (30.0, 1 - 1e-12), (1e-9, 0.999), (5.0, 1e-9)])
def test_small_clusters_at_the_margins(r, p):
    """Probabilities sum to one also where a sum hardly ever hits n."""
    values = {"size_shape": r, "size_growth": p}
    assert logsumexp(log_probs(Microclustering(), 6, values)) == pytest.approx(0, abs=1e-7)
    assert np.isfinite(Microclustering().log_prob(np.full(5000, 2), values))


def test_small_clusters_stay_small():
    """Their mean size does not grow with n, as it does under the Dirichlet process."""
    mean = 3 * 0.5 / (0.5 * (1 - 0.5**3))
    drawn = Microclustering(3.0, 0.5).simulate(4000, 20)
    assert (4000 / (drawn.max(axis=1) + 1)).mean() == pytest.approx(mean, rel=0.02)


def test_simulated_partitions_cover_two_learned_parameters():
    """The share of one single cluster, against both parameters integrated out."""
    prior = Microclustering()
    exact = np.exp(prior.log_marginal([4]))
    found = (prior.simulate(4, 20_000, seed=1).max(axis=1) == 0).mean()
    assert found == pytest.approx(exact, abs=0.01)


def test_links_have_no_probability_by_sizes():
    links = CandidateLinks([(0, 1)], n_items=3)
    with pytest.raises(ValueError, match="depends on which items are together, not on sizes"):
        links.log_marginal(np.array([2, 1]))


SEVERAL = [[3, 1], [2], [1, 1, 1]]
UPDATES = [(name, [[4, 2, 1]]) for name in LEARNED]
UPDATES += [("Dirichlet process", SEVERAL), ("Pitman-Yor, discount", SEVERAL)]


@pytest.mark.parametrize(("name", "groups"), UPDATES)
def test_update_leaves_the_conditional_in_place(name, groups, rng):
    prior = LEARNED[name]
    groups = [np.array(sizes) for sizes in groups]
    (name,) = prior.learned
    one = prior.parameters[name]
    line = np.linspace(-12, 5, 501)
    grid = np.array([one.from_line(t) for t in line])
    log_weight = [
        sum(prior.log_prob(sizes, prior.initial() | {name: value}) for sizes in groups)
        + one.log_prior(value)
        + math.log(value)
        + (math.log1p(-value) if one.unit else 0.0)
        for value in grid
    ]
    weight = np.exp(log_weight - logsumexp(log_weight))
    values, draws = prior.initial(), np.empty(1500)
    for row in range(len(draws)):
        values = prior.update(values, groups, rng)
        draws[row] = values[name]
    for function in (np.log, lambda x: x):
        expected = (weight * function(grid)).sum()
        batches = function(draws).reshape(30, -1).mean(axis=1)
        assert abs(batches.mean() - expected) < 4.5 * batches.std() / math.sqrt(30) + 1e-3


VAGUE = (0.01, 0.01), (0.05, 0.05), (0.3, 2.0)


@pytest.mark.parametrize("vague", VAGUE)
@pytest.mark.parametrize("make", [DirichletProcess, MixtureOfFiniteMixtures, PitmanYor])
def test_vague_priors_have_all_of_their_mass(make, vague):
    """Much of it is so near to zero that a parameter has no digits there."""
    values = (vague, 1.0) if make is PitmanYor else (vague,)
    found = [make(*values).log_marginal(np.bincount(z)) for z in partitions(4)]
    assert logsumexp(found) == pytest.approx(0.0, abs=1e-5)


def test_updates_under_a_vague_prior_go_to_its_end_as_often_as_they_should(rng):
    prior, sizes, size = KnownK(3, (0.05, 0.05)), np.array([6]), 6000

    def share(low, high):
        line = np.linspace(low, high, 20001)
        prior_density = stats.gamma.pdf(np.exp(line), 0.05, scale=20.0) * np.exp(line)
        gammas = np.exp(np.maximum(line, -27.0))
        likelihood = [np.exp(prior.log_prob(sizes, {"gamma": gamma})) for gamma in gammas]
        return np.trapezoid(prior_density * likelihood, line)

    ends = np.array([share(-600.0, -20.0), share(-20.0, -5.0), share(-5.0, 7.0)])
    values, draws = prior.initial(), np.empty(size)
    for row in range(size):
        values = prior.update(values, [sizes], rng)
        draws[row] = math.log(values["gamma"])
    inside = np.stack([draws <= -20.0, (draws > -20.0) & (draws <= -5.0), draws > -5.0])
    batches = inside.reshape(3, 30, -1).mean(axis=2)
    error = batches.std(axis=1) / math.sqrt(30)
    assert (np.abs(batches.mean(axis=1) - ends / ends.sum()) < 4.5 * error).all()


def test_fixed_parameters_stay(rng):
    prior = PitmanYor(0.4, (1.0, 1.0))
    values = prior.update(prior.initial(), [np.array([2, 1])], rng)
    assert values["discount"] == 0.4
    assert values["concentration"] != 1.0
    held = {"concentration": 0.3}
    assert DirichletProcess(0.3).update(held, [np.array([2])], rng) == held


@each_prior
def test_samples_have_the_probabilities(prior, rng):
    """One by one, and several side by side."""
    values = prior.initial()
    alone = np.stack([prior.sample(4, values, rng) for _ in range(1500)])
    for drawn in (alone, prior.sample(5, values, rng, 6000)):
        every = partitions(drawn.shape[1])
        found = np.array([(drawn == z).all(axis=1).mean() for z in every])
        expected = np.exp(log_probs(prior, drawn.shape[1]))
        error = np.sqrt(expected * (1 - expected) / len(drawn))
        assert (np.abs(found - expected) <= 4.5 * error + 1e-12).all()


@each_prior
def test_partitions_of_more_items_restrict_to_fewer(prior):
    """Which `sample` presumes, and prediction but for priors that say that they do not."""
    gaps = []
    for n in range(1, 6):
        fewer = {
            tuple(z): value
            for z, value in zip(partitions(n).tolist(), log_probs(prior, n), strict=True)
        }
        summed = dict.fromkeys(fewer, 0.0)
        for z, value in zip(partitions(n + 1).tolist(), log_probs(prior, n + 1), strict=True):
            summed[tuple(z[:-1])] += math.exp(value)
        gaps.append(np.abs(np.array(list(summed.values())) - np.exp(list(fewer.values()))).max())
    assert (max(gaps) < 1e-12) == prior.restricts


@dataclass(frozen=True)
class Renamed(UniformNumber):
    """With a parameter of any name."""

    name: str = "gamma"

    @cached_property
    def parameters(self):
        return {self.name: Parameter(2.0)}


@pytest.mark.parametrize("name", ["z", "n_clusters", "p", "base_scale"])
def test_a_parameter_named_as_another_variable_is_refused(name):
    with pytest.raises(ValueError, match=rf"parameters \['{name}'\], names that the posterior"):
        replace(problem("gaussian", n=6, seed=1), partition_prior=Renamed(4, name=name))


class NotANumber(UniformNumber):
    """Forgets what 0 / 0 is."""

    def log_w(self, sizes, values):
        return np.full(np.shape(sizes), np.nan)


def test_a_density_that_is_no_number_is_refused(rng):
    prior = NotANumber(4)
    with pytest.raises(ValueError, match="a NotANumber whose log_v or log_w is nan at"):
        prior.update(prior.initial(), [np.array([2, 1])], rng)


@pytest.mark.parametrize("log_alpha", [-1e6, -800.0, 900.0, 1e6])
def test_extreme_concentrations_keep_their_digits(log_alpha):
    prior = DirichletProcess(log_fixed=log_alpha)
    values = prior.initial()
    assert np.isfinite(values["concentration"])
    change = prior.log_prob(np.array([2, 1]), values) - prior.log_prob(np.array([3]), values)
    assert change == pytest.approx(log_alpha - math.log(2), rel=1e-12)
    np.testing.assert_allclose(prior.tables(5, 3, values).log_open, log_alpha, rtol=1e-9)


@pytest.mark.parametrize(
    ("prior", "within"), [(DirichletProcess(0.7), WITHIN), (KnownK(2, 0.8), PitmanYor(0.3, 0.6))]
)
def test_nested_tables_are_ratios_of_probabilities(prior, within):
    values, inner = prior.initial(), within.initial()

    def log_prob(components, clusters):
        return nested_log_prob(components, clusters, prior, within, values, inner)

    states = nested_partitions(4)
    assert logsumexp([log_prob(c, z) for c, z in states]) == pytest.approx(0, abs=1e-9)
    tables = nested_tables(prior.tables(5, 5, values), within, 5, inner)
    z = np.array([0, 0, 0, 1, 1])
    # item 4 leaves a component of one for component 0, of two items, of the other cluster
    moved = log_prob([0, 0, 1, 2, 0], [0, 0, 0, 1, 0]) - log_prob([0, 0, 1, 2, 3], z)
    expected = tables.within.log_join[2] + tables.log_grow[3]
    expected -= tables.within.log_open[1] + tables.log_grow[1]
    assert moved == pytest.approx(expected)
    # component 2, of one item, leaves for a cluster of its own
    moved = log_prob([0, 0, 1, 2, 2], [0, 0, 2, 1, 1]) - log_prob([0, 0, 1, 2, 2], z)
    expected = tables.among.log_open[2] + tables.log_cluster[1] + tables.log_cluster[2]
    expected -= tables.log_cluster[3] + tables.within.log_open[1]
    if prior.most_clusters is None:
        assert moved == pytest.approx(expected)
    else:
        assert moved == expected == -np.inf


BAD = [
    (lambda: DirichletProcess(0.0), "concentration=0.0 is neither a positive number"),
    (lambda: DirichletProcess((1.0, -1.0)), "concentration="),
    (lambda: Microclustering(size_growth=0), "size_growth=0 leaves every item alone"),
    (lambda: PitmanYor(1.0), "discount=1.0 is neither a number in"),
    (lambda: PitmanYor(0.5, "a"), "concentration="),
    (lambda: KnownK(0), "n_clusters"),
    (lambda: MixtureOfFiniteMixtures(n_components=("binomial", 2)), "n_components"),
    (lambda: MixtureOfFiniteMixtures(n_components=[0.0]), "is not a distribution"),
    *[
        (lambda own=own: MixtureOfFiniteMixtures(n_components=own), r"^n_components\[1\] must lie")
        for own in (("geometric", 1.5), ("geometric", 0), ("poisson", 0.0))
    ],
    (lambda: Nested(within=KnownK(2)), "components within a cluster"),
    (lambda: MixtureOfFiniteMixtures().sticks(1, {"gamma": 1.0}), "no stick-breaking form"),
]


@pytest.mark.parametrize(("make", "words"), BAD)
def test_bad_parameters_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_number_of_components_has_no_learned_parameter():
    with pytest.raises(TypeError, match=r"^n_components\[1\] must be a number in \(0, 1\)"):
        MixtureOfFiniteMixtures(n_components=("geometric", (1, 2)))


@pytest.mark.parametrize("make", [Nested, lambda prior: Nested(within=prior), as_prior])
def test_other_objects_are_no_priors(make):
    with pytest.raises(TypeError, match=r"^a int is not a prior over partitions: "):
        make(3)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS)
@each_prior
def test_uninformative_data_leave_the_prior(prior, sampler, rng):
    """At n = 150, the number of clusters and the largest of them are those of the prior."""
    n, values, make = 150, prior.initial(), SAMPLERS[sampler]
    family = FullGaussian(1.0, 3.0, 0.1).bind(rng.normal(size=(n, 1))).coarsened(1e-9)
    chain = make(TVClustProblem(family, (), prior), np.zeros(n, int), rng, default_moves(make, n))
    found = np.empty((1800, 2))
    for _ in range(200):
        chain.sweep(adapt=True)
    for row in range(len(found)):
        for _ in range(5):
            chain.sweep()
        sizes = chain.state.sizes()
        found[row] = len(sizes), sizes.max()
    drawn = [np.bincount(prior.sample(n, values, rng)) for _ in range(500)]
    expected = np.array([[len(sizes), sizes.max()] for sizes in drawn], dtype=float)
    batches = found.reshape(30, -1, 2).mean(axis=1)
    error = np.hypot(batches.std(axis=0) / math.sqrt(30), expected.std(axis=0) / math.sqrt(500))
    assert (np.abs(batches.mean(axis=0) - expected.mean(axis=0)) < 4.5 * error + 1e-6).all()


@pytest.mark.parametrize(("concentration", "tolerance"), [(0.5, 0.2), (4.0, 0.4)])
def test_simulated_partitions_have_the_known_number_of_clusters(concentration, tolerance):
    draws = DirichletProcess(concentration).simulate(120)
    expected = (concentration / (concentration + np.arange(120))).sum()
    assert (draws.max(axis=1) + 1).mean() == pytest.approx(expected, abs=tolerance)
    table = n_clusters_posterior(draws)
    largest = [np.bincount(z).max() for z in draws]
    assert (table["probability"] * table["largest"]).sum() == pytest.approx(np.mean(largest))


@each_learned
def test_simulated_partitions_have_parameters_integrated_out(prior):
    draws = prior.simulate(4, num_draws=6000)
    found = [(draws == z).all(axis=1).mean() for z in partitions(4)]
    expected = [math.exp(prior.log_marginal(np.bincount(z))) for z in partitions(4)]
    np.testing.assert_allclose(found, expected, atol=0.025)
