"""Three people answer, one of them wrongly three times in ten: who it is, and which answers, is to be found out."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import bayesclust as bc

BAD = 1
WRONG = [0.05, 0.3, 0.05]


@pytest.fixture(scope="module", params=[0, 1])
def case(request):
    rng = np.random.default_rng(request.param)
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 2)) + 4.0 * np.c_[y == 1, y == 2]
    links = bc.PairwiseConstraints.sample(
        y, size=900, error_rate=WRONG, n_sources=3, seed=request.param
    )
    est = bc.TVClust(
        num_chains=2, num_warmup=150, num_samples=200, progress=False, random_state=request.param
    )
    return links, est.fit(X, constraints=links)


@pytest.mark.parametrize("parameter", ["p", "q"])
def test_the_interval_of_the_bad_one_excludes_those_of_the_others(case, parameter):
    _, est = case
    table = bc.source_reliability(est).set_index(["parameter", "source"]).loc[parameter]
    others = table.drop(index=BAD)
    assert table.loc[BAD, "upper"] < others["lower"].min()
    assert abs(table.loc[BAD, "mean"] - 0.7) < 3 * table.loc[BAD, "sd"]


def test_credibility_finds_the_wrong_answers(case):
    links, est = case
    table = bc.constraint_credibility(est)
    assert links.flipped.sum() > 90
    assert roc_auc_score(links.flipped, 1 - table["credibility"]) >= 0.95


def test_the_model_fits_and_all_three_tell_one_story(case):
    _, est = case
    conflict = bc.view_conflict(est)
    assert conflict["finding"].tolist() == ["agrees"] * 3
    assert conflict["gain_over_marginal"].idxmin() == BAD
    checked = bc.constraint_ppc(est, num_draws=100)
    # a few of the fifteen checks or so may be extreme by chance
    assert (checked["finding"] != "as expected").mean() < 0.2
