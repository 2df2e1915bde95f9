"""The NumPyro program against the exact collapsed joint: two codes, one model."""

import jax
import numpy as np
import numpyro
import numpyro.infer
import pytest
from numpyro.infer.util import log_density
from scipy import stats
from scipy.special import betaln, logsumexp

from bayesclust.constraints import ConfusionNoise, PairwiseConstraints, RelativeConstraints
from bayesclust.inference.collapsed import CollapsedChain, Moves, TVClustProblem
from bayesclust.models import log_joint, tvclust
from bayesclust.models.families import FAMILIES, get_family
from bayesclust.models.joint import noise_names
from bayesclust.models.priors import Concentration, crp_log_prob

N, T = 6, 5
Z = np.array([0, 2, 2, 0, 4, 2])


@pytest.fixture(scope="module", autouse=True)
def in_64_bits():
    jax.config.update("jax_enable_x64", True)


def data_for(name):
    rng = np.random.default_rng(3)
    if name == "multinomial":
        return rng.poisson(2.0, size=(N, 3)) + np.eye(3)[np.arange(N) % 3]
    return rng.normal(size=(N, 2)) * [3.0, 0.2] + [1.0, -4.0]


def answers():
    links = PairwiseConstraints(
        [(0, 1), (1, 2), (0, 3), (3, 4), (0, 1)], [False, True, True, True, True], n_items=N, source=[0, 0, 1, 1, 1]
    )
    more = PairwiseConstraints([(4, 5)], [True], n_items=N, name="more")
    triplets = RelativeConstraints([(0, 1, 2), (3, 0, 4), (5, 1, 2), (4, 3, 0)], ["yes", "dnk", "no", "dnk"], n_items=N)
    other = RelativeConstraints([(1, 2, 4)], ["yes"], n_items=N, name="other", noise=ConfusionNoise())
    return [links, more, triplets, other]


def wishart_parameters(bound, hyper, X):
    """kappa_n, nu_n, m_n, Psi_n, straight from Murphy (2007)."""
    kappa0, nu0, psi0 = bound.parameters(hyper)
    n = len(X)
    mean = X.mean(axis=0) if n else np.zeros(X.shape[1])
    scatter = (X - mean).T @ (X - mean) + kappa0 * n / (kappa0 + n) * np.outer(mean, mean)
    return kappa0 + n, nu0 + n, n * mean / (kappa0 + n), psi0 + scatter


def log_conditional(name, bound, hyper, params):
    """log p(theta | x, z): the conjugate posterior of every component, those without items included."""
    value = 0.0
    for k in range(T):
        X = bound.X[k == Z]
        n = len(X)
        if name == "gaussian":
            kappa, nu, mean, psi = wishart_parameters(bound, hyper, X)
            covariance = params["covariance"][k]
            value += stats.invwishart(nu, psi).logpdf(covariance)
            value += stats.multivariate_normal(mean, covariance / kappa).logpdf(params["mean"][k])
        elif name == "multinomial":
            value += stats.dirichlet(hyper[0] + X.sum(axis=0)).logpdf(params["probability"][k])
        else:
            kappa0, a0, b0 = bound.parameters(hyper)
            kappa, mean = kappa0 + n, X.sum(axis=0) / (kappa0 + n)
            squares = 0.5 * ((X**2).sum(axis=0) - kappa * mean**2)
            if name == "gaussian_spherical":
                shape, rate, variance = a0 + n * X.shape[1] / 2, b0 + squares.sum(), params["variance"][k]
            else:
                shape, rate, variance = a0 + n / 2, b0 + squares, params["variance"][k]
            value += np.sum(stats.invgamma(shape, scale=rate).logpdf(variance))
            value += np.sum(stats.norm(mean, np.sqrt(variance / kappa)).logpdf(params["mean"][k]))
    return value


def log_labels(z, alpha, truncation):
    """log p(z | alpha) of labels under truncated sticks, and log p(sticks | z, alpha) as a function."""
    counts = np.bincount(z, minlength=truncation)
    after = counts[::-1].cumsum()[::-1] - counts
    a, b = 1.0 + counts[:-1], alpha + after[:-1]
    return np.sum(betaln(a, b) - betaln(1.0, alpha)), lambda stick: stats.beta(a, b).logpdf(stick).sum()


