"""The kernel for NumPyro against enumeration of the model's own density, in all ways to run it."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer import MCMC
from numpyro.infer.util import log_density
from scipy.stats import chisquare

from bayesclust.constraints import LinkNoise, PairwiseConstraints, RelativeConstraints
from bayesclust.families import DiagonalGaussian
from bayesclust.inference.numpyro_kernel import PartitionGibbs, PartitionGibbsState
from bayesclust.models import constraint_sites, tvclust
from bayesclust.partition_priors import DirichletProcess

N, K = 5, 3
LINKS = PairwiseConstraints(
    [(0, 1), (1, 2), (0, 3), (3, 4), (0, 1)],
    [True, True, False, True, False],
    n_items=N,
    source=[0, 0, 1, 1, 1],
)
TRIPLETS = RelativeConstraints([(0, 1, 3), (4, 2, 1), (2, 3, 4)], ["yes", "no", "dnk"], n_items=N)
X = np.array([[0.0, 0.4], [0.5, 0.1], [0.9, 1.0], [1.6, 1.1], [1.4, 2.0]])
NOISE = {"p": np.array([0.8, 0.7]), "q": np.array([0.9, 0.6]), "noise": np.array([0.3])}


def gaussians(views):
    """TVClust in two dimensions."""
    tvclust(X, views, DiagonalGaussian(0.5, 6.0, 0.3), DirichletProcess(1.0), K)


def anything(views):
    """Sites of items of every sort: local variables, a factor, masked, scaled and in a second plate."""
    slope = jnp.array([-1.0, 0.5, 2.0])
    with numpyro.plate("point", N):
        z = numpyro.sample("group", dist.Categorical(logits=X[:, :1] * slope))
        local = numpyro.sample("local", dist.Gamma(1.0 + z, 1.0))
        numpyro.factor("tilt", 0.3 * z * local)
        with numpyro.handlers.mask(mask=np.array([True, True, False, True, True])):
            numpyro.sample(
                "count", dist.Poisson(jnp.exp(slope[z] / 2)), obs=np.array([0, 1, 2, 3, 1])
            )
        with numpyro.plate("feature", 2), numpyro.handlers.scale(scale=0.5):
            numpyro.sample("x", dist.Normal(slope[z], 1.0), obs=X.T)
    numpyro.sample("elsewhere", dist.Normal(0.0, 1.0), obs=0.3)
    constraint_sites(views, z)


MODELS = {
    "tvclust": (
        gaussians,
        {
            "mean": np.array([[0.2, 0.3], [1.2, 1.2], [0.8, 1.9]]),
            "variance": np.array([[1.0, 0.8], [0.5, 0.7], [2.0, 1.0]]),
            "stick": np.array([0.4, 0.6]),
        },
        {},
    ),
    "own": (
        anything,
        {"local": np.array([0.5, 1.0, 2.0, 0.1, 3.0])},
        {"site": "group", "plate": "point"},
    ),
}


def known(name, views=(LINKS, TRIPLETS)):
    """A model of which everything but the labels is known, and the names of its labels and items."""
    model, values, names = MODELS[name]
    values = {site: jnp.asarray(value) for site, value in (values | NOISE).items()}
    return numpyro.handlers.condition(partial(model, views), values), names


def exact(name, views=(LINKS, TRIPLETS)):
    """Every label vector with its probability, from NumPyro's density of the whole model."""
    model, names = known(name, views)
    states = np.array(list(itertools.product(range(K), repeat=N)))
    site = names.get("site", "z")
    values = jax.jit(jax.vmap(lambda z: log_density(model, (), {}, {site: z})[0]))(
        jnp.asarray(states)
    )
    weights = np.exp(np.asarray(values) - np.max(values))
    return states, weights / weights.sum()


def p_value(draws, states, probability):
    """Of a chi-square test of independent draws, rare states taken together."""
    base = K ** np.arange(N)[::-1]
    np.testing.assert_array_equal(states @ base, np.arange(len(states)))
    counts = np.bincount(np.asarray(draws) @ base, minlength=len(states))
    expected = probability * len(draws)
    often = expected >= 10
    observed = np.append(counts[often], counts[~often].sum())
    return chisquare(observed, np.append(expected[often], expected[~often].sum())).pvalue


