"""Noise models as NumPyro sites: densities and draws are those of the models."""

import jax
import numpy as np
import numpyro.infer
import pytest
from numpyro.infer.util import log_density
from scipy import stats

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise
from bayesclust.inference.limits.evidence import KnownEvidence
from bayesclust.models.sites import noise_sites
from docs.skeletons.constraint import OddNoise

MODELS = [
    LinkNoise(),
    LinkNoise(p=0.8, q=(2.0, 3.0)),
    UniformNoise(),
    ConfusionNoise(),
    ConfusionNoise(matrix=np.full((3, 3), 1 / 3)),
    OddNoise(),
]
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


def test_a_noise_model_that_is_not_made_of_rows_is_refused():
    with pytest.raises(
        TypeError, match="KnownEvidence has no NumPyro part: write it as a Dirichlet"
    ):
        noise_sites(KnownEvidence(), {}, 1)
