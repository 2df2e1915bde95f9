"""The skeleton of a kind of constraints, beside what `constraints/test_contract.py` tests of it."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import bayesclust as bc
from bayesclust.constraints.stored import constraints_from_dataset, to_dataset
from bayesclust.posterior.credibility import confusions
from docs.skeletons.constraint import OddNoise, OddOneOut
from docs.skeletons.family import Directions
from docs.skeletons.loss import TsallisVI
from docs.skeletons.sampler import metropolis_chain
from tests.exactness.cases import links, problem
from tests.exactness.test_enumeration import QUICK, assert_exact, each_chain

LABELS = np.repeat([0, 1], 10)


def odd_ones(n, rng, m=8):
    items = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    return OddOneOut(items, np.arange(m) % 4, n, source=np.arange(m) % 2, noise=OddNoise(4.0, 1.5))


@pytest.mark.parametrize(
    ("labels", "odd", "items"),
    [([5, 5, 5], "none", []), ([5, 5, 2], "third", [2]), ([2, 5, 5], "first", [0])],
)
def test_the_odd_one_is_the_one_apart(labels, odd, items):
    view = OddOneOut([(0, 1, 2)], [odd], n_items=3)
    assert (view.truths(labels) == view.answers).all()
    assert view.odd_items.tolist() == items


@each_chain
def test_skeleton_constraint_leads_to_the_exact_posterior(sampler, rng):
    case = replace(problem("gaussian", n=6, seed=3), constraints=(odd_ones(6, rng), links(6, rng)))
    assert_exact(case, None, QUICK, 3, sampler)


def test_weights_that_are_none_are_refused():
    with pytest.raises(
        ValueError, match=r"^right and wrong must be positive weights; got 2\.0 and 0\.0\.$"
    ):
        OddNoise(2.0, 0.0)


def test_answers_of_a_kind_that_nothing_loaded_defines_are_refused():
    (stored,) = constraints_from_dataset(to_dataset([OddOneOut([(0, 1, 2)], ["none"], n_items=3)]))
    draws = xr.Dataset(
        {
            "odd_confusion": (
                ("chain", "draw", "source", "truth", "answer"),
                np.full((1, 1, 1, 4, 4), 0.25),
            )
        }
    )
    assert confusions(stored, draws).shape == (1, 1, 1, 4, 4)
    message = (
        r"^the answers 'odd' are of the kind 'hearsay', whose noise has the parameters odd_con"
    )
    with pytest.raises(ValueError, match=message):
        confusions(replace(stored, kind="hearsay"), draws)


def test_all_skeletons_work_together():
    """People who never say "none", on directions that tell less than they do."""
    rng = np.random.default_rng(1)
    X = np.where(LABELS == 0, -0.6, 0.6)[:, None] + rng.vonmises(0.0, 3.0, size=(20, 1))
    items = np.array([rng.choice(20, 3, replace=False) for _ in range(150)])
    asked = OddOneOut(items, np.zeros(150, int), 20)
    truths = asked.truths(LABELS)
    answers = asked.with_answers(np.where(truths == 3, rng.integers(3, size=150), truths))
    est = bc.TVClust(
        metropolis_chain,
        family=Directions(),
        loss=TsallisVI(),
        num_chains=2,
        num_warmup=200,
        num_samples=200,
        random_state=0,
        progress=False,
    ).fit(X, constraints=answers)
    assert bc.metrics.pairwise_f(est.labels_, LABELS) == 1
    # the Dirichlet posterior of each row, as if the partition were known
    asked_of = np.bincount(truths, minlength=4)
    expected = (6 + asked_of * [1, 1, 1, 0]) / (9 + asked_of)
    found = est.posterior_["posterior"]["odd_confusion"].mean(["chain", "draw"]).values[0]
    np.testing.assert_allclose(np.diag(found), expected, atol=0.02)
    table = bc.constraint_credibility(est)
    assert ((table["credibility"] > 0.5) == (answers.answers == truths)).all()
