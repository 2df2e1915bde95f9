"""The groups for ArviZ: items against enumeration, the prior against its formulas."""

import arviz as az
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayesclust as bc
from bayesclust.estimators import arviz_groups
from bayesclust.families import DiagonalGaussian
from bayesclust.inference.chain import TVClustProblem, TwoLevelProblem
from bayesclust.inference.prediction import Prediction
from bayesclust.models.joint import log_data
from bayesclust.partition_priors import DirichletProcess, MixtureOfFiniteMixtures, PitmanYor
from bayesclust.partition_priors.nested import nested_log_prob
from tests.exactness.cases import all_views, bound_case, fixed
from tests.exactness.exact import nested_partitions, partitions

FAMILIES = [
    "gaussian",
    "gaussian_diagonal with holes",
    "multinomial",
    "mixed",
    "gaussian coarsened",
]
AT, WITHIN_AT = {"concentration": 0.7}, {"concentration": 0.4}


def without(labels, item):
    """The rows of each cluster but one item's, where it has others."""
    others = np.arange(len(labels)) != item
    return [np.flatnonzero((labels == k) & others) for k in np.unique(labels[others])]


def log_evidence(family, components, log_weights, item=None):
    """log p(rows but the item's, answers), up to what an item left out does not change."""
    hyper = family.initial_hyper()
    values = np.array(log_weights)
    for row, labels in enumerate(components):
        values[row] += sum(
            family.log_marginal(family.X[part], hyper) for part in without(labels, item)
        )
    return logsumexp(values), values


def assert_exact(problem, prediction, components, log_weights, noise):
    """The mean of 1 / p over the exact posterior is p(without the row) / p(with it)."""
    family = problem.family
    evidence, values = log_evidence(family, components, log_weights)
    found = arviz_groups.item_log_likelihood(problem, prediction, [noise] * len(components))
    constants = family.power * family.row_constants(family.X)
    for item in range(problem.n_items):
        exact = evidence - log_evidence(family, components, log_weights, item)[0] + constants[item]
        loo = -logsumexp(values - evidence - found[:, item])
        assert loo == pytest.approx(exact, abs=1e-9)


def drawn(problem, z, values=AT, **more):
    hyper = np.tile(problem.family.initial_hyper(), (len(z), 1))
    return Prediction(problem.family, z, [values] * len(z), hyper, problem.partition_prior, **more)


@pytest.mark.parametrize("name", FAMILIES)
def test_items_are_left_out_exactly(name):
    rng = np.random.default_rng(1)
    views = all_views(5, rng)
    problem = TVClustProblem(bound_case(name, 5, 2, rng, fixed), views, DirichletProcess())
    noise = [view.noise.sample_prior(view.n_sources, rng) for view in views]
    states = partitions(5)
    weights = [
        problem.partition_prior.log_prob(np.bincount(z), AT)
        + sum(view.log_prob(z, own) for view, own in zip(views, noise, strict=True))
        for z in states
    ]
    assert_exact(problem, drawn(problem, states), states, weights, noise)


def test_items_of_mixtures_are_left_out_exactly():
    rng = np.random.default_rng(2)
    views = all_views(4, rng)
    family = bound_case("gaussian", 4, 2, rng, fixed)
    problem = TwoLevelProblem(family, views, PitmanYor(0.3), DirichletProcess())
    prior = problem.partition_prior
    noise = [view.noise.sample_prior(view.n_sources, rng) for view in views]
    pairs = nested_partitions(4)
    values = AT | {"discount": 0.3}
    weights = [
        nested_log_prob(c, z, prior, problem.within, values, WITHIN_AT)
        + sum(view.log_prob(z, own) for view, own in zip(views, noise, strict=True))
        for c, z in pairs
    ]
    components, clusters = map(np.stack, zip(*pairs, strict=True))
    given = {"components": components, "within": problem.within}
    given["within_values"] = [WITHIN_AT] * len(pairs)
    assert_exact(problem, drawn(problem, clusters, values, **given), components, weights, noise)


