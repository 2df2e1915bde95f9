"""The NumPyro program against the exact collapsed joint: two codes, one model."""

import itertools
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.infer
import pytest
from numpyro.infer.inspect import get_model_relations
from numpyro.infer.util import log_density
from scipy import stats
from scipy.special import betaln, logsumexp

import bayesclust as bc
from bayesclust.constraints import ConfusionNoise, PairwiseConstraints, RelativeConstraints
from bayesclust.constraints.stored import noise_names
from bayesclust.families import (
    FAMILIES,
    DiagonalGaussian,
    HurdleGaussian,
    Product,
    SphericalGaussian,
    get_family,
)
from bayesclust.families.discrete import Recoded
from bayesclust.models import dcrc, log_joint, tvclust, tvclust_marginal, tvclust_mixture
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import with_holes
from tests.families.reference import DATA, binary_data, coded_data, count_data, log_conditional

N, T = 6, 5
SLOW = pytest.mark.slow
Z = np.array([0, 2, 2, 0, 4, 2])
DISCRETE = {"bernoulli": binary_data, "poisson": count_data, "categorical": coded_data}


def data_for(name):
    rng = np.random.default_rng(3)
    if name == "multinomial":
        return rng.poisson(2.0, size=(N, 3)) + np.eye(3)[np.arange(N) % 3]
    if FAMILIES.get(name) in DATA:
        return DATA[FAMILIES[name]](N, 3, rng)
    if name == "mixed with holes":
        columns = [rng.normal(size=(N, 3)), *(DISCRETE[kind](N, 2, rng) for kind in DISCRETE)]
        X = np.concatenate(columns, axis=1)[:, [3, 0, 4, 1, 2, 5, 6, 7, 8]]
        return with_holes(X, rng)
    if name == "hurdle":
        return np.c_[rng.normal(1.0, 1.0, size=(N, 2)).clip(0, 2), np.arange(N) % 2]
    return rng.normal(size=(N, 2)) * [3.0, 0.2] + [1.0, -4.0]


def answers():
    links = PairwiseConstraints(
        [(0, 1), (1, 2), (0, 3), (3, 4), (0, 1)],
        [False, True, True, True, True],
        n_items=N,
        source=[0, 0, 1, 1, 1],
    )
    more = PairwiseConstraints([(4, 5)], [True], n_items=N, name="more")
    triplets = RelativeConstraints(
        [(0, 1, 2), (3, 0, 4), (5, 1, 2), (4, 3, 0)], ["yes", "dnk", "no", "dnk"], n_items=N
    )
    other = RelativeConstraints(
        [(1, 2, 4)], ["yes"], n_items=N, name="other", noise=ConfusionNoise()
    )
    return [links, more, triplets, other]


def log_labels(z, alpha, truncation):
    """log p(z | alpha) under truncated sticks, and log p(sticks | z, alpha) as a function."""
    counts = np.bincount(z, minlength=truncation)
    after = counts[::-1].cumsum()[::-1] - counts
    a, b = 1.0 + counts[:-1], alpha + after[:-1]
    value = np.sum(betaln(a, b) - betaln(1.0, alpha))
    return value, lambda stick: stats.beta(a, b).logpdf(stick).sum()


def drawn(program, *given, **options):
    """Values of the latent sites of a program: any will do, and draws compile slowly."""

    @jax.jit
    def values(key):
        start = numpyro.infer.init_to_uniform
        anywhere = numpyro.handlers.substitute(numpyro.handlers.seed(program, key), None, start)
        trace = numpyro.handlers.trace(anywhere).get_trace(*given, **options)
        samples = {name: site for name, site in trace.items() if site["type"] == "sample"}
        return {name: one["value"] for name, one in samples.items() if not one["is_observed"]}

    return {name: np.asarray(value) for name, value in values(jax.random.key(7)).items()}


def density(program, given, options, params):
    """The log density of a program, compiled as a whole."""
    return float(jax.jit(lambda at: log_density(program, given, options, at)[0])(params))


DISCRETE_PARTS = [("bernoulli", [0, 2]), ("poisson", [5, 6]), ("categorical", [7, 8])]
WITH_GAPS = Product([*DISCRETE_PARTS, (DiagonalGaussian(), [1, 3, 4])])
CASES = [(1.0, name, get_family(name)) for name in FAMILIES]
CASES += [(0.3, "gaussian_tied", get_family("gaussian_tied")), (0.3, "mixed with holes", WITH_GAPS)]
MORE = [
    (1.0, "mixed with holes", WITH_GAPS),
    (1.0, "hurdle", Product([(HurdleGaussian([[0.0], [2.0, 0.0]]), [0, 1]), (Recoded(), 2)])),
]
CASES += [pytest.param(*case, marks=SLOW) for case in MORE]


