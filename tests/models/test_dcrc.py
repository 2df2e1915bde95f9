"""DCRC's NumPyro program, against its density by hand."""

import jax
import numpy as np
import numpyro
import pytest
from scipy import stats
from scipy.special import log_softmax

from bayesclust.constraints.stored import noise_names
from bayesclust.models.dcrc import dcrc
from tests.models.test_tvclust import answers, density
from tests.refusals import refused

N, K = 6, 3
Z = np.array([0, 2, 2, 0, 1, 2])


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 2))


@pytest.fixture
def W(rng):
    return rng.normal(size=(K, 3))


@pytest.mark.parametrize(
    ("prior", "named"),
    [
        ({}, True),
        ({"precision": 2.5, "bias_scale": 3.0, "separation": 4.0, "balance": 2.0}, True),
        ({"precision": (3.0, 2.0), "bias_scale": 3.0, "separation": 1.0}, False),
    ],
    ids=["plain", "entropies", "learned precision"],
)
def test_density_by_hand(X, W, rng, prior, named):
    views = answers() if named else []
    noise = [view.noise.sample_prior(view.n_sources, rng) for view in views]
    sites = {"W": W, "z": Z}
    for names, values in zip(noise_names(views), noise, strict=True):
        sites |= {site: values[parameter] for parameter, site in names.items()}
    precision, expected = prior.get("precision", 1.0), 0.0
    if isinstance(precision, tuple):
        sites["precision"] = precision = 0.7
        expected += stats.gamma.logpdf(0.7, 3.0, scale=0.5)
    expected += stats.norm.logpdf(W[:, :2], scale=precision**-0.5).sum()
    expected += stats.norm.logpdf(W[:, 2], scale=prior.get("bias_scale", 10.0)).sum()
    log_p = log_softmax(X @ W[:, :2].T + W[:, 2], axis=1)
    expected += log_p[np.arange(N), Z].sum()
    free = np.setdiff1d(
        np.arange(N), np.concatenate([[-1], *(view.items.ravel() for view in views)])
    )
    if len(free):
        entropy = -(np.exp(log_p) * log_p)[free].sum(axis=1).mean()
        expected -= prior.get("separation", 0.0) * entropy
    mean = np.exp(log_p).mean(axis=0)
    expected -= prior.get("balance", 0.0) * (mean * np.log(mean)).sum()
    for view, own in zip(views, noise, strict=True):
        expected += view.log_prob(Z, own) + view.noise.log_prior(own)
    assert density(dcrc, (X, K, views), prior, sites) == pytest.approx(expected)


def test_enumerated_labels_are_refused(X):
    enumerated = numpyro.handlers.substitute(dcrc, {"z": np.zeros((K, 1), int)})
    with pytest.raises(ValueError, match=r"^the labels z have shape .* they arrived enumerated"):
        numpyro.handlers.seed(enumerated, jax.random.key(0))(X, K)


REFUSED = """
dcrc([[1.0]], 2, bias_scale=-1.0)
    ValueError: bias_scale must lie in (0, inf); got -1.0.
dcrc([[1.0]], 2, precision=0.0)
    ValueError: precision=0.0 is neither a positive number nor a pair (shape, rate) of positive
    numbers; give one of these.
"""
test_bad_priors_are_refused = refused(REFUSED, {"dcrc": dcrc})