@pytest.mark.parametrize("name", FAMILIES)
def test_program_and_collapsed_joint_are_one_model(name):
    """Candidate's identity: p(z, x, s, ...) = p(everything) / p(theta | x, z) / p(sticks | z), at any theta and sticks."""
    X, views, family = data_for(name), answers(), get_family(name)
    bound = family.bind(X)
    trace = numpyro.handlers.trace(numpyro.handlers.seed(tvclust, jax.random.key(7))).get_trace(
        X, views, family, truncation=T, observe=False
    )
    params = {k: np.asarray(s["value"]) for k, s in trace.items() if s["type"] == "sample" and not k.endswith("_answer")}
    params = {k: v for k, v in params.items() if k != "x"} | {"z": Z}
    total, _ = log_density(tvclust, (X, views, family), {"truncation": T}, params)
    hyper = np.array([float(params[prior.name]) for prior in bound.hyper_priors])
    alpha = float(params["concentration"])
    labelled, sticks = log_labels(Z, alpha, T)
    noise = [{k: params[own[k]] for k in own} for own in noise_names(views)]
    collapsed = log_joint(
        Z, bound, views=views, concentration=Concentration(), alpha=alpha, hyper=hyper, noise=noise
    )
    collapsed += labelled - crp_log_prob(np.bincount(Z)[np.bincount(Z) > 0], alpha)
    collapsed -= np.log(hyper).sum()  # the program's density is that of the hyper-parameters, not of their logarithms
    by_program = float(total) - log_conditional(name, bound, hyper, params) - sticks(params["stick"])
    assert by_program == pytest.approx(collapsed, abs=1e-8)


def test_sticks_without_names_are_the_chinese_restaurant_process():
    """Labels summed over all ways to name the clusters approach the CRP as the truncation grows."""
    blocks, alpha = np.array([0, 0, 1, 0, 1]), 1.3
    exact, errors = crp_log_prob(np.bincount(blocks), alpha), []
    for truncation in (5, 20, 60):
        names = [(a, b) for a in range(truncation) for b in range(truncation) if a != b]
        total = logsumexp([log_labels(np.array(pair)[blocks], alpha, truncation)[0] for pair in names])
        errors.append(abs(total - exact))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-8


@pytest.mark.parametrize("name", FAMILIES)
def test_samplers_keep_the_same_joint(name):
    X, views = data_for(name), answers()
    bound = get_family(name).bind(X)
    chain = CollapsedChain(TVClustProblem(bound, tuple(views)), np.zeros(N, int), np.random.default_rng(0), Moves())
    for _ in range(5):
        chain.sweep()
        z = np.unique(chain.seating.z, return_inverse=True)[1]
        plain = log_joint(
            z, bound, views=views, concentration=Concentration(), alpha=chain.alpha, hyper=chain.hyper, noise=chain.noise
        )
        assert chain.log_joint() == pytest.approx(plain, abs=1e-8)


def test_predictive_simulates_data_and_answers():
    X, views = data_for("gaussian"), answers()
    prior = numpyro.infer.Predictive(tvclust, num_samples=20)
    draws = prior(jax.random.key(0), X, views, observe=False)
    assert draws["x"].shape == (20, N, 2)
    assert draws["links_answer"].shape == (20, 5)
    assert draws["p"].shape == (20, 2)
    given = {name: draws[name] for name in ("z", "mean", "covariance")}
    after = numpyro.infer.Predictive(tvclust, posterior_samples=given)(jax.random.key(1), X, views, observe=False)
    assert after["x"].shape == (20, N, 2)


def test_model_can_be_drawn():
    drawing = numpyro.render_model(tvclust, model_args=(data_for("gaussian"), answers()), render_distributions=True)
    assert all(word in drawing.source for word in ("concentration", "links_answer", "component"))


def test_enumerated_labels_are_refused():
    enumerated = numpyro.handlers.substitute(tvclust, data={"z": np.arange(T)[:, None] * np.ones((1, N), int)})
    with pytest.raises(ValueError, match=r"^the labels z arrived enumerated, with shape \(5, 6\): "):
        numpyro.handlers.seed(enumerated, jax.random.key(0))(data_for("gaussian_diagonal"), answers(), "gaussian_diagonal")
