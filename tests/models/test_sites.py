"""Constraints in a program of one's own: sites of answers and of their noise."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer import MCMC, NUTS, Predictive
from numpyro.infer.util import log_density

from bayesclust.constraints import (
    ConfusionNoise,
    GradeNoise,
    LinkNoise,
    PairwiseConstraints,
    RelativeConstraints,
    UniformNoise,
)
from bayesclust.inference.limits.path_model import KnownEvidence
from bayesclust.models import constraint_sites
from bayesclust.models.sites import noise_sites
from docs.skeletons.constraint import OddNoise

N = 6
LINKS = PairwiseConstraints(
    [(0, 1), (1, 2), (0, 4)], [True, False, True], n_items=N, source=[0, 1, 1]
)
MORE = PairwiseConstraints([(2, 5)], [False], n_items=N)
TRIPLETS = RelativeConstraints([(0, 1, 2), (3, 4, 5)], ["yes", "dnk"], n_items=N)


def program(views, observe=True):
    with numpyro.plate("item", N):
        z = numpyro.sample("z", dist.Categorical(jnp.ones(3) / 3))
    constraint_sites(views, z, observe=observe)


def test_sites_give_the_probability_of_answers():
    """Known noise under which an answer is impossible, and no answers, included."""
    sure = TRIPLETS.with_noise(UniformNoise(eps=0.0))
    views = [LINKS, MORE, TRIPLETS, sure, PairwiseConstraints([], [], n_items=N, name="none")]
    start = numpyro.infer.init_to_uniform  # any values will do, and draws compile slowly
    anywhere = numpyro.handlers.substitute(numpyro.handlers.seed(program, 0), None, start)
    trace = numpyro.handlers.trace(anywhere).get_trace(views)
    latent = [name for name, site in trace.items() if is_latent(site)]
    assert latent == [*("z", "p", "q", "p_links_2", "q_links_2", "noise", "p_none", "q_none")]
    z = np.asarray(trace["z"]["value"])
    suffix = {"links": "", "links_2": "_links_2", "triplets": "", "triplets_2": "_triplets_2"}
    for name, view in zip(suffix, views, strict=False):
        own = view.noise.parameters
        noise = {rate: np.asarray(trace[rate + suffix[name]]["value"]) for rate in own}
        site = trace[f"{name}_answer"]
        assert site["cond_indep_stack"][0].name == f"{name}_answers"
        expected = view.log_prob(z, noise)
        assert float(site["fn"].log_prob(site["value"]).sum()) == pytest.approx(expected, abs=1e-9)
    assert expected < -700


def is_latent(site):
    return site["type"] == "sample" and not site["is_observed"]


def test_answers_are_simulated_where_they_are_not_observed():
    sure = [LINKS.with_noise(LinkNoise(p=1 - 1e-9, q=1 - 1e-9))]
    draws = Predictive(program, num_samples=50)(jax.random.key(0), sure, observe=False)
    np.testing.assert_array_equal(draws["links_answer"], LINKS.truths(np.asarray(draws["z"])))


def test_no_answers_are_no_sites():
    trace = numpyro.handlers.trace(numpyro.handlers.seed(program, 0)).get_trace(None)
    assert list(trace) == ["item", "z"]


def test_enumerated_labels_and_other_items_are_refused():
    enumerated = numpyro.handlers.substitute(
        program, data={"z": np.arange(3)[:, None] * np.ones((1, N), int)}
    )
    refused = r"^the labels z have shape .* arrived enumerated, .*PartitionGibbs redraws z beside"
    with pytest.raises(ValueError, match=refused):
        numpyro.handlers.seed(enumerated, 0)([LINKS])
    with pytest.raises(ValueError, match=r"^the constraints 'links' are on 6 items, but X has 4"):
        constraint_sites(LINKS, jnp.zeros(4, int))
    with pytest.raises(TypeError, match=r"^constraints must be PairwiseConstraints, Rel"):
        constraint_sites(3, jnp.zeros(4, int))


@pytest.mark.filterwarnings("ignore:Some algorithms will automatically enumerate:FutureWarning")
def test_summing_over_labels_is_refused_by_who_is_asked_first():
    """NumPyro itself, which needs funsor for it; with that, the sites of the answers."""
    mcmc = MCMC(NUTS(program), num_warmup=1, num_samples=1, progress_bar=False)
    funsor = importlib.util.find_spec("funsor")
    expected = (ValueError, "PartitionGibbs beside NUTS") if funsor else (ImportError, "funsor")
    with pytest.raises(expected[0], match=expected[1]):
        mcmc.run(jax.random.key(0), [LINKS])


MODELS = [
    LinkNoise(),
    LinkNoise(p=0.8, q=(2.0, 3.0)),
    LinkNoise(p=0.8, q=(2.0, 3.0), pooled=True),
    UniformNoise(pooled=True),
    UniformNoise(),
    ConfusionNoise(),
    GradeNoise(),
    ConfusionNoise(matrix=np.full((3, 3), 1 / 3)),
    OddNoise(),
]
SOURCES = 2


def noise_program(noise):
    names = {name: name for name in noise.parameters}
    return lambda: noise_sites(noise, names, SOURCES)


@pytest.mark.parametrize("noise", MODELS, ids=repr)
def test_density_and_confusion_are_those_of_the_noise_model(noise, rng):
    for _ in range(5):
        params = noise.sample_prior(SOURCES, rng)
        value, _ = log_density(noise_program(noise), (), {}, params)
        assert float(value) == pytest.approx(noise.log_prior(params), rel=1e-9, abs=1e-9)
        table = numpyro.handlers.substitute(noise_program(noise), params)()
        np.testing.assert_allclose(table, noise.confusion(params), atol=1e-12)


def test_pooled_rows_are_sampled_by_their_rates(rng):
    noise = ConfusionNoise(pooled=True)
    params = noise.sample_prior(SOURCES, rng)
    rows = params["confusion"]
    # a row is told kind by kind, among those that are left
    left = np.stack([np.ones(rows.shape[:2]), 1 - rows[..., 0]], axis=-1)
    rates = (rows[..., :2] / left).reshape(SOURCES, 6).T
    value, _ = log_density(noise_program(noise), (), {}, {"confusion_rates": rates})
    assert float(value) == pytest.approx(noise.log_prior(params) + np.log(left).sum(), rel=1e-9)
    table = numpyro.handlers.substitute(noise_program(noise), {"confusion_rates": rates})()
    np.testing.assert_allclose(table, noise.confusion(params), atol=1e-12)


def test_a_noise_model_that_is_not_made_of_rows_is_refused():
    with pytest.raises(TypeError, match="KnownEvidence has no NumPyro part: write it as a Dir"):
        noise_sites(KnownEvidence(), {}, 1)
