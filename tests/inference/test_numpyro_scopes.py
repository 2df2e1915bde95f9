"""Models whose labels cannot be redrawn colour by colour are refused, in a sentence, before sampling."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer.gibbs import conditioned, with_conditioning

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.numpyro_kernel import PartitionGibbs
from bayesclust.inference.numpyro_scopes import Scope
from bayesclust.models import constraint_sites

N = 8
LINKS = PairwiseConstraints([(0, 1), (2, 3)], [True, False], n_items=N)
OTHER = PairwiseConstraints([(0, 4), (2, 5)], [True, False], n_items=N)
MEAN = jnp.array([-1.0, 0.0, 2.0])
Y = jnp.linspace(-1.0, 2.0, N)
KNOWN = {"p": np.array([0.9]), "q": np.array([0.9])}


def model(
    likelihood=None, outside=None, views=LINKS, plate="item", site="z", labels=None, obs=None
):
    """A mixture, known but for its labels, with something wrong about it."""

    def program():
        with numpyro.plate(plate, N):
            z = numpyro.sample(site, labels or dist.Categorical(jnp.ones(3) / 3), obs=obs)
            if likelihood:
                likelihood(z)
            else:
                numpyro.sample("y", dist.Normal(MEAN[z], 1.0), obs=Y)
        if outside:
            outside(z)
        constraint_sites(views, z)

    return numpyro.handlers.condition(program, KNOWN)


def start(program, views=LINKS, z=None, **options):
    options = {"constraints": views} | options
    return PartitionGibbs(program, **options).init(
        jax.random.key(0), 0, z if z is None else {"z": z}, (), {}
    )


def one_neighbour(z):
    """The last item heeds the first."""
    numpyro.factor("pull", jnp.where(jnp.arange(N) == N - 1, jnp.where(z == z[0], 1.0, 0.0), 0.0))


def of_the_mean(z, scale=1.0):
    mean = jax.ops.segment_sum(Y, z, 3) / jnp.maximum(jnp.bincount(z, length=3), 1)
    numpyro.sample("y", dist.Normal(mean[z], scale), obs=Y)


def prior_of_sizes(z):
    numpyro.factor("restaurant", jax.scipy.special.gammaln(jnp.bincount(z, length=3) + 1.0).sum())


def joint_likelihood(z):
    numpyro.sample("y", dist.Normal(MEAN[z], 1.0).to_event(1), obs=Y)


WRONG = {
    "no site": (
        {"program": model(), "site": "labels"},
        r"^the model has no site 'labels', only 'z', 'y', 'p', 'q', ",
    ),
    "observed": ({"program": model(obs=np.zeros(N, int))}, r"^the labels 'z' are observed: "),
    "no labels": (
        {"program": model(), "site": "p", "constraints": None},
        r"^the labels 'p' are observed: ",
    ),
    "continuous": (
        {
            "program": model(likelihood=lambda z: numpyro.sample("w", dist.Normal(0, 1))),
            "site": "w",
        },
        r"^the labels 'w' are not from a finite set: they must be a latent Categorical site\.$",
    ),
    "plate": (
        {"program": model(plate="point")},
        r"^the labels 'z' have shape \(8,\) in the plates \{'point': 8\}: ",
    ),
    "latent": (
        {"program": model(outside=lambda z: numpyro.sample("scale", dist.Gamma(1, 1)))},
        r"^PartitionGibbs redraws 'z' alone, but 'scale' are latent too: make it a block of numpyro.infer.Gibbs ",
    ),
    "outside": (
        {"program": model(likelihood=lambda z: None, outside=joint_likelihood)},
        r"^site 'y' depends on the labels 'z', but lies neither in the plate 'item' nor in that of the answers of a view: ",
    ),
    "sizes": (
        {"program": model(outside=prior_of_sizes)},
        r"^site 'restaurant' depends on the labels 'z', but lies ",
    ),
    "others": (
        {"program": model(likelihood=of_the_mean)},
        r"^site 'y' depends, for one item of the plate 'item', on the labels of other items: say it item by item, or ",
    ),
    "neighbour": (
        {"program": model(likelihood=one_neighbour)},
        r"^site 'pull' depends, for one item of the plate ",
    ),
    "unknown view": (
        {"program": model(), "constraints": None},
        r"^site 'links_answer' depends on the labels 'z', but lies ",
    ),
    "other view": (
        {"program": model(), "constraints": OTHER},
        r"^site 'links_answer' depends on labels of items that its ",
    ),
    "no answers": (
        {"program": model(views=None), "constraints": LINKS},
        r"^no site of the model lies in a plate 'links_answers' of size 2: call constraint_sites",
    ),
    "another number": (
        {"program": model(), "constraints": PairwiseConstraints([(0, 1)], [True], n_items=N + 1)},
        r"^the constraints 'links' are on 9 items, but the model has 8 labels 'z': ",
    ),
    "shape": (
        {"program": model(), "z": np.zeros(N + 1, int)},
        r"^the first labels have shape \(9,\), but the model ",
    ),
    "range": (
        {"program": model(), "z": np.full(N, 3)},
        r"^the first labels reach from 3 to 3, but those of the model ",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_models_that_the_kernel_would_get_wrong_are_refused(case):
    options, sentence = WRONG[case]
    with pytest.raises(ValueError, match=sentence):
        start(**options)


@pytest.mark.parametrize(
    "views", [[LINKS, OTHER], [LINKS, OTHER, PairwiseConstraints([], [], n_items=N, name="none")]]
)
def test_a_right_model_passes(views):
    numpyro_names = {
        "p_links_2": KNOWN["p"],
        "q_links_2": KNOWN["q"],
        "p_none": KNOWN["p"],
        "q_none": KNOWN["q"],
    }
    program = numpyro.handlers.condition(model(views=views), numpyro_names)
    state = start(program, views, z=np.full(N, 2))
    assert state.z["z"].tolist() == [2] * N


def test_views_are_checked_when_the_kernel_is_made():
    with pytest.raises(TypeError, match=r"^constraints\[1\] must be PairwiseConstraints or "):
        PartitionGibbs(model(), [LINKS, 3])
    with pytest.raises(ValueError, match=r"^the constraints 'links' are on 9 items, but X has 8"):
        PartitionGibbs(model(), [LINKS, PairwiseConstraints([(0, 1)], [True], n_items=N + 1)])


@pytest.mark.parametrize(
    ("items", "mixed", "kept"),
    [
        (
            [(0, 1), (1, 2)],
            [1.0, 9.0],
            True,
        ),  # the items of the second come from both labellings: it may be anything
        ([(0, 1), (1, 2)], [4.0, 2.0], False),
        ([(2, 3), (1, 2)], [4.0, 2.0], True),
        ([(2, 3), (1, 2)], [1.0, 2.0], False),
        ([(2,), (0,)], [4.0, 2.0], True),
        ([(2,), (0,)], [4.0, np.nan], False),
        (np.empty((2, 0), int), [1.0, 2.0], False),
    ],
)
def test_elements_follow_the_labelling_that_their_items_come_from(items, mixed, kept):
    scope = Scope("item", -1, np.array(items))
    mine, first, second = (
        np.array([[True, True, False, False]]),
        np.array([[1.0, 2.0]]),
        np.array([[4.0, 2.0]]),
    )
    assert scope.kept(mine, np.array([mixed]), first, second) is kept


@pytest.mark.parametrize("transform", [jax.vmap, jax.jit])
def test_wrong_models_are_found_out_inside_transformations(transform):
    """Values of other sites, which a block of a Gibbs sampler is given, may be abstract."""

    def free():
        scale = numpyro.sample("scale", dist.Gamma(1.0, 1.0))
        with numpyro.plate("item", N):
            of_the_mean(numpyro.sample("z", dist.Categorical(jnp.ones(3) / 3)), scale)

    kernel = PartitionGibbs(free).wrap_model(conditioned)

    def first(key):
        others = with_conditioning({}, {"scale": jax.random.uniform(key)})
        return kernel.init(key, 0, None, (), others)

    with pytest.raises(
        ValueError,
        match=r"^site 'y' depends, for one item of the plate 'item', on the labels of other",
    ):
        transform(first)(
            jax.random.split(jax.random.key(0), 2) if transform is jax.vmap else jax.random.key(0)
        )


def test_abstract_arguments_are_taken_on_trust():
    def program(y):
        with numpyro.plate("item", N):
            z = numpyro.sample("z", dist.Categorical(jnp.ones(3) / 3))
            numpyro.sample("y", dist.Normal(5 * MEAN[z], 0.1), obs=y)

    kernel = PartitionGibbs(program)

    @jax.jit
    def run(y):
        return kernel.sample(kernel.init(jax.random.key(0), 0, None, (y,), {}), (y,), {}).z["z"]

    z = np.array([0, 2, 1, 1, 0, 2, 2, 1])
    np.testing.assert_array_equal(run(5 * MEAN[z]), z)
