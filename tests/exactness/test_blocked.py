"""The blocked sampler against all partitions, by many short chains, and in Geweke's test."""

from dataclasses import replace

import numpy as np
import pytest

from bayesclust.constraints import UniformNoise
from bayesclust.families import FAMILIES
from bayesclust.inference.blocked import chains as blocked
from bayesclust.inference.blocked.chains import TINY, BlockedChains
from bayesclust.inference.chain import TVClustProblem
from bayesclust.partition_priors import DirichletProcess, KnownK, PitmanYor
from tests.exactness import exact, test_evidence
from tests.exactness.cases import known_views, problem, triplets
from tests.exactness.generative import (
    World,
    answers_given,
    assert_agree,
    assert_noticed,
    compare_means,
    data_given,
)
from tests.exactness.test_enumeration import LEARNED, learning
from tests.exactness.test_geweke import functionals, independent, marginal_conditional, template

CHAINS = 16


def bundle(case, seed, chains=CHAINS, **options):
    """Chains that start from one cluster, after a short warm-up."""
    starts = np.zeros((chains, case.n_items), np.int64)
    made = BlockedChains(
        case, starts, np.random.default_rng(seed).spawn(chains), slot_multiple=64, **options
    )
    for _ in range(100):
        made.sweep(adapt=True)
    return made


def draws_of(made, number):
    """Partitions, one chain after another, (chains * number, n)."""
    draws = np.empty((made.number_of_chains, number, made.problem.n_items), np.int64)
    for row in range(number):
        made.sweep()
        draws[:, row] = made.labels_of_items()
    return draws.reshape(-1, made.problem.n_items)


def comparison(case, number, seed, **options):
    states, values = exact.log_posterior(case.family, case.constraints, case.partition_prior)
    return exact.compare(draws_of(bundle(case, seed, **options), number), states, values)


def assert_exact(case, number, seed, **options):
    result = comparison(case, number, seed, **options)
    assert result.agrees, result
    assert result.number >= 5, "hardly any partition was compared"


@pytest.mark.parametrize(
    ("name", "seed"), [("gaussian", 1), ("gaussian_tied", 1), ("mixed with holes", 3)]
)
def test_dense_and_shared_covariances_and_mixed_columns(name, seed):
    """Other families are in the tests below, and all of them in the slow ones."""
    assert_exact(problem(name, n=5, seed=seed), 500, seed)


@pytest.mark.parametrize("prior", [PitmanYor((2.0, 3.0), 1.3), KnownK(3, (2.0, 2.0))])
def test_every_prior_with_sticks(prior):
    assert_exact(replace(problem("poisson", n=5, seed=2), partition_prior=prior), 500, 2)


def test_items_of_low_slices_keep_their_labels(monkeypatch):
    """And a fault: no new clusters are drawn below the level, but items choose all the same."""
    right = blocked.draw_weights
    monkeypatch.setattr(blocked, "LEVEL", 0.3)
    assert_exact(known(), 600, seed=6)
    monkeypatch.setattr(blocked, "draw_weights", lambda *given: (right(*given)[0], TINY))
    assert not comparison(known(), 600, seed=6).agrees


def test_without_side_information_in_other_dimensions():
    assert_exact(replace(problem("gaussian", n=6, d=3, seed=3), constraints=()), 500, seed=3)


def known():
    family = problem("gaussian_spherical", n=5, seed=4).family
    return TVClustProblem(family, known_views(5, np.random.default_rng(4)), DirichletProcess(0.7))


def test_known_noise_and_concentration():
    assert_exact(known(), 500, seed=4)


def test_learned_hyper_parameter():
    assert_exact(learning(LEARNED["counts"], 5, 5), 500, seed=5)


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside links and triplets"])
def test_labels(beside):
    assert_exact(test_evidence.problem("labels", beside, n=5), 500, seed=7)


