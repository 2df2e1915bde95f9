"""DCRC's NumPyro program and its log joint: two codes, one model."""

import jax
import numpy as np
import numpyro
import numpyro.infer
import pytest
from scipy import stats
from scipy.special import log_softmax

import bayesclust as bc
from bayesclust.constraints.stored import noise_names
from bayesclust.models import WeightPrior, dcrc_log_joint
from bayesclust.models.dcrc import dcrc
from tests.models.test_tvclust import answers, density
from tests.refusals import cases, refusal

N, K = 6, 3
Z = np.array([0, 2, 2, 0, 1, 2])


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 2))


@pytest.fixture
def W(rng):
    return rng.normal(size=(K, 3))


@pytest.mark.parametrize(
    "prior",
    [
        None,
        WeightPrior(2.5, 3.0, separation=4.0, balance=2.0),
        WeightPrior(2.5, 3.0, separation=1.0, balance=2.0, proportions=(0.5, 0.3, 0.2)),
        WeightPrior((3.0, 2.0), 3.0, separation=1.0),
    ],
    ids=["plain", "entropies", "uneven", "learned precision"],
)
def test_program_and_log_joint_agree(X, W, rng, prior):
    views = answers()
    noise = [view.noise.sample_prior(view.n_sources, rng) for view in views]
    sites = {"W": W, "z": Z}
    for names, values in zip(noise_names(views), noise, strict=True):
        sites |= {site: values[parameter] for parameter, site in names.items()}
    precision = 0.7 if prior is not None and isinstance(prior.precision, tuple) else None
    if precision is not None:
        sites["precision"] = precision
    expected = dcrc_log_joint(W, Z, X, views, noise, prior, precision)
    found = density(dcrc, (X, K, views), {"prior": prior}, sites)
    assert found == pytest.approx(expected)


def test_log_joint_by_hand(X, W):
    logits = X @ W[:, :2].T + W[:, 2]
    expected = log_softmax(logits, axis=1)[np.arange(N), Z].sum()
    expected += (
        stats.norm.logpdf(W[:, :2], scale=0.5).sum() + stats.norm.logpdf(W[:, 2], scale=10.0).sum()
    )
    triplets = bc.RelativeConstraints(
        [(1, 2, 0), (0, 1, 4)], ["yes", "no"], n_items=N, noise=bc.UniformNoise(0.1)
    )
    expected += np.log(0.9) + np.log(
        0.05
    )  # Z has 1 and 2 together without 0, and 0, 1, 4 all apart
    found = dcrc_log_joint(W, Z, X, [triplets], [{"noise": np.array([0.1])}], WeightPrior(4.0))
    assert found == pytest.approx(expected)


def test_the_balance_is_a_divergence_from_the_proportions(X, W):
    sizes = np.array([0.5, 0.3, 0.2])
    mean = np.exp(log_softmax(X @ W[:, :2].T + W[:, 2], axis=1)).mean(axis=0)
    drawn, even = WeightPrior(balance=2.0, proportions=tuple(sizes)), WeightPrior()
    difference = dcrc_log_joint(W, Z, X, prior=drawn) - dcrc_log_joint(W, Z, X, prior=even)
    assert difference == pytest.approx(-2.0 * (mean * np.log(mean / sizes)).sum())


def test_enumerated_labels_are_refused(X):
    enumerated = numpyro.handlers.substitute(dcrc, {"z": np.zeros((K, 1), int)})
    with pytest.raises(ValueError, match=r"^the labels z arrived enumerated"):
        numpyro.handlers.seed(enumerated, jax.random.key(0))(X, K)


REFUSED = """
WeightPrior(bias_scale=-1.0)
    ValueError: bias_scale must lie in (0, inf); got -1.0.
WeightPrior(precision=0.0)
    ValueError: precision=0.0 is neither a positive number nor a pair (shape, rate) of positive
    numbers; give one of these.
WeightPrior(proportions=(0.5, 0.4))
    ValueError: proportions must be positive, one per cluster, with sum 1; got (0.5, 0.4).
"""


@pytest.mark.parametrize(("call", "expected"), cases(REFUSED))
def test_bad_priors_are_refused(call, expected):
    assert refusal(call, {"WeightPrior": WeightPrior}) == expected


def test_a_learned_precision_by_hand(W, rng):
    """Its conditional density is proportional to that of weights and precision, by quadrature."""
    prior, at = WeightPrior((3.0, 2.0)), np.linspace(1e-3, 20, 20001)
    density = np.exp([prior.log_density(W, value) for value in at])
    mean = (density * at).sum() / density.sum()
    drawn = np.array([prior.draw_precision(W, rng) for _ in range(4000)])
    assert drawn.mean() == pytest.approx(mean, abs=5 * drawn.std() / np.sqrt(4000))
    assert prior.log_density(W, 2.0) == pytest.approx(
        stats.norm.logpdf(W[:, :2], scale=0.5**0.5).sum()
        + stats.norm.logpdf(W[:, 2], scale=10.0).sum()
        + stats.gamma.logpdf(2.0, 3.0, scale=0.5)
    )
