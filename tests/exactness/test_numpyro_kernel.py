"""The partition update in NumPyro's Gibbs sampler: exact posteriors."""

import arviz as az
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer import MCMC, NUTS, DiscreteHMCGibbs, Gibbs
from scipy.stats import multivariate_normal

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise
from bayesclust.families import FAMILIES, Bernoulli, FullGaussian, Poisson, get_family
from bayesclust.inference.numpyro_kernel import PartitionGibbs
from bayesclust.models import constraint_sites, tvclust, tvclust_mixture
from bayesclust.partition_priors import DirichletProcess, KnownK, PitmanYor
from tests.exactness import cases
from tests.exactness.exact import compare, log_answers, log_posterior, partitions


def lines(x, y, views):
    """Two lines through the origin, and answers about which points lie on one."""
    with numpyro.plate("component", 2):
        slope = numpyro.sample("slope", dist.Normal(0.0, 2.0))
    with numpyro.plate("item", len(x)):
        z = numpyro.sample("z", dist.Categorical(jnp.ones(2) / 2))
        numpyro.sample("y", dist.Normal(slope[z] * x, 0.5), obs=y)
    constraint_sites(views, z)


def log_lines(x, y, views):
    """Every partition into at most two blocks with its log posterior."""
    states = partitions(len(x))
    states = states[states.max(axis=1) < 2]  # each has two ways to name its blocks
    values = np.zeros(len(states))
    for row, z in enumerate(states):
        for k in np.unique(z):
            covariance = 0.25 * np.eye((z == k).sum()) + 4.0 * np.outer(x[z == k], x[z == k])
            values[row] += multivariate_normal(cov=covariance).logpdf(y[z == k])
    return states, values + log_answers(views, states)


def sample(blocks, *args, warmup, samples):
    """Draws of the labels."""
    settings = {"num_warmup": warmup, "num_samples": samples, "progress_bar": False}
    mcmc = MCMC(Gibbs(blocks), **settings)
    mcmc.run(jax.random.key(0), *args)
    return np.asarray(mcmc.get_samples()["z"])


def test_clusterwise_regression_beside_nuts_is_exact():
    x, y = np.array([1.0, -0.7, 0.5, 1.2, 0.3, -1.1]), np.array([0.9, -0.2, 0.8, -0.6, 0.1, 0.4])
    links = cases.links(6, np.random.default_rng(4), size=4)
    triplets = cases.triplets(6, np.random.default_rng(4), size=4)
    views = (links, triplets)
    blocks = [(PartitionGibbs(lines, views), ["z"]), (NUTS(lines), None)]
    draws = sample(blocks, x, y, views, warmup=200, samples=2500)
    found = compare(draws, *log_lines(x, y, views))
    assert found.agrees, found
    assert found.expected < 0.05
    assert found.number > 5
    for fewer in ((), (links,), (triplets,)):  # the test can tell
        assert not compare(draws, *log_lines(x, y, fewer)).agrees


ALPHA, TRUNCATION = 0.7, 10
BEYOND_THE_STICKS = 6 * (ALPHA / (1 + ALPHA)) ** (TRUNCATION - 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [FullGaussian, Poisson, Bernoulli])
def test_tvclust_beside_nuts_is_exact(kind):
    rng = np.random.default_rng(0)
    family = cases.fixed(kind)
    X = cases.data_for(family, 6, 2, rng)
    views = (cases.links(6, rng), cases.triplets(6, rng))
    blocks = [(PartitionGibbs(tvclust, views), ["z"]), (NUTS(tvclust), None)]
    prior = DirichletProcess(ALPHA)
    draws = sample(blocks, X, views, family, prior, TRUNCATION, warmup=500, samples=15_000)
    found = compare(draws, *log_posterior(family.bind(X), views, prior))
    assert found.total_variation < 1.6 * found.expected + BEYOND_THE_STICKS, found
    assert found.worst_z < 5.5, found
    assert found.expected < 0.06
    assert not compare(draws, *log_posterior(family.bind(X), views[:1], prior)).agrees


@pytest.mark.slow
def test_other_tools_of_numpyro_take_the_programs():
    """Its own kernel of discrete sites, replicates given posterior draws, and ArviZ's converter."""
    rng = np.random.default_rng(0)
    X = cases.data_for(get_family("gaussian"), 8, 2, rng)
    links = cases.links(8, rng)
    kernels = (
        DiscreteHMCGibbs(NUTS(tvclust)),
        Gibbs([(PartitionGibbs(tvclust, links), ["z"]), (NUTS(tvclust), None)]),
    )
    for kernel in kernels:
        mcmc = MCMC(kernel, num_warmup=3, num_samples=4, progress_bar=False)
        mcmc.run(jax.random.key(0), X, links)
        replicate = numpyro.infer.Predictive(tvclust, mcmc.get_samples())
        draws = replicate(jax.random.key(1), X, links, observe=False)
        assert draws["x"].shape == (4, 8, 2)
        assert draws["links_answer"].shape == (4, len(links))
        assert az.from_numpyro(mcmc)["posterior"]["z"].shape == (1, 4, 8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "name"), [(tvclust_mixture, "gaussian"), *((tvclust, name) for name in FAMILIES)]
)
def test_every_family_runs_beside_nuts_with_defaults(program, name):
    """A mixture has a second block, for the components within the clusters."""
    rng = np.random.default_rng(0)
    X = cases.data_for(get_family(name), 8, 2, rng)
    views = (cases.links(8, rng), cases.triplets(8, rng))
    blocks = [(PartitionGibbs(program, views), ["z"]), (NUTS(program), None)]
    if program is tvclust_mixture:
        blocks.insert(1, (PartitionGibbs(program, site="component"), ["component"]))
    run_shortly(blocks, X, views, name)


def run_shortly(blocks, *given):
    mcmc = MCMC(Gibbs(blocks), num_warmup=5, num_samples=5, progress_bar=False)
    mcmc.run(jax.random.key(0), *given)
    assert all(np.isfinite(value).all() for value in mcmc.get_samples().values())


NOISES = [LinkNoise(), LinkNoise(pooled=True), UniformNoise(), UniformNoise(pooled=True)]
NOISES += [ConfusionNoise(), ConfusionNoise(pooled=True)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noises", "prior"), [(NOISES, None), (NOISES[:1], PitmanYor()), (NOISES[:1], KnownK(3))]
)
def test_noise_models_and_priors_run_beside_nuts(noises, prior):
    rng = np.random.default_rng(0)
    X = cases.data_for(get_family("gaussian_diagonal"), 8, 2, rng)
    views = [
        (
            cases.links(8, rng) if isinstance(noise, LinkNoise) else cases.triplets(8, rng)
        ).with_noise(noise)
        for noise in noises
    ]
    blocks = [(PartitionGibbs(tvclust, views), ["z"]), (NUTS(tvclust), None)]
    run_shortly(blocks, X, views, "gaussian_diagonal", prior)