@pytest.mark.parametrize(("power", "name", "family"), CASES)
def test_program_and_collapsed_joint_are_one_model(power, name, family):
    """Candidate's identity: p(z, x, s, ...) = p(everything) / p(theta | x, z) / p(sticks | z)."""
    X, views = data_for(name), answers()
    bound = family.bind(X).coarsened(power)
    params = drawn(tvclust, X, views, family, truncation=T) | {"z": Z}
    total = density(tvclust, (X, views, family), {"truncation": T, "power": power}, params)
    hyper = np.array([float(params.get(prior.name, prior.median)) for prior in bound.hyper_priors])
    if bound.n_shared:
        hyper = np.append(hyper, params["within_covariance"])
    alpha = float(params["concentration"])
    labelled, sticks = log_labels(Z, alpha, T)
    noise = [{k: params[own[k]] for k in own} for own in noise_names(views)]
    collapsed = log_joint(
        Z,
        bound,
        constraints=views,
        partition_prior=DirichletProcess(),
        values={"concentration": alpha},
        hyper=hyper,
        noise=noise,
    )
    collapsed += labelled - DirichletProcess(alpha).log_marginal(np.bincount(Z)[np.bincount(Z) > 0])
    # the program's density is that of the hyper-parameters, not of their logarithms
    collapsed -= np.log(hyper[bound.free]).sum()
    by_program = total - log_conditional(bound, hyper, Z, T, params) - sticks(params["stick"])
    assert by_program == pytest.approx(collapsed, abs=1e-8)


@pytest.mark.parametrize("name", [*FAMILIES, "mixed with holes"])
def test_the_marginal_program_sums_over_all_labels(name):
    """Its density is the sum of the program's over the 2^6 labellings."""
    X, family = data_for(name), WITH_GAPS if name == "mixed with holes" else get_family(name)
    options = {"family": family, "truncation": 2, "power": 0.5 if name == "gaussian" else 1.0}
    params = jax.tree.map(jnp.asarray, drawn(tvclust_marginal, X, **options))
    labels = np.array(list(itertools.product(range(2), repeat=N)))
    each = jax.jit(jax.vmap(lambda z: log_density(tvclust, (X,), options, params | {"z": z})[0]))(
        labels
    )
    total = density(tvclust_marginal, (X,), options, params)
    assert total == pytest.approx(logsumexp(each), abs=1e-8)


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_answers_enter_the_marginal_program_by_a_mean_field(power, rng):
    """Its density is the mean of log p - log q over the 2^6 labellings, drawn from q."""
    X, options = data_for("gaussian_diagonal"), {"family": "gaussian_diagonal", "truncation": 2}
    options |= {"power": power, "constraints": answers()}
    params = jax.tree.map(jnp.asarray, drawn(tvclust_marginal, X, **options))
    r = rng.dirichlet([1.0, 1.0], size=N)
    labels = np.array(list(itertools.product(range(2), repeat=N)))
    each = jax.jit(jax.vmap(lambda z: log_density(tvclust, (X,), options, params | {"z": z})[0]))(
        labels
    )
    log_q = np.log(r[np.arange(N), labels]).sum(axis=1)
    total = density(tvclust_marginal, (X,), options, params | {"assignment": r})
    assert total == pytest.approx(np.exp(log_q) @ (np.asarray(each) - log_q), abs=1e-8)


@SLOW
@pytest.mark.parametrize("program", [tvclust, tvclust_mixture, dcrc])
def test_programs_are_drawn_simulated_and_scored_with_defaults(program):
    """What `render_model` draws; `Predictive` from the prior; `log_density` of what it draws."""
    options = {"constraints": [one for one in answers() if one.name in ("links", "triplets")]}
    given = (data_for("gaussian"), 2) if program is dcrc else (data_for("gaussian"),)
    relations = get_model_relations(program, given, options)
    parents = relations["sample_sample"]
    assert {"p", "q"} < set(parents["links_answer"])
    draws = numpyro.infer.Predictive(program, num_samples=2)(
        jax.random.key(0), *given, observe=False, **options
    )
    assert draws["links_answer"].shape == (2, 5)
    seen = {"x", *relations["observed"]}
    params = {name: value[0] for name, value in draws.items() if name not in seen}
    assert np.isfinite(density(program, given, options, params))


@pytest.mark.parametrize("program", [tvclust, tvclust_mixture, dcrc])
def test_programs_are_rendered(program):
    pytest.importorskip("graphviz")
    options = {"constraints": [one for one in answers() if one.name in ("links", "triplets")]}
    given = (data_for("gaussian"), 2) if program is dcrc else (data_for("gaussian"),)
    source = numpyro.render_model(program, given, options, render_distributions=True).source
    edges = {("z", "links_answer"), ("p", "links_answer"), ("noise", "triplets_answer")}
    edges |= {("W", "z")} if program is dcrc else {("weight", "z"), ("z", "x"), ("mean", "x")}
    assert all(f"{parent} -> {child}" in source for parent, child in edges), source
    assert "links_answer [" in source


