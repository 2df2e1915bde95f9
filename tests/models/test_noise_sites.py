"""The noise of answers as NumPyro code: densities and draws of the noise models, the informative ones among them."""

import jax
import numpy as np
import numpyro.infer
import pytest
from numpyro.infer.util import log_density
from scipy import stats

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise
from bayesclust.models.noise_sites import noise_sites

MODELS = [
    LinkNoise(),
    LinkNoise(p=0.8, q=(2.0, 3.0)),
    UniformNoise(),
    ConfusionNoise(),
    LinkNoise(p=(1.5, 2.0), q=(1.0, 1.2), informative=True),
    LinkNoise(p=(1.0, 2.0), q=0.6, informative=True),
    LinkNoise(p=0.7, q=(1.0, 1.0), informative=True),
    UniformNoise(eps=(2.0, 1.5), informative=True),
]
CUT = [noise for noise in MODELS if getattr(noise, "informative", False)]
SOURCES = 2


def program(noise):
    names = {name: name for name in noise.parameters}
    return lambda: noise_sites(noise, names, SOURCES)


@pytest.mark.parametrize("noise", MODELS, ids=repr)
def test_density_and_confusion_are_those_of_the_noise_model(noise, rng):
    for _ in range(5):
        params = noise.sample_prior(SOURCES, rng)
        value, _ = log_density(program(noise), (), {}, params)
        assert float(value) == pytest.approx(noise.log_prior(params), rel=1e-9, abs=1e-9)
        table = numpyro.handlers.substitute(program(noise), params)()
        np.testing.assert_allclose(table, noise.confusion(params), atol=1e-12)


@pytest.mark.parametrize("noise", MODELS, ids=repr)
def test_simulated_values_follow_the_prior(noise, rng):
    """Two samplers that share no code, by a test of Kolmogorov and Smirnov for every entry."""
    drawn = numpyro.infer.Predictive(program(noise), num_samples=1000, parallel=True)(
        jax.random.key(1)
    )
    own = noise.sample_prior(5000, rng)
    for name in noise.free:
        for at in np.ndindex(own[name].shape[1:]):
            for source in range(SOURCES):
                found = np.asarray(drawn[name])[:, source][:, *at]
                assert stats.ks_2samp(found, own[name][:, *at]).pvalue > 1e-4


@pytest.mark.parametrize("noise", CUT, ids=repr)
def test_hamiltonian_chains_stay_inside(noise):
    kernel = numpyro.infer.NUTS(program(noise))
    mcmc = numpyro.infer.MCMC(kernel, num_warmup=300, num_samples=1000, progress_bar=False)
    mcmc.run(jax.random.key(2))
    for name in noise.free:
        values = np.asarray(mcmc.get_samples()[name])
        error = 5 * values.std(axis=0) / np.sqrt(200)
        assert (np.abs(values.mean(axis=0) - noise.initial(SOURCES)[name]) < error).all()
    if isinstance(noise, LinkNoise):
        params = {
            name: np.asarray(mcmc.get_samples().get(name, noise.initial(SOURCES)[name]))
            for name in ("p", "q")
        }
        assert (params["p"] + params["q"] > 1).all()


def test_a_noise_model_without_sites_is_refused():
    class Silent(LinkNoise):
        pass

    # registered for its parent, and for no other class
    assert noise_sites.dispatch(Silent) is noise_sites.dispatch(LinkNoise)
    with pytest.raises(TypeError, match="int has no NumPyro part: register one"):
        noise_sites(3, {}, 1)
