"""HMRFMeans as users call it: its draws go through every summary."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesclust as bc
from bayesclust.models.hmrf import Field, hmrf_log_joint

QUICK = {"num_chains": 2, "num_warmup": 20, "num_samples": 30, "progress": False, "random_state": 0}


@parametrize_with_checks(
    [bc.HMRFMeans(2, num_chains=1, num_warmup=2, num_samples=3, progress=False, random_state=0)],
    expected_failed_checks=None,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def groups(rng):
    y = np.repeat([0, 1], 15)
    return rng.normal(size=(30, 2)) + 4.0 * y[:, None], y


@pytest.mark.parametrize(
    ("metric", "per_cluster"), [(None, False), ("diagonal", True), ("full", False)]
)
def test_summaries_work_on_its_draws(groups, metric, per_cluster):
    X, y = groups
    links = bc.PairwiseConstraints.sample(y, size=30, flip=0.1, seed=0)
    est = bc.HMRFMeans(2, metric, per_cluster, cost=(0.8, 0.3), **QUICK).fit(X, constraints=links)
    assert bc.metrics.pairwise_f(est.labels_, y) > 0.8
    assert bc.similarity_matrix(est).shape == (30, 30)
    assert bc.point_estimate(est.posterior_, loss="binder").shape == (30,)
    assert bc.credible_ball(est.posterior_, est.labels_).radius >= 0
    assert bc.item_entropy(est).shape == (30,)
    assert bc.diagnose(est) is not None
    draws = est.posterior_["posterior"]
    stats = est.posterior_["sample_stats"]
    field = Field(metric, per_cluster, same=0.8, different=0.3)
    for draw in (0, 29):
        state = draws.isel(chain=1, draw=draw)
        A = None if metric is None else state["metric"].values
        A = A if A is None or per_cluster else A[None]
        wanted = hmrf_log_joint(state["z"].values, state["center"].values, A, X, [links], field)
        assert float(stats["log_joint"][1, draw]) == pytest.approx(wanted)


def test_it_is_told_by_the_seed(groups):
    X, _ = groups
    first, again = (
        bc.HMRFMeans(3, **QUICK).fit(X).posterior_["posterior"]["z"].values for _ in range(2)
    )
    assert (first == again).all()


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        (
            {"n_clusters": 31},
            ValueError,
            "n_clusters=31 is more than the 30 items of X: ask for fewer clusters.",
        ),
        (
            {"cost": (1.0, 2.0, 3.0)},
            TypeError,
            "cost must be a number or a pair (same, different); got (1.0, 2.0, 3.0).",
        ),
        ({"cost": -1.0}, ValueError, "same must lie in [0, inf); got -1.0."),
        ({"per_cluster": 1}, TypeError, "per_cluster must be True or False; got 1."),
        ({"temperature": 0.0}, ValueError, "temperature must lie in (0, inf); got 0.0."),
    ],
)
def test_bad_settings(groups, settings, error, sentence):
    with pytest.raises(error) as caught:
        bc.HMRFMeans(**settings).fit(groups[0])
    assert str(caught.value) == sentence
