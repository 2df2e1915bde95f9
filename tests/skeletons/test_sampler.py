"""The skeleton of a sampler, by the judges of the built-in ones."""

from dataclasses import replace

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.inference.problem import TVClustProblem
from bayesclust.inference.schedule import Moves
from bayesclust.partition_priors import DirichletProcess
from docs.skeletons.sampler import MetropolisChain
from tests.judges.cases import known_views, problem
from tests.judges.test_enumeration import compared, judge

ALONE = Moves(split_merge=0.0, link_blocks=False)


@pytest.mark.parametrize("name", ["gaussian", "gaussian_spherical"])
def test_proposals_alone_reach_the_exact_posterior(name):
    judge(problem(name, n=6, seed=1), ALONE, 10_000, 2, MetropolisChain)


def test_with_the_moves_of_the_collapsed_sampler():
    judge(problem("gaussian", n=6, seed=2), None, 8000, 2, MetropolisChain)


@pytest.mark.parametrize("alpha", [0.2, 5.0])
def test_known_noise_and_concentration(alpha, rng):
    case = problem("gaussian", n=6, seed=4)
    case = TVClustProblem(case.family, known_views(6, rng), DirichletProcess(alpha))
    judge(case, ALONE, 10_000, 4, MetropolisChain)


class DeafChain(MetropolisChain):
    """Does not hear the answers as it moves."""

    def _scan(self):
        table, self.table = self.table, np.zeros_like(self.table)
        super()._scan()
        self.table = table


def test_a_scan_that_does_not_hear_the_answers_is_noticed():
    assert not compared(problem("gaussian", n=6, seed=1), ALONE, 10_000, 1, DeafChain).agrees


def test_one_item_has_one_partition():
    case = replace(problem("gaussian", n=6, seed=1), constraints=())
    one = TVClustProblem(case.family.with_rows(case.family.X[:1]), (), DirichletProcess())
    chain = MetropolisChain(one, np.zeros(1, int), np.random.default_rng(0), ALONE)
    for _ in range(50):
        chain.sweep()
        assert (chain.n_clusters, chain.moved[0]) == (1, 0)


def test_a_class_is_a_sampler_of_the_estimator(tmp_path):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (8, 2)), rng.normal(9, 1, (8, 2))]

    def fit(number, **settings):
        est = bc.TVClust(
            MetropolisChain,
            num_chains=2,
            num_warmup=60,
            num_samples=number,
            progress=False,
            random_state=0,
            moves=ALONE,
        )
        return est.fit(X, **settings)

    whole = fit(40)
    assert (whole.labels_ == np.repeat([0, 1], 8)).all()
    assert '"docs.skeletons.sampler.MetropolisChain"' in whole.posterior_.attrs["settings"]
    fit(10, checkpoint=tmp_path / "run.zarr")
    again = fit(40, checkpoint=tmp_path / "run.zarr")
    for name in ("z", "concentration"):
        np.testing.assert_array_equal(
            again.posterior_["posterior"][name], whole.posterior_["posterior"][name]
        )


@pytest.mark.parametrize("kind", [dict, bc.RDPMeans])
def test_other_classes_are_refused(kind):
    with pytest.raises(
        TypeError,
        match=rf"^sampler is the class {kind.__name__}, which is no sampler of plain clusters: ",
    ):
        bc.TVClust(kind).fit(np.zeros((3, 1)))
