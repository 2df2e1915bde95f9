"""Fits without each view: the numbers against fits by hand, and the prior against enumeration."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.models.priors import Concentration
from tests.judges.exact import partitions

Y = np.repeat([0, 1], 15)
SHORT = {
    "num_chains": 2,
    "num_warmup": 100,
    "num_samples": 100,
    "progress": False,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(0).normal(size=(30, 2)) + 4.0 * Y[:, None]
    links = bc.PairwiseConstraints.sample(Y, size=25, error_rate=0.1, seed=0)
    triplets = bc.RelativeConstraints.sample(
        np.tile([0, 1, 2], 10), size=30, error_rate=0.05, seed=1
    )
    return X, [links, triplets], bc.TVClust(**SHORT).fit(X, constraints=[links, triplets])


def test_rows_are_what_fits_by_hand_give(fitted):
    X, views, est = fitted
    table = bc.leave_view_out(est, X, views)
    assert table.index.tolist() == ["links", "triplets", "data"]
    without = bc.TVClust(**SHORT).fit(X, constraints=[views[1]])
    apart = bc.posterior_distance(est, without)
    assert table.loc["links", ["n_clusters", "distance", "self_distance"]].tolist() == [
        without.n_clusters_,
        apart.wasserstein,
        apart.self_distance,
    ]
    z = without.posterior_["posterior"]["z"].values.reshape(-1, 30)
    assert table.loc["links", "right_without"] == pytest.approx(
        (views[0].truths(z) == views[0].answers).mean()
    )
    log_p = np.array([views[0].noise.log_marginal(views[0].counts(one)) for one in z])
    same = int((views[0].answers == 1).sum())
    # uniform prior: m answers in their order have probability same! different! / (m + 1)!
    habit = -sum(np.log(np.arange(same + 1, 27))) + sum(np.log(np.arange(1, 26 - same)))
    assert table.loc["links", "gain_over_marginal"] == pytest.approx(
        (np.log(np.exp(log_p).mean()) - habit) / 25, abs=1e-9
    )
    assert table["finding"].tolist()[:2] == ["agrees with the rest", "conflicts with the rest"]
    assert table.loc["data", "distance"] > table.loc["data", "self_distance"]


def test_a_classifier_has_no_answers_alone(fitted):
    X, views, _ = fitted
    est = bc.DCRC(2, n_init=1, random_state=0).fit(X, constraints=views[0])
    assert bc.leave_view_out(est, X, views[0]).index.tolist() == ["links"]


def test_without_data_the_prior_and_the_answers_decide():
    """What `leave_view_out` takes for no data has probability one under every partition."""
    links = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=4)
    est = bc.TVClust(family="categorical", **SHORT | {"num_samples": 4000}).fit(
        np.zeros((4, 1)), constraints=links
    )
    draws = est.posterior_["posterior"]["z"].values.reshape(-1, 4)
    every = [np.asarray(z) for z in partitions(4)]
    log_p = [
        Concentration().log_marginal(np.bincount(z)) + links.noise.log_marginal(links.counts(z))
        for z in every
    ]
    exact = np.exp(np.array(log_p) - np.logaddexp.reduce(log_p))
    shares = [(draws == z).all(axis=1).mean() for z in every]
    np.testing.assert_allclose(shares, exact, atol=4 * 0.5 / np.sqrt(len(draws) / 4))


def test_bad_input(fitted):
    X, views, est = fitted
    with pytest.raises(TypeError, match="must have draws, and a RDPMeans has none"):
        bc.leave_view_out(bc.RDPMeans(), X, views)
    with pytest.raises(ValueError, match="there are no constraints to leave out"):
        bc.leave_view_out(est, X, None)