@pytest.mark.parametrize("name", MODELS)
def test_labels_given_the_rest_are_exact(name):
    model, names = known(name)
    site = names.get("site", "z")
    kernel = PartitionGibbs(model, [LINKS, TRIPLETS], **names)
    first = kernel.init(jax.random.key(0), 0, {site: np.zeros(N, int)}, (), {})
    assert np.all(np.asarray(first.z[site]) == 0)

    def chain(key):
        return jax.lax.fori_loop(
            0, 20, lambda _, now: kernel.sample(now, (), {}), first._replace(rng_key=key)
        ).z[site]

    draws = jax.jit(jax.vmap(chain))(jax.random.split(jax.random.key(1), 4000))
    assert p_value(draws, *exact(name)) > 1e-3
    # the test can tell: with one answer turned round, or none about triplets, labels are others
    turned = LINKS.with_answers(LINKS.answers ^ np.array([0, 0, 0, 1, 0], dtype=np.int8))
    assert p_value(draws, *exact(name, (turned, TRIPLETS))) < 1e-9
    assert p_value(draws, *exact(name, (LINKS,))) < 1e-9


def test_labels_without_answers_are_independent_draws():
    model, names = known("own", ())
    kernel = PartitionGibbs(model, **names)
    first = kernel.init(jax.random.key(0), 0, None, (), {})
    draws = jax.jit(
        jax.vmap(lambda key: kernel.sample(first._replace(rng_key=key), (), {}).z["group"])
    )(jax.random.split(jax.random.key(1), 4000))
    assert p_value(draws, *exact("own", ())) > 1e-3


def test_components_in_batches_give_the_same_draws():
    model, _ = known("tvclust")
    found = []
    for batch_size in (None, 2):
        kernel = PartitionGibbs(model, [LINKS, TRIPLETS], batch_size=batch_size)
        state, sweep = (
            kernel.init(jax.random.key(3), 0, None, (), {}),
            jax.jit(lambda now, k=kernel: k.sample(now, (), {})),
        )
        for _ in range(5):
            state = sweep(state)
            found.append(np.asarray(state.z["z"]))
    np.testing.assert_array_equal(found[:5], found[5:])
    assert len(np.unique(found, axis=0)) > 1


def pair():
    """Two items in two equal components, held together by an answer: together with probability 0.8."""
    with numpyro.plate("item", 2):
        z = numpyro.sample("z", dist.Categorical(jnp.ones(2) / 2))
    constraint_sites(TOGETHER, z)


TOGETHER = PairwiseConstraints([(0, 1)], [True], n_items=2, noise=LinkNoise(p=0.8, q=0.8))


@pytest.mark.parametrize(
    ("method", "chains"), [("sequential", 1), ("sequential", 2), ("vectorized", 2), (jax.vmap, 2)]
)
def test_chains_run_in_every_way(method, chains):
    kernel = PartitionGibbs(pair, TOGETHER)
    mcmc = MCMC(
        kernel,
        num_warmup=5,
        num_samples=1000,
        num_chains=chains,
        chain_method=method,
        progress_bar=False,
    )
    mcmc.run(jax.random.key(0), extra_fields=("moved",))
    z, moved = (
        mcmc.get_samples(group_by_chain=True)["z"],
        mcmc.get_extra_fields(group_by_chain=True)["moved"],
    )
    assert z.shape == (chains, 1000, 2)
    assert len({chain.tobytes() for chain in np.asarray(z)}) == chains
    np.testing.assert_allclose(moved[:, 1:], np.mean(z[:, 1:] != z[:, :-1], axis=2))
    np.testing.assert_allclose(np.mean(z[..., 0] == z[..., 1], axis=1), 0.8, atol=0.07)
    np.testing.assert_allclose(np.mean(z, axis=1), 0.5, atol=0.1)


def test_the_progress_bar_says_how_many_labels_move():
    state = PartitionGibbsState({"z": jnp.zeros(N)}, jnp.array([0.3, 0.5]), jax.random.key(0))
    assert PartitionGibbs(gaussians).get_diagnostics_str(state) == "40% of labels moved"


def test_labels_stay_where_none_is_possible():
    """Item 0 has no possible label, item 1 but one, and item 2 one of density nan, which counts as impossible."""
    table = np.array([[-np.inf, -np.inf, -np.inf], [-np.inf, 0.0, -np.inf], [np.nan, -np.inf, 0.0]])

    def model():
        with numpyro.plate("item", 3):
            z = numpyro.sample("z", dist.Categorical(jnp.ones(3) / 3))
            numpyro.factor("given", jnp.asarray(table)[jnp.arange(3), z])

    kernel = PartitionGibbs(model)
    state = kernel.init(jax.random.key(0), 0, {"z": np.array([2, 2, 1])}, (), {})
    sweep = jax.jit(lambda now: kernel.sample(now, (), {}))
    for _ in range(10):
        state = sweep(state)
        assert state.z["z"].tolist() == [2, 1, 2]