@pytest.fixture(scope="module", params=["single", "mixture"])
def fit(request):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 10)
    X = rng.normal(4.0 * y[:, None], size=(20, 2))
    links = bc.PairwiseConstraints.sample(y, size=30, error_rate=0.1, n_sources=2, seed=0)
    trios = bc.RelativeConstraints.sample(y, size=20, seed=0)
    trios = bc.RelativeConstraints(trios.items, trios.answers, 20, noise=bc.ConfusionNoise())
    short = {"num_chains": 2, "num_warmup": 30, "num_samples": 60, "random_state": 0}
    est = bc.TVClust(cluster_model=request.param, progress=False, **short)
    return est.fit(X, constraints=[links, trios])


@pytest.fixture(scope="module")
def tree(fit):
    return fit.to_arviz(num_prior_draws=4000)


def test_log_priors_and_likelihoods_sum_to_the_log_joint(fit, tree):
    draws = fit.spread_draws(120)
    lowest = draws.z if draws.components is None else draws.components
    pairs = zip(lowest, draws.hyper, strict=True)
    total = np.reshape([log_data(z, draws.family, hyper) for z, hyper in pairs], (2, 60))
    priors, likelihood = tree["log_prior"].to_dataset(), tree["log_likelihood"].to_dataset()
    total += sum(priors[name].values for name in priors.data_vars)
    total += np.log(tree["posterior"]["base_scale"].values)  # counted by its logarithm there
    for view in ("links", "triplets"):
        total += likelihood[view].values.sum(axis=-1)
    np.testing.assert_allclose(total, tree["sample_stats"]["log_joint"], rtol=1e-10)


def test_prior_is_what_the_models_say(fit, tree):
    prior, posterior = tree["prior"].to_dataset(), tree["posterior"].to_dataset()
    assert set(prior.data_vars) == set(posterior.data_vars) - {"n_components"}
    scale = next(own for own in fit._problem.family.hyper_priors if own.name == "base_scale")
    expected = {"p": stats.beta(4, 1), "q": stats.beta(4, 1)}
    # the logarithm, which is cut off below
    cut = np.log(scale.lower / scale.median) / scale.log_sd
    expected["base_scale"] = stats.truncnorm(cut, np.inf)
    within = {"within_concentration": stats.gamma(1, scale=0.1)}
    expected |= within if "n_components" in posterior else {"concentration": stats.expon()}
    for name, law in expected.items():
        values = prior[name].values.ravel()
        if name == "base_scale":
            values = np.log(values / scale.median) / scale.log_sd
        assert stats.kstest(values, law.cdf).pvalue > 1e-3, name
    diagonal = prior["confusion"].values[0, :, 0][:, [0, 1, 2], [0, 1, 2]].ravel()
    assert stats.kstest(diagonal, stats.beta(8, 2).cdf).pvalue > 1e-3


PRIORS = [DirichletProcess(), PitmanYor(0.4), MixtureOfFiniteMixtures((2.0, 1.0))]
PRIORS += [bc.partition_priors.KnownK(3), bc.partition_priors.Microclustering()]


@pytest.mark.parametrize("prior", PRIORS)
def test_numbers_of_clusters_are_drawn_from_the_prior(prior):
    states = partitions(7)
    values = prior.initial()
    exact = np.zeros(8)
    for z in states:
        exact[z.max() + 1] += np.exp(prior.log_prob(np.bincount(z), values))
    rng = np.random.default_rng(3)
    drawn = [prior.sample_n_clusters(7, values, rng) for _ in range(3000)]
    found = np.bincount(drawn, minlength=8)
    kept = exact > 1e-3
    assert found[~kept].sum() <= 3000 * exact[~kept].sum() + 20
    share = exact[kept] / exact[kept].sum()
    assert stats.chisquare(found[kept], share * found[kept].sum()).pvalue > 1e-3


