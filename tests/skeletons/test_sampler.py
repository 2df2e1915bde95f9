"""The skeletons of a sampler and of a partition prior, in the tests of the built-in ones."""

from dataclasses import replace

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.chain import Moves
from bayesclust.inference.moves.scan import Scan
from bayesclust.inference.samplers import collapsed_chain
from bayesclust.partition_priors import DirichletProcess, PitmanYor
from docs.skeletons.partition_prior import UniformNumber
from docs.skeletons.sampler import metropolis_chain
from tests.exactness.cases import faulty, problem
from tests.exactness.test_enumeration import assert_exact, compared

ALONE = Moves(split_merge=0.0, link_blocks=False)


@pytest.mark.parametrize(
    ("prior", "moves", "sampler"),
    [
        (PitmanYor(0.3, 1.0), ALONE, metropolis_chain),
        (UniformNumber(3), ALONE, metropolis_chain),
        (UniformNumber(3), Moves(), collapsed_chain),
    ],
    ids=["sampler", "both", "prior"],
)
def test_sampler_and_prior_reach_the_exact_posterior(prior, moves, sampler):
    case = replace(problem("gaussian", n=6, seed=2), partition_prior=prior)
    assert_exact(case, moves, 5000, 2, sampler)


def test_scan_that_ignores_constraints_is_noticed():
    def forget(state):
        state.table = np.zeros_like(state.table)

    def remember(state):
        state.noise = state.noise

    fault = faulty(Scan, metropolis_chain, before=forget, after=remember)
    assert not compared(problem("gaussian", n=6, seed=1), ALONE, 5000, 1, fault).agrees


def test_one_item_has_one_partition():
    case = problem("gaussian", n=6, seed=1)
    family = case.family.with_rows(case.family.X[:1])
    case = replace(case, family=family, constraints=(), partition_prior=DirichletProcess())
    chain = metropolis_chain(case, np.zeros(1, int), np.random.default_rng(0), ALONE)
    for _ in range(50):
        chain.sweep()
        assert chain.state.n_clusters == 1


def test_function_is_a_sampler_of_the_estimator(tmp_path):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (8, 2)), rng.normal(9, 1, (8, 2))]

    def fit(number, **settings):
        short = {"num_chains": 2, "num_warmup": 60, "num_samples": number, "progress": False}
        return bc.TVClust(metropolis_chain, random_state=0, moves=ALONE, **short).fit(X, **settings)

    whole = fit(40)
    assert (whole.labels_ == np.repeat([0, 1], 8)).all()
    assert '"docs.skeletons.sampler.metropolis_chain"' in whole.posterior_.attrs["settings"]
    fit(10, checkpoint=tmp_path / "run.zarr")
    again = fit(40, checkpoint=tmp_path / "run.zarr")
    for name in ("z", "concentration"):
        np.testing.assert_array_equal(
            again.posterior_["posterior"][name], whole.posterior_["posterior"][name]
        )


@pytest.mark.parametrize("kind", [dict, bc.RDPMeans])
def test_classes_are_refused(kind):
    with pytest.raises(TypeError, match=rf"^sampler is the class {kind.__name__}: pass a name"):
        bc.TVClust(kind).fit(np.zeros((3, 1)))
