"""The kernel for NumPyro against enumeration of the model's density; models that it refuses."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer import MCMC
from numpyro.infer.gibbs import conditioned, with_conditioning
from numpyro.infer.util import log_density
from scipy.stats import chisquare

from bayesclust.constraints import LinkNoise, PairwiseConstraints, RelativeConstraints
from bayesclust.families import DiagonalGaussian
from bayesclust.inference.numpyro_kernel import PartitionGibbs
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
    """Sites of every sort: local variables, a factor, masked, scaled and in a second plate."""
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
    """A model with everything but the labels known, and the names of its labels and items."""
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


def pair():
    """Two items in two equal components and an answer: together with probability 0.8."""
    with numpyro.plate("item", 2):
        z = numpyro.sample("z", dist.Categorical(jnp.ones(2) / 2))
    constraint_sites(TOGETHER, z)


TOGETHER = PairwiseConstraints([(0, 1)], [True], n_items=2, noise=LinkNoise(p=0.8, q=0.8))


@pytest.mark.parametrize(
    ("scope", "method", "chains"),
    [("", "sequential", 1), ("", jax.vmap, 2), ("part/", "sequential", 1)],
)
def test_chains_run_in_every_way(scope, method, chains):
    program = numpyro.handlers.scope(pair, prefix="part") if scope else pair
    kernel = PartitionGibbs(program, TOGETHER, site=f"{scope}z", plate=f"{scope}item")
    settings = {"num_warmup": 5, "num_samples": 1000, "num_chains": chains, "progress_bar": False}
    mcmc = MCMC(kernel, **settings, chain_method=method)
    mcmc.run(jax.random.key(0), extra_fields=("moved",))
    z = mcmc.get_samples(group_by_chain=True)[f"{scope}z"]
    moved = mcmc.get_extra_fields(group_by_chain=True)["moved"]
    assert z.shape == (chains, 1000, 2)
    assert len({chain.tobytes() for chain in np.asarray(z)}) == chains
    np.testing.assert_allclose(moved[:, 1:], np.mean(z[:, 1:] != z[:, :-1], axis=2))
    np.testing.assert_allclose(np.mean(z[..., 0] == z[..., 1], axis=1), 0.8, atol=0.07)
    np.testing.assert_allclose(np.mean(z, axis=1), 0.5, atol=0.1)


@pytest.mark.parametrize("key", [jax.random.key(0), jax.random.PRNGKey(0)])
def test_keys_of_several_chains_are_refused(key):
    kernel = PartitionGibbs(pair, TOGETHER)
    with pytest.raises(ValueError, match="keys of several chains at once"):
        kernel.init(jax.random.split(key, 2), 0, {}, (), {})
    assert kernel.init(key, 0, {}, (), {}).z["z"].shape == (2,)


def test_labels_stay_where_none_is_possible():
    """Item 0 has no possible label, item 1 one, and item 2 one of density nan: impossible."""
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


# --- models whose labels cannot be redrawn colour by colour

N_ITEMS = 8
TWO_LINKS = PairwiseConstraints([(0, 1), (2, 3)], [True, False], n_items=N_ITEMS)
OTHER = PairwiseConstraints([(0, 4), (2, 5)], [True, False], n_items=N_ITEMS)
MEAN = jnp.array([-1.0, 0.0, 2.0])
Y = jnp.linspace(-1.0, 2.0, N_ITEMS)
KNOWN = {"p": np.array([0.9]), "q": np.array([0.9])}


def program_with(likelihood=None, outside=None, constraints=TWO_LINKS, plate="item", obs=None):
    """A mixture, known but for its labels, with something wrong about it."""

    def program():
        with numpyro.plate(plate, N_ITEMS):
            z = numpyro.sample("z", dist.Categorical(jnp.ones(3) / 3), obs=obs)
            if likelihood:
                likelihood(z)
            else:
                numpyro.sample("y", dist.Normal(MEAN[z], 1.0), obs=Y)
        if outside:
            outside(z)
        constraint_sites(constraints, z)

    return numpyro.handlers.condition(program, KNOWN)


def start(program, constraints=TWO_LINKS, z=None, **options):
    kernel = PartitionGibbs(program, constraints, **options)
    return kernel.init(jax.random.key(0), 0, z if z is None else {"z": z}, (), {})


def one_neighbour(z):
    """The last item depends on the first."""
    numpyro.factor("pull", jnp.where(jnp.arange(N_ITEMS) == N_ITEMS - 1, z == z[0], 0.0))


def of_the_mean(z, scale=1.0):
    mean = jax.ops.segment_sum(Y, z, 3) / jnp.maximum(jnp.bincount(z, length=3), 1)
    numpyro.sample("y", dist.Normal(mean[z], scale), obs=Y)


def prior_of_sizes(z):
    numpyro.factor("restaurant", jax.scipy.special.gammaln(jnp.bincount(z, length=3) + 1.0).sum())


def joint_likelihood(z):
    numpyro.sample("y", dist.Normal(MEAN[z], 1.0).to_event(1), obs=Y)


def of_scale(z):
    numpyro.sample("scale", dist.Gamma(1, 1))


def nothing(z):
    pass


NORMAL = program_with(likelihood=lambda z: numpyro.sample("w", dist.Normal(0, 1)))
MORE_ITEMS = PairwiseConstraints([(0, 1)], [True], n_items=N_ITEMS + 1)
USUAL = program_with()
ELSEWHERE = r"^site '{}', outside these plates, depends on labels 'z' of other items than its own: "
OF_OTHERS = r"^site '{}', in the plate 'item', depends on labels 'z' of other items than its own: "
WRONG = [
    ({"site": "labels"}, r"^the model has no site 'labels', only 'z', 'y', 'p', 'q', "),
    ({"program": program_with(obs=np.zeros(N_ITEMS, int))}, r"^the labels 'z' are observed: "),
    ({"site": "p", "constraints": None}, r"^the labels 'p' are observed: "),
    ({"program": NORMAL, "site": "w"}, r"^the labels 'w' are not from a finite set: they must be "),
    (
        {"program": program_with(plate="point")},
        r"^the labels 'z' have shape \(8,\) in the plates \{'point': 8\}: ",
    ),
    (
        {"program": program_with(outside=of_scale)},
        r"^PartitionGibbs redraws 'z' alone, but 'scale' are latent too: make it a block of ",
    ),
    ({"program": program_with(nothing, outside=joint_likelihood)}, ELSEWHERE.format("y")),
    ({"program": program_with(outside=prior_of_sizes)}, ELSEWHERE.format("restaurant")),
    ({"program": program_with(of_the_mean)}, OF_OTHERS.format("y")),
    ({"program": program_with(one_neighbour)}, OF_OTHERS.format("pull")),
    ({"constraints": None}, ELSEWHERE.format("links_answer")),
    ({"constraints": OTHER}, r"^site 'links_answer', in the plate 'links_answers', depends on lab"),
    (
        {"program": program_with(constraints=None)},
        r"^the constraints 'links' are 2 on 8 items, but the model has 8 labels 'z' and no ",
    ),
    (
        {"constraints": MORE_ITEMS},
        r"^the constraints 'links' are 1 on 9 items, but the model has 8 ",
    ),
    (
        {"z": np.zeros(N_ITEMS + 1, int)},
        r"^the first labels have shape \(9,\) and reach from 0 to 0, but",
    ),
    (
        {"z": np.full(N_ITEMS, 3)},
        r"^the first labels have shape \(8,\) and reach from 3 to 3, but ",
    ),
]


@pytest.mark.parametrize(("options", "sentence"), WRONG, ids=[row[1][1:40] for row in WRONG])
def test_models_that_the_kernel_would_get_wrong_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        start(**({"program": USUAL} | options))


def test_a_right_model_passes():
    views = [TWO_LINKS, OTHER, PairwiseConstraints([], [], n_items=N_ITEMS, name="none")]
    numpyro_names = {f"{rate}_{name}": KNOWN["p"] for rate in "pq" for name in ("links_2", "none")}
    program = numpyro.handlers.condition(program_with(constraints=views), numpyro_names)
    state = start(program, views, z=np.full(N_ITEMS, 2))
    assert state.z["z"].tolist() == [2] * N_ITEMS


@pytest.mark.parametrize("transform", [jax.vmap, jax.jit])
def test_wrong_models_are_refused_inside_transformations(transform):
    """Values of other sites, which a block of a Gibbs sampler is given, may be abstract."""

    def free():
        scale = numpyro.sample("scale", dist.Gamma(1.0, 1.0))
        with numpyro.plate("item", N_ITEMS):
            of_the_mean(numpyro.sample("z", dist.Categorical(jnp.ones(3) / 3)), scale)

    kernel = PartitionGibbs(free).wrap_model(conditioned)

    def first(key):
        others = with_conditioning({}, {"scale": jax.random.uniform(key)})
        return kernel.init(key, 0, None, (), others)

    key = jax.random.key(0)
    with pytest.raises(ValueError, match=r"^site 'y', in the plate 'item', depends on labels"):
        transform(first)(jax.random.split(key, 2) if transform is jax.vmap else key)


def test_abstract_arguments_are_not_checked():
    def program(y):
        with numpyro.plate("item", N_ITEMS):
            z = numpyro.sample("z", dist.Categorical(jnp.ones(3) / 3))
            numpyro.sample("y", dist.Normal(5 * MEAN[z], 0.1), obs=y)

    kernel = PartitionGibbs(program)

    @jax.jit
    def run(y):
        return kernel.sample(kernel.init(jax.random.key(0), 0, None, (y,), {}), (y,), {}).z["z"]

    z = np.array([0, 2, 1, 1, 0, 2, 2, 1])
    np.testing.assert_array_equal(run(5 * MEAN[z]), z)