@pytest.mark.parametrize("views", [None, "answers"])
@pytest.mark.parametrize("program", [tvclust, tvclust_mixture, dcrc])
def test_numpyro_is_told_who_redraws_labels(program, views):
    given = (data_for("gaussian"), *([2] if program is dcrc else []), answers() if views else None)
    guide = numpyro.infer.autoguide.AutoNormal(program)
    svi = numpyro.infer.SVI(program, guide, numpyro.optim.Adam(0.1), numpyro.infer.Trace_ELBO())
    mcmc = numpyro.infer.MCMC(
        numpyro.infer.NUTS(program), num_warmup=1, num_samples=1, progress_bar=False
    )
    for start in (svi.init, mcmc.run):
        with pytest.raises(RuntimeError, match=r"redraw it by bayesclust\.PartitionGibbs beside"):
            start(jax.random.key(0), *given)


def test_sticks_without_names_are_the_chinese_restaurant_process():
    """Labels summed over all ways to name the clusters approach the CRP as the truncation grows."""
    blocks, alpha = np.array([0, 0, 1, 0, 1]), 1.3
    exact, errors = DirichletProcess(alpha).log_marginal(np.bincount(blocks)), []
    for truncation in (5, 20, 60):
        names = [(a, b) for a in range(truncation) for b in range(truncation) if a != b]
        total = logsumexp(
            [log_labels(np.array(pair)[blocks], alpha, truncation)[0] for pair in names]
        )
        errors.append(abs(np.exp(total) - np.exp(exact)))
        # what the docstring of the program promises
        assert errors[-1] <= len(blocks) * (alpha / (1 + alpha)) ** (truncation - 1)
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-10


def run(*args, **options):
    """The trace of one run of the program."""
    start = numpyro.infer.init_to_uniform
    anywhere = numpyro.handlers.substitute(numpyro.handlers.seed(tvclust, 5), None, start)
    return numpyro.handlers.trace(anywhere).get_trace(*args, **options)


def test_samplers_of_numpyro_know_where_hyper_priors_are_cut_off():
    X, family = (
        data_for("gaussian_spherical"),
        SphericalGaussian(strength="learn", mean_precision="learn"),
    )
    trace = run(X, family=family)
    for prior in family.bind(X).hyper_priors:
        assert prior.lower > 0
        assert float(trace[prior.name]["fn"].support.lower_bound) == pytest.approx(prior.lower)


@pytest.mark.parametrize("name", FAMILIES)
def test_supports_are_numbers_with_defaults(name):
    """NumPyro's Gibbs refuses a support whose ends are arrays: these may depend on other sites."""
    ends = {}
    for site in run(data_for(name), answers(), name).values():
        if site["type"] == "sample" and not site["is_observed"]:
            support = site["fn"].support
            for end in ("lower_bound", "upper_bound"):
                if hasattr(support, end) and not support.is_discrete:
                    ends[site["name"], end] = getattr(support, end)
    assert ends
    assert {key: end for key, end in ends.items() if not isinstance(end, (int, float))} == {}


def test_constant_columns_and_fixed_values_are_no_sites():
    X = np.insert(data_for("gaussian_spherical"), 1, 7.0, axis=1)
    trace = run(X, None, SphericalGaussian(0.5, 4.0, 0.1), DirichletProcess(1.5))
    assert trace["x"]["value"].shape == (N, 2)
    assert not {"base_scale", "base_strength", "base_mean_precision", "concentration"} & set(trace)


def test_predictive_simulates_data_and_answers():
    X, (links, _, triplets, _) = data_for("multinomial"), answers()
    given = {"base_concentration": 1.0, "concentration": 1.0, "stick": np.full(T - 1, 0.5)}
    given |= {"z": Z, "probability": np.eye(3)[[0, 1, 2, 0, 1]]}
    given |= {"p": np.ones(2), "q": np.ones(2), "noise": np.array([0.3])}
    many = {name: np.broadcast_to(value, (20, *np.shape(value))) for name, value in given.items()}
    simulate = numpyro.infer.Predictive(tvclust, posterior_samples=many)
    options = {"family": "multinomial", "truncation": T, "observe": False}
    draws = simulate(jax.random.key(1), X, [links, triplets], **options)
    np.testing.assert_array_equal(draws["x"].sum(axis=-1), np.tile(X.sum(axis=1), (20, 1)))
    assert (draws["x"].argmax(axis=-1) == np.array([0, 1, 2, 0, 1])[Z]).all()
    assert (draws["links_answer"] == links.truths(Z)).all()
    assert draws["triplets_answer"].shape == (20, 4)
    assert set(np.unique(draws["triplets_answer"])) == {0, 1, 2}


def test_families_do_not_load_jax():
    code = (
        "import sys, bayesclust.families, bayesclust.inference\n"
        "print({'jax', 'numpyro'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"set()\n"


def test_joint_density_refuses_what_it_cannot_read():
    bound = bc.families.FullGaussian().bind(np.arange(8.0).reshape(4, 2))
    links = bc.PairwiseConstraints([(0, 1)], [True], 4)
    with pytest.raises(
        ValueError, match=r"^noise has the parameters of 0 objects of constraints, and"
    ):
        bc.models.log_joint([0, 0, 1, 1], bound, constraints=[links])
    with pytest.raises(TypeError, match=r"^family is 'gaussian': pass one bound to the data"):
        bc.models.log_joint([0, 0, 1, 1], "gaussian")