def test_clusters_that_are_all_of_one_class_are_noticed(monkeypatch):
    def first(shares, rng):
        return np.zeros(len(shares), np.int8)

    monkeypatch.setattr(blocked, "draw_answers", first)
    assert not comparison(test_evidence.problem("labels", n=5), 500, seed=7).agrees


def one_block(right):
    """Items that share answers are updated together."""

    def layout_of(*given):
        found = right(*given)
        blocks, width = found.answered.shape
        counts = np.diff(found.incidences.start[0])
        row = found.incidences.row.copy()
        row[0, : counts.sum()] += np.repeat(np.arange(blocks) * width, counts).astype(row.dtype)
        incidences = found.incidences._replace(start=found.incidences.start[:, [0, -1]], row=row)
        return found._replace(answered=found.answered.reshape(1, -1), incidences=incidences)

    return layout_of


FAULTS = {
    "no more than one new cluster": ("draw_jumps", lambda right: lambda *own: right(*own)[:1]),
    "slices as high as their own": (
        "draw_weights",
        lambda right: lambda sizes, sticks, least, rng: right(sizes, sticks, 0 * least + 1, rng),
    ),
    "several colours at once": ("make_layout", one_block),
}


@pytest.mark.parametrize(("name", "fault"), FAULTS.values(), ids=FAULTS)
def test_faults_are_noticed(name, fault, monkeypatch):
    monkeypatch.setattr(blocked, name, fault(getattr(blocked, name)))
    assert not comparison(known(), 300, seed=6).agrees


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_at_length(name):
    assert_exact(problem(name, n=7, d=3, seed=11), 1000, 11, chains=32)


@pytest.mark.slow
def test_answers_that_are_all_but_certain(rng):
    certain = triplets(7, rng, UniformNoise(eps=0.01), size=2)
    case = replace(problem("gaussian", n=7, seed=40), constraints=(certain,))
    assert_exact(case, 1000, seed=40, chains=32)


# --- Geweke's test


def put_truth(chain, world):
    """Let one of the chains go on from what is true."""
    chain.values, chain.hyper = dict(world.values), world.hyper
    chain.noise = world.noise


def successive_conditional(problem, number, rng):
    """One sweep, then data and answers drawn anew given its state, again and again."""
    world = World(problem, rng)
    start = np.unique(world.z, return_inverse=True)[1]
    made = BlockedChains(world.problem, start[None], [rng], slot_multiple=128)
    chain = made.unknowns[0]
    put_truth(chain, world)
    problem, rows = world.problem, []
    for _ in range(number):
        made.sweep()
        z = made.labels_of_items()[0].astype(np.int64)
        family = data_given(problem.family, z, chain.hyper, rng)
        views = answers_given(problem.constraints, z, chain.noise, rng)
        problem = replace(problem, family=family, constraints=views)
        made.put_data(problem)
        made.put_labels(z[None])
        values = chain.values
        rows.append(functionals(problem, z, values, chain.hyper, chain.noise))
    return rows


def z_scores(name, number, seed, drawn=None, **options):
    """Beside draws from the prior, which may be given."""
    first, second = np.random.default_rng(seed).spawn(2)
    problem = template(name, **options)
    drawn = marginal_conditional(problem, number, first) if drawn is None else drawn
    return compare_means(drawn, successive_conditional(problem, number, second))


def test_joint_distribution():
    assert_agree(z_scores("multinomial", 1500, 1, independent("multinomial")))


def test_concentration_counted_twice_is_noticed(monkeypatch):
    right = blocked.draw_weights
    monkeypatch.setattr(
        blocked,
        "draw_weights",
        lambda sizes, sticks, *rest: right(sizes, (0, 2 * sticks[1]), *rest),
    )
    assert_noticed(z_scores("multinomial", 1000, 2, independent("multinomial")))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_joint_distribution_at_length(name):
    assert_agree(z_scores(name, 4000, seed=5, confusion=name == "gaussian"))