def test_far_apart_numbers_of_clusters_are_those_of_the_urn():
    prior, rng = DirichletProcess(), np.random.default_rng(4)
    values = {"concentration": 2.0}
    drawn = [prior.sample_n_clusters(300, values, rng) for _ in range(2000)]
    opens = 2.0 / (2.0 + np.arange(300))
    error = np.sqrt((opens * (1 - opens)).sum() / 2000)
    assert abs(np.mean(drawn) - opens.sum()) < 4 * error


@pytest.mark.filterwarnings("ignore")
def test_rows_are_predicted_as_by_fits_without_them():
    rng = np.random.default_rng(5)
    X = rng.normal(3.0 * np.repeat([0, 1], 8)[:, None], size=(16, 1))
    given = {"family": DiagonalGaussian(scale=0.5), "cluster_model": "single"}
    long = {"num_chains": 2, "num_samples": 2000, "progress": False, "random_state": 0}
    tree = bc.TVClust(**given, **long).fit(X).to_arviz(num_prior_draws=10)
    found = az.loo(tree, var_name="X", pointwise=True).elpd_i.values
    for item in (0, 12):
        others = bc.TVClust(**given, **long).fit(np.delete(X, item, axis=0))
        density = others.spread_draws(4000).log_density(others._problem.family.transform(X[[item]]))
        assert found[item] == pytest.approx(density[0], abs=0.05)
    assert set(tree["log_likelihood"].data_vars) == {"X"}


def test_fits_without_densities_have_no_items():
    X = np.r_[np.zeros((4, 1)), np.ones((4, 1))] + np.arange(8)[:, None] / 50
    est = bc.TVClust("variational", num_samples=20, random_state=0).fit(X)
    tree = est.to_arviz(num_prior_draws=20)
    assert "log_likelihood" not in tree.children
    assert set(tree["prior"].data_vars) == {"concentration", "n_clusters"}
    assert tree["prior"]["n_clusters"].shape == (1, 20)


@pytest.mark.parametrize("inference", ["variational_em", "gibbs"])
def test_dcrc_has_groups_of_its_answers(inference):
    y = np.repeat([0, 1], 6)
    links = bc.PairwiseConstraints.sample(y, size=12, error_rate=0.1, seed=0)
    short = {"num_chains": 1, "num_warmup": 5, "num_samples": 9, "progress": False}
    est = bc.DCRC(2, noise="learn", inference=inference, random_state=0, **short)
    tree = est.fit(3.0 * y[:, None] + np.arange(12)[:, None] / 9, constraints=links).to_arviz()
    p, q = (tree["posterior"][name].values[..., 0] for name in "pq")
    expected = stats.beta(4, 1).logpdf(p) + stats.beta(4, 1).logpdf(q)
    np.testing.assert_allclose(tree["log_prior"]["links"], expected, rtol=1e-9)
    assert list(tree["log_likelihood"].data_vars) == ["links"]


@pytest.mark.parametrize("prior", [DirichletProcess(1.0), MixtureOfFiniteMixtures(1.0)])
@pytest.mark.parametrize("model", ["single", "mixture"])
def test_priors_without_learned_parameters_have_a_density(prior, model, rng):
    short = {"num_chains": 1, "num_warmup": 20, "num_samples": 20, "random_state": 0}
    est = bc.TVClust(cluster_model=model, partition_prior=prior, progress=False, **short)
    tree = est.fit(rng.normal(size=(12, 2))).to_arviz(num_prior_draws=10)
    if model == "single":
        sizes = [np.bincount(z) for z in tree["posterior"]["z"].values[0]]
        expected = [prior.log_prob(own, prior.initial()) for own in sizes]
        np.testing.assert_allclose(tree["log_prior"]["partition"].values[0], expected)
    assert np.isfinite(tree["log_prior"]["partition"].values).all()
